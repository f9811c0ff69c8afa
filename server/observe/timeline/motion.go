package timeline

import (
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// motion is a rebalance under way, as ListGroups and DescribeGroups show it.
type motion struct {
	state event.State
	// start is when it began; asked is when the first poll that showed it was sent.
	start when
	asked int64
	seq   int64 // of its RebalanceStarted
	// lastAsked is when the last poll was sent that showed it in this state.
	lastAsked int64
	// entered is when it was seen to be in this state first.
	entered when
	// clear is the first poll that no longer shows it: its record is still to come, or it went with its coordinator.
	clear *poll
	// again is a later rebalance, seen before the record of this one was read.
	again *motion
	// first are the members at the first look that DescribeGroups gave, which was answered at firstMs.
	first   []string
	firstMs int64
	// lookedMs is when DescribeGroups was asked last.
	lookedMs int64
	seen     event.AwaitedSeen
}

// poll is one look at a broker's groups.
type poll struct{ asked, answered int64 }

// broker is what is known of one broker.
type broker struct {
	Broker
	up    bool
	polls []poll // those that say of every group whether it moves, oldest first
	full  poll   // the last that listed all
	clock clock
}

const mostPolls = 64

func (b *broker) looked(p poll) {
	if len(b.polls) >= 2*mostPolls {
		b.polls = slices.Clone(b.polls[mostPolls:])
	}
	b.polls = append(b.polls, p)
}

func (t *Timeline) broker(id int32) *broker {
	b := t.brokers[id]
	if b == nil {
		b = &broker{Broker: Broker{ID: id}}
		t.brokers[id] = b
	}
	return b
}

// clearBefore is the latest moment not after beforeMs at which the group is known not to have been in a rebalance: its
// record, a poll that did not list it, a description. 0: none is known.
func (t *Timeline) clearBefore(g *group, beforeMs int64) int64 {
	var ms int64
	if g.hasRecord && g.record.atMs <= beforeMs {
		ms = g.record.atMs
	}
	if g.describedMs > 0 && g.describedMs <= beforeMs {
		ms = max(ms, g.describedAsk)
	}
	b := t.brokers[t.coordinator(g)]
	if b == nil {
		return ms
	}
	var since int64
	if p := t.partitions[g.partition]; p != nil {
		since = p.leaderSinceMs
	}
	for i := len(b.polls) - 1; i >= 0; i-- {
		if p := b.polls[i]; p.answered <= beforeMs {
			if p.asked >= since {
				ms = max(ms, p.asked)
			}
			break
		}
	}
	return ms
}

// longestUnknownMs is how long a rebalance is taken to last at most where no timeout is known: Kafka's max.poll.interval.ms.
const longestUnknownMs = 300_000

// timerSlackMs is what a broker's timers may be late.
const timerSlackMs = 1000

// startOf bounds when the rebalance began that led to a generation.
func (t *Timeline) startOf(g *group, n *next) when {
	if r := g.began(); r != nil && r.atMs <= n.joinedMs+timerSlackMs {
		at := min(r.atMs, n.joinedMs)
		return when{at, at, event.Observed}
	}
	w := when{t.clearBefore(g, n.joinedMs), n.joinedMs, event.Inferred}
	if m := g.motion; m != nil {
		w = when{m.start.lo, min(m.start.hi, n.joinedMs), event.Sampled}
	} else if g.sampled { // it was over before a look at those in motion could show it: only a description could
		w.lo = n.joined.lo
	}
	// A join phase that somebody came back for is over after the largest rebalance timeout.
	survivors := slices.ContainsFunc(n.members, func(m *member) bool { return find(g.record.members, m.id) != nil })
	if longestMs := longest(g.record.members, n.members); longestMs > 0 && n.jump == 1 && (survivors || w.lo == 0 || len(g.record.members) == 0) {
		w.lo = max(w.lo, n.joinedMs-max(longestMs, t.initialDelayMs())-timerSlackMs)
	}
	w.lo = min(w.lo, n.joinedMs)
	w.hi = max(w.lo, w.hi)
	return w
}

func (t *Timeline) initialDelayMs() int64 {
	if t.about.InitialDelayMs > 0 {
		return t.about.InitialDelayMs
	}
	return 3000
}

// ownOf tells whether a rebalance that was first seen after n's record was written may be n's own: it waits for its record to
// be replicated (GroupMetadataManager.classicGroupSync), and nothing else was seen of it.
func (m *motion) ownOf(n *next) bool {
	return n.at >= 0 && m.state == event.CompletingRebalance && m.entered == m.start && m.clear == nil && m.again == nil && m.asked <= n.stable.hi
}

// earlierMotion ends a motion that cannot be the one that led to n: the group was seen at rest after it and before n's join
// phase ended, or it was only seen completing and then preparing, and n's generation is the next one, so that what completed
// was the generation before. What was seen to begin afterwards takes its place.
func (t *Timeline) earlierMotion(g *group, n *next) {
	m := g.motion
	if m == nil || !g.hasRecord || g.sampled || m.asked > n.atMs {
		return
	}
	rested := m.clear != nil && n.joinedMs > m.clear.answered
	completed := m.clear == nil && m.again != nil && n.jump == 1 && n.joinedMs > m.again.asked
	if !rested && !completed {
		return
	}
	again := m.again
	if completed { // that it prepares again is told already
		m.start, m.asked, m.first, m.firstMs, m.again = again.start, again.asked, again.first, again.firstMs, nil
		return
	}
	t.overSilently(g)
	if again != nil {
		t.beginMotion(g, again.state, again.start)
		g.motion.asked, g.motion.lastAsked = again.asked, again.asked
	}
}

// laterMotion takes away a motion that cannot be the one that led to n, since it was asked for after n's record was
// written, and returns it.
func (t *Timeline) laterMotion(g *group, n *next) *motion {
	m := g.motion
	switch {
	case m == nil:
		return nil
	case m.asked > n.atMs && !m.ownOf(n):
		g.motion = nil
		return m
	case m.again != nil && m.again.asked > n.atMs:
		return m.again
	}
	return nil
}

// replicatedSlackMs is how long a coordinator may take to call a group Stable when its record can be read.
const replicatedSlackMs = 100

// sawMotion takes it that a poll shows a classic group in a rebalance.
func (t *Timeline) sawMotion(g *group, state event.State, p poll) {
	if g.hasRecord && (p.asked <= g.record.atMs || state == event.CompletingRebalance && p.asked <= g.record.readMs+replicatedSlackMs) || g.modern != nil {
		return // it may be the rebalance whose record is known: until that is replicated the group is CompletingRebalance
	}
	m := g.motion
	switch {
	case m == nil:
		lo := t.clearBefore(g, p.asked)
		if lo == 0 { // it was under way when the first look came
			lo = max(p.asked-max(longest(g.members), longestUnknownMs), 0)
		}
		t.beginMotion(g, state, when{lo, p.answered, event.Sampled})
		g.motion.asked, g.motion.lastAsked = p.asked, p.asked
	case m.clear != nil:
		if m.again == nil {
			m.again = &motion{state: state, start: when{m.clear.asked, p.answered, event.Sampled}, asked: p.asked}
		}
		m.again.state = state
	case m.state == event.CompletingRebalance && state == event.PreparingRebalance:
		w := when{m.lastAsked, p.answered, event.Sampled}
		m.seq = t.emit(g, w, m.seq, event.RebalanceStarted{Why: event.WhySeen, Generation: max(g.generation, 0) + 1,
			RebalanceTimeoutMs: int32(longest(g.record.members, g.members))})
		t.moveTo(g, state, w)
		m.again = &motion{state: state, start: w, asked: p.asked} // if the record is still to come, this is another rebalance
	case m.state != state:
		t.moveTo(g, state, when{m.lastAsked, p.answered, event.Sampled})
	}
	if m != nil {
		m.lastAsked = p.asked
	}
}

// beginMotion tells that a rebalance is seen.
func (t *Timeline) beginMotion(g *group, state event.State, w when) {
	if !g.told {
		g.told, g.typ, g.generation = true, classicType, max(g.generation, 0)
		t.emit(g, w, 0, event.GroupCreated{})
	}
	m := &motion{state: event.PreparingRebalance, start: w, asked: w.hi, lastAsked: w.hi, entered: w}
	g.motion, t.moving[g.name] = m, g
	m.seq = t.emit(g, w, g.steadySeq, event.RebalanceStarted{Why: event.WhySeen, Generation: g.ends(),
		RebalanceTimeoutMs: int32(longest(g.members))})
	t.changeState(g, w, m.seq, event.StateChanged{To: event.PreparingRebalance, Why: event.WhySeen})
	if state == event.CompletingRebalance {
		t.moveTo(g, state, w)
	}
}

// ends is the generation that a rebalance ends, -1 where it is not known.
func (g *group) ends() int32 {
	if g.sampled {
		return g.generation
	}
	return max(g.generation, 0)
}

func (t *Timeline) moveTo(g *group, state event.State, w when) {
	m := g.motion
	m.state, m.entered = state, w
	t.changeState(g, w, m.seq, event.StateChanged{To: state, Why: event.WhySeen})
}

func (t *Timeline) endMotion(g *group) {
	g.motion = nil
	delete(t.moving, g.name)
}

// recordMayTakeMs is how long a record may be on its way after a poll has shown that the rebalance is over.
const recordMayTakeMs = 3000

// sawClear takes it that a poll no longer shows a group in a rebalance. Its record says what became of it; where none
// comes the rebalance went with its coordinator, and the group is what its last record says.
func (t *Timeline) sawClear(g *group, p poll) {
	m := g.motion
	if m == nil || p.asked <= m.asked {
		return
	}
	if m.clear == nil {
		m.clear = &p
	}
	if t.nowOf(g)-m.clear.answered < recordMayTakeMs {
		return
	}
	if g.sampled {
		return // the next description tells
	}
	t.overSilently(g)
}

// overSilently ends a motion of which no record came although it was seen to be over.
func (t *Timeline) overSilently(g *group) {
	m := g.motion
	w := when{m.lastAsked, m.clear.answered, event.Sampled}
	t.endMotion(g)
	if !g.hasRecord {
		if p := t.partitions[g.partition]; p != nil && p.ready {
			t.changeState(g, w, m.seq, event.StateChanged{To: event.Empty, Why: event.WhySeen})
			g.members = nil
			t.forgetIfNothing(p, g, w, event.WhyNothingLeft, m.seq)
		}
		return
	}
	if !slices.Equal(ids(g.members), ids(g.record.members)) {
		g.members, g.told = g.record.members, false
	}
	state := event.Stable
	if len(g.members) == 0 {
		state = event.Empty
	}
	t.changeState(g, w, m.seq, event.StateChanged{To: state, Why: event.WhySeen})
	if !g.told {
		t.tellBaseline(g, m.seq)
	}
}

// polled takes an answer to ListGroups.
func (t *Timeline) polled(o PollList) {
	b := t.broker(o.Broker)
	source := "ListGroups of broker " + itoa(o.Broker)
	if o.Code != 0 {
		t.sourceFailed(SourceFailed{Source: source, Code: o.Code, Reason: "ListGroups was answered " + event.CodeName(o.Code), Broker: o.Broker})
		return
	}
	t.sourceBack(SourceBack{Source: source})
	p := poll{t.byClockOf(o.Broker, o.AskedMs), t.byClockOf(o.Broker, o.AnsweredMs)}
	listed := make(map[string]bool, len(o.Groups))
	states := true
	for _, l := range o.Groups {
		listed[l.Group] = inMotion(l.State)
		states = states && l.State != ""
		t.listed(o, l, p)
	}
	if !o.Filtered {
		b.full = p
		t.unlisted(o, p)
	}
	if !o.Filtered && (!states || len(o.Groups) == 0) {
		return // before v4 a list has no states: it does not say who moves
	}
	for _, name := range slices.Sorted(maps.Keys(t.moving)) {
		if g := t.moving[name]; !listed[name] && t.coordinator(g) == o.Broker {
			t.sawClear(g, p)
		}
	}
	b.looked(p)
}

// listed takes one line of ListGroups.
func (t *Timeline) listed(o PollList, l ListedGroup, p poll) {
	if l.Group == "" {
		return
	}
	g := t.group(l.Group)
	g.answeredBy, g.listedMs = o.Broker, p.answered
	if c := t.coordinator(g); c != 0 && c != o.Broker {
		return // an old coordinator that has not noticed
	}
	l.State = knownState(l.State)
	if g.typ == "" || l.Type != "" && !g.hasRecord && g.modern == nil {
		g.typ = l.Type
	}
	if first := !g.wasListed; first && !o.Filtered || l.Type != "" && l.Type != g.listed.Type {
		g.wasListed, g.listed = true, event.GroupListed{Type: l.Type, State: l.State, ProtocolType: l.ProtocolType}
		t.emit(g, when{p.asked, p.answered, event.Sampled}, 0, g.listed)
	} else if !t.inLog(g) && l.State != "" && l.State != g.listed.State && !o.Filtered {
		g.listed.State = l.State
		t.emit(g, when{p.asked, p.answered, event.Sampled}, 0, g.listed)
	}
	if g.typ != "" && g.typ != classicType {
		if inMotion(l.State) && g.modern == nil {
			t.moving[g.name] = g // a host describes it
		} else if g.modern == nil {
			delete(t.moving, g.name)
		}
		return
	}
	switch l.State {
	case event.PreparingRebalance, event.CompletingRebalance:
		t.sawMotion(g, l.State, p)
	case event.Stable, event.Empty:
		t.sawClear(g, p)
	}
}

// knownState takes a state as ListGroups writes it; before KIP-848 the names were the same, some write them in lower case.
func knownState(s event.State) event.State {
	if s == "AwaitingSync" {
		return event.CompletingRebalance
	}
	return s
}

// inLog tells whether what a group is comes from the log.
func (t *Timeline) inLog(g *group) bool { return g.hasRecord || g.modern != nil }

// unlisted notices, where the log cannot be read, that a group is gone: every broker has listed all of its groups since
// and none named it.
func (t *Timeline) unlisted(o PollList, p poll) {
	if t.about.Mode == "log" {
		return
	}
	oldest := p.asked
	for _, b := range t.brokers {
		if b.up {
			oldest = min(oldest, b.full.asked)
		}
	}
	for _, g := range t.sorted() {
		if g.listedMs == 0 || g.listedMs >= oldest {
			continue
		}
		w := when{g.listedMs, p.answered, event.Sampled}
		delete(t.groups, g.name)
		delete(t.moving, g.name)
		for _, m := range g.members {
			t.emit(g, w, 0, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
		}
		t.emit(g, w, 0, event.GroupRemoved{Why: event.WhyNothingLeft})
	}
}
