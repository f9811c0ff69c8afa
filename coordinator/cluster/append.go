package cluster

import (
	"errors"
	"fmt"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// Append appends a batch at a leader. The outcome comes in Output.Appended, now or later (Kafka:
// ReplicaManager.appendRecords and DelayedProduce).
func (c *Cluster) Append(nowMs int64, r AppendRequest) {
	c.at(nowMs)
	c.try(&r, Appended{Broker: r.Broker, Topic: r.Topic, Partition: r.Partition, Ticket: r.Ticket, Internal: r.Internal,
		BaseOffset: -1, LogStartOffset: -1})
}

// try appends and answers, now or when the replicas have it.
func (c *Cluster) try(r *AppendRequest, result Appended) {
	fault := c.struck(r)
	end, refused := int64(0), fault.refusal()
	if refused == nil {
		end, refused = c.append(r, &result)
	}
	if refused != nil {
		result.Code, result.Message = refused.Code, refused.Reason
		c.finish(result)
		return
	}
	fault.spoil(&result)
	p := c.find(r.Topic, r.Partition)
	behind := len(p.waiters) > 0 && p.waiters[0].end < end
	own := r.Acks != -1
	kept := r.Acks == 0 || p.local().log.KeptOffset() >= end
	if fault.HoldMs == 0 && (own && kept || !own && p.local().hw >= end && !behind) {
		c.finish(result)
		return
	}
	w := waiter{end: end, deadlineMs: c.nowMs + max(r.TimeoutMs, 0), own: own && !kept, result: result}
	if fault.HoldMs > 0 {
		w.heldUntilMs = c.nowMs + fault.HoldMs
	}
	c.wait(p, w)
}

// wait keeps an append until the replicas have it. A repeated batch ends before newer ones, so the place is looked for.
func (c *Cluster) wait(p *partition, w waiter) {
	if len(p.waiters) == 0 {
		c.waiting = append(c.waiting, p.index)
	}
	at := len(p.waiters)
	for at > 0 && p.waiters[at-1].end > w.end {
		at--
	}
	p.waiters = slices.Insert(p.waiters, at, w)
	if p.firstDeadlineMs < 0 || w.deadlineMs < p.firstDeadlineMs {
		p.firstDeadlineMs = w.deadlineMs
	}
}

func (c *Cluster) finish(a Appended) {
	if a.Marker {
		c.markerFinished(a)
	} else if a.Ticket != 0 {
		c.out.Appended = append(c.out.Appended, a)
	}
}

// append writes the batch and tells up to where the replicas must follow.
func (c *Cluster) append(r *AppendRequest, result *Appended) (end int64, refused *log.Error) {
	p, code := c.led(r.Broker, r.Topic, r.Partition, r.Epoch)
	if code == codeFencedLeaderEpoch || code == codeUnknownLeaderEpoch {
		code = codeNotLeaderOrFollower // an append that names another epoch comes from a leader that no longer is one
	}
	switch {
	case code != codeNone:
		return 0, &log.Error{Code: code, Reason: c.whyNot(p, r)}
	case r.Acks != 0 && r.Acks != 1 && r.Acks != -1:
		return 0, &log.Error{Code: codeInvalidRequiredAcks, Reason: fmt.Sprintf("acks is 0, 1 or -1, not %d", r.Acks)}
	case p.topic.internal && !r.Internal:
		return 0, &log.Error{Code: codeInvalidTopic, Reason: fmt.Sprintf("%s is internal: only the coordinator writes to it", p.topic.name)}
	case r.Acks == -1 && len(p.isr) < p.minInsync():
		result.LogStartOffset = p.local().log.StartOffset() // told beside this error, as Kafka does
		return 0, &log.Error{Code: codeNotEnoughReplicas, Reason: fmt.Sprintf("%d replicas are in sync, min.insync.replicas is %d", len(p.isr), p.minInsync())}
	}
	b, err := c.check(p, r)
	if err != nil {
		return 0, refusal(err)
	}
	l := p.local().log
	result.LogStartOffset = l.StartOffset()
	if p.topic.stamps && !r.Internal {
		result.LogAppendTimeMs = c.nowMs
	}
	base, duplicate, err := l.Check(b)
	if err != nil {
		return 0, refusal(err)
	}
	if duplicate {
		// Kafka tells a repeated batch's own time here.
		result.BaseOffset, result.Duplicate, result.LogAppendTimeMs = base, true, b.MaxTimestampMs
		return base + int64(b.LastOffsetDelta) + 1, nil
	}
	if err := c.write(p, b, r); err != nil {
		return 0, refusal(err)
	}
	result.BaseOffset = l.EndOffset() - int64(b.LastOffsetDelta) - 1
	return l.EndOffset(), nil
}

// check reads the batch. The coordinator's own are known to be well-formed.
func (c *Cluster) check(p *partition, r *AppendRequest) (log.Batch, error) {
	if r.Internal {
		b, _, err := log.Parse(r.Batch)
		if err == nil && len(r.Batch) > p.topic.maxMessageBytes {
			err = &log.Error{Code: codeMessageTooLarge, Reason: fmt.Sprintf("the batch has %d bytes, max.message.bytes is %d", len(r.Batch), p.topic.maxMessageBytes)}
		}
		return b, err
	}
	b, err := log.Validate(r.Batch, p.topic.maxMessageBytes)
	if err == nil && p.topic.compacted && (b.Codec() == log.None || c.cfg.Decompress != nil) {
		err = keyed(b, c.cfg.Decompress)
	}
	if err == nil && p.topic.stamps {
		return b.Stamped(c.nowMs), nil
	}
	if err == nil && b.MaxTimestampMs > c.nowMs+p.topic.timestampAfterMs {
		err = &log.Error{Code: codeInvalidTimestamp, Reason: fmt.Sprintf("a record's timestamp, %d, is more than message.timestamp.after.max.ms (%d) after the broker's time, %d",
			b.MaxTimestampMs, p.topic.timestampAfterMs, c.nowMs)}
	}
	if err == nil && b.BaseTimestampMs >= 0 && c.nowMs-b.BaseTimestampMs > p.topic.timestampBeforeMs {
		err = &log.Error{Code: codeInvalidTimestamp, Reason: fmt.Sprintf("a record's timestamp, %d, is more than message.timestamp.before.max.ms (%d) before the broker's time, %d",
			b.BaseTimestampMs, p.topic.timestampBeforeMs, c.nowMs)}
	}
	if err == nil {
		b = b.Unstamped()
	}
	return b, err
}

// keyed wants a key in every record: compaction keeps the newest record of each.
func keyed(b log.Batch, unpack log.Decompress) error {
	without := int64(-1)
	err := b.Each(unpack, func(r log.Record) bool {
		if r.Key == nil {
			without = r.Offset
		}
		return without < 0
	})
	if err == nil && without >= 0 {
		err = &log.Error{Code: codeInvalidRecord, Reason: fmt.Sprintf("record %d has no key; a compacted topic needs one", without)}
	}
	return err
}

func refusal(err error) *log.Error {
	var known *log.Error
	if errors.As(err, &known) {
		return known
	}
	return &log.Error{Code: codeStorageError, Reason: err.Error()}
}

func (c *Cluster) whyNot(p *partition, r *AppendRequest) string {
	switch {
	case p == nil:
		return fmt.Sprintf("there is no partition %d of %q", r.Partition, r.Topic)
	case p.leader != r.Broker:
		return fmt.Sprintf("broker %d does not lead %s-%d, broker %d does in epoch %d", r.Broker, r.Topic, r.Partition, p.leader, p.epoch)
	}
	return fmt.Sprintf("%s-%d is in leader epoch %d, not %d", r.Topic, r.Partition, p.epoch, r.Epoch)
}

// write appends to the leader's log, tells it, and has the followers' parked fetches answered.
func (c *Cluster) write(p *partition, b log.Batch, r *AppendRequest) error {
	l := p.local().log
	c.stillCaughtUp(p, l.KeptOffset())
	segments := l.Segments()
	b, err := l.Append(b, p.epoch)
	if err != nil {
		return err
	}
	p.lastAppend = r.Cause
	if !c.quiet {
		said := event.RecordsAppended{Topic: p.topic.name, Partition: p.number, BaseOffset: b.BaseOffset, Count: int(b.Count), Bytes: len(b.Bytes)}
		switch {
		case r.Internal && r.Offsets != nil:
			said.Commits(r.Group, r.Offsets)
		case p.topic.name == OffsetsTopic:
			said.Records = log.Describe(b, nil)
		}
		if r.Internal && !r.Marker {
			said.Append = r.Ticket
		}
		tellProducer(&said, b)
		p.lastAppend = c.emit(p.leader, r.Group, r.Cause, said)
	}
	c.newsForFollowers(p)
	c.noteBehind(p)
	c.advanceWatermark(p, p.lastAppend)
	if l.Segments() > segments {
		return c.retain(p, p.local(), l.StartOffset())
	}
	return nil
}

// tellProducer says whose transaction a batch belongs to.
func tellProducer(said *event.RecordsAppended, b log.Batch) {
	if b.Transactional() {
		said.Transactional, said.ProducerID, said.ProducerEpoch = true, b.ProducerID, b.ProducerEpoch
	}
}

// producerExpirationMs is producer.id.expiration.ms: how long a silent producer's sequence numbers are remembered.
const producerExpirationMs = 24 * 3600 * 1000

// retain deletes what is too much or too old. It runs whenever a segment is full, not by the clock: nothing happens to
// an idle log.
func (c *Cluster) retain(p *partition, r *replica, minStart int64) error {
	r.log.ExpireProducers(c.nowMs - producerExpirationMs)
	if p.topic.compacted {
		c.wantsCleaning(p)
	}
	if !p.topic.deletes {
		return nil
	}
	before := int64(-1)
	if p.topic.retentionMs >= 0 {
		before = c.nowMs - p.topic.retentionMs
	}
	return r.log.Retain(p.topic.retentionBytes, before, minStart, r.hw)
}

// release answers the appends that the high watermark has reached. Kafka can answer NOT_ENOUGH_REPLICAS_AFTER_APPEND here,
// when the ISR shrinks between the watermark's move and this look; nothing comes between them in this machine.
func (c *Cluster) release(p *partition) {
	done, hw := 0, p.local().hw
	for done < len(p.waiters) && p.waiters[done].end <= hw && p.waiters[done].heldUntilMs <= c.nowMs {
		c.finish(p.waiters[done].result)
		done++
	}
	if done > 0 {
		c.removeWaiters(p, done)
	}
}

// giveUp answers every waiting append of a partition with one code; code 0 drops them without an answer, but for
// markers: who sent them is another broker, which sees the connection break.
func (c *Cluster) giveUp(p *partition, code int16, message string) {
	for _, w := range p.waiters {
		switch {
		case code != codeNone:
			w.result.Code, w.result.Message = code, message
		case w.result.Marker:
			w.result.Code, w.result.Message = codeNetworkException, "the leader is gone"
		default:
			continue
		}
		c.finish(w.result)
	}
	c.removeWaiters(p, len(p.waiters))
}

// expireWaiting answers the appends whose time is up, and tells where the batch is: it stays in the log.
func (c *Cluster) expireWaiting() {
	for _, index := range slices.Clone(c.waiting) {
		p := c.partitions[index]
		if p.firstDeadlineMs > c.nowMs {
			continue
		}
		p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool {
			if w.deadlineMs > c.nowMs {
				return false
			}
			w.result.Code = codeRequestTimedOut
			w.result.Message = "the in-sync replicas did not follow in time"
			c.finish(w.result)
			return true
		})
		c.removeWaiters(p, 0)
		if p.leader >= 0 {
			c.release(p) // those that waited behind one whose answer was kept back
		}
	}
}

// removeWaiters takes the first n away and keeps Cluster.waiting and the partition's first deadline right.
func (c *Cluster) removeWaiters(p *partition, n int) {
	p.waiters = slices.Delete(p.waiters, 0, n)
	if len(p.waiters) == 0 {
		if i := slices.Index(c.waiting, p.index); i >= 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
		}
	}
	p.setFirstDeadline()
}

func (p *partition) setFirstDeadline() {
	p.firstDeadlineMs = -1
	for _, w := range p.waiters {
		if p.firstDeadlineMs < 0 || w.deadlineMs < p.firstDeadlineMs {
			p.firstDeadlineMs = w.deadlineMs
		}
	}
}
