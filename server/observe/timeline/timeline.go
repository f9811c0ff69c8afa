package timeline

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Config is what a Timeline needs to begin.
type Config struct {
	// Numbers hands out Seq; all sources of one host share it. It must not be nil.
	Numbers *event.Numbers
	// HistoryMs is how far back generations are told one by one when a log is read for the first time; 0: 24 hours.
	HistoryMs int64
}

const dayMs = 24 * 60 * 60 * 1000

// Timeline is what is known of one cluster. One goroutine owns it.
type Timeline struct {
	cfg    Config
	nowMs  int64
	events []event.Event
	names  names

	about   Attached
	brokers map[int32]*broker
	topics  map[string]*topic
	byID    map[record.TopicID]string
	// offsetsTopic are leaders and epochs of the partitions of __consumer_offsets.
	offsetsTopic map[int32]Partition
	partitions   map[int32]*partition
	groups       map[string]*group
	moving       map[string]*group // those with a motion
	early        []earlyReason     // what a broker's log said of groups before anything else did
	lost         map[string]event.SightChanged
	skipped      map[string]*Skip
	// unnamed are groups that name a topic by an id for which there is no name yet.
	unnamed map[record.TopicID]map[string]bool
	// dropped are groups, by partition of __consumer_offsets, that were told of before it was begun anew.
	dropped map[int32][]string
}

// New returns a Timeline that knows nothing.
func New(cfg Config) *Timeline {
	if cfg.HistoryMs == 0 {
		cfg.HistoryMs = dayMs
	}
	t := &Timeline{cfg: cfg}
	t.forget()
	return t
}

// forget makes everything unknown.
func (t *Timeline) forget() {
	t.brokers, t.topics, t.byID = map[int32]*broker{}, map[string]*topic{}, map[record.TopicID]string{}
	t.offsetsTopic = map[int32]Partition{}
	t.lost, t.skipped = map[string]event.SightChanged{}, map[string]*Skip{}
	t.forgetLog()
}

// forgetLog makes unknown what was read from __consumer_offsets.
func (t *Timeline) forgetLog() {
	t.partitions, t.groups, t.moving = map[int32]*partition{}, map[string]*group{}, map[string]*group{}
	t.unnamed, t.dropped = map[record.TopicID]map[string]bool{}, map[int32][]string{}
}

// Observe takes what a host learned at nowMs (milliseconds since 1970; it does not fall) and returns what happened, in
// order of Seq. The slice is the caller's. Nothing in an observation makes it panic.
func (t *Timeline) Observe(nowMs int64, o Observation) []event.Event {
	t.nowMs = max(t.nowMs, nowMs)
	switch o := o.(type) {
	case Records:
		t.records(o)
	case Position:
		t.records(Records{Partition: o.Partition, Next: o.Next})
	case ReadFrom:
		t.readFrom(o)
	case Recreated:
		t.recreated(o)
	case PollList:
		t.polled(o)
	case Described:
		t.described(o)
	case Committed:
		t.asked(o)
	case LogEnds:
		t.measured(o)
	case BrokerLog:
		t.brokerLog(o)
	case Attached:
		t.attached(o)
	case Metadata:
		t.metadata(o)
	case SourceFailed:
		t.sourceFailed(o)
	case SourceBack:
		t.sourceBack(o)
	}
	events := t.events
	t.events = nil
	return events
}

// when is a moment as far as it is known.
type when struct {
	lo, hi int64
	truth  event.Truth
}

func exactly(ms int64) when { return when{lo: ms, hi: ms} }

// emit tells of a group, or of the cluster where g is nil.
func (t *Timeline) emit(g *group, w when, cause int64, body event.Body) int64 {
	e := event.Event{Seq: t.cfg.Numbers.Next(), AtMs: w.lo, Cause: cause, Truth: w.truth, Body: body}
	if w.hi > w.lo {
		e.AtHiMs = w.hi
	}
	if g != nil {
		e.Group, e.Broker = g.name, t.coordinator(g)
	}
	t.events = append(t.events, e)
	return e.Seq
}

// coordinator is the broker that leads the group's partition, or the one that answered for it; 0 where neither is known.
func (t *Timeline) coordinator(g *group) int32 {
	if p, known := t.offsetsTopic[g.partition]; known && g.partition >= 0 {
		return max(p.Leader, 0)
	}
	return g.answeredBy
}

// group finds or makes a group.
func (t *Timeline) group(name string) *group {
	g := t.groups[name]
	if g == nil {
		g = &group{name: name, partition: -1, state: event.Empty, generation: -1}
		if n := t.about.Partitions; n > 0 {
			g.partition = record.Partition(name, n)
		}
		t.groups[name] = g
		t.takeEarly(g)
	}
	return g
}

// sorted are all groups by name.
func (t *Timeline) sorted() []*group {
	list := make([]*group, 0, len(t.groups))
	for _, name := range slices.Sorted(maps.Keys(t.groups)) {
		list = append(list, t.groups[name])
	}
	return list
}

// inPartition are the groups of one partition of __consumer_offsets, by name.
func (t *Timeline) inPartition(number int32) (list []*group) {
	for _, g := range t.groups {
		if g.partition == number {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	return list
}

// Ready tells whether every partition of __consumer_offsets that is read has reached the end that was noted when its
// reading began.
func (t *Timeline) Ready() bool {
	for _, p := range t.partitions {
		if !p.ready {
			return false
		}
	}
	return len(t.partitions) > 0
}

// Progress is how far the first reading is: positions read and to read, over all partitions.
func (t *Timeline) Progress() (read, all int64) {
	for _, p := range t.partitions {
		read += min(p.next, p.end) - p.start
		all += p.end - p.start
	}
	return read, all
}

// Groups are the names of all groups that are known, sorted.
func (t *Timeline) Groups() []string { return slices.Sorted(maps.Keys(t.groups)) }

// InMotion are the groups that are seen to rebalance, sorted: those that a host describes at each poll.
func (t *Timeline) InMotion() []string { return slices.Sorted(maps.Keys(t.moving)) }

// Coordinator is the broker that leads a group's partition of __consumer_offsets, 0 where that is not known.
func (t *Timeline) Coordinator(group string) int32 {
	if g := t.groups[group]; g != nil {
		return t.coordinator(g)
	}
	if n := t.about.Partitions; n > 0 {
		return max(t.offsetsTopic[record.Partition(group, n)].Leader, 0)
	}
	return 0
}

// TypeOf is "classic" or "consumer" as the log or ListGroups say, another type of ListGroups, or "" where it is not known.
func (t *Timeline) TypeOf(group string) string {
	if g := t.groups[group]; g != nil {
		return g.typ
	}
	return ""
}

// Topics are the names of topics that a group, or with "" any group, has offsets of, owns or subscribes to, sorted: those
// to ask Metadata and ListOffsets for.
func (t *Timeline) Topics(group string) []string {
	found := map[string]bool{}
	for name, g := range t.groups {
		if group != "" && name != group {
			continue
		}
		for _, x := range g.offsets {
			found[x.topic] = true
		}
		for _, m := range g.members {
			for _, x := range m.topics {
				found[x] = true
			}
			for _, x := range m.assigned {
				found[x.Topic] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// UnknownTopics are ids of topics for which Metadata has given no name yet, in ascending order.
func (t *Timeline) UnknownTopics() []record.TopicID {
	return slices.SortedFunc(maps.Keys(t.unnamed), func(a, b record.TopicID) int { return bytes.Compare(a[:], b[:]) })
}

// Skip is a kind of record of __consumer_offsets that was left out.
type Skip struct {
	// Reason says what was wrong; Count is how many, Partition and Offset are the first one's.
	Reason    string
	Count     int64
	Partition int32
	Offset    int64
}

// Skipped are the kinds of records that were left out, sorted by their reasons.
func (t *Timeline) Skipped() []Skip {
	var list []Skip
	for _, reason := range slices.Sorted(maps.Keys(t.skipped)) {
		list = append(list, *t.skipped[reason])
	}
	return list
}

// names keeps one copy of each name. It is emptied when it has grown large: what is in use stays, and is learned again.
type names map[string]string

const mostNames = 1 << 16

func (n *names) one(s string) string {
	if kept, known := (*n)[s]; known {
		return kept
	}
	if *n == nil || len(*n) >= mostNames {
		*n = names{}
	}
	(*n)[s] = s
	return s
}

func (n *names) all(list []string) []string {
	for i, s := range list {
		list[i] = n.one(s)
	}
	return list
}
