package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestAttachReadsALogAnewAfterAnUncleanLeader: a new leader whose log ends before what was read has lost records (KIP-320). The page says
// which partition, that what was told of them is no longer so, and since when; the partition is read anew, and what comes is told.
func TestAttachReadsALogAnewAfterAnUncleanLeader(t *testing.T) {
	t.Parallel()
	s, p := behindTap(t, "offsets.topic.num.partitions=1")
	watcher := attachTo(t, p.first, nil)
	read(t, watcher, 1)
	admin := kadm.NewClient(client(t, s))
	put := func(at int64) {
		t.Helper()
		eventually(t, 20*time.Second, func() error { return admin.CommitAllOffsets(t.Context(), "kept", offsetsOf("orders", 0, at)) })
		toldCommit(t, watcher, "kept", at)
	}
	for at := range int64(4) {
		put(at + 10)
	}
	const gone = 2 // records that the next leader says it does not have
	p.inject(func(_ int, answer kmsg.Response) bool {
		switch r := answer.(type) {
		case *kmsg.OffsetForLeaderEpochResponse:
			for i := range r.Topics {
				for j := range r.Topics[i].Partitions {
					r.Topics[i].Partitions[j].EndOffset -= gone
				}
			}
		case *kmsg.ListOffsetsResponse:
			for i := range r.Topics {
				for j := range r.Topics[i].Partitions {
					if x := &r.Topics[i].Partitions[j]; r.Topics[i].Topic == "__consumer_offsets" && x.Offset > gone {
						x.Offset -= gone
					}
				}
			}
		}
		return true
	})
	_, broker := coordinatorOf(t, s, "kept")
	if err := act(t, s, fmt.Sprintf("/api/brokers/%d/kill", broker)); err != nil {
		t.Fatal(err)
	}
	if got := lost(t, watcher, "__consumer_offsets-0", "was cut when the leader changed"); got.SinceMs == 0 || got.Hides == "" {
		t.Errorf("%+v", got)
	}
	if got := lost(t, watcher, "__consumer_offsets-0, cut", "an unclean leader has lost what came after"); got.SinceMs == 0 {
		t.Errorf("%+v", got)
	}
	p.inject(nil)
	regained(t, watcher, "__consumer_offsets-0")
	put(20)
	says(t, watcher, "kept", "sight", "__consumer_offsets-0, cut", " for ", "no longer so")
	says(t, watcher, "kept", "groups", "kept Empty")
}
