package tab

import (
	"fmt"
	"slices"
	"sort"
)

// save notes a place to go on from.
func (h *head) save() {
	h.saves = append(h.saves, save{seq: h.seq(), nowMs: h.nowMs(), applied: h.applied, beats: len(h.beats),
		engine: h.engine.Clone(), player: h.player.Clone()})
	h.saves = thin(h.saves, maxSaves)
}

// thin drops every second of the older half where there are too many. The first and the last stay.
func thin[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	var kept []T
	for i, s := range list {
		if i%2 == 0 || i > len(list)/2 {
			kept = append(kept, s)
		}
	}
	return kept
}

// forget drops the oldest events where too many are kept.
func (h *head) forget() {
	if len(h.events) <= h.most {
		return
	}
	n := len(h.events) - h.most*3/4
	last := h.first() + int64(n) - 1
	for i := range h.saves {
		if s := &h.saves[i]; s.seq >= h.first()-1 && s.seq < last {
			s.hash = h.hash(s.seq)
		}
	}
	h.before = h.hash(last)
	h.events = slices.Delete(h.events, 0, n)
	h.hashes = slices.Delete(h.hashes, 0, n)
	h.forgetSaves()
}

// oldSaves is how many saves stay from the time of events that are no longer kept. Each holds the facts that conditions
// look back on, so many of them would hold all that ever happened.
const oldSaves = 4

// forgetSaves thins the saves that are older than the events; the first stays.
func (h *head) forgetSaves() {
	n := 1
	for n < len(h.saves) && h.saves[n].seq < h.first()-1 {
		n++
	}
	old := h.saves[1:n:n]
	for len(old) > oldSaves {
		old = thin(old, oldSaves)
	}
	h.saves = slices.Concat(h.saves[:1], old, h.saves[n:])
}

// beatAt is the last beat at or before an event.
func (h *head) beatAt(seq int64) int {
	i := sort.Search(len(h.beats), func(i int) bool { return h.beats[i].seq > seq })
	return max(i-1, 0)
}

// backTo makes the head go on from the newest save that has at most `applied` inputs and is not after nowMs. What came
// later is forgotten; inputs stay, and those after the save are pending.
func (h *head) backTo(applied int, nowMs int64) {
	i := len(h.saves) - 1
	for i > 0 && (h.saves[i].applied > applied || h.saves[i].nowMs > nowMs) {
		i--
	}
	s := h.saves[i]
	h.engine, h.player, h.applied = s.engine.Clone(), s.player.Clone(), s.applied
	h.saves, h.beats = h.saves[:i+1], h.beats[:s.beats]
	if n := int(s.seq - h.first() + 1); n >= 0 {
		h.events, h.hashes = h.events[:n:n], h.hashes[:min(n, len(h.hashes)):min(n, len(h.hashes))]
	} else {
		h.events, h.hashes, h.before = nil, nil, s.hash
	}
	h.lastSeq = s.seq
}

// fork makes a place in the past the head's end: after `applied` inputs, at nowMs. Everything of that millisecond has
// happened then. The events up to seq must come out as they were, since the same engine does the same things again.
func (h *head) fork(applied int, seq, nowMs int64) error {
	if h.applied == applied && h.nowMs() == nowMs {
		h.inputs = h.inputs[:applied:applied]
		return nil
	}
	was := h.hash(seq)
	h.backTo(applied, nowMs)
	h.inputs = h.inputs[:applied:applied]
	for {
		why, err := h.run(nowMs, saveEvery)
		if err != nil {
			return err
		}
		if why != endBudget {
			break
		}
	}
	if h.seq() < seq || h.hash(seq) != was {
		return fmt.Errorf("the lesson did not repeat itself up to event %d; please report this with the link to this moment", seq)
	}
	return nil
}

// retrace makes a list of inputs pending that are not done yet: it goes back to the newest save before the first of them
// that differs from what was done.
func (h *head) retrace(inputs []input) {
	same := 0
	for same < min(len(inputs), len(h.inputs)) && inputs[same] == h.inputs[same] {
		same++
	}
	nowMs := h.nowMs()
	for _, list := range [][]input{inputs, h.inputs} {
		if same < len(list) {
			nowMs = min(nowMs, list[same].atMs)
		}
	}
	h.backTo(same, nowMs)
	h.inputs = inputs
}

// chase runs a piece of the way to the event seq and, where all is set, to the end of the pending inputs. It returns
// false when it is there or where the way ends before.
func (h *head) chase(seq int64, all bool) (more bool, err error) {
	pending := h.applied < len(h.inputs)
	if h.seq() >= seq && !(all && pending) {
		return false, nil
	}
	if pending {
		in := h.inputs[h.applied]
		if in.atMs < h.nowMs() || in.atMs > h.nowMs() && !h.player.MayRun() {
			return false, fmt.Errorf("input %d is given at %d ms, but the lesson stands still at %d ms then", h.applied+1, in.atMs, h.nowMs())
		}
	}
	before, applied, nowMs := h.seq(), h.applied, h.nowMs()
	why, err := h.run(h.nextLimit(), saveEvery)
	moved := h.seq() > before || h.applied > applied || h.nowMs() > nowMs
	return moved && (why == endTime || why == endBudget), err
}

// nextLimit is the time of the next thing to happen, so that a run does not overshoot.
func (h *head) nextLimit() int64 {
	next := h.engine.NextMs()
	if h.applied < len(h.inputs) && (next < 0 || h.inputs[h.applied].atMs < next) {
		return h.inputs[h.applied].atMs
	}
	if next < 0 {
		return forever
	}
	return next
}
