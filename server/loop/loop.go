package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"grouplab/coordinator"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
)

// ErrStopped is returned to whoever asks a loop that has ended, or that ends before the question is read.
var ErrStopped = errors.New("the server is shutting down")

const (
	// roundsPerTurn bounds how long a turn follows up what its own work made ready.
	roundsPerTurn = 64
	mailboxLimit  = 4096
)

// Receiver gets the reply to a request that was given to Handle, on the loop's goroutine. It must not block and must not
// use the drive; what it wants done next it puts into Soon.
type Receiver interface {
	Reply(nowMs int64, r coordinator.Reply)
}

// Config is what a Loop is made with.
type Config struct {
	Clock Clock
	// Drive and Numbers belong to the loop's goroutine from Run on.
	Drive   *drive.Drive
	Numbers *event.Numbers
	// Taken sees every output of the drive before anything else happens, on the loop's goroutine: outcomes of appends,
	// partitions with more to read, events. nil: nobody looks.
	Taken func(nowMs int64, out drive.Output)
	// TurnBegins runs at the beginning of each turn: what Wake told of is given to the drive here. TurnEnds runs when everything
	// that the turn appended is known: its writing begins here, beside the loop. nil: nothing.
	TurnBegins, TurnEnds func(nowMs int64)
	// Sink gets the events, by Seq, those of a round or of a turn at a time. It runs on the loop's goroutine, must not block, and copies what it keeps:
	// the slice is used again. nil: nobody listens.
	Sink func([]event.Event)
}

// Loop owns a drive. Post, Do and NowMs may be called from any goroutine; everything else only on the loop's own, which
// is where all its callbacks run.
type Loop struct {
	cfg  Config
	mail *mailbox
	bell alarm
	done chan struct{}

	nowMs      int64
	waiting    waiting
	timers     timers
	soon       []func(nowMs int64)
	soonSpare  []func(nowMs int64)
	atTurnEnd  []func(nowMs int64)
	endSpare   []func(nowMs int64)
	told       []event.Event
	events     []event.Event
	deadlineMs int64

	lag atomic.Int64
}

// New returns a loop that does nothing before Run.
func New(cfg Config) *Loop {
	return &Loop{cfg: cfg, mail: newMailbox(mailboxLimit), bell: newAlarm(), done: make(chan struct{}),
		waiting: waiting{more: map[int64]Receiver{}}, nowMs: cfg.Clock.NowMs(), deadlineMs: -1}
}

// NowMs is the present, by the server's only clock.
func (l *Loop) NowMs() int64 { return l.cfg.Clock.NowMs() }

// Post puts work into the mailbox; it runs on the loop's goroutine, soon. Post waits while the mailbox is full, so the
// loop itself must never call it. It reports false once the loop has ended: then the work never runs.
func (l *Loop) Post(work func(nowMs int64)) bool { return l.mail.put(work) }

// Wake begins a turn soon, from any goroutine. It never waits.
func (l *Loop) Wake() { l.mail.wake() }

// Do runs a question or a command on the loop's goroutine and waits for it, or for the end of ctx; then f may run all the
// same, later. What f leaves in the drive is taken as usual.
func (l *Loop) Do(ctx context.Context, f func(nowMs int64, d *drive.Drive)) error {
	ran := make(chan struct{})
	if !l.Post(func(nowMs int64) { f(nowMs, l.cfg.Drive); close(ran) }) {
		return ErrStopped
	}
	select {
	case <-ran:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		select {
		case <-ran:
			return nil
		default:
			return ErrStopped
		}
	}
}

// Run is the loop's life. It returns when ctx ends; work that was posted and not begun by then is dropped.
func (l *Loop) Run(ctx context.Context) {
	defer close(l.done)
	defer l.mail.close()
	defer l.bell.timer.Stop()
	for {
		busy := l.turn()
		if ctx.Err() != nil {
			return
		}
		if busy {
			continue
		}
		next := l.nextMs()
		if next >= 0 && next <= l.nowMs {
			continue // it became due while the turn ran
		}
		l.bell.setTo(next, l.cfg.Clock)
		select {
		case <-ctx.Done():
			return
		case <-l.mail.bell:
		case <-l.bell.timer.C:
			l.bell.atMs = -1
		}
	}
}

// nextMs is the first deadline of the machine and the host, -1 where there is none.
func (l *Loop) nextMs() int64 {
	next := l.timers.nextMs()
	if d := l.deadlineMs; d >= 0 && (next < 0 || d < next) {
		next = d
	}
	return next
}

// Load tells how late the loop came to its last deadline, and how much waits in its mailbox.
func (l *Loop) Load() (lagMs float64, queue int64) {
	return float64(l.lag.Load()), int64(l.mail.len())
}

// turn does what there is to do now. It reports whether there is more already.
func (l *Loop) turn() (busy bool) {
	l.tick()
	if l.cfg.TurnBegins != nil {
		l.cfg.TurnBegins(l.nowMs)
	}
	items := l.mail.take()
	for _, work := range items {
		work(l.nowMs)
	}
	clear(items)
	for round := 0; round < roundsPerTurn; round++ {
		l.take()
		if len(l.soon) == 0 {
			break
		}
		ready := l.soon
		l.soon, l.soonSpare = l.soonSpare[:0], ready
		for _, work := range ready {
			work(l.nowMs)
		}
		clear(ready)
	}
	l.take()
	if l.cfg.TurnEnds != nil {
		l.cfg.TurnEnds(l.nowMs)
	}
	ends := l.atTurnEnd
	l.atTurnEnd, l.endSpare = l.endSpare[:0], ends
	for _, work := range ends {
		work(l.nowMs)
	}
	clear(ends)
	l.flushEvents()
	return len(l.soon) > 0 || len(l.atTurnEnd) > 0
}

// tick reads the clock and runs what is due.
func (l *Loop) tick() {
	now := l.cfg.Clock.NowMs()
	if due := l.nextMs(); due >= 0 && due <= now {
		l.lag.Store(now - due)
	}
	if now < l.nowMs {
		panic(fmt.Sprintf("loop: the clock went back from %d to %d", l.nowMs, now))
	}
	l.nowMs = now
	if l.deadlineMs >= 0 && l.deadlineMs <= now {
		l.cfg.Drive.Advance(now)
		l.take()
	}
	newest := l.timers.last
	for run := l.timers.due(now, newest); run != nil; run = l.timers.due(now, newest) {
		run(now)
	}
}

// take hands the drive's output on. Output is valid only until the drive is used again, and nothing called from here uses
// it: receivers put what they want next into Soon.
func (l *Loop) take() {
	out := l.cfg.Drive.Take()
	l.deadlineMs = out.DeadlineMs
	l.collect(out.Events)
	if l.cfg.Taken != nil {
		l.cfg.Taken(l.nowMs, out)
	}
	for _, r := range out.Replies {
		if to := l.waiting.take(r.Ticket); to != nil {
			to.Reply(l.nowMs, r.Reply)
		}
	}
}

// collect merges the drive's events with those that were told meanwhile, both by Seq. Mostly nothing was, and the sink gets
// the drive's as they are.
func (l *Loop) collect(events []event.Event) {
	told := l.told
	switch {
	case l.cfg.Sink == nil:
	case len(told) == 0 && len(l.events) == 0:
		if len(events) > 0 {
			l.cfg.Sink(events)
		}
	default:
		for len(told) > 0 && len(events) > 0 {
			if told[0].Seq < events[0].Seq {
				l.events, told = append(l.events, told[0]), told[1:]
			} else {
				l.events, events = append(l.events, events[0]), events[1:]
			}
		}
		l.events = append(append(l.events, events...), told...)
	}
	clear(l.told)
	l.told = l.told[:0]
}

func (l *Loop) flushEvents() {
	if len(l.told) > 0 {
		l.collect(nil)
	}
	if len(l.events) == 0 {
		return
	}
	l.cfg.Sink(l.events)
	clear(l.events)
	l.events = l.events[:0]
}

// Drive is the drive, for callbacks on the loop's goroutine.
func (l *Loop) Drive() *drive.Drive { return l.cfg.Drive }

// Soon runs work in the next round of this turn, after the drive's output was taken.
func (l *Loop) Soon(work func(nowMs int64)) { l.soon = append(l.soon, work) }

// AtTurnEnd runs work once, when this turn has no more rounds. Work that it asks for in turn runs in the next turn.
func (l *Loop) AtTurnEnd(work func(nowMs int64)) { l.atTurnEnd = append(l.atTurnEnd, work) }

// At runs work when a deadline has come. A deadline in the past is due in the next turn.
func (l *Loop) At(deadlineMs int64, work func(nowMs int64)) (timer int64) {
	return l.timers.arm(deadlineMs, work)
}

// Cancel forgets a timer; one that ran already, or 0, is nothing to forget.
func (l *Loop) Cancel(timer int64) { l.timers.cancel(timer) }

// Ticket hands out the number of a request.
func (l *Loop) Ticket() int64 { return l.waiting.next() }

// Handle gives a group request to a broker's coordinator. It sets the request's ticket and returns it. The broker must
// run. Broker is told the reply unless Forget comes first.
func (l *Loop) Handle(nowMs int64, broker int32, r coordinator.Request, to Receiver) (ticket int64) {
	r.Ticket = l.Ticket()
	l.waiting.put(r.Ticket, to)
	l.cfg.Drive.HandleSoon(nowMs, broker, r)
	return r.Ticket
}

// Forget drops the receiver of a request: its connection is gone. The machine goes on with the request all the same, as
// Kafka does.
func (l *Loop) Forget(ticket int64) { l.waiting.take(ticket) }

// Tell adds a fact of the host's own to the stream, and returns its Seq.
func (l *Loop) Tell(nowMs int64, broker int32, body event.Body) int64 {
	seq := l.cfg.Numbers.Next()
	l.told = append(l.told, event.Event{Seq: seq, AtMs: nowMs, Broker: broker, Body: body})
	return seq
}
