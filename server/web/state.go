package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"grouplab/coordinator/event"
	"grouplab/server/live"
	"grouplab/static/view"
)

// keeper holds the picture of the cluster: the same fold that the page runs. It is brought up to date when somebody asks
// and costs nothing while nobody does.
type keeper struct {
	hub   *live.Hub
	mu    sync.Mutex
	model *view.Model // nil before the first question
	seq   int64
	chunk []event.Event // scratch
}

// keeperLag is how many events are applied one by one at most; further behind, facts are cheaper.
const keeperLag = 5000

// now calls f with the picture of this moment. f must not keep it.
func (k *keeper) now(ctx context.Context, f func(*view.Model)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	oldest, last := k.hub.Window()
	if k.model == nil || k.seq+1 < oldest || last-k.seq > keeperLag {
		s, err := k.hub.Snapshot(ctx)
		if err != nil {
			return err
		}
		k.model, k.seq = view.NewModel(), s.Seq
		for _, e := range s.Events {
			k.model.Apply(e)
		}
	}
	for {
		k.chunk = k.hub.Since(k.chunk[:0], k.seq+1, 1000)
		if len(k.chunk) == 0 {
			break
		}
		for _, e := range k.chunk {
			k.model.Apply(e)
			k.seq = e.Seq
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	k.model.SetNow(k.hub.NowMs())
	f(k.model)
	return nil
}

// The JSON of /api/state. Times are the server's milliseconds since 1970; durations end in Ms too, by their names.
type stateJSON struct {
	World   string        `json:"world"`
	Seq     int64         `json:"seq"`
	NowMs   int64         `json:"nowMs"`
	Brokers []brokerJSON  `json:"brokers"`
	Topics  []topicJSON   `json:"topics"`
	Groups  []groupJSON   `json:"groups"`
	Offsets []offsetsJSON `json:"offsetsPartitions"`
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

// state handles GET /api/state, and with ?group=NAME only that group.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	var body stateJSON
	found := true
	group := r.URL.Query().Get("group")
	err := s.keeper.now(r.Context(), func(m *view.Model) {
		if found = group == "" || m.Groups[group] != nil && !m.Groups[group].Gone; found {
			body = stateOf(m, group)
		}
	})
	switch {
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error(), "the server is shutting down or overloaded; try again")
	case !found:
		refuse(w, http.StatusNotFound, fmt.Sprintf("no group is called %q", group), "GET /api/state without a parameter lists all groups")
	default:
		body.World = s.cfg.Hub.World()
		respond(w, http.StatusOK, body)
	}
}

func stateOf(m *view.Model, only string) stateJSON {
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
	for _, t := range m.Tapes {
		if t.EndOffset > 0 {
			out.Offsets = append(out.Offsets, offsetsJSON{t.Partition, t.Leader, t.Epoch, list(t.Replicas), list(t.ISR),
				t.EndOffset, t.HighWatermark})
		}
	}
	slices.SortFunc(out.Offsets, func(a, b offsetsJSON) int { return int(a.Partition - b.Partition) })
	for _, name := range m.GroupNames() {
		if only == "" || name == only {
			out.Groups = append(out.Groups, groupOf(m, m.Groups[name]))
		}
	}
	return out
}

func groupOf(m *view.Model, g *view.Group) groupJSON {
	out := groupJSON{
		Name: g.Name, State: g.State, SinceMs: g.SinceMs, Coordinator: g.Broker, Partition: g.Partition,
		Headline:   view.Headline(m, view.Options{Lang: view.English, Mode: view.ModeLive, Group: g.Name}),
		Generation: g.Generation, ProtocolType: g.ProtocolType, Protocol: g.Protocol, Leader: g.Leader,
		Members: []memberJSON{}, Pending: []waiterJSON{}, Offsets: []offsetJSON{},
	}
	for _, mb := range g.Present() {
		out.Members = append(out.Members, memberOf(g, mb))
	}
	for _, p := range g.Pending {
		out.Pending = append(out.Pending, waiterJSON{Member: p.ID, Label: p.Label, ClientID: p.ClientID, Pending: true, SessionEndsMs: p.DeadlineMs})
	}
	for _, o := range g.Offsets {
		row := offsetJSON{Topic: o.Topic, Partition: o.Partition, CommittedMs: o.CommittedMs, Pending: list(o.Pending)}
		if committed := o.Committed; committed >= 0 {
			row.Committed = &committed
		}
		out.Offsets = append(out.Offsets, row)
	}
	w := m.Waiting(g.Name)
	if w.Kind != view.WaitNothing {
		out.Waiting = waitOf(w)
	}
	if b := w.Began; b.Why != "" {
		out.Began = &beganJSON{b.Why, b.Member, w.BeganLabel, b.ClientReason, b.AtMs, b.Seq}
	}
	return out
}

func memberOf(g *view.Group, mb *view.Member) memberJSON {
	out := memberJSON{
		ID: mb.ID, Label: mb.Label, InstanceID: mb.InstanceID, ClientID: mb.ClientID, ClientHost: mb.ClientHost,
		SessionTimeoutMs: mb.SessionTimeoutMs, RebalanceTimeoutMs: mb.RebalanceTimeoutMs, Gone: mb.Gone,
		Protocols: list(mb.Protocols), Topics: list(mb.Topics), Assigned: list(mb.Assigned),
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

func waitOf(w view.Waiting) *waitJSON {
	out := &waitJSON{For: w.Kind, SinceMs: w.SinceMs, Here: w.Here, Of: w.Of, Missing: []waiterJSON{},
		EndMs: w.EndMs, EndBy: w.EndBy, EndMember: w.EndMember, HardMs: w.HardMs, HardOf: w.HardOf}
	for _, miss := range w.Missing {
		out.Missing = append(out.Missing, waiterJSON{Member: miss.Member, Label: miss.Label, Gone: miss.Gone,
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
