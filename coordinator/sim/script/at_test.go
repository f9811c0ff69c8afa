package script_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
)

const threeOfAGroup = `topic orders 6
group orders-svc
consumer c1 session=10s
consumer c2 session.timeout.ms=10000 partition.assignment.strategy=sticky
start c1
`

// at brings the world to a time and then gives its command; alone it only lets time pass.
func TestAtGivesACommandAtItsTime(t *testing.T) {
	_, nowMs, err := script.Run("a", threeOfAGroup+"at 4s start c2\nat 4s ! kill c9\nat 9s500ms kill c1\nexpect now == 9500ms\nexpect client c1 STOPPED\nat 12s\n")
	if err != nil || nowMs != 12_000 {
		t.Fatalf("at %d ms: %v", nowMs, err)
	}
	a, _, err := script.Run("a", threeOfAGroup+"at 4s start c2\nat 20s")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := script.Run("b", threeOfAGroup+"advance 4s\nstart c2\nadvance 16s")
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if i >= len(b) || a[i].String() != b[i].String() {
			t.Fatalf("event %d with at: %s", i, a[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%d events with at, %d with advance", len(a), len(b))
	}
	for text, want := range map[string]string{
		"at soon kill c1":         `a:1:4: "soon" is no duration`,
		"at 4s kil c1":            `a:1:7: no verb "kil"; did you mean "kill"?`,
		"at 4s kill":              `a:1:7: kill lacks CONSUMER`,
		"at 4s kill c1 c2":        `a:1:15: "c2" is one word too many`,
		"at 4s at 5s kill c1":     "a:1:7: at cannot follow at",
		"at 4s advance 5s":        "a:1:7: advance cannot follow at",
		"at 4s until state Empty": "a:1:7: until cannot follow at",
		"at 4s brokers 2":         "a:1:7: brokers cannot follow at",
		"at":                      "a:1:1: at lacks TIME",
	} {
		if _, _, err := script.Run("a", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := script.Run("a", threeOfAGroup+"advance 5s\nat 4s kill c1"); err == nil || !strings.Contains(err.Error(), "a:7:4: 4s is over: it is 00:00:05") {
		t.Errorf("in the past: %v", err)
	}
	if _, _, err := script.Run("a", threeOfAGroup+"at 4s kill c9"); err == nil || !strings.HasPrefix(err.Error(), `a:6:12: there is no consumer "c9"; there are c1, c2`) {
		t.Errorf("a command that fails: %v", err)
	}
}

// cut and heal do all of a side at once.
func TestCutAll(t *testing.T) {
	for text, want := range map[string]string{
		"cut c1 all\nheal c1 2\nheal c1 1\n! heal c1 1\nheal c1 3": "",
		"cut all 2\n! cut c1 2\nheal all all":                      "",
		"cut all all\nheal all 1\nheal c1 all\nheal c2 all":        "",
		"heal c1 all": `x:6:6: there is nothing to heal there: c1 and broker 3 are not cut off from each other`,
		"cut c1 10":   `x:6:8: BROKER is a whole number from 1 to 9, not "10", or all`,
		"cut c9 all":  `x:6:5: there is nothing to cut there: there is no consumer "c9"; there are c1, c2`,
		"cut all all\nuntil within=1m event ClientStateChanged to=STABLE": `x:7:7: gave up`,
	} {
		_, _, err := script.Run("x", threeOfAGroup+text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Kafka's names of a client's configuration are read, and refused with a word of what would be right.
func TestKafkasNames(t *testing.T) {
	e := script.New("x")
	for i, line := range strings.Split(threeOfAGroup, "\n") {
		if c, err := script.ParseLine("x", i+1, line); err != nil {
			t.Fatal(err)
		} else if c.Verb != "" {
			if err := e.Do(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c, _ := e.World().Consumer("c2"); c.SessionTimeoutMs != 10_000 || c.Assignors[0] != "sticky" {
		t.Errorf("c2 is %+v", c)
	}
	for text, want := range map[string]string{
		"consumer c3 session.timeout.m=10000":                   `did you mean "session.timeout.ms"?`,
		"consumer c3 session.timeout.ms=ten":                    `x:1:13: session=: "ten" is no duration`,
		"consumer c3 session=9s session.timeout.ms=9000":        "session= is there twice",
		"consumer c3 partition.assignment.strategy=Range":       `no assignor is called "Range"; did you mean "range"?`,
		"consumer c3 max.poll.interval.ms=99999999999999999999": "no duration",
	} {
		if _, err := script.ParseLine("x", 1, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestComplete(t *testing.T) {
	e := script.New("x")
	for i, line := range strings.Split("set group.initial.rebalance.delay.ms 0\n"+threeOfAGroup, "\n") {
		if c, _ := script.ParseLine("x", i+1, line); c.Verb != "" {
			if err := e.Do(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	for line, want := range map[string]string{
		"ki":                   "0 kill kill-broker",
		"kill ":                "5 c1 c2",
		"at 5s kill c":         "11 c1 c2",
		"! kill c2":            "7 c2",
		"cut c1 ":              "7 1 2 3 all",
		"drop c1 joing":        "8 JoinGroup",
		"drop c1 JoinGroup 1 ": "20 answers",
		"set group.initial":    "4 group.initial.rebalance.delay.ms",
		"fail-appends offsets NOT_ENOUGH_REPLICAS_": "21 NOT_ENOUGH_REPLICAS_AFTER_APPEND",
		"consumer c3 assignor=st":                   "21 sticky",
		"consumer c3 sess":                          "12 session=",
		"consumer ":                                 "9",
		"topic ":                                    "6",
		"add-partitions ":                           "15 orders",
		"until state St":                            "12 Stable",
		"until within=5s state Stable and mem":      "33 members",
		"expect owner orders-5":                     "13 orders-5",
		"expect members ":                           "15 == != < <= > >=",
		"until state Stable a":                      "19 and",
		"expect not lea":                            "11 leader",
		"move-leader __":                            "12 __consumer_offsets-",
		"ask LeaveGroup mem":                        "15 member=",
		"kill c1 ":                                  "8",
		"nothing ":                                  "8",
	} {
		from, list := e.Complete(line)
		var words []string
		for _, c := range list {
			words = append(words, c.Text)
		}
		got := strings.TrimSpace(strings.Join(append([]string{strconv.Itoa(from)}, words...), " "))
		if got != want && !(strings.HasSuffix(want, "-") && strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// Every verb has a manual, with an example that is read.
func TestManuals(t *testing.T) {
	list := script.Manuals()
	if !slices.IsSortedFunc(list, func(a, b script.Manual) int { return strings.Compare(a.Name, b.Name) }) || len(list) < 30 {
		t.Errorf("%d manuals", len(list))
	}
	for _, m := range list {
		if c, err := script.ParseLine("x", 1, m.Example); err != nil || c.Verb != m.Name {
			t.Errorf("%s: the example %q: %v", m.Name, m.Example, err)
		}
		if !strings.HasPrefix(m.Usage, m.Name) || m.Help == "" {
			t.Errorf("%s: %+v", m.Name, m)
		}
	}
	if _, known := script.ManualOf("nothing"); known {
		t.Error("there is a manual of nothing")
	}
}
