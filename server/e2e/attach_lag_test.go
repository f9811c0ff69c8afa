package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/app"
)

// lagOf waits until the watcher has measured a row of a group's lag that is so.
func lagOf(t testing.TB, watcher *app.Server, group, topic string, partition int32, what string, is func(event.PartitionLag) bool) {
	t.Helper()
	last := ""
	eventually(t, 30*time.Second, func() error {
		for _, e := range events(t, watcher) {
			b, measured := e.Body.(event.LagMeasured)
			if !measured || e.Group != group || b.Topic != topic {
				continue
			}
			for _, p := range b.Partitions {
				if p.Partition == partition && is(p) {
					return nil
				}
			}
			last = fmt.Sprint(b)
		}
		return fmt.Errorf("%s-%d of %s: not told is %s; the last was %s", topic, partition, group, what, last)
	})
}

// produceTo produces so many records to a partition.
func produceTo(t testing.TB, cl *kgo.Client, topic string, partition int32, n int) {
	t.Helper()
	var list []*kgo.Record
	for range n {
		list = append(list, &kgo.Record{Topic: topic, Partition: partition, Value: []byte("x")})
	}
	if err := cl.ProduceSync(t.Context(), list...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// A partition that is assigned and has no commit has a row of its own.
func TestB65_APartitionWithoutACommitKeepsItsRow(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	cl := client(t, s, byHand())
	produceTo(t, cl, "orders", 1, 7)
	live(t, s.KafkaAddrs(), "a", "rows", kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	stable(t, s, "rows", 1)
	commit := kmsg.NewPtrOffsetCommitRequest()
	d, err := kadm.NewClient(cl).DescribeGroups(t.Context(), "rows")
	if err != nil {
		t.Fatal(err)
	}
	known(t, s, "the generation", func(e event.Event) bool {
		if b, is := e.Body.(event.AssignmentStored); is && e.Group == "rows" {
			commit.Generation = b.Generation
			return true
		}
		return false
	})
	commit.Group, commit.MemberID = "rows", d["rows"].Members[0].MemberID
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = "orders"
	for _, number := range []int32{0, 2, 3} {
		row := kmsg.NewOffsetCommitRequestTopicPartition()
		row.Partition = number
		topic.Partitions = append(topic.Partitions, row)
	}
	commit.Topics = append(commit.Topics, topic)
	if got, err := commit.RequestWith(t.Context(), cl); err != nil || got.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, got)
	}
	follow(t, watcher, "rows")
	lagOf(t, watcher, "rows", "orders", 1, "no commit", func(p event.PartitionLag) bool { return p.Committed < 0 && p.End == 7 && p.Words == "no commit" })
	lagOf(t, watcher, "rows", "orders", 2, "a commit", func(p event.PartitionLag) bool { return p.Committed == 0 && p.End == 0 && p.Words == "" })
	says(t, watcher, "rows", "lag", "orders-1", "no commit")
	says(t, watcher, "rows", "ownership", "a")
	p.check(t)
}

// A commit that came after the end of the log was asked for is no negative lag; a real one is a warning.
func TestB67_ALagIsNeverNegative(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	cl := client(t, s, byHand())
	admin := kadm.NewClient(cl)
	put := func(partition int32, at int64) {
		t.Helper()
		if err := admin.CommitAllOffsets(t.Context(), "fast", offsetsOf("orders", partition, at)); err != nil {
			t.Fatal(err)
		}
		toldCommit(t, watcher, "fast", at)
	}
	produceTo(t, cl, "orders", 0, 10)
	put(0, 8)
	put(1, 500)
	held, moved, once := make(chan bool), make(chan bool), sync.Once{}
	p.inject(func(_ int, answer kmsg.Response) bool {
		if r, is := answer.(*kmsg.ListOffsetsResponse); is && r.Topics[0].Topic == "orders" {
			for _, x := range r.Topics[0].Partitions {
				if x.Partition == 0 && x.Offset == 10 {
					once.Do(func() { close(held); <-moved }) // the end was read; the commit goes on before it arrives
				}
			}
		}
		return true
	})
	follow(t, watcher, "fast")
	<-held
	produceTo(t, cl, "orders", 0, 5)
	put(0, 15)
	close(moved)
	lagOf(t, watcher, "fast", "orders", 0, "just caught up", func(p event.PartitionLag) bool {
		return p.Committed == 15 && p.End == 15 && p.Words == "just caught up"
	})
	lagOf(t, watcher, "fast", "orders", 1, "a warning", func(p event.PartitionLag) bool { return strings.Contains(p.Words, "beyond the log's end") })
	says(t, watcher, "fast", "lag", "orders-1", "−500", "committed beyond the log's end")
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.LagMeasured); is {
			for _, p := range b.Partitions {
				if p.End < p.Committed && p.Words == "" {
					t.Errorf("a negative lag without a word: %s", e)
				}
			}
		}
	}
}

// A lag of one where only a transaction's marker is left is said to be that: it is found out without reading the topic.
func TestB77_OnlyAMarkerIsLeft(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	cl := client(t, s, byHand(), kgo.TransactionalID("writer"))
	for range 5 {
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produceTo(t, cl, "orders", 0, 1)
		time.Sleep(3 * time.Millisecond) // a record and a marker of one millisecond are not told apart
		if err := cl.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
	plain := client(t, s, byHand())
	produceTo(t, plain, "orders", 1, 10)
	admin := kadm.NewClient(plain)
	both := offsetsOf("orders", 0, 9)
	both.AddOffset("orders", 1, 9, -1) // a record is left there
	if err := admin.CommitAllOffsets(t.Context(), "marked", both); err != nil {
		t.Fatal(err)
	}
	follow(t, watcher, "marked")
	lagOf(t, watcher, "marked", "orders", 0, "only a marker", func(p event.PartitionLag) bool {
		return p.Committed == 9 && p.End == 10 && p.Words == "only markers are left"
	})
	lagOf(t, watcher, "marked", "orders", 1, "one record", func(p event.PartitionLag) bool { return p.Committed == 9 && p.End == 10 && p.Words == "" })
	says(t, watcher, "marked", "lag", "only markers are left")
	p.check(t)
}

// A deleted topic is said to be deleted, the other one is shown; made anew with fewer records it has no negative lag.
func TestB79_ADeletedTopicHidesNoOther(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	cl := client(t, s, byHand())
	admin := kadm.NewClient(cl)
	produceTo(t, cl, "gone", 0, 10)
	produceTo(t, cl, "orders", 0, 7)
	live(t, s.KafkaAddrs(), "a", "both", kgo.ConsumeTopics("gone", "orders"))
	stable(t, s, "both", 1)
	follow(t, watcher, "both")
	lagOf(t, watcher, "both", "gone", 0, "all is read", func(p event.PartitionLag) bool { return p.Committed == 10 && p.End == 10 })
	if _, err := admin.DeleteTopics(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	lagOf(t, watcher, "both", "gone", 0, "that it was deleted", func(p event.PartitionLag) bool { return p.Words == "the topic was deleted" && p.End == -1 })
	known(t, watcher, "that its offsets were deleted", func(e event.Event) bool {
		b, is := e.Body.(event.OffsetsRemoved)
		return is && e.Group == "both" && b.Offsets[0].Topic == "gone"
	})
	says(t, watcher, "both", "lag", "gone-0", "the topic was deleted")
	says(t, watcher, "both", "lag", "orders-0")
	if _, err := admin.CreateTopic(t.Context(), 2, 3, nil, "gone"); err != nil {
		t.Fatal(err)
	}
	again := client(t, s, byHand()) // one that knows nothing of the topic's old id
	eventually(t, 20*time.Second, func() error {
		return again.ProduceSync(t.Context(), &kgo.Record{Topic: "gone", Value: []byte("x")}).FirstErr()
	})
	lagOf(t, watcher, "both", "gone", 0, "that it is there again", func(p event.PartitionLag) bool { return p.End == 1 && p.Committed <= 1 })
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.LagMeasured); is {
			for _, p := range b.Partitions {
				if p.End >= 0 && p.End < p.Committed && p.Words == "" {
					t.Errorf("a negative lag: %s", e)
				}
			}
		}
	}
	p.check(t)
}
