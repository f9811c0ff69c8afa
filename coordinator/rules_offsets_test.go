package coordinator

import (
	"strings"
	"testing"
)

// A commit says that its member is alive, also while the group rebalances.
func TestCommitDuringARebalanceRestartsTheSession(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(slow)
	b.direct("x", slow)
	for range 4 {
		b.advance(700)
		wantCode(t, "commit", b.committed(b.commit(commitWith{id: &m, generation: 1, offsets: one(1)})), 0)
	}
	b.members(2)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
}

// offset.metadata.max.bytes is compared with String.length of Java, whose strings are UTF-16, and is itself legal.
func TestMetadataIsCountedInUTF16Units(t *testing.T) {
	const limit = 4096
	for _, c := range []struct {
		name, metadata string
		code           int16
	}{
		{"one byte each", strings.Repeat("m", limit), 0},
		{"one byte each, one more", strings.Repeat("m", limit+1), 12},
		{"two bytes, one unit each", strings.Repeat("é", limit), 0},
		{"two bytes, one unit each, one more", strings.Repeat("é", limit+1), 12},
		{"four bytes, two units each", strings.Repeat("😀", limit/2), 0},
		{"four bytes, two units each, one more", strings.Repeat("😀", limit/2) + "m", 12},
	} {
		b := newBench(t)
		w := simple(1)
		w.metadata = &c.metadata
		if got := b.committed(b.commit(w)); got != c.code {
			t.Errorf("%s: %d, want %d", c.name, got, c.code)
		}
	}
}

// What is deleted while it is written does not come back when the log says that it is written.
func TestCommitDeletedWhileItIsWrittenStaysDeleted(t *testing.T) {
	b := newBench(t)
	b.hold = true
	commit := b.commit(simple(5))
	b.askDeleteOffsets(groupID, at{"topic", 0})
	b.release(0)
	wantCode(t, "commit", b.committed(commit), 0)
	b.wantFetch(groupID, true, -1, 0)
	b.wantTombstones("[topic-0]")
}

func TestFetchOfAllLeavesOutWhatIsOnlyPending(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	b.hold = true
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{1: 6}})
	g := b.fetchGroup(groupID, false, "")
	if len(g.Topics) != 1 || len(g.Topics[0].Partitions) != 1 || g.Topics[0].Partitions[0].Offset != 5 {
		t.Fatalf("%+v", g)
	}
	b.release(0)
	if g := b.fetchGroup(groupID, false, ""); len(g.Topics[0].Partitions) != 2 {
		t.Fatalf("%+v", g)
	}
}

// A group that rebalances may be about to subscribe to the topic: nothing of it expires before it is Stable again.
func TestNothingExpiresWhileTheGroupRebalances(t *testing.T) {
	b := withRetention(newBench(t), 1)
	w := joinWith{session: 600000, rebalance: 600000, protocols: subscribed("range", "foo")}
	m := b.oneStable(w)
	b.commit(commitWith{id: &m, generation: 1, topic: "bar", offsets: one(5)})
	x := b.direct("x", w)
	b.advance(60001)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"bar-0": 5}) // PreparingRebalance
	b.join("m", again(m, w))
	id := b.joined(x).MemberID
	b.cleanNow()
	b.wantOffsets(map[string]int64{"bar-0": 5}) // CompletingRebalance
	b.sync(m, 2, nil)
	b.sync(id, 2, nil)
	b.cleanNow()
	b.wantOffsets(map[string]int64{}) // Stable
}

// A transaction of which nothing was written leaves nothing behind: no mark of its producer in the group.
func TestTransactionThatWasNotWrittenIsForgotten(t *testing.T) {
	b := newBench(t)
	b.failing = 19
	wantCode(t, "commit", b.txnCode(b.txnCommit(txnWith{offsets: one(25)})), 15)
	if g := b.c.groups[groupID]; len(g.txns) != 0 {
		t.Fatalf("%d transactions are open in the group", len(g.txns))
	}
	b.failing = 0
	b.txnDone(b.txnCommit(txnWith{offsets: one(26)}))
	b.wantFetch(groupID, true, -1, 88)
}

// An Empty group whose only offsets are in an open transaction is not cleaned up: its marker is still to come.
func TestCleanupSparesAGroupWithAnOpenTransaction(t *testing.T) {
	b := newBench(t)
	b.txnDone(b.txnCommit(txnWith{offsets: one(25)}))
	b.cleanNow()
	b.wantFetch(groupID, true, -1, 88)
	b.marker(0, true)
	b.cleanNow()
	b.wantFetch(groupID, true, 25, 0)
}
