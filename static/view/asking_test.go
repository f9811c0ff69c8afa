package view

import (
	"strings"
	"testing"
)

// killed is a group that waits for a killed member, whose session will end the wait.
const killed = "seed 3\nbrokers 3\ntopic orders 4\ngroup g\nconsumer c1 session=10s rebalance=60s\nconsumer c2 session=10s rebalance=60s\nstart c1\nstart c2\n" +
	"until state Stable and members == 2\nkill c2\nadvance 1s\nstart c2\nuntil waiting-for c2 and not waiting-for c1\n"

// TestNothingGivesTheAnswerAway: while a lesson asks, no pane says what will end the wait or what becomes of the offsets; the
// operations themselves are seen. When the answer is there, all say it.
func TestNothingGivesTheAnswerAway(t *testing.T) {
	m := folded(t, killed)
	said := func(gate string) (all string, cards int) {
		o := Options{Group: "g", Mode: ModeLesson, Lesson: &LessonState{Page: &LessonPage{Steps: []StepPage{{}}}, Gate: gate}}
		for _, p := range Parts(m, o) {
			if p.ID != "lesson" {
				all += render(t, p.Component)
			}
		}
		list, _, _ := newStage(m, o).opCards()
		return all, len(list)
	}
	asked, cards := said("asking")
	told, after := said("ready")
	for _, words := range []string{"ends the wait", "the wait ends here", "winner"} {
		if strings.Contains(asked, words) {
			t.Errorf("while the lesson asks, the stage says %q", words)
		}
		if !strings.Contains(told, words) {
			t.Errorf("once it is answered, the stage does not say %q", words)
		}
	}
	if cards != after || cards != 2 {
		t.Errorf("%d operations have cards while the lesson asks, %d afterwards", cards, after)
	}
}

// TestTheHeadlineKeepsTheAnswer: that only time ends the wait, or the log, is what lesson 2 asks while it lasts.
func TestTheHeadlineKeepsTheAnswer(t *testing.T) {
	const begin = "seed 2\nbrokers 3\ntopic orders 6\ngroup g\nconsumer c1\nstart c1\n"
	for until, words := range map[string]string{"state PreparingRebalance": "time to pass", "event AppendStarted and state CompletingRebalance": "the log"} {
		m := folded(t, begin+"until "+until+"\n")
		said := func(gate string) string {
			return Headline(m, Options{Group: "g", Mode: ModeLesson, Lesson: &LessonState{Page: &LessonPage{Steps: []StepPage{{}}}, Gate: gate}})
		}
		if asked, told := said("asking"), said("ready"); strings.Contains(asked, words) || !strings.Contains(asked, "for what?") || !strings.Contains(told, words) {
			t.Errorf("until %s: %q while the lesson asks, %q afterwards", until, asked, told)
		}
	}
}

// TestTheTapeEndsWhereItsLeaderDoes: what the old leader had not handed on is lost with it, and what those records had
// overwritten counts again.
func TestTheTapeEndsWhereItsLeaderDoes(t *testing.T) {
	const begin = "seed 5\nbrokers 3\nset offsets.topic.num.partitions 1\ntopic orders 1\ngroup g\nconsumer c1 commit=off\nstart c1\n" +
		"until state Stable and client c1 STABLE\ncommit c1 orders-0 7\nuntil committed orders-0 == 7\n"
	m := folded(t, begin)
	was := m.Tapes[0].EndOffset
	leader := num(m.Tapes[0].Leader)
	m = folded(t, begin+"commit c1 orders-0 9\nuntil event RecordsAppended\nkill-broker "+leader+"\n")
	old := m.Tapes[0]
	if old.EndOffset != was+1 || old.Records[len(old.Records)-2].OverwrittenBy != was {
		t.Fatalf("the commit in flight is not on the tape: %+v", old)
	}
	m = folded(t, begin+"commit c1 orders-0 9\nuntil event RecordsAppended\nkill-broker "+leader+"\nuntil event LoadFinished\n")
	tape := m.Tapes[0]
	last := tape.Records[len(tape.Records)-1]
	if tape.EndOffset != was || tape.HighWatermark > was || tape.Live != old.Live || last.OverwrittenBy >= 0 || last.Offset != was-1 {
		t.Errorf("after the failover the tape ends at %d, %d live, with %+v; %d is where the new leader's log ends", tape.EndOffset, tape.Live, last, was)
	}
}

// TestAGroupThatIsGoneIsShownToItsEnd: in a lesson the tape with its tombstone stays when the group is removed.
func TestAGroupThatIsGoneIsShownToItsEnd(t *testing.T) {
	m := folded(t, "seed 5\nbrokers 3\nset offsets.retention.minutes 1\nset offsets.retention.check.interval.ms 10000\ntopic orders 1\ngroup g\nconsumer c1\nstart c1\n"+
		"until committed orders-0 >= 1\nstop c1\nuntil event GroupRemoved\n")
	s := newStage(m, Options{Mode: ModeLesson})
	p := s.tape()
	if p == nil || len(p.Rows) == 0 || !p.Rows[len(p.Rows)-1].Tombstone {
		t.Fatalf("the tape of a group that is gone: %+v", p)
	}
	if text := render(t, shelves(s)); !strings.Contains(text, "it was removed") {
		t.Errorf("the coordinator of a group that is gone: %s", text)
	}
	if text := render(t, shelves(newStage(folded(t, "brokers 1\ntopic orders 1\ngroup g\nconsumer c1\nstart c1\n"), Options{Mode: ModeLesson}))); strings.Contains(text, "removed") {
		t.Errorf("a group that never was is told to be removed: %s", text)
	}
	if h := Headline(m, Options{Mode: ModeLesson}); !strings.Contains(h, "gone") {
		t.Errorf("the headline of a group that is gone: %q", h)
	}
}

// TestInputsOfOneMomentShareAFlag: words never stand on each other.
func TestInputsOfOneMomentShareAFlag(t *testing.T) {
	m := folded(t, "seed 14\nbrokers 3\ntopic orders 6\ngroup g\nconsumer c1 commit=off\nstart c1\nuntil state Stable and client c1 STABLE\nadvance 1s\n"+
		"commit c1 orders-0 42\nuntil event OffsetsPending\nslow-appends offsets 2s 1\ncommit c1 orders-0 57\nask OffsetFetch partitions=orders-0\n")
	c := newStage(m, Options{Group: "g"}).chart()
	right := -1.0
	for _, mk := range c.Inputs {
		from, to := mk.X, mk.X+9/c.px+c.wide(mk.Text)
		if mk.End {
			from, to = mk.X-6/c.px-c.wide(mk.Text), mk.X
		}
		if mk.Text != "" && from < right {
			t.Errorf("%q begins at %.3f, where the words before it go on to %.3f", mk.Text, from, right)
		}
		right = max(right, to)
	}
	if last := c.Inputs[len(c.Inputs)-1]; !strings.Contains(last.Text, "slow-appends") || !strings.Contains(last.Text, " · ") {
		t.Errorf("what was done at one moment is told as %q", last.Text)
	}
}
