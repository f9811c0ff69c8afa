package view

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

func TestEveryKindOfFactHasASentence(t *testing.T) {
	for _, kind := range event.Kinds() {
		if text, ok := allWords()["says."+kind]; !ok || text.En == "" || text.Zh == "" {
			t.Errorf("%s has no sentence in both languages: %q", kind, text)
		}
	}
}

// lines makes a model whose transcript is given.
func lines(facts ...event.Event) *Model {
	m := NewModel()
	for _, e := range facts {
		m.Apply(e)
	}
	return m
}

func TestTheChainOfAGhostEndsAtWhoKilledIt(t *testing.T) {
	m := lines(
		event.Event{Seq: 1, AtMs: 10, Group: "g", Broker: 1, Body: event.HeartbeatReceived{Member: "c3-1"}},
		event.Event{Seq: 2, AtMs: 10, Group: "g", Broker: 1, Cause: 1, Body: event.OperationWatched{Op: 1, Type: event.DelayedHeartbeat, Member: "c3-1", DeadlineMs: 10010}},
		event.Event{Seq: 3, AtMs: 20, Body: event.InputGiven{Text: "kill c3"}},
		event.Event{Seq: 4, AtMs: 20, Group: "g", Cause: 3, Body: event.ClientStopped{Client: "c3", Killed: true}},
		event.Event{Seq: 5, AtMs: 10010, Group: "g", Broker: 1, Cause: 2, Body: event.OperationCompleted{Op: 1, Type: event.DelayedHeartbeat, Member: "c3-1", Expired: true}},
		event.Event{Seq: 6, AtMs: 10010, Group: "g", Broker: 1, Cause: 5, Body: event.MemberRemoved{Member: "c3-1", Why: event.WhySessionExpired}},
	)
	for _, lang := range []Lang{English, Chinese} {
		s := newStage(m, Options{Lang: lang, Mode: ModeLesson, Group: "g", Why: 6, Yours: func(seq int64) bool { return seq == 3 }})
		list, all := s.whyLines()
		var seqs []int64
		for _, l := range list {
			seqs = append(seqs, l.Seq)
			if l.Says == "" || strings.Contains(l.Says, "{") || l.Who == "" {
				t.Errorf("link %d says %q of %q", l.Seq, l.Says, l.Who)
			}
		}
		if len(seqs) != 4 || all != 4 || seqs[0] != 6 || seqs[1] != 5 || seqs[2] != 4 || seqs[3] != 3 || !list[2].Inferred || s.root() != lang.T("root.you") {
			t.Errorf("the chain is %v, its root %q", seqs, s.root())
		}
	}
	// Where nobody silenced the member, the chain ends at the last that was heard of it.
	s := newStage(m, Options{Lang: English, Mode: ModeLesson, Group: "g", Why: 2})
	if list, _ := s.whyLines(); len(list) != 2 || list[1].Seq != 1 || s.root() != English.T("root.timer") {
		t.Errorf("%+v, root %q", list, s.root())
	}
	// What is no longer kept is asked for, and said.
	m.Lines = m.Lines[4:]
	s = newStage(m, Options{Lang: English, Mode: ModeLesson, Group: "g", Why: 6})
	if s.root() != English.T("root.lost") {
		t.Errorf("a chain that breaks off ends with %q", s.root())
	}
}
