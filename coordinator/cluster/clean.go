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

// cleanBytes is how much the cleaner reads before others have their turn, cleanWaitMs when it asks a disk again.
const (
	cleanBytes  = 256 << 10
	cleanWaitMs = 10
)

// cleanJob is a copy of a partition that the cleaner looks at in this round. begun is set once its compaction is under way.
type cleanJob struct {
	index, broker int32
	begun         bool
}

// clean compacts what is dirty enough (Kafka: LogCleaner's thread). Each broker compacts its own copy. A partition is
// looked at again where something is still to come without a new segment: the high watermark, the end of a transaction,
// an age. It does no more than a piece at a time, and goes on in the next millisecond: nobody waits for a large log.
func (c *Cluster) clean() {
	if len(c.cleaning) == 0 {
		c.listDirty()
	}
	c.cleanTickMs = -1
	for left := cleanBytes; len(c.cleaning) > 0; {
		read, waits, over := c.cleanPiece(&c.cleaning[0], left)
		if over {
			c.cleaning = slices.Delete(c.cleaning, 0, 1)
		}
		switch left -= read; {
		case waits:
			c.cleanTickMs = c.nowMs + cleanWaitMs
			return
		case left <= 0 && len(c.cleaning) > 0:
			c.cleanTickMs = c.nowMs + 1
			return
		}
	}
	if slices.ContainsFunc(c.partitions, func(p *partition) bool { return p.toClean }) {
		c.setCleanTick()
	}
}

// listDirty begins a round: with all copies of the partitions that are to be looked at.
func (c *Cluster) listDirty() {
	for _, p := range c.partitions {
		if !p.toClean {
			continue
		}
		p.toClean = false
		for i := range p.replicas {
			c.cleaning = append(c.cleaning, cleanJob{index: p.index, broker: p.replicas[i].broker})
		}
	}
}

// cleanPiece goes on with compacting one copy, if it is time for it. over is set when that is done, or given up.
func (c *Cluster) cleanPiece(job *cleanJob, most int) (read int, waits, over bool) {
	p := c.partitions[job.index]
	at := p.at(job.broker)
	if at < 0 || !c.Running(job.broker) {
		return 0, false, true
	}
	r := &p.replicas[at]
	if !job.begun && !c.beginCleaning(p, r) || !r.log.Compacting() {
		p.toClean = p.toClean || p.topic.willBeDue(r.log)
		return 0, false, true
	}
	job.begun = true
	done, err := r.log.Compact(most)
	if err != nil {
		return done.Read, false, true // Kafka: the partition is marked as uncleanable
	}
	if done.Done {
		c.tellCompacted(p, r, done.Compacted)
		p.toClean = p.toClean || p.topic.willBeDue(r.log)
	}
	return done.Read, done.Waits, done.Done
}

// beginCleaning begins to compact one copy, if it is time for it.
func (c *Cluster) beginCleaning(p *partition, r *replica) bool {
	how := log.Compaction{NowMs: c.nowMs, Below: r.log.LastStable(r.hw), MinLagMs: p.topic.minLagMs, DeleteRetentionMs: p.topic.deleteRetentionMs}
	if !p.topic.due(c.nowMs, r.log.Dirty(how)) {
		return false
	}
	if r.broker == p.leader && !c.quiet { // its followers' are the same
		how.Tell = removedShown
	}
	r.log.BeginCompaction(how)
	return true
}

// willBeDue tells whether there will be something to compact without a new segment, whatever holds it up now.
func (t *topic) willBeDue(l *log.Log) bool {
	return t.due(math.MaxInt64, l.Dirty(log.Compaction{Below: math.MaxInt64}))
}

// due tells whether a log is compacted now: enough of it is new, or something waits for longer than
// max.compaction.lag.ms (KIP-354). At the end of time it tells whether it ever will be without a new segment.
func (t *topic) due(nowMs int64, d log.Dirt) bool {
	late := t.maxLagMs < math.MaxInt64 && d.OldestMs >= 0 && d.OldestMs < nowMs-t.maxLagMs
	return d.Bytes > 0 && (late || float64(d.Bytes) > t.minDirtyRatio*float64(d.Total))
}

// tellCompacted says what went, where something did; which records, only at the leader.
func (c *Cluster) tellCompacted(p *partition, r *replica, done log.Compacted) {
	if c.quiet || done.To == done.From && done.Count == 0 {
		return
	}
	said := event.LogCompacted{Topic: p.topic.name, Partition: p.number, From: done.From, To: done.To,
		BytesBefore: done.BytesBefore, BytesAfter: done.BytesAfter, Kept: done.Kept, Count: done.Count}
	for _, gone := range done.Removed {
		removed := event.RemovedRecord{Offset: gone.Record.Offset, Why: gone.Why, By: gone.By}
		if p.topic.name == OffsetsTopic {
			removed.Record = gone.Described
		}
		said.Removed = append(said.Removed, removed)
	}
	if len(said.Removed) > 0 {
		said.More = done.More
	}
	c.emit(r.broker, "", 0, said)
}
