package tab

import (
	"strings"
	"testing"

	"grouplab/static/view"
)

// onOwn is a lesson whose learner has taken over, with everybody Stable.
func onOwn(t testing.TB) *desk {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	d.lesson.pass(d.lesson.cursor.nowMs + 1)
	d.advance(30_000)
	return d
}

// advance lets lab time pass.
func (d *desk) advance(ms int64) {
	d.t.Helper()
	for end := d.lesson.cursor.nowMs + ms; d.lesson.cursor.nowMs < end; {
		before := d.lesson.cursor.nowMs
		d.lesson.pass(end)
		if d.lesson.cursor.nowMs == before {
			d.t.Fatalf("time stands still at %d ms", before)
		}
	}
	d.frame(16)
}

// rewindTo shows a moment of the past.
func (d *desk) rewindTo(ms int64) { d.do("seek", seqText(ms)) }

// Whoever rewinds and does something else keeps the old future as a branch, can go there and back, and delete it.
func TestThePastCanGoAnotherWay(t *testing.T) {
	d := onOwn(t)
	from := d.lesson.cursor.nowMs
	d.do("kill", "c2")
	d.advance(60_000)
	killed := d.picture()
	d.rewindTo(from - 1)
	end := d.lesson.head.seq()
	d.do("stop", "nobody")
	if len(d.lesson.branches) != 0 || d.lesson.head.seq() != end || d.lesson.cursor.nowMs != from-1 {
		t.Fatalf("what is refused leaves %d branches, head %d of %d, cursor at %d of %d", len(d.lesson.branches), d.lesson.head.seq(), end, d.lesson.cursor.nowMs, from-1)
	}
	d.do("stop", "c2")
	if len(d.lesson.branches) != 1 {
		t.Fatalf("%d branches, want the run in which c2 was killed", len(d.lesson.branches))
	}
	d.advance(60_000)
	left := d.picture()
	rails := d.html["branches"]
	for _, want := range []string{"kill c2", `data-do="branch-go"`, `data-do="branch-cut"`, `data-do="compare"`} {
		if !strings.Contains(rails, want) {
			t.Errorf("the rails do not hold %q:\n%s", want, rails)
		}
	}
	id := d.lesson.rails()[0].ID
	if r := d.lesson.rails()[0]; r.ForkMs != from-1 || r.EndMs != from+60_000 {
		t.Errorf("the branch is %+v, it parts at %d", r, from)
	}
	d.do("branch-go", id)
	d.play(4000)
	d.do("end", "")
	if d.picture() != killed {
		t.Error("the branch is not as it was left")
	}
	if r := d.lesson.rails(); len(r) != 1 || r[0].Label != "stop c2" {
		t.Errorf("the run that was left is %+v", r)
	}
	d.do("branch-go", d.lesson.rails()[0].ID)
	d.play(4000)
	d.do("end", "")
	if d.picture() != left {
		t.Error("the way back leads elsewhere")
	}
	d.do("branch-cut", d.lesson.rails()[0].ID)
	d.do("branch-cut", "99")
	if len(d.lesson.branches) != 0 || !strings.Contains(d.options.Note, "no such branch") {
		t.Errorf("%d branches, %q", len(d.lesson.branches), d.options.Note)
	}
}

// Undo moves the head and deletes nothing: what was undone is a branch.
func TestUndoKeepsTheBranch(t *testing.T) {
	d := onOwn(t)
	d.do("kill", "c2")
	d.advance(20_000)
	after := d.picture()
	d.key("u")
	d.play(4000)
	if r := d.lesson.rails(); len(r) != 1 || r[0].Label != "kill c2" {
		t.Fatalf("after undo the rails are %+v", r)
	}
	d.do("branch-go", d.lesson.rails()[0].ID)
	d.play(4000)
	d.do("end", "")
	if d.picture() != after {
		t.Error("what was undone has not come back")
	}
	d.key("u") // undoes the going there
	d.play(4000)
	if len(d.lesson.branches) != 1 {
		t.Errorf("%d branches", len(d.lesson.branches))
	}
}

// B leaves the future at the cursor; at the head there is none.
func TestBBranchesHere(t *testing.T) {
	d := onOwn(t)
	d.key("b")
	if len(d.lesson.branches) != 0 || !strings.Contains(d.options.Note, "end of the run") {
		t.Errorf("%d branches at the head: %q", len(d.lesson.branches), d.options.Note)
	}
	end := d.lesson.head.seq()
	d.rewindTo(d.lesson.cursor.nowMs - 9000)
	d.key("b")
	if len(d.lesson.branches) != 1 || d.lesson.head.seq() >= end || !d.lesson.cursor.atHead() {
		t.Errorf("%d branches, head at %d of %d", len(d.lesson.branches), d.lesson.head.seq(), end)
	}
}

// The branches are bounded, and so is what is kept of each: its inputs.
func TestBranchesAreBounded(t *testing.T) {
	d := onOwn(t)
	at := d.lesson.cursor.nowMs
	for i := range 2 * maxBranches {
		d.do(map[bool]string{true: "kill", false: "stop"}[i%2 == 0], "c2")
		d.advance(int64(1000 + i))
		d.rewindTo(at)
	}
	if n := len(d.lesson.branches); n > maxBranches {
		t.Errorf("%d branches are kept, at most %d are to be", n, maxBranches)
	}
}

// Two runs stand on one axis, and what one waited less than the other is said in seconds and partition-seconds.
func TestTwoRunsAreCompared(t *testing.T) {
	d := onOwn(t)
	from := d.lesson.cursor.nowMs
	d.do("kill", "c2")
	d.advance(90_000)
	d.rewindTo(from - 1)
	d.do("stop", "c2")
	d.advance(90_000)
	d.do("compare", d.lesson.rails()[0].ID)
	text := d.html["branches"]
	for _, want := range []string{`class="compare"`, "this run", "kill c2", `class="differs"`, "partition-seconds lost", " less"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison does not hold %q:\n%s", want, text)
		}
	}
	says := view.CompareSays(d.lesson.cursor.model, d.options)
	if !strings.Contains(says, "less") || strings.Contains(says, "{") {
		t.Errorf("leaving cleanly costs less than being killed: %q", says)
	}
	d.frame(2 * speakMs)
	if all := strings.Join(d.said, "\n"); !strings.Contains(all, says) {
		t.Errorf("nobody was told %q:\n%s", says, all)
	}
	// The lesson itself is the other run.
	d.do("compare", "own")
	if !strings.Contains(d.html["branches"], "the run without your acts") {
		t.Error("the lesson without acts is not compared")
	}
	if !d.Key(Key{Name: "Escape"}) {
		t.Error("Escape does nothing")
	}
	d.frame(16)
	if strings.Contains(d.html["branches"], `class="compare"`) || d.lesson.compared != nil {
		t.Error("Escape does not leave the comparison")
	}
}
