package history

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"grouplab/coordinator/event"
)

// Config bounds a History. Zero values are replaced by defaults.
type Config struct {
	// Generations is how many are remembered in all (20 000), GroupGenerations how many of one group (200).
	Generations, GroupGenerations int
	// KeepMs is how long a generation is remembered: 24 hours.
	KeepMs int64
	// Groups is how many groups are followed (200 000). Of those beyond, Untracked counts the facts.
	Groups int
	// SummaryMs is the least time between two summaries of a group whose state has not changed (1 000).
	SummaryMs int64
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		v *int
		d int
	}{{&c.Generations, 20_000}, {&c.GroupGenerations, 200}, {&c.Groups, 200_000}} {
		if *d.v <= 0 {
			*d.v = d.d
		}
	}
	if c.KeepMs <= 0 {
		c.KeepMs = dayMs
	}
	if c.SummaryMs <= 0 {
		c.SummaryMs = 1000
	}
	return c
}

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs
)

// History is the fold.
type History struct {
	cfg    Config
	nowMs  int64
	seq    int64 // of the last fact
	groups map[string]*group
	// changed are the groups whose summary may be another than was told, in the order in which that came about.
	changed []*group
	// told are records that are to be told.
	told []*record
	// all are the remembered generations of all groups, the oldest first.
	all *list.List

	// memberOf finds the group of a member: connections name members only.
	memberOf map[string]*group
	// ghosts counts the members whose process is gone.
	ghosts  atomic.Int64
	brokers map[int32]*broker
	tapes   map[int32]*tape // partitions of __consumer_offsets
	// attached is set where an observer tells: what lives in a coordinator's memory is then not known.
	attached bool
	hour     int64 // of the last Take

	// steady are the groups of which no commit changes anything; others may look while facts are applied.
	steady sync.Map

	// moving are the groups that do not serve, or have no coordinator.
	moving map[*group]struct{}

	totals    Totals
	states    map[event.State]*stateTime
	Untracked int64 // facts of groups that are not followed
}

// broker is one broker.
type broker struct {
	up, killed, fenced bool
	sinceMs, noticedBy int64
	retentionMs        int64
}

// tape is a partition of __consumer_offsets: who coordinates its groups.
type tape struct {
	leader   int32
	replicas []int32
	loading  map[int32]int64 // since when, by broker
}

// New returns a History that knows nothing.
func New(cfg Config) *History {
	return &History{cfg: cfg.withDefaults(), groups: map[string]*group{}, all: list.New(), memberOf: map[string]*group{}, moving: map[*group]struct{}{}, brokers: map[int32]*broker{},
		tapes: map[int32]*tape{}, totals: newTotals(), states: map[event.State]*stateTime{}}
}

// Wants tells whether a fact can change anything here. It is quick, most facts under load cannot, and it may be asked at any
// time.
func (h *History) Wants(e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.HeartbeatReceived:
		// It may be a ghost's. Of those that came in one batch with the end of the connection the first may be missed; the
		// next one is soon enough.
		return h.ghosts.Load() > 0
	case event.OperationTested, event.TimerCascaded, event.OffsetsPending,
		event.RecordsAppended, event.ReplicaAdvanced, event.HighWatermarkAdvanced, event.GroupSummarized, event.GenerationRecorded:
		return false
	case event.RequestReceived:
		return b.API == apiSyncGroup
	case event.OperationWatched:
		return b.Type != event.DelayedHeartbeat
	case event.OperationCompleted:
		return b.Type != event.DelayedHeartbeat
	case event.ReplyParked:
		return b.API == apiJoinGroup || b.API == apiSyncGroup
	case event.ReplySent:
		return b.API == apiJoinGroup || b.API == apiSyncGroup
	case event.AppendStarted:
		return b.What == whatGroup
	}
	return true
}

// Apply folds one fact. The facts of a world come in the order of Seq; what lies between FactsBegan and FactsEnded replaces
// what was known of the present, and leaves what is remembered. Between these there may be events of groups whose facts have
// come already.
func (h *History) Apply(e *event.Event) {
	h.seq = max(h.seq, e.Seq)
	if !h.Wants(e) {
		return
	}
	h.advance(max(e.AtMs, e.AtHiMs))
	switch b := e.Body.(type) {
	case event.FactsBegan:
		h.beginFacts(b)
		return
	case event.FactsEnded:
		h.endFacts()
		return
	}
	h.applyCluster(e)
	if e.Group == "" {
		return
	}
	if g := h.group(e); g != nil {
		h.applyGroup(g, e)
		h.applyModern(g, e)
	}
}

// Seq is that of the last fact that was folded.
func (h *History) Seq() int64 { return h.seq }

// advance moves the present; it never goes back.
func (h *History) advance(nowMs int64) {
	if nowMs > h.nowMs {
		h.nowMs = nowMs
	}
}

// group finds the group of a fact, or makes it; nil where there are too many.
func (h *History) group(e *event.Event) *group {
	g := h.groups[e.Group]
	if g == nil {
		if !founds(e.Body) {
			return nil
		}
		if len(h.groups) >= h.cfg.Groups {
			h.Untracked++
			return nil
		}
		g = &group{name: e.Group, partition: -1, gone: true, lastGeneration: -1, sinceMs: e.AtMs}
		h.groups[e.Group] = g
		h.touch(g, false)
	}
	return g
}

// founds tells whether a fact makes a group known: a client, or an answer, may name one that never comes to be.
func founds(b event.Body) bool {
	switch b.(type) {
	case event.GroupCreated, event.GroupLoaded, event.StateChanged, event.MemberIDIssued, event.MemberAdded, event.GroupListed,
		event.EpochBumped, event.TargetAssigned, event.MemberReconciled, event.AssignmentStored, event.GenerationStarted,
		event.RebalanceStarted, event.OffsetsCommitted:
		return true
	}
	return false
}

func (h *History) beginFacts(b event.FactsBegan) {
	h.advance(b.NowMs)
	h.brokers, h.tapes = map[int32]*broker{}, map[int32]*tape{}
	for _, g := range h.groups {
		g.forget()
		g.unseen, g.coordinator = true, 0
	}
}

// endFacts drops the groups that the facts did not name.
func (h *History) endFacts() {
	for _, name := range slices.Sorted(maps.Keys(h.groups)) {
		g := h.groups[name]
		if g.unseen {
			g.unseen = false
			h.gone(g)
		}
		h.touch(g, false)
	}
}

// touch notes that a group's summary may have changed; at once where it should not wait for its second.
func (h *History) touch(g *group, atOnce bool) {
	g.atOnce = g.atOnce || atOnce
	if !g.listed {
		g.listed = true
		h.changed = append(h.changed, g)
	}
}

// gone notes that a group is no more.
func (h *History) gone(g *group) {
	if g.gone {
		return
	}
	h.enter(g, event.Dead, h.nowMs)
	g.gone, g.lostMs, g.restlessMs = true, 0, 0
	delete(h.moving, g)
	g.forget()
	h.dropMembers(g)
	g.owners, g.offsets, g.settled, g.assigned, g.freed, g.left, g.died = nil, nil, nil, nil, nil, nil, nil
	g.generation, g.lastGeneration, g.hasOffsets, g.unownedMs, g.everOwned, g.rebalance = 0, -1, false, 0, false, nil
	g.loop = loop{}
	h.steadies(g)
	h.touch(g, true)
}
