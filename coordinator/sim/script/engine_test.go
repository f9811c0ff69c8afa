package script_test

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
)

const threeConsumers = `
seed 5
set offsets.topic.num.partitions 1
set group.initial.rebalance.delay.ms 0
topic orders 6
group g
consumer c1 session=10s rebalance=60s
consumer c2 session=10s rebalance=60s
consumer c3 session=10s rebalance=60s
start c1
until client c1 STABLE
start c2
start c3
until state Stable and members == 3 and unowned == 0
`

// play runs a script that must succeed.
func play(t *testing.T, text string) *script.Engine {
	t.Helper()
	e := script.New("test")
	if err := run(t, e, text); err != nil {
		t.Fatal(err)
	}
	return e
}

// run runs commands until one fails.
func run(t *testing.T, e *script.Engine, text string) error {
	t.Helper()
	commands, err := script.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if err := e.Do(c); err != nil {
			return err
		}
	}
	return nil
}

func condition(t *testing.T, text string) script.Condition {
	t.Helper()
	c, err := script.ParseCondition("test", 1, 1, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each clause, true and false in a settled group, with what it says where it is false.
func TestConditions(t *testing.T) {
	e := play(t, threeConsumers)
	for _, x := range []struct {
		text, explain string // explain "" where it holds
	}{
		{"state Stable", ""},
		{"state Empty", "state is Stable"},
		{"not state Stable", "state is Stable"},
		{"members == 3 and generation >= 2", ""},
		{"members != 3", "there are 3 members"},
		{"members < 3 and members > 3", "there are 3 members; there are 3 members"},
		{"owner orders-0 c1", ""},
		{"owner orders-0 c2", "orders-0 is owned by c1"},
		{"owner orders-9 c2", "nobody owns orders-9"},
		{"unowned == 0", ""},
		{"unowned >= 1", "every partition has an owner"},
		{"committed payments-0 >= 0", "payments-0 has no committed offset"},
		{"waiting-for c1", "the group waits for nobody"},
		{"coordinator 1 and not coordinator 2", ""},
		{"coordinator 3", "broker 1 has the group"},
		{"leader c1", ""},
		{"leader c3", "the leader is c1"},
		{"client c1 STABLE and client c2 STABLE", ""},
		{"client c1 STOPPED", "c1 is STABLE"},
		{"client c9 STABLE", "c9 is unknown"},
		{"now >= 0s and now < 1m", ""},
		{"event MemberRemoved", "no MemberRemoved happened"},
		{"state Stable group=other", "no broker has the group"},
		{"members == 0 group=other", ""},
		{"leader c1 group=other", "there is no leader"},
	} {
		c := condition(t, x.text)
		if got := c.Explain(e); got != x.explain || c.Holds(e) != (x.explain == "") {
			t.Errorf("%s: holds %v, explains %q, want %q", x.text, c.Holds(e), got, x.explain)
		}
	}
}

func TestConditionsFollowAGhost(t *testing.T) {
	e := play(t, threeConsumers+"advance 1s\nkill c3\nrestart c3\nuntil event ReplyParked api=JoinGroup member=c1 and event ReplyParked api=JoinGroup member=c2")
	for text, want := range map[string]bool{
		"waiting-for c3": true, "waiting-for c1": false, "members == 4": true, "state PreparingRebalance": true, "unowned == 6": true,
	} {
		if c := condition(t, text); c.Holds(e) != want {
			t.Errorf("%s: %v, want %v: %s", text, !want, want, c.Explain(e))
		}
	}
	// Events of the until that is over are expect's to look at, and gone for what waits next.
	if err := run(t, e, "expect event ReplySent api=Heartbeat code=REBALANCE_IN_PROGRESS member=c1"); err != nil {
		t.Error(err)
	}
	if condition(t, "event ReplySent api=Heartbeat").Holds(e) {
		t.Error("an event from before the last until's end still counts")
	}
	if err := run(t, e, "until within=15s state Stable\nexpect event MemberRemoved member=c3 why=\"session expired\""); err != nil {
		t.Error(err)
	}
}

func TestCommandsThatFail(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"start c1", `test:1:7: there is no consumer "c1"; there is none at all yet`},
		{"topic orders 3\nconsumer c1", "test:2:10: consumer c1 has no group: give it one"},
		{"topic orders 3\nbrokers 3", "test:2:1: the world is there already: brokers comes before the first topic"},
		{"set offsets.topic.replication.factor 9\ntopic orders 3", "test:2:7: offsets.topic.replication.factor is 9, but there are 3 brokers"},
		{"topic orders 3\nexpect state Stable", "test:2:8: expected state Stable, but no broker has the group"},
		{"topic orders 3\nuntil within=5s state Stable", "test:2:7: gave up on state Stable after 5 s: no broker has the group"},
		{"topic orders 3\n! add-partitions orders 6", `test:2:3: "! add-partitions orders 6" was to fail, and did not`},
		{"topic orders 3\ntopic orders 3", "TOPIC_ALREADY_EXISTS"},
		{"topic orders 3\nadd-partitions orders 2", "INVALID_PARTITIONS"},
		{"brokers 1\ntopic orders 1\nkill-broker 2", "test:3:13: there is no broker 2; there are 1 to 1"},
	} {
		err := run(t, script.New("test"), x.text)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %q", x.text, err, x.want)
		}
	}
	e := play(t, "topic orders 3\n! kill c9")
	if !strings.Contains(e.Failure(), `there is no consumer "c9"`) {
		t.Errorf("Failure is %q", e.Failure())
	}
}

// A page steps through until and advance by itself; it ends where Do would.
func TestBeginIsDoInSteps(t *testing.T) {
	whole := play(t, threeConsumers)
	e := script.New("test")
	commands, err := script.Parse("test", threeConsumers)
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for _, c := range commands {
		w, err := e.Begin(c)
		for over := false; !over && err == nil; {
			if over, err = e.Done(w); !over {
				e.Step(w.UntilMs)
			}
			events = append(events, e.Take()...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := whole.Take()
	if len(events) != len(want) || e.NowMs() != whole.NowMs() {
		t.Fatalf("%d events until %d ms, want %d until %d ms", len(events), e.NowMs(), len(want), whole.NowMs())
	}
	for i := range want {
		if events[i].String() != want[i].String() {
			t.Fatalf("event %d: %s, want %s", i, events[i], want[i])
		}
	}
}

func TestStepStopsAtItsLimit(t *testing.T) {
	e := play(t, threeConsumers)
	next := e.NextMs()
	if e.Step(next-1) || e.NowMs() != next-1 {
		t.Errorf("nothing is due before %d ms; it is %d ms", next, e.NowMs())
	}
	if !e.Step(next) || e.NowMs() != next {
		t.Errorf("the moment at %d ms is due; it is %d ms", next, e.NowMs())
	}
}

func TestCloneIsApart(t *testing.T) {
	e := play(t, threeConsumers)
	e.Take()
	copied := e.Clone()
	if err := run(t, copied, "kill c2\nuntil members == 2"); err != nil {
		t.Fatal(err)
	}
	if got := e.Take(); len(got) != 0 {
		t.Errorf("what happens to a copy is told by the original: %v", got[0])
	}
	if !condition(t, "members == 3 and client c2 STABLE").Holds(e) || !condition(t, "client c2 STOPPED").Holds(copied) {
		t.Errorf("the copy's kill reaches the original, or not the copy")
	}
}

func TestShowAndHide(t *testing.T) {
	e := play(t, "hide kinds StateChanged")
	if e.Shows("StateChanged") || !e.Shows("MemberAdded") {
		t.Error("hide kinds StateChanged hides that kind alone")
	}
	if err := run(t, e, "show kinds StateChanged MemberAdded"); err != nil || !e.Shows("StateChanged") || e.Shows("MemberRemoved") {
		t.Errorf("show kinds shows those kinds alone: %v", err)
	}
	if err := run(t, e, "show kinds all"); err != nil || !e.Shows("MemberRemoved") {
		t.Errorf("show kinds all shows every kind: %v", err)
	}
}
