package timeline

import "fmt"

// A broker stamps what it writes with its own clock, and the looks at it have ours. Both are compared to say when a rebalance began,
// so they have to be the same clock: looks are moved to the broker's.

const (
	// clockAhead and clockBehind are how far a broker's clock is taken to be wrong at least. What comes before it was written is
	// ahead for certain; what comes late may also be on its way.
	clockAheadMs, clockBehindMs = 1_000, 3_000
	// clockReads and clockSpanMs are how many reads over how long have to be late before a clock is called so.
	clockReads, clockSpanMs = 5, 10_000
)

// clock is what is known of a broker's clock beside ours.
type clock struct {
	// skewMs is how far it is ahead of ours, below 0 behind; 0 where it is near enough.
	skewMs int64
	// leastMs is the smallest time from a record's timestamp to its reading among the reads since sinceMs.
	leastMs, sinceMs int64
	reads            int
}

// clocked takes the newest record of a read that was answered now by the leader of a partition.
func (t *Timeline) clocked(p *partition, writtenMs int64) {
	leader := t.offsetsTopic[p.number].Leader
	b := t.brokers[leader]
	if b == nil || writtenMs <= 0 {
		return
	}
	c, late := &b.clock, t.nowMs-writtenMs
	if c.reads == 0 || late < c.leastMs {
		c.leastMs = late
	}
	if c.reads++; c.reads == 1 {
		c.sinceMs = t.nowMs
	}
	over := c.reads >= clockReads && t.nowMs-c.sinceMs >= clockSpanMs
	switch {
	case c.leastMs <= -clockAheadMs && (over || -c.leastMs > c.skewMs):
		t.setClock(leader, c, -c.leastMs)
	case over && c.leastMs >= clockBehindMs:
		t.setClock(leader, c, -c.leastMs)
	case over:
		t.setClock(leader, c, 0)
	}
	if over {
		c.reads = 0
	}
}

// setClock notes how far a broker's clock is off, and tells it where it is another second than before.
func (t *Timeline) setClock(broker int32, c *clock, skewMs int64) {
	if c.skewMs/1000 == skewMs/1000 && (c.skewMs == 0) == (skewMs == 0) {
		return
	}
	c.skewMs = skewMs
	source := "the clock of broker " + itoa(broker)
	switch {
	case skewMs == 0:
		t.sourceBack(SourceBack{Source: source, Broker: broker})
	default:
		words, ms := "ahead of", skewMs
		if skewMs < 0 {
			words, ms = "behind", -skewMs
		}
		t.sourceFailed(SourceFailed{Source: source, Broker: broker, Reason: fmt.Sprintf("it is about %d s %s ours", (ms+500)/1000, words),
			Hides: "nothing; but the times of its groups are by its clock, and deadlines by ours"})
	}
}

// byClockOf is a moment of ours by a broker's clock.
func (t *Timeline) byClockOf(broker int32, ms int64) int64 {
	if b := t.brokers[broker]; b != nil && ms > 0 {
		return ms + b.clock.skewMs
	}
	return ms
}

// nowOf is now by the clock of a group's coordinator.
func (t *Timeline) nowOf(g *group) int64 { return t.byClockOf(t.coordinator(g), t.nowMs) }

// ours is a moment by a broker's clock as ours has it; 0 stays what is not known.
func (t *Timeline) ours(g *group, ms int64) int64 {
	if b := t.brokers[t.coordinator(g)]; b != nil && ms > 0 {
		return ms - b.clock.skewMs
	}
	return ms
}
