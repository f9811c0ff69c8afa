package tab

import (
	"strings"
	"testing"

	"grouplab/lessons"
)

// goTo plays a lesson to a step; questions are looked up, not answered.
func (d *desk) goTo(step string) {
	d.t.Helper()
	d.do("speed", "100")
	for range 100 {
		switch {
		case d.step() == step:
			return
		case d.gate() == lessons.Asking:
			d.do("predict-check", "show")
		case d.gate() == lessons.Ready:
			d.do("next", "")
		default:
			d.do("play", "")
			d.play(3000)
		}
	}
	d.t.Fatalf("the step %s is not reached; at %s, %s", step, d.step(), d.gate())
}

// TestTheGroupAStepIsAboutIsOnStage: in a lesson with two groups the stage shows the one of the consumer that the step is
// about, whichever of them is in motion, and the other one is a press away.
func TestTheGroupAStepIsAboutIsOnStage(t *testing.T) {
	d := openLesson(t, "01-find-coordinator", "")
	for _, at := range []struct{ step, group, other string }{
		{"ask", "orders-svc", ""}, {"second", "billing", "orders-svc"}, {"settle", "orders-svc", ""}, {"moved", "orders-svc", "billing"},
	} {
		d.goTo(at.step)
		head := d.html["headline"]
		if !strings.Contains(head, `<h2 class="headline-group"><bdi>`+at.group+`</bdi>`) {
			t.Errorf("step %s: %s is not on stage: %s", at.step, at.group, head)
		}
		if at.other != "" && !strings.Contains(head, `data-do="group" data-arg="`+at.other+`"`) {
			t.Errorf("step %s: no way to %s: %s", at.step, at.other, head)
		}
	}
	if d.do("group", "billing"); !strings.Contains(d.html["headline"], `data-arg="orders-svc"`) || !strings.Contains(d.html["clients"], "b1") {
		t.Errorf("the group that was asked for is not on stage: %s", d.html["headline"])
	}
}

// TestAnAnswerTakenBackIsNoBranch: nothing has happened after it, so no future is lost, and no rail takes the room of the
// question. What has happened after it stays, and is called as the question words it.
func TestAnAnswerTakenBackIsNoBranch(t *testing.T) {
	d := openLesson(t, firstLesson, "")
	d.goTo("handshake")
	d.do("predict", "parked")
	d.do("predict-check", "")
	if d.gate() == lessons.Asking {
		t.Fatal("the answer was not taken")
	}
	if d.do("undo", ""); len(d.lesson.branches) != 0 || d.gate() != lessons.Asking {
		t.Fatalf("%d branches, gate %s", len(d.lesson.branches), d.gate())
	}
	d.do("predict", "member")
	d.do("predict-check", "")
	d.key("ArrowRight")
	d.do("undo", "")
	if len(d.lesson.branches) != 1 {
		t.Fatalf("%d branches", len(d.lesson.branches))
	}
	if label := d.lesson.rails()[0].Label; label != "answered “member”" {
		t.Errorf("it is called %s", label)
	}
}
