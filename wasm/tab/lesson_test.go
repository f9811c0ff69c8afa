package tab

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/lessons"
	"grouplab/lessons/content"
	"grouplab/static/view"
)

// TestLessonsByKeyboard plays every lesson to its goal: N goes on, Q leads to the question, the answer is a radio button,
// time passes frame by frame, and a challenge is won with the buttons that its step offers.
func TestLessonsByKeyboard(t *testing.T) {
	folders, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		slow := folder.Name() == firstLesson || folder.Name() == ghostLesson // frame by frame; the others from end to end
		t.Run(folder.Name(), func(t *testing.T) {
			d := openLesson(t, folder.Name(), "")
			for range 100 {
				switch d.gate() {
				case lessons.Ready:
					d.key("n")
					if !slow {
						d.do("pause", "")
					}
				case lessons.Waiting:
					if d.lesson.cursor.lesson().player.Step().Par > 0 {
						win(d)
					}
					if slow {
						if !d.playing() {
							d.key(" ")
						}
						d.play(4000)
						continue
					}
					d.key("n")
				case lessons.Asking:
					if u := d.key("q"); u.Reveal != "part-lesson" || !u.Field {
						t.Fatalf("Q leads to %q", u.Reveal)
					}
					d.do("predict", d.lesson.cursor.lesson().player.Step().Predict.Options[0].ID)
					d.do("predict-check", "")
				}
				if d.gate() == lessons.Over {
					break
				}
			}
			if d.gate() != lessons.Over || !d.lesson.cursor.lesson().met {
				t.Fatalf("ended in step %s, %s, goal %+v", d.step(), d.gate(), d.lesson.cursor.lesson().goals)
			}
			d.frame(2 * speakMs)
			if all := strings.Join(d.said, "\n"); slow && !strings.Contains(all, "The goal is reached.") {
				t.Errorf("nobody was told that the goal is reached:\n%s", all)
			}
		})
	}
}

// win does what the script says wins the challenge of the current step.
func win(d *desk) {
	step := d.lesson.cursor.lesson().player.Step()
	for _, w := range d.lesson.lesson.Wins {
		for _, c := range w.Commands {
			switch {
			case w.Name != step.Name || c.Verb == "until":
			case c.Verb == "advance":
				long, err := time.ParseDuration(c.Args[0].Text)
				if err != nil {
					d.t.Fatal(err)
				}
				d.do("speed", "1")
				d.key(" ")
				for end := d.lesson.cursor.nowMs + long.Milliseconds(); d.lesson.cursor.nowMs < end && d.playing(); {
					d.frame(100)
				}
				d.do("pause", "")
			default:
				d.do("move", c.Raw)
			}
		}
	}
}

// toGhost plays the lesson to the question what ends the wait, and answers it.
func toGhost(t testing.TB) *desk {
	d := openLesson(t, ghostLesson, "")
	for d.gate() != lessons.Asking {
		d.do("next", "")
		d.do("pause", "")
	}
	d.do("predict-check", "session")
	d.do("pause", "")
	return d
}

// expiry is the event in which the ghost's session runs out.
func expiry(d *desk) *event.Event {
	for i := range d.lesson.head.events {
		if b, ok := d.lesson.head.events[i].Body.(event.OperationCompleted); ok && b.Expired && strings.HasPrefix(b.Member, "c3") {
			return &d.lesson.head.events[i]
		}
	}
	d.t.Fatal("no session of c3 ran out")
	return nil
}

func TestTheWaitForTheGhost(t *testing.T) {
	d := toGhost(t)
	w := d.lesson.cursor.model.Waiting("orders-svc")
	if w.Kind != view.WaitJoin || len(w.Missing) != 1 || !w.Missing[0].Gone || w.EndBy != view.EndSession || w.Here != 3 || w.Of != 4 {
		t.Fatalf("the picture is not that of the wait for a ghost: %+v", w)
	}
	if a := d.lesson.cursor.lesson().player.Answer("ghost"); a == nil || a.Right != "session" || a.DecidedMs != w.EndMs {
		t.Errorf("the answer %+v does not agree with the headline's end at %d", a, w.EndMs)
	}
	d.do("next", "") // to the end of the step
	if d.lesson.cursor.nowMs != w.EndMs {
		t.Errorf("the wait ended at %d, not when the headline said, %d", d.lesson.cursor.nowMs, w.EndMs)
	}
}

// TestBackOverTheExpiry steps back over the moment in which the session runs out, and forward again to the same event.
func TestBackOverTheExpiry(t *testing.T) {
	d := toGhost(t)
	d.do("next", "")
	gone := expiry(d)
	for d.seq() > gone.Seq {
		d.key("ArrowLeft")
	}
	after := d.picture()
	d.key("ArrowLeft")
	if d.seq() != gone.Seq-1 || d.lesson.cursor.model.Groups["orders-svc"].SessionOp(gone.Body.(event.OperationCompleted).Member) == nil {
		t.Fatalf("at event %d the timer must still run", d.seq())
	}
	if d.lesson.cursor.furthest == nil {
		t.Error("the timeline has lost the future that is known")
	}
	d.key("ArrowRight")
	if d.seq() != gone.Seq || d.picture() != after {
		t.Fatalf("forward leads to event %d, or to another picture of it", d.seq())
	}
	d.key("ArrowLeft")
	d.do("grain:timer", "")
	d.key("ArrowRight")
	if d.seq() != gone.Seq {
		t.Fatalf("the next timer that ends is event %d, not %d", d.seq(), gone.Seq)
	}
}

// TestEveryMomentLooksTheSameFromBothSides compares the picture after rewinding with that of a fold from nothing.
func TestEveryMomentLooksTheSameFromBothSides(t *testing.T) {
	d := toGhost(t)
	d.do("next", "")
	d.do("end", "")
	h := d.lesson.head
	for seq := h.seq(); seq >= 1; seq -= max(1, h.seq()/40) {
		d.lesson.show(seq)
		d.fill()
		m := view.NewModel()
		for _, e := range h.events {
			if e.Seq <= seq {
				m.Apply(e)
			}
		}
		m.SetNow(d.lesson.cursor.nowMs)
		if got, want := d.picture(), render(t, m, d.options); got != want {
			t.Fatalf("event %d looks otherwise after rewinding:\n%s", seq, firstDifference(got, want))
		}
	}
}

func firstDifference(a, b string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[max(0, i-80):min(len(a), i+80)] + "\n--- instead of\n" + b[max(0, i-80):min(len(b), i+80)]
		}
	}
	return "one is longer"
}

func TestTimeStandsStillAtTheGates(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	before := d.lesson.cursor.nowMs
	d.frame(60_000)
	if d.lesson.cursor.nowMs != before || d.playing() {
		t.Fatal("a lesson does not begin by itself")
	}
	d.key(" ") // play goes on to the next step, which has something to wait for
	if d.step() != "kill" || !d.playing() {
		t.Fatalf("play at the end of a step goes on: %s", d.step())
	}
	d.play(1000)
	if d.gate() != lessons.Ready {
		t.Fatalf("the step ends by itself: %s", d.gate())
	}
	at := d.lesson.cursor.nowMs
	d.frame(60_000)
	if d.lesson.cursor.nowMs != at {
		t.Fatal("time passed beyond the end of a step")
	}
	for d.gate() != lessons.Asking {
		d.do("next", "")
		d.do("pause", "")
	}
	at = d.lesson.cursor.nowMs
	for _, action := range []string{"play", "step", "next"} {
		d.do(action, "")
		if d.playing() || d.lesson.cursor.nowMs != at || !strings.Contains(d.options.Note, "Time stands still") {
			t.Errorf("%s before an answer: %q", action, d.options.Note)
		}
	}
	d.do("predict-check", "")
	if !strings.Contains(d.options.Note, "Choose") {
		t.Errorf("checking nothing says %q", d.options.Note)
	}
}

func TestPredictions(t *testing.T) {
	for choice, want := range map[string]string{"session": "Right.", "rebalance": "Not so.", "show": "Here is the answer"} {
		d := openLesson(t, ghostLesson, "")
		for d.gate() != lessons.Asking {
			d.do("next", "")
			d.do("pause", "")
		}
		d.do("predict", choice)
		d.do("predict-check", choice)
		d.frame(2 * speakMs)
		if all := strings.Join(d.said, "\n"); !strings.Contains(all, want) || d.options.Lesson.Right != "session" {
			t.Errorf("%s: %q, right is %q", choice, all, d.options.Lesson.Right)
		}
	}
}

func TestVerbsOnlyWhereTheStepOffersThem(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("kill", "c1")
	if !strings.Contains(d.options.Note, "does not offer “kill”") || d.seq() != d.lesson.head.startSeq {
		t.Fatalf("kill in a step without it: %q", d.options.Note)
	}
	d.do("take-over", "")
	d.do("kill", "c1")
	if c := d.lesson.cursor.model.Clients["c1"]; c.Alive {
		t.Fatal("after taking over everything goes")
	}
	d.do("kill", "c1")
	if !strings.Contains(d.options.Note, "c1") {
		t.Errorf("killing the dead says %q", d.options.Note)
	}
	d.do("add-partitions", "orders")
	if p := d.lesson.cursor.model.Topics["orders"].Partitions; p != 6+morePartitions {
		t.Errorf("orders has %d partitions", p)
	}
	d.do("back-to-lesson", "")
	if d.gate() != lessons.Ready || d.step() != "calm" || !d.lesson.cursor.model.Clients["c1"].Alive {
		t.Fatalf("back in the lesson: %s, %s", d.step(), d.gate())
	}
	d.do("undo", "")
	if d.gate() != lessons.Free || d.lesson.cursor.model.Clients["c1"].Alive {
		t.Fatal("undo returns to what was done outside")
	}
}

// TestActingInThePastForks: what came later is dropped, said, and brought back by undo.
func TestActingInThePastForks(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	d.do("speed", "10")
	d.do("play", "")
	for range 60 {
		d.frame(16)
	}
	d.do("pause", "")
	far := d.lesson.head.seq()
	hash := d.lesson.head.hash(far)
	d.do("seek", strconv.FormatInt(d.lesson.head.startMs+4000, 10))
	for range 4 {
		d.do("back", "")
	}
	here := d.lesson.cursor.nowMs
	if d.seq() >= far {
		t.Fatal("not in the past")
	}
	d.do("kill", "c2")
	if d.lesson.head.seq() >= far || d.lesson.head.nowMs() != here || d.lesson.cursor.model.Clients["c2"].Alive {
		t.Fatalf("the fork is at %d ms, event %d; acted at %d ms", d.lesson.head.nowMs(), d.lesson.head.seq(), here)
	}
	if !strings.Contains(d.options.Note, "later events are a branch now") {
		t.Errorf("nobody was told: %q", d.options.Note)
	}
	d.do("undo", "")
	if d.lesson.head.seq() != far || d.lesson.head.hash(far) != hash || !d.lesson.cursor.model.Clients["c2"].Alive {
		t.Fatalf("undo brought back event %d of %d", d.lesson.head.seq(), far)
	}
	for range 5 {
		d.do("undo", "")
	}
	if !strings.Contains(d.options.Note, "nothing to undo") || d.gate() != lessons.Ready {
		t.Errorf("at the bottom: %q, %s", d.options.Note, d.gate())
	}
}

// TestRepeatingThePastIsNoFork: who goes on as before keeps the future.
func TestRepeatingThePastIsNoFork(t *testing.T) {
	d := toGhost(t)
	d.do("next", "")
	far := d.lesson.head.seq()
	d.do("start", "")
	if d.step() != "calm" || d.seq() != d.lesson.head.startSeq {
		t.Fatalf("start leads to %s", d.step())
	}
	for _, want := range []string{"kill", "back", "hear", "ghost"} {
		d.do("next", "")
		d.do("pause", "")
		if d.step() != want || d.lesson.head.seq() != far {
			t.Fatalf("next leads to %s, not %s; the head is at %d of %d", d.step(), want, d.lesson.head.seq(), far)
		}
	}
	d.do("predict-check", "session")
	if d.lesson.head.seq() != far || d.gate() != lessons.Waiting {
		t.Fatalf("the same answer forked: head at %d of %d", d.lesson.head.seq(), far)
	}
	d.do("prev", "")
	if d.step() != "hear" {
		t.Fatalf("back leads to %s", d.step())
	}
}

// TestSeveralThingsAtOneMoment: what is done while time stands still happens in that order, also when it is run again.
func TestSeveralThingsAtOneMoment(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	for _, c := range []string{"c1", "c2", "c3"} {
		d.do("kill", c)
	}
	d.do("restart", "c2")
	d.do("step", "")
	link := d.lesson.link()
	again := openLesson(t, ghostLesson, link)
	if again.options.Note != "" || again.seq() != d.seq() || again.picture() != d.picture() {
		t.Fatalf("the link leads to event %d of %d: %q", again.seq(), d.seq(), again.options.Note)
	}
}

// TestOldEventsAreBroughtBack: a long run drops its oldest events; a rewind beyond them runs the lesson again.
func TestOldEventsAreBroughtBack(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.lesson.head.most = 3000
	d.do("take-over", "")
	d.do("step", "")
	early := d.seq()
	picture, link := d.picture(), d.lesson.link()
	d.do("speed", "100")
	d.do("play", "")
	for d.lesson.head.seq() < 12_000 {
		d.frame(100)
	}
	d.do("kill", "c1")
	for range 5 {
		d.frame(100)
	}
	d.do("pause", "")
	if d.lesson.head.first() < early || len(d.lesson.head.events) > 3000+frameEvents {
		t.Fatalf("%d events are kept, from %d on", len(d.lesson.head.events), d.lesson.head.first())
	}
	d.lesson.show(early)
	d.fill()
	if got := d.lesson.link(); d.seq() != early || got != link {
		t.Fatalf("event %d is brought back under the link %s instead of %s", d.seq(), got, link)
	}
	if got := d.picture(); got != picture {
		t.Fatalf("event %d looks otherwise when it is brought back:\n%s", early, firstDifference(got, picture))
	}
	d.do("play", "")
	for range 60 {
		d.frame(200)
	}
	if d.lesson.cursor.model.Clients["c1"].Alive {
		t.Fatalf("what was done later did not happen again: at %d ms, %d of the inputs %+v done", d.lesson.head.nowMs(), d.lesson.head.applied, d.lesson.head.inputs)
	}
}

func TestDeterminism(t *testing.T) {
	run := func() uint64 {
		d := toGhost(t)
		d.do("play", "")
		d.play(4000)
		return d.lesson.head.hash(d.lesson.head.seq())
	}
	if a, b := run(), run(); a != b {
		t.Fatalf("two runs of the same actions differ: %x, %x", a, b)
	}
}

// TestTheSetUpCanBeLookedAt, and whoever acts there acts at the lesson's start.
func TestTheSetUpCanBeLookedAt(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("grain", "state")
	for range 3 {
		d.key("ArrowLeft")
	}
	if b, ok := d.lesson.head.at(d.seq()).Body.(event.StateChanged); !ok || d.seq() >= d.lesson.head.startSeq {
		t.Fatalf("three changes of state back is event %d, %v", d.seq(), b)
	}
	if d.step() != "calm" || d.lesson.cursor.furthest == nil {
		t.Errorf("in the set-up the lesson stands at %s", d.step())
	}
	d.do("next", "")
	if d.step() != "kill" || d.lesson.cursor.model.Clients["c3"].Alive {
		t.Errorf("next leads to %s", d.step())
	}
	d.do("seek", "0")
	for range 30 {
		d.do("back", "")
	}
	d.do("grain", "event")
	for d.seq() > 1 {
		d.lesson.show(d.seq() - 200)
	}
	d.do("back", "")
	if d.seq() != 1 || !strings.Contains(d.options.Note, "first event") || !d.options.AtStart {
		t.Errorf("at the very beginning: event %d, %q", d.seq(), d.options.Note)
	}
	d.do("start", "")
	if d.seq() != d.lesson.head.startSeq {
		t.Errorf("start leads to event %d", d.seq())
	}
	d.do("seek", "0")
	d.do("play", "")
	for range 60 {
		d.frame(250)
	}
	if d.lesson.cursor.nowMs <= d.lesson.head.startMs-60_000 {
		t.Error("the past does not play")
	}
}
