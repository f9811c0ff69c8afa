package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"grouplab/server/app"
)

// The lessons of the site, and for each question the option that the coordinator itself finds right.
var lessonAnswers = map[string][]string{
	"first-member":    {"id", "delay", "written"},
	"unclean-restart": {"session"},
}

// labServer serves the pages with one broker on free ports.
func labServer(t testing.TB) string {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 1})
	return "http://" + s.HTTPAddr()
}

func TestLessonsByKeyboardAlone(t *testing.T) {
	base := labServer(t)
	for id, answers := range lessonAnswers {
		t.Run(id, func(t *testing.T) {
			b := open(t, base+"/lab/"+id, 1440, 900)
			b.until("the lesson's program", `document.querySelector("#part-transport [data-do=play]")`, 30*time.Second)
			p := &player{tab: b, answers: answers}
			p.play()
			if left := eval[string](b, `[...document.querySelectorAll(".goal-chip")].map(c => c.innerText).filter(s => s.includes("does not hold")).join("; ")`); left != "" {
				t.Errorf("the lesson is over and its goal is not reached: %s", left)
			}
			if len(p.answers) > 0 {
				t.Errorf("questions that were never asked: %v", p.answers)
			}
			p.backAndForth()
			b.quiet()
		})
	}
}

// player walks through a lesson with keys alone.
type player struct {
	*tab
	answers []string
}

func (p *player) step() string { return p.text("#part-lesson h1") }

const (
	asksNow = `document.querySelector("#part-lesson input[name=predict]:not([disabled])")`
	mayNext = `document.querySelector("#part-lesson [data-do=next]:not([disabled])")`
	playing = `document.querySelector("#part-transport [data-do=play][aria-pressed=true]")`
	isLast  = `[...document.querySelectorAll("#part-lesson .dots li")].at(-1).className.includes("now")`
)

// play goes from beat to beat: it answers what is asked, plays what must happen, and goes on.
func (p *player) play() {
	p.t.Helper()
	for beat := 0; beat < 30; beat++ {
		p.until("step "+p.step()+" to come to rest", asksNow+"||"+mayNext+"||"+isLast+"||!"+playing, time.Minute)
		switch {
		case eval[bool](p.tab, "!!"+asksNow):
			p.answer()
		case eval[bool](p.tab, "!!"+mayNext):
			before := p.step()
			p.press("n")
			p.until("the step after "+before, fmt.Sprintf(`document.querySelector("#part-lesson h1").innerText !== %q`, before), 10*time.Second)
		case eval[bool](p.tab, isLast):
			return
		default:
			p.press("]", "]", "]", "]", "]") // as fast as it goes
			p.press("Space")
			p.until("time to pass in step "+p.step(), asksNow+"||"+mayNext+"||"+isLast, time.Minute)
		}
	}
	p.t.Fatalf("after 30 beats the lesson is still at %q", p.step())
}

// answer picks the right option with the arrow keys and checks it with the Tab and Enter keys.
func (p *player) answer() {
	p.t.Helper()
	if len(p.answers) == 0 {
		p.t.Fatalf("a question that this test does not know: %s", p.text("#part-lesson .ask legend"))
	}
	want := p.answers[0]
	p.answers = p.answers[1:]
	p.press("q")
	p.until("the question to have the focus", `document.activeElement?.name === "predict"`, 5*time.Second)
	if !eval[bool](p.tab, `!!document.querySelector("#part-lesson input[name=predict]:checked")`) {
		p.press("Space") // marks the option that has the focus
	}
	for range 6 {
		if eval[string](p.tab, `document.querySelector("#part-lesson input[name=predict]:checked")?.value ?? ""`) == want {
			break
		}
		p.press("ArrowDown")
	}
	p.press("Tab")
	p.until("the button that checks to have the focus", `document.activeElement?.dataset.do === "predict-check"`, 5*time.Second)
	p.press("Enter")
	p.until("the verdict", `document.querySelector("#part-lesson .ask.answered")`, 20*time.Second)
	if wrong := eval[bool](p.tab, `document.querySelector("#part-lesson .ask").innerText.includes("✕")`); wrong {
		p.t.Errorf("%s: the coordinator does not agree with %q: %s", p.step(), want, p.text("#part-lesson .ask"))
	}
}

// backAndForth steps back over the last expiry and forward again, and must come to the same facts.
func (p *player) backAndForth() {
	p.t.Helper()
	fact := func() string { return p.text("#part-transport .fact") }
	var trail []string
	expired := false
	for range 400 {
		trail = append(trail, fact())
		if expired && len(trail) > 3 {
			break
		}
		expired = expired || strings.Contains(trail[len(trail)-1], "(expired)")
		before := trail[len(trail)-1]
		p.press("ArrowLeft")
		p.until("a step back from "+before, fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText !== %q`, before), 10*time.Second)
	}
	if !expired {
		p.t.Fatalf("stepped back %d times and met no timer that expired", len(trail))
	}
	for i := len(trail) - 2; i >= 0; i-- {
		p.press("ArrowRight")
		p.until("the same fact as on the way back: "+trail[i],
			fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText === %q`, trail[i]), 10*time.Second)
	}
}
