package tab

import (
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// followed is a timer that steps follow through the wheels, and after it those that take its place: a heartbeat cancels one
// timer and arms another.
type followed struct {
	group, member string
	kind          event.OpKind
	broker        int32
	op            int64
}

// followTimer makes every step stop where something happens to a timer: "BROKER:OP". The same again ends it.
func (m *lessonMode) followTimer(arg string) {
	if m.followed != nil {
		m.followed = nil
		m.t.say("follow-over")
		return
	}
	broker, op, _ := strings.Cut(arg, ":")
	g := m.t.group(m.cursor.model)
	if g == nil {
		return
	}
	for _, o := range g.Ops {
		if strconv.Itoa(int(o.Key.Broker)) == broker && strconv.FormatInt(o.Key.Op, 10) == op {
			m.followed = &followed{g.Name, o.Member, o.Type, o.Key.Broker, o.Key.Op}
			m.t.selected = opName(o)
			m.t.say("follow", string(o.Type))
			return
		}
	}
	m.t.say("follow-gone")
}

func opName(o *view.Op) string {
	return "op:" + strconv.Itoa(int(o.Key.Broker)) + ":" + strconv.FormatInt(o.Key.Op, 10)
}

// concerns tells whether a fact is one of the timer's: it was armed, dropped into a finer wheel, or ended.
func (f *followed) concerns(e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.OperationWatched:
		return e.Group == f.group && b.Type == f.kind && b.Member == f.member
	case event.TimerCascaded:
		return e.Broker == f.broker && b.Op == f.op
	case event.OperationCompleted:
		return e.Broker == f.broker && b.Op == f.op
	}
	return false
}

// keepUp keeps the timer that is followed selected, wherever the cursor goes; where another one has taken its place, that.
func (m *lessonMode) keepUp() {
	f := m.followed
	if f == nil {
		return
	}
	g := m.cursor.model.Groups[f.group]
	if g == nil {
		return
	}
	for i := len(g.Ops) - 1; i >= 0; i-- {
		if o := g.Ops[i]; o.Type == f.kind && o.Member == f.member {
			f.broker, f.op = o.Key.Broker, o.Key.Op
			m.t.selected = opName(o)
			return
		}
	}
}
