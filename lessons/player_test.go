package lessons_test

import (
	"strings"
	"testing"

	"grouplab/lessons"
)

const small = `setup
  topic orders 6
  group g
  consumer c1
step read
step go
  start c1
  wait event ClientStarted client=c1
  allow kill
step ask
  predict end
    option joined event MemberAdded
    option died event ClientStopped
    decide generation >= 1
  wait generation >= 1
goal up state Stable
solution go
  start c1
  until state Stable
`

func TestPlayerGates(t *testing.T) {
	l, err := lessons.Load("small", small)
	if err != nil {
		t.Fatal(err)
	}
	e, p := open(t, l), lessons.NewPlayer(l)
	if p.Gate() != lessons.Ready || p.Allows("kill", "kill c1") {
		t.Fatalf("a first step that waits for nothing is ready, and allows nothing: %s", p.Gate())
	}
	if err := p.Next(e); err != nil {
		t.Fatal(err)
	}
	if p.Gate() != lessons.Ready || !p.Allows("kill", "kill c1") || p.Allows("stop", "stop c1") {
		t.Fatalf("its own command brought what the step waits for: %s", p.Gate())
	}
	before := p.Clone()
	if err := p.Next(e); err != nil {
		t.Fatal(err)
	}
	if p.Gate() != lessons.Asking || p.MayRun() {
		t.Fatalf("time stands still before an answer: %s", p.Gate())
	}
	if err := p.Next(e); err == nil || !strings.Contains(err.Error(), "asks a question") {
		t.Fatalf("next must be refused: %v", err)
	}
	if _, err := p.Predict(e, "nothing"); err == nil || !strings.Contains(err.Error(), "joined or died") {
		t.Fatalf("an unknown answer must be refused with those there are: %v", err)
	}
	a, err := p.Predict(e, "died")
	if err != nil || a.Right != "joined" || a.Chosen != "died" {
		t.Fatalf("graded %+v, %v", a, err)
	}
	if _, err := p.Predict(e, "joined"); err == nil {
		t.Fatal("an answer stands")
	}
	if p.Gate() != lessons.Waiting {
		t.Fatalf("after the answer the step waits: %s", p.Gate())
	}
	if before.Index() != 1 || before.Answer("ask") != nil {
		t.Fatal("a copy of the player has moved")
	}
	p.TakeOver()
	if p.Gate() != lessons.Free || !p.Allows("stop", "stop c1") || !p.MayRun() {
		t.Fatal("who has taken over may do anything")
	}
	if err := p.Next(e); err == nil {
		t.Fatal("the narration does not go on meanwhile")
	}
}

const breakIt = `setup
  topic orders 6
  group g
  consumer c1 session=10s commit=off
  start c1
  until state Stable
step read
step break
  move lose drop c1 Heartbeat 9
  challenge par=1 members == 0
goal gone state Empty
win break
  drop c1 Heartbeat 9
  until members == 0
`

// TestChallenge: the learner's moves count until the challenge is won; only what the step offers is allowed.
func TestChallenge(t *testing.T) {
	l, err := lessons.Load("break-it", breakIt)
	if err != nil {
		t.Fatal(err)
	}
	e, p := open(t, l), lessons.NewPlayer(l)
	if err := p.Next(e); err != nil {
		t.Fatal(err)
	}
	if p.Gate() != lessons.Waiting || !p.Allows("drop", "drop c1 Heartbeat 9") || p.Allows("drop", "drop c1 Heartbeat 99") || p.Allows("kill", "kill c1") {
		t.Fatalf("gate %s", p.Gate())
	}
	win(t, p, e)
	if p.Gate() != lessons.Over || p.Moves() != 1 {
		t.Fatalf("gate %s after %d moves", p.Gate(), p.Moves())
	}
	p.Moved()
	if p.Moves() != 1 {
		t.Error("moves are counted after the win")
	}
}
