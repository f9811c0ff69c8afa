package kafka

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPoolWaits: who needs more than there is waits for what others give back, and not longer than it must.
func TestPoolWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, gone := newPool(100), make(chan struct{})
		never := func() { t.Error("somebody who gets on was ended") }
		first, second := p.begin(gone, never), p.begin(gone, never)
		if !first.grow(80) {
			t.Fatal("there was room")
		}
		first.settle()
		got := make(chan time.Duration, 1)
		go func() {
			began := time.Now()
			if !second.grow(30) {
				t.Error("it waited in vain")
			}
			got <- time.Since(began)
		}()
		time.Sleep(5 * time.Second)
		first.give()
		first.give() // once more changes nothing
		if took := <-got; took != 5*time.Second {
			t.Errorf("it waited for %v, not until there was room", took)
		}
		second.give()
		if p.used != 0 || len(p.shares) != 0 {
			t.Errorf("%d bytes and %d shares are left", p.used, len(p.shares))
		}
		alone := p.begin(gone, never)
		if !alone.grow(1000) {
			t.Error("what is allowed by itself is not served, though nobody else holds anything")
		}
		alone.give()
	})
}

// TestPoolEnds: whoever holds memory and stands still is ended when others wait, the largest first; nobody is ended for those who
// are gone.
func TestPoolEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, gone := newPool(100), make(chan struct{})
		var ended []string
		hold := func(name string, bytes int64) *hold {
			var h *hold
			h = p.begin(gone, func() { ended = append(ended, name); h.give() })
			if !h.grow(bytes) {
				t.Fatal(name)
			}
			return h
		}
		hold("small", 20)
		hold("large", 60)
		moving := hold("moving", 20)
		stop := make(chan struct{})
		go func() {
			for tick := time.NewTicker(500 * time.Millisecond); ; {
				select {
				case <-tick.C:
					moving.move()
				case <-stop:
					tick.Stop()
					return
				}
			}
		}()
		began := time.Now()
		wanting := p.begin(gone, func() {})
		if !wanting.grow(50) {
			t.Fatal("it waited in vain")
		}
		if took := time.Since(began); took < stallTime || took > stallTime+2*lookAgain {
			t.Errorf("it waited for %v", took)
		}
		if len(ended) != 1 || ended[0] != "large" {
			t.Errorf("ended: %v", ended)
		}
		close(stop)
		// One whose connection is over does not go on waiting.
		over := make(chan struct{})
		close(over)
		wanting.settle()
		if late := p.begin(over, func() {}); late.grow(1000) {
			t.Error("it got what there is not")
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a connection that is over waited: %v", took)
		}
	})
}

// TestPoolOfWaiters: those who hold memory and all wait for more do not wait for one another for ever.
func TestPoolOfWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, served := newPool(100), make(chan bool)
		for range 4 {
			go func() {
				gone := make(chan struct{})
				var h *hold
				h = p.begin(gone, func() { close(gone); h.give() })
				ok := h.grow(25)
				time.Sleep(time.Millisecond)
				if ok && h.grow(50) {
					h.give()
					served <- true
					return
				}
				h.give()
				served <- false
			}()
		}
		good, began := 0, time.Now()
		for range 4 {
			if <-served {
				good++
			}
		}
		if good < 2 {
			t.Errorf("%d of 4 were served", good)
		}
		if took := time.Since(began); took > slowTime+5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestPoolOfAnswers: answers never wait; beyond the bound reads become small, and whoever takes nothing is ended.
func TestPoolOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(10 << 20)
		ended := 0
		var slow *hold
		slow = &hold{pool: p, end: func() { ended++; slow.give() }}
		fast := &hold{pool: p, end: func() { t.Error("one that takes its answers was ended") }}
		slow.answered(9 << 20)
		if room := p.room(); room != 1<<20 {
			t.Errorf("there is room for %d", room)
		}
		time.Sleep(stallTime + time.Millisecond)
		fast.answered(5 << 20)
		if ended != 1 || p.used != 5<<20 {
			t.Errorf("%d were ended; %d are held", ended, p.used)
		}
		fast.answered(6 << 20)
		if room := p.room(); room != leastFetch {
			t.Errorf("without room %d may be read", room)
		}
		fast.taken(11 << 20)
		fast.taken(1) // of what was given back with the connection
		if p.used != 0 || len(p.shares) != 0 {
			t.Errorf("%d bytes and %d shares are left", p.used, len(p.shares))
		}
	})
}
