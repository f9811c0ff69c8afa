package history

import (
	"reflect"
	"testing"

	"grouplab/coordinator/event"
)

// TestNeedsLeavesOutOnlyWhatChangesNothing: of each golden script, a fold that is given only what it needs says of each group what
// one says that is given everything.
func TestNeedsLeavesOutOnlyWhatChangesNothing(t *testing.T) {
	spared := 0
	for name, events := range scripts(t) {
		all, few := New(Config{}), New(Config{})
		for i := range events {
			e := &events[i]
			all.Apply(e)
			if few.Needs(e) {
				few.Apply(e)
			} else if few.Wants(e) {
				spared++
			}
			few.advance(all.nowMs)
			for group := range all.groups {
				a, _ := all.Summary(group)
				if b, _ := few.Summary(group); !reflect.DeepEqual(a, b) {
					t.Fatalf("%s, after %d %s: %s is\n%+v, and with what is needed\n%+v", name, e.Seq, e.Text(), group, a, b)
				}
			}
		}
	}
	if spared < 10 {
		t.Errorf("only %d facts were left out", spared)
	}
}

// TestNeedsCommits: those of a group without members count each, and those that expire by their own time; of a group with members,
// the first.
func TestNeedsCommits(t *testing.T) {
	h := New(Config{})
	s := &teller{h: h}
	commit := event.OffsetsCommitted{Offsets: []event.OffsetValue{{Topic: "orders", Partition: 1, Offset: 5}}}
	needs := func(what string, want bool) {
		t.Helper()
		if got := h.Needs(&event.Event{Group: "g", Body: commit}); got != want {
			t.Errorf("%s: a commit is needed: %v", what, got)
		}
	}
	s.at(1000, "g", event.GroupCreated{})
	needs("a new group", true)
	s.at(1000, "g", commit)
	needs("a group that only keeps offsets", true)
	s.at(2000, "h", event.GroupCreated{}, event.MemberAdded{Member: "a-1", SessionTimeoutMs: 10_000}, event.GenerationStarted{Generation: 1})
	s.at(2000, "h", commit)
	if h.Needs(&event.Event{Group: "h", Body: commit}) {
		t.Error("a group with members: a second commit is needed")
	}
	s.at(3000, "h", event.GroupRemoved{Why: event.WhyGroupDeleted}, event.GroupCreated{})
	if !h.Needs(&event.Event{Group: "h", Body: commit}) {
		t.Error("a group that came anew: its first commit is not needed")
	}
	own := commit
	own.Offsets = []event.OffsetValue{{Topic: "orders", Partition: 1, Offset: 5, ExpireMs: 9000}}
	s.at(4000, "h", event.MemberAdded{Member: "b-1", SessionTimeoutMs: 10_000}, event.GenerationStarted{Generation: 1}, own)
	if !h.Needs(&event.Event{Group: "h", Body: commit}) {
		t.Error("offsets that expire by their own time: a commit that takes their place is not needed")
	}
}
