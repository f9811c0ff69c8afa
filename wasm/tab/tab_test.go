package tab

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grouplab/lessons"
	"grouplab/static/view"
)

func TestSpeedsAgree(t *testing.T) {
	all := speeds()
	if len(all) != len(view.Speeds) {
		t.Fatalf("there are %d speeds, the transport shows %d", len(all), len(view.Speeds))
	}
	for i, s := range all {
		if float(s) != view.Speeds[i] {
			t.Errorf("speed %d is %v here and %v in the transport", i, float(s), view.Speeds[i])
		}
	}
	for _, p := range lessons.Parts {
		if p == "client" {
			continue
		}
		found := false
		for _, part := range view.Parts(view.NewModel(), view.Options{}) {
			found = found || part.ID == p
		}
		if !found {
			t.Errorf("a lesson can point at %q, which the stage does not have", p)
		}
	}
}

// TestPaceLosesNothing: at every speed, frames of whatever length add up to the same lab time.
func TestPaceLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(lessons.Speeds).Draw(t, "speed")
		p := newPace()
		p.set(s)
		var wall, lab int64
		for range rapid.IntRange(1, 200).Draw(t, "frames") {
			ms := rapid.Int64Range(0, 250).Draw(t, "ms")
			wall += ms
			lab += p.labMs(ms)
		}
		if want := wall * s.Num / s.Den; lab != want {
			t.Fatalf("%d ms of wall time at %s are %d ms, not %d", wall, s, lab, want)
		}
	})
}

// TestAHiddenPageDoesNotCatchUp: after an hour without frames, play goes on where it was.
func TestAHiddenPageDoesNotCatchUp(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	d.do("speed", "100")
	d.do("play", "")
	before := d.lesson.cursor.nowMs
	d.frame(3_600_000)
	if passed := d.lesson.cursor.nowMs - before; passed > maxFrameMs*100 {
		t.Fatalf("%d ms of lab time passed in one frame", passed)
	}
}

func TestFramesRestWhenNothingMoves(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	if u := d.frame(16); u.Busy || len(u.Patches) > 0 || u.SetHash {
		t.Fatalf("a page that stands still asks for %+v", u)
	}
	d.do("take-over", "")
	d.do("play", "")
	patched, frames := map[string]int{}, 0
	for range 100 {
		u := d.frame(10)
		if !u.Busy {
			t.Fatal("a page that plays must go on")
		}
		frames++
		for _, p := range u.Patches {
			patched[p.ID]++
		}
	}
	if n := patched["part-transport"]; n < 8 || n > 40 {
		t.Errorf("the clock was drawn %d times in a second", n)
	}
	if n := patched["part-ownership"]; n > 10 {
		t.Errorf("a part in which nothing happened was patched %d times in %d frames", n, frames)
	}
	if d.last.Motion != (Rate{1, 1}) {
		t.Errorf("things move at %+v at speed 1", d.last.Motion)
	}
	d.do("motion", "reduced")
	if d.last.Motion != (Rate{}) || !d.options.Reduced {
		t.Errorf("under reduced motion things move at %+v", d.last.Motion)
	}
	d.do("motion", "full")
	d.do("speed:0.01", "")
	if d.last.Motion != (Rate{100, 1}) {
		t.Errorf("at 1/100 things move at %+v", d.last.Motion)
	}
}

func TestNextEventSpeed(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	d.do("speed", "0")
	d.do("play", "")
	moments := map[int64]bool{}
	for range 100 {
		d.frame(50)
		moments[d.lesson.cursor.nowMs] = true
	}
	if len(moments) < 8 || len(moments) > 14 {
		t.Fatalf("%d moments in 5 s of leaps each %d ms", len(moments), leapEveryMs)
	}
}

func TestKeys(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	for _, c := range []struct {
		key  Key
		want bool
	}{
		{Key{Name: "x"}, false},
		{Key{Name: "n", Ctrl: true}, false},
		{Key{Name: "t", Alt: true}, false},
		{Key{Name: " ", OnControl: true}, false},
		{Key{Name: "Enter"}, false},
		{Key{Name: "Home", OnControl: true}, false},
		{Key{Name: "f"}, false}, // freezes a running cluster only
		{Key{Name: "h"}, true},
		{Key{Name: "h", OnControl: true}, true},
		{Key{Name: "ArrowRight", Shift: true}, true},
		{Key{Name: "z", Ctrl: true}, true},
		{Key{Name: "?", Shift: true}, true},
		{Key{Name: "w"}, true},
		{Key{Name: "y"}, true},
		{Key{Name: "]"}, true},
	} {
		if got := d.Key(c.key); got != c.want {
			t.Errorf("%+v: %v", c.key, got)
		}
	}
	if u := d.frame(16); !u.Help {
		t.Error("? opens no help")
	}
	d.do("keys", "")
	if d.last.Store[0] != (Attr{"keys", "off"}) || d.Key(Key{Name: "n"}) || !d.Key(Key{Name: "?"}) || !d.Key(Key{Name: "ArrowLeft"}) {
		t.Errorf("single keys are not off: %+v", d.last.Store)
	}
}

func TestWhyWalksUpTheCauses(t *testing.T) {
	d := toGhost(t)
	d.key("y")
	first, ok := selectedEvent(d.selected)
	if !ok || first != d.lesson.cursor.model.Groups["orders-svc"].Began.Seq {
		t.Fatalf("why begins at %q, not where the rebalance began", d.selected)
	}
	for range 30 {
		was := d.selected
		d.key("y")
		if d.selected == was {
			break
		}
	}
	root, _ := selectedEvent(d.selected)
	if e := d.lesson.head.at(root); e.Cause != 0 || root >= first || !strings.Contains(d.options.Note, "root of the chain") {
		t.Errorf("the chain ends at event %d, %s: %q", root, e, d.options.Note)
	}
	d.Key(Key{Name: "Escape"})
	if d.selected != "" {
		t.Error("Escape closes the card")
	}
}

func TestWaitingIsTold(t *testing.T) {
	d := toGhost(t)
	d.frame(2 * speakMs)
	d.key("w")
	d.frame(2 * speakMs)
	all := strings.Join(d.said, "\n")
	if !strings.Contains(all, "c3 (killed)") || !strings.Contains(all, "1 of 4") {
		t.Errorf("told: %s", all)
	}
	d.do("lang", "zh")
	if d.frame(16); d.options.Lang != view.Chinese {
		t.Error("the language has not changed")
	}
}

func TestHints(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.key("h")
	for d.gate() != lessons.Asking { // hints belong to a step
		d.do("next", "")
		d.do("pause", "")
	}
	if d.frame(16); d.options.Lesson.Hints != 0 {
		t.Errorf("%d hints of another step are shown", d.options.Lesson.Hints)
	}
	d.key("h")
	if d.options.Focus != "shelves" || d.options.Lesson.Hints != 1 {
		t.Errorf("the first hint points at %q", d.options.Focus)
	}
	d.key("h")
	d.key("h")
	d.key("h")
	if d.options.Lesson.Hints != 3 || !strings.Contains(d.options.Note, "no more hints") {
		t.Errorf("%d hints, %q", d.options.Lesson.Hints, d.options.Note)
	}
	d.frame(2 * speakMs)
	d.frame(2 * speakMs)
	if all := strings.Join(d.said, "\n"); strings.Contains(all, "<code>") {
		t.Errorf("a hint is read with its tags: %s", all)
	}
}

// TestWhateverIsDone: no sequence of actions breaks the page, and afterwards the cursor still shows the fold of its
// events.
func TestWhateverIsDone(t *testing.T) {
	script, page := source(t, ghostLesson)
	actions := []string{"play", "pause", "step", "back", "next-state", "prev-state", "next-timer", "start", "end", "next", "prev",
		"take-over", "back-to-lesson", "undo", "hint", "why", "waiting", "link", "faster", "slower", "goal", "keys", "find", "dismiss"}
	withArg := map[string][]string{
		"grain": {"event", "request", "state", "timer", "week"}, "speed": {"0", "0.001", "1", "100", "7"},
		"seek": {"0", "0.3", "0.9", "1", "45000", "-1", "NaN", "1e300"}, "predict": {"session", "heartbeat", "x"},
		"predict-check": {"", "show", "session", "rebalance", "x"}, "kill": {"c1", "c3", "c9", ""}, "start": {"c1", "c3"},
		"stop": {"c2", "c3"}, "restart": {"c1"}, "pause": {"c2"}, "resume": {"c2"}, "kill-broker": {"1", "2", "3", "x"},
		"restart-broker": {"1", "3"}, "add-partitions": {"orders", "orders 3", "orders 40", "x"}, "lang": {"zh", "en", "de"},
		"select": {"member:c1", "event:900", "event:x", ""}, "group": {"orders-svc", "x", ""}, "motion": {"none", "full", "x"},
		"nonsense": {"<b>"}, "hash": {"m1.unclean-restart@1200-0", "zzz"}, "pane": {"tape"},
	}
	names := append(actions, slices.Sorted(maps.Keys(withArg))...)
	rapid.Check(t, func(rt *rapid.T) {
		tb, err := NewLesson(script, page, Choices{Motion: "full"})
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{Tab: tb, t: t, wall: 1000}
		for range rapid.IntRange(1, 25).Draw(rt, "actions") {
			name, arg := rapid.SampledFrom(names).Draw(rt, "action"), ""
			if args := withArg[name]; len(args) > 0 {
				arg = rapid.SampledFrom(args).Draw(rt, "arg")
			}
			d.do(name, arg)
			for range rapid.IntRange(0, 3).Draw(rt, "frames") {
				d.frame(rapid.Int64Range(0, 250).Draw(rt, "ms"))
			}
		}
		h, c := d.lesson.head, d.lesson.cursor
		m := view.NewModel()
		for _, e := range h.events {
			if e.Seq <= c.seq {
				m.Apply(e)
			}
		}
		m.SetNow(c.nowMs)
		d.fill()
		if got, want := d.picture(), render(t, m, d.options); got != want {
			rt.Fatalf("the picture at event %d is not the fold of its events:\n%s", c.seq, firstDifference(got, want))
		}
		again := openLesson(t, ghostLesson, d.lesson.link())
		for again.lesson.chasing != nil {
			again.frame(16)
		}
		if again.seq() != c.seq || again.lesson.link() != d.lesson.link() {
			rt.Fatalf("the link %s leads to event %d: %q", d.lesson.link(), again.seq(), again.options.Note)
		}
	})
}

// TestChosenSpeedStays: a step has a speed of its own only until the learner has chosen one.
func TestChosenSpeedStays(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("speed", "100")
	for d.gate() != lessons.Asking {
		d.do("next", "")
		d.do("pause", "")
	}
	if d.frame(16); d.options.Speed != 100 {
		t.Errorf("the speed is %v", d.options.Speed)
	}
	if text := view.Headline(d.model(), d.options); !strings.Contains(text, "What comes next is the question") || strings.Contains(text, "session") {
		t.Errorf("the headline answers the question: %s", text)
	}
}

// TestManyAtOnceAreOneStep: what all fifty partitions of __consumer_offsets go through at once takes a press each kind.
func TestManyAtOnceAreOneStep(t *testing.T) {
	d := openLesson(t, firstLesson, "")
	d.key("n")
	d.do("pause", "")
	pressed := 0
	for ; d.gate() == lessons.Waiting && pressed < 100; pressed++ {
		d.key("ArrowRight")
	}
	if pressed > 40 {
		t.Errorf("%d presses to find the coordinator", pressed)
	}
	seq := d.seq()
	for range pressed {
		d.key("ArrowLeft")
	}
	for range pressed {
		d.key("ArrowRight")
	}
	if d.seq() != seq {
		t.Errorf("back and forth leads to %d, not %d", d.seq(), seq)
	}
}
