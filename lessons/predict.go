package lessons

import (
	"fmt"
	"strings"

	"grouplab/coordinator/sim/script"
)

// Grade finds the right answer: it runs a copy of the engine until the decision and asks every option about what
// happened on the way. The engine itself is left as it is. Exactly one option must come true; anything else is an error
// of the lesson.
func (q *Prediction) Grade(e *script.Engine) (right string, decidedMs int64, err error) {
	c := e.Clone()
	c.Mark()
	untilMs := c.NowMs() + q.Decide.WithinMs
	for !q.Decide.Cond.Holds(c) { // not by Do: the end of an until is a Mark
		if c.NowMs() >= untilMs {
			return "", 0, fmt.Errorf("prediction %q is not decided within %d ms: %s", q.Name, q.Decide.WithinMs, q.Decide.Cond.Explain(c))
		}
		c.Step(untilMs)
	}
	var held []string
	for _, o := range q.Options {
		if o.If.Holds(c) {
			held = append(held, o.ID)
		}
	}
	if len(held) != 1 {
		var all []string
		for _, o := range q.Options {
			all = append(all, o.ID+": "+o.If.Explain(c))
		}
		return "", 0, fmt.Errorf("prediction %q needs exactly one true option at %d ms and has %d: %s", q.Name, c.NowMs(), len(held), strings.Join(all, "; "))
	}
	return held[0], c.NowMs(), nil
}

func (q *Prediction) has(id string) bool {
	for _, o := range q.Options {
		if o.ID == id {
			return true
		}
	}
	return false
}

func (q *Prediction) ids() string {
	var ids []string
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	return list(ids)
}
