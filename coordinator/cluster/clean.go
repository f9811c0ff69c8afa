package cluster

import (
	"math"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// removedShown is how many removed records a LogCompacted tells one by one.
const removedShown = 100

// wantsCleaning has the cleaner look at a partition: one of its replicas began a new segment, or came back.
func (c *Cluster) wantsCleaning(p *partition) {
	p.toClean = true
	c.setCleanTick()
}

// setCleanTick keeps the time of the cleaner's next look: the next beat of log.cleaner.backoff.ms.
func (c *Cluster) setCleanTick() {
	if c.cleanTickMs < 0 {
		every := max(1, c.cfg.CleanerBackoffMs)
		c.cleanTickMs = c.startMs + ((c.nowMs-c.startMs)/every+1)*every
	}
}

// clean compacts what is dirty enough (Kafka: LogCleaner's thread). Each broker compacts its own copy. A partition is
// looked at again where something is still to come without a new segment: the high watermark, the end of a transaction,
// an age.
func (c *Cluster) clean() {
	c.cleanTickMs = -1
	for _, p := range c.partitions {
		if !p.toClean {
			continue
		}
		p.toClean = false
		for i := range p.replicas {
			if r := &p.replicas[i]; c.Running(r.broker) && c.cleanReplica(p, r) {
				p.toClean = true
			}
		}
		if p.toClean {
			c.setCleanTick()
		}
	}
}

// cleanReplica compacts one copy, if it is time, and reports whether it should be looked at again.
func (c *Cluster) cleanReplica(p *partition, r *replica) (again bool) {
	how := log.Compaction{NowMs: c.nowMs, Below: r.log.LastStable(r.hw), MinLagMs: p.topic.minLagMs, DeleteRetentionMs: p.topic.deleteRetentionMs}
	if p.topic.due(c.nowMs, r.log.Dirty(how)) {
		done, err := r.log.Compact(how)
		if err != nil {
			return false // Kafka: the partition is marked as uncleanable
		}
		if done.To > done.From || len(done.Removed) > 0 {
			c.tellCompacted(p, r, done)
		}
	}
	// All closed segments, whatever holds them up now.
	left := r.log.Dirty(log.Compaction{Below: math.MaxInt64})
	return p.topic.due(math.MaxInt64, left)
}

// due tells whether a log is compacted now: enough of it is new, or something waits for longer than
// max.compaction.lag.ms (KIP-354). At the end of time it tells whether it ever will be without a new segment.
func (t *topic) due(nowMs int64, d log.Dirt) bool {
	late := t.maxLagMs < math.MaxInt64 && d.OldestMs >= 0 && d.OldestMs < nowMs-t.maxLagMs
	return d.Bytes > 0 && (late || float64(d.Bytes) > t.minDirtyRatio*float64(d.Total))
}

// tellCompacted says what went; which records, only at the leader, since its followers' are the same.
func (c *Cluster) tellCompacted(p *partition, r *replica, done log.Compacted) {
	if c.quiet {
		return
	}
	said := event.LogCompacted{Topic: p.topic.name, Partition: p.number, From: done.From, To: done.To,
		BytesBefore: done.BytesBefore, BytesAfter: done.BytesAfter, Kept: done.Kept, Count: len(done.Removed)}
	if r.broker == p.leader {
		tellRemoved(&said, p.topic.name == OffsetsTopic, done.Removed)
	}
	c.emit(r.broker, "", 0, said)
}

// tellRemoved names the first of the records that went, and counts the others by their reasons.
func tellRemoved(said *event.LogCompacted, described bool, removed []log.Removed) {
	for i := range removed {
		r := &removed[i]
		if i < removedShown {
			gone := event.RemovedRecord{Offset: r.Record.Offset, Why: r.Why, By: r.By}
			if described {
				gone.Record = r.Described
			}
			said.Removed = append(said.Removed, gone)
			continue
		}
		at := slices.IndexFunc(said.More, func(m event.RemovedMore) bool { return m.Why == r.Why })
		if at < 0 {
			at = len(said.More)
			said.More = append(said.More, event.RemovedMore{Why: r.Why})
		}
		said.More[at].Count++
	}
}
