package tab

import (
	"cmp"
	"slices"

	"grouplab/static/view"
)

const (
	// clockMs is how often countdowns are rendered while nothing else changes.
	clockMs = 100
	// slowMs is how often what grows with every fact is rendered while time passes, unseenMs how often what is out of sight is.
	// What the learner's own doing changes, which is drawn at once, is looked at rarely.
	slowMs, rareMs, unseenMs = 100, 300, 1000
	// fastMs is how often a part is rendered at the speed of 100, where each frame is more than a second of the lab; at 10 it is a
	// tenth of that. What tells the time is rendered each clockMs.
	fastMs = 300
	// frameBytes is how much HTML a frame renders while time passes, at least one part: what is left waits for the next frame.
	frameBytes = 24_000
)

// due tells whether parts are to be drawn because time has passed.
func (t *Tab) due() bool {
	return t.behind || t.moved || t.mode.moving() && t.wallMs-t.drawnMs >= clockMs
}

// awake are the parts that a frame draws while time passes: those that have rested, longest first, until a frame is full. Once
// time stands, or the viewer has done something, every part shows the moment.
func (t *Tab) awake(parts []view.Part) (list []view.Part) {
	rested := slices.Clone(parts)
	slices.SortStableFunc(rested, func(a, b view.Part) int { return cmp.Compare(t.drawn[a.ID], t.drawn[b.ID]) })
	room := frameBytes
	t.behind = false
	for _, p := range rested {
		switch since := t.wallMs - t.drawn[p.ID]; {
		case since < t.restMs(p.ID):
		case room <= 0:
			t.behind = true
		default:
			list = append(list, p)
			room -= len(t.html[p.ID])
		}
	}
	return list
}

// restMs is how long a part stays as it is while time passes.
func (t *Tab) restMs(id string) int64 {
	rest := int64(0)
	if r := t.mode.rate(); r.Num != 0 {
		rest = min(r.Den/r.Num*fastMs/100, fastMs)
	}
	switch id {
	case "lesson", "sandbox", "forms", "behaviour":
		rest = max(rest, rareMs)
	case "timeline", "transcript", "ledger":
		rest = max(rest, slowMs)
	case "cursor", "transport":
		rest = min(rest, clockMs)
	}
	switch {
	case slices.Contains(t.hidden, id):
		return unseenMs
	case t.drawn[id] >= t.movedMs: // only the clock has moved since
		return max(rest, clockMs)
	}
	return rest
}

// sight takes the parts that are out of sight; those that have come into it are drawn with the next frames.
func (t *Tab) sight(hidden []string) {
	for _, id := range t.hidden {
		if !slices.Contains(hidden, id) {
			t.drawn[id], t.behind = 0, true
		}
	}
	t.hidden = hidden
}
