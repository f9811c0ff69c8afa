package script_test

import (
	"errors"
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
)

func TestParseReadsAWholeScript(t *testing.T) {
	commands, err := script.Parse("demo.txt", strings.Join([]string{
		"# a comment",
		"",
		"  seed 7   # and another",
		"set group.initial.rebalance.delay.ms 0",
		"topic orders 6\r",
		"consumer c1 session=10s topics=orders",
		"! kill c9",
		"!kill c9",
		`until within=1m30s not state Stable and event MemberRemoved why="session expired"`,
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) != 7 {
		t.Fatalf("7 commands, not %d: %+v", len(commands), commands)
	}
	seed := commands[0]
	if seed.Line != 3 || seed.Col != 3 || seed.Verb != "seed" || seed.Args[0] != (script.Arg{Text: "7", Col: 8}) || seed.Raw != "seed 7" {
		t.Errorf("seed: %+v", seed)
	}
	for _, c := range commands[4:6] {
		if !c.Not || c.Verb != "kill" || c.Args[0].Text != "c9" {
			t.Errorf("!: %+v", c)
		}
	}
	until := commands[6]
	if until.WithinMs != 90_000 || until.Cond == nil {
		t.Fatalf("until: %+v", until)
	}
	if got, want := until.Cond.String(), `not state Stable and event MemberRemoved why="session expired"`; got != want {
		t.Errorf("condition prints %q, want %q", got, want)
	}
}

// Every mistake is told with its place and with what is right.
func TestParseTellsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"kil c1", `1:1: no verb "kil"; did you mean "kill"?`},
		{"frobnicate", `1:1: no verb "frobnicate"; `},
		{"kill", `1:1: kill lacks CONSUMER: kill CONSUMER`},
		{"kill c1 c2", `1:9: "c2" is one word too many: kill CONSUMER`},
		{"kill c/1", `1:6: "c/1" cannot be a consumer's name`},
		{"!", `1:1: what must fail?`},
		{"  advance soon", `1:11: "soon" is no duration: write 250ms, 5s, 1m or 1m30s`},
		{"advance 5", `1:9: "5" is no duration`},
		{"advance -5s", `1:9: "-5s" is no duration`},
		{"advance 99999999h", `1:9: "99999999h" is more than 1000 days`},
		{"latency 0ms", `1:9: DURATION is at least 1 ms, not "0ms"`},
		{"loss 101%", `1:6: "101%" is no percentage`},
		{"loss NaN%", `1:6: "NaN%" is no percentage`},
		{"seed -1", `1:6: N is a whole number from 0 to`},
		{"brokers 10", `1:9: N is a whole number from 1 to 9, not "10"`},
		{"topic or/ders 3", `1:7: "or/ders" cannot be a topic's name`},
		{"topic orders 0", `1:14: PARTITIONS is a whole number from 1`},
		{"set group.initial.rebalance.delay 0", `did you mean "group.initial.rebalance.delay.ms"?`},
		{"consumer c1 sesion=10s", `1:13: consumer has no option "sesion"; did you mean "session"?`},
		{"consumer c1 session=10s session=9s", `1:25: session= is there twice`},
		{"consumer c1 session=soon", `1:13: session=: "soon" is no duration`},
		{"drop c1 HeartBeat 1", `1:9: consumers send no "HeartBeat"; did you mean "Heartbeat"?`},
		{"commit c1 orders 3", `1:11: "orders" is no partition: write TOPIC-NUMBER, as in orders-3`},
		{"commit c1 orders-+3 3", `1:11: "orders-+3" is no partition`},
		{`group "orders`, `1:7: this quote is not closed`},
		{"until", `1:1: until lacks a condition`},
		{"until within=1m", `1:1: until lacks a condition`},
		{"until within=soon state Stable", `1:7: within=: "soon" is no duration`},
		{"expect stat Stable", `1:8: no condition begins with "stat"; did you mean "state"?`},
		{"expect state Stabel", `1:14: "Stabel" is no state of a group; did you mean "Stable"?`},
		{"expect state", `1:13: state of a group is missing: state STATE`},
		{"expect state Stable and", `1:21: a clause is missing beside this ` + "`and`"},
		{"expect and state Stable", `1:8: a clause is missing beside this ` + "`and`"},
		{"expect not", `1:11: a clause is missing after ` + "`not`"},
		{"expect members = 3", `1:16: "=" is no comparison`},
		{"expect members == three", `1:19: N is a whole number`},
		{"expect event MemberRemovd", `1:14: no kind of event is called "MemberRemovd"; did you mean "MemberRemoved"?`},
		{"expect event MemberRemoved whi=x", `1:28: MemberRemoved has no field "whi"; did you mean "why"?`},
		{"expect event MemberRemoved why", `1:28: "why" is no FIELD=VALUE`},
		{"expect client c1 STABEL", `did you mean "STABLE"?`},
		{"expect now >= ten", `1:15: "ten" is no duration`},
		{"show kids StateChanged", "the word kinds comes first"},
		{"show kinds Statechanged", `did you mean "StateChanged"?`},
		{"# " + strings.Repeat("x", script.MaxLineBytes), "the line is 4098 bytes long"},
	} {
		_, err := script.Parse("x.txt", c.text)
		var placed script.Error
		if !errors.As(err, &placed) {
			t.Errorf("%q: no Error but %v", c.text, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.txt:1:") {
			t.Errorf("%q\n got  %s\n want %s", c.text, err, c.want)
		}
	}
}

func TestParseConditionPlacesItsErrors(t *testing.T) {
	_, err := script.ParseCondition("lesson.txt", 12, 8, "state Stable and membrs == 3")
	if err == nil || !strings.HasPrefix(err.Error(), "lesson.txt:12:25: no condition begins with \"membrs\"; did you mean \"members\"?") {
		t.Errorf("%v", err)
	}
	_, err = script.ParseCondition("lesson.txt", 12, 8, "  ")
	if err == nil || !strings.HasPrefix(err.Error(), "lesson.txt:12:8: there is no condition") {
		t.Errorf("%v", err)
	}
}

func TestUsageNamesEveryVerbWithAnExampleThatParses(t *testing.T) {
	usage := script.Usage()
	examples := 0
	for _, line := range strings.Split(usage, "\n") {
		_, example, found := strings.Cut(line, "Example: ")
		if !found {
			continue
		}
		examples++
		if _, err := script.Parse("usage", example); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
	if examples < 20 {
		t.Errorf("%d examples; every verb has one:\n%s", examples, usage)
	}
	for _, clause := range []string{"state", "generation", "owner", "waiting-for", "unowned"} {
		if !strings.Contains(script.ConditionUsage(), "\n"+clause+" ") && !strings.HasPrefix(script.ConditionUsage(), clause+" ") {
			t.Errorf("the manual of conditions lacks %s", clause)
		}
	}
}

// What is read is printed so that it reads the same again; nothing makes the parser crash.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"seed 7", "topic orders 6 # six", "consumer c1 session=10s commit=off", `until within=5s not state Stable and event InputGiven text="kill c3"`,
		`expect event MemberRemoved why="session expired" member=c3 and unowned == 0`, "! kill c1", `group "a # b"`, "drop c1 Heartbeat 2 answers",
		"show kinds all", "a\x00b", "\"\"", "expect not not state Stable", "advance 1h1m1s1ms", "commit c1 a-b-3 5",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, err := script.Parse("fuzz", text)
		if err != nil {
			var placed script.Error
			if !errors.As(err, &placed) || placed.Line < 1 || placed.Col < 1 || placed.Msg == "" {
				t.Fatalf("%q: an error without a place: %#v", text, err)
			}
			return
		}
		for _, c := range commands {
			again, err := script.ParseLine("fuzz", c.Line, c.Raw)
			if err != nil || again.Verb != c.Verb || again.Not != c.Not || len(again.Args) != len(c.Args) {
				t.Fatalf("%q reads as %+v, its Raw %q as %+v, %v", text, c, c.Raw, again, err)
			}
			if c.Cond == nil {
				continue
			}
			cond, err := script.ParseCondition("fuzz", 1, 1, c.Cond.String())
			if err != nil || cond.String() != c.Cond.String() {
				t.Fatalf("%q: the condition prints as %q, which reads as %q, %v", text, c.Cond, cond, err)
			}
		}
	})
}
