package coordinator

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// deletion is an OffsetDelete or a DeleteGroups whose tombstones are being written. One of the two responses is set.
type deletion struct {
	ticket  Ticket
	group   string // which its events are about
	sinceMs int64
	left    int // appends that are awaited
	sent    event.ReplySent
	offsets *kmsg.OffsetDeleteResponse
	groups  *kmsg.DeleteGroupsResponse
}

func (d *deletion) clone() *deletion {
	k := *d
	if d.offsets != nil {
		resp := *d.offsets // its topics are only ever replaced
		k.offsets = &resp
	}
	if d.groups != nil {
		resp := *d.groups
		resp.Groups = slices.Clone(resp.Groups)
		k.groups = &resp
	}
	return &k
}

const untilTombstones = "the tombstones are written"

// tombstoneBatch is how many tombstones go into one batch: a group may have more offsets than a batch may have bytes.
const tombstoneBatch = 1000

// deleteGroups removes groups that are Empty, with all their offsets. The answer comes when the tombstones are written,
// as in Kafka 4.0.
func (c *Coordinator) deleteGroups(r *Request, q *kmsg.DeleteGroupsRequest) {
	resp := kmsg.NewPtrDeleteGroupsResponse()
	resp.Version = q.Version
	d := &deletion{ticket: r.Ticket, group: only(q.Groups), sinceMs: c.nowMs, groups: resp}
	d.sent = event.ReplySent{Ticket: r.Ticket, API: apiDeleteGroups}
	c.deletionNumbers++
	asked := map[string]bool{}
	for _, id := range q.Groups {
		if asked[id] {
			continue
		}
		asked[id] = true
		code, guard := c.mayDeleteGroup(id)
		resp.Groups = append(resp.Groups, kmsg.DeleteGroupsResponseGroup{Group: id, ErrorCode: code})
		d.noteCode(code, guard)
		if code == codeNone {
			d.left += c.deleteGroup(c.groups[id], event.WhyGroupDeleted, c.deletionNumbers, len(resp.Groups)-1)
		}
	}
	c.parkDeletion(r, d)
}

func (c *Coordinator) mayDeleteGroup(id string) (code int16, guard string) {
	if _, code, guard = c.gate(id, true); code != codeNone {
		return code, guard
	}
	switch g := c.groups[id]; {
	case g == nil:
		return codeGroupIDNotFound, guardNoGroup
	case g.state != event.Empty:
		return codeNonEmptyGroup, guardMembers
	}
	return codeNone, ""
}

// offsetDelete removes single offsets (KIP-496). Of a group with members only those go that it does not subscribe to;
// the metadata of other protocol types cannot be read, so such a group must be Empty.
func (c *Coordinator) offsetDelete(r *Request, q *kmsg.OffsetDeleteRequest) {
	resp := kmsg.NewPtrOffsetDeleteResponse()
	resp.Version = q.Version
	d := &deletion{ticket: r.Ticket, group: q.Group, sinceMs: c.nowMs, offsets: resp}
	d.sent = event.ReplySent{Ticket: r.Ticket, API: apiOffsetDelete}
	g, code, guard := c.checkOffsetDelete(q)
	if resp.ErrorCode = code; code != codeNone {
		d.noteCode(code, guard)
		c.send(q.Group, resp, d.sent)
		return
	}
	picked := map[string][]int32{}
	for _, t := range q.Topics {
		answer := kmsg.OffsetDeleteResponseTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			one := kmsg.OffsetDeleteResponseTopicPartition{Partition: p.Partition}
			switch {
			case p.Partition < 0 || p.Partition >= c.meta.Topics[t.Topic]:
				one.ErrorCode = codeUnknownTopicOrPartition
				d.noteCode(one.ErrorCode, guardNoPartition)
			case g.subscribesTo(t.Topic):
				one.ErrorCode = codeSubscribedToTopic
				d.noteCode(one.ErrorCode, fmt.Sprintf("the group subscribes to %s", event.Name(t.Topic)))
			default:
				picked[t.Topic] = append(picked[t.Topic], p.Partition)
			}
			answer.Partitions = append(answer.Partitions, one)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	c.deletionNumbers++
	tombstones := c.removeOffsets(g, event.WhyOffsetsDeleted, func(topic string, p *partitionOffset) bool {
		return slices.Contains(picked[topic], p.partition)
	})
	d.left = c.appendTombstones(g, tombstones, c.deletionNumbers, 0)
	c.parkDeletion(r, d)
}

func (c *Coordinator) checkOffsetDelete(q *kmsg.OffsetDeleteRequest) (g *group, code int16, guard string) {
	if _, code, guard = c.gate(q.Group, false); code != codeNone {
		return nil, code, guard
	}
	switch g = c.groups[q.Group]; {
	case g == nil:
		return nil, codeGroupIDNotFound, guardNoGroup
	case g.state != event.Empty && g.protocolType != consumerProtocol:
		return nil, codeNonEmptyGroup, guardMembers
	}
	return g, codeNone, ""
}

// subscribesTo tells whether members of a consumer group read a topic; where that is not known they may.
func (g *group) subscribesTo(topic string) bool {
	if g.state == event.Empty {
		return false
	}
	return !g.subscribedKnown || slices.Contains(g.subscribed, topic)
}

// topicsDeleted removes the offsets of topics that are gone. A group that has none left stays until the clean-up job
// comes.
func (c *Coordinator) topicsDeleted(topics []string) {
	for _, g := range c.sortedGroups() {
		c.appendTombstones(g, c.removeOffsets(g, event.WhyTopicDeleted, func(topic string, _ *partitionOffset) bool {
			return slices.Contains(topics, topic)
		}), 0, 0)
	}
}

// removeOffsets drops the partitions that the test picks, committed, pending or in a transaction, and returns their
// tombstones. They reach the log after whatever is still being written, so that a later load finds nothing either; the
// Scala coordinator writes none for what is only pending.
func (c *Coordinator) removeOffsets(g *group, why event.Why, picks func(topic string, p *partitionOffset) bool) (tombstones []record.Record) {
	removed := event.OffsetsRemoved{Why: why}
	type place struct {
		topic     string
		partition int32
	}
	seen := map[place]bool{}
	take := func(topic string, p *partitionOffset) bool {
		if !p.holds() || !picks(topic, p) {
			return false
		}
		at, value := place{topic, p.partition}, p.value()
		if !p.committed() {
			value = *p.pending
		}
		if !seen[at] {
			seen[at] = true
			removed.Offsets = append(removed.Offsets, value.told(topic, p.partition))
			tombstones = append(tombstones, record.Record{Key: record.OffsetKey(g.id, topic, p.partition), TimestampMs: c.nowMs})
		}
		return true
	}
	g.remove(take)
	for _, t := range slices.Clone(g.txns) {
		t.remove(take)
		g.forgetIfEmpty(t)
	}
	if len(removed.Offsets) > 0 {
		c.emit(g.id, removed)
	}
	return tombstones
}

// deleteGroup ends an Empty group for good and returns how many appends tell the log so.
func (c *Coordinator) deleteGroup(g *group, why event.Why, deletion int64, at int) (appends int) {
	tombstones := c.removeOffsets(g, why, func(string, *partitionOffset) bool { return true })
	tombstones = append(tombstones, record.Record{Key: record.GroupKey(g.id), TimestampMs: c.nowMs})
	c.transition(g, event.Dead, why, "")
	c.dropGroup(g, why)
	return c.appendTombstones(g, tombstones, deletion, at)
}

// appendTombstones writes tombstones in batches and returns how many.
func (c *Coordinator) appendTombstones(g *group, tombstones []record.Record, deletion int64, at int) (appends int) {
	for batch := range slices.Chunk(tombstones, tombstoneBatch) {
		a := c.newAppend(storesTombstones)
		a.deletion, a.deleted = deletion, at
		c.append(g, "tombstones", a, batch)
		appends++
	}
	return appends
}

func (d *deletion) noteCode(code int16, guard string) {
	if d.sent.Code == codeNone {
		d.sent.Code, d.sent.Guard = code, guard
	}
}

// parkDeletion answers a deletion that has written nothing, and lets others wait.
func (c *Coordinator) parkDeletion(r *Request, d *deletion) {
	if d.left == 0 {
		c.answerDeletion(d)
		return
	}
	c.deletions[c.deletionNumbers] = d
	c.emit(d.group, event.ReplyParked{Ticket: r.Ticket, API: d.sent.API, ClientID: r.ClientID, SinceMs: d.sinceMs,
		Until: untilTombstones})
}

// tombstonesWritten takes the outcome of a batch of tombstones. What was removed is gone here in any case; if the log
// does not know, the next coordinator brings it back, so who asked is told.
func (c *Coordinator) tombstonesWritten(a *inflight, code int16) {
	d := c.deletions[a.deletion]
	if d == nil {
		return
	}
	if code != codeNone {
		answer := groupAppendCode(code)
		d.noteCode(answer, "the tombstones were not written: "+event.CodeName(code))
		if d.offsets != nil {
			d.offsets.ErrorCode, d.offsets.Topics = answer, nil
		} else {
			d.groups.Groups[a.deleted].ErrorCode = answer
		}
	}
	if d.left--; d.left == 0 {
		delete(c.deletions, a.deletion)
		c.answerDeletion(d)
	}
}

func (c *Coordinator) answerDeletion(d *deletion) {
	d.sent.HeldMs = c.nowMs - d.sinceMs
	if d.offsets != nil {
		c.send(d.group, d.offsets, d.sent)
	} else {
		c.send(d.group, d.groups, d.sent)
	}
}
