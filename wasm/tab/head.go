package tab

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
)

const (
	// saveEvery is how many events lie between two saves, or two pictures, at least. In a long history they are further
	// apart, since copying a crowd costs as much as running it for a while: a savePart of all that has happened, and a
	// picturePart, which stepping back applies again.
	saveEvery   = 400
	savePart    = 20
	picturePart = 64
	// maxSaves bounds the saves; beyond it every second of the older ones goes.
	maxSaves = 48
	// maxEvents are kept; a rewind beyond them runs the lesson again from its start.
	maxEvents = 100_000
)

// head is the run of a lesson: what was done, what happened, and the engine at its end.
type head struct {
	lesson *lessons.Lesson
	engine *script.Engine
	player *lessons.Player
	// inputs are all that was done, oldest first. The first `applied` have been done; others are pending while a link or
	// an undo is followed, or after a rewind beyond what is kept.
	inputs  []input
	applied int

	// events are the newest, without holes. hashes[i] covers everything from the beginning up to events[i]; it is as long
	// as somebody has asked for. before covers what is no longer kept.
	events  []event.Event
	hashes  []uint64
	before  uint64
	lastSeq int64
	beats   []beat
	saves   []save
	// startSeq and startMs are where the lesson begins: after its set-up.
	startSeq, startMs int64
	// most is how many events are kept.
	most int
}

// beat is how the lesson stood from a moment on: it changed at the event seq, at atMs, after `applied` inputs. Where an
// input led to it, what the input brought came after the event from; otherwise from is seq.
type beat struct {
	from, seq int64
	atMs      int64
	applied   int
	player    *lessons.Player
	goals     []lessons.GoalClause
	met       bool
}

// save is a place to go on from. hash is set once its event is no longer kept.
type save struct {
	seq, nowMs int64
	hash       uint64
	applied    int
	beats      int
	engine     *script.Engine
	player     *lessons.Player
}

// newHead runs a lesson's set-up.
func newHead(l *lessons.Lesson) (*head, error) {
	e, err := l.Open()
	if err != nil {
		return nil, err
	}
	h := &head{lesson: l, engine: e, player: lessons.NewPlayer(l), most: maxEvents}
	if err := h.keep(e.Take()); err != nil {
		return nil, err
	}
	h.startSeq, h.startMs = h.seq(), e.NowMs()
	h.player.Observe(e)
	h.beat(h.seq())
	h.save()
	return h, nil
}

// seq is the last event that happened, 0 before the first.
func (h *head) seq() int64 { return h.lastSeq }

// first is the oldest event that is kept; seq()+1 where none is.
func (h *head) first() int64 { return h.lastSeq - int64(len(h.events)) + 1 }

// at returns the event of that number, which must be kept.
func (h *head) at(seq int64) *event.Event { return &h.events[seq-h.first()] }

// hash covers all events up to seq; 0 where seq is not kept.
func (h *head) hash(seq int64) uint64 {
	i := seq - h.first()
	if i == -1 {
		return h.before
	}
	if i < 0 || i >= int64(len(h.events)) {
		return 0
	}
	for n := len(h.hashes); n <= int(i); n++ {
		last := h.before
		if n > 0 {
			last = h.hashes[n-1]
		}
		h.hashes = append(h.hashes, chain(last, h.events[n]))
	}
	return h.hashes[i]
}

func (h *head) nowMs() int64 { return h.engine.NowMs() }

// keep takes over what happened.
func (h *head) keep(happened []event.Event) error {
	for _, e := range happened {
		if e.Seq != h.lastSeq+1 {
			return fmt.Errorf("event %d follows event %d: the world lost facts", e.Seq, h.lastSeq)
		}
		h.lastSeq = e.Seq
		if len(h.events) == cap(h.events) { // append alone would copy a long history five times while it grows
			h.events = slices.Grow(h.events, max(len(h.events), saveEvery))
		}
		h.events = append(h.events, e)
	}
	return nil
}

// chain adds an event to a hash: when, where, why and what it was. The printed line is added too, but not of what comes
// with every heartbeat and commit: that is most of a long run, and printing it would cost more than it took to happen.
func chain(hash uint64, e event.Event) uint64 {
	for _, n := range [...]int64{e.Seq, e.AtMs, int64(e.Broker), e.Cause} {
		hash = (hash ^ uint64(n)) * fnvPrime
		hash ^= hash >> 29
	}
	hash = chainText(hash, e.Group)
	hash = chainText(hash, e.Body.Kind())
	if !routine(e.Body) {
		hash = chainText(hash, e.String())
	}
	return hash
}

// fnvPrime is FNV-1a's for 64 bits.
const fnvPrime = 0x100000001b3

func chainText(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * fnvPrime
	}
	return (hash ^ uint64(len(text))) * fnvPrime
}

// routine is what heartbeats and commits bring.
func routine(b event.Body) bool {
	switch b.(type) {
	case event.HeartbeatReceived, event.OperationWatched, event.OperationCompleted, event.TimerCascaded, event.RequestSent,
		event.RequestReceived, event.ReplyParked, event.ReplySent, event.ReplyOnWire, event.ReplyReceived,
		event.OffsetsPending, event.OffsetsCommitted, event.AppendStarted, event.AppendFinished, event.RecordsAppended:
		return true
	}
	return false
}

// end says why a run stopped.
type end int

const (
	endTime   end = iota // the limit was reached
	endGate              // the lesson waits for the learner
	endBudget            // enough happened for one call
	endQuiet             // nothing will happen any more, and no input is pending
)

// run moves the head, at most to limitMs and until about budget events have happened. Pending inputs are done when
// their time has come.
func (h *head) run(limitMs int64, budget int) (end, error) {
	for {
		limit, pending := limitMs, h.applied < len(h.inputs)
		if pending {
			in := h.inputs[h.applied]
			if in.atMs <= h.nowMs() {
				if err := h.apply(in); err != nil {
					return endGate, err
				}
				continue
			}
			limit = min(limit, in.atMs)
		}
		if !h.player.MayRun() {
			return endGate, nil
		}
		if !pending && h.engine.NextMs() < 0 && limitMs == forever {
			return endQuiet, nil
		}
		before := h.seq()
		if h.engine.Step(limit) {
			if err := h.moment(); err != nil {
				return endGate, err
			}
		} else if limit == limitMs && (!pending || h.inputs[h.applied].atMs > h.nowMs()) {
			return endTime, nil
		}
		if budget -= int(h.seq() - before); budget <= 0 {
			return endBudget, nil
		}
	}
}

// forever is a limit that is never reached.
const forever = int64(1) << 62

// moment takes over what one moment of the engine brought.
func (h *head) moment() error {
	if err := h.keep(h.engine.Take()); err != nil {
		return err
	}
	if h.player.Observe(h.engine) || h.goalsChanged() {
		h.beat(h.seq())
	}
	if h.seq() >= h.saves[len(h.saves)-1].seq+max(saveEvery, h.seq()/savePart) {
		h.save()
		h.forget()
	}
	return nil
}

// drain lets everything happen that is due now.
func (h *head) drain() error {
	for next := h.engine.NextMs(); next >= 0 && next <= h.nowMs(); next = h.engine.NextMs() {
		if !h.engine.Step(h.nowMs()) {
			break
		}
		if err := h.moment(); err != nil {
			return err
		}
	}
	return nil
}

// apply does the next pending input.
func (h *head) apply(in input) error {
	if err := h.drain(); err != nil {
		return err
	}
	from := h.seq()
	if err := perform(in, h.engine, h.player); err != nil {
		return err
	}
	h.applied++
	if err := h.keep(h.engine.Take()); err != nil {
		return err
	}
	h.player.Observe(h.engine)
	h.beat(from)
	return nil
}

// act does something new at the head's end. Pending inputs are dropped. On an error nothing has been done.
func (h *head) act(kind inputKind, arg string) error {
	if err := h.drain(); err != nil {
		return err
	}
	in := input{atMs: h.nowMs(), kind: kind, arg: arg}
	kept := h.inputs
	h.inputs = append(h.inputs[:h.applied:h.applied], in)
	if err := h.apply(in); err != nil {
		h.inputs = kept
		return err
	}
	return nil
}

// beat notes how the lesson stands now; what led to it came after the event from.
func (h *head) beat(from int64) {
	goals, met := h.lesson.GoalOf(h.engine)
	h.beats = append(h.beats, beat{from: from, seq: h.seq(), atMs: h.nowMs(), applied: h.applied, player: h.player.Clone(), goals: goals, met: met})
}

func (h *head) goalsChanged() bool {
	last := h.beats[len(h.beats)-1]
	goals, _ := h.lesson.GoalOf(h.engine)
	for i := range goals {
		if goals[i] != last.goals[i] {
			return true
		}
	}
	return false
}
