package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// Kept tells that the disk has kept what a replica appended, or could not (log.Beside): acknowledgements, followers and the
// high watermark have waited for it. What could not be kept is taken back, and whoever waits for it is told
// KAFKA_STORAGE_ERROR.
func (c *Cluster) Kept(nowMs int64, at log.Replica) {
	c.at(nowMs)
	p := c.find(at.Topic, at.Partition)
	if p == nil || p.topic.id != at.TopicID || p.at(at.Broker) < 0 {
		return // it was deleted meanwhile
	}
	r := &p.replicas[p.at(at.Broker)]
	from := r.log.EndOffset()
	failed := r.log.Keep()
	if end := r.log.EndOffset(); end < from {
		r.hw = min(r.hw, end)
		c.emit(r.broker, "", 0, event.ReplicaTruncated{Topic: p.topic.name, Partition: p.number, From: from, EndOffset: end})
	}
	switch {
	case !c.Running(r.broker):
	case p.leader == r.broker:
		c.leaderKept(p, r, failed)
	case r.source != 0:
		c.followerKept(p, r, failed)
	}
}

// leaderKept answers who waits for the leader's disk, and has the followers fetch what is there now.
func (c *Cluster) leaderKept(p *partition, r *replica, failed error) {
	if failed != nil {
		c.refuseWaiting(p, r.log.EndOffset(), failed)
	}
	if r.log.EndOffset() < p.epochStart { // what the coordinator was loaded from is gone
		c.resign(p)
		c.lead(p, r.broker, p.isr, 0)
		return
	}
	c.releaseOwn(p, r.log.KeptOffset())
	c.newsForFollowers(p)
	c.noteBehind(p)
	c.advanceWatermark(p, p.lastAppend)
}

// releaseOwn answers the appends that wait for the leader's disk alone.
func (c *Cluster) releaseOwn(p *partition, kept int64) {
	mine := func(w waiter) bool { return w.own && w.end <= kept && w.heldUntilMs <= c.nowMs }
	if !slices.ContainsFunc(p.waiters, mine) {
		return
	}
	p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool {
		if !mine(w) {
			return false
		}
		c.finish(w.result)
		return true
	})
	c.removeWaiters(p, 0)
}

// refuseWaiting answers the appends that reach behind the log's end.
func (c *Cluster) refuseWaiting(p *partition, end int64, failed error) {
	p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool {
		if w.end <= end {
			return false
		}
		w.result.Code, w.result.Message, w.result.BaseOffset = codeStorageError, fmt.Sprint(failed), -1
		c.finish(w.result)
		return true
	})
	c.removeWaiters(p, 0)
}

// followerKept has a follower tell its leader what it has, or sets it aside.
func (c *Cluster) followerKept(p *partition, r *replica, failed error) {
	f, waited := c.fetcher(r.broker, r.source), r.unkept
	if waited && r.log.KeptOffset() == r.log.EndOffset() {
		r.unkept = false
		f.unkept--
	}
	switch {
	case failed != nil:
		r.failed = true
		c.setAside(p, r.broker, 0)
		c.disconnect(f) // and try again later, from where the logs end
	case waited && !r.unkept:
		c.queue(p, r, r.advanced)
	}
}

// awaitDisk reports whether the fetcher's next request must wait for a disk, and notes for which.
func (c *Cluster) awaitDisk(f *fetcher) bool {
	look := func(p *partition) {
		if i := p.at(f.follower); i >= 0 && p.replicas[i].source == f.leader && p.replicas[i].log.KeptOffset() < p.replicas[i].log.EndOffset() {
			c.waitForDisk(&p.replicas[i])
		}
	}
	if f.full {
		for _, p := range c.partitions {
			look(p)
		}
	}
	for _, index := range f.queue {
		look(c.partitions[index])
	}
	return f.unkept > 0
}

// waitForDisk has a follower's fetcher wait until the disk has kept what it got.
func (c *Cluster) waitForDisk(r *replica) {
	if !r.unkept {
		r.unkept = true
		c.fetcher(r.broker, r.source).unkept++
	}
}
