package web

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/live"
)

// TestMetricsAreExplained: each metric of ours has a help that ends with its unit, a type, and a name of the form that its family
// has; no other comes without.
func TestMetricsAreExplained(t *testing.T) {
	l := newLab(t, live.Config{})
	l.metrics.figures = func() Figures {
		return Figures{Purgatories: []Purgatory{{2, "Heartbeat", 7, 5}}, Requests: []Requests{{API: 3, Count: 4}}}
	}
	l.publish("orders-svc", event.RebalanceStarted{Why: event.WhyNewMember}, event.MemberRemoved{Why: event.WhySessionExpired}, event.ReplySent{API: 11},
		event.OffsetsRefused{Code: 25}, event.OffsetsCommitted{})
	all := text(t, l.ask("GET", "/metrics"))
	unit := regexp.MustCompile(` Unit: [a-z]+( [a-z]+)*\.$`)
	name := regexp.MustCompile(`^(grouplab|kafka)_[a-z0-9_]+$`)
	helps, types, found := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, line := range strings.Split(all, "\n") {
		words := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP "):
			helps[words[2]] = words[3]
		case strings.HasPrefix(line, "# TYPE "):
			types[words[2]] = words[3]
		case line != "":
			metric, _, _ := strings.Cut(words[0], "{")
			found[metric] = true
		}
	}
	ours := 0
	for metric := range found {
		if strings.HasPrefix(metric, "go_") || strings.HasPrefix(metric, "process_") {
			continue
		}
		ours++
		switch {
		case !name.MatchString(metric):
			t.Errorf("%s is no name of ours", metric)
		case !unit.MatchString(helps[metric]):
			t.Errorf("%s: its help says no unit: %q", metric, helps[metric])
		case types[metric] != "gauge" && types[metric] != "counter":
			t.Errorf("%s is a %s", metric, types[metric])
		case strings.HasPrefix(metric, "grouplab_") && strings.HasSuffix(metric, "_total") != (types[metric] == "counter"):
			t.Errorf("%s is a %s", metric, types[metric])
		}
	}
	if ours < 45 {
		t.Errorf("there are %d metrics of ours", ours)
	}
}

// TestKafkaMetrics: what Kafka's group coordinator says of itself is told by its names, for each broker.
func TestKafkaMetrics(t *testing.T) {
	l := newLab(t, live.Config{})
	offset := []event.OffsetValue{{Topic: "orders"}, {Topic: "orders", Partition: 1}}
	for _, body := range []event.Body{event.OffsetsCommitted{Offsets: offset}, event.OffsetsCommitted{Offsets: offset, Loaded: true},
		event.OffsetsRemoved{Why: event.WhyOffsetsExpired, Offsets: offset[:1]}, event.OffsetsRemoved{Why: event.WhyOffsetsDeleted, Offsets: offset},
		event.OffsetsRemoved{Why: event.WhyTopicDeleted, Offsets: offset}, event.StateChanged{To: event.Stable, Why: event.WhyAssignmentWritten},
		event.StateChanged{To: event.Stable, Why: event.WhyGroupLoaded}, event.LoadStarted{Partition: 3}, event.LoadStarted{Partition: 4},
		event.LoadFinished{Partition: 4}, event.LoadStarted{Partition: 5}, event.LoadFinished{Partition: 5}, event.PartitionUnloaded{Partition: 5}} {
		l.Observe([]event.Event{{Broker: 2, Group: "orders-svc", Body: body}})
	}
	l.Loaded(2, 10*time.Millisecond)
	l.Loaded(2, 30*time.Millisecond)
	all := text(t, l.ask("GET", "/metrics"))
	for _, part := range []string{
		`offset_commit_count{broker="2"} 2`, `offset_expiration_count{broker="2"} 1`, `offset_deletion_count{broker="2"} 2`, `group_completed_rebalance_count{broker="2"} 1`,
		`num_partitions{broker="2",state="active"} 1`, `num_partitions{broker="2",state="loading"} 1`, `partition_load_time_max{broker="2"} 30`, `partition_load_time_avg{broker="2"} 20`,
		`offset_commit_rate{broker="2"} 0.0666`,
	} {
		if !strings.Contains(all, "\nkafka_server_group_coordinator_metrics_"+part) {
			t.Errorf("there is no line %s", part)
		}
	}
	for _, part := range []string{`numgroups{broker="2"} `, `numoffsets{broker="2"} `, `numgroupsstable{broker="2"} `, `numgroupspreparingrebalance{broker="2"} `,
		`numgroupscompletingrebalance{broker="1"} 0`, `numgroupsempty{broker="2"} `, `numgroupsdead{broker="3"} 0`} {
		if !strings.Contains(all, "\nkafka_coordinator_group_groupmetadatamanager_"+part) {
			t.Errorf("there is no line %s", part)
		}
	}
}

// TestMeters: rates and loads forget what is older than half a minute, counts do not.
func TestMeters(t *testing.T) {
	m, at := meters{}, time.Unix(1_000_000, 0)
	b := m.of(1)
	rate := func(now time.Time) (sum int64) {
		b.at(now)
		for _, n := range b.recent[offsetsCommitted] {
			sum += n
		}
		return sum
	}
	b.add(offsetsCommitted, 60, at)
	m.loaded(1, time.Second, at)
	b.add(offsetsCommitted, 30, at.Add(20*time.Second))
	for _, c := range []struct {
		after time.Duration
		sum   int64
		loads int
	}{{20 * time.Second, 90, 1}, {29 * time.Second, 90, 1}, {31 * time.Second, 30, 0}, {49 * time.Second, 30, 0}, {50 * time.Second, 0, 0}, {time.Hour, 0, 0}} {
		if sum := rate(at.Add(c.after)); sum != c.sum || len(b.loads) != c.loads {
			t.Errorf("after %v: %d offsets, %d loads; want %d, %d", c.after, sum, len(b.loads), c.sum, c.loads)
		}
	}
	if b.count[offsetsCommitted] != 90 {
		t.Errorf("%d in all", b.count[offsetsCommitted])
	}
}
