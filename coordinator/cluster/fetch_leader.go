package cluster

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
	case part.offset >= l.KeptOffset():
		r.caughtUpMs = max(r.caughtUpMs, c.nowMs)
	case part.offset >= r.leaderEnd:
		r.caughtUpMs = max(r.caughtUpMs, r.fetchedMs)
	}
	r.end, r.fetchedMs, r.leaderEnd = part.offset, c.nowMs, max(r.leaderEnd, l.KeptOffset())
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
		f.hasRecords = f.hasRecords || p.local().log.KeptOffset() > r.end
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
		now := local.log.KeptOffset() > r.end || r.trouble.kind != fine
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
	batches, err := local.log.Read(r.end, local.log.KeptOffset(), c.cfg.ReplicaFetchMaxBytes, true)
	if err == nil { // a failed read gives nothing: the follower falls behind and out of the ISR
		part.batches = batches
	}
	return part
}
