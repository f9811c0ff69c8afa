package tab

import (
	"strconv"

	"grouplab/coordinator"
	"grouplab/static/view"
)

// asked is what the requests of a member would get, with the event at which that was asked.
type asked struct {
	seq     int64
	group   string
	answers []view.Answer
	checked bool
	broken  string // which invariant of a machine does not hold
}

// behaviour asks the machine what the requests of the group's member would get at the cursor. The machine stands at the head
// of the run, so where the viewer went back nothing is asked; nor while time runs, when nobody could read it.
func (m *lessonMode) behaviour() []view.Answer {
	g, w := m.t.group(m.cursor.model), m.head.engine.World()
	if g == nil || g.Broker == 0 || w == nil || !m.cursor.atHead() || m.pace.playing {
		return nil
	}
	if m.probed.seq == m.cursor.seq && m.probed.group == g.Name {
		return m.probed.answers
	}
	m.probed = asked{seq: m.cursor.seq, group: g.Name, checked: true, broken: m.unsound()}
	machine := w.Drive().Machine(g.Broker)
	if machine == nil {
		return nil
	}
	member, as := "", "unknown id"
	for _, mb := range g.Present() { // one that does not lead, where there is one: the leader's JoinGroup is another matter
		if as = "member"; member == "" || mb.ID != g.Leader {
			member = mb.ID
		}
	}
	requests, id, host, known := machine.Asks(g.Name, member)
	if !known {
		return nil
	}
	for _, r := range requests {
		p := w.Drive().Probe(w.NowMs(), g.Broker, coordinator.Request{ClientID: id, ClientHost: host, Kmsg: r})
		m.probed.answers = append(m.probed.answers, view.Answer{API: r.Key(), As: as, Code: p.Code, Parked: p.Parked, Until: p.Until, Guard: p.Guard})
	}
	return m.probed.answers
}

// unsound says which invariant of a running coordinator does not hold, that of the broker with the lowest number; "" where all
// hold.
func (m *lessonMode) unsound() (what string) {
	lowest := int32(0)
	for id := range m.cursor.model.Brokers {
		if machine := m.head.engine.World().Drive().Machine(id); machine != nil && (what == "" || id < lowest) {
			if err := machine.Invariants(); err != nil {
				lowest, what = id, "broker "+strconv.Itoa(int(id))+": "+err.Error()
			}
		}
	}
	return what
}
