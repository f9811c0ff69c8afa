package view

// SandboxPanels are the panels of the sandbox beside the stage, in their order.
var SandboxPanels = []string{"act", "build", "script", "timeouts"}

// SandboxState is what the sandbox shows beside the stage.
type SandboxState struct {
	Panel string
	// Deeds are what can be done beside the buttons, each a form; asked for where they are drawn.
	Deeds func() []Deed
	// Topics, Groups and Consumers are what there is, Next names for what may come; Brokers is how many there are.
	Topics, Groups, Consumers []string
	NextConsumer, NextTopic   string
	Group                     string
	Brokers                   int
	Assignors                 []string
	// Begun is set where something has been done: what builds a world then begins it anew, or happens at its time.
	Begun bool
	// Settings are Kafka's configuration names; Setting is the one that is explained.
	Settings []string
	Setting  SettingPage
	// Run is the run as a script, Mistake what is wrong with the text that was to be read in.
	Run     string
	Mistake *ScriptError
	Draft   *DraftPage
	Console ConsoleState
	// Explorer is nil where its panel is not shown.
	Explorer *ExplorerState
	Presets  []string
}

// SettingPage explains a configuration name: its value now ("" for the default), Kafka's default and what it takes.
type SettingPage struct {
	Name, Now, Standard, Values string
	Live                        bool
}

// Deed is a command of the script language as a form. Its words are "deed.VERB".
type Deed struct {
	Verb, Help string
	Fields     []DeedField
}

// DeedField is an argument. Its words are "field.NAME". Where there are Options one of them is chosen.
type DeedField struct {
	Name    string
	Options []string
	Value   string
	// Flag is a word that may be left out.
	Flag bool
}

// ScriptError is a mistake in a script and the line in which it is.
type ScriptError struct {
	Line, Col int
	Text, Msg string
}

// ConsoleState is the console: what was said to it, and what the line that is being written can go on with.
type ConsoleState struct {
	Lines      []ConsoleLine
	Candidates []Candidate
	// More is how many more candidates there are.
	More int
}

// ConsoleLine is a line and what came of it. Col is where it is wrong, from 1.
type ConsoleLine struct {
	AtMs       int64
	Line, Said string
	Wrong      bool
	Col        int
}

// Candidate is a word that the line can go on with.
type Candidate struct{ Text, Help string }

// ExplorerState is the timeout explorer.
type ExplorerState struct {
	Knobs    []Knob
	Bars     []WaitBar
	Warnings []Warning
}

// Knob is a timeout with its slider, whose places are 0 to Most.
type Knob struct {
	Name         string
	At, Most     int
	Ms, Standard int64
}

// WaitBar is how long a case lasts. Never says that it does not come to an end, or never begins.
type WaitBar struct {
	ID    string
	Known bool
	Never bool
	Ms    int64
}

// Warning is a contradiction: words and durations.
type Warning struct {
	Key string
	Ms  []int64
}

// DraftPage is a lesson's draft: a name and its files.
type DraftPage struct {
	Name  string
	Files []DraftFile
}

// DraftFile is one file of a draft.
type DraftFile struct{ Name, Text string }

// caret is the line under a mistake that points at its column.
func caret(line string, col int) string {
	out := make([]rune, 0, col)
	for i, r := range line {
		if i >= col-1 {
			break
		}
		if r == '\t' {
			out = append(out, '\t')
		} else {
			out = append(out, ' ')
		}
	}
	return string(append(out, '↑'))
}

// longest is the longest known wait among bars, at least 1 ms.
func (x *ExplorerState) longest() int64 {
	most := int64(1)
	for _, b := range x.Bars {
		if b.Known && !b.Never {
			most = max(most, b.Ms)
		}
	}
	return most
}

// warning says a warning in words.
func (s *stage) warning(w Warning) string {
	var args []string
	for _, ms := range w.Ms {
		args = append(args, s.dur(ms))
	}
	return s.t(w.Key, args...)
}

// knobName is Kafka's name of a timeout; the time between two polls has none.
func (s *stage) knobName(k Knob) string {
	if k.Name == "poll" {
		return s.t("explore.poll")
	}
	return k.Name
}

// waitText says how long a case lasts.
func (s *stage) waitText(b WaitBar) string {
	switch {
	case !b.Known:
		return "…"
	case b.Never:
		return s.t("explore.never")
	}
	return s.dur(b.Ms)
}

// waitWidth is a bar's width: at least a line that can be seen.
func waitWidth(ms, longest int64) string {
	return px(max(float64(ms*1000/longest)/10, 0.6)) + "%"
}

// assignorKind is the key of what an assignor makes of its client.
func assignorKind(assignor string) string {
	if assignor == "cooperative-sticky" {
		return "build.cooperative"
	}
	return "build.eager"
}

// consumerFields are a consumer's settings by Kafka's names, with the client's defaults as the script language writes them.
var consumerFields = []struct{ Kafka, Key, Standard string }{
	{"group.instance.id", "instance", ""},
	{"session.timeout.ms", "session", "45s"},
	{"heartbeat.interval.ms", "heartbeat", "3s"},
	{"max.poll.interval.ms", "rebalance", "5m"},
	{"auto.commit.interval.ms", "commit", "5s"},
	{"metadata.max.age.ms", "metadata-age", "5m"},
	{"request.timeout.ms", "request-timeout", "30s"},
	{"transactional.id", "transactional", ""},
	{"transaction.timeout.ms", "transaction-timeout", "60s"},
}
