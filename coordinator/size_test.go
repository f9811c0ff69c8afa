package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

func newSmall(t *testing.T, size int32) *bench {
	b := newBench(t)
	s := caseSettings()
	s.GroupMaxSize = size
	b.c.ConfigChanged(b.now, s)
	return b
}

func TestMAX01_FifthClientRefused(t *testing.T) {
	b := newSmall(t, 4)
	var tickets []Ticket
	for range 4 {
		tickets = append(tickets, b.direct("c", joinWith{}))
	}
	b.advance(101)
	for _, ticket := range tickets {
		wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	}
	resp := b.joined(b.direct("c", joinWith{}))
	if resp.ErrorCode != 81 || resp.MemberID != "" {
		t.Fatalf("%+v", resp)
	}
	b.members(4)
}

// five ids are issued; an id that has not joined does not count.
func fiveIDs(b *bench) (ids []string) {
	for range 5 {
		ids = append(ids, b.issued("c", joinWith{}))
	}
	return ids
}

func TestMAX02_TwoStepWithFiveClients(t *testing.T) {
	b := newSmall(t, 4)
	ids := fiveIDs(b)
	first := map[string]int16{}
	var tickets []Ticket
	for _, id := range ids {
		tickets = append(tickets, b.join("c", joinWith{version: 9, id: id}))
	}
	b.advance(101)
	refused := 0
	for i, ticket := range tickets {
		code := b.joined(ticket).ErrorCode
		if first[ids[i]] = code; code == 81 {
			refused++
		} else {
			wantCode(t, "join", code, 0)
		}
	}
	if refused != 1 {
		t.Fatalf("%d refused", refused)
	}
	b.inState(event.CompletingRebalance)
	for _, id := range ids {
		wantCode(t, "again", b.joined(b.join("c", joinWith{version: 9, id: id})).ErrorCode, first[id])
	}
	if n := len(b.c.groups[groupID].pending); n != 0 {
		t.Fatalf("%d ids are pending", n)
	}
}

func TestMAX03_ResendingWhileRebalancing(t *testing.T) {
	b := newSmall(t, 4)
	ids := fiveIDs(b)
	for _, id := range ids {
		b.join("c", joinWith{version: 9, id: id})
	}
	var tickets []Ticket
	for _, id := range ids {
		tickets = append(tickets, b.join("c", joinWith{version: 9, id: id}))
	}
	b.advance(101)
	codes := map[int16]int{}
	for _, ticket := range tickets {
		codes[b.joined(ticket).ErrorCode]++
	}
	// The refused id is gone, so its second attempt is refused before it is known to be unknown.
	if codes[0] != 4 || codes[81] != 1 {
		t.Fatalf("%v", codes)
	}
}

func TestMAX04_OverCapacityAfterLoad(t *testing.T) {
	b := unloaded(t)
	s := caseSettings()
	s.GroupMaxSize = 1
	b.c.ConfigChanged(b.now, s)
	b.load(0, 2, batchAt(0, groupRecord(3, "a", "b")))
	b.inState(event.PreparingRebalance)
	b.members(2)
	// Of those that join again the last is expelled.
	w := joinWith{version: 9, session: 4000, rebalance: 30000}
	w.id = "b"
	ticket := b.join("b", w)
	b.unanswered(ticket)
	w.id = "a"
	resp := b.joined(b.join("a", w))
	if resp.ErrorCode != 81 || resp.MemberID != "" {
		t.Fatalf("%+v", resp)
	}
	if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 4 || resp.LeaderID != "b" {
		t.Fatalf("%+v", resp)
	}
}

// A full group refuses a static member that starts again: it has no id by which it could be known.
func TestRestartIntoAFullGroup(t *testing.T) {
	b := newSmall(t, 2)
	twoStatic(b, joinWith{})
	wantCode(t, "restart", b.joined(b.join("l", static("leader", joinWith{}))).ErrorCode, 81)
	b.members(2)
}
