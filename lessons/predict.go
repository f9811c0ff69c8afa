package lessons

import (
	"fmt"
	"strings"

	"grouplab/coordinator/sim/script"
)

// Grade finds the right answer: it runs a copy of the engine until the decision and asks every option. The engine
// itself is left as it is. Exactly one option must come true; anything else is an error of the lesson.
func (q *Prediction) Grade(e *script.Engine) (right string, decidedMs int64, err error) {
	c := e.Clone()
	c.Mark()
	if err := c.Do(q.Decide); err != nil {
		return "", 0, fmt.Errorf("prediction %q is never decided: %w", q.Name, err)
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
