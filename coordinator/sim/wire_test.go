package sim

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// What a commit carries, what an OffsetFetch reads, and that no two commits are alike where they are to be told apart:
// all of it can be seen in the events.
func TestTheWireTellsWhatIsWrittenAndRead(t *testing.T) {
	for _, transactional := range []string{"", "tx"} {
		w, err := New(Config{Seed: 1, Set: []Setting{{"group.initial.rebalance.delay.ms", "0"}}})
		must(t, err)
		must(t, w.CreateTopic("orders", 1))
		must(t, w.AddConsumer(ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}, AutoCommitMs: 1000, TransactionalID: transactional, CommitMetadata: "who"}))
		must(t, w.Start("c1"))
		w.AdvanceTo(8000)
		must(t, w.Restart("c1"))
		w.AdvanceTo(70_000)
		var wrote []event.OffsetValue
		seen := map[string]bool{}
		read := 0
		for _, e := range w.Take() {
			switch b := e.Body.(type) {
			case event.RequestSent:
				if b.API == offsetFetchKey && !b.RequireStable || b.API == endTxnKey && !b.Commit {
					t.Errorf("%+v", b)
				}
				if b.API != offsetCommitKey && b.API != txnOffsetCommitKey {
					continue
				}
				if len(b.Offsets) != 1 || b.Offsets[0].Topic != "orders" || !strings.HasPrefix(b.Offsets[0].Metadata, "who-") || seen[b.Offsets[0].Metadata] {
					t.Fatalf("%s commits %+v", event.APIName(b.API), b.Offsets)
				}
				seen[b.Offsets[0].Metadata] = true
				wrote = append(wrote, b.Offsets[0])
			case event.ReplyOnWire:
				if b.API != offsetFetchKey || b.Code != 0 || b.Offsets[0].Code != 0 {
					continue
				}
				last := event.OffsetValue{Topic: "orders", Offset: -1, LeaderEpoch: -1}
				if read++; read > 1 {
					last = wrote[len(wrote)-1]
				}
				if len(b.Offsets) != 1 || b.Offsets[0] != last {
					t.Errorf("read %+v, want %+v", b.Offsets, last)
				}
				if text := e.String(); !strings.HasSuffix(text, "]") {
					t.Errorf("the printer says nothing of what was read: %s", text)
				}
			}
		}
		if read != 2 || len(wrote) < 10 {
			t.Errorf("transactional id %q: %d reads, %d commits", transactional, read, len(wrote))
		}
	}
}

func TestCommitMetadataErrors(t *testing.T) {
	cfg := ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}, CommitMetadata: "a b"}
	if _, err := cfg.withDefaults(); err == nil || !strings.Contains(err.Error(), `cannot carry "a b" as metadata`) {
		t.Error(err)
	}
}
