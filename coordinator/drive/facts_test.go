package drive

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// TestFactsInPartsAreTheFacts: the facts of single groups, and those in pieces of a few groups, say of each group what all
// facts say of it.
func TestFactsInPartsAreTheFacts(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.topic()
	w.coordinator()
	names := []string{}
	for i := range 25 {
		name := fmt.Sprintf("group-%02d", i)
		for broker := int32(1); broker <= 3; broker++ {
			q := commitRequest(member{"", -1}, int64(i))
			q.Group = name
			if r := ask[*kmsg.OffsetCommitResponse](w, broker, "c1", q); r.Topics[0].Partitions[0].ErrorCode == 0 {
				names = append(names, name)
			}
		}
	}
	w.run(1000)
	of := func(facts []event.Event) map[string][]event.Event {
		groups := map[string][]event.Event{}
		for _, e := range facts {
			if e.Body.Kind() != "RecordsAppended" && e.Group != "" {
				groups[e.Group] = append(groups[e.Group], e)
			}
		}
		return groups
	}
	want := of(w.d.Facts(w.nowMs))
	if len(names) != 25 || len(want) != 25 || w.d.Groups() != 25 {
		t.Fatalf("there are %d groups, told are %d, counted %d", len(names), len(want), w.d.Groups())
	}
	for _, name := range names {
		facts := w.d.GroupFacts(w.nowMs, name)
		if got := of(facts); !reflect.DeepEqual(got, map[string][]event.Event{name: want[name]}) {
			t.Errorf("alone %s is told as %v", name, got)
		}
		if !slices.ContainsFunc(facts, func(e event.Event) bool { return e.Body.Kind() == "RecordsAppended" }) {
			t.Errorf("%s has no record in the log", name)
		}
	}
	var all []event.Event
	broker, after, last, pieces := int32(0), "", false, 0
	for ; !last; pieces++ {
		var part []event.Event
		part, broker, after, last = w.d.FactsAfter(w.nowMs, broker, after, 3)
		if n := len(of(part)); n > 3 {
			t.Errorf("a piece tells of %d groups", n)
		}
		all = append(all, part...)
	}
	if got := of(all); !reflect.DeepEqual(got, want) || pieces < 9 {
		t.Errorf("in %d pieces %d groups are told, or otherwise", pieces, len(got))
	}
}
