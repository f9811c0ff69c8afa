package lessons_test

import (
	"strings"
	"testing"

	"grouplab/lessons"
)

// TestMistakes: each mistake is told with its place and with what would be right.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no setup":          {"setup\n  topic orders 6\n  group g\n  consumer c1\n", "", ":1:1: setup comes before the first step"},
		"block":             {"step read", "stepp read", `:5:1: "stepp" begins no block; a block begins with setup, step, goal, solution, win, picture or draft (did you mean step?)`},
		"name":              {"step read", "step Read", ":5:6: a step needs a name of small letters"},
		"no name":           {"step read", "step", ":5:6: a step needs a name"},
		"twice":             {"step go", "step read", `:6:6: there is a step "read" already, in line 5`},
		"tab":               {"  start c1\n  wait", "\tstart c1\n  wait", ":7:1: there is a tab"},
		"indent":            {"  start c1\n  wait", "   start c1\n  wait", ":7:4: this line is indented by 3"},
		"orphan":            {"setup", "  seed 3\nsetup", ":1:3: this line is indented but belongs to no block"},
		"verb":              {"  start c1\n  wait", "  strat c1\n  wait", `:7:3: no verb "strat"`},
		"word":              {"  wait event ClientStarted", "  wiat event ClientStarted", `:8:3: "wiat" is no word of a step (did you mean wait?)`},
		"timed":             {"  start c1\n  wait", "  advance 5s\n  wait", `:7:3: a step cannot run "advance"`},
		"first step":        {"step read", "step read\n  start c1", ":6:3: the first step runs no commands"},
		"condition":         {"wait generation >= 1", "wait generaton >= 1", `:15:8: no condition begins with "generaton"`},
		"no condition":      {"  wait generation >= 1", "  wait", ":15:8: wait needs a condition"},
		"after wait":        {"  allow kill", "  start c1", ":9:3: a step is over when what it waits for has come"},
		"allow":             {"allow kill", "allow kil", `:9:9: a learner cannot "kil"; there are`},
		"focus":             {"step read", "step read\n  focus wheel", `:6:9: the stage has no part "wheel"`},
		"focus client":      {"step read", "step read\n  focus client c9", `:6:16: the set-up has no consumer "c9"; it has c1`},
		"speed":             {"step read", "step read\n  speed 2", `:6:9: "2" is no speed; there are 1/1000`},
		"one option":        {"    option died event ClientStopped\n", "", ":11:3: a prediction needs at least two options"},
		"option twice":      {"option died", "option joined", `:13:12: there is an option "joined" already`},
		"no decide":         {"    decide generation >= 1\n", "", `:11:3: prediction "end" never decides`},
		"decide":            {"decide generation >= 1", "decide generation => 1", ":14:23: "},
		"stray line":        {"    decide generation >= 1", "    decide generation >= 1\n    option late state Stable", ":15:5: decide is the last line"},
		"deep":              {"  start c1\n  wait", "    start c1\n  wait", ":7:5: this line is indented by 4"},
		"goal happened":     {"goal up state Stable", "goal up event MemberAdded", ":16:9: a goal is about what is the case"},
		"no goal":           {"goal up state Stable\n", "", ":19:1: there is no goal"},
		"win of nothing":    {"solution go", "win go", `:17:1: there is no step "go" with a challenge`},
		"no win":            {"  wait event ClientStarted client=c1", "  challenge par=2 members == 3", `:6:1: the challenge of step "go" is never won`},
		"no par":            {"  wait event ClientStarted client=c1", "  challenge members == 3", ":8:13: a challenge is `challenge par=N CONDITION`"},
		"move":              {"  allow kill", "  move Kill kill c1", ":9:8: a move is `move NAME COMMAND`"},
		"move's verb":       {"  allow kill", "  move die kil c1", `:9:12: no verb "kil"`},
		"timed move":        {"  allow kill", "  move later advance 5s", `:9:14: a move cannot be "advance 5s"`},
		"no step":           {"step read\nstep go\n  start c1\n  wait event ClientStarted client=c1\n  allow kill\nstep ask\n  predict end\n    option joined event MemberAdded\n    option died event ClientStopped\n    decide generation >= 1\n  wait generation >= 1\n", "", ":9:1: there is no step"},
		"hint":              {"  allow kill", "  hint wheel", `:9:8: the stage has no part "wheel"`},
		"draft":             {"setup", "draft soon\nsetup", ":1:1: draft stands alone"},
		"question twice":    {"  wait generation >= 1", "  predict more\n    option a state Empty\n    option b state Dead\n    decide state Empty", ":15:3: a step asks one question"},
		"late command":      {"    decide generation >= 1\n", "    decide generation >= 1\n  kill c1\n", ":15:3: commands come before the prediction"},
		"two setups":        {"step read", "setup\nstep read", ":5:1: there is a setup already, in line 1"},
		"solution's verb":   {"  until state Stable", "  untill state Stable", `:19:3: no verb "untill"`},
		"goal without text": {"goal up state Stable", "goal up", ":16:9: goal up needs a condition"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(small, c.old) {
				t.Fatalf("the small lesson does not hold %q", c.old)
			}
			_, err := lessons.Load("small", strings.Replace(small, c.old, c.new, 1))
			if err == nil {
				t.Fatal("no error")
			}
			if want := "small/script.txt" + c.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %s\nwant %s…", err, want)
			}
		})
	}
	if _, err := lessons.Load("No Good", small); err == nil {
		t.Error("an id with blanks was taken")
	}
}

// FuzzLoad: whatever a file holds, reading it ends with a lesson or with an error that names a place.
func FuzzLoad(f *testing.F) {
	f.Add(small)
	f.Add("setup\nstep a\n  predict b\n    option c\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := lessons.Load("small", text); err != nil && !strings.HasPrefix(err.Error(), "small/script.txt:") {
			t.Errorf("no place in %q", err)
		}
	})
}
