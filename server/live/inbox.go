package live

import (
	"fmt"
	"sync"
	"sync/atomic"

	"grouplab/coordinator/event"
)

// inboxEvents is how many events may lie in the inbox before Publish itself moves them on, where it can without
// waiting; at eight times as many it waits its turn, which is as long as one viewer copies one message. inboxBytes is the
// same for what the events hold.
const (
	inboxEvents = 4096
	inboxBytes  = 1 << 20
)

// inbox is where Publish leaves events. It is apart from the ring, which viewers read: the loop that publishes shares
// its lock only with the one viewer that takes everything out, and that is a swap of two slices. A full one becomes a part of the
// ring as it is.
type inbox struct {
	last    atomic.Int64 // Seq of the newest event
	more    atomic.Pointer[chan struct{}]
	waiting atomic.Bool // somebody wants more to be closed

	mu     sync.Mutex
	events []event.Event
	bytes  int   // what they hold
	end    int64 // Seq of the last that was published, kept or not
}

func (in *inbox) init() {
	more := make(chan struct{})
	in.more.Store(&more)
}

// put appends a batch, or what is kept of it, whose last event had the Seq end. It wakes who waits and says how full the inbox is: 1
// stands for inboxEvents, or inboxBytes.
func (in *inbox) put(batch []event.Event, end int64) (full int) {
	last, bytes := in.last.Load(), 0
	for i := range batch {
		if batch[i].Seq <= last || batch[i].Body == nil {
			panic(fmt.Sprintf("live: event %d (%s) published after event %d", batch[i].Seq, batch[i].Text(), last))
		}
		last = batch[i].Seq
		bytes += held(&batch[i])
	}
	in.mu.Lock()
	in.events, in.end = append(in.events, batch...), end
	in.bytes += bytes
	full = max(len(in.events)/inboxEvents, in.bytes/inboxBytes)
	in.mu.Unlock()
	in.last.Store(end)
	if in.waiting.Swap(false) {
		more := make(chan struct{})
		close(*in.more.Swap(&more))
	}
	return full
}

// after returns nil where there is an event after seq, and otherwise a channel that is closed when one may be.
func (in *inbox) after(seq int64) <-chan struct{} {
	more := *in.more.Load()
	in.waiting.Store(true)
	if in.last.Load() > seq { // looked at last: put stores it before it looks at waiting
		return nil
	}
	return more
}

// take empties the inbox, which goes on with the room of another slice. It returns what the events hold, too, and the Seq of the
// last that was published.
func (in *inbox) take(room []event.Event) (events []event.Event, bytes int, end int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	events, bytes = in.events, in.bytes
	in.events, in.bytes = room, 0
	return events, bytes, in.end
}
