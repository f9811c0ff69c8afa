package cluster

import (
	"fmt"

	"grouplab/coordinator/event"
)

// A fetcher is one broker's fetcher thread towards one leader (Kafka: ReplicaFetcherThread), and the leader's fetch
// session with it (KIP-227). One request is under way at a time and names only the partitions whose log end changed. The
// leader parks it while it has no records to give.
//
// Kafka's leader answers a parked fetch empty after replica.fetch.wait.max.ms, and the follower asks again. Where such a
// round would tell nobody anything, it is left out here: the fetch stays parked, and is answered at the beat at which
// Kafka's would have been as soon as there is something small to tell (a high watermark, a partition to add). So an
// idle cluster is silent, and everything that can be seen happens when it happens in Kafka.
type fetcher struct {
	follower, leader int32
	// count is the number of partitions that the follower fetches from the leader.
	count int

	// The follower's side. seq numbers its requests; outstanding is set from the request until the answer; full makes the
	// next request name every partition; queue are those whose log end changed; retryMs is when it may ask again after
	// the connection broke, -1 without.
	seq         int64
	outstanding bool
	full        bool
	queue       []int32
	retryMs     int64

	// The leader's side. A parked request arrived at parkedMs; heardMs is when the last one arrived; changed are
	// partitions with news, hasRecords is set where they are records; beatMs is when the parked request is answered
	// for the sake of small news, -1 without.
	parked            bool
	parkedMs, heardMs int64
	changed           []int32
	hasRecords        bool
	beatMs            int64
}

// messageBody is what a message carries. It is never changed once it was sent.
type messageBody struct {
	follower, leader int32
	seq              int64
	full             bool
	asked            []fetchPart
	answered         []answerPart
}

// fetchPart asks for a partition from an offset on; lastEpoch is the epoch of the record before it (KIP-595's
// LastFetchedEpoch), -1 where there is none.
type fetchPart struct {
	index, epoch, lastEpoch int32
	offset                  int64
	cause                   int64
}

// answerPart answers a fetchPart: records, or what was wrong with it.
type answerPart struct {
	index, epoch   int32
	offset         int64
	batches        []byte
	hw, start, end int64
	trouble        trouble
	cause          int64
}

// responseMaxBytes is replica.fetch.response.max.bytes: soft, the first batch always fits.
const responseMaxBytes = 10 << 20

func (c *Cluster) fetcher(follower, leader int32) *fetcher {
	return &c.fetchers[(follower-1)*c.cfg.Brokers+leader-1]
}

// pump sends every request and answer that is due.
func (c *Cluster) pump() {
	for i := range c.fetchers {
		f := &c.fetchers[i]
		if f.count == 0 || f.follower == f.leader {
			continue
		}
		c.ask(f)
		c.answer(f)
	}
}

// fetcherDeadline is when pump has something to do by the clock alone.
func (c *Cluster) fetcherDeadline(f *fetcher) int64 {
	switch {
	case f.count == 0 || !c.Running(f.follower) || !c.Running(f.leader):
		return -1
	case !f.outstanding:
		return f.retryMs
	case f.parked:
		return f.beatMs
	}
	return -1
}

// ask sends the follower's next request.
func (c *Cluster) ask(f *fetcher) {
	if f.outstanding || c.nowMs < f.retryMs || !c.Running(f.follower) || !c.Running(f.leader) {
		return
	}
	body := &messageBody{follower: f.follower, leader: f.leader, full: f.full}
	if f.full {
		for _, p := range c.partitions {
			if i := p.at(f.follower); i >= 0 && p.replicas[i].source == f.leader {
				body.asked = append(body.asked, p.replicas[i].asks(p))
			}
		}
	} else {
		for _, index := range f.queue {
			p := c.partitions[index]
			if i := p.at(f.follower); p.replicas[i].source == f.leader && p.replicas[i].queued {
				body.asked = append(body.asked, p.replicas[i].asks(p))
			}
		}
	}
	f.queue, f.full, f.retryMs = f.queue[:0], false, -1
	f.seq++
	f.outstanding = true
	body.seq = f.seq
	c.out.Messages = append(c.out.Messages, Message{From: f.follower, To: f.leader, Bytes: 40 + 40*len(body.asked), body: body})
}

// asks names a partition in a fetch, from this replica's log end on.
func (r *replica) asks(p *partition) fetchPart {
	part := fetchPart{p.index, p.epoch, r.log.EpochAt(r.log.EndOffset() - 1), r.log.EndOffset(), r.advanced}
	r.queued, r.advanced = false, 0
	return part
}

// queue has a partition named in the follower's next fetch.
func (c *Cluster) queue(p *partition, r *replica, cause int64) {
	if !r.queued {
		f := c.fetcher(r.broker, r.source)
		f.queue = append(f.queue, p.index)
	}
	r.queued, r.advanced = true, cause
}

// Deliver tells that a message arrived. What a broken connection left behind is ignored.
func (c *Cluster) Deliver(nowMs int64, m Message) {
	c.at(nowMs)
	f, current := c.bearer(m)
	switch {
	case !current:
	case m.Answer:
		c.answered(f, m.body)
	case !f.parked:
		c.asked(f, m.body)
	}
}

// Lost tells that a message will never arrive: the follower's connection broke, and it tries again after
// ReplicaFetchBackoffMs. A host that drops a message must tell.
func (c *Cluster) Lost(nowMs int64, m Message) {
	c.at(nowMs)
	if f, current := c.bearer(m); current {
		c.disconnect(f)
	}
}

// bearer is the fetcher that a message belongs to, and whether the message is of its request that is under way.
func (c *Cluster) bearer(m Message) (*fetcher, bool) {
	if m.body == nil {
		panic("cluster: a Message that no cluster sent")
	}
	f := c.fetcher(m.body.follower, m.body.leader)
	return f, f.outstanding && f.seq == m.body.seq
}

// disconnect forgets the request under way; the next one names everything again.
func (c *Cluster) disconnect(f *fetcher) {
	if f.parked {
		f.heardMs = c.nowMs
	}
	f.outstanding, f.parked, f.full, f.hasRecords = false, false, true, false
	f.beatMs, f.retryMs = -1, -1
	if f.count > 0 {
		f.retryMs = c.nowMs + c.cfg.ReplicaFetchBackoffMs
	}
	for _, index := range f.changed {
		if p := c.partitions[index]; p.leader == f.leader {
			p.remotes[p.at(f.follower)].listed = false
		}
	}
	for _, index := range f.queue {
		p := c.partitions[index]
		if i := p.at(f.follower); p.replicas[i].source == f.leader {
			p.replicas[i].queued = false
		}
	}
	f.changed, f.queue = f.changed[:0], f.queue[:0]
	f.seq++ // what is still on the wire belongs to the past
}

// asked is a follower's fetch at its leader.
func (c *Cluster) asked(f *fetcher, body *messageBody) {
	f.parked, f.parkedMs, f.heardMs, f.beatMs = true, c.nowMs, c.nowMs, -1
	for _, part := range body.asked {
		p := c.partitions[part.index]
		if p.leader != f.leader || p.epoch != part.epoch {
			continue // the follower will ask again, with what it has heard meanwhile
		}
		c.fetched(p, f, part)
	}
	c.sift(f)
}

// fetched notes how far a follower is with a partition, or what is wrong with it.
func (c *Cluster) fetched(p *partition, f *fetcher, part fetchPart) {
	l := p.local().log
	r := &p.remotes[p.at(f.follower)]
	r.trouble = c.examine(p, part)
	if r.trouble.kind != fine {
		r.trouble.asked = part.offset
		c.list(f, p, r)
		return
	}
	switch {
	case part.offset >= l.EndOffset():
		r.caughtUpMs = max(r.caughtUpMs, c.nowMs)
	case part.offset >= r.leaderEnd:
		r.caughtUpMs = max(r.caughtUpMs, r.fetchedMs)
	}
	r.end, r.fetchedMs, r.leaderEnd = part.offset, c.nowMs, max(r.leaderEnd, l.EndOffset())
	c.maybeExpand(p, f.follower, part.cause)
	c.advanceWatermark(p, part.cause)
	c.noteBehind(p)
	c.list(f, p, r)
}

// examine compares the end of a follower's log with the leader's (Kafka: Partition.readRecords, KIP-595).
func (c *Cluster) examine(p *partition, part fetchPart) trouble {
	l := p.local().log
	if part.offset < l.StartOffset() {
		return trouble{kind: outOfRange}
	}
	if part.lastEpoch >= 0 {
		epoch, end := l.EpochEnd(part.lastEpoch)
		if end < 0 {
			return trouble{kind: outOfRange}
		}
		if epoch < part.lastEpoch || end < part.offset {
			return trouble{kind: diverging, epoch: epoch, end: end}
		}
	}
	if part.offset > l.EndOffset() {
		return trouble{kind: outOfRange}
	}
	return trouble{}
}

// list puts a partition on the list of news for a follower.
func (c *Cluster) list(f *fetcher, p *partition, r *remote) {
	if !r.listed {
		r.listed = true
		f.changed = append(f.changed, p.index)
	}
}

// newsForFollowers lists a partition whose log or high watermark has grown, for all that follow it.
func (c *Cluster) newsForFollowers(p *partition) {
	for i := range p.remotes {
		r := &p.remotes[i]
		if p.replicas[i].source != p.leader || r.end < 0 {
			continue
		}
		f := c.fetcher(p.replicas[i].broker, p.leader)
		c.list(f, p, r)
		f.hasRecords = f.hasRecords || p.local().log.EndOffset() > r.end
	}
}

// sift keeps what is still news of a list, now that a fetch told how far the follower is.
func (c *Cluster) sift(f *fetcher) {
	kept := f.changed[:0]
	f.hasRecords = false
	for _, index := range f.changed {
		p := c.partitions[index]
		i := p.at(f.follower)
		if p.leader != f.leader || !p.remotes[i].listed {
			continue
		}
		r, local := &p.remotes[i], p.local()
		now := local.log.EndOffset() > r.end || r.trouble.kind != fine
		// The follower is told of a high watermark only as far as its log goes.
		if !now && min(local.hw, r.end) <= p.replicas[i].hw {
			r.listed = false
			continue
		}
		f.hasRecords = f.hasRecords || now
		kept = append(kept, index)
	}
	f.changed = kept
}

// answer sends the leader's answer when there are records, or when the beat is there for something small.
func (c *Cluster) answer(f *fetcher) {
	if !f.parked {
		return
	}
	if !f.hasRecords {
		if len(f.changed) > 0 {
			c.sift(f)
		}
		if len(f.changed) == 0 && len(f.queue) == 0 && !f.full {
			f.beatMs = -1
			return
		}
		if wait := c.cfg.ReplicaFetchWaitMaxMs; f.beatMs < 0 {
			f.beatMs = f.parkedMs + ((c.nowMs-f.parkedMs)/wait+1)*wait
		}
		if c.nowMs < f.beatMs {
			return
		}
	}
	body := &messageBody{follower: f.follower, leader: f.leader, seq: f.seq}
	m := Message{From: f.leader, To: f.follower, Answer: true, Bytes: 40, body: body}
	left := f.changed[:0]
	for _, index := range f.changed {
		p := c.partitions[index]
		i := p.at(f.follower)
		switch {
		case p.leader != f.leader || !p.remotes[i].listed:
		case m.Bytes >= responseMaxBytes:
			left = append(left, index)
		default:
			part := c.answerPart(p, &p.remotes[i])
			body.answered = append(body.answered, part)
			m.Bytes += 60 + len(part.batches)
			m.Records = m.Records || len(part.batches) > 0
		}
	}
	f.changed, f.parked, f.hasRecords, f.beatMs = left, false, len(left) > 0, -1
	c.out.Messages = append(c.out.Messages, m)
}

func (c *Cluster) answerPart(p *partition, r *remote) answerPart {
	local := p.local()
	part := answerPart{index: p.index, epoch: p.epoch, offset: r.end, hw: local.hw, start: local.log.StartOffset(),
		end: local.log.EndOffset(), trouble: r.trouble, cause: p.lastAppend}
	r.listed = false
	if r.trouble.kind != fine {
		part.offset = r.trouble.asked
		return part
	}
	batches, err := local.log.Read(r.end, part.end, c.cfg.ReplicaFetchMaxBytes, true)
	if err == nil { // a failed read gives nothing: the follower falls behind and out of the ISR
		part.batches = batches
	}
	return part
}

// answered is a leader's answer at the follower.
func (c *Cluster) answered(f *fetcher, body *messageBody) {
	f.outstanding = false
	for _, part := range body.answered {
		p := c.partitions[part.index]
		r := &p.replicas[p.at(f.follower)]
		if r.source != f.leader || p.epoch != part.epoch || r.log.EndOffset() != part.offset {
			continue
		}
		c.follow(p, r, part)
	}
}

// follow does what the answer says with a follower's log.
func (c *Cluster) follow(p *partition, r *replica, part answerPart) {
	switch part.trouble.kind {
	case diverging:
		c.cutReplica(p, r, divergence(r, part.trouble), part.cause)
		c.queue(p, r, 0)
		return
	case outOfRange: // Kafka: fetchOffsetAndTruncate. What is neither behind the leader's end nor before its start restarts too.
		if part.end < part.offset {
			c.cutReplica(p, r, part.end, part.cause)
		} else if err := r.log.Restart(part.start); err == nil {
			r.hw = part.start
		}
		c.queue(p, r, 0)
		return
	}
	before := r.log.EndOffset()
	segments := r.log.Segments()
	_, err := r.log.AppendReplica(part.batches)
	end := r.log.EndOffset()
	r.hw = max(r.hw, min(part.hw, end))
	if end > before {
		seq := int64(0)
		if !c.quiet {
			seq = c.emit(r.broker, "", part.cause, event.ReplicaAdvanced{Topic: p.topic.name, Partition: p.number, EndOffset: end})
		}
		c.queue(p, r, seq)
	}
	if r.log.Segments() > segments && err == nil {
		err = c.retain(p, r, part.start)
	}
	if err != nil {
		panic(fmt.Sprintf("cluster: follower %d of %s-%d cannot append what leader %d gave it: %v", r.broker, p.topic.name, p.number, p.leader, err))
	}
}

// divergence is where a follower must cut its log, given the largest epoch that the leader shares and its end (Kafka:
// AbstractFetcherThread.getOffsetTruncationState). Where the follower does not know that epoch, it cuts to the end of
// the one before and asks again.
func divergence(r *replica, t trouble) int64 {
	end := r.log.EndOffset()
	if t.epoch < 0 {
		return min(t.end, end)
	}
	epoch, own := r.log.EpochEnd(t.epoch)
	switch {
	case own < 0:
		return min(t.end, end)
	case epoch != t.epoch:
		return min(own, end)
	}
	return min(own, t.end, end)
}

func (c *Cluster) cutReplica(p *partition, r *replica, to, cause int64) {
	from := r.log.EndOffset()
	if err := r.log.Truncate(to); err != nil {
		panic(fmt.Sprintf("cluster: follower %d of %s-%d cannot cut its log to %d: %v", r.broker, p.topic.name, p.number, to, err))
	}
	r.hw = min(r.hw, r.log.EndOffset())
	if r.log.EndOffset() < from {
		c.emit(r.broker, "", cause, event.ReplicaTruncated{Topic: p.topic.name, Partition: p.number, From: from, EndOffset: r.log.EndOffset()})
	}
}
