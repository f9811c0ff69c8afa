package cluster

import (
	"slices"

	"grouplab/coordinator/event"
)

// stillCaughtUp notes, before the leader's log grows beyond end, which followers had everything until now. Kafka learns
// this from their empty fetches every half second; the parked fetch stands for them here.
func (c *Cluster) stillCaughtUp(p *partition, end int64) {
	for i := range p.remotes {
		r := &p.remotes[i]
		if r.end != end || p.replicas[i].broker == p.leader {
			continue
		}
		f := c.fetcher(p.replicas[i].broker, p.leader)
		heard := f.heardMs
		if f.parked {
			heard = c.nowMs
		}
		r.caughtUpMs, r.fetchedMs, r.leaderEnd = max(r.caughtUpMs, heard), max(r.fetchedMs, heard), end
	}
}

// caughtUp is Kafka's ReplicaState.isCaughtUp: at the leader's end, or there not longer ago than the lag allows.
func (c *Cluster) caughtUp(p *partition, r *remote) bool {
	return r.end >= p.local().log.KeptOffset() || c.nowMs-r.caughtUpMs <= c.cfg.ReplicaLagTimeMaxMs
}

// advanceWatermark moves the high watermark to the smallest end among the in-sync replicas and those about to join
// them, unless there are fewer than min.insync.replicas (Kafka: Partition.maybeIncrementLeaderHW, KAFKA-15583).
func (c *Cluster) advanceWatermark(p *partition, cause int64) {
	if len(p.isr) < p.minInsync() {
		return
	}
	local := p.local()
	hw := local.log.KeptOffset()
	for i := range p.remotes {
		r, broker := &p.remotes[i], p.replicas[i].broker
		if broker == p.leader || r.end >= hw {
			continue
		}
		if p.inSync(broker) || (r.end >= 0 && c.eligible(broker) && !p.replicas[i].failed && c.caughtUp(p, r)) {
			hw = r.end
		}
	}
	if hw <= local.hw {
		return
	}
	local.hw = hw
	if hw > p.shownHW {
		p.shownHW = hw
		if !c.quiet {
			c.emit(p.leader, "", cause, event.HighWatermarkAdvanced{Topic: p.topic.name, Partition: p.number, Offset: hw, EndOffset: local.log.EndOffset()})
		}
	}
	c.out.Watermarks = append(c.out.Watermarks, Watermark{p.leader, p.topic.name, p.number, hw})
	c.newsForFollowers(p)
	c.release(p)
}

// eligible tells whether a broker may join an ISR: the controller takes it for alive.
func (c *Cluster) eligible(broker int32) bool { return c.broker(broker).listed() }

// maybeExpand takes a follower into the ISR once it has everything below the high watermark and everything from before
// this epoch (Kafka: Partition.isFollowerInSync).
func (c *Cluster) maybeExpand(p *partition, follower int32, cause int64) {
	r := &p.remotes[p.at(follower)]
	if p.inSync(follower) || !c.eligible(follower) || r.end < p.local().hw || r.end < p.epochStart {
		return
	}
	isr := make([]int32, 0, len(p.isr)+1)
	for i := range p.replicas {
		if id := p.replicas[i].broker; id == follower || p.inSync(id) {
			isr = append(isr, id)
		}
	}
	c.setISR(p, isr, cause)
}

// shrinkLagging takes followers that have been behind for too long out of the ISR (Kafka: maybeShrinkIsr, run every half
// replica.lag.time.max.ms).
func (c *Cluster) shrinkLagging() {
	for _, p := range c.partitions {
		if !p.behind {
			continue
		}
		isr := slices.DeleteFunc(slices.Clone(p.isr), func(id int32) bool {
			return id != p.leader && !c.caughtUp(p, &p.remotes[p.at(id)])
		})
		if len(isr) < len(p.isr) {
			c.setISR(p, isr, 0)
		}
	}
	c.lagTickMs = -1
	c.setLagTick()
}

// setISR is the controller's answer to the leader's AlterPartition (KIP-497): leader and epoch stay.
func (c *Cluster) setISR(p *partition, isr []int32, cause int64) {
	p.isr = isr
	seq := c.emit(0, "", cause, p.changed())
	c.noteBehind(p)
	c.advanceWatermark(p, seq)
	if p.reassigning() {
		c.completing = append(c.completing, p.index)
	}
}

// noteBehind keeps count of the partitions in which an in-sync follower is not at the leader's end.
func (c *Cluster) noteBehind(p *partition) {
	behind := false
	if c.Running(p.leader) {
		end := p.local().log.KeptOffset()
		for i := range p.remotes {
			id := p.replicas[i].broker
			behind = behind || (id != p.leader && p.remotes[i].end < end && p.inSync(id))
		}
	}
	if behind != p.behind {
		p.behind = behind
		if behind {
			c.behind++
		} else {
			c.behind--
		}
	}
	c.setLagTick()
}

// setLagTick keeps the time of the next look at lagging followers: the beat of the check, but only while there are any.
func (c *Cluster) setLagTick() {
	if c.behind == 0 {
		c.lagTickMs = -1
	} else if c.lagTickMs < 0 {
		every := max(1, c.cfg.ReplicaLagTimeMaxMs/2)
		c.lagTickMs = c.startMs + ((c.nowMs-c.startMs)/every+1)*every
	}
}
