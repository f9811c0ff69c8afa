package web

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// The metrics of Apache Kafka's group coordinator, by the names under which Prometheus' JMX exporter shows them with its usual
// rules, all of them lower case, so that a dashboard for Kafka shows these brokers too. Each broker has its own, with its
// id; a Kafka broker has a page of its own.
var (
	kafkaNumGroups      = kafkaGauge("coordinator_group_groupmetadatamanager_numgroups", "groups", "Groups that the broker coordinates.", "broker")
	kafkaNumOffsets     = kafkaGauge("coordinator_group_groupmetadatamanager_numoffsets", "offsets", "Committed offsets of these groups.", "broker")
	kafkaNumGroupsState = map[event.State]*prometheus.Desc{}
	kafkaClassicGroups  = kafkaGauge("server_group_coordinator_metrics_classic_group_count", "groups", "Classic groups by their state.", "broker", "state")
	kafkaGroupCount     = kafkaGauge("server_group_coordinator_metrics_group_count", "groups", "Groups by their protocol; there are classic ones only.", "broker", "protocol")
	kafkaPartitions     = kafkaGauge("server_group_coordinator_metrics_num_partitions", "partitions", "Partitions of __consumer_offsets by what the coordinator does with them.", "broker", "state")
	kafkaLoadMax        = kafkaGauge("server_group_coordinator_metrics_partition_load_time_max", "milliseconds", "Longest load of a partition of __consumer_offsets that ended in the last 30 seconds.", "broker")
	kafkaLoadAvg        = kafkaGauge("server_group_coordinator_metrics_partition_load_time_avg", "milliseconds", "Mean of the loads of partitions of __consumer_offsets that ended in the last 30 seconds.", "broker")

	// Each of these has two: how many since the start, and how many a second of late.
	kafkaMeters = [...]struct{ count, rate *prometheus.Desc }{
		offsetsCommitted: kafkaMeter("offset_commit", "offsets", "Offsets that were committed"),
		offsetsExpired:   kafkaMeter("offset_expiration", "offsets", "Offsets that expired"),
		offsetsDeleted:   kafkaMeter("offset_deletion", "offsets", "Offsets that were deleted by request"),
		rebalancesDone:   kafkaMeter("group_completed_rebalance", "rebalances", "Rebalances that ended with a stable group"),
	}
)

func init() {
	for state, name := range map[event.State]string{event.PreparingRebalance: "preparingrebalance", event.CompletingRebalance: "completingrebalance",
		event.Stable: "stable", event.Dead: "dead", event.Empty: "empty"} {
		kafkaNumGroupsState[state] = kafkaGauge("coordinator_group_groupmetadatamanager_numgroups"+name, "groups", "Groups in state "+string(state)+".", "broker")
	}
}

func kafkaGauge(name, unit, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("kafka_"+name, withUnit(help, unit), labels, nil)
}

func kafkaMeter(name, unit, help string) struct{ count, rate *prometheus.Desc } {
	prefix := "server_group_coordinator_metrics_" + name
	return struct{ count, rate *prometheus.Desc }{
		kafkaGauge(prefix+"_count", unit, help+", since the start.", "broker"),
		kafkaGauge(prefix+"_rate", unit+" per second", help+", mean of the last 30 seconds.", "broker"),
	}
}

// withUnit ends a help text with the unit, which a name does not always tell.
func withUnit(help, unit string) string { return help + " Unit: " + unit + "." }

// What is counted as it passes by.
type meter int

const (
	offsetsCommitted meter = iota
	offsetsExpired
	offsetsDeleted
	rebalancesDone
)

// rateSeconds is how far back a rate, and a load, is looked at (Kafka: metrics.sample.window.ms, 30 s).
const rateSeconds = 30

// brokerMeters is what one broker's coordinator did.
type brokerMeters struct {
	count  [len(kafkaMeters)]int64
	recent [len(kafkaMeters)][rateSeconds]int64 // by second
	second int64                                // of the newest of recent
	// loading and owned are partitions of __consumer_offsets; loads those that ended of late.
	loading, owned map[int32]struct{}
	loads          []loadTime
}

type loadTime struct {
	ended time.Time
	took  time.Duration
}

// at moves to the present second: what is too old counts no more.
func (b *brokerMeters) at(now time.Time) {
	second := now.Unix()
	for s := max(b.second+1, second-rateSeconds+1); s <= second; s++ {
		for i := range b.recent {
			b.recent[i][s%rateSeconds] = 0
		}
	}
	b.second = max(b.second, second)
	for len(b.loads) > 0 && now.Sub(b.loads[0].ended) > rateSeconds*time.Second {
		b.loads = b.loads[1:]
	}
}

func (b *brokerMeters) add(what meter, n int, now time.Time) {
	b.at(now)
	b.count[what] += int64(n)
	b.recent[what][now.Unix()%rateSeconds] += int64(n)
}

// meters are those of all brokers.
type meters map[int32]*brokerMeters

func (m meters) of(broker int32) *brokerMeters {
	b := m[broker]
	if b == nil {
		b = &brokerMeters{loading: map[int32]struct{}{}, owned: map[int32]struct{}{}}
		m[broker] = b
	}
	return b
}

// observe counts an event.
func (m meters) observe(e *event.Event, now time.Time) {
	switch body := e.Body.(type) {
	case event.OffsetsCommitted:
		if !body.Loaded {
			m.of(e.Broker).add(offsetsCommitted, len(body.Offsets), now)
		}
	case event.OffsetsRemoved:
		switch body.Why {
		case event.WhyOffsetsExpired:
			m.of(e.Broker).add(offsetsExpired, len(body.Offsets), now)
		case event.WhyOffsetsDeleted, event.WhyGroupDeleted:
			m.of(e.Broker).add(offsetsDeleted, len(body.Offsets), now)
		}
	case event.StateChanged:
		if body.To == event.Stable && body.Why == event.WhyAssignmentWritten {
			m.of(e.Broker).add(rebalancesDone, 1, now)
		}
	case event.LoadStarted:
		m.of(e.Broker).loading[body.Partition] = struct{}{}
	case event.LoadFinished:
		b := m.of(e.Broker)
		delete(b.loading, body.Partition)
		b.owned[body.Partition] = struct{}{}
	case event.PartitionUnloaded:
		b := m.of(e.Broker)
		delete(b.loading, body.Partition)
		delete(b.owned, body.Partition)
	case event.BrokerStopped:
		clear(m.of(body.ID).loading)
		clear(m.of(body.ID).owned)
	}
}

// loaded notes how long a load took.
func (m meters) loaded(broker int32, took time.Duration, now time.Time) {
	b := m.of(broker)
	b.at(now)
	b.loads = append(b.loads, loadTime{now, took})
}

func (m meters) collect(gauge func(*prometheus.Desc, float64, ...string), count func(*prometheus.Desc, int64, ...string), now time.Time) {
	for id, b := range m {
		broker := strconv.Itoa(int(id))
		b.at(now)
		for i, d := range kafkaMeters {
			sum := int64(0)
			for _, n := range b.recent[i] {
				sum += n
			}
			count(d.count, b.count[i], broker)
			gauge(d.rate, float64(sum)/rateSeconds, broker)
		}
		gauge(kafkaPartitions, float64(len(b.owned)), broker, "active")
		gauge(kafkaPartitions, float64(len(b.loading)), broker, "loading")
		var longest, all time.Duration
		for _, l := range b.loads {
			longest, all = max(longest, l.took), all+l.took
		}
		mean := 0.0
		if len(b.loads) > 0 {
			mean = all.Seconds() * 1000 / float64(len(b.loads))
		}
		gauge(kafkaLoadMax, longest.Seconds()*1000, broker)
		gauge(kafkaLoadAvg, mean, broker)
	}
}

// collectGroups tells of the groups by the brokers that coordinate them.
func collectGroups(model *view.Model, gauge func(*prometheus.Desc, float64, ...string)) {
	type tally struct {
		states  map[event.State]int
		groups  int
		offsets int
	}
	brokers := map[int32]*tally{}
	of := func(id int32) *tally {
		t := brokers[id]
		if t == nil {
			t = &tally{states: map[event.State]int{}}
			brokers[id] = t
		}
		return t
	}
	for id, b := range model.Brokers {
		if b.Up {
			of(id)
		}
	}
	for _, name := range model.GroupNames() {
		g := model.Groups[name]
		if id := g.Broker; id > 0 {
			t := of(id)
			t.groups++
			t.states[g.State]++
			for _, row := range g.Offsets {
				if row.Committed >= 0 {
					t.offsets++
				}
			}
		}
	}
	for id, t := range brokers {
		broker := strconv.Itoa(int(id))
		gauge(kafkaNumGroups, float64(t.groups), broker)
		gauge(kafkaNumOffsets, float64(t.offsets), broker)
		gauge(kafkaGroupCount, float64(t.groups), broker, "classic")
		for state, d := range kafkaNumGroupsState {
			gauge(d, float64(t.states[state]), broker)
			gauge(kafkaClassicGroups, float64(t.states[state]), broker, string(state))
		}
	}
}
