package coordinator

import (
	"fmt"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// appendKind is what an append is for.
type appendKind uint8

const (
	storesAssignment appendKind = iota
	storesEmptyGroup
	storesOffsets
	storesReplacement
	storesTombstones
)

// inflight is an append whose outcome is awaited.
type inflight struct {
	kind       appendKind
	groupID    string
	slot       int32 // the group's
	group      int64 // its number, since its slot and its id may be used again
	generation int32
	partition  int32
	seq        int64 // of its AppendStarted
	startMs    int64
	deadlineMs int64
	records    int

	assignment  map[string][]byte  // storesAssignment: by member id
	assignments []event.Assignment // the same in the words of events
	commit      commit             // storesOffsets
	replacement replacement        // storesReplacement
	deletion    int64              // storesTombstones: the number of who waits for it, 0 nobody
	deleted     int                // which group of that DeleteGroups
}

// batchRoom is where the records of commits lie until they were taken: room that is used again.
type batchRoom struct {
	records []record.Record
	bytes   []byte // their keys and values
	// told is where what commits tell of their offsets comes to lie: events keep that, so it is not used again.
	told []event.OffsetValue
}

// toldRoom is for how many offsets room is made at once.
const toldRoom = 56

// forTold returns room for n offsets.
func (r *batchRoom) forTold(n int) []event.OffsetValue {
	if len(r.told) < n {
		r.told = make([]event.OffsetValue, max(n, toldRoom))
	}
	room := r.told[:0:n]
	r.told = r.told[n:]
	return room
}

// empty gives the room free, unless it has grown very large.
func (r *batchRoom) empty() {
	const keepRecords, keepBytes = 1024, 64 << 10
	if cap(r.records) > keepRecords || cap(r.bytes) > keepBytes {
		r.records, r.bytes = nil, nil
	}
	r.records, r.bytes = r.records[:0], r.bytes[:0]
}

// appendGroup writes the group's record, with the assignment that the function gives. A record holds only the metadata
// of the elected protocol. It carries the time at which the state was entered, which is CompletingRebalance: Stable
// begins when the record is written.
func (c *Coordinator) appendGroup(g *group, assignment func(*member) []byte, a *inflight) {
	value := record.Group{ProtocolType: g.protocolType, Generation: g.generation, StateTimestampMs: g.stateMs}
	if len(g.members) > 0 {
		value.Protocol, value.Leader = &g.protocol, &g.leader
	}
	for _, m := range g.members {
		value.Members = append(value.Members, record.Member{MemberID: m.id, InstanceID: m.instanceID,
			ClientID: m.clientID, ClientHost: m.clientHost, RebalanceTimeoutMs: m.rebalanceTimeoutMs,
			SessionTimeoutMs: m.sessionTimeoutMs, Subscription: m.metadata(g.protocol), Assignment: assignment(m)})
	}
	c.append(g, "group", a, []record.Record{{Key: record.GroupKey(g.id), Value: record.GroupValue(value),
		TimestampMs: c.nowMs}})
}

// appendEmptyGroup writes that a generation ended without members. Nobody waits for the outcome.
func (c *Coordinator) appendEmptyGroup(g *group) {
	c.appendGroup(g, nil, c.newAppend(storesEmptyGroup))
}

// newAppend returns an append to fill. Those that are over are used again.
func (c *Coordinator) newAppend(kind appendKind) (a *inflight) {
	if n := len(c.freeAppends); n > 0 {
		a, c.freeAppends = c.freeAppends[n-1], c.freeAppends[:n-1]
	} else {
		a = new(inflight)
	}
	a.kind = kind
	return a
}

// freeAppend keeps an append that is over, with the room for its values.
func (c *Coordinator) freeAppend(a *inflight) {
	const keepValues, keepAppends = 256, 1024
	if len(c.freeAppends) >= keepAppends {
		return
	}
	values := a.commit.values
	if cap(values) > keepValues {
		values = nil
	}
	clear(values)
	*a = inflight{commit: commit{values: values[:0]}}
	c.freeAppends = append(c.freeAppends, a)
}

// append hands records to the host and remembers what the outcome is for.
func (c *Coordinator) append(g *group, what string, a *inflight, records []record.Record) {
	c.appendTickets++
	ticket := c.appendTickets
	timeoutMs := int64(c.cfg.Settings.OffsetsCommitTimeoutMs)
	a.groupID, a.slot, a.group, a.generation, a.partition = g.id, g.slot, g.number, g.generation, g.partition
	a.startMs, a.deadlineMs, a.records = c.nowMs, c.nowMs+timeoutMs, len(records)
	a.seq = c.emit(g.id, event.AppendStarted{Append: ticket, Partition: a.partition, Records: a.records, What: what,
		DeadlineMs: a.deadlineMs})
	c.appends[ticket] = a
	out := Append{Ticket: ticket, Partition: a.partition, Epoch: c.partitions[a.partition].epoch, Group: g.id, What: what,
		Records: records, Offsets: a.commit.told, ProducerID: -1, ProducerEpoch: -1, TimeoutMs: timeoutMs, Acks: -1, Cause: a.seq}
	if t := a.commit.txn; t != nil {
		out.Transactional, out.ProducerID, out.ProducerEpoch = true, t.producerID, t.producerEpoch
	}
	c.out.Appends = append(c.out.Appends, out)
}

// appended takes the log's callback. Where the group has gone, or is no longer where it was, the outcome has no effect;
// a commit is answered all the same.
func (c *Coordinator) appended(ticket, baseOffset int64, code int16) {
	a := c.appends[ticket]
	if a == nil {
		panic(fmt.Sprintf("coordinator of broker %d: Appended(%d) answers no append that is under way", c.cfg.Broker, ticket))
	}
	delete(c.appends, ticket)
	g := c.groupSlots[a.slot]
	if g != nil && g.number != a.group {
		g = nil
	}
	ignored := g == nil
	if a.kind == storesAssignment && g != nil {
		ignored = g.state != event.CompletingRebalance || g.generation != a.generation
	}
	var replaced *member
	if a.kind == storesReplacement && g != nil {
		replaced = a.replacement.awaited(g)
		ignored = replaced == nil
	}
	c.cause = a.seq
	c.cause = c.emit(a.groupID, event.AppendFinished{Append: ticket, Partition: a.partition, BaseOffset: baseOffset,
		Code: code, Ignored: ignored})
	switch {
	case a.kind == storesOffsets:
		c.commitWritten(g, a, ticket, baseOffset, code)
	case a.kind == storesAssignment && !ignored:
		c.assignmentWritten(g, a, code)
	case a.kind == storesTombstones:
		c.tombstonesWritten(a, code)
	case replaced != nil:
		c.replacementWritten(g, replaced, &a.replacement, code)
	}
	c.freeAppend(a)
}

// groupAppendCode is what the members of a group are told when its record was not written.
func groupAppendCode(code int16) int16 {
	switch code {
	case codeUnknownTopicOrPartition, codeNotEnoughReplicas, codeNotEnoughAfterAppend, codeRequestTimedOut:
		return codeNotAvailable
	case codeNotLeaderOrFollower, codeStorageError:
		return codeNotCoordinator
	case codeMessageTooLarge, codeRecordListTooLarge, codeInvalidFetchSize:
		return codeUnknownServerError
	}
	return code
}

// commitAppendCode is what a client is told when its commit was not written.
func commitAppendCode(code int16) int16 {
	if code == codeNetworkException {
		return codeLoadInProgress
	}
	return groupAppendCode(code)
}
