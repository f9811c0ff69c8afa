package cluster

import (
	"fmt"

	"grouplab/coordinator/event"
)

// ask sends the follower's next request.
func (c *Cluster) ask(f *fetcher) {
	if f.outstanding || f.unkept > 0 || c.nowMs < f.retryMs || !c.Running(f.follower) || !c.Running(f.leader) {
		return
	}
	if c.cfg.Disk != nil && c.awaitDisk(f) {
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
			if i := p.at(f.follower); i >= 0 && p.replicas[i].source == f.leader && p.replicas[i].queued {
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

// answered is a leader's answer at the follower.
func (c *Cluster) answered(f *fetcher, body *messageBody) {
	f.outstanding = false
	failed := false
	for _, part := range body.answered {
		p := c.partitions[part.index]
		i := p.at(f.follower)
		if i < 0 {
			continue // its topic was deleted
		}
		r := &p.replicas[i]
		if r.source != f.leader || p.epoch != part.epoch || r.log.EndOffset() != part.offset {
			continue
		}
		if r.failed = c.follow(p, r, part) != nil; r.failed {
			failed = true
			c.setAside(p, r.broker, part.cause)
		}
	}
	if failed {
		c.disconnect(f) // and try again later, from where the logs end
	}
}

// setAside takes a follower whose disk failed out of the ISR: it will not follow before the disk works again (Kafka: the
// broker tells of an offline log directory, and the controller withdraws its replicas, KIP-858).
func (c *Cluster) setAside(p *partition, broker int32, cause int64) {
	if c.Running(p.leader) && p.inSync(broker) {
		c.setISR(p, without(p.isr, []int32{broker}), cause)
	}
}

// follow does what the answer says with a follower's log. The error is its disk's.
func (c *Cluster) follow(p *partition, r *replica, part answerPart) (err error) {
	switch part.trouble.kind {
	case diverging:
		err = c.cutReplica(p, r, divergence(r, part.trouble), part.cause)
		c.queue(p, r, 0)
		return err
	case outOfRange: // Kafka: fetchOffsetAndTruncate. What is neither behind the leader's end nor before its start restarts too.
		if part.end < part.offset {
			err = c.cutReplica(p, r, part.end, part.cause)
		} else if err = r.log.Restart(part.start); err == nil {
			r.hw = part.start
		}
		c.queue(p, r, 0)
		return err
	}
	before := r.log.EndOffset()
	segments := r.log.Segments()
	_, err = r.log.AppendReplica(part.batches)
	end := r.log.EndOffset()
	r.hw = max(r.hw, min(part.hw, r.log.KeptOffset()))
	r.log.Settle(r.hw)
	if part.start > r.log.StartOffset() {
		c.followStart(r, part.start)
	}
	if end > before {
		seq := int64(0)
		if !c.quiet {
			seq = c.emit(r.broker, "", part.cause, event.ReplicaAdvanced{Topic: p.topic.name, Partition: p.number, EndOffset: end})
		}
		if r.log.KeptOffset() < end {
			r.advanced = seq
			c.waitForDisk(r)
		} else {
			c.queue(p, r, seq)
		}
	}
	if r.log.Segments() > segments && err == nil {
		err = c.retain(p, r, part.start)
	}
	if err != nil && c.cfg.Disk == nil {
		panic(fmt.Sprintf("cluster: follower %d of %s-%d cannot take what leader %d gave it: %v", r.broker, p.topic.name, p.number, p.leader, err))
	}
	return err
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

func (c *Cluster) cutReplica(p *partition, r *replica, to, cause int64) error {
	from := r.log.EndOffset()
	err := r.log.Truncate(to)
	r.hw = min(r.hw, r.log.EndOffset())
	if r.log.EndOffset() < from {
		c.emit(r.broker, "", cause, event.ReplicaTruncated{Topic: p.topic.name, Partition: p.number, From: from, EndOffset: r.log.EndOffset()})
	}
	return err
}
