package lessons

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"grouplab/coordinator/sim/script"
)

// LearnerVerbs are the verbs that a learner can give; set-up and time are not among them.
var LearnerVerbs = []string{"start", "stop", "kill", "pause", "resume", "restart", "add-partitions", "kill-broker", "restart-broker"}

// untimed are the verbs that a step may run: they take no time of the world. Waiting is the step's own.
var untimed = append([]string{"drop", "delay", "duplicate", "cut", "heal", "busy", "latency", "loss", "topic", "consumer", "expect", "commit", "ask",
	"fail-appends", "slow-appends", "move-leader", "stop-broker", "set"}, LearnerVerbs...)

// FreeVerbs are the verbs of those who have taken over: all that take no time and are done to a world that is there.
var FreeVerbs = append([]string{"group", "delete-topic"}, slices.DeleteFunc(slices.Clone(untimed), func(v string) bool { return v == "expect" })...)

var stepWords = []string{"focus", "speed", "predict", "wait", "allow", "challenge", "move", "hint"}

func (p *parser) step(head line, name string, body []line) error {
	if p.setupLine == 0 {
		return p.fail(head.no, 1, "setup comes before the first step")
	}
	s := Step{Name: name, Line: head.no}
	for i := 0; i < len(body); {
		l := body[i]
		end := i + 1
		for end < len(body) && body[end].depth > 1 {
			end++
		}
		if l.depth != 1 {
			return p.fail(l.no, l.col(), "this line is indented by 4; only what belongs to a prediction is")
		}
		word, _, _ := l.word()
		if word != "predict" && end > i+1 {
			return p.fail(body[i+1].no, body[i+1].col(), "%s has no lines of its own; only a prediction has", word)
		}
		if err := p.stepLine(&s, l, body[i+1:end]); err != nil {
			return err
		}
		i = end
	}
	p.lesson.Steps = append(p.lesson.Steps, s)
	return nil
}

func (p *parser) stepLine(s *Step, l line, body []line) error {
	word, rest, col := l.word()
	if s.Wait != nil && word != "allow" && word != "move" && word != "hint" {
		return p.fail(l.no, l.col(), "a step is over when what it waits for has come; nothing but `allow`, `move` and `hint` follows `wait`")
	}
	var err error
	switch word {
	case "focus":
		if s.Focus.Part != "" {
			return p.fail(l.no, l.col(), "a step has one focus; it is on %s already", s.Focus.Part)
		}
		s.Focus, err = p.focus(l, rest, col)
	case "speed":
		speed, ok := ParseSpeed(rest)
		if !ok {
			return p.fail(l.no, col, "%q is no speed; there are %s", rest, list(speedNames()))
		}
		s.Speed = speed
	case "predict":
		if s.Predict != nil {
			return p.fail(l.no, l.col(), "a step asks one question; it has one in line %d", s.Predict.Line)
		}
		s.Predict, err = p.predict(l, rest, col, body)
	case "wait":
		var c script.Condition
		c, err = p.condition(l, rest, col, "wait")
		s.Wait = &c
	case "challenge":
		err = p.challenge(s, l, rest, col)
	case "hint":
		var f Focus
		if rest != "" {
			f, err = p.focus(l, rest, col)
		}
		s.Hints = append(s.Hints, f)
	case "move":
		err = p.move(s, l, rest, col)
	case "allow":
		err = p.allow(s, l, rest, col)
	default:
		err = p.stepCommand(s, l, word)
	}
	return err
}

func (p *parser) stepCommand(s *Step, l line, word string) error {
	verb := strings.TrimLeft(word, "!")
	if near := meant(word, stepWords); near != "" && !slices.Contains(untimed, verb) {
		return p.fail(l.no, l.col(), "%q is no word of a step%s", word, near)
	}
	c, err := p.command(l)
	if err != nil {
		return err
	}
	if !slices.Contains(untimed, c.Verb) {
		return p.fail(l.no, l.col(), "a step cannot run %q; its commands take no time and change no set-up: %s; use `wait CONDITION` to wait", c.Verb, list(untimed))
	}
	if s.Predict != nil {
		return p.fail(l.no, l.col(), "commands come before the prediction: they run before it is asked")
	}
	s.Commands = append(s.Commands, c)
	return nil
}

// challenge reads `challenge par=N CONDITION`.
func (p *parser) challenge(s *Step, l line, rest string, col int) error {
	word, text, _ := strings.Cut(rest, " ")
	number, found := strings.CutPrefix(word, "par=")
	par, err := strconv.Atoi(number)
	if !found || err != nil || par < 1 || par > 20 {
		return p.fail(l.no, col, "a challenge is `challenge par=N CONDITION`, N the moves that it takes at most, 1 to 20; found %q", word)
	}
	c, err := p.condition(l, text, col+len(word)+1, "challenge")
	s.Par, s.Wait = par, &c
	return err
}

// move reads `move NAME COMMAND`.
func (p *parser) move(s *Step, l line, rest string, col int) error {
	name, text, _ := strings.Cut(rest, " ")
	if !isName(name) {
		return p.fail(l.no, col, "a move is `move NAME COMMAND`, its name of small letters, digits and single dashes; found %q", name)
	}
	if s.Move(name) != nil {
		return p.fail(l.no, col, "there is a move %q already", name)
	}
	c, err := script.ParseLine(p.file, l.no, strings.Repeat(" ", col+len(name))+text)
	if err != nil {
		return err
	}
	if c.Not || !slices.Contains(untimed, c.Verb) {
		return p.fail(l.no, col+len(name)+1, "a move cannot be %q; it takes no time and changes no set-up: %s", text, list(untimed))
	}
	s.Moves = append(s.Moves, Move{name, c.Raw})
	return nil
}

func (p *parser) allow(s *Step, l line, rest string, col int) error {
	words := strings.Fields(rest)
	if len(words) == 0 {
		return p.fail(l.no, col, "allow needs verbs: %s", list(LearnerVerbs))
	}
	for _, w := range words {
		if !slices.Contains(LearnerVerbs, w) {
			return p.fail(l.no, col+strings.Index(rest, w), "a learner cannot %q; there are %s%s", w, list(LearnerVerbs), meant(w, LearnerVerbs))
		}
		if !slices.Contains(s.Allow, w) {
			s.Allow = append(s.Allow, w)
		}
	}
	sort.Strings(s.Allow)
	return nil
}

func (p *parser) predict(head line, rest string, col int, body []line) (*Prediction, error) {
	name, err := p.name(head, "predict", rest, col)
	if err != nil {
		return nil, err
	}
	q := &Prediction{Name: name, Line: head.no}
	for _, l := range body {
		word, text, textCol := l.word()
		if q.Decide.Verb != "" {
			return nil, p.fail(l.no, l.col(), "decide is the last line of a prediction")
		}
		switch word {
		case "option":
			err = p.option(q, l, text, textCol)
		case "decide":
			q.Decide, err = p.decide(l, text)
		default:
			err = p.fail(l.no, l.col(), "a prediction holds `option ID CONDITION` and `decide [within=60s] CONDITION`; found %q", word)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(q.Options) < 2 {
		return nil, p.fail(head.no, head.col(), "a prediction needs at least two options; %q has %d", name, len(q.Options))
	}
	if q.Decide.Verb == "" {
		return nil, p.fail(head.no, head.col(), "prediction %q never decides; end it with `decide [within=60s] CONDITION`", name)
	}
	return q, nil
}

func (p *parser) option(q *Prediction, l line, text string, col int) error {
	id, condition, _ := strings.Cut(text, " ")
	if !isName(id) {
		return p.fail(l.no, col, "an option needs an id of small letters, digits and single dashes; found %q", id)
	}
	if q.has(id) {
		return p.fail(l.no, col, "there is an option %q already", id)
	}
	c, err := p.condition(l, condition, col+len(id)+1, "option "+id)
	if err != nil {
		return err
	}
	q.Options = append(q.Options, Option{ID: id, If: c})
	return nil
}

// decide reads the rest of the line as an `until` command, so that both take the same bound and the same conditions.
// The word is as many columns longer than `until` as its indentation is made shorter.
func (p *parser) decide(l line, text string) (script.Command, error) {
	if text == "" {
		return script.Command{}, p.fail(l.no, l.col(), "decide needs a condition, as in `decide within=60s state Stable`")
	}
	pad := l.col() - 1 + len("decide") - len("until")
	return script.ParseLine(p.file, l.no, strings.Repeat(" ", pad)+"until"+strings.TrimPrefix(l.text, "decide"))
}

func speedNames() []string {
	var names []string
	for _, s := range Speeds {
		names = append(names, s.String())
	}
	return names
}
