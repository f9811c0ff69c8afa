package tab

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/brokerlog"
	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// What the mode of a pasted log answers of what all pages can.

func (m *pasteMode) half() bool    { return false }
func (m *pasteMode) playing() bool { return false }
func (m *pasteMode) moving() bool  { return false }
func (m *pasteMode) wakeMs() int64 { return 0 }
func (m *pasteMode) rate() Rate    { return Rate{} }
func (m *pasteMode) interrupted()  {}
func (m *pasteMode) offers(action string) bool {
	return slices.Contains([]string{"step", "back", "start", "end", "next-state", "prev-state", "link"}, action)
}
func (m *pasteMode) field(Key) bool       { return false }
func (m *pasteMode) compares() bool       { return false }
func (m *pasteMode) dismiss()             {}
func (m *pasteMode) unfollow()            {}
func (m *pasteMode) findIn() string       { return "transcript" }
func (m *pasteMode) picture() *view.Model { return m.play.model }
func (m *pasteMode) told()                {}
func (m *pasteMode) address()             {}

func (m *pasteMode) raw(int64, string) *view.Raw { return nil }

func (m *pasteMode) parts(model *view.Model, o view.Options) []view.Part {
	return view.PasteParts(model, o, m.state())
}

func (m *pasteMode) filled(o *view.Options) *view.Model {
	o.AtStart, o.AtEnd = m.play.at == 0, m.play.at == len(m.result.Events)
	o.Fact = m.factAt
	return m.play.model
}

// factAt finds a fact by its number: they are numbered from 1 on, in order.
func (m *pasteMode) factAt(seq int64) *event.Event {
	if seq < 1 || seq > int64(len(m.result.Events)) {
		return nil
	}
	return &m.result.Events[seq-1]
}

// jumpTo shows the moment of a fact, of whichever group it is.
func (m *pasteMode) jumpTo(seq int64) {
	e := m.factAt(seq)
	if e == nil {
		return
	}
	if e.Group != "" {
		m.t.options.Group = e.Group
	}
	m.show(int(seq))
}

// crashed goes back to where nothing was read.
func (m *pasteMode) crashed(string, bool) {
	m.begin("", 0)
	m.phase = pasteIdle
}

// act does what only this page can.
func (m *pasteMode) act(action, arg string) bool {
	switch action {
	case "paste":
		if strings.TrimSpace(arg) == "" {
			m.note("nothing")
			return true
		}
		m.begin("", int64(len(arg)))
		m.text, m.whole = arg, true
	case "example":
		m.t.out.Fill = append(m.t.out.Fill, Attr{"paste-text", pasteExample})
		m.begin("", int64(len(pasteExample)))
		m.text, m.whole = pasteExample, true
	case "paste-file":
		size, name, _ := strings.Cut(arg, " ")
		n, _ := number(size)
		m.begin(name, n)
		m.t.out.NextPart = true
	case "paste-part":
		if m.phase == pasteReading {
			m.text += arg
			m.notice = true
		}
	case "paste-end", "paste-stop":
		if m.phase == pasteReading {
			m.whole = true
			if action == "paste-stop" {
				m.text = ""
			}
		}
	case "paste-failed":
		m.begin("", 0)
		m.phase = pasteIdle
		m.note("failed", arg)
	default:
		return m.move(action, arg)
	}
	return true
}

// move moves the cursor.
func (m *pasteMode) move(action, arg string) bool {
	t := m.t
	if m.phase != pasteShown {
		m.note("nothing")
		return true
	}
	moved := true
	switch action {
	case "step":
		moved = m.step(1, t.options.Grain)
	case "back":
		moved = m.step(-1, t.options.Grain)
	case "next-state":
		moved = m.step(1, view.GrainState)
	case "prev-state":
		moved = m.step(-1, view.GrainState)
	case "start":
		m.show(0)
		m.step(1, view.GrainEvent)
	case "end":
		m.show(len(m.result.Events))
	case "seek":
		if ms, ok := t.seekMs(arg, view.Pasting); ok {
			m.play.seek(ms)
		}
	case "grain":
		if !slices.Contains(view.Grains, view.Grain(arg)) {
			return false
		}
		t.options.Grain = view.Grain(arg)
	case "line":
		n, ok := number(arg)
		return ok && m.toLine(int(n))
	case "link":
		m.note("link")
	case "save-story":
		t.out.Download = &Download{Name: "grouplab-log.md", Text: m.story()}
	default:
		return false
	}
	if !moved {
		m.note("no-more")
	} else if e := m.factAt(int64(m.play.at)); e != nil && action != "grain" {
		t.narrated = e.Text()
	}
	return true
}

// toLine shows what a line tells: its first fact is selected.
func (m *pasteMode) toLine(line int) bool {
	for i, l := range m.result.Lines {
		if l == line {
			m.jumpTo(int64(i) + 1)
			m.t.selected = eventName(int64(i) + 1)
			return true
		}
	}
	m.note("line-silent", strconv.Itoa(line))
	return true
}

// lineOf is the line that a fact comes from, 0 where there is none.
func (m *pasteMode) lineOf(seq int64) int {
	if seq < 1 || seq > int64(len(m.result.Lines)) {
		return 0
	}
	return m.result.Lines[seq-1]
}

// state is what the page shows beside the stage.
func (m *pasteMode) state() *view.PasteState {
	p := &view.PasteState{Name: m.name, Done: m.done, Of: max(m.size, m.done), Timed: m.result.Timed, Dropped: m.result.Dropped, Groups: m.groups}
	c := m.result.Counts
	if m.log != nil {
		c = m.log.Counts()
	}
	p.Lines, p.Understood, p.Rest, p.Unknown = c.Lines, c.Understood, c.Rest, c.Unknown
	if n := len(m.result.Events); n > 0 {
		p.FromMs, p.ToMs = m.result.Events[0].AtMs, m.result.Events[n-1].AtMs
		if m.result.Cut {
			p.Cut = n
		}
	}
	switch m.phase {
	case pasteIdle:
		return p
	case pasteShown:
		p.Read = true
	default:
		p.Reading = true
		if m.phase == pasteDrawing {
			p.Done, p.Of = int64(m.play.drawn), int64(len(m.result.Events))
		}
		return p
	}
	for i := range m.result.Events {
		if concerns(&m.result.Events[i], m.t.options.Group) {
			p.Facts++
			if i < m.play.at {
				p.At++
			}
		}
	}
	p.AtStart, p.AtEnd = p.At <= 1, p.At == p.Facts
	seq := int64(m.play.at)
	if of, ok := selectedEvent(m.t.selected); ok {
		seq = of
	}
	p.Current = m.lineOf(seq)
	p.Near = m.near(p.Current)
	for _, l := range m.result.Unknown[:min(len(m.result.Unknown), pasteBad)] {
		p.Bad = append(p.Bad, view.PasteLine{Number: l.Number, Text: l.Text})
	}
	return p
}

// near are lines that say something around one of them.
func (m *pasteMode) near(line int) (list []view.PasteLine) {
	i, found := slices.BinarySearchFunc(m.result.Sayings, line, func(l brokerlog.Line, n int) int { return l.Number - n })
	if !found {
		return nil
	}
	for _, l := range m.result.Sayings[max(i-pasteNear, 0):min(i+pasteNear+1, len(m.result.Sayings))] {
		list = append(list, view.PasteLine{Number: l.Number, Text: l.Text})
	}
	return list
}

// note says a sentence of this page's.
func (m *pasteMode) note(key string, args ...string) {
	m.t.note(m.words(key, args...))
}

func (m *pasteMode) words(key string, args ...string) string {
	s := wordsOfPaste[key].In(m.t.options.Lang)
	for i, a := range args {
		s = strings.ReplaceAll(s, "{"+strconv.Itoa(i)+"}", a)
	}
	return s
}

// wordsOfPaste are what the page says while it works.
var wordsOfPaste = map[string]view.Text{
	"nothing":     {En: "Paste some lines first, or choose a file.", Zh: "请先粘贴几行日志，或选择一个文件。"},
	"read":        {En: "{0} lines read, {1} say something of groups, {2} not understood.", Zh: "读了 {0} 行，其中 {1} 行讲到消费组，{2} 行没看懂。"},
	"failed":      {En: "The file cannot be read: {0}", Zh: "读不了这个文件：{0}"},
	"no-more":     {En: "The log tells nothing more of this group in that direction.", Zh: "这个方向上，日志没有再讲到这个消费组。"},
	"link":        {En: "A link cannot carry a log. Save it as Markdown instead.", Zh: "链接带不走日志，可以存为 Markdown。"},
	"line-silent": {En: "Line {0} tells nothing that the picture shows.", Zh: "第 {0} 行没有图里能显示的内容。"},
	"story":       {En: "What a log tells of {0}", Zh: "日志里的 {0}"},
	"story-from":  {En: "Made by GroupLab out of {0} lines, of which {1} say something of groups and {2} are not understood. All of it is inferred from lines.", Zh: "由 GroupLab 根据 {0} 行日志生成，其中 {1} 行讲到消费组，{2} 行没看懂。全部内容都是从日志推断的。"},
	"story-now":   {En: "At {0}", Zh: "{0} 时"},
	"story-gens":  {En: "Rebalances", Zh: "再均衡"},
	"story-facts": {En: "Facts, and the lines that tell them", Zh: "事实，以及出处的行"},
	"story-more":  {En: "… and {0} more facts.", Zh: "……另有 {0} 条事实。"},
}
