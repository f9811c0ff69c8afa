package app

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/txn"
	"grouplab/server/kafka"
)

// settings are everything that -set can change.
type settings struct {
	group        coordinator.Settings
	transactions txn.Settings
	cluster      cluster.Config
	kafka        kafka.Settings
	// loadChunkBytes is offsets.load.buffer.size; 0 stands for the default.
	loadChunkBytes int
}

func defaultSettings() settings {
	return settings{group: coordinator.DefaultSettings(), transactions: txn.DefaultSettings(), kafka: kafka.DefaultSettings()}
}

// setting is one of Kafka's configuration names, with Kafka's bounds and default.
type setting struct {
	name     string
	min, max int64
	standard string
	put      func(s *settings, value int64)
}

// onOff marks, as both bounds, a setting that takes true and false: 1 and 0. ratios marks one from 0 to 1, which comes in
// millionths. anyInt is the lower bound where Kafka takes every int32: what makes no sense there makes none here.
const (
	onOff  = math.MinInt64
	ratios = math.MinInt64 + 1
	anyInt = math.MinInt32
)

var known = []setting{
	{"auto.create.topics.enable", onOff, onOff, "true", func(s *settings, v int64) { s.kafka.AutoCreateTopics = v == 1 }},
	{"broker.session.timeout.ms", 1, math.MaxInt32, "9000", func(s *settings, v int64) { s.cluster.BrokerSessionTimeoutMs = v }},
	{"connections.max.idle.ms", 1, math.MaxInt32, "600000", func(s *settings, v int64) { s.kafka.ConnectionsMaxIdleMs = v }},
	{"default.replication.factor", 1, maxBrokers, "one a broker, at most 3", func(s *settings, v int64) { s.cluster.DefaultReplicas = int16(v) }},
	{"fetch.max.bytes", 1024, math.MaxInt32, "57671680", func(s *settings, v int64) { s.kafka.FetchMaxBytes = int32(v) }},
	{"group.initial.rebalance.delay.ms", anyInt, math.MaxInt32, "3000", func(s *settings, v int64) { s.group.GroupInitialRebalanceDelayMs = int32(v) }},
	{"group.max.session.timeout.ms", anyInt, math.MaxInt32, "1800000", func(s *settings, v int64) { s.group.GroupMaxSessionTimeoutMs = int32(v) }},
	{"group.max.size", 1, math.MaxInt32, "2147483647", func(s *settings, v int64) { s.group.GroupMaxSize = int32(v) }},
	{"group.min.session.timeout.ms", anyInt, math.MaxInt32, "6000", func(s *settings, v int64) { s.group.GroupMinSessionTimeoutMs = int32(v) }},
	{"log.cleaner.backoff.ms", 1, math.MaxInt32, "15000", func(s *settings, v int64) { s.cluster.CleanerBackoffMs = v }},
	{"log.cleaner.delete.retention.ms", 1, math.MaxInt64, "86400000", func(s *settings, v int64) { s.cluster.DeleteRetentionMs = v }},
	{"log.cleaner.max.compaction.lag.ms", 1, math.MaxInt64, "9223372036854775807", func(s *settings, v int64) { s.cluster.MaxCompactionLagMs = v }},
	{"log.cleaner.min.cleanable.ratio", ratios, ratios, "0.5", func(s *settings, v int64) { s.cluster.MinCleanableRatio = max(float64(v)/1e6, 1e-9) }},
	{"log.cleaner.min.compaction.lag.ms", 0, math.MaxInt64, "0", func(s *settings, v int64) { s.cluster.MinCompactionLagMs = v }},
	{"log.retention.bytes", -1, math.MaxInt64, "-1", func(s *settings, v int64) { s.cluster.RetentionBytes = v }},
	{"log.retention.check.interval.ms", 1, math.MaxInt64, "300000", func(s *settings, v int64) { s.cluster.RetentionCheckMs = v }},
	{"log.retention.ms", -1, math.MaxInt64, "604800000", func(s *settings, v int64) { s.cluster.RetentionMs = v }},
	{"log.segment.bytes", 14, 16 << 20, "16777216", func(s *settings, v int64) { s.cluster.SegmentBytes = int(v) }},
	{"max.connections", 0, math.MaxInt32, "2147483647", func(s *settings, v int64) { s.kafka.MaxConnections = int32(v) }},
	{"max.connections.per.ip", 0, math.MaxInt32, "2147483647", func(s *settings, v int64) { s.kafka.MaxConnectionsPerIP = int32(v) }},
	{"max.incremental.fetch.session.cache.slots", 0, math.MaxInt32, "1000", func(s *settings, v int64) { s.kafka.FetchSessionSlots = int32(v) }},
	{"message.max.bytes", 1, math.MaxInt32, "1048588", func(s *settings, v int64) { s.cluster.MaxMessageBytes = int(v) }},
	{"min.insync.replicas", 1, maxBrokers, "1", func(s *settings, v int64) { s.cluster.MinInsyncReplicas = int16(v) }},
	{"num.partitions", 1, 10_000, "1", func(s *settings, v int64) { s.cluster.DefaultPartitions = int32(v) }},
	{"offset.metadata.max.bytes", anyInt, math.MaxInt32, "4096", func(s *settings, v int64) { s.group.OffsetMetadataMaxBytes = int32(v) }},
	{"offsets.commit.timeout.ms", 1, math.MaxInt32, "5000", func(s *settings, v int64) { s.group.OffsetsCommitTimeoutMs = int32(v) }},
	{"offsets.load.buffer.size", 1, math.MaxInt32, "5242880", func(s *settings, v int64) { s.loadChunkBytes = int(v) }},
	{"offsets.retention.check.interval.ms", 1, math.MaxInt64, "600000", func(s *settings, v int64) { s.group.OffsetsRetentionCheckIntervalMs = v }},
	{"offsets.retention.minutes", 1, math.MaxInt32, "10080", func(s *settings, v int64) { s.group.OffsetsRetentionMinutes = int32(v) }},
	{"offsets.topic.compression.codec", 0, 0, "0", func(*settings, int64) {}}, // 0 stands for none
	{"offsets.topic.num.partitions", 1, 10_000, "50", func(s *settings, v int64) { s.cluster.OffsetsPartitions = int32(v) }},
	{"offsets.topic.replication.factor", 1, maxBrokers, "one a broker, at most 3", func(s *settings, v int64) { s.cluster.OffsetsReplicas = int16(v) }},
	{"offsets.topic.segment.bytes", 1, math.MaxInt32, "104857600, of which 16777216 are used", func(s *settings, v int64) { s.cluster.OffsetsSegmentBytes = int(v) }},
	{"queued.max.request.bytes", -1, math.MaxInt64, "536870912", func(s *settings, v int64) { s.kafka.QueuedMaxRequestBytes = v }},
	{"replica.fetch.backoff.ms", 1, math.MaxInt32, "1000", func(s *settings, v int64) { s.cluster.ReplicaFetchBackoffMs = v }},
	{"replica.fetch.max.bytes", 1, math.MaxInt32, "1048576", func(s *settings, v int64) { s.cluster.ReplicaFetchMaxBytes = int(v) }},
	{"replica.fetch.wait.max.ms", 1, math.MaxInt32, "500", func(s *settings, v int64) { s.cluster.ReplicaFetchWaitMaxMs = v }},
	{"replica.lag.time.max.ms", 1, math.MaxInt32, "30000", func(s *settings, v int64) { s.cluster.ReplicaLagTimeMaxMs = v }},
	{"socket.request.max.bytes", 1, math.MaxInt32, "104857600", func(s *settings, v int64) { s.kafka.SocketRequestMaxBytes = int32(v) }},
	{"transaction.abort.timed.out.transaction.cleanup.interval.ms", 1, math.MaxInt32, "10000", func(s *settings, v int64) { s.transactions.AbortTimedOutIntervalMs = v }},
	{"transaction.max.timeout.ms", 1, math.MaxInt32, "900000", func(s *settings, v int64) { s.transactions.TransactionMaxTimeoutMs = int32(v) }},
	{"transaction.partition.verification.enable", onOff, onOff, "true", func(s *settings, v int64) { s.group.TransactionPartitionVerificationEnable = v == 1 }},
	{"transaction.remove.expired.transaction.cleanup.interval.ms", 1, math.MaxInt32, "3600000", func(s *settings, v int64) { s.transactions.RemoveExpiredIntervalMs = v }},
	{"transaction.state.log.min.isr", 1, maxBrokers, "2", func(s *settings, v int64) { s.cluster.TransactionMinInsync = int16(v) }},
	{"transaction.state.log.num.partitions", 1, 10_000, "50", func(s *settings, v int64) { s.cluster.TransactionPartitions = int32(v) }},
	{"transaction.state.log.replication.factor", 1, maxBrokers, "one a broker, at most 3", func(s *settings, v int64) { s.cluster.TransactionReplicas = int16(v) }},
	{"transactional.id.expiration.ms", 1, math.MaxInt32, "604800000", func(s *settings, v int64) { s.transactions.TransactionalIDExpirationMs = v }},
}

// Setting describes one configuration name for a help text.
type Setting struct{ Name, Values, Default string }

// Settings lists what -set takes.
func Settings() []Setting {
	list := make([]Setting, len(known))
	for i, k := range known {
		list[i] = Setting{k.name, k.values(), k.standard}
	}
	return list
}

func (k setting) values() string {
	switch {
	case k.min == onOff:
		return "true or false"
	case k.min == ratios:
		return "0 to 1"
	case k.min == k.max:
		return fmt.Sprintf("only %d", k.min)
	}
	return fmt.Sprintf("%d to %d", k.min, k.max)
}

// apply changes settings by NAME=VALUE pairs. An error names the flag, the pair, what would be right and, for an unknown
// name, the nearest known one.
func (s *settings) apply(pairs []string) error {
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("-set %s: it takes NAME=VALUE, as in -set %s=%s", pair, "group.initial.rebalance.delay.ms", "0")
		}
		i := slices.IndexFunc(known, func(k setting) bool { return k.name == name })
		if i < 0 {
			return fmt.Errorf("-set %s: no setting is called %q; the nearest is %s (-set help lists all)", pair, name, nearest(name))
		}
		v, ok := known[i].read(value)
		if !ok {
			return fmt.Errorf("-set %s: %s takes %s, not %q (Kafka's default is %s)", pair, name, known[i].values(), value, known[i].standard)
		}
		known[i].put(s, v)
	}
	return nil
}

func (k setting) read(value string) (int64, bool) {
	switch k.min {
	case onOff:
		if strings.EqualFold(value, "true") {
			return 1, true
		}
		return 0, strings.EqualFold(value, "false")
	case ratios:
		ratio, err := strconv.ParseFloat(value, 64)
		return int64(ratio * 1e6), err == nil && ratio >= 0 && ratio <= 1
	}
	v, err := strconv.ParseInt(value, 10, 64)
	if v == 0 && k.name == "log.retention.ms" {
		return 0, false // -1 for ever, or 1 and more
	}
	return v, err == nil && v >= k.min && v <= k.max
}

// check finds settings that are right one by one but not together.
func (s *settings) check(brokers int32) error {
	for _, k := range []struct {
		name     string
		replicas int16
	}{{"default.replication.factor", s.cluster.DefaultReplicas}, {"min.insync.replicas", s.cluster.MinInsyncReplicas},
		{"offsets.topic.replication.factor", s.cluster.OffsetsReplicas}, {"transaction.state.log.replication.factor", s.cluster.TransactionReplicas}} {
		if int32(k.replicas) > brokers {
			return fmt.Errorf("-set %s=%d is more than the brokers there are; give at most %d, or more -brokers", k.name, k.replicas, brokers)
		}
	}
	return nil
}

// nearest finds the known setting with the smallest distance.
func nearest(name string) string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	return Nearest(name, names)
}

// Nearest finds the name that somebody probably meant by what was typed; "" where there are none.
func Nearest(typed string, names []string) string {
	best, least := "", math.MaxInt
	for _, name := range names {
		if d := distance(typed, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is Levenshtein's from what was typed to a name, where what is missing costs half as much as what is wrong:
// people leave out parts of long names.
func distance(typed, name string) int {
	const missing, wrong = 1, 2
	if len(typed) > 200 {
		typed = typed[:200]
	}
	row := make([]int, len(name)+1)
	for j := range row {
		row[j] = j * missing
	}
	for i := 1; i <= len(typed); i++ {
		diagonal := row[0]
		row[0] = i * wrong
		for j := 1; j <= len(name); j++ {
			change := diagonal
			if typed[i-1] != name[j-1] {
				change += wrong
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+wrong, row[j-1]+missing)
		}
	}
	return row[len(name)]
}
