package script

import "grouplab/coordinator/event"

// GroupFacts is how a group stands, as conditions see it.
type GroupFacts struct {
	State       event.State
	Generation  int32
	Members     int
	Coordinator int32
}

// About tells how the script's group stands.
func (e *Engine) About() GroupFacts {
	g := at(e, "")
	return GroupFacts{g.state, g.generation, len(g.members), g.broker}
}
