package tab

import (
	"strings"
	"testing"
	"testing/fstest"

	"grouplab/coordinator/event"
	"grouplab/lessons"
	prose "grouplab/lessons/render"
	"grouplab/static/view"
)

func openSandbox(t testing.TB) *desk {
	t.Helper()
	tb, err := NewSandbox(Choices{Motion: "full"})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{Tab: tb, t: t, wall: 5000}
	d.frame(16)
	return d
}

// say gives the console a line and returns what it printed.
func (d *desk) say1(line string) view.ConsoleLine {
	d.t.Helper()
	before := len(d.sandbox.console.log)
	d.do("console", line)
	if len(d.sandbox.console.log) <= before {
		return view.ConsoleLine{}
	}
	return d.sandbox.console.log[len(d.sandbox.console.log)-1]
}

// must gives lines that must work.
func (d *desk) must(lines ...string) {
	d.t.Helper()
	for _, l := range lines {
		if got := d.say1(l); got.Wrong {
			d.t.Fatalf("%s: column %d: %s", l, got.Col, got.Said)
		}
	}
}

func (d *desk) members() int {
	g := d.group(d.model())
	if g == nil {
		return 0
	}
	return len(g.Present())
}

// Every ready set-up comes to rest, paused, with the whole stage; its run reads back into itself.
func TestEveryPreset(t *testing.T) {
	for _, p := range presets {
		d := openSandbox(t)
		d.do("preset", p.id)
		if d.playing() || d.wrongNote() != "" {
			t.Errorf("%s: playing %v, note %q", p.id, d.playing(), d.options.Note)
		}
		if p.id != "empty" && (d.members() < 2 || d.group(d.model()).State != event.Stable) {
			t.Errorf("%s: %d members", p.id, d.members())
		}
		if got := d.sandbox.text(); got != p.text+"at "+span(d.lesson.head.startMs)+"\n" {
			t.Errorf("%s: the run is written down as\n%swant\n%s", p.id, got, p.text)
		}
		for _, panel := range view.SandboxPanels {
			d.do("panel", panel)
			if d.html["sandbox"] == "" {
				t.Errorf("%s: the panel %s is empty", p.id, panel)
			}
		}
	}
}

func (d *desk) wrongNote() string {
	if strings.Contains(d.options.Note, "did not work") {
		return d.options.Note
	}
	return ""
}

// A cluster is built from nothing: what builds it goes into the set-up as long as nothing has been done.
func TestBuildACluster(t *testing.T) {
	d := openSandbox(t)
	d.do("preset", "empty")
	d.do("deed", "brokers 2")
	d.do("deed", "set group.initial.rebalance.delay.ms 0")
	d.do("deed", "topic orders 4")
	d.do("deed", "consumer c1  group=app   session=10s")
	d.must("group app", "consumer c2 group=app assignor=cooperative-sticky session.timeout.ms=20000")
	want := "brokers 2\nseed 6\nset group.initial.rebalance.delay.ms 0\ntopic orders 4\nconsumer c1  group=app   session=10s\ngroup app\n" +
		"consumer c2 group=app assignor=cooperative-sticky session.timeout.ms=20000\nat 0ms\n"
	if got := d.sandbox.text(); strings.ReplaceAll(got, "seed 6\nbrokers 2", "brokers 2\nseed 6") != want {
		t.Fatalf("the set-up is\n%s\nwant\n%s", got, want)
	}
	if n := d.lesson.head.engine.World().Brokers(); n != 2 {
		t.Errorf("%d brokers", n)
	}
	d.must("start c1", "until state Stable and members == 1", "consumer c3 group=app", "start c3")
	if got := d.sandbox.text(); !strings.Contains(got, " consumer c3 group=app\n") || !strings.Contains(got, "\nat ") {
		t.Errorf("a consumer that comes later is an input:\n%s", got)
	}
	// What is fixed when brokers start begins the run anew, and plays it again.
	d.must("set offsets.topic.num.partitions 7")
	if n := d.lesson.head.engine.World().OffsetsPartition("app"); n > 6 || !strings.Contains(d.sandbox.text(), "start c3") {
		t.Errorf("the group lies in partition %d:\n%s", n, d.sandbox.text())
	}
	d.must("consumer c1 group=app session=30s")
	if c, _ := d.lesson.head.engine.World().Consumer("c1"); c.SessionTimeoutMs != 30_000 {
		t.Errorf("c1 is %+v", c)
	}
	d.do("undo", "")
	if c, _ := d.lesson.head.engine.World().Consumer("c1"); c.SessionTimeoutMs != 10_000 {
		t.Errorf("after undo c1 is %+v", c)
	}
}

// What cannot be is refused with its column and what would be right; nothing changes.
func TestConsoleRefuses(t *testing.T) {
	d := openSandbox(t)
	d.must("advance 5s")
	before, seq := d.sandbox.text(), d.lesson.head.seq()
	for line, want := range map[string]struct {
		col  int
		said string
	}{
		"kil c1":                              {1, `did you mean "kill"?`},
		"kill c9":                             {6, "there are c1, c2, c3"},
		"set group.max.sise 3":                {5, `did you mean "group.max.size"?`},
		"set group.max.size 0":                {5, "a whole number from 1 to 2147483647"},
		"consumer c4 session=1s heartbeat=3s": {10, "must be below its session timeout"},
		"start c1":                            {7, "c1 runs already"},
		"fail-appends offsets NOT_ENOUGH 1":   {22, "no append fails with"},
		"until within=5s members == 9":        {7, "gave up on members == 9"},
		"expect members == 9":                 {8, "there are 3 members"},
		"at 1s kill c1":                       {4, "is over"},
		"brokers 12":                          {9, "from 1 to 9"},
		"brokers 2":                           {0, ""},
		"! start c2 c3":                       {12, "one word too many"},
		"help nothing":                        {6, "no verb"},
		"! advance 5s":                        {3, "cannot be negated"},
		"at 99s set offsets.topic.num.partitions 9": {0, "cannot be changed while the brokers run"},
	} {
		if want.said == "" {
			continue
		}
		got := d.say1(line)
		if !got.Wrong || !strings.Contains(got.Said, want.said) || want.col > 0 && got.Col != want.col {
			t.Errorf("%q: column %d: %s; want %d: %s", line, got.Col, got.Said, want.col, want.said)
		}
		d.lesson.toEnd()
	}
	if got := d.sandbox.text(); !strings.HasPrefix(got, strings.TrimSuffix(before, "at 5s\n")[:60]) || d.lesson.head.seq() < seq {
		t.Errorf("the run is\n%s, was\n%s", got, before)
	}
	if n := len(d.lesson.head.inputs); n != 0 {
		t.Errorf("%d commands were given", n)
	}
}

// Every verb that can be done to a world is done, and is undone.
func TestEveryVerbOfTheSandbox(t *testing.T) {
	for _, line := range []string{"start c4", "stop c1", "kill c1", "restart c1", "pause c1", "busy c1 5s", "commit c1 orders-0 42",
		"add-partitions orders 8", "kill-broker 1", "stop-broker 1", "drop c1 Heartbeat 1", "drop c1 Heartbeat 1 answers",
		"delay c1 OffsetCommit 2 3s", "duplicate c1 Heartbeat 1", "cut c1 all", "cut all 2", "fail-appends offsets NOT_ENOUGH_REPLICAS 1",
		"fail-appends group REQUEST_TIMED_OUT 1 late", "slow-appends any 2s 1", "move-leader orders-0 1", "delete-topic orders",
		"latency 20ms", "loss 5%", "set group.max.size 3", "topic payments 3", "group other", "consumer c5", "ask DescribeGroups",
		"! kill c9"} {
		d := openSandbox(t)
		d.must("consumer c4 session=10s", "advance 5s")
		before := d.sandbox.text()
		if line == "move-leader orders-0 1" { // wherever it is now
			for _, b := range []string{"2", "3"} {
				if got := d.say1("move-leader orders-0 " + b); !got.Wrong {
					d.do("undo", "")
					line = "move-leader orders-0 " + b
				}
			}
		}
		d.must(line)
		if got := d.sandbox.text(); !strings.Contains(got, " "+line+"\n") {
			t.Errorf("%s: the run is\n%s", line, got)
		}
		d.must("advance 20s")
		d.must("undo")
		if got := d.sandbox.text(); strings.Contains(got, " "+line+"\n") || !strings.HasPrefix(got, before[:40]) {
			t.Errorf("%s: after undo the run is\n%s", line, got)
		}
	}
}

// A run is written down and read back into the same run, event by event.
func TestRunRoundTrip(t *testing.T) {
	d := openSandbox(t)
	d.must("advance 4s", "kill c3", "advance 700ms", "start c3", "cut c1 all", "until members == 4", "heal c1 all", "until within=5m state Stable and members == 3", "advance 1s")
	text, hash := d.sandbox.text(), d.lesson.head.hash(d.lesson.head.seq())
	e := openSandbox(t)
	e.do("import", text)
	e.do("end", "")
	if got := e.sandbox.text(); got != text {
		t.Errorf("read back:\n%s\nwas\n%s", got, text)
	}
	if got := e.lesson.head.hash(e.lesson.head.seq()); got != hash {
		t.Errorf("hash %x, was %x", got, hash)
	}
	e.do("undo", "")
	if len(e.lesson.head.inputs) != 0 {
		t.Error("opening a script is not undone")
	}
}

// A text that is wrong is told with its place; the run that was there goes on.
func TestImportOfWrongTexts(t *testing.T) {
	for text, want := range map[string]string{
		"topic orders 6\nkil c1":                                                  "2:1:no verb",
		"topic orders 6\nat 4s kill c1":                                           "2:12:there is no consumer",
		"topic orders 6\nadvance 5s\nat 4s topic a 1":                             "3:4:4s is over",
		"topic orders 6\ngroup g\nconsumer c1\nat 5s start c1\nbrokers 5":         "5:1:the world is there already",
		"brokers 3\ntopic a 0":                                                    "2:9:PARTITIONS",
		"topic a 3\nuntil within=1h members == 5":                                 "2:7:gave up",
		"topic a 3\nexpect members == 5":                                          "2:8:expected",
		"\x00\x01PNG":                                                             "1:1:no verb",
		"topic a 3\ngroup g\nconsumer c1\nstart c1\nadvance 900h":                 "5:1:more than",
		"topic a 3\ngroup g\nconsumer c1 \nstart c1\nadvance 900h\nat 5s kill c1": "5:1:the set-up is not over",
		"set group.max.size 0":                                                    "1:5:group.max.size",
		"! advance 5s":                                                            "1:3:advance cannot be negated",
	} {
		d := openSandbox(t)
		d.must("kill c1")
		was := d.sandbox.text()
		d.do("panel", "script")
		d.do("import", text)
		w := d.sandbox.wrong
		if w == nil {
			t.Errorf("%q is read", text)
			continue
		}
		parts := strings.SplitN(want, ":", 3)
		if itoa(w.Line) != parts[0] || itoa(w.Col) != parts[1] || !strings.Contains(w.Msg, parts[2]) {
			t.Errorf("%q: %d:%d: %s; want %s", text, w.Line, w.Col, w.Msg, want)
		}
		if d.sandbox.text() != was || !strings.Contains(d.html["forms"], "mistake") {
			t.Errorf("%q: something changed, or is not shown", text)
		}
	}
	d := openSandbox(t)
	d.do("import", "  \n ")
	if d.sandbox.wrong != nil || d.options.Note == "" {
		t.Error("nothing is said of an empty text")
	}
	d.do("import", strings.Repeat("# much\n", 50_000))
	if !strings.Contains(d.options.Note, "350000") {
		t.Errorf("of a text that is too long is said %q", d.options.Note)
	}
}

// Acting in the past forks; a command that is refused there costs nothing.
func TestConsoleInThePast(t *testing.T) {
	d := openSandbox(t)
	d.must("advance 2s", "kill c1", "advance 30s")
	last := d.lesson.head.seq()
	d.do("start", "")
	if got := d.say1("kill c9"); !got.Wrong || d.lesson.head.seq() != last {
		t.Fatalf("%+v; %d events, were %d", got, d.lesson.head.seq(), last)
	}
	d.must("expect members == 3", "until members == 2")
	if d.lesson.head.seq() != last || d.lesson.cursor.atHead() {
		t.Error("looking for a moment that is known changes nothing")
	}
	d.do("start", "")
	d.must("kill c2")
	if got := d.sandbox.text(); strings.Contains(got, "kill c1") {
		t.Errorf("the run is\n%s", got)
	}
	d.must("undo")
	if got := d.lesson.head.seq(); got != last {
		t.Errorf("after undo there are %d events, were %d", got, last)
	}
}

// History, completion and the console's own words work by keys.
func TestConsoleKeys(t *testing.T) {
	d := openSandbox(t)
	typed := func(text string) { d.do("typed", text) }
	press := func(name string) string {
		d.Key(Key{Name: name, Field: "console"})
		u := d.frame(16)
		if len(u.Fill) == 0 {
			return "-"
		}
		return u.Fill[len(u.Fill)-1].Value
	}
	d.must("advance 1s", "kill c1")
	typed("sta")
	if got := press("ArrowUp"); got != "kill c1" {
		t.Errorf("up: %q", got)
	}
	if got := press("ArrowUp"); got != "advance 1s" {
		t.Errorf("up again: %q", got)
	}
	if got := press("ArrowUp"); got != "-" {
		t.Errorf("beyond the first: %q", got)
	}
	press("ArrowDown")
	if got := press("ArrowDown"); got != "sta" {
		t.Errorf("back to what was written: %q", got)
	}
	if got := press("Tab"); got != "start " {
		t.Errorf("completed: %q", got)
	}
	typed("start c")
	if got := press("Tab"); got != "-" || !strings.Contains(d.html["console"], "data-arg=\"c2\"") {
		t.Errorf("several: %q; %s", got, d.html["console"])
	}
	if got := d.do("complete", "c2").Fill[0].Value; got != "start c2" {
		t.Errorf("chosen: %q", got)
	}
	typed("set group.init")
	if got := press("Tab"); got != "set group.initial.rebalance.delay.ms " {
		t.Errorf("a setting: %q", got)
	}
	typed("help kil")
	if got := press("Tab"); got != "help kill" {
		t.Errorf("a verb's manual: %q", got)
	}
	typed("")
	if d.Key(Key{Name: "Tab", Field: "console"}) || d.Key(Key{Name: "Tab", Shift: true, Field: "console"}) {
		t.Error("Tab does not leave an empty field")
	}
	if got := d.say1("help kill"); !strings.Contains(got.Said, "kill CONSUMER") {
		t.Errorf("help: %+v", got)
	}
	if !d.Key(Key{Name: "z", Ctrl: true, Field: "console"}) || len(d.lesson.head.inputs) != 0 {
		t.Error("Ctrl+Z in an empty field does not undo")
	}
	if got := d.say1("show kinds all"); got.Wrong || got.Said == "" {
		t.Errorf("show: %+v", got)
	}
	d.must("clear")
	if len(d.sandbox.console.log) != 0 {
		t.Error("clear leaves something")
	}
}

// Buttons say what they do in the console's language; what belongs to lessons is not there.
func TestSandboxButtons(t *testing.T) {
	d := openSandbox(t)
	d.do("kill", "c2")
	d.do("add-partitions", "orders")
	d.do("kill-broker", "3")
	var lines []string
	for _, l := range d.sandbox.console.log {
		lines = append(lines, l.Line)
	}
	if got := strings.Join(lines, "; "); got != "kill c2; add-partitions orders 8; kill-broker 3" {
		t.Errorf("said: %s", got)
	}
	for _, action := range []string{"next", "hint", "take-over", "predict-check", "nonsense"} {
		if d.do(action, ""); d.options.Note == "" {
			t.Errorf("%s is answered with nothing", action)
		}
	}
	d.key("u")
	if n := len(d.lesson.head.inputs); n != 2 {
		t.Errorf("after undo there are %d commands", n)
	}
	d.do("play", "")
	if !d.playing() {
		t.Error("it does not play")
	}
}

// A run becomes a lesson that is proved as all are.
func TestDraftIsProved(t *testing.T) {
	d := openSandbox(t)
	d.do("panel", "script")
	d.do("draft", "22-my-lesson")
	if d.sandbox.draft != nil || d.options.Note == "" {
		t.Fatal("a lesson of nothing")
	}
	d.must("advance 4s", "kill c3", "advance 1s")
	d.do("draft", "22-my-lesson")
	if d.sandbox.draft != nil || !strings.Contains(d.options.Note, "let time pass") {
		t.Fatalf("a lesson without an end: %s", d.options.Note)
	}
	d.must("start c3", "until members == 4", "until within=5m state Stable and members == 3", "commit c1 orders-0 42", "advance 5s")
	for _, wrong := range []string{"my-lesson", "22-My", "22", "2-a", "22-a b"} {
		if d.do("draft", wrong); d.sandbox.draft != nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	d.do("draft", "22-my-lesson")
	if d.sandbox.draft == nil {
		t.Fatal(d.options.Note)
	}
	l, err := lessons.LoadFile("22-my-lesson/script.txt", "my-lesson", d.sandbox.draft.script)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.sandbox.draft.script)
	}
	if !l.Draft || len(l.Steps) != 4 || len(l.Goal) == 0 {
		t.Errorf("%d steps, %d goals:\n%s", len(l.Steps), len(l.Goal), d.sandbox.draft.script)
	}
	files := fstest.MapFS{}
	for _, f := range d.sandbox.draft.page().Files {
		files["22-my-lesson/"+f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
	}
	if all, err := prose.Load(files); err != nil || len(all) > 1 {
		t.Errorf("the texts: %v", err)
	}
	// The line that keeps a draft from the contents taken out, it is a lesson with all its texts.
	files["22-my-lesson/script.txt"].Data = []byte(strings.Replace(d.sandbox.draft.script, "\ndraft\n", "\n", 1))
	if all, err := prose.Load(files); err != nil || len(all) != 1 || all[0].Steps[2].Question == nil {
		t.Errorf("%d lessons: %v\n%s", len(all), err, d.sandbox.draft.script)
	}
	if u := d.do("draft-file", "zh.md"); u.Download == nil || u.Download.Name != "zh.md" || !strings.Contains(u.Download.Text, "课程") {
		t.Errorf("the file: %+v", u.Download)
	}
}
