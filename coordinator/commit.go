package coordinator

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// commit is an OffsetCommit whose records are being written.
type commit struct {
	ticket  Ticket
	member  string
	sinceMs int64
	// resp is ready but for the partitions that are being written, which have no code yet.
	resp *kmsg.OffsetCommitResponse
	// told are those partitions, in the response's order, with what is committed.
	told []event.OffsetValue
	// values are what the tables hold of them while they are pending. The room is used again by later commits, which no
	// table points to before.
	values []offsetValue
	code   int16 // the first code of a partition that was set aside
	// txn is set for a TxnOffsetCommit; its values are those of the transaction with this number.
	txn       *txnCommit
	txnNumber int64
}

// offsetCommit stores offsets. They are pending until their records are in the log, and only then visible and answered.
func (c *Coordinator) offsetCommit(r *Request, q *kmsg.OffsetCommitRequest) {
	c.commitOffsets(r, q, nil)
}

// commitOffsets checks and stores the offsets of an OffsetCommit or, where t is set, of a TxnOffsetCommit. The latter
// may come in any state and moves no session timer.
func (c *Coordinator) commitOffsets(r *Request, q *kmsg.OffsetCommitRequest, t *txnCommit) {
	q = withoutEmptyTopics(q)
	resp, unknown, total := c.commitResponse(q)
	switch {
	case total == 0: // Kafka's API layer answers a commit of nothing without asking the coordinator
		c.send(q.Group, t.wire(resp), event.ReplySent{Ticket: r.Ticket, API: t.api(), Member: q.MemberID, Generation: q.Generation,
			HeldMs: t.heldMs(c.nowMs, c.nowMs)})
		return
	case unknown == total:
		c.refuseCommit(r, q, t, nil, codeUnknownTopicOrPartition, guardNoPartition)
		return
	}
	g, m, code, guard := c.checkCommit(q, t)
	if code != codeNone {
		c.refuseCommit(r, q, t, g, code, guard)
		return
	}
	if t == nil && m != nil && (g.state == event.Stable || g.state == event.PreparingRebalance) {
		c.resetSession(m, "commit", c.nowMs-m.session.toldMs < beatEveryMs)
	}
	c.storeOffsets(r, q, t, g, resp, total-unknown)
}

// withoutEmptyTopics is the request without topics of which it names no partition: Kafka does not answer for those.
func withoutEmptyTopics(q *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitRequest {
	empty := func(t kmsg.OffsetCommitRequestTopic) bool { return len(t.Partitions) == 0 }
	if !slices.ContainsFunc(q.Topics, empty) {
		return q
	}
	k := *q
	k.Topics = slices.DeleteFunc(slices.Clone(q.Topics), empty)
	return &k
}

const guardNoPartition = "the broker knows no such topic or partition"

// commitResponse makes the response, with the code of partitions that the broker does not know set. It counts them.
func (c *Coordinator) commitResponse(q *kmsg.OffsetCommitRequest) (resp *kmsg.OffsetCommitResponse, unknown, total int) {
	one := new(struct { // most commits are of one topic
		resp  kmsg.OffsetCommitResponse
		topic [1]kmsg.OffsetCommitResponseTopic
	})
	resp = &one.resp
	resp.Version, resp.Topics = q.Version, one.topic[:min(len(q.Topics), 1)]
	if len(q.Topics) > 1 {
		resp.Topics = make([]kmsg.OffsetCommitResponseTopic, len(q.Topics))
	}
	for i := range q.Topics {
		t := &q.Topics[i]
		partitions := c.meta.Topics[t.Topic]
		list := make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			list[j].Partition = t.Partitions[j].Partition
			if list[j].Partition < 0 || list[j].Partition >= partitions {
				list[j].ErrorCode = codeUnknownTopicOrPartition
				unknown++
			}
		}
		total += len(list)
		resp.Topics[i] = kmsg.OffsetCommitResponseTopic{Topic: t.Topic, TopicID: t.TopicID, Partitions: list}
	}
	return resp, unknown, total
}

// checkCommit tells why a whole commit is refused; m is nil where no member commits. Membership is checked first, then
// the generation, and the state last: a stranger must not be told to wait for a rebalance (KAFKA-8487). A transaction's
// producer that names no member is one from before KIP-447, and is let in.
func (c *Coordinator) checkCommit(q *kmsg.OffsetCommitRequest, t *txnCommit) (g *group, m *member, code int16, guard string) {
	var number int32
	if g = c.find(q.Group); g == nil || q.Group == "" { // the partition of a group that is here is owned
		number, code, guard = c.gate(q.Group, t == nil)
		if code == codeNone && tooLong(q.Group) {
			code, guard = codeInvalidRequest, guardTooLong
		}
		if code != codeNone {
			return nil, nil, code, guard
		}
	}
	switch {
	case g == nil && q.Generation < 0:
		return c.createGroup(q.Group, number), nil, codeNone, ""
	case g == nil && t == nil && q.Version >= 9:
		return nil, nil, codeGroupIDNotFound, guardNoGroup
	case g == nil:
		return nil, nil, codeIllegalGeneration, guardNoGroup
	case q.Generation < 0 && g.state == event.Empty:
		return g, nil, codeNone, "" // an admin tool, or a consumer that assigns its partitions itself
	case q.Generation < 0 && q.MemberID == "" && q.InstanceID == nil && t != nil:
		return g, nil, codeNone, ""
	case q.Generation < 0 && q.MemberID == "" && q.InstanceID == nil:
		return g, nil, codeUnknownMemberID, "the group has members, and the commit names none"
	}
	m, code, guard = g.checkMember(q.MemberID, q.InstanceID, q.Generation)
	if code == codeNone && t == nil && g.state == event.CompletingRebalance {
		code, guard = codeRebalanceInProgress, "the group waits for its assignment"
	}
	return g, m, code, guard
}

// refuseCommit answers every partition with the same code.
func (c *Coordinator) refuseCommit(r *Request, q *kmsg.OffsetCommitRequest, t *txnCommit, g *group, code int16, guard string) {
	resp, _, total := c.commitResponse(q)
	told := make([]event.OffsetValue, 0, total)
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			if p.ErrorCode == codeNone {
				p.ErrorCode = code
			}
			told = append(told, refusedOffset(q, i, j, p.ErrorCode))
		}
	}
	refused := event.OffsetsRefused{Member: q.MemberID, Generation: q.Generation, Code: code, Offsets: told}
	if g != nil {
		refused.State, refused.GroupGeneration = g.state, g.generation
	}
	if code == codeRebalanceInProgress {
		c.cause = g.began.seq
	}
	c.emit(q.Group, refused)
	c.send(q.Group, t.wire(resp), event.ReplySent{Ticket: r.Ticket, API: t.api(), Code: t.code(code), Member: q.MemberID,
		Generation: q.Generation, Guard: guard, HeldMs: t.heldMs(c.nowMs, c.nowMs)})
}

func refusedOffset(q *kmsg.OffsetCommitRequest, topic, at int, code int16) event.OffsetValue {
	p := &q.Topics[topic].Partitions[at]
	return event.OffsetValue{Topic: q.Topics[topic].Topic, Partition: p.Partition, Offset: p.Offset,
		LeaderEpoch: p.LeaderEpoch, Metadata: metadataOf(p), Code: code}
}

func metadataOf(p *kmsg.OffsetCommitRequestTopicPartition) string {
	if p.Metadata == nil {
		return ""
	}
	return *p.Metadata
}

// storeOffsets marks the offsets as pending and writes them in one batch. Partitions with too much metadata are set
// aside; where none is left nothing is written.
func (c *Coordinator) storeOffsets(r *Request, q *kmsg.OffsetCommitRequest, t *txnCommit, g *group, resp *kmsg.OffsetCommitResponse, n int) {
	a, table := c.newAppend(storesOffsets), &g.offsetTable
	var txn *transaction
	if t != nil {
		txn = c.transaction(g, t.producerID, t.producerEpoch)
		table = &txn.offsetTable
	}
	k := &a.commit
	*k = commit{ticket: r.Ticket, member: q.MemberID, sinceMs: c.nowMs, resp: resp,
		told: c.room.forTold(n), values: slices.Grow(k.values[:0], n), txn: t}
	first := len(c.room.records)
	refused := c.stageOffsets(q, k, table, resp, n)
	if len(refused) > 0 {
		k.code = refused[0].Code
		c.emit(g.id, event.OffsetsRefused{Member: q.MemberID, Generation: q.Generation, GroupGeneration: g.generation,
			State: g.state, Code: k.code, Offsets: refused})
	}
	if len(k.told) == 0 {
		if txn != nil {
			g.forgetIfEmpty(txn)
		}
		c.answerCommit(g.id, k, g.generation, k.code)
		c.freeAppend(a)
		return
	}
	what := "offsets"
	if txn != nil {
		what, k.txnNumber = "transactional offsets", txn.number
		c.noteOpen(g, t.producerID, t.producerEpoch, false)
	}
	c.emit(g.id, k.toldPending(c.appendTickets+1, q.Generation))
	c.emit(g.id, event.ReplyParked{Ticket: r.Ticket, API: t.api(), Member: q.MemberID, ClientID: r.ClientID,
		SinceMs: c.nowMs - t.heldMs(c.nowMs, c.nowMs), Until: untilWritten})
	c.append(g, what, a, c.room.records[first:len(c.room.records):len(c.room.records)])
}

// stageOffsets marks n offsets as pending and makes their records, in room that is used again when they were taken. It
// returns those that are refused.
func (c *Coordinator) stageOffsets(q *kmsg.OffsetCommitRequest, k *commit, table *offsetTable, resp *kmsg.OffsetCommitResponse, n int) (refused []event.OffsetValue) {
	records, room, expireMs := slices.Grow(c.room.records, n), slices.Grow(c.room.bytes, n*offsetBytes), c.expiryOf(q)
	for i := range q.Topics {
		var topic *topicOffsets
		name, hint := q.Topics[i].Topic, 0
		for j := range q.Topics[i].Partitions {
			p, answer := &q.Topics[i].Partitions[j], &resp.Topics[i].Partitions[j]
			if answer.ErrorCode == codeNone && c.metadataTooLarge(p.Metadata) {
				answer.ErrorCode = codeOffsetMetadataTooLarge
			}
			if answer.ErrorCode != codeNone {
				refused = append(refused, refusedOffset(q, i, j, answer.ErrorCode))
				continue
			}
			if topic == nil {
				topic, hint = &table.topics[table.topic(name)], int(p.Partition)
				if topic.partitions == nil {
					topic.partitions = make([]partitionOffset, 0, min(len(q.Topics[i].Partitions), int(c.meta.Topics[name])))
				}
			}
			value := offsetValue{offset: p.Offset, metadata: metadataOf(p), commitMs: c.commitTime(q, p), expireMs: expireMs,
				leaderEpoch: leaderEpochOf(q, p)}
			k.values = append(k.values, value)
			k.told = append(k.told, event.OffsetValue{Topic: name, Partition: p.Partition, Offset: p.Offset,
				LeaderEpoch: value.leaderEpoch, Metadata: value.metadata, ExpireMs: max(expireMs, 0)})
			o, at := topic.make(p.Partition, hint)
			hint = at + 1
			o.stage(&k.values[len(k.values)-1])
			from := len(room)
			room = topic.appendKey(room, table.groupID, p.Partition)
			to := len(room)
			room = value.appendTo(room)
			records = append(records, record.Record{Key: room[from:to:to], Value: room[to:len(room):len(room)], TimestampMs: c.nowMs})
		}
	}
	c.room.records, c.room.bytes = records, room
	return refused
}

// toldPending tells what waits to be written.
func (k *commit) toldPending(ticket int64, generation int32) event.Body {
	if k.txn == nil {
		return event.OffsetsPending{Member: k.member, Generation: generation, Append: ticket, Offsets: k.told}
	}
	return event.TxnOffsetsPending{ProducerID: k.txn.producerID, ProducerEpoch: k.txn.producerEpoch, Member: k.member,
		Generation: generation, Append: ticket, Offsets: k.told}
}

const untilWritten = "the offsets are written"

// offsetBytes is the length of an offset's key and value with short names and little metadata.
const offsetBytes = 80

// expiryOf is when a commit expires. Versions 2 to 4 may ask for that; -1 is the broker's retention.
func (c *Coordinator) expiryOf(q *kmsg.OffsetCommitRequest) int64 {
	if q.Version < 2 || q.Version > 4 || q.RetentionTimeMillis < 0 {
		return -1
	}
	return c.nowMs + min(q.RetentionTimeMillis, math.MaxInt64-c.nowMs)
}

// commitTime is what version 1 names, or now.
func (c *Coordinator) commitTime(q *kmsg.OffsetCommitRequest, p *kmsg.OffsetCommitRequestTopicPartition) int64 {
	if q.Version == 1 && p.Timestamp >= 0 {
		return p.Timestamp
	}
	return c.nowMs
}

func leaderEpochOf(q *kmsg.OffsetCommitRequest, p *kmsg.OffsetCommitRequestTopicPartition) int32 {
	if q.Version < 6 {
		return -1
	}
	return p.LeaderEpoch
}

// metadataTooLarge counts UTF-16 code units, as Kafka compares String.length with offset.metadata.max.bytes.
func (c *Coordinator) metadataTooLarge(metadata *string) bool {
	limit := int(c.cfg.Settings.OffsetMetadataMaxBytes)
	if metadata == nil {
		return false
	}
	if len(*metadata) > record.MaxStringBytes {
		return true
	}
	if len(*metadata) <= limit {
		return false
	}
	units := 0
	for _, r := range *metadata {
		units++
		if r > 0xffff && r <= utf8.MaxRune {
			units++
		}
	}
	return units > limit
}

// commitWritten takes the outcome of a commit's append. A value becomes visible unless a later position of the log has
// been seen already; it stops being pending unless a newer commit of the partition is under way.
func (c *Coordinator) commitWritten(g *group, a *inflight, ticket, baseOffset int64, code int16) {
	k := &a.commit
	answer := commitAppendCode(code)
	table, txn := g.tableOf(k)
	visible, n := k.told[:0:0], 0
	for i := range k.resp.Topics {
		t, hint := &k.resp.Topics[i], 0
		var topic *topicOffsets
		if table != nil {
			topic = table.topicOf(t.Topic)
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if p.ErrorCode != codeNone {
				continue
			}
			p.ErrorCode = answer
			if topic != nil && topic.settle(k, n, &hint, baseOffset, code == codeNone) {
				visible = appendTold(visible, k.told, n)
			}
			n++
		}
	}
	switch {
	case len(visible) > 0 && txn != nil:
		c.noteOpen(g, txn.producerID, txn.epoch, true)
		c.emit(a.groupID, event.TxnOffsetsWritten{ProducerID: txn.producerID, ProducerEpoch: txn.epoch, Append: ticket,
			BaseOffset: baseOffset, Offsets: visible})
	case len(visible) > 0:
		c.emit(a.groupID, event.OffsetsCommitted{Append: ticket, BaseOffset: baseOffset, Offsets: visible})
	case txn != nil:
		g.forgetIfEmpty(txn)
	}
	if code != codeNone {
		refused := event.OffsetsRefused{Member: k.member, Generation: a.generation, GroupGeneration: a.generation,
			Code: answer, Append: ticket, Offsets: k.told}
		if g != nil {
			refused.State, refused.GroupGeneration = g.state, g.generation
		}
		c.emit(a.groupID, refused)
	}
	if answer == codeNone {
		answer = k.code
	}
	c.answerCommit(a.groupID, k, a.generation, answer)
}

// tableOf is where a commit's values are: the group's offsets, or those of its transaction; nil where the group or the
// transaction has gone.
func (g *group) tableOf(k *commit) (*offsetTable, *transaction) {
	switch {
	case g == nil:
		return nil, nil
	case k.txn == nil:
		return &g.offsetTable, nil
	}
	if t := g.transactionOf(k.txn.producerID); t != nil && t.number == k.txnNumber {
		return &t.offsetTable, t
	}
	return nil, nil
}

// appendTold adds the i-th of all to a part of all, without a copy as long as the part has no holes.
func appendTold(part, all []event.OffsetValue, i int) []event.OffsetValue {
	n := len(part)
	switch {
	case n == 0:
		return all[i : i+1]
	case n < cap(part) && &part[:n+1][n] == &all[i]:
		return part[:n+1]
	}
	return append(part[:n:n], all[i])
}

// settle ends the pending commit of the i-th partition and tells whether its value became visible: unless a later batch of
// the log has been seen already. Within a batch that names a partition twice the last one counts, as at a load. hint is
// where the partition probably is, and then where the next one is.
func (o *topicOffsets) settle(k *commit, i int, hint *int, baseOffset int64, written bool) bool {
	at, found := o.at(k.told[i].Partition, *hint)
	*hint = at + 1
	if !found || !o.partitions[at].settled(&k.values[i]) {
		return false
	}
	p := &o.partitions[at]
	if !written || p.baseOffset > baseOffset {
		return false
	}
	p.commit(&k.values[i], baseOffset)
	return true
}

func (c *Coordinator) answerCommit(groupID string, k *commit, generation int32, code int16) {
	guard := ""
	switch code {
	case codeNone:
	case codeOffsetMetadataTooLarge:
		guard = fmt.Sprintf("the metadata is longer than %d", c.cfg.Settings.OffsetMetadataMaxBytes)
	case codeUnknownTopicOrPartition:
		guard = guardNoPartition
	default:
		guard = "the offsets were not written"
	}
	c.send(groupID, k.txn.wire(k.resp), event.ReplySent{Ticket: k.ticket, API: k.txn.api(), Code: k.txn.code(code), Member: k.member,
		Generation: generation, HeldMs: k.txn.heldMs(c.nowMs, k.sinceMs), Guard: guard})
}
