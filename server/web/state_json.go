package web

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// The JSON of /api/state. Times are the server's milliseconds since 1970; durations end in Ms too, by their names.
type stateJSON struct {
	World   string        `json:"world"`
	Seq     int64         `json:"seq"`
	NowMs   int64         `json:"nowMs"`
	Brokers []brokerJSON  `json:"brokers"`
	Topics  []topicJSON   `json:"topics"`
	Groups  []groupJSON   `json:"groups"`
	Offsets []offsetsJSON `json:"offsetsPartitions"`
	LeftOut *leftOutJSON  `json:"leftOut,omitempty"` // where limit left something out
}

// leftOutJSON says what is there and not in the answer. Rows are those of lists within groups, each of which says how many of them
// are its own.
type leftOutJSON struct {
	Groups int    `json:"groups,omitempty"`
	Topics int    `json:"topics,omitempty"`
	Rows   int    `json:"rows,omitempty"`
	Says   string `json:"says"`
}

type brokerJSON struct {
	ID          int32  `json:"id"`
	Host        string `json:"host"`
	Port        int32  `json:"port"`
	Up          bool   `json:"up"`
	Fenced      bool   `json:"fenced"`
	SinceMs     int64  `json:"sinceMs"`
	NoticedByMs int64  `json:"noticedByMs,omitempty"`
}

type topicJSON struct {
	Name       string `json:"name"`
	Partitions int32  `json:"partitions"`
	Internal   bool   `json:"internal,omitempty"`
}

// offsetsJSON is a partition of __consumer_offsets that holds something.
type offsetsJSON struct {
	Partition     int32   `json:"partition"`
	Leader        int32   `json:"leader"` // -1 where there is none
	Epoch         int32   `json:"epoch"`
	Replicas      []int32 `json:"replicas"`
	ISR           []int32 `json:"isr"`
	EndOffset     int64   `json:"endOffset"`
	HighWatermark int64   `json:"highWatermark"`
}

type groupJSON struct {
	Name         string       `json:"name"`
	State        event.State  `json:"state"`
	SinceMs      int64        `json:"sinceMs"`
	Headline     string       `json:"headline"`
	Coordinator  int32        `json:"coordinator"` // 0 where nobody is
	Partition    int32        `json:"partition"`   // of __consumer_offsets, -1 where not known
	Generation   int32        `json:"generation"`
	ProtocolType string       `json:"protocolType"`
	Protocol     string       `json:"protocol"`
	Leader       string       `json:"leader"`
	Members      []memberJSON `json:"members"`
	Pending      []waiterJSON `json:"pending"`
	Waiting      *waitJSON    `json:"waiting"` // null where it waits for nothing
	Began        *beganJSON   `json:"began"`   // why the last rebalance began, null where not known
	Offsets      []offsetJSON `json:"offsets"`
	LeftOut      int          `json:"leftOut,omitempty"` // rows of these lists, and of lists within them
}

type memberJSON struct {
	ID                 string                  `json:"id"`
	Label              string                  `json:"label"`
	InstanceID         string                  `json:"instanceId,omitempty"`
	ClientID           string                  `json:"clientId"`
	ClientHost         string                  `json:"clientHost"`
	SessionTimeoutMs   int32                   `json:"sessionTimeoutMs"`
	RebalanceTimeoutMs int32                   `json:"rebalanceTimeoutMs"`
	SessionEndsMs      int64                   `json:"sessionEndsMs,omitempty"` // 0 where no timer runs
	Protocols          []string                `json:"protocols"`
	Topics             []string                `json:"topics"`
	Assigned           []event.TopicPartitions `json:"assigned"`
	Gone               bool                    `json:"gone"` // its process is known to be dead
	Parked             string                  `json:"parked,omitempty"`
}

// waiterJSON is somebody a group waits for, or an id that was handed out and has not joined.
type waiterJSON struct {
	Member        string `json:"member"`
	Label         string `json:"label"`
	ClientID      string `json:"clientId,omitempty"`
	Gone          bool   `json:"gone,omitempty"`
	Pending       bool   `json:"pending,omitempty"`
	SessionEndsMs int64  `json:"sessionEndsMs,omitempty"`
}

type waitJSON struct {
	For       view.WaitKind `json:"for"`
	SinceMs   int64         `json:"sinceMs"`
	Here      int           `json:"here"`
	Of        int           `json:"of"`
	Missing   []waiterJSON  `json:"missing"`
	EndMs     int64         `json:"endMs,omitempty"` // 0: up to somebody
	EndBy     view.EndBy    `json:"endBy,omitempty"`
	EndMember string        `json:"endMember,omitempty"`
	HardMs    int64         `json:"hardMs,omitempty"` // at the latest; 0: nothing bounds it
	HardOf    string        `json:"hardOf,omitempty"`
}

type beganJSON struct {
	Why          event.Why `json:"why"`
	Member       string    `json:"member,omitempty"`
	Label        string    `json:"label,omitempty"`
	ClientReason string    `json:"clientReason,omitempty"`
	AtMs         int64     `json:"atMs"`
	Seq          int64     `json:"seq,omitempty"`
}

type offsetJSON struct {
	Topic       string  `json:"topic"`
	Partition   int32   `json:"partition"`
	Committed   *int64  `json:"committed"` // null where nothing was committed
	CommittedMs int64   `json:"committedMs,omitempty"`
	Pending     []int64 `json:"pending"`
}

// shown is what an answer has room for, and what was left out of it.
type shown struct {
	limit          int // of groups, of topics, and of the rows of each list
	after          *string
	rows           int
	groups, topics int
}

// few is the beginning of a list, never nil, so that JSON says [] and not null.
func few[T any](s *shown, list []T) []T {
	if more := len(list) - s.limit; more > 0 {
		s.rows += more
		list = list[:s.limit]
	}
	if list == nil {
		return []T{}
	}
	return list
}

// nameBytes is how long a name may be that is told as a whole; clients may choose any up to 32 KB.
const nameBytes = 512

// cut shortens a longer name in the middle, keeping both ends.
func cut(name string) string {
	if len(name) <= nameBytes {
		return name
	}
	const half = nameBytes / 2
	return strings.ToValidUTF8(name[:half], "") + "…" + strings.ToValidUTF8(name[len(name)-half:], "")
}

func cutAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = cut(name)
	}
	return out
}

func (s *shown) leftOut() *leftOutJSON {
	if s.groups+s.topics+s.rows == 0 {
		return nil
	}
	out := &leftOutJSON{Groups: s.groups, Topics: s.topics, Rows: s.rows}
	out.Says = fmt.Sprintf("%d groups, %d topics and %d rows within groups are not told: ?limit=N tells up to %d of each, "+
		"?after=NAME the groups behind a name, by name, ?group=NAME one", s.groups, s.topics, s.rows, mostLimit)
	return out
}

func (s *shown) state(m *view.Model, only string) stateJSON {
	out := stateJSON{Seq: m.Seq, NowMs: m.NowMs, Brokers: []brokerJSON{}, Topics: []topicJSON{}, Groups: []groupJSON{},
		Offsets: []offsetsJSON{}}
	for _, id := range m.BrokerIDs() {
		b := m.Brokers[id]
		out.Brokers = append(out.Brokers, brokerJSON{b.ID, b.Host, b.Port, b.Up, b.Fenced, b.SinceMs, b.NoticedByMs})
	}
	for _, t := range m.Topics {
		out.Topics = append(out.Topics, topicJSON{t.Name, t.Partitions, t.Internal})
	}
	slices.SortFunc(out.Topics, func(a, b topicJSON) int { return strings.Compare(a.Name, b.Name) })
	s.topics = max(len(out.Topics)-s.limit, 0)
	out.Topics = out.Topics[:len(out.Topics)-s.topics]
	for _, t := range m.Tapes {
		if t.EndOffset > 0 {
			out.Offsets = append(out.Offsets, offsetsJSON{t.Partition, t.Leader, t.Epoch, list(t.Replicas), list(t.ISR),
				t.EndOffset, t.HighWatermark})
		}
	}
	slices.SortFunc(out.Offsets, func(a, b offsetsJSON) int { return int(a.Partition - b.Partition) })
	out.Offsets = few(s, out.Offsets)
	names := []string{only}
	if only == "" {
		names = s.names(m)
	}
	for _, name := range names {
		out.Groups = append(out.Groups, s.group(m, m.Groups[name]))
	}
	out.LeftOut = s.leftOut()
	return out
}

// names are the groups that are told: those in motion first, or those behind a name.
func (s *shown) names(m *view.Model) []string {
	names := m.GroupNames()
	if s.after != nil {
		slices.Sort(names)
		at, found := slices.BinarySearch(names, *s.after)
		if found {
			at++
		}
		names = names[at:]
	}
	s.groups = max(len(names)-s.limit, 0)
	return names[:len(names)-s.groups]
}

func (s *shown) group(m *view.Model, g *view.Group) groupJSON {
	before := s.rows
	out := groupJSON{
		Name: cut(g.Name), State: g.State, SinceMs: g.SinceMs, Coordinator: g.Broker, Partition: g.Partition,
		Headline:   cut(view.Headline(m, view.Options{Lang: view.English, Mode: view.ModeLive, Group: g.Name})),
		Generation: g.Generation, ProtocolType: cut(g.ProtocolType), Protocol: cut(g.Protocol), Leader: cut(g.Leader),
		Members: []memberJSON{}, Pending: []waiterJSON{}, Offsets: []offsetJSON{},
	}
	for _, mb := range few(s, g.Present()) {
		out.Members = append(out.Members, s.member(g, mb))
	}
	for _, p := range few(s, g.Pending) {
		out.Pending = append(out.Pending, waiterJSON{Member: cut(p.ID), Label: p.Label, ClientID: cut(p.ClientID), Pending: true, SessionEndsMs: p.DeadlineMs})
	}
	for _, o := range few(s, g.Offsets) {
		row := offsetJSON{Topic: o.Topic, Partition: o.Partition, CommittedMs: o.CommittedMs, Pending: few(s, o.Pending)}
		if committed := o.Committed; committed >= 0 {
			row.Committed = &committed
		}
		out.Offsets = append(out.Offsets, row)
	}
	w := m.Waiting(g.Name)
	if w.Kind != view.WaitNothing {
		out.Waiting = s.wait(w)
	}
	if b := w.Began; b.Why != "" {
		out.Began = &beganJSON{b.Why, cut(b.Member), w.BeganLabel, cut(b.ClientReason), b.AtMs, b.Seq}
	}
	out.LeftOut = s.rows - before
	return out
}

func (s *shown) member(g *view.Group, mb *view.Member) memberJSON {
	out := memberJSON{
		ID: cut(mb.ID), Label: mb.Label, InstanceID: cut(mb.InstanceID), ClientID: cut(mb.ClientID), ClientHost: mb.ClientHost,
		SessionTimeoutMs: mb.SessionTimeoutMs, RebalanceTimeoutMs: mb.RebalanceTimeoutMs, Gone: mb.Gone,
		Protocols: cutAll(few(s, mb.Protocols)), Topics: cutAll(few(s, mb.Topics)), Assigned: []event.TopicPartitions{},
	}
	for _, t := range few(s, mb.Assigned) {
		t.Topic, t.Partitions = cut(t.Topic), few(s, t.Partitions)
		out.Assigned = append(out.Assigned, t)
	}
	if op := g.SessionOp(mb.ID); op != nil {
		out.SessionEndsMs = op.DeadlineMs
	}
	if g.ParkedJoin(mb.ID) != nil {
		out.Parked = "JoinGroup"
	} else if g.ParkedSync(mb.ID) != nil {
		out.Parked = "SyncGroup"
	}
	return out
}

func (s *shown) wait(w view.Waiting) *waitJSON {
	out := &waitJSON{For: w.Kind, SinceMs: w.SinceMs, Here: w.Here, Of: w.Of, Missing: []waiterJSON{},
		EndMs: w.EndMs, EndBy: w.EndBy, EndMember: w.EndMember, HardMs: w.HardMs, HardOf: w.HardOf}
	for _, miss := range few(s, w.Missing) {
		out.Missing = append(out.Missing, waiterJSON{Member: cut(miss.Member), Label: miss.Label, Gone: miss.Gone,
			Pending: miss.Pending, SessionEndsMs: miss.SessionEndsMs})
	}
	return out
}

// list makes an empty list of none, so that JSON says [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
