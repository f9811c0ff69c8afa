package coordinator

import (
	"fmt"
	"maps"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// load is a partition of __consumer_offsets whose log is being read.
type load struct {
	epoch      int32 // in which it began
	endOffset  int64
	from, told int64 // the first position, and the one that was told last; -1 before the first batch
	next       int64
	records    int64
	groups     map[string]*loadedGroup
	skipped    []skip
	open       map[int64][]string // groups with open transactions, by producer
	markers    []Marker           // that came meanwhile
	failed     string
	cause      int64 // the Seq of its LoadStarted
}

// loadedGroup is what the log has said of a group so far.
type loadedGroup struct {
	g      *group
	record *record.Group // nil: no record, or a tombstone
}

// skip counts records of one kind that a load leaves out. A log may hold millions of them, so they are told by kind.
type skip struct {
	reason string
	offset int64 // of the first one's batch
	count  int
}

func (l *load) skip(reason string, offset int64, count int) {
	for i := range l.skipped {
		if l.skipped[i].reason == reason {
			l.skipped[i].count += count
			return
		}
	}
	l.skipped = append(l.skipped, skip{reason, offset, count})
}

// progressSteps is how many times a load tells how far it is.
const progressSteps = 20

// partition returns what is known of a partition, from now on.
func (c *Coordinator) partition(number int32) *partition {
	p := c.partitions[number]
	if p == nil {
		p = &partition{number: number, epoch: -1}
		c.partitions[number] = p
	}
	return p
}

func (c *Coordinator) immigrate(number, epoch int32, endOffset int64) {
	p := c.partition(number)
	if epoch < p.epoch {
		return
	}
	p.epoch = epoch
	if p.owned || p.load != nil {
		return
	}
	p.load = &load{epoch: epoch, endOffset: endOffset, from: -1, told: -1,
		groups: map[string]*loadedGroup{}, open: map[int64][]string{}}
	c.loading++
	c.cause = c.emit("", event.LoadStarted{Partition: number, Epoch: epoch, EndOffset: endOffset})
	p.load.cause = c.cause
}

// loadBatch reads one batch. What Kafka only warns of is told; what it cannot read ends the load.
func (c *Coordinator) loadBatch(number, epoch int32, b *LoadedBatch) {
	p := c.partitions[number]
	if p == nil || p.load == nil || p.load.epoch != epoch || p.load.failed != "" {
		return
	}
	l := p.load
	c.cause = l.cause
	l.records += int64(len(b.Records))
	for i := range b.Records {
		err := error(nil)
		if b.Control {
			if i == 0 {
				err = l.readMarker(b)
			}
		} else {
			err = l.read(c, number, b, &b.Records[i])
		}
		if err != nil {
			l.failed = fmt.Sprintf("record %d of the batch at %d: %v", i, b.BaseOffset, err)
			return
		}
	}
	l.next = b.NextOffset
	if l.from < 0 {
		l.from, l.told = b.BaseOffset, b.BaseOffset
	}
	if (l.next-l.told)*progressSteps >= l.endOffset-l.from {
		l.told = l.next
		c.emit("", event.LoadProgressed{Partition: number, Offset: l.next, EndOffset: l.endOffset, Records: l.records})
	}
}

// read takes one record; the last one about a group or a partition wins.
func (l *load) read(c *Coordinator, number int32, b *LoadedBatch, r *record.Record) error {
	key, err := record.DecodeKey(r.Key)
	switch {
	case err != nil:
		return err
	case key.IsOffset():
		return l.readOffset(c, number, b, &key, r)
	case !key.IsGroup():
		l.skip(fmt.Sprintf("with key version %d, which is no classic group's", key.Version), b.BaseOffset, 1)
		return nil
	}
	lg := l.group(c, number, key.Group)
	lg.record = nil
	if r.Value == nil {
		return nil
	}
	value, err := record.DecodeGroup(r.Value)
	lg.record = &value
	return err
}

// readOffset takes a committed offset. What is part of a transaction is kept apart until its marker comes. A tombstone
// outside of transactions removes what is in open ones too, since it comes later in the log.
func (l *load) readOffset(c *Coordinator, number int32, b *LoadedBatch, key *record.Key, r *record.Record) error {
	g := l.group(c, number, key.Group).g
	table := &g.offsetTable
	if b.Transactional {
		if !slices.Contains(l.open[b.ProducerID], g.id) {
			l.open[b.ProducerID] = append(slices.Clip(l.open[b.ProducerID]), g.id)
		}
		table = &c.transaction(g, b.ProducerID, b.ProducerEpoch).offsetTable
	}
	if r.Value == nil {
		table.clear(key.Topic, key.Partition)
		if !b.Transactional {
			for _, t := range g.txns {
				t.clear(key.Topic, key.Partition)
			}
		}
		return nil
	}
	v, err := record.DecodeOffset(r.Value)
	if err != nil {
		return err
	}
	value := offsetValue{offset: v.Offset, metadata: v.Metadata, commitMs: v.CommitTimestampMs,
		expireMs: v.ExpireTimestampMs, leaderEpoch: v.LeaderEpoch}
	table.make(key.Topic, key.Partition).commit(&value, b.BaseOffset)
	return nil
}

// readMarker ends a producer's transaction: its offsets become those of their groups, where none lies later in the log
// already. A type of control record that is not known drops them, as an abort does.
func (l *load) readMarker(b *LoadedBatch) error {
	const commit = 1
	key := b.Records[0].Key
	if len(key) < 4 {
		return fmt.Errorf("a control record's key has %d bytes, and begins with a version and a type of 2 bytes each", len(key))
	}
	for _, id := range l.open[b.ProducerID] {
		g := l.groups[id].g
		g.finish(g.transactionOf(b.ProducerID), int(key[2])<<8|int(key[3]) == commit)
	}
	delete(l.open, b.ProducerID)
	return nil
}

func (l *load) group(c *Coordinator, number int32, id string) *loadedGroup {
	lg := l.groups[id]
	if lg == nil {
		lg = &loadedGroup{g: newGroup(id, number, c.nowMs)}
		l.groups[id] = lg
	}
	return lg
}

// loaded ends a load: the partition is owned, and its groups appear. A load that failed leaves none.
func (c *Coordinator) loaded(number, epoch int32, failed string) {
	p := c.partitions[number]
	if p == nil || p.load == nil || p.load.epoch != epoch {
		return
	}
	l := p.load
	p.load, p.owned = nil, true
	c.loading--
	c.cause = l.cause
	if l.failed == "" {
		l.failed = failed
	}
	for _, k := range l.skipped {
		c.emit("", event.LoadSkipped{Partition: number, Offset: k.offset, Reason: fmt.Sprintf("%d records %s", k.count, k.reason)})
	}
	done := event.LoadFinished{Partition: number, Epoch: p.epoch, Failed: l.failed}
	done.RetentionMs, done.CleanupMs = c.retention()
	if l.failed == "" {
		for _, id := range slices.Sorted(maps.Keys(l.groups)) {
			lg := l.groups[id]
			if lg.record == nil && !lg.g.hasOffsets() || c.groups[id] != nil {
				continue
			}
			done.Groups++
			done.Offsets += lg.g.committedOffsets()
			c.groupLoaded(lg)
		}
	}
	c.cause = l.cause
	c.emit("", done)
	for _, m := range l.markers {
		c.cause = m.Cause
		c.txnMarker(m)
	}
}

// groupLoaded puts a group into the cache. Who is in it must send a heartbeat within a session timeout from now. What
// was never written is gone: issued ids, parked replies, a rebalance that was under way.
func (c *Coordinator) groupLoaded(lg *loadedGroup) {
	g := lg.g
	g.offsetTable.shrink()
	c.addGroup(g)
	g.stateMs = unknownMs
	if r := lg.record; r != nil {
		g.protocolType, g.generation, g.stateMs = r.ProtocolType, r.Generation, r.StateTimestampMs
		if r.Protocol != nil {
			g.protocol = *r.Protocol
		}
		for i := range r.Members {
			c.memberLoaded(g, &r.Members[i])
		}
		if r.Leader != nil && g.byID[*r.Leader] != nil {
			g.leader = *r.Leader
		}
	}
	if len(g.members) > 0 {
		g.state = event.Stable
	}
	g.computeSubscribed()
	c.cause = c.emit(g.id, g.toldLoaded())
	for _, m := range g.members {
		c.emit(g.id, m.toldAdded(g))
	}
	if g.state == event.Stable {
		c.emit(g.id, event.AssignmentStored{Generation: g.generation, Assignments: g.assignments()})
	}
	if told := g.toldOffsets(); len(told) > 0 {
		c.emit(g.id, event.OffsetsCommitted{BaseOffset: -1, Offsets: told, Loaded: true})
	}
	g.txns = slices.DeleteFunc(g.txns, func(t *transaction) bool { return !t.any() })
	for _, t := range g.txns {
		c.noteOpen(g, t.producerID, t.epoch, true)
		for _, told := range t.toldWritten() {
			c.emit(g.id, told)
		}
	}
	for _, m := range g.members {
		c.resetSession(m, "", false)
	}
	if len(g.members) > int(c.cfg.Settings.GroupMaxSize) {
		c.prepareRebalance(g, event.WhyGroupTooLarge, "", "")
	}
}

// memberLoaded takes a member from a record. Its only known protocol is the one that was elected. A second member of
// the same id or instance id is left out; Kafka's map would hold one, too.
func (c *Coordinator) memberLoaded(g *group, r *record.Member) {
	if g.byID[r.MemberID] != nil || r.InstanceID != nil && g.byInstance[*r.InstanceID] != nil {
		return
	}
	m := &member{id: r.MemberID, instanceID: r.InstanceID, clientID: r.ClientID, clientHost: r.ClientHost,
		rebalanceTimeoutMs: r.RebalanceTimeoutMs, sessionTimeoutMs: r.SessionTimeoutMs, assignment: r.Assignment,
		protocols: []protocol{{g.protocol, r.Subscription}}}
	c.addMember(g, m, g.protocolType)
}

// emigrate drops a partition's groups. Whoever waits is told to look for the new coordinator; nothing is written, and
// appends that are under way end as they end.
func (c *Coordinator) emigrate(number, epoch int32) {
	p := c.partition(number)
	if epoch >= 0 && epoch < p.epoch {
		return
	}
	if epoch >= 0 {
		p.epoch = epoch
	}
	if !p.owned && p.load == nil {
		return
	}
	if p.load != nil {
		c.loading--
	}
	p.owned, p.load = false, nil
	maps.DeleteFunc(c.openTxns, func(k txnKey, _ openTxn) bool { return k.partition == number })
	var leaving []*group
	for _, g := range c.sortedGroups() {
		if g.partition == number {
			leaving = append(leaving, g)
		}
	}
	c.cause = c.emit("", event.PartitionUnloaded{Partition: number, Epoch: p.epoch, Groups: len(leaving)})
	for _, g := range leaving {
		c.unloadGroup(g)
	}
}

// unloadGroup ends a group in this cache. Kafka leaves some of its timers to run out without effect; here all end.
func (c *Coordinator) unloadGroup(g *group) {
	why := string(event.WhyNotCoordinator)
	c.transition(g, event.Dead, event.WhyNotCoordinator, "")
	for _, m := range g.members {
		if m.join.waits {
			c.answerJoinError(g, m, m.id, codeNotCoordinator, why)
		}
		if m.sync.waits {
			c.answerSyncError(g, m, codeNotCoordinator, why)
		}
	}
	c.rebalances.CheckAndComplete(joinKey(g))
	c.rebalances.CheckAndComplete(syncKey(g))
	c.dropGroup(g, event.WhyNotCoordinator)
}

// dropGroup takes a dead group out of the cache, with the timers of ids that have not joined.
func (c *Coordinator) dropGroup(g *group, why event.Why) {
	c.how = string(why)
	for _, m := range slices.Concat(g.members, g.pending, g.departed) {
		m.gone = true
		if !c.sessions.Complete(m.session.op) {
			c.releaseMember(m)
		}
	}
	c.how = ""
	delete(c.groups, g.id)
	c.lastGroup = nil
	c.groupSlots[g.slot] = nil
	c.freeGroups = append(c.freeGroups, g.slot)
	c.emit(g.id, event.GroupRemoved{Why: why})
	if len(c.groups) == 0 {
		c.disarmCleanup()
	}
}
