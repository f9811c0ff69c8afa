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
	"grouplab/coordinator/txn"
)

// setting is one configuration name: its bounds and where its value goes.
type setting struct {
	name     string
	standard string // Kafka's default
	min, max int64  // whole numbers, but for ratios and onOff
	put      func(d *drive.Config, v int64)
	// live settings are the group coordinator's: they can be changed while it runs.
	live bool
}

// ratios in place of a lower bound marks a setting that goes from 0 to 1: its value comes in millionths. onOff marks one
// that takes true and false: 1 and 0.
const ratios, onOff = math.MinInt64, math.MinInt64 + 1

// anyInt marks, as the lower bound, that Kafka takes every int32: what makes no sense there makes none here.
const anyInt = math.MinInt32

// settings are Kafka's names as far as this world has what they set, with Kafka's bounds, and two of the lab's own.
var settings = []setting{
	{"broker.session.timeout.ms", "9000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.BrokerSessionTimeoutMs = v }, false},
	{"group.initial.rebalance.delay.ms", "3000", anyInt, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupInitialRebalanceDelayMs = int32(v) }, true},
	{"group.max.size", "2147483647", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMaxSize = int32(v) }, true},
	{"group.max.session.timeout.ms", "1800000", anyInt, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMaxSessionTimeoutMs = int32(v) }, true},
	{"group.min.session.timeout.ms", "6000", anyInt, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.GroupMinSessionTimeoutMs = int32(v) }, true},
	// Not Kafka's: how long a broker takes to read a chunk of an offsets partition, and how large a chunk is there.
	{"lab.load.delay.ms", "20", 0, 600_000, func(d *drive.Config, v int64) { d.LoadDelayMs = v }, false},
	{"log.cleaner.backoff.ms", "15000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.CleanerBackoffMs = v }, false},
	{"log.cleaner.delete.retention.ms", "86400000", 1, math.MaxInt64, func(d *drive.Config, v int64) { d.Cluster.DeleteRetentionMs = v }, false},
	{"log.cleaner.max.compaction.lag.ms", "9223372036854775807", 1, math.MaxInt64, func(d *drive.Config, v int64) { d.Cluster.MaxCompactionLagMs = v }, false},
	{"log.cleaner.min.cleanable.ratio", "0.5", ratios, 0, func(d *drive.Config, v int64) { d.Cluster.MinCleanableRatio = max(float64(v)/1e6, 1e-9) }, false},
	{"log.cleaner.min.compaction.lag.ms", "0", 0, math.MaxInt64, func(d *drive.Config, v int64) { d.Cluster.MinCompactionLagMs = v }, false},
	{"min.insync.replicas", "1", 1, 9, func(d *drive.Config, v int64) { d.Cluster.MinInsyncReplicas = int16(v) }, false},
	{"offset.metadata.max.bytes", "4096", anyInt, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetMetadataMaxBytes = int32(v) }, true},
	{"offsets.commit.timeout.ms", "5000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetsCommitTimeoutMs = int32(v) }, true},
	{"offsets.load.buffer.size", "5242880", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.LoadChunkBytes = int(v) }, false},
	{"offsets.retention.check.interval.ms", "600000", 1, math.MaxInt64, func(d *drive.Config, v int64) { d.Settings.OffsetsRetentionCheckIntervalMs = v }, true},
	{"offsets.retention.minutes", "10080", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Settings.OffsetsRetentionMinutes = int32(v) }, true},
	{"offsets.topic.compression.codec", "0", 0, 0, func(*drive.Config, int64) {}, false}, // 0 stands for none
	{"offsets.topic.num.partitions", "50", 1, 10_000, func(d *drive.Config, v int64) { d.Cluster.OffsetsPartitions = int32(v) }, false},
	{"offsets.topic.replication.factor", "3", 1, 9, func(d *drive.Config, v int64) { d.Cluster.OffsetsReplicas = int16(v) }, false},
	{"offsets.topic.segment.bytes", "104857600", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.OffsetsSegmentBytes = int(v) }, false},
	{"transaction.abort.timed.out.transaction.cleanup.interval.ms", "10000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Transactions.AbortTimedOutIntervalMs = v }, false},
	{"transaction.max.timeout.ms", "900000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Transactions.TransactionMaxTimeoutMs = int32(v) }, false},
	{"transaction.partition.verification.enable", "true", onOff, 0, func(d *drive.Config, v int64) { d.Settings.TransactionPartitionVerificationEnable = v == 1 }, true},
	{"transaction.remove.expired.transaction.cleanup.interval.ms", "3600000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Transactions.RemoveExpiredIntervalMs = v }, false},
	{"transaction.state.log.min.isr", "2", 1, 9, func(d *drive.Config, v int64) { d.Cluster.TransactionMinInsync = int16(v) }, false},
	{"transaction.state.log.num.partitions", "50", 1, 10_000, func(d *drive.Config, v int64) { d.Cluster.TransactionPartitions = int32(v) }, false},
	{"transaction.state.log.replication.factor", "3", 1, 9, func(d *drive.Config, v int64) { d.Cluster.TransactionReplicas = int16(v) }, false},
	{"transactional.id.expiration.ms", "604800000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Transactions.TransactionalIDExpirationMs = v }, false},
	{"replica.fetch.wait.max.ms", "500", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.ReplicaFetchWaitMaxMs = v }, false},
	{"replica.lag.time.max.ms", "30000", 1, math.MaxInt32, func(d *drive.Config, v int64) { d.Cluster.ReplicaLagTimeMaxMs = v }, false},
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

// About is what is known about a configuration name.
type About struct {
	Name string
	// Standard is Kafka's default, Values what it takes in words: "a whole number from 1 to 9".
	Standard, Values string
	// Live settings can be changed while the brokers run; the others are said before the first topic.
	Live bool
}

// Settings tells about every name that Config.Set takes, sorted by name.
func Settings() []About {
	list := make([]About, len(settings))
	for i, s := range settings {
		list[i] = About{s.name, s.standard, s.values(), s.live}
	}
	slices.SortFunc(list, func(a, b About) int { return strings.Compare(a.Name, b.Name) })
	return list
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
		v, ok := known.read(s.Value)
		if !ok {
			return setting{}, 0, fmt.Errorf("%s is %q; it takes %s", s.Name, s.Value, known.values())
		}
		return known, v, nil
	}
	return setting{}, 0, fmt.Errorf("no setting is called %q; there are %s", s.Name, strings.Join(Names(), ", "))
}

func (s setting) read(value string) (v int64, ok bool) {
	switch s.min {
	case ratios:
		ratio, err := strconv.ParseFloat(value, 64)
		return int64(ratio * 1e6), err == nil && ratio >= 0 && ratio <= 1
	case onOff:
		if strings.EqualFold(value, "true") {
			return 1, true
		}
		return 0, strings.EqualFold(value, "false")
	}
	v, err := strconv.ParseInt(value, 10, 64)
	return v, err == nil && v >= s.min && v <= s.max
}

func (s setting) values() string {
	switch {
	case s.min == ratios:
		return "a number from 0 to 1"
	case s.min == onOff:
		return "true or false"
	case s.min == s.max:
		return fmt.Sprintf("only %d here", s.min)
	}
	return fmt.Sprintf("a whole number from %d to %d", s.min, s.max)
}

// driveConfig turns the world's description into the drive's.
func driveConfig(cfg Config) (drive.Config, error) {
	d := drive.Config{
		Cluster:      cluster.Config{Brokers: cfg.Brokers},
		Settings:     coordinator.DefaultSettings(),
		Transactions: txn.DefaultSettings(),
		MemberID:     memberIDs(cfg.Seed),
		LoadDelayMs:  20,
	}
	for _, s := range cfg.Set {
		known, v, err := findSetting(s)
		if err != nil {
			return d, err
		}
		known.put(&d, v)
	}
	for _, k := range []struct {
		name     string
		replicas int16
	}{{"offsets.topic.replication.factor", d.Cluster.OffsetsReplicas}, {"transaction.state.log.replication.factor", d.Cluster.TransactionReplicas},
		{"min.insync.replicas", d.Cluster.MinInsyncReplicas}} {
		if int32(k.replicas) > cfg.Brokers {
			return d, fmt.Errorf("%s is %d, but there are %d brokers", k.name, k.replicas, cfg.Brokers)
		}
	}
	return d, nil
}
