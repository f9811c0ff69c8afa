package tab

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/sim"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// tick lets the explorer look at one case a frame while its panel is shown, and tells whether there are more.
func (s *sandbox) tick() bool {
	if s.panel != "timeouts" || s.explore.tried >= len(waitCases) {
		return false
	}
	s.t.dirty = true
	return s.explore.work()
}

// fill puts what the sandbox shows into the options and returns the picture at the cursor.
func (s *sandbox) fill(o *view.Options) *view.Model {
	m := s.t.lesson
	model := m.fill(o)
	o.Lesson.Page = nil
	x := &view.SandboxState{Panel: s.panel, Begun: s.begun(), Mistake: s.wrong, Console: s.console.page(s)}
	w := m.head.engine.World()
	x.Consumers, x.Brokers, x.Group = w.Consumers(), int(w.Brokers()), m.head.engine.Group()
	switch s.panel {
	case "act":
		x.Deeds = func() []view.Deed { return deedsOf(m.head.engine) }
	case "build":
		s.fillBuild(x)
	case "script":
		x.Run = s.text()
		if s.draft != nil {
			x.Draft = s.draft.page()
		}
	case "timeouts":
		x.Explorer = s.explore.page()
	}
	o.Sandbox = x
	return model
}

func (s *sandbox) fillBuild(x *view.SandboxState) {
	for _, p := range presets {
		x.Presets = append(x.Presets, p.id)
	}
	e := s.t.lesson.head.engine
	for _, c := range e.Offers("add-partitions", "TOPIC") {
		x.Topics = append(x.Topics, c.Text)
	}
	x.Assignors = sim.Assignors()
	if x.Group == "" {
		x.Group = "orders-svc"
	}
	x.NextConsumer, x.NextTopic = free("c", x.Consumers), "orders"
	if slices.Contains(x.Topics, x.NextTopic) {
		x.NextTopic = free("topic-", x.Topics)
	}
	now := map[string]string{}
	for _, l := range slices.Concat(s.setup, inputLines(s.t.lesson.head.inputs)) {
		if c, err := script.ParseLine(commandFile, 1, l); err == nil && c.Verb == "set" {
			now[c.Args[0].Text] = c.Args[1].Text
		}
	}
	for _, a := range sim.Settings() {
		x.Settings = append(x.Settings, a.Name)
		if a.Name == s.setting {
			x.Setting = view.SettingPage{Name: a.Name, Now: now[a.Name], Standard: a.Standard, Values: a.Values, Live: a.Live}
		}
	}
}

func inputLines(inputs []input) (lines []string) {
	for _, in := range inputs {
		lines = append(lines, in.arg)
	}
	return lines
}

// free is the first name with a number that is not taken.
func free(prefix string, taken []string) string {
	for n := 1; ; n++ {
		if name := prefix + strconv.Itoa(n); !slices.Contains(taken, name) {
			return name
		}
	}
}

// formVerbs are the verbs that have a form of their own beside the buttons, most used first.
var formVerbs = []string{"commit", "busy", "drop", "delay", "duplicate", "cut", "heal", "latency", "loss", "add-partitions", "move-leader",
	"stop-broker", "fail-appends", "slow-appends", "delete-topic"}

// fieldValues are what fields hold before somebody writes in them.
var fieldValues = map[string]string{"COUNT": "1", "DURATION": "5s", "PERCENT": "5%", "OFFSET": "42", "TOTAL": "8",
	"API": "Heartbeat", "WRITES": "offsets", "ERROR": "NOT_ENOUGH_REPLICAS"}

// deedsOf are the forms, with what there is to choose from.
func deedsOf(e *script.Engine) (list []view.Deed) {
	for _, verb := range formVerbs {
		m, _ := script.ManualOf(verb)
		d := view.Deed{Verb: verb, Help: m.Help}
		for i, p := range m.Params {
			f := view.DeedField{Name: p, Value: fieldValues[p]}
			switch offers := e.Offers(verb, p); {
			case i >= len(m.Params)-m.Optional && p != "DURATION":
				f.Flag, f.Value = true, p
			case len(offers) > 0:
				for _, c := range offers {
					f.Options = append(f.Options, c.Text)
				}
				if verb == "cut" && p == "BROKER" || verb == "heal" {
					f.Value = "all"
				}
			}
			d.Fields = append(d.Fields, f)
		}
		list = append(list, d)
	}
	return list
}

// page is what the page shows of the console.
func (k *console) page(s *sandbox) view.ConsoleState {
	c := view.ConsoleState{Lines: k.log}
	_, list := k.candidates(s)
	if len(list) > maxCandidates {
		c.More = len(list) - maxCandidates
		list = list[:maxCandidates]
	}
	for _, w := range list {
		c.Candidates = append(c.Candidates, view.Candidate{Text: w.Text, Help: strings.TrimSpace(w.Help)})
	}
	return c
}
