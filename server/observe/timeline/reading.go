package timeline

import (
	"fmt"
	"slices"
	"strconv"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const offsetsTopic = "__consumer_offsets"

// partition is one of __consumer_offsets as far as it was read.
type partition struct {
	number           int32
	start, next, end int64
	ready, tail      bool
	toldAt           int64 // the position at which progress was told last
	records          int64
	seq              int64 // of its LoadStarted
	// hole is behind the last offset that is not there: compaction, or a marker that the host did not hand on, took it.
	hole int64
	// open are the groups with open transactions by producer.
	open map[int64][]string
	// leaderSinceMs is when its leader was seen to be the leader: what other brokers list says nothing of its groups.
	leaderSinceMs int64
	// recent are the young records of KIP-848 groups that the first reading has kept since recentHole.
	recent     []recentRecord
	recentHole int64
}

// progressSteps is how many times the first reading of a partition tells how far it is.
const progressSteps = 20

// readFrom begins a partition, or begins it anew.
func (t *Timeline) readFrom(o ReadFrom) {
	if o.Partition < 0 || o.End < o.Start {
		return
	}
	var cause int64
	if old := t.partitions[o.Partition]; old != nil {
		cause = t.dropPartition(old, o.Why)
	}
	p := &partition{number: o.Partition, start: o.Start, next: o.Start, end: o.End, toldAt: o.Start, tail: o.Tail, open: map[int64][]string{}}
	t.partitions[o.Partition] = p
	p.seq = t.emitAt(o.Partition, cause, event.LoadStarted{Partition: o.Partition, Epoch: t.offsetsTopic[o.Partition].Epoch, EndOffset: o.End})
	t.finishIfThere(p)
}

// emitAt tells of a partition of __consumer_offsets as if its leader said it.
func (t *Timeline) emitAt(number int32, cause int64, body event.Body) int64 {
	seq := t.emit(nil, exactly(t.nowMs), cause, body)
	t.events[len(t.events)-1].Broker = max(t.offsetsTopic[number].Leader, 0)
	return seq
}

// dropPartition forgets a partition and its groups. They are not gone: they will be told anew, and those that are not when the
// partition was read are (tellDropped).
func (t *Timeline) dropPartition(p *partition, why string) int64 {
	dropped := 0
	for _, g := range t.inPartition(p.number) {
		delete(t.groups, g.name)
		delete(t.moving, g.name)
		if dropped++; g.told {
			t.dropped[p.number] = append(t.dropped[p.number], g.name)
		}
	}
	delete(t.partitions, p.number)
	cause := t.emitAt(p.number, 0, event.PartitionUnloaded{Partition: p.number, Epoch: t.offsetsTopic[p.number].Epoch, Groups: dropped})
	if why != "" {
		t.emitAt(p.number, cause, event.LoadSkipped{Partition: p.number, Offset: p.next, Reason: why})
	}
	return cause
}

// tellDropped tells which groups were not found again when a partition had been read anew.
func (t *Timeline) tellDropped(number int32, why event.Why) {
	for _, name := range t.dropped[number] {
		if t.groups[name] == nil {
			gone := &group{name: name, partition: number}
			t.emit(gone, when{t.nowMs, t.nowMs, event.Inferred}, 0, event.GroupRemoved{Why: why})
		}
	}
	delete(t.dropped, number)
}

func (t *Timeline) recreated(o Recreated) {
	var numbers []int32
	for number := range t.partitions {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		t.dropPartition(t.partitions[number], "__consumer_offsets was deleted and made anew: all that it held is gone")
		t.tellDropped(number, event.WhyTopicDeleted)
	}
	for _, g := range t.sorted() { // those that were only listed: their partition may be another one now
		t.emit(g, exactly(t.nowMs), 0, event.GroupRemoved{Why: event.WhyTopicDeleted})
	}
	t.forgetLog()
	if o.Partitions > 0 {
		t.about.Partitions = o.Partitions
	}
}

// records reads on. What was read before is left out.
func (t *Timeline) records(o Records) {
	p := t.partitions[o.Partition]
	if p == nil {
		return
	}
	s := &step{}
	for i := range o.Records {
		r := &o.Records[i]
		if r.Offset < p.next {
			continue
		}
		if r.Offset > p.next {
			p.hole = r.Offset
		}
		p.next = r.Offset // at least so far
		t.finishIfThere(p)
		p.next = r.Offset + 1
		p.records++
		t.read(p, r, s)
	}
	t.flush(p, s)
	if n := len(o.Records); p.ready && n > 0 {
		t.clocked(p, o.Records[n-1].TimestampMs)
	}
	if o.Next > p.next {
		p.next, p.hole = o.Next, o.Next
	}
	t.finishIfThere(p)
	if !p.ready && (p.next-p.toldAt)*progressSteps >= p.end-p.start {
		p.toldAt = p.next
		t.emitAt(p.number, p.seq, event.LoadProgressed{Partition: p.number, Offset: p.next, EndOffset: p.end, Records: p.records})
	}
}

// step is what a coordinator wrote for one group at once: one append, known by its group and timestamp.
type step struct {
	g             *group
	atMs          int64
	transactional bool
	producerID    int64
	commits       commitStep
	classic       []classicRecord
	modern        []modernRecord
}

type classicRecord struct {
	at    int64
	value []byte // nil: a tombstone
	hole  int64  // as the partition's, when it was read
}

type modernRecord struct {
	at    int64
	key   record.ModernKey
	value []byte
}

// read takes one record: into the step that it belongs to, or, in the first reading, at once.
func (t *Timeline) read(p *partition, r *Record, s *step) {
	if r.Control {
		t.flush(p, s)
		t.marker(p, r)
		return
	}
	key, err := record.DecodeKey(r.Key)
	switch {
	case err != nil:
		t.skip(p, r, "a key "+faultOf(r.Key, 32767))
	case key.IsOffset():
		g := t.of(p, key.Group)
		if !p.ready {
			t.commit(p, g, key, r, nil)
			return
		}
		t.into(p, s, g, r)
		if s.commits.values == nil {
			s.commits.base, s.commits.producerID, s.commits.epoch, s.commits.transactional = r.Offset, r.ProducerID, r.ProducerEpoch, r.Transactional
		}
		t.commit(p, g, key, r, &s.commits)
	case key.IsGroup():
		g := t.of(p, key.Group)
		c := classicRecord{at: r.Offset, value: r.Value, hole: p.hole}
		if !p.ready {
			t.settleRecent(p) // the group may change its protocol
			t.classic(p, g, c, r.TimestampMs)
			return
		}
		t.into(p, s, g, r)
		s.classic = append(s.classic, c)
	default:
		t.readModern(p, r, s)
	}
}

func (t *Timeline) readModern(p *partition, r *Record, s *step) {
	key, known, err := record.DecodeModernKey(r.Key)
	switch {
	case err != nil:
		t.skip(p, r, "a key "+faultOf(r.Key, 32767))
		return
	case !known:
		version := int16(r.Key[0])<<8 | int16(r.Key[1])
		t.skip(p, r, "key version "+strconv.Itoa(int(version))+whatIs(version))
		return
	}
	g := t.of(p, key.Group)
	m := modernRecord{at: r.Offset, key: key, value: r.Value}
	if !p.ready {
		if !t.keepRecent(p, key.Group, m, r.TimestampMs) {
			t.loadModern(p, g, m, r)
		}
		return
	}
	t.into(p, s, g, r)
	s.modern = append(s.modern, m)
}

func whatIs(version int16) string {
	switch {
	case version >= 9 && version <= 15:
		return ", of share groups, which are not shown"
	case version >= 17 && version <= 24:
		return ", of streams groups, which are not shown"
	}
	return " is not known"
}

// of is a record's group. It lives in the partition that it was read from, whatever its name says.
func (t *Timeline) of(p *partition, name string) *group {
	g := t.group(name)
	g.partition = p.number
	return g
}

// into makes a record part of a step, which is told first where the record begins another.
func (t *Timeline) into(p *partition, s *step, g *group, r *Record) {
	if s.g == g && s.atMs == r.TimestampMs && s.transactional == r.Transactional && (!r.Transactional || s.producerID == r.ProducerID) {
		return
	}
	t.flush(p, s)
	s.g, s.atMs, s.transactional, s.producerID = g, r.TimestampMs, r.Transactional, r.ProducerID
}

// flush tells of a step.
func (t *Timeline) flush(p *partition, s *step) {
	g := s.g
	if g == nil {
		return
	}
	done := *s
	*s = step{}
	gone := false
	for _, c := range done.classic {
		gone = gone || c.value == nil
	}
	for _, m := range done.modern {
		gone = gone || m.key.Kind == record.ConsumerGroupMetadata && m.value == nil
	}
	if !g.told && len(done.classic) == 0 && len(done.modern) == 0 && (len(done.commits.values) > 0) {
		g.told, g.generation = true, max(g.generation, 0)
		t.emit(g, exactly(done.atMs), 0, event.GroupCreated{})
	}
	t.tellCommits(g, done.atMs, &done.commits, gone)
	why := t.changeProtocol(g, &done)
	for _, c := range done.classic {
		if c.value != nil || g.modern == nil {
			t.classic(p, g, c, done.atMs)
		}
	}
	if why == event.WhyBecameClassic && g.hasRecord {
		g.cause = event.CauseInferred{Generation: g.generation, Why: why, Confidence: event.High, Evidence: "the records of the consumer group were removed in the same append"}
		t.emit(g, when{done.atMs, done.atMs, event.Inferred}, g.steadySeq, g.cause)
	}
	if len(done.modern) > 0 {
		t.modernStep(g, done.modern, done.atMs, why)
	}
	t.forgetIfNothing(p, g, when{done.atMs, done.atMs, event.Inferred}, t.whyRemoved(&done, gone), 0)
}

// changeProtocol notices the online migration of KIP-848: a group's record is a tombstone and records of the other protocol
// lie beside it, or the other way round.
func (t *Timeline) changeProtocol(g *group, s *step) event.Why {
	classic, modern := 0, 0
	for _, c := range s.classic {
		classic = 1
		if c.value == nil {
			classic = -1
		}
	}
	for _, m := range s.modern {
		if m.key.Kind == record.ConsumerGroupMetadata {
			modern = 1
			if m.value == nil {
				modern = -1
			}
		}
	}
	switch {
	case classic < 0 && modern > 0 && g.hasRecord:
		t.endMotion(g)
		g.hasRecord, g.record = false, settled{}
		s.classic = nil
		return event.WhyBecameConsumer
	case classic > 0 && modern < 0 && g.modern != nil:
		g.modern, s.modern = nil, nil
		g.generation, g.told, g.becameClassic = -1, false, true
		return event.WhyBecameClassic
	}
	return ""
}

// whyRemoved concludes why a group's tombstone was written.
func (t *Timeline) whyRemoved(s *step, gone bool) event.Why {
	if len(s.commits.gone) > 0 {
		switch why := t.whyGone(s.commits.gone, s.atMs, gone); why {
		case event.WhyOffsetsExpired, event.WhyTopicDeleted:
			return event.WhyNothingLeft
		}
		return event.WhyGroupDeleted
	}
	return event.WhyNothingLeft
}

// forgetIfNothing forgets a group of which the log holds nothing any more.
func (t *Timeline) forgetIfNothing(p *partition, g *group, w when, why event.Why, cause int64) {
	if g.hasRecord || g.modern != nil || len(g.offsets) > 0 || len(g.txns) > 0 || t.groups[g.name] != g {
		return
	}
	if g.motion != nil && p.ready { // it is there: it rebalances for the first time
		return
	}
	delete(t.groups, g.name)
	delete(t.moving, g.name)
	if !g.told {
		return
	}
	if why == "" {
		why = event.WhyNothingLeft
	}
	for _, m := range g.members {
		t.emit(g, w, cause, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
	}
	t.emit(g, w, cause, event.GroupRemoved{Why: why})
}

// finishIfThere ends the first reading of a partition when the position has reached the end that was noted at its start.
// The position moves beyond what compaction removed and beyond markers, so it gets there whatever the last record is.
func (t *Timeline) finishIfThere(p *partition) {
	if p.ready || p.next < p.end {
		return
	}
	t.tellRecent(p)
	p.ready = true
	done := event.LoadFinished{Partition: p.number, Epoch: t.offsetsTopic[p.number].Epoch, RetentionMs: t.about.RetentionMs}
	for _, g := range t.inPartition(p.number) {
		t.forgetIfNothing(p, g, exactly(t.nowMs), event.WhyNothingLeft, p.seq)
		if t.groups[g.name] != g || !g.hasRecord && g.modern == nil && len(g.offsets) == 0 && len(g.txns) == 0 {
			continue
		}
		done.Groups++
		for _, x := range g.offsets {
			done.Offsets += len(x.list)
		}
		t.tellBaseline(g, p.seq)
		t.tellLoadedOffsets(g, p.seq)
	}
	t.tellDropped(p.number, event.WhyNothingLeft)
	t.emitAt(p.number, p.seq, done)
}

// tellBaseline tells of a group as the log has it, at the time of its record.
func (t *Timeline) tellBaseline(g *group, cause int64) {
	if g.told {
		return
	}
	g.told = true
	w := exactly(t.nowMs)
	switch {
	case g.modern != nil:
		t.tellModernBaseline(g, cause)
		return
	case g.hasRecord:
		w = exactly(min(g.record.atMs, t.nowMs))
		g.typ = classicType
	default: // offsets alone: whoever commits without being a member
		g.generation = max(g.generation, 0)
	}
	for _, body := range g.loaded() {
		g.steadySeq = t.emit(g, w, cause, body)
	}
}

// loaded are the facts that build a classic group.
func (g *group) loaded() []event.Body {
	list := []event.Body{event.GroupLoaded{State: g.state, SinceMs: g.sinceMs, Generation: g.generation, ProtocolType: g.protocolType,
		Protocol: g.protocol, Leader: g.leader, Partition: g.partition}}
	assigned := false
	for _, m := range g.members {
		list = append(list, m.added(true))
		assigned = assigned || len(m.assigned) > 0 || m.bytes > 0
	}
	if assigned {
		list = append(list, event.AssignmentStored{Generation: g.generation, Assignments: g.assignments()})
	}
	return list
}

func (t *Timeline) tellLoadedOffsets(g *group, cause int64) {
	if len(g.offsets) > 0 {
		t.emit(g, exactly(t.nowMs), cause, event.OffsetsCommitted{BaseOffset: -1, Offsets: told(g.offsets), Loaded: true})
	}
	for _, x := range g.txns {
		t.emit(g, exactly(t.nowMs), cause, event.TxnOffsetsWritten{ProducerID: x.producerID, ProducerEpoch: x.epoch, BaseOffset: -1,
			Offsets: told(x.offsets), Loaded: true})
	}
}

// mostSkips bounds how many kinds of bad records are told apart.
const mostSkips = 64

// skip counts a record that is left out. The first of a kind is told, never each.
func (t *Timeline) skip(p *partition, r *Record, reason string) {
	if s := t.skipped[reason]; s != nil {
		s.Count++
		return
	}
	if len(t.skipped) >= mostSkips-1 {
		const others = "records of more kinds than are told apart"
		if s := t.skipped[others]; s != nil {
			s.Count++
			return
		}
		reason = others
	}
	t.skipped[reason] = &Skip{Reason: reason, Count: 1, Partition: p.number, Offset: r.Offset}
	t.emitAt(p.number, 0, event.LoadSkipped{Partition: p.number, Offset: r.Offset, Reason: reason + "; records like it are left out and counted"})
}

// faultOf says what is wrong with bytes that begin with a version, in words that do not differ from record to record.
func faultOf(b []byte, known int16) string {
	if len(b) < 2 {
		return "has no version"
	}
	if version := int16(b[0])<<8 | int16(b[1]); version < 0 || version > known {
		return fmt.Sprintf("has version %d, which is not known", version)
	}
	return fmt.Sprintf("of version %d is cut short", int16(b[0])<<8|int16(b[1]))
}
