package view

import "grouplab/coordinator/event"

// WaitKind is what a group waits for.
type WaitKind string

const (
	WaitNothing      WaitKind = ""
	WaitInitialDelay WaitKind = "initial-delay" // time alone ends it
	WaitJoin         WaitKind = "join"          // members that have not rejoined
	WaitAssignment   WaitKind = "assignment"    // the leader's SyncGroup
	WaitAppend       WaitKind = "append"        // the assignment is being written
	WaitSync         WaitKind = "sync"          // members that have not fetched their assignment
	WaitLoad         WaitKind = "load"          // the coordinator reads the log
	WaitCoordinator  WaitKind = "coordinator"   // nobody leads the group's partition
)

// EndBy is what will end a wait first.
type EndBy string

const (
	EndUnknown          EndBy = ""
	EndSession          EndBy = "session"           // the session of EndMember runs out
	EndRebalanceTimeout EndBy = "rebalance-timeout" // DelayedJoin runs out
	EndInitialDelay     EndBy = "initial-delay"     // InitialDelayedJoin runs out
	EndRejoin           EndBy = "rejoin"            // EndMember rejoins; when is up to it
	EndPending          EndBy = "pending"           // the pending id EndMember joins or runs out
	EndSyncTimeout      EndBy = "sync-timeout"      // DelayedSync runs out
	EndLeaderSync       EndBy = "leader-sync"       // the leader sends the assignment
	EndAppend           EndBy = "append"            // the log answers
	EndLoad             EndBy = "load"              // the log has been read
	EndFence            EndBy = "fence"             // the controller notices that a broker is dead
)

// Missing is somebody a group waits for.
type Missing struct {
	Member  string
	Label   string
	Gone    bool // its process is dead
	Paused  bool // its process is frozen
	Pending bool // an id that never joined
	// SessionEndsMs is when its timer runs out, 0 where none runs.
	SessionEndsMs int64
	LastHeardMs   int64
}

// Waiting answers who a group waits for, until when, and why it began. It is plain data: the headline, /api/state and
// the tests read the same.
type Waiting struct {
	Kind    WaitKind
	SinceMs int64
	Missing []Missing
	// Here counts who is there already, Of all that are expected.
	Here, Of int
	// EndMs is when it will end by what is known now, 0 where that is up to somebody; EndBy and EndMember say by what.
	EndMs     int64
	EndBy     EndBy
	EndMember string // label
	// HardMs is when it ends at the latest, 0 where nothing bounds it; HardOf is the member whose timeout that is.
	HardMs int64
	HardOf string // label
	// MaxMs bounds the extensions of an initial delay.
	MaxMs int64
	Began Began
	// BeganLabel is Began.Member's label.
	BeganLabel string
}

// Waiting tells what a group waits for. Kind is WaitNothing for a group that is not known.
func (m *Model) Waiting(group string) Waiting {
	g := m.Groups[group]
	if g == nil {
		return Waiting{}
	}
	w := Waiting{SinceMs: g.SinceMs, Began: g.Began, BeganLabel: g.Label(g.Began.Member)}
	switch {
	case m.waitingForCoordinator(g, &w):
	case g.State == event.PreparingRebalance:
		m.waitingForJoins(g, &w)
	case g.State == event.CompletingRebalance:
		m.waitingForAssignment(g, &w)
	case g.State == event.Stable:
		m.waitingForSyncs(g, &w)
	}
	return w
}

func (m *Model) waitingForCoordinator(g *Group, w *Waiting) bool {
	tape := m.Tapes[g.Partition]
	if tape == nil {
		return false
	}
	if tape.Leader > 0 {
		load := tape.Loads[tape.Leader]
		if load != nil && load.State == Loading {
			w.Kind, w.EndBy, w.SinceMs = WaitLoad, EndLoad, load.SinceMs
			return true
		}
		if leader := m.Brokers[tape.Leader]; leader == nil || leader.Up {
			return false
		}
	}
	w.Kind = WaitCoordinator
	for _, id := range tape.Replicas {
		if b := m.Brokers[id]; b != nil && !b.Up && b.Killed && !b.Fenced {
			w.SinceMs = b.SinceMs
			if b.NoticedByMs > m.NowMs {
				w.EndMs, w.EndBy, w.HardMs = b.NoticedByMs, EndFence, b.NoticedByMs
			}
		}
	}
	return true
}

func (m *Model) waitingForJoins(g *Group, w *Waiting) {
	op := g.Op(event.InitialDelayedJoin)
	if op != nil {
		w.Kind, w.EndBy, w.EndMs, w.HardMs = WaitInitialDelay, EndInitialDelay, op.DeadlineMs, op.DeadlineMs
		w.MaxMs = op.DeadlineMs + op.RemainingMs
		w.Here, w.Of = len(g.Join), len(g.Present())
		return
	}
	w.Kind = WaitJoin
	w.Of = len(g.Present()) + len(g.Pending)
	for _, mb := range g.Present() {
		if g.ParkedJoin(mb.ID) == nil {
			w.Missing = append(w.Missing, m.missing(g, mb))
		} else {
			w.Here++
		}
	}
	for _, p := range g.Pending {
		w.Missing = append(w.Missing, Missing{Member: p.ID, Label: p.Label, Pending: true, SessionEndsMs: p.DeadlineMs, LastHeardMs: p.SinceMs})
	}
	if op = g.Op(event.DelayedJoin); op != nil {
		w.HardMs, w.HardOf = op.DeadlineMs, g.Label(op.DeadlineOf)
	}
	w.predictJoin()
}

// predictJoin finds what ends a join phase: the last of the missing whose timer must run out, or the hard stop if that
// comes first. A living member that has yet to rejoin decides by itself.
func (w *Waiting) predictJoin() {
	for _, miss := range w.Missing {
		if !miss.Gone && !miss.Pending && !miss.Paused {
			w.EndBy, w.EndMember, w.EndMs = EndRejoin, miss.Label, 0
			return
		}
		if miss.SessionEndsMs > w.EndMs {
			w.EndMs, w.EndMember, w.EndBy = miss.SessionEndsMs, miss.Label, EndSession
			if miss.Pending {
				w.EndBy = EndPending
			}
		}
	}
	if w.HardMs > 0 && (w.EndMs == 0 || w.HardMs < w.EndMs) {
		w.EndMs, w.EndBy, w.EndMember = w.HardMs, EndRebalanceTimeout, w.HardOf
	}
}

func (m *Model) waitingForAssignment(g *Group, w *Waiting) {
	if op := g.Op(event.DelayedSync); op != nil {
		w.HardMs, w.HardOf = op.DeadlineMs, g.Label(op.DeadlineOf)
	}
	w.Here, w.Of = len(g.Sync), len(g.Present())
	for _, a := range g.Appends {
		if a.What == "group" {
			w.Kind, w.EndBy, w.SinceMs = WaitAppend, EndAppend, a.SinceMs
			return
		}
	}
	w.Kind, w.EndBy = WaitAssignment, EndLeaderSync
	leader := g.Member(g.Leader)
	if leader == nil {
		return
	}
	miss := m.missing(g, leader)
	w.Missing, w.EndMember = []Missing{miss}, miss.Label
	if miss.Gone || miss.Paused {
		w.EndBy, w.EndMs = EndSession, miss.SessionEndsMs
		if w.HardMs > 0 && (w.EndMs == 0 || w.HardMs < w.EndMs) {
			w.EndBy, w.EndMs, w.EndMember = EndSyncTimeout, w.HardMs, w.HardOf
		}
	}
}

// waitingForSyncs: a Stable group serves; the members that never asked for their assignment are named all the same.
func (m *Model) waitingForSyncs(g *Group, w *Waiting) {
	op := g.Op(event.DelayedSync)
	if op == nil {
		return
	}
	for _, mb := range g.Present() {
		if mb.AwaitsSync {
			w.Missing = append(w.Missing, m.missing(g, mb))
		}
	}
	if len(w.Missing) == 0 {
		return
	}
	w.Kind, w.EndBy, w.EndMs, w.HardMs = WaitSync, EndSyncTimeout, op.DeadlineMs, op.DeadlineMs
	w.Of = len(g.Present())
	w.Here = w.Of - len(w.Missing)
	for _, miss := range w.Missing {
		if miss.Gone && miss.SessionEndsMs > 0 && miss.SessionEndsMs < w.EndMs {
			w.EndBy, w.EndMs, w.EndMember = EndSession, miss.SessionEndsMs, miss.Label
		}
	}
}

func (m *Model) missing(g *Group, mb *Member) Missing {
	miss := Missing{Member: mb.ID, Label: mb.Label, Gone: mb.Gone, LastHeardMs: mb.LastHeardMs}
	if c := m.clientOf(g, mb); c != nil {
		miss.Paused = c.Paused
	}
	if op := g.SessionOp(mb.ID); op != nil {
		miss.SessionEndsMs = op.DeadlineMs
	}
	return miss
}

// Op is the newest operation of a type, nil where none waits.
func (g *Group) Op(t event.OpKind) *Op {
	for i := len(g.Ops) - 1; i >= 0; i-- {
		if g.Ops[i].Type == t {
			return g.Ops[i]
		}
	}
	return nil
}

// SessionOp is the running session timer of a member or a pending id, nil where none runs.
func (g *Group) SessionOp(member string) *Op {
	for i := len(g.Ops) - 1; i >= 0; i-- {
		if op := g.Ops[i]; op.Type == event.DelayedHeartbeat && op.Member == member {
			return op
		}
	}
	return nil
}

// clientOf is the living or dead process behind a member, nil where it is not known.
func (m *Model) clientOf(g *Group, mb *Member) *Client {
	c := m.Clients[mb.process()]
	if c == nil || mb.Gone || (c.Group != "" && c.Group != g.Name) {
		return nil
	}
	return c
}
