package view

import (
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
)

// folded runs a script and folds what happened.
func folded(t *testing.T, text string) *Model {
	t.Helper()
	events, nowMs, err := script.Run("test", text)
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel()
	for _, e := range events {
		m.Apply(e)
	}
	m.SetNow(nowMs)
	return m
}

// TestFailoverForgetsTheRebalance: a broker dies in the middle of a rebalance. Three steps are stamped, one after the other;
// the shelf is an outline then, and stays one until the next rebalance begins, because no log has it.
func TestFailoverForgetsTheRebalance(t *testing.T) {
	const begin = "seed 3\nbrokers 3\nset offsets.topic.num.partitions 1\ntopic orders 4\ngroup g\n" +
		"consumer c1 session=30s rebalance=60s heartbeat=20s\nconsumer c2 session=30s rebalance=60s\nstart c1\nuntil state Stable\n" +
		"start c2\nuntil event ReplyParked api=JoinGroup and state PreparingRebalance\n"
	broker := folded(t, begin).Groups["g"].Broker
	kill := begin + "kill-broker " + num(broker) + "\n"

	at := func(text string) (*stage, []failoverStep, string) {
		m := folded(t, text)
		s := newStage(m, Options{Group: "g"})
		_, says := s.lost()
		return s, s.failover(), says
	}
	s, steps, says := at(kill)
	if len(steps) != 3 || !steps[0].Here || steps[1].Done || steps[2].Done || !strings.Contains(says, "went with it") {
		t.Errorf("after the kill: %+v, %q", steps, says)
	}
	if l := s.g.Lost; l.State != event.PreparingRebalance || !slices.Contains(l.Parked, "c2") || l.Generation != 1 {
		t.Errorf("what is lost: %+v", l)
	}
	s, steps, says = at(kill + "until event LoadFinished\n")
	if len(steps) != 3 || !steps[1].Done || !steps[2].Done || steps[0].At >= steps[1].At || !strings.Contains(steps[1].Text, "read ") {
		t.Errorf("after the load: %+v", steps)
	}
	if !strings.Contains(says, "not in the log") || !strings.Contains(says, "Stable, generation 1") {
		t.Errorf("after the load the lost rebalance is told as %q", says)
	}
	if c := s.m.Clone(); c.Tapes[s.partition()].Failover != s.m.Tapes[s.partition()].Failover {
		t.Error("a copy of the picture has another failover")
	}
	if s, _, says = at(kill + "until event LoadFinished\nadvance 90s\n"); says != "" || s.failover() != nil {
		t.Errorf("long after that it is still told: %q, %+v", says, s.failover())
	}
}

// TestInitialDelayIsDrawnInStretches: each window in which somebody joined adds one, and newcomers may add more.
func TestInitialDelayIsDrawnInStretches(t *testing.T) {
	m := folded(t, "seed 1\nbrokers 1\nset group.initial.rebalance.delay.ms 3000\ntopic orders 4\ngroup g\nconsumer c1 rebalance=60s\nconsumer c2 rebalance=60s\n"+
		"start c1\nadvance 1s\nstart c2\nadvance 3s\n")
	s := newStage(m, Options{Group: "g"})
	cards, _, _ := s.opCards()
	if len(cards) != 1 || cards[0].Type != string(event.InitialDelayedJoin) || !cards[0].Locked {
		t.Fatalf("the cards are %+v", cards)
	}
	c := cards[0]
	if len(c.Parts) != 1 || c.Parts[0] <= 0 || c.Done <= c.Parts[0] || c.Edge <= c.Done || c.Edge >= 1 || c.End != c.Edge {
		t.Errorf("two stretches, in the second now, and room for more: %+v", c)
	}
}
