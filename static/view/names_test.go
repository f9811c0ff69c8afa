package view

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"grouplab/coordinator/event"
)

// TestManyPendingIDsAreLinearWork: 50 000 ids that were handed out, half of which join, are named from one index that is never gathered
// anew, and with memory that grows as they do: a copy of the list for each took 10 GB.
func TestManyPendingIDsAreLinearWork(t *testing.T) {
	const many = 50_000
	s := newTold()
	s.at(0, event.MemberIDIssued{Member: "app-first", ClientID: "app"})
	g := s.m.Groups["g"]
	kept := g.names
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range many {
		s.at(1, event.MemberIDIssued{Member: fmt.Sprintf("app-%08d", i), ClientID: "app"})
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / many; bytes > 20_000 {
		t.Errorf("%d bytes are taken for each id", bytes)
	}
	for i := range 100 {
		id := fmt.Sprintf("app-%08d", i)
		s.at(2, event.PendingForgotten{Member: id}, added(id, "app"))
	}
	if kept == nil || g.names != kept {
		t.Error("the labels were gathered anew")
	}
	if len(g.Pending) != many-99 || len(g.Present()) != 100 {
		t.Errorf("%d ids and %d members", len(g.Pending), len(g.Present()))
	}
}

// TestNamesAreKept: whatever comes, the labels that are kept are those that are gathered from the group, and nobody who is counted
// carries another's.
func TestNamesAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := newTold()
	s.at(0, event.GroupCreated{})
	generation := int32(0)
	pick := func(n int) int { return rng.IntN(max(n, 1)) }
	for n := range 5000 {
		g := s.m.Groups["g"]
		id := fmt.Sprintf("app-%d-%04d", n, rng.IntN(12)) // of its own, with an end that others have, too
		pending, present := "", ""
		if len(g.Pending) > 0 {
			pending = g.Pending[pick(len(g.Pending))].ID
		}
		if list := g.Present(); len(list) > 0 {
			present = list[pick(len(list))].ID
		}
		switch rng.IntN(9) {
		case 0, 1:
			s.at(1, event.MemberIDIssued{Member: id, ClientID: "app"})
		case 2:
			s.at(1, event.PendingForgotten{Member: pending})
		case 3:
			if pending != "" {
				s.at(1, event.PendingForgotten{Member: pending}, added(pending, "app"))
			}
		case 4:
			s.at(1, added(id, "app"))
		case 5:
			s.at(1, event.MemberRemoved{Member: present, Why: event.WhySessionExpired})
		case 6:
			s.at(1, event.MemberReplaced{Old: present, Member: id, ClientID: "other"})
		case 7:
			generation++
			s.at(1, event.GenerationStarted{Generation: generation})
		case 8:
			if rng.IntN(20) == 0 {
				s.at(1, event.FactsBegan{}, event.FactsEnded{})
			}
			s.m = s.m.Clone()
		}
		g = s.m.Groups["g"]
		kept := g.names
		if kept == nil {
			continue
		}
		g.names = nil
		anew := g.named()
		g.names = kept
		maps.DeleteFunc(kept.carried, func(_ string, n int) bool { return n == 0 })
		maps.DeleteFunc(anew.carried, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(kept.carried, anew.carried) || !maps.Equal(kept.labels, anew.labels) {
			t.Fatalf("kept %v, gathered anew %v", kept, anew)
		}
	}
}
