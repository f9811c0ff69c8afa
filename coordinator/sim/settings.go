package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
)

// setting is one configuration name: its bounds and where its value goes.
type setting struct {
	name     string
	min, max int64
	put      func(d *drive.Config, v int64)
	// live settings are the group coordinator's: they can be changed while it runs.
	live bool
}

// settings are Kafka's names as far as this world has what they set, with Kafka's bounds, and two of the lab's own.
var settings = []setting{
	{"broker.session.timeout.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.BrokerSessionTimeoutMs = v }, false},
	{"group.initial.rebalance.delay.ms", 0, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupInitialRebalanceDelayMs = int32(v) }, true},
	{"group.max.size", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMaxSize = int32(v) }, true},
	{"group.max.session.timeout.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMaxSessionTimeoutMs = int32(v) }, true},
	{"group.min.session.timeout.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMinSessionTimeoutMs = int32(v) }, true},
	// Not Kafka's: how long a broker takes to read a chunk of an offsets partition, and how large a chunk is there.
	{"lab.load.delay.ms", 0, 600_000, func(d *drive.Config, v int64) { d.LoadDelayMs = v }, false},
	{"log.cleaner.backoff.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.CleanerBackoffMs = v }, false},
	{"log.cleaner.delete.retention.ms", 1, math.MaxInt64, func(d *drive.Config, v int64) { d.Cluster.DeleteRetentionMs = v }, false},
	{"min.insync.replicas", 1, 9, func(d *drive.Config, v int64) { d.Cluster.MinInsyncReplicas = int16(v) }, false},
	{"offset.metadata.max.bytes", 0, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetMetadataMaxBytes = int32(v) }, true},
	{"offsets.commit.timeout.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetsCommitTimeoutMs = int32(v) }, true},
	{"offsets.load.buffer.size", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.LoadChunkBytes = int(v) }, false},
	{"offsets.retention.check.interval.ms", 1, math.MaxInt64, func(d *drive.Config, v int64) { d.Settings.OffsetsRetentionCheckIntervalMs = v }, true},
	{"offsets.retention.minutes", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetsRetentionMinutes = int32(v) }, true},
	{"offsets.topic.num.partitions", 1, 10_000, func(d *drive.Config, v int64) { d.Cluster.OffsetsPartitions = int32(v) }, false},
	{"offsets.topic.replication.factor", 1, 9, func(d *drive.Config, v int64) { d.Cluster.OffsetsReplicas = int16(v) }, false},
	{"offsets.topic.segment.bytes", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.OffsetsSegmentBytes = int(v) }, false},
	{"transaction.state.log.num.partitions", 1, 10_000, func(d *drive.Config, v int64) { d.Cluster.TransactionPartitions = int32(v) }, false},
	{"replica.fetch.wait.max.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.ReplicaFetchWaitMaxMs = v }, false},
	{"replica.lag.time.max.ms", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.ReplicaLagTimeMaxMs = v }, false},
}

// Names are the configuration names that Config.Set takes, sorted.
func Names() []string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.name
	}
	slices.Sort(names)
	return names
}

// CheckSetting tells what is wrong with a configuration name or its value; nil where nothing is.
func CheckSetting(s Setting) error {
	_, _, err := findSetting(s)
	return err
}

func findSetting(s Setting) (setting, int64, error) {
	for _, known := range settings {
		if known.name != s.Name {
			continue
		}
		v, err := strconv.ParseInt(s.Value, 10, 64)
		if err != nil || v < known.min || v > known.max {
			return setting{}, 0, fmt.Errorf("%s is %q; it takes a whole number from %d to %d", s.Name, s.Value, known.min, known.max)
		}
		return known, v, nil
	}
	return setting{}, 0, fmt.Errorf("no setting is called %q; there are %s", s.Name, strings.Join(Names(), ", "))
}

// driveConfig turns the world's description into the drive's.
func driveConfig(cfg Config) (drive.Config, error) {
	d := drive.Config{
		Cluster:     cluster.Config{Brokers: cfg.Brokers},
		Settings:    coordinator.DefaultSettings(),
		MemberID:    memberIDs(cfg.Seed),
		LoadDelayMs: 20,
	}
	for _, s := range cfg.Set {
		known, v, err := findSetting(s)
		if err != nil {
			return d, err
		}
		known.put(&d, v)
	}
	if d.Settings.GroupMinSessionTimeoutMs > d.Settings.GroupMaxSessionTimeoutMs {
		return d, fmt.Errorf("group.min.session.timeout.ms (%d) is above group.max.session.timeout.ms (%d)",
			d.Settings.GroupMinSessionTimeoutMs, d.Settings.GroupMaxSessionTimeoutMs)
	}
	if int32(d.Cluster.OffsetsReplicas) > cfg.Brokers {
		return d, fmt.Errorf("offsets.topic.replication.factor is %d, but there are %d brokers", d.Cluster.OffsetsReplicas, cfg.Brokers)
	}
	if int32(d.Cluster.MinInsyncReplicas) > cfg.Brokers {
		return d, fmt.Errorf("min.insync.replicas is %d, but there are %d brokers", d.Cluster.MinInsyncReplicas, cfg.Brokers)
	}
	return d, nil
}
