package kafka

import (
	"sync"
	"time"
)

// pool bounds the memory that all connections together hold for large requests (queued.max.request.bytes) or for large
// answers. Who needs more waits until there is room. Kafka waits for ever, so that a few clients which send half a request
// and no more keep all others from being served; here whoever holds memory and does not get on loses his connection to
// those who wait.
type pool struct {
	mu      sync.Mutex
	changed chan struct{} // closed when room was given back
	limit   int64         // below 0: there is none
	used    int64
	// shares are those that somebody may have to be ended for.
	shares map[*hold]struct{}
}

// hold is what one request, or one answer, has of a pool.
type hold struct {
	pool  *pool
	bytes int64
	// begun is when it began, moved when it last got on; waiting is set while it waits for room itself.
	begun, moved time.Time
	waiting      bool
	end          func()
	// gone is closed when nobody wants it any more.
	gone <-chan struct{}
}

const (
	// While others wait for its memory a hold may stand still for stallTime, wait itself for waitTime, and last for slowTime.
	stallTime = time.Second
	waitTime  = 3 * time.Second
	slowTime  = 10 * time.Second
	// lookAgain is how often those who wait look for somebody who does not get on; roomTimeout is how long they wait.
	lookAgain   = 200 * time.Millisecond
	roomTimeout = 30 * time.Second
)

func newPool(limit int64) *pool {
	return &pool{limit: limit, changed: make(chan struct{}), shares: map[*hold]struct{}{}}
}

// begin makes an empty hold. end is called, from another goroutine, if it has to give way.
func (p *pool) begin(gone <-chan struct{}, end func()) *hold {
	now := time.Now()
	h := &hold{pool: p, begun: now, moved: now, end: end, gone: gone}
	p.mu.Lock()
	p.shares[h] = struct{}{}
	p.mu.Unlock()
	return h
}

// grow takes more, and waits for it where there is no room. A hold that has nothing may take more than there is at all, alone:
// what is allowed one by one is served. It reports false when it waited in vain, or until gone.
func (h *hold) grow(more int64) bool {
	p := h.pool
	until := time.Now().Add(roomTimeout)
	for {
		p.mu.Lock()
		now := time.Now()
		if p.limit < 0 || p.used+more <= p.limit || p.used == h.bytes {
			h.bytes, h.moved, h.waiting = h.bytes+more, now, false
			p.used += more
			p.mu.Unlock()
			return true
		}
		h.waiting = true
		slow, changed := p.slowest(now, h), p.changed
		p.mu.Unlock()
		if slow != nil {
			slow.end()
		}
		if now.After(until) {
			return false
		}
		again := time.NewTimer(lookAgain)
		select {
		case <-h.gone:
			again.Stop()
			return false
		case <-changed:
			again.Stop()
		case <-again.C:
		}
	}
}

// slowest finds the largest hold that stands still, or lasts too long, besides one.
func (p *pool) slowest(now time.Time, besides *hold) (found *hold) {
	for h := range p.shares {
		still := stallTime
		if h.waiting {
			still = waitTime
		}
		stalls := now.Sub(h.moved) > still || now.Sub(h.begun) > slowTime
		if h != besides && h.bytes > 0 && stalls && (found == nil || h.bytes > found.bytes) {
			found = h
		}
	}
	return found
}

// move notes that the hold gets on: bytes came, or were taken.
func (h *hold) move() {
	h.pool.mu.Lock()
	h.moved = time.Now()
	h.pool.mu.Unlock()
}

// settle keeps the bytes and says that nothing depends on the client any more: nobody is ended for them.
func (h *hold) settle() {
	h.pool.mu.Lock()
	delete(h.pool.shares, h)
	h.pool.mu.Unlock()
}

// give gives everything back. It may be called again.
func (h *hold) give() {
	if h == nil {
		return
	}
	p := h.pool
	p.mu.Lock()
	delete(p.shares, h)
	if h.bytes > 0 {
		p.used -= h.bytes
		h.bytes = 0
		close(p.changed)
		p.changed = make(chan struct{})
	}
	p.mu.Unlock()
}

// maxAnswerBytes bounds the answers of all connections that wait for their clients to take them. Beyond it fetches read no
// more than leastFetch at once, and who takes nothing of an answer loses his connection.
const (
	maxAnswerBytes = 256 << 20
	leastFetch     = 64 << 10
)

// room is how much may be read for one more answer.
func (p *pool) room() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit < 0 {
		return 1<<31 - 1
	}
	return int(max(leastFetch, min(p.limit-p.used, 1<<31-1)))
}

// answered adds an answer that waits for its client. It never waits; where it is too much, somebody who takes nothing is ended.
func (h *hold) answered(bytes int64) {
	p, now := h.pool, time.Now()
	p.mu.Lock()
	if h.bytes == 0 {
		h.begun, h.moved = now, now
		p.shares[h] = struct{}{}
	}
	h.bytes += bytes
	p.used += bytes
	var slow *hold
	if p.limit >= 0 && p.used > p.limit {
		slow = p.slowest(now, nil)
	}
	p.mu.Unlock()
	if slow != nil {
		slow.end()
	}
}

// taken gives back answers that were written.
func (h *hold) taken(bytes int64) {
	p := h.pool
	p.mu.Lock()
	bytes = min(bytes, h.bytes) // the connection may have ended meanwhile
	h.bytes -= bytes
	p.used -= bytes
	h.begun = time.Now()
	if h.bytes == 0 {
		delete(p.shares, h)
	}
	p.mu.Unlock()
}
