package recording

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// Run is a script for the lab that does again what was recorded of one group.
type Run struct {
	// Text is the script, its notes as comments.
	Text string
	// Notes say what it does not reproduce.
	Notes []string
	// ShiftMs is how much later than in the recording, counted from its first moment, everything happens in the run.
	ShiftMs int64
	// Clients are the names that the script gives, by member id.
	Clients map[string]string
}

// warmMs is how long a group that was there already is given to form before the recording's first moment.
const warmMs = 15_000

// latencyMs is the network's between the lab's clients and brokers: a message takes this long.
const latencyMs = 1

// startMs is how long a lab's consumer takes from its start to its JoinGroup: metadata, the coordinator, then the request.
const startMs = 5 * latencyMs

// Script turns the events of a recording of our own brokers into a run for the lab with one group: its brokers, topics, settings
// and consumers, and at the times at which it was seen what happened to each: start, stop, kill, pause, busy, restart, brokers
// that died, partitions that were added. The error says why nothing can be made of it.
func Script(events []event.Event, group string, h Header) (Run, error) {
	switch {
	case group == "":
		return Run{}, errors.New("no group is chosen")
	case h.Observed:
		return Run{}, errors.New("the cluster was only observed")
	}
	l := &lab{group: group, members: map[string]*process{}, names: map[string]bool{}, topics: map[string]int32{}, live: map[string]int32{}, subscribed: map[string]bool{}}
	l.begin(events)
	for i := range events {
		l.take(&events[i])
	}
	if len(l.all) == 0 {
		return Run{}, fmt.Errorf("no member of %s was seen", event.Name(group))
	}
	l.finish()
	return l.write(h), nil
}

// firstMs is how much longer the first consumer of a world takes: __consumer_offsets is made for it, and it asks again.
const firstMs = 105

// stopMs is how long before its LeaveGroup arrives a consumer is told to stop: it commits first. endedMs is when its process is gone.
const stopMs, endedMs = 3 * latencyMs, 12 * latencyMs

// process is a consumer's process, as far as its coordinator saw it.
type process struct {
	name, clientID, host, instance string
	member                         string
	added                          event.MemberAdded
	version                        int16
	startMs, seenMs                int64
	beats                          []int64 // between heartbeats
	beatMs                         int64
	busy                           *deed // the deed that kept its application from polling, as long as its end is not known
	early                          bool  // it was there before the recording began
	gone                           bool
	goneMs, endedMs                int64
	again                          *process // the same consumer's process before this one
	joinMs                         int64    // its last JoinGroup
	syncMs                         int64    // its last SyncGroup
	unloaded                       bool     // its coordinator went before it was in a record: nobody knows it any more
	commits                        []int64  // when it committed
	txn                            bool     // in transactions
}

type deed struct {
	atMs int64
	text string
}

type lab struct {
	group      string
	fromMs     int64 // the script's 0, in the recording's time, before the warm-up
	shiftMs    int64
	facts      bool
	brokers    int32
	offsets    int32
	topics     map[string]int32
	live       map[string]int32 // partitions as they are now
	subscribed map[string]bool
	all        []*process
	members    map[string]*process // by member id
	names      map[string]bool
	asking     []asking
	last       map[string]int64 // when a member was last heard of in the whole recording
	deeds      []*deed
	notes      []string
	down       map[int32]bool
	endMs      int64
	beganMs    int64 // of the rebalance under way
	formedMs   int64 // the last end of a join phase
	completing bool  // the leader's assignment is awaited
	loading    map[int32]load
	loadMs     int64 // the longest read of a coordinator's log, 0 where none was seen
}

// asking is a first JoinGroup, or an id that was issued, which no member has come of yet.
type asking struct {
	clientID string
	atMs     int64
	version  int16
	member   string
	deadline int64 // of the issued id
}

func (l *lab) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.notes, text) {
		l.notes = append(l.notes, text)
	}
}

func (l *lab) do(atMs int64, format string, args ...any) {
	l.deeds = append(l.deeds, &deed{atMs, fmt.Sprintf(format, args...)})
}

// begin finds when the recording begins.
func (l *lab) begin(events []event.Event) {
	l.down, l.last, l.loading = map[int32]bool{}, map[string]int64{}, map[int32]load{}
	if len(events) == 0 {
		return
	}
	for i := range events {
		if events[i].Group == l.group {
			switch b := events[i].Body.(type) {
			case event.HeartbeatReceived:
				l.last[b.Member] = events[i].AtMs
			case event.RequestReceived:
				l.last[b.Member] = events[i].AtMs
			}
		}
	}
	l.fromMs = events[0].AtMs
	if b, ok := events[0].Body.(event.FactsBegan); ok {
		l.fromMs = b.NowMs
		for i := range events {
			if _, over := events[i].Body.(event.FactsEnded); over {
				break
			}
			if _, there := events[i].Body.(event.MemberAdded); there && events[i].Group == l.group {
				l.shiftMs = warmMs
			}
		}
	}
}

func (l *lab) take(e *event.Event) {
	if !l.facts {
		l.endMs = max(l.endMs, e.AtMs)
	}
	switch b := e.Body.(type) {
	case event.FactsBegan:
		l.facts = true
	case event.FactsEnded:
		l.facts = false
	case event.BrokerStarted, event.BrokerStopped, event.TopicCreated, event.PartitionsAdded, event.LeaderChanged:
		l.cluster(e)
	case event.LoadStarted, event.LoadProgressed, event.LoadFinished:
		l.read(e)
	case event.ConnectionClosed:
		for _, id := range b.Members {
			if p := l.members[id]; p != nil && !p.gone {
				p.seenMs = max(p.seenMs, e.AtMs)
			}
		}
	default:
		if e.Group == l.group {
			l.member(e)
		}
	}
}

func (l *lab) cluster(e *event.Event) {
	switch b := e.Body.(type) {
	case event.BrokerStarted:
		l.brokers = max(l.brokers, b.ID)
		if l.down[b.ID] && !l.facts {
			l.do(e.AtMs, "restart-broker %d", b.ID)
		}
		l.down[b.ID] = false
	case event.BrokerStopped:
		if l.brokers = max(l.brokers, b.ID); l.down[b.ID] {
			return
		}
		l.down[b.ID] = true
		if b.Killed {
			l.do(e.AtMs, "kill-broker %d", b.ID)
		} else {
			l.do(e.AtMs, "stop-broker %d", b.ID)
		}
	case event.TopicCreated:
		if b.Topic == "__consumer_offsets" {
			l.offsets = b.Partitions
		} else if _, known := l.topics[b.Topic]; !known && !b.Internal {
			l.topics[b.Topic], l.live[b.Topic] = b.Partitions, b.Partitions
		}
	case event.PartitionsAdded:
		if _, known := l.topics[b.Topic]; known && b.To > l.live[b.Topic] {
			l.live[b.Topic] = b.To
			l.do(e.AtMs, "add-partitions %s %d", b.Topic, b.To)
		}
	}
}

func (l *lab) member(e *event.Event) {
	switch b := e.Body.(type) {
	case event.RequestReceived:
		l.request(e.AtMs, b)
	case event.HeartbeatReceived:
		l.beat(e.AtMs, b)
	case event.MemberIDIssued:
		for i := range l.asking {
			if a := &l.asking[i]; a.member == "" && a.clientID == b.ClientID {
				a.member, a.deadline = b.Member, b.DeadlineMs
				break
			}
		}
	case event.PendingForgotten:
		if b.Why == event.WhyPendingExpired {
			l.neverBack(b.Member)
		}
	case event.MemberAdded:
		l.added(e.AtMs, b)
	case event.MemberReplaced:
		l.replaced(e.AtMs, b)
	case event.MemberRemoved:
		l.removed(e.AtMs, b)
	case event.RebalanceStarted:
		l.beganMs = e.AtMs
	case event.GenerationStarted:
		l.formedMs = e.AtMs
	case event.StateChanged:
		l.completing = b.To == event.CompletingRebalance
	case event.GroupRemoved:
		l.unloaded(b.Why)
	case event.OffsetsPending:
		l.committed(e.AtMs, b.Member, false)
	case event.OffsetsRefused:
		l.note("commits that were refused: the run's consumers commit when they would")
	}
}

const apiJoinGroup, apiSyncGroup, apiTxnOffsetCommit = 11, 14, 28

func (l *lab) request(atMs int64, b event.RequestReceived) {
	p := l.members[b.Member]
	if b.API == apiJoinGroup && p == nil {
		if !slices.ContainsFunc(l.asking, func(a asking) bool { return a.member != "" && a.member == b.Member }) {
			l.asking = append(l.asking, asking{clientID: b.ClientID, atMs: atMs, version: b.Version})
		}
		return
	}
	if p == nil {
		return
	}
	l.back(p, atMs)
	p.seenMs = atMs
	switch b.API {
	case apiJoinGroup:
		if l.completing && atMs > l.formedMs {
			l.note("%s gave up waiting for an answer and asked again: the network had lost one, or was slow", p.name)
		}
		p.joinMs, p.version = atMs, b.Version
		p.beatMs = 0 // while it waits for the answer it sends none
	case apiSyncGroup:
		p.syncMs = atMs
	case apiTxnOffsetCommit:
		l.committed(atMs, b.Member, true)
	}
}

func (l *lab) beat(atMs int64, b event.HeartbeatReceived) {
	p := l.members[b.Member]
	if p == nil {
		return
	}
	l.back(p, atMs)
	if p.beatMs > 0 && len(p.beats) < 100 && b.Merged == 0 {
		p.beats = append(p.beats, atMs-p.beatMs)
	}
	p.beatMs, p.seenMs = atMs, atMs
}

// back notes that a member which had gone says something again: its process had only stood still.
func (l *lab) back(p *process, atMs int64) {
	if !p.gone || p.goneMs == 0 {
		return
	}
	for i := range l.deeds {
		if d := l.deeds[i]; d.text == "kill "+p.name && d.atMs == p.goneMs {
			d.text = "pause " + p.name
			l.do(atMs-latencyMs, "resume %s", p.name)
		}
	}
	p.goneMs = 0
}

// added takes a new member in: a new process, or one that was seen before and joins with another id.
func (l *lab) added(atMs int64, b event.MemberAdded) {
	if p := l.members[b.Member]; p != nil { // loaded by the next coordinator, or told again
		p.unloaded = false
		return
	}
	p := &process{clientID: b.ClientID, host: b.ClientHost, instance: b.InstanceID, member: b.Member, added: b, startMs: atMs - startMs, seenMs: atMs, joinMs: atMs}
	p.early = l.facts
	for i, a := range l.asking {
		if a.member == b.Member || a.member == "" && a.clientID == b.ClientID {
			p.startMs, p.version = a.atMs-startMs, a.version
			l.asking = slices.Delete(l.asking, i, i+1)
			break
		}
	}
	for _, old := range l.all {
		if old.clientID != p.clientID || old.instance != p.instance || l.successor(old) {
			continue
		}
		if old.unloaded { // the same process asks the next coordinator, who does not know its id
			old.gone, p.name, p.again = true, old.name, old
			l.keep(p)
			return
		}
		if !old.gone && p.instance == "" && old.host == p.host && !p.early && l.last[old.member] < p.startMs+startMs {
			// Nobody hears of the old one again: it is a ghost, and this is the same consumer's next process.
			old.gone, old.goneMs = true, l.last[old.member]+latencyMs
			l.do(old.goneMs, "kill %s", old.name)
		}
		if old.gone && old.goneMs == 0 { // it stood still, or was busy, and joins anew by itself
			p.name, p.again = old.name, old
			if d := old.busy; d != nil {
				d.text = fmt.Sprintf("busy %s %s", old.name, Span(max(p.startMs+startMs-2*latencyMs-d.atMs, 1)))
			}
			l.keep(p)
			return
		}
		if old.gone {
			p.name, p.again = old.name, old
			l.do(max(p.startMs, old.goneMs+latencyMs, old.endedMs), "start %s", p.name)
			l.keep(p)
			return
		}
	}
	p.name = l.nameOf(p.clientID)
	l.keep(p)
	if p.early {
		l.do(l.fromMs-l.shiftMs, "start %s", p.name)
	} else {
		l.do(p.startMs, "start %s", p.name)
	}
}

func (l *lab) successor(old *process) bool {
	return slices.ContainsFunc(l.all, func(p *process) bool { return p.again == old })
}

func (l *lab) keep(p *process) {
	l.all = append(l.all, p)
	l.members[p.member] = p
	for _, t := range p.added.Topics {
		l.subscribed[t] = true
	}
}

// replaced is a static member whose process started again.
func (l *lab) replaced(atMs int64, b event.MemberReplaced) {
	p := l.members[b.Old]
	if p == nil || b.ClientID == "" {
		return
	}
	if b.ClientID != p.clientID { // another process has taken its instance id; the old one will be fenced
		taker := &process{clientID: b.ClientID, host: b.ClientHost, instance: b.InstanceID, member: b.Member, added: p.added, seenMs: atMs, joinMs: atMs, version: p.version}
		taker.name = l.nameOf(taker.clientID)
		l.keep(taker)
		l.do(atMs-startMs-4*latencyMs, "start %s", taker.name)
		return
	}
	began := atMs - startMs
	for i, a := range l.asking {
		if a.clientID == b.ClientID {
			began = a.atMs - startMs
			l.asking = slices.Delete(l.asking, i, i+1)
			break
		}
	}
	if began-p.seenMs > 2*p.heartbeatMs() {
		l.do(p.seenMs+latencyMs, "kill %s", p.name)
		l.do(began, "start %s", p.name)
	} else {
		l.do(began, "restart %s", p.name)
	}
	p.member, p.seenMs, p.beatMs = b.Member, atMs, 0
	l.members[b.Member] = p
}

// removed is the end of a membership, which is a process's only where it was one.
func (l *lab) removed(atMs int64, b event.MemberRemoved) {
	p := l.members[b.Member]
	if p == nil || p.gone {
		return
	}
	p.gone = true
	switch b.Why {
	case event.WhyMemberLeft:
		if strings.Contains(b.ClientReason, "poll timeout has expired") {
			// It left by itself since nobody called poll; the application took up again when it joins again.
			from := max(p.joinMs, atMs-int64(p.added.RebalanceTimeoutMs))
			l.do(from, "busy %s %s", p.name, Span(atMs-from+int64(p.added.RebalanceTimeoutMs)/2))
			p.busy = l.deeds[len(l.deeds)-1]
			l.note("%s did not call poll: how long is not recorded, half a max.poll.interval.ms more is taken", p.name)
			return
		}
		stop := atMs - stopMs
		if p.joinMs < l.formedMs && p.syncMs < l.formedMs && atMs-l.formedMs <= stopMs { // told to stop while it waited to join
			stop = p.joinMs + latencyMs
		}
		l.do(stop, "stop %s", p.name)
		p.goneMs, p.endedMs = stop, atMs-stopMs+endedMs
	case event.WhySessionExpired, event.WhyNewMemberTimeout:
		p.goneMs = p.seenMs + latencyMs
		l.do(p.goneMs, "kill %s", p.name)
	case event.WhyNotRejoined, event.WhyNotSynced:
		if p.seenMs > l.beganMs { // it goes on with its heartbeats
			l.do(l.beganMs, "busy %s %s", p.name, Span(atMs-l.beganMs+1000))
			p.busy = l.deeds[len(l.deeds)-1]
			l.note("%s did not come back in time: how long its application was busy is not recorded, a second more is taken", p.name)
			return
		}
		p.goneMs = p.seenMs + latencyMs
		l.do(p.goneMs, "kill %s", p.name)
	default:
		l.note("%s was removed: %s", p.name, b.Why)
	}
}

func (p *process) heartbeatMs() int64 {
	if len(p.beats) == 0 {
		return 3000
	}
	return rounded(middle(p.beats))
}

func (l *lab) finish() {
	for i := range l.deeds {
		if strings.HasPrefix(l.deeds[i].text, "start ") {
			if l.deeds[i].atMs -= firstMs; l.deeds[i].atMs+l.shiftMs < l.fromMs && l.shiftMs < warmMs {
				l.shiftMs = l.fromMs - l.deeds[i].atMs
			}
			break
		}
	}
	slices.SortStableFunc(l.deeds, func(a, b *deed) int { return int(a.atMs - b.atMs) })
	if l.shiftMs > 0 {
		l.note("the group had formed before the recording began: its members join anew in the first %d s, so generations count from 1", warmMs/1000)
	}
	l.unanswered()
	if len(l.asking) > 0 {
		l.note("%d JoinGroup requests led to no member", len(l.asking))
	}
	l.note("the network's delays, what was produced, and which offsets were committed")
	if n := len(l.deeds); n > 1900 {
		l.deeds = l.deeds[:1900]
		l.note("%d deeds after the first 1900", n-1900)
	}
}

// labSettings are the settings that the lab knows.
var labSettings = []string{"group.initial.rebalance.delay.ms", "group.max.size", "group.max.session.timeout.ms", "group.min.session.timeout.ms",
	"offsets.commit.timeout.ms", "offsets.retention.minutes", "offsets.retention.check.interval.ms", "offsets.topic.num.partitions",
	"broker.session.timeout.ms", "offsets.load.buffer.size"}

func (l *lab) write(h Header) Run {
	var b strings.Builder
	fmt.Fprintf(&b, "seed 1\nbrokers %d\nlatency %dms\n", min(max(l.brokers, 1), 9), latencyMs)
	partitions := false
	for _, s := range h.Set {
		name, value, _ := strings.Cut(s, "=")
		if slices.Contains(labSettings, name) {
			fmt.Fprintf(&b, "set %s %s\n", name, value)
			partitions = partitions || name == "offsets.topic.num.partitions"
		} else {
			l.note("the setting %s", name)
		}
	}
	if l.loadMs > 0 {
		fmt.Fprintf(&b, "set lab.load.delay.ms %d\n", l.loadMs)
	}
	if l.offsets > 0 && l.offsets != 50 && !partitions {
		fmt.Fprintf(&b, "set offsets.topic.num.partitions %d\n", l.offsets)
	}
	topics := 0
	for _, t := range sortedKeys(l.topics) {
		if l.subscribed[t] {
			fmt.Fprintf(&b, "topic %s %d\n", t, l.topics[t])
			topics++
		}
	}
	if topics == 0 {
		b.WriteString("topic orders 6\n")
		l.note("no topic of the group's was recorded: one with 6 partitions stands for them")
	}
	fmt.Fprintf(&b, "group %s\n", l.nameOf(l.group))
	clients, told := map[string]string{}, map[string]bool{}
	for id, p := range l.members {
		clients[id] = p.name
	}
	for _, p := range l.all {
		if !told[p.name] {
			told[p.name] = true
			b.WriteString(l.consumer(p) + "\n")
		}
	}
	last := int64(-1)
	for _, d := range l.deeds {
		at := max(d.atMs-l.fromMs+l.shiftMs, last, 1)
		fmt.Fprintf(&b, "at %s %s\n", Span(at), d.text)
		last = at
	}
	if end := l.endMs - l.fromMs + l.shiftMs; end > last {
		fmt.Fprintf(&b, "at %s\n", Span(end))
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# A recording of the group %s, made into a run.\n# Not reproduced:\n", oneLine(l.group))
	for _, n := range l.notes {
		fmt.Fprintf(&head, "#   %s\n", oneLine(n))
	}
	return Run{Text: head.String() + b.String(), Notes: l.notes, ShiftMs: l.shiftMs, Clients: clients}
}

// consumer describes a process as the script language does.
func (l *lab) consumer(p *process) string {
	a := p.added
	text := fmt.Sprintf("consumer %s session=%dms rebalance=%dms heartbeat=%dms", p.name, max(a.SessionTimeoutMs, 1), max(a.RebalanceTimeoutMs, 1), p.heartbeatMs())
	var topics []string
	for _, t := range a.Topics {
		if _, known := l.topics[t]; known {
			topics = append(topics, t)
		}
	}
	if len(topics) > 0 {
		text += " topics=" + strings.Join(topics, ",")
	}
	var known []string
	for _, name := range a.Protocols {
		if slices.Contains([]string{"range", "roundrobin", "sticky", "cooperative-sticky"}, name) {
			known = append(known, name)
		} else {
			l.note("the assignor %s", name)
		}
	}
	if len(known) > 0 {
		text += " assignor=" + strings.Join(known, ",")
	}
	if p.version >= 1 && p.version < 9 {
		text += fmt.Sprintf(" v=%d", p.version)
	}
	if p.instance != "" {
		text += " instance=" + l.plain(p.instance)
	}
	return text + l.commits(p.name)
}
