package loop

import "sync"

// mailbox is a bounded queue of work from any goroutine to the loop. The loop takes all of it at once, so that a busy
// server pays for one hand-over per batch and not per request.
type mailbox struct {
	mu     sync.Mutex
	space  sync.Cond
	items  []func(nowMs int64)
	spare  []func(nowMs int64)
	limit  int
	closed bool
	// bell has room for one ring: the loop waits on it.
	bell chan struct{}
}

func newMailbox(limit int) *mailbox {
	m := &mailbox{limit: limit, bell: make(chan struct{}, 1)}
	m.space.L = &m.mu
	return m
}

// put waits while the mailbox is full. It reports false, and drops the item, once the mailbox is closed.
func (m *mailbox) put(item func(nowMs int64)) bool {
	m.mu.Lock()
	for len(m.items) >= m.limit && !m.closed {
		m.space.Wait()
	}
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.items = append(m.items, item)
	first := len(m.items) == 1
	m.mu.Unlock()
	if first {
		m.wake()
	}
	return true
}

// wake rings the bell, whatever is in the mailbox.
func (m *mailbox) wake() {
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// take returns everything that has been put. The slice is valid until the next take but one.
func (m *mailbox) take() []func(nowMs int64) {
	m.mu.Lock()
	items := m.items
	if len(items) > 0 {
		m.items, m.spare = m.spare[:0], items
		m.space.Broadcast()
	}
	m.mu.Unlock()
	return items
}

func (m *mailbox) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.items)
}

// close lets nothing more in, wakes whoever waits, and returns what was never run.
func (m *mailbox) close() []func(nowMs int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.space.Broadcast()
	return m.items
}
