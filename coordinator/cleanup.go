package coordinator

import (
	"math"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// armCleanup sees to it that the clean-up job runs when there is something to look at. It runs at multiples of
// offsets.retention.check.interval.ms after the machine's start, as if it always ran; a machine without groups is not
// woken for it.
func (c *Coordinator) armCleanup() {
	every := c.cfg.Settings.OffsetsRetentionCheckIntervalMs
	if c.cleanup != purgatory.None || every < 1 {
		return
	}
	waitMs := every - (c.nowMs-c.startMs)%every
	c.cleanup = c.wheel.Arm(ownerCleanup, 0, c.nowMs+min(waitMs, math.MaxInt64-c.nowMs))
}

// retention is how long offsets are kept where no commit says otherwise, and when the clean-up job looks next, 0 where it
// never does.
func (c *Coordinator) retention() (retentionMs, cleanupMs int64) {
	every := c.cfg.Settings.OffsetsRetentionCheckIntervalMs
	if every >= 1 {
		cleanupMs = c.nowMs + every - (c.nowMs-c.startMs)%every
	}
	return int64(c.cfg.Settings.OffsetsRetentionMinutes) * 60000, cleanupMs
}

func (c *Coordinator) disarmCleanup() {
	if c.cleanup != purgatory.None {
		c.wheel.Cancel(c.cleanup)
		c.cleanup = purgatory.None
	}
}

// cleanUp removes expired offsets, and groups that have neither members nor offsets left (Kafka: cleanupGroupMetadata).
func (c *Coordinator) cleanUp() {
	c.cleanup = purgatory.None
	c.cause = 0
	retentionMs, nextMs := c.retention()
	c.cause = c.emit("", event.CleanupRan{Groups: len(c.groups), RetentionMs: retentionMs, NextMs: nextMs})
	for _, g := range c.sortedGroups() {
		if base := g.expiryBase(); base != nil {
			c.appendTombstones(g, c.removeOffsets(g, event.WhyOffsetsExpired, func(topic string, p *partitionOffset) bool {
				return c.isExpired(g, topic, p, base)
			}), 0, 0)
		}
		if g.state == event.Empty && !g.hasOffsets() {
			c.deleteGroup(g, event.WhyNothingLeft, 0, 0)
		}
	}
	if len(c.groups) > 0 {
		c.armCleanup()
	}
}

// expiryBase gives the moment from which an offset's retention counts (KIP-211), nil where nothing of the group expires:
// while it rebalances, or where nobody knows what its members read.
func (g *group) expiryBase() func(v *offsetValue) int64 {
	committed := func(v *offsetValue) int64 { return v.commitMs }
	switch {
	case g.protocolType == "": // offsets of a consumer that assigns its partitions itself
		return committed
	case g.state == event.Empty && g.stateMs == unknownMs: // an old record did not say since when
		return committed
	case g.state == event.Empty:
		return func(*offsetValue) int64 { return g.stateMs }
	case g.state == event.Stable && g.protocolType == consumerProtocol && g.subscribedKnown:
		return committed
	}
	return nil
}

// isExpired tells whether a committed offset is to go: not while a newer one is being written or is part of a
// transaction, and not while the group reads the topic.
func (c *Coordinator) isExpired(g *group, topic string, p *partitionOffset, base func(v *offsetValue) int64) bool {
	if !p.committed() || p.pending != nil || g.state != event.Empty && slices.Contains(g.subscribed, topic) {
		return false
	}
	for _, t := range g.txns {
		if o := t.find(topic, p.partition); o != nil && o.holds() {
			return false
		}
	}
	value := p.value()
	return value.expired(c.nowMs, base(&value), int64(c.cfg.Settings.OffsetsRetentionMinutes)*60000)
}

// expired tells whether the retention is over: the one that the commit asked for, or else the broker's, from base on.
func (v *offsetValue) expired(nowMs, baseMs, retentionMs int64) bool {
	if v.expireMs >= 0 {
		return nowMs >= v.expireMs
	}
	return nowMs-baseMs >= retentionMs
}
