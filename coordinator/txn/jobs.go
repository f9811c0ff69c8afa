package txn

import (
	"maps"
	"math"
	"slices"

	"grouplab/coordinator/event"
)

// farMs is further off than anything that happens: 35 000 years. A damaged record may name any time.
const farMs = 1 << 50

// later is a time and a duration after it, at the end of time where it is beyond.
func later(ms, byMs int64) int64 {
	sum := ms + byMs
	switch {
	case byMs > 0 && sum < ms:
		return math.MaxInt64
	case byMs < 0 && sum > ms:
		return math.MinInt64
	}
	return sum
}

// beat is the first turn of a job that runs every interval since the start, at or after a time.
func (c *Coordinator) beat(atMs, interval int64) int64 {
	interval = max(1, interval)
	atMs = min(atMs, c.nowMs+farMs)
	return c.startMs + max(1, (max(atMs, c.nowMs+1)-c.startMs+interval-1)/interval)*interval
}

// setJobs finds the next turns at which the two jobs have something to do. Between them nothing wakes the host.
func (c *Coordinator) setJobs() {
	c.abortMs, c.expireMs = -1, -1
	sooner := func(next *int64, atMs, interval int64) {
		if turn := c.beat(atMs, interval); *next < 0 || turn < *next {
			*next = turn
		}
	}
	s := c.cfg.Settings
	for _, t := range c.txns {
		switch {
		case t.pending != nil:
		case t.state == event.TxnOngoing:
			sooner(&c.abortMs, t.timedOutMs(), s.AbortTimedOutIntervalMs)
		case expirable(t.state):
			sooner(&c.expireMs, later(t.updateMs, s.TransactionalIDExpirationMs), s.RemoveExpiredIntervalMs)
		}
	}
}

// timedOutMs is the first moment at which an open transaction is over its time.
func (t *transaction) timedOutMs() int64 { return later(t.startMs, int64(t.timeoutMs)+1) }

// deadline is when something happens by itself.
func (c *Coordinator) deadline() int64 {
	next := int64(-1)
	sooner := func(ms int64) {
		if ms >= 0 && (next < 0 || ms < next) {
			next = ms
		}
	}
	sooner(c.abortMs)
	sooner(c.expireMs)
	for _, m := range c.markers {
		sooner(m.retryMs)
	}
	for _, r := range c.retries {
		sooner(r.atMs)
	}
	return next
}

// runJobs does what is due.
func (c *Coordinator) runJobs() {
	for _, ticket := range slices.Sorted(maps.Keys(c.markers)) {
		if m := c.markers[ticket]; m.retryMs >= 0 && m.retryMs <= c.nowMs {
			c.sendMarker(ticket, m)
		}
	}
	var due []retry
	c.retries = slices.DeleteFunc(c.retries, func(r retry) bool {
		if r.atMs <= c.nowMs {
			due = append(due, r)
		}
		return r.atMs <= c.nowMs
	})
	for _, r := range due {
		c.cause = r.cause
		c.complete(c.txns[r.id])
	}
	c.cause = 0
	abort, expire := c.abortMs >= 0 && c.abortMs <= c.nowMs, c.expireMs >= 0 && c.expireMs <= c.nowMs
	if abort {
		c.abortTimedOut()
	}
	if expire {
		c.removeExpired()
	}
	if abort || expire {
		c.setJobs()
	}
}

// abortTimedOut ends transactions that are open for too long, under a new epoch (abortTimedOutTransactions).
func (c *Coordinator) abortTimedOut() {
	for _, id := range c.sorted() {
		t := c.txns[id]
		if t.state != event.TxnOngoing || t.pending != nil || t.timedOutMs() > c.nowMs {
			continue
		}
		c.cause = 0
		if c.fence(t, "the transaction is open for longer than its timeout") {
			c.prepareEnd(t, false, inflight{what: abortsTimedOut})
		}
	}
	c.cause = 0
}

// removeExpired forgets ids that nobody has used for long, with a tombstone each.
func (c *Coordinator) removeExpired() {
	for _, id := range c.sorted() {
		t := c.txns[id]
		if expirable(t.state) && t.pending == nil && later(t.updateMs, c.cfg.Settings.TransactionalIDExpirationMs) <= c.nowMs {
			dead := t.metadata
			dead.state, dead.partitions = event.TxnDead, nil
			c.store(t, dead, inflight{what: removesID})
		}
	}
}
