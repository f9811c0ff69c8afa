package coordinator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// replayed is a machine that has loaded what another one has written.
func replayed(b *bench, log []LoadedBatch) *bench {
	k := unloaded(b.t)
	k.now = b.now
	k.load(0, 2, log...)
	return k
}

// stored prints what the log must bring back: groups without what only lives in memory, offsets, open transactions.
func stored(c *Coordinator) string {
	var s strings.Builder
	for _, e := range c.Facts(c.nowMs) {
		switch b := e.Body.(type) {
		case event.GroupLoaded:
			b.SinceMs = 0 // Stable begins later than its record says
			fmt.Fprintf(&s, "%s %+v\n", e.Group, b)
		case event.MemberAdded:
			b.Protocols = nil // a record has only the elected one
			fmt.Fprintf(&s, "%+v\n", b)
		case event.AssignmentStored:
			fmt.Fprintf(&s, "%+v\n", b)
		case event.TxnOffsetsWritten:
			fmt.Fprintf(&s, "%+v\n", b)
		}
	}
	for _, g := range c.sortedGroups() {
		g.each(func(topic string, p *partitionOffset) {
			if p.committed() {
				fmt.Fprintf(&s, "%s %s-%d %+v at %d\n", g.id, topic, p.partition, p.value(), p.baseOffset)
			}
		})
	}
	lines := strings.Split(s.String(), "\n") // a topic whose offsets were all deleted may come back in another place
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// While nothing is being written and no rebalance is under way, a new coordinator that reads the log is where the old
// one is: members with their instance ids, offsets, expiries, open transactions, what was deleted.
func TestReplayEqualsLive(t *testing.T) {
	compared := 0
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := newBench(t)
		s := caseSettings()
		s.OffsetsRetentionCheckIntervalMs = 5000
		b.c.ConfigChanged(b.now, s)
		var log []LoadedBatch
		take := func() {
			next := int64(len(log))
			if len(log) > 0 {
				next = log[len(log)-1].NextOffset
			}
			for _, a := range b.written {
				batch := batchAt(next, a.Records...)
				batch.Transactional, batch.ProducerID, batch.ProducerEpoch = a.Transactional, a.ProducerID, a.ProducerEpoch
				log, next = append(log, batch), batch.NextOffset
			}
			b.written = nil
		}
		w := joinWith{session: 600000, rebalance: 600000, protocols: subscribed("range", "topic")}
		l, f := b.join("l", static("leader", w)), b.join("f", static("follower", w))
		b.advance(101)
		lead, follow := b.joined(l).MemberID, b.joined(f).MemberID
		b.syncStatic(lead, "leader", 1, map[string]string{lead: "L", follow: "F"})
		b.syncStatic(follow, "follower", 1, nil)
		for range 60 {
			topic := []string{"topic", "foo"}[r.IntN(2)]
			producer := 1000 + int64(r.IntN(3))
			offsets := map[int32]int64{int32(r.IntN(4)): int64(r.IntN(99)), int32(r.IntN(4)): int64(r.IntN(99))}
			switch n := r.IntN(20); {
			case n < 6:
				b.commit(commitWith{version: int16(4 + r.IntN(2)), id: &follow, generation: 1, topic: topic, offsets: offsets,
					retention: int64(r.IntN(9000)), epoch: 3})
			case n < 11:
				b.txnCommit(txnWith{topic: topic, offsets: offsets, producer: producer, epoch: 2})
			case n < 14:
				take()
				commit := r.IntN(3) > 0
				kind := byte(0)
				if commit {
					kind = 1
				}
				log = append(log, markerBatch(b.offset, producer, kind))
				log[len(log)-1].NextOffset = b.offset + 1
				b.offset++
				b.c.TxnMarker(b.now, Marker{ProducerID: producer, Commit: commit})
				b.take()
			case n < 15:
				b.deleteOffsets(groupID, at{"foo", int32(r.IntN(4))})
			case n < 16:
				follow = b.joined(b.join("f", static("follower", w))).MemberID
			case n < 17:
				b.c.TopicsDeleted(b.now, []string{"foo"})
				b.take()
			default:
				b.advance(int64(r.IntN(3000)))
			}
			take()
			if r.IntN(6) == 0 {
				compared++
				if got, want := stored(replayed(b, log).c), stored(b.c); got != want {
					t.Fatalf("seed %d: loaded\n%s\nlive\n%s", seed, got, want)
				}
			}
		}
	}
	if compared < 100 {
		t.Fatalf("only %d comparisons", compared)
	}
}
