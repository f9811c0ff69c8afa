package sim

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"grouplab/coordinator"
)

// bound is what is taken under a name.
type bound struct {
	name, standard    string
	least, most, over string
}

const intMax = "2147483647"

// section8 is the configuration of Kafka's coordinators and cleaner, with Kafka's default, the smallest and the largest
// value, and one that is too much.
var section8 = []bound{
	{"group.min.session.timeout.ms", "6000", "-2147483648", intMax, "2147483648"},
	{"group.max.session.timeout.ms", "1800000", "-2147483648", intMax, "2147483648"},
	{"group.initial.rebalance.delay.ms", "3000", "-2147483648", intMax, "2147483648"},
	{"group.max.size", intMax, "1", intMax, "2147483648"},
	{"offset.metadata.max.bytes", "4096", "-2147483648", intMax, "2147483648"},
	{"offsets.load.buffer.size", "5242880", "1", intMax, "2147483648"},
	{"offsets.retention.minutes", "10080", "1", intMax, "2147483648"},
	{"offsets.retention.check.interval.ms", "600000", "1", "9223372036854775807", "9223372036854775808"},
	{"offsets.topic.num.partitions", "50", "1", "10000", "10001"}, // bounded here: a world has 10 000 partitions at most
	{"offsets.topic.replication.factor", "3", "1", "9", "10"},     // and nine brokers
	{"offsets.topic.segment.bytes", "104857600", "1", intMax, "2147483648"},
	{"offsets.topic.compression.codec", "0", "0", "0", "1"}, // what is written is not compressed
	{"offsets.commit.timeout.ms", "5000", "1", intMax, "2147483648"},
	{"transaction.max.timeout.ms", "900000", "1", intMax, "2147483648"},
	{"transactional.id.expiration.ms", "604800000", "1", intMax, "2147483648"},
	{"transaction.abort.timed.out.transaction.cleanup.interval.ms", "10000", "1", intMax, "2147483648"},
	{"transaction.remove.expired.transaction.cleanup.interval.ms", "3600000", "1", intMax, "2147483648"},
	{"transaction.state.log.num.partitions", "50", "1", "10000", "10001"},
	{"transaction.state.log.replication.factor", "3", "1", "9", "10"},
	{"transaction.state.log.min.isr", "2", "1", "9", "10"},
	{"transaction.partition.verification.enable", "true", "false", "true", "yes"},
	{"log.cleaner.min.cleanable.ratio", "0.5", "0", "1", "1.01"},
	{"log.cleaner.min.compaction.lag.ms", "0", "0", "9223372036854775807", "9223372036854775808"},
	{"log.cleaner.max.compaction.lag.ms", "9223372036854775807", "1", "9223372036854775807", "9223372036854775808"},
	{"log.cleaner.delete.retention.ms", "86400000", "1", "9223372036854775807", "9223372036854775808"},
}

// Every name of the table is taken within Kafka's bounds and refused outside of them, with a word of what would be right;
// the default changes nothing.
func TestSettingsOfSection8(t *testing.T) {
	plain, err := driveConfig(Config{Brokers: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range section8 {
		for _, value := range []string{b.standard, b.least, b.most} {
			if err := CheckSetting(Setting{b.name, value}); err != nil {
				t.Errorf("%s=%s: %v", b.name, value, err)
			}
		}
		bad := []string{b.over, "", "3s", "many", "NaN"}
		switch {
		case b.least == "false":
		case b.most == "1":
			bad = append(bad, "-0.01")
		default:
			var least int64
			if _, err := fmt.Sscan(b.least, &least); err != nil {
				t.Fatal(err)
			}
			bad = append(bad, fmt.Sprint(least-1), "1.5")
		}
		for _, value := range bad {
			err := CheckSetting(Setting{b.name, value})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s is %q; it takes", b.name, value)) {
				t.Errorf("%s=%s: %v", b.name, value, err)
			}
		}
		for _, value := range []string{b.least, b.most} {
			cfg, err := driveConfig(Config{Brokers: 9, Set: []Setting{{b.name, value}}})
			if err != nil {
				t.Error(err)
			}
			cfg.MemberID, plain.MemberID = nil, nil
			if value != b.standard && value != "0" && b.name != "log.cleaner.max.compaction.lag.ms" && reflect.DeepEqual(cfg, plain) {
				t.Errorf("%s=%s changes nothing", b.name, value)
			}
		}
	}
	s, x := coordinator.DefaultSettings(), plain.Transactions
	got := fmt.Sprint(s.GroupMinSessionTimeoutMs, s.GroupMaxSessionTimeoutMs, s.GroupInitialRebalanceDelayMs, s.GroupMaxSize, s.OffsetMetadataMaxBytes,
		s.OffsetsRetentionMinutes, s.OffsetsRetentionCheckIntervalMs, s.OffsetsCommitTimeoutMs, s.TransactionPartitionVerificationEnable,
		x.TransactionMaxTimeoutMs, x.TransactionalIDExpirationMs, x.AbortTimedOutIntervalMs, x.RemoveExpiredIntervalMs)
	if want := fmt.Sprint(6000, 1800000, 3000, math.MaxInt32, 4096, 10080, 600000, 5000, true, 900000, 604800000, 10000, 3600000); got != want {
		t.Errorf("defaults\n%s, want\n%s", got, want)
	}
}

// Settings that make no sense together are Kafka's to take: a smallest session timeout above the largest one makes every
// join fail with 26, as there.
func TestMinimumAboveMaximum(t *testing.T) {
	w, err := New(Config{Set: []Setting{{"group.min.session.timeout.ms", "7000"}, {"group.max.session.timeout.ms", "6000"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.CreateTopic("orders", 1); err != nil {
		t.Fatal(err)
	}
	for i, ms := range []int32{5999, 6500, 7001} {
		name := fmt.Sprint("c", i)
		if err := w.AddConsumer(ConsumerConfig{Name: name, Group: "g", Topics: []string{"orders"}, SessionTimeoutMs: ms}); err != nil {
			t.Fatal(err)
		}
		if err := w.Start(name); err != nil {
			t.Fatal(err)
		}
	}
	w.AdvanceTo(5000)
	refused := 0
	for _, e := range w.Take() {
		if strings.Contains(e.String(), "INVALID_SESSION_TIMEOUT") {
			refused++
		}
	}
	if refused < 3 {
		t.Errorf("%d refusals", refused)
	}
}

// What Settings calls a default changes nothing, and is Kafka's where the table above says what that is.
func TestSettingsNameTheirDefaults(t *testing.T) {
	table := map[string]string{}
	for _, b := range section8 {
		table[b.name] = b.standard
	}
	plain, err := New(Config{Brokers: 3})
	if err != nil {
		t.Fatal(err)
	}
	list := Settings()
	if len(list) != len(settings) {
		t.Fatalf("%d of %d settings are told about", len(list), len(settings))
	}
	for _, a := range list {
		if want, known := table[a.Name]; known && a.Standard != want {
			t.Errorf("%s: the default is %s, not %q", a.Name, want, a.Standard)
		}
		w, err := New(Config{Brokers: 3, Set: []Setting{{a.Name, a.Standard}}})
		if err != nil {
			t.Errorf("%s: the default %q is refused: %v", a.Name, a.Standard, err)
			continue
		}
		if got, want := made(w), made(plain); got != want {
			t.Errorf("%s: the default %q changes\n%s\nto\n%s", a.Name, a.Standard, want, got)
		}
		if a.Values == "" {
			t.Errorf("%s: nothing says what it takes", a.Name)
		}
	}
}

// made prints what a world's brokers were made with.
func made(w *World) string {
	cfg, err := driveConfig(w.cfg)
	if err != nil {
		return err.Error()
	}
	cfg.MemberID = nil
	c := w.drive.Cluster().Config()
	c.HostPort, c.Numbers, c.Decompress = nil, nil, nil
	if cfg.LoadChunkBytes == 0 {
		cfg.LoadChunkBytes = 5 << 20
	}
	cfg.Cluster = c
	return fmt.Sprintf("%+v", cfg)
}
