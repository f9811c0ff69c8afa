package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// Apply folds one fact into the picture. Facts of an unknown kind change nothing but the transcript.
func (m *Model) Apply(e event.Event) {
	if e.AtMs > m.NowMs {
		m.advance(e.AtMs)
	}
	if !figures(e.Body) { // what sums up others has the number of one of them
		m.Seq = e.Seq
	}
	m.remember(e)
	switch b := e.Body.(type) {
	case event.FactsBegan:
		m.beginFacts(b)
	case event.FactsEnded:
		m.inFacts = false
	case event.GroupSummarized, event.GenerationRecorded, event.ClusterAttached, event.SightChanged, event.CostMeasured, event.CauseInferred,
		event.GroupListed, event.LagMeasured, event.AwaitedSeen, event.EpochBumped, event.TargetAssigned, event.MemberReconciled:
		if m.watcher != nil {
			m.watcher.apply(m, e)
		}
	case event.InputGiven:
		m.Inputs = keep(append(m.Inputs, Mark{Kind: MarkInput, AtMs: e.AtMs, Seq: e.Seq, Text: b.Text}), maxMarks)
	default:
		m.applyCluster(e)
		m.applyClient(e)
		if e.Group != "" {
			m.applyGroup(m.group(e), e)
		}
	}
	m.recount(e)
}

// recount counts again what stands still where a fact can change it: in its group, or in all where it names none.
func (m *Model) recount(e event.Event) {
	switch {
	case m.inFacts || !pauses(e.Body):
	case e.Group != "":
		m.countPaused(e.Group)
	case concernsAll(e.Body):
		for name := range m.Groups {
			m.countPaused(name)
		}
	}
}

// concernsAll tells whether a fact without a group can change how many partitions of any group stand still.
func concernsAll(b event.Body) bool {
	switch b.(type) {
	case event.ConnectionClosed, event.TopicCreated, event.PartitionsAdded, event.TopicDeleted, event.FactsEnded:
		return true
	}
	return false
}

// pauses tells whether a fact can change how many partitions stand still. What comes with every heartbeat and commit
// cannot.
func pauses(b event.Body) bool {
	switch b.(type) {
	case event.HeartbeatReceived, event.RequestReceived, event.ReplyParked, event.ReplySent, event.RequestSent,
		event.ReplyOnWire, event.ReplyReceived, event.OperationWatched, event.OperationTested, event.OperationCompleted,
		event.TimerCascaded, event.OffsetsPending, event.OffsetsCommitted, event.AppendStarted, event.AppendFinished,
		event.RecordsAppended, event.ReplicaAdvanced, event.HighWatermarkAdvanced, event.GroupSummarized, event.GenerationRecorded, event.LagMeasured:
		return false
	}
	return true
}

// SetNow moves the clock without a fact. A time before the last fact's is ignored.
func (m *Model) SetNow(nowMs int64) {
	if nowMs > m.NowMs {
		m.advance(nowMs)
	}
}

// Missed notes that the stream had a hole. What is shown afterwards comes from facts, not from guesses.
func (m *Model) Missed(g Gap) { m.Gaps = keep(append(m.Gaps, g), 50) }

func (m *Model) advance(nowMs int64) {
	for name := range m.still {
		g := m.Groups[name]
		g.PausedPartitionMs += int64(g.Paused) * (nowMs - m.NowMs)
	}
	m.NowMs = nowMs
}

// beginFacts forgets what the facts will say again, and keeps what only history knows: transcript, timelines, ledgers.
func (m *Model) beginFacts(b event.FactsBegan) {
	m.inFacts = true
	m.Brokers, m.Topics, m.Tapes = map[int32]*Broker{}, map[string]*Topic{}, map[int32]*Tape{}
	m.Flights, m.Txns = map[int64]*Flight{}, map[int64]*Txn{}
	for _, g := range m.Groups {
		g.Members, g.Pending, g.Join, g.Sync, g.Ops, g.Appends, g.Offsets, g.names = nil, nil, nil, nil, nil, nil, nil, nil
		g.Sidings = without(g.Sidings, func(s *Siding) bool { return !s.Over() })
		g.Gone, g.Broker = true, 0
	}
	if m.watcher != nil {
		m.watcher.begin()
	}
	if b.NowMs > m.NowMs {
		m.advance(b.NowMs)
	}
}

func (m *Model) remember(e event.Event) {
	if m.inFacts || figures(e.Body) {
		return
	}
	m.Lines = keep(append(m.Lines, e), maxLines)
}

// figures tells whether a fact only repeats in figures what others tell: the transcript would be full of them.
func figures(b event.Body) bool {
	switch b.(type) {
	case event.GroupSummarized, event.GenerationRecorded, event.CostMeasured, event.LagMeasured:
		return true
	}
	return false
}

// keep drops the oldest once a list is twice as long as its bound, so that dropping costs one copy per fact.
func keep[T any](list []T, most int) []T {
	if len(list) > 2*most {
		kept := make([]T, most, 2*most+1) // room until the next time
		copy(kept, list[len(list)-most:])
		return kept
	}
	return list
}

// without returns the list without those that match, in a new slice, so that a clone's list is not touched.
func without[T any](list []T, match func(T) bool) []T {
	kept := make([]T, 0, len(list))
	for _, x := range list {
		if !match(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// drop takes the first that matches out of a list that no clone shares.
func drop[T any](list []T, match func(T) bool) []T {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// group finds or makes the group that a fact names. Client facts alone make one too: a simulated client names its group
// before any broker knows it.
func (m *Model) group(e event.Event) *Group {
	g := m.Groups[e.Group]
	if g == nil {
		g = &Group{Name: e.Group, Partition: -1, State: event.Empty, Gone: true, SinceMs: e.AtMs}
		m.Groups[e.Group] = g
	}
	return g
}

// countPaused counts the partitions that nobody works on, once somebody has since the group was Empty. Clients that tell what they own are believed; without such
// clients a group's partitions stand still while it is not Stable, and those of dead members always.
func (m *Model) countPaused(group string) {
	g := m.Groups[group]
	if g == nil {
		return
	}
	was := g.Paused
	g.Paused = 0
	if g.everAssigned {
		g.Paused = m.pausedNow(g)
	}
	if g.Paused != was {
		g.Pauses = keep(append(g.Pauses, PauseStep{m.NowMs, g.Paused}), maxMarks)
	}
	if g.Paused == 0 {
		delete(m.still, group)
	} else {
		m.still[group] = true
	}
}

func (m *Model) pausedNow(g *Group) int {
	topics := map[string]bool{}
	for _, mb := range g.Present() {
		for _, t := range mb.Topics {
			topics[t] = true
		}
	}
	total := 0
	for t := range topics {
		if known := m.Topics[t]; known != nil {
			total += int(known.Partitions)
		}
	}
	owned, tells := 0, false
	for _, c := range m.Clients {
		if c.Group == g.Name && !c.Real && c.Started {
			tells = true
			if c.Alive && !c.Paused {
				owned += countPartitions(c.Owned)
			}
		}
	}
	if !tells && (g.State == event.Stable || g.State == event.Assigning || g.State == event.Reconciling) {
		for _, mb := range g.Present() {
			if !mb.Gone {
				owned += countPartitions(mb.Assigned)
			}
		}
	}
	return max(total-owned, 0)
}

func countPartitions(topics []event.TopicPartitions) int {
	n := 0
	for _, t := range topics {
		n += len(t.Partitions)
	}
	return n
}
