package tab

import (
	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// lessonPage is the mode of a lesson's page. It shows the Tab's lesson, which is another one after a crash.
type lessonPage struct{ t *Tab }

func (p lessonPage) tick(_, passedMs int64) bool { p.t.lesson.tick(passedMs); return false }
func (p lessonPage) half() bool                  { return false }
func (p lessonPage) playing() bool {
	return p.t.lesson.pace.playing || p.t.lesson.chasing != nil
}
func (p lessonPage) moving() bool  { return p.playing() }
func (p lessonPage) wakeMs() int64 { return 0 }

func (p lessonPage) rate() Rate {
	pace := &p.t.lesson.pace
	if !pace.playing || pace.leaps() {
		return Rate{}
	}
	return Rate{Num: pace.speed.Den, Den: pace.speed.Num}
}

func (p lessonPage) interrupted() {
	if p.t.lesson.chasing != nil {
		p.t.lesson.chased()
	}
}

func (p lessonPage) act(action, arg string) bool { return p.t.lesson.do(action, arg) }
func (p lessonPage) offers(action string) bool   { return action != "freeze" && action != "command" }
func (p lessonPage) field(Key) bool              { return false }
func (p lessonPage) compares() bool              { return p.t.lesson.compared != nil }
func (p lessonPage) dismiss()                    { p.t.lesson.compare("") }
func (p lessonPage) unfollow()                   { p.t.lesson.followed = nil }
func (p lessonPage) findIn() string              { return "transcript" }
func (p lessonPage) picture() *view.Model        { return p.t.lesson.cursor.model }

func (p lessonPage) filled(o *view.Options) *view.Model { return p.t.lesson.fill(o) }
func (p lessonPage) parts(m *view.Model, o view.Options) []view.Part {
	return view.LessonParts(m, o)
}
func (p lessonPage) told()                         { p.t.lesson.narrate() }
func (p lessonPage) jumpTo(seq int64)              { p.t.lesson.jump(seq) }
func (p lessonPage) factAt(seq int64) *event.Event { return p.t.lesson.fact(seq) }

func (p lessonPage) address() {
	if p.t.lesson.address() {
		p.t.lesson.keep()
	}
}

func (p lessonPage) raw(request int64, record string) *view.Raw {
	e := p.t.lesson.engineHere()
	if e == nil || e.World() == nil {
		return nil
	}
	if request == 0 {
		return p.t.rawRecord(e, record)
	}
	return p.t.rawRequest(e, request)
}

// crashed begins a new run, and goes back to the moment where that did not break again.
func (p lessonPage) crashed(link string, again bool) {
	t, m := p.t, p.t.lesson
	t.options.Memo = view.NewMemo()
	fresh := &lessonMode{t: t, lesson: m.lesson, page: m.page, pace: newPace(), hints: map[int]int{}}
	var err error
	if fresh.head, err = newHead(m.lesson); err != nil {
		return
	}
	fresh.cursor = newCursor(fresh.head)
	t.lesson, t.linked = fresh, ""
	fresh.enterStep()
	if link != "" && !again {
		fresh.open(link)
	}
}

// sandboxPage is the mode of free play: a lesson without steps, and what only it can.
type sandboxPage struct {
	lessonPage
	s *sandbox
}

func (p sandboxPage) tick(wallMs, passedMs int64) bool {
	p.lessonPage.tick(wallMs, passedMs)
	return p.s.tick()
}
func (p sandboxPage) act(action, arg string) bool                     { return p.s.do(action, arg) }
func (p sandboxPage) offers(action string) bool                       { return action != "freeze" }
func (p sandboxPage) field(k Key) bool                                { return k.Field == "console" && p.s.console.key(p.s, k) }
func (p sandboxPage) filled(o *view.Options) *view.Model              { return p.s.fill(o) }
func (p sandboxPage) parts(m *view.Model, o view.Options) []view.Part { return view.SandboxParts(m, o) }
func (p sandboxPage) address()                                        { p.t.lesson.address() }

// crashed leaves the run as it is: what was built is worth more than what broke.
func (p sandboxPage) crashed(string, bool) {}
