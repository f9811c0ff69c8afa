package tab

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
	"grouplab/static/view"
)

// draft is a lesson made of a run.
type draft struct {
	name           string
	script, en, zh string
}

// page is what the page shows of a draft.
func (d *draft) page() *view.DraftPage {
	return &view.DraftPage{Name: d.name, Files: []view.DraftFile{{Name: "script.txt", Text: d.script}, {Name: "en.md", Text: d.en}, {Name: "zh.md", Text: d.zh}}}
}

// makeDraft makes a lesson of the run that is shown, for a folder of that name.
func (s *sandbox) makeDraft(name string) {
	number, id, _ := strings.Cut(name, "-")
	if len(number) != 2 || strings.Trim(number, "0123456789") != "" || !lessons.IsName(id) {
		s.t.say("draft-name", name)
		return
	}
	m := s.t.lesson
	inputs := m.head.inputs[:m.cursor.applied()]
	if len(inputs) == 0 {
		s.t.say("draft-nothing")
		return
	}
	d, err := newDraft(name, s.setup, inputs, m.cursor.nowMs)
	if err != nil {
		s.t.fail(err)
		return
	}
	s.draft = d
	s.t.say("draft-made")
}

// saveDraft hands one file of the draft to the viewer.
func (s *sandbox) saveDraft(name string) {
	if s.draft == nil {
		return
	}
	for _, f := range s.draft.page().Files {
		if f.Name == name {
			s.t.out.Download = &Download{Name: f.Name, Text: f.Text}
		}
	}
}

// draftStep is a command of a run as a step of a lesson. Then is how the group stood when the next command came, where
// that differs from how it stood right after this one.
type draftStep struct {
	name, command string
	moves         bool
	then          script.GroupFacts
}

// newDraft makes a lesson of a run: a step for each command, which waits for what the group came to, a question about it,
// and the end as the goal. The draft is proved as a lesson is: an error says what is missing.
func newDraft(name string, setup []string, inputs []input, endMs int64) (*draft, error) {
	commands, err := script.Parse("setup", strings.Join(setup, "\n"))
	if err != nil {
		return nil, err
	}
	e, err := lessons.NewFree(sandboxID, commands).Open()
	if err != nil {
		return nil, err
	}
	for len(inputs) > 0 && inputs[0].atMs == e.NowMs() && slices.Contains(building, strings.Fields(inputs[0].arg)[0]) {
		setup = append(setup[:len(setup):len(setup)], inputs[0].arg)
		if err := feed(e, inputs[0].arg); err != nil {
			return nil, err
		}
		inputs = inputs[1:]
	}
	start, steps := e.Clone(), []draftStep{}
	for i, in := range inputs {
		untilMs := endMs
		if i+1 < len(inputs) {
			untilMs = inputs[i+1].atMs
		}
		if err := feed(e, "at "+span(in.atMs)+" "+in.arg); err != nil {
			return nil, err
		}
		st := draftStep{name: stepName(in.arg, steps), command: in.arg}
		after := e.About()
		if err := feed(e, "at "+span(untilMs)); err != nil {
			return nil, err
		}
		st.then = e.About()
		st.moves = st.then != after
		steps = append(steps, st)
	}
	d := &draft{name: name}
	goals := draftGoals(start, e, steps)
	if len(goals) == 0 || !slices.ContainsFunc(steps, func(s draftStep) bool { return s.moves }) {
		return nil, fmt.Errorf("nothing has become of it yet: let time pass until the group has changed, then make the lesson")
	}
	d.write(setup, steps, goals, start.About())
	_, id, _ := strings.Cut(name, "-")
	l, err := lessons.Load(id, d.script)
	if err == nil {
		err = proveDraft(l)
	}
	return d, err
}

// stepName names a step after its command.
func stepName(command string, before []draftStep) string {
	var b strings.Builder
	for _, r := range strings.ToLower(command) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := strings.Trim(b.String()[:min(b.Len(), 30)], "-")
	name := base
	for n := 2; name == "begin" || slices.ContainsFunc(before, func(s draftStep) bool { return s.name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// draftGoal is a clause of the goal with its texts.
type draftGoal struct{ name, condition, en, zh string }

// draftGoals are what is the case at the end and was not at the start.
func draftGoals(start, end *script.Engine, steps []draftStep) (list []draftGoal) {
	then := end.About()
	all := []draftGoal{
		{"generation", fmt.Sprintf("generation >= %d", then.Generation), fmt.Sprintf("generation %d", then.Generation), fmt.Sprintf("generation %d", then.Generation)},
		{"members", fmt.Sprintf("members == %d", then.Members), fmt.Sprintf("%d members", then.Members), fmt.Sprintf("%d 个成员", then.Members)},
		{"coordinator", fmt.Sprintf("coordinator %d", then.Coordinator), fmt.Sprintf("broker %d has the group", then.Coordinator), fmt.Sprintf("组在 broker %d", then.Coordinator)},
		{"state", "state " + string(then.State), string(then.State), string(then.State)},
	}
	for _, s := range steps {
		if words := strings.Fields(s.command); words[0] == "commit" {
			all = append(all, draftGoal{"committed", "committed " + words[2] + " == " + words[3], words[2] + " at " + words[3], words[2] + " 提交到 " + words[3]})
		}
	}
	seen := map[string]bool{}
	for _, g := range all {
		c, err := script.ParseCondition("goal", 1, 1, g.condition)
		if err == nil && c.Holds(end) && !c.Holds(start) && !seen[g.name] {
			seen[g.name] = true
			list = append(list, g)
		}
	}
	return list
}

// wait is what a step of a draft waits for.
func (s draftStep) wait() string {
	w := fmt.Sprintf("state %s and generation >= %d and members == %d", s.then.State, s.then.Generation, s.then.Members)
	if s.then.Coordinator == 0 {
		return "state " + string(event.Dead)
	}
	return w
}

// write writes the three files.
func (d *draft) write(setup []string, steps []draftStep, goals []draftGoal, start script.GroupFacts) {
	var b, en, zh strings.Builder
	b.WriteString("# " + d.name + ", recorded in the sandbox.\ndraft\n\nsetup\n")
	for _, l := range setup {
		b.WriteString("  " + l + "\n")
	}
	b.WriteString("\nstep begin\n  focus clients\n")
	en.WriteString("# " + d.name + "\n\nOne sentence for the list of lessons.\n\n## step begin: What is there\n\nWhat the learner sees before anything moves.\n")
	zh.WriteString("# " + d.name + "\n\n课程列表里的一句话。\n\n## step begin: 现在有什么\n\n一切开始之前，学习者看到的是什么。\n")
	asked := false
	before := start
	for i, s := range steps {
		fmt.Fprintf(&b, "\nstep %s\n  %s\n", s.name, s.command)
		fmt.Fprintf(&en, "\n## step %s: %s\n\nSay what happens, not what follows from it.\n", s.name, s.command)
		fmt.Fprintf(&zh, "\n## step %s: %s\n\n说发生了什么，不说结果。\n", s.name, s.command)
		if s.moves && !asked {
			asked = true
			d.ask(&b, &en, &zh, s, before)
		}
		var waits []string
		if s.moves {
			waits, before = append(waits, s.wait()), s.then
		}
		if i == len(steps)-1 { // the end is the goal
			for _, g := range goals {
				waits = append(waits, g.condition)
			}
		}
		if len(waits) > 0 {
			b.WriteString("  wait " + strings.Join(waits, " and ") + "\n")
		}
	}
	b.WriteString("\n")
	for _, g := range goals {
		fmt.Fprintf(&b, "goal %s %s\n", g.name, g.condition)
		fmt.Fprintf(&en, "\n## goal %s: %s\n", g.name, g.en)
		fmt.Fprintf(&zh, "\n## goal %s: %s\n", g.name, g.zh)
	}
	d.script, d.en, d.zh = b.String(), en.String(), zh.String()
}

// ask puts a question into a step: how many members there are when it is over.
func (d *draft) ask(b, en, zh *strings.Builder, s draftStep, before script.GroupFacts) {
	other := before.Members
	if other == s.then.Members {
		other++
	}
	fmt.Fprintf(b, "  predict members\n    option right members == %d\n    option wrong members == %d\n    decide within=2h %s\n", s.then.Members, other, s.wait())
	en.WriteString("\n? Where to look.\n? What to think about.\n? Nearly the answer.\n\n## predict members: How many members does the group have then?\n")
	zh.WriteString("\n? 该看哪里。\n? 该想什么。\n? 差不多就是答案了。\n\n## predict members: 到那时组里有几个成员？\n")
	fmt.Fprintf(en, "\n### right: %d\n\nWhy.\n\n### wrong: %d\n\nWhy not; and what is confused here.\n", s.then.Members, other)
	fmt.Fprintf(zh, "\n### right: %d\n\n为什么。\n\n### wrong: %d\n\n为什么不是；错在哪里。\n", s.then.Members, other)
}

// proveDraft plays a draft as the proof of lessons does: doing nothing does not reach the goal, the steps do, and the
// question has one answer.
func proveDraft(l *lessons.Lesson) error {
	e, err := l.Open()
	if err != nil {
		return err
	}
	idle := e.Clone()
	for end := idle.NowMs() + 10*minute; ; {
		if _, met := l.GoalOf(idle); met {
			return fmt.Errorf("the end comes by itself, without what was done: do something that changes the group")
		}
		if !idle.Step(end) {
			break
		}
		idle.Take()
	}
	p := lessons.NewPlayer(l)
	for n := 0; p.Gate() != lessons.Over; n++ {
		switch p.Gate() {
		case lessons.Asking:
			_, err = p.Predict(e, "")
		case lessons.Ready:
			err = p.Next(e)
		default:
			if e.NextMs() < 0 || n > maxWaitMoments {
				err = fmt.Errorf("step %s is never over: %s", p.Step().Name, p.Step().Wait.Explain(e))
				break
			}
			e.Step(e.NextMs())
			e.Take()
			p.Observe(e)
		}
		if err != nil {
			return fmt.Errorf("the run does not work as a lesson: %w", err)
		}
	}
	if clauses, met := l.GoalOf(e); !met {
		return fmt.Errorf("the lesson would end short of its goal: %+v", clauses)
	}
	return nil
}
