package script

import "grouplab/coordinator/event"

// Run runs a whole script and returns everything that happened, in order of Seq, and the world's time at the end. On a
// mistake, or an expectation that failed, it returns what happened until then and an Error.
func Run(file, text string) (events []event.Event, nowMs int64, err error) {
	commands, err := Parse(file, text)
	if err != nil {
		return nil, 0, err
	}
	e := New(file)
	for _, c := range commands {
		if err = e.Do(c); err != nil {
			break
		}
	}
	return e.Take(), e.NowMs(), err
}
