package coordinator

import (
	"testing"

	"pgregory.net/rapid"

	"grouplab/coordinator/event"
)

// delayModel is the rule of KIP-134 in its own words: the phase ends with the first round during which nobody came, or
// when what remained of the largest rebalance timeout at its beginning is used up. What remains falls by the length of the
// round before, and a round is no longer than what remains.
type delayModel struct {
	came bool // somebody came, and no round was added for it yet
}

// endMs is when a phase ends that began at 0 with a rebalance timeout, given when others come, ascending.
func (d *delayModel) endMs(delayMs, rebalanceMs int64, others []int64) int64 {
	at, round, remaining := int64(0), delayMs, max(rebalanceMs-delayMs, 0)
	for {
		for len(others) > 0 && others[0] < at+round {
			d.came, others = true, others[1:]
		}
		at += round
		if !d.came || remaining == 0 {
			return at
		}
		d.came = false
		round, remaining = min(delayMs, remaining), max(remaining-round, 0)
	}
}

// The initial delay and its extensions, against the rule, for a new group and for the same group when it has become empty
// again, with any delay, timeouts and arrivals.
func TestInitialDelayAgainstItsRule(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t)
		s := caseSettings()
		s.GroupInitialRebalanceDelayMs = rapid.Int32Range(0, 60).Draw(r, "delay")
		b.c.ConfigChanged(b.now, s)
		model := delayModel{}
		for generation := range int32(3) {
			w := joinWith{session: 600000, rebalance: rapid.Int32Range(1, 200).Draw(r, "rebalance")}
			var others []int64
			last := int64(0)
			for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, 70), 0, 6).Draw(r, "gaps") {
				last += gap
				others = append(others, last)
			}
			end := model.endMs(int64(s.GroupInitialRebalanceDelayMs), int64(w.rebalance), others)
			began := b.now
			tickets := []Ticket{b.direct("0", w)}
			for _, at := range others {
				if at >= end {
					break // the phase is over by then
				}
				b.advance(began + at - b.now)
				tickets = append(tickets, b.direct("x", joinWith{session: 600000, rebalance: 900})) // later ones lengthen nothing
			}
			if end > 0 {
				b.advance(began + end - 1 - b.now)
				b.unanswered(tickets...)
			}
			b.advance(began + end - b.now)
			var ids []string
			for _, ticket := range tickets {
				resp := b.joined(ticket)
				if resp.ErrorCode != 0 || resp.Generation != generation*2+1 {
					r.Fatalf("%+v", resp)
				}
				ids = append(ids, resp.MemberID)
			}
			b.leave(groupID, 5, ids...)
			b.inState(event.Empty)
		}
	})
}

// Neither that all have joined, nor that somebody leaves or an issued id runs out, ends the initial delay early.
func TestOnlyTimeEndsTheInitialDelay(t *testing.T) {
	b := newBench(t)
	b.issued("x", joinWith{session: 10})
	y := b.issued("y", joinWith{session: 300})
	one := b.direct("1", joinWith{})
	two, gone := b.twoStep("2", joinWith{})
	b.advance(20)
	b.leave(groupID, 5, two, y)
	wantCode(t, "who left", b.joined(gone).ErrorCode, 25)
	b.advance(20)
	b.unanswered(one)
	b.inState(event.PreparingRebalance)
	b.issued("z", joinWith{session: 600})
	b.advance(61) // the second member came in the first round, so there is another one; z does not hold it up
	if resp := b.joined(one); resp.ErrorCode != 0 || len(resp.Members) != 1 {
		t.Fatalf("%+v", resp)
	}
	if n := len(b.c.groups[groupID].pending); n != 1 {
		t.Fatalf("%d ids are issued", n)
	}
}
