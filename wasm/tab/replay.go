package tab

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/static/view"
)

const (
	// replaySaves is how many pictures are kept on the way; between them at least replayStep events lie.
	replaySaves, replayStep = 40, 500
)

// replay is a list of events that is there as a whole, and the moment of it that is shown: a recording's, or what a log tells.
type replay struct {
	events []event.Event
	gaps   []recording.Gap
	// times are the clock behind each event: it never goes back, though facts tell of what was earlier.
	times []int64
	// floor is how many events build the first picture; before it there is nothing to see.
	floor int
	// at is how many events led to model; nowMs is the clock there, or a little later.
	at    int
	nowMs int64
	model *view.Model
	saves []replaySave
	// furthest is the picture of all; drawn counts the events in it while it is made.
	furthest *view.Model
	drawn    int
	// bySeq are the places of the events by their numbers, nil before one is looked for.
	bySeq []int32
}

type replaySave struct {
	at    int
	model *view.Model
}

func newReplay(events []event.Event, gaps []recording.Gap) *replay {
	p := &replay{events: events, gaps: gaps, times: make([]int64, len(events)), model: view.NewLiveModel(), furthest: view.NewLiveModel()}
	last, facts := int64(0), false
	for i := range p.events {
		e := &p.events[i]
		switch b := e.Body.(type) {
		case event.FactsBegan:
			facts = true
			last = max(last, b.NowMs)
		case event.FactsEnded:
			facts = false
			if p.floor == 0 {
				p.floor = i + 1
			}
		default:
			if !facts { // what an observer learns later has happened earlier
				last = max(last, e.AtMs)
			}
		}
		p.times[i] = last
	}
	return p
}

// apply folds one event, and the gap before it.
func (p *replay) apply(m *view.Model, i int) {
	for _, g := range p.gaps {
		if g.After == i {
			m.Missed(view.Gap{FromSeq: g.From, ToSeq: g.To, FromMs: g.FromMs, ToMs: g.ToMs})
		}
	}
	m.Apply(p.events[i])
}

// draw folds up to so many events into the furthest picture and tells whether there are more.
func (p *replay) draw(most int) (more bool) {
	step := max(len(p.events)/replaySaves, replayStep)
	for ; most > 0 && p.drawn < len(p.events); most-- {
		if p.drawn%step == 0 {
			p.saves = append(p.saves, replaySave{p.drawn, p.furthest.Clone()})
		}
		p.apply(p.furthest, p.drawn)
		p.drawn++
	}
	return p.drawn < len(p.events)
}

// show moves behind so many events.
func (p *replay) show(at int) {
	at = min(max(at, p.floor), len(p.events))
	if at < p.at || at-p.at > replayStep || at == p.at && p.clock(at) < p.nowMs {
		i := len(p.saves) - 1
		for i > 0 && p.saves[i].at > at {
			i--
		}
		if i >= 0 && (at <= p.at || p.saves[i].at > p.at) {
			p.model, p.at = p.saves[i].model.Clone(), p.saves[i].at
		}
	}
	for ; p.at < at; p.at++ {
		p.apply(p.model, p.at)
	}
	p.nowMs = p.clock(at)
	p.model.SetNow(p.nowMs)
}

// step moves by one event that a grain stops at, of one group or of none; false where there is none. Of every group where the
// name is "".
func (p *replay) step(by int, g view.Grain, group string) bool {
	for i := p.at - 1 + by; i >= p.floor && i < len(p.events); i += by {
		e := &p.events[i]
		if concerns(e, group) && !retold(e.Body) && stopsAt(g, e) {
			p.show(i + 1)
			return true
		}
	}
	return false
}

// concerns tells whether an event is of a group, or of none; each is where no group is named.
func concerns(e *event.Event, group string) bool {
	return e.Group == "" || e.Group == group || group == ""
}

// clock is the time behind so many events.
func (p *replay) clock(at int) int64 {
	if at == 0 || len(p.times) == 0 {
		return 0
	}
	return p.times[at-1]
}

// endMs is the last moment.
func (p *replay) endMs() int64 { return p.clock(len(p.events)) }

// seek shows a time: everything up to it has happened.
func (p *replay) seek(ms int64) {
	at, _ := slices.BinarySearch(p.times, ms+1)
	p.show(at)
	if ms > p.nowMs && at >= p.floor {
		p.pass(ms)
	}
}

// pass lets time go on up to ms, at most to the end.
func (p *replay) pass(ms int64) {
	ms = min(ms, p.endMs())
	for p.at < len(p.events) && p.times[p.at] <= ms {
		p.apply(p.model, p.at)
		p.at++
	}
	p.nowMs = max(p.nowMs, ms)
	p.model.SetNow(p.nowMs)
}

// find is the place of the last event with a number; -1 where there is none. The first call sorts: numbers nearly ascend.
func (p *replay) find(seq int64) int {
	if p.bySeq == nil {
		p.bySeq = make([]int32, 0, len(p.events))
		for i := range p.events {
			if !retold(p.events[i].Body) {
				p.bySeq = append(p.bySeq, int32(i))
			}
		}
		slices.SortStableFunc(p.bySeq, func(a, b int32) int { return cmp.Compare(p.events[a].Seq, p.events[b].Seq) })
	}
	after, _ := slices.BinarySearchFunc(p.bySeq, seq+1, func(i int32, seq int64) int { return cmp.Compare(p.events[i].Seq, seq) })
	if after == 0 || p.events[p.bySeq[after-1]].Seq != seq {
		return -1
	}
	return int(p.bySeq[after-1])
}

// retold are facts with the number of another.
func retold(b event.Body) bool {
	switch b.(type) {
	case event.GroupSummarized, event.GenerationRecorded, event.FactsBegan:
		return true
	}
	return false
}
