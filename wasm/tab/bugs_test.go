package tab

import (
	"strings"
	"testing"
)

// TestB106_ALinkOfAnotherVersion: a link of twelve inputs one of which cannot be followed any more leads to the last moment
// that it can, and says so; halves and noise of it say what is wrong with them. Nothing is loaded for ever.
func TestB106_ALinkOfAnotherVersion(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	for _, c := range []string{"c1", "c2", "c3", "c1", "c2", "c3"} {
		for _, do := range []string{"kill", "restart"} {
			d.do(do, c)
			d.until(1000, func() bool { return false })
		}
	}
	link := d.lesson.link()
	if n := len(d.lesson.head.inputs); n < 12 {
		t.Fatalf("the link has %d inputs", n)
	}
	whole := openLesson(t, ghostLesson, link)
	if whole.options.Note != "" || whole.seq() != d.seq() {
		t.Fatalf("the link as it is: %q, event %d of %d", whole.options.Note, whole.seq(), d.seq())
	}
	// The other version knows no restart: the third of the inputs is no command any more.
	broken := openLesson(t, ghostLesson, strings.Replace(link, "restart", "rezstart", 1))
	if said := broken.options.Note; said == "" || !strings.Contains(said, "rezstart") && !strings.Contains(said, "cannot be followed") {
		t.Errorf("an input of another version says %q", said)
	}
	if c := broken.model().Clients["c1"]; c == nil {
		t.Error("the page shows no world")
	}
	for cut := 1; cut < len(link); cut += 7 {
		half := openLesson(t, ghostLesson, link[:cut])
		half.do("next", "")
		if half.model() == nil || len(half.model().Clients) == 0 {
			t.Fatalf("cut after %d letters the page is blank", cut)
		}
	}
}

// TestB108_TheGoalLooksAtWhatIs: whoever errs on the way reaches the goal all the same: it asks for a state, not for a path, a
// generation or the lack of anything more.
func TestB108_TheGoalLooksAtWhatIs(t *testing.T) {
	d := openLesson(t, "03-second-member", "")
	d.do("take-over", "")
	d.do("kill", "c9") // there is none
	if d.options.Note == "" {
		t.Error("a mistake is not told")
	}
	for _, step := range [][2]string{{"start", "c2"}, {"kill", "c1"}, {"restart", "c1"}, {"stop", "c2"}, {"restart", "c2"}} {
		d.do(step[0], step[1])
		d.until(20_000, func() bool { return true })
	}
	d.until(120_000, func() bool { return d.options.Lesson.Met })
	if g := d.group(d.model()); g.Generation < 3 {
		t.Errorf("the way there was no detour: generation %d", g.Generation)
	}
	if !d.options.Lesson.Met {
		t.Errorf("the goal is not met: %+v", d.options.Lesson.Goals)
	}
}

// until lets at most so much of the lab's time pass.
func (d *desk) until(ms int64, done func() bool) {
	d.t.Helper()
	end := d.lesson.head.nowMs() + ms
	for d.lesson.head.nowMs() < end {
		if _, err := d.lesson.head.run(min(d.lesson.head.nowMs()+1000, end), saveEvery); err != nil {
			d.t.Fatal(err)
		}
		d.lesson.toEnd()
		d.frame(16)
		if d.lesson.head.nowMs() >= end-ms+5000 && done() {
			return
		}
	}
}

// TestB112_ARefusalHelps: each says why, and what can be done instead; the nearest of what there is stands in for a slip.
func TestB112_ARefusalHelps(t *testing.T) {
	d := openSandbox(t)
	for line, want := range map[string][]string{
		"kil c1":  {`did you mean "kill"?`},
		"strat 1": {`did you mean "start"?`},
		"kafka-consumer-groups.sh --describe --group g": {"no verb", "there are", "show"},
		"resume c1":                 {"c1"}, // it is not paused
		"commit c1 orders-0 five":   {"five", "number"},
		"drop c1 Heartbeet 1":       {"Heartbeat"},
		"fail-appends offsets NO 1": {"no append fails with"},
		"set session.timeout.ms 5":  {"session"},
	} {
		got := d.say1(line)
		if !got.Wrong {
			t.Errorf("%q is taken", line)
		}
		for _, w := range want {
			if !strings.Contains(got.Said, w) {
				t.Errorf("%q says %q; %q is to be in it", line, got.Said, w)
			}
		}
	}
	if got := d.say1(""); got.Wrong && !strings.Contains(got.Said, "help") {
		t.Errorf("an empty line says %q", got.Said)
	}
	l := openLesson(t, ghostLesson, "")
	l.do("kill", "c1")
	if !strings.Contains(l.options.Note, "does not offer") || !strings.Contains(strings.ToLower(l.options.Note), "take over") {
		t.Errorf("what the step does not offer says %q, which does not tell the way to it", l.options.Note)
	}
}

// TestB94_ALongRunIsWalkedFromItsStart: whatever is pressed in a run of which the beginning is no longer kept, no handler ends
// the program: the step after the start is the next event, time runs on from there, and the end is found again.
func TestB94_ALongRunIsWalkedFromItsStart(t *testing.T) {
	d := openSandbox(t)
	d.do("grain:state", "")
	end := func() { // each looks on for an hour in which no state changes
		for d.lesson.head.first() <= d.lesson.head.startSeq+1 {
			d.do("step", "")
		}
	}
	end()
	for _, then := range []string{"step", "play", "next-timer", "end"} {
		d.do("start", "")
		d.do("grain:event", "")
		d.do(then, "")
		d.do("pause", "")
		switch then {
		case "step":
			if d.seq() != d.lesson.head.startSeq+1 {
				t.Errorf("the step after the start leads to event %d; the start is %d", d.seq(), d.lesson.head.startSeq)
			}
			d.do("grain:state", "")
			end()
		case "end":
			if d.seq() != d.lesson.head.seq() {
				t.Errorf("the end is event %d, shown is %d", d.lesson.head.seq(), d.seq())
			}
		}
	}
}
