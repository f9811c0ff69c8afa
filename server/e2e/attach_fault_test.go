package e2e

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/app"
)

// What goes wrong with a cluster, or with one piece of it: the page says what is missing and since when, and shows the rest.

// writer writes records into the only partition of a __consumer_offsets of kfake's.
type writer struct {
	t     testing.TB
	cl    *kgo.Client
	admin *kadm.Client
}

func newWriter(t testing.TB, f *kfake.Cluster) *writer {
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.ListenAddrs()...), byHand(), kgo.MetadataMinAge(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &writer{t, cl, kadm.NewClient(cl)}
}

func (w *writer) commit(group string, at int64) {
	w.t.Helper()
	now := time.Now()
	r := &kgo.Record{Topic: "__consumer_offsets", Timestamp: now, Key: record.OffsetKey(group, "orders", 0),
		Value: record.OffsetValue(record.Offset{Offset: at, LeaderEpoch: -1, CommitTimestampMs: now.UnixMilli()})}
	eventually(w.t, 10*time.Second, func() error { return w.cl.ProduceSync(w.t.Context(), r).FirstErr() })
}

// toldCommit waits until the watcher has told of a commit.
func toldCommit(t testing.TB, watcher *app.Server, group string, at int64) {
	t.Helper()
	known(t, watcher, fmt.Sprintf("that %s has committed %d", group, at), func(e event.Event) bool {
		b, is := e.Body.(event.OffsetsCommitted)
		return is && e.Group == group && b.Offsets[0].Offset == at
	})
}

// TestAttachReadsALogAnewWhoseBeginningWentAway: retention, or somebody with kafka-delete-records, overtakes the reader
// (OFFSET_OUT_OF_RANGE). What lay between is said to be missing, and everything else is there.
func TestAttachReadsALogAnewWhoseBeginningWentAway(t *testing.T) {
	t.Parallel()
	f := newFake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders", "__consumer_offsets"))
	var held atomic.Bool
	id := f.TopicInfo("__consumer_offsets").TopicID
	f.ControlKey(1, func(r kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if fetch := r.(*kmsg.FetchRequest); !held.Load() || len(fetch.Topics) == 0 || fetch.Topics[0].TopicID != id {
			return nil, nil, false
		}
		return r.ResponseKind(), nil, true // nothing new
	})
	w := newWriter(t, f)
	w.commit("before", 1)
	watcher := attachTo(t, f.ListenAddrs()[0], nil)
	toldCommit(t, watcher, "before", 1)
	held.Store(true)
	w.commit("between", 2)
	w.commit("after", 3)
	if _, err := w.admin.DeleteRecords(t.Context(), offsetsOf("__consumer_offsets", 0, 2)); err != nil {
		t.Fatal(err)
	}
	held.Store(false)
	if got := lost(t, watcher, "__consumer_offsets-0", "cut or deleted"); got.Code != 1 || got.SinceMs == 0 {
		t.Errorf("%+v", got)
	}
	regained(t, watcher, "__consumer_offsets-0")
	toldCommit(t, watcher, "after", 3)
	says(t, watcher, "after", "sight", "__consumer_offsets-0, cut", " for ", "was at the offset 1 and begins at 2", "generations of its groups may be missing")
	says(t, watcher, "after", "groups", "after Empty", "before gone")
	w.commit("later", 4)
	toldCommit(t, watcher, "later", 4)
}

// TestAttachReadsARecreatedLog: __consumer_offsets is deleted and made anew under another id: its groups are gone, new ones come.
func TestAttachReadsARecreatedLog(t *testing.T) {
	t.Parallel()
	f := newFake(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders", "__consumer_offsets"))
	w := newWriter(t, f)
	w.commit("old", 1)
	watcher := attachTo(t, f.ListenAddrs()[0], nil)
	toldCommit(t, watcher, "old", 1)
	if _, err := w.admin.DeleteTopics(t.Context(), "__consumer_offsets"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.admin.CreateTopic(t.Context(), 1, 1, nil, "__consumer_offsets"); err != nil {
		t.Fatal(err)
	}
	w.cl.PurgeTopicsFromClient("__consumer_offsets")
	w.commit("new", 2)
	known(t, watcher, "that the log was made anew", func(e event.Event) bool {
		b, is := e.Body.(event.LoadSkipped)
		return is && strings.Contains(b.Reason, "made anew")
	})
	toldCommit(t, watcher, "new", 2)
	says(t, watcher, "new", "groups", "new Empty", "old gone")
	says(t, watcher, "new", "sight", "__consumer_offsets, made anew", " for ")
}

// spoil changes the batches of a partition of __consumer_offsets on their way to the observer, from offset from on, once.
func spoil(p *tap, partition int32, how func([]byte) []byte) (done *atomic.Bool) {
	done = &atomic.Bool{}
	p.inject(func(_ int, answer kmsg.Response) bool {
		fetch, is := answer.(*kmsg.FetchResponse)
		if !is {
			return true
		}
		for i := range fetch.Topics {
			for j := range fetch.Topics[i].Partitions {
				x := &fetch.Topics[i].Partitions[j]
				if x.Partition == partition && len(x.RecordBatches) > 0 && !done.Swap(true) {
					x.RecordBatches = how(x.RecordBatches)
				}
			}
		}
		return true
	})
	return done
}

// whole gives a batch the checksum and the length that it should have.
func whole(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// TestAttachStepsOverADamagedBatch: a wrong checksum, a record that is cut in the middle, a batch that claims to be longer than it
// is: it is said which offsets are missing since when, the partition is read on, and other groups are not affected.
func TestAttachStepsOverADamagedBatch(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	admin := kadm.NewClient(client(t, s))
	put := func(group string, at int64) {
		t.Helper()
		if err := admin.CommitAllOffsets(t.Context(), group, offsetsOf("orders", 0, at)); err != nil {
			t.Fatal(err)
		}
	}
	for group, c := range map[string]struct {
		how  func([]byte) []byte
		says string
	}{
		"checksum": {func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, "crc"},
		"cut":      {func(b []byte) []byte { return whole(b[:len(b)-4]) }, "a record in it is cut short"},
		"longer":   {func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], uint32(len(b)+1000)); return b }, "bytes long"},
		"negative": {func(b []byte) []byte { binary.BigEndian.PutUint32(b[8:], 1<<31+7); return b }, "bytes long"},
	} {
		put(group, 1)
		toldCommit(t, watcher, group, 1)
		partition := record.Partition(group, 50)
		done := spoil(p, partition, c.how)
		put(group, 2)
		eventually(t, 10*time.Second, func() error {
			if !done.Load() {
				return fmt.Errorf("%s: nothing came", group)
			}
			return nil
		})
		source := fmt.Sprintf("__consumer_offsets-%d, damaged", partition)
		if got := lost(t, watcher, source, c.says); got.SinceMs == 0 || got.Hides == "" {
			t.Errorf("%s: %+v", group, got)
		}
		put(group, 3)
		toldCommit(t, watcher, group, 3)
		says(t, watcher, group, "sight", source, " for ", "cannot be read")
		put("other-"+group, 5)
		toldCommit(t, watcher, "other-"+group, 5)
	}
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.OffsetsCommitted); is && b.Offsets[0].Offset == 2 {
			t.Errorf("what lay in a damaged batch is told: %s", e)
		}
	}
}

// TestAttachFollowsABrokersLog: a reason that only a line of a broker's log names takes the place of what was concluded; a file
// that is not there, that was replaced and that went away are told and borne.
func TestAttachFollowsABrokersLog(t *testing.T) {
	t.Parallel()
	s, p := behindTap(t)
	file := filepath.Join(t.TempDir(), "server.log")
	watcher := attachTo(t, p.first, func(c *app.Config) { c.Attach.Logs = []string{file} })
	read(t, watcher, 50)
	source := "log " + file
	lost(t, watcher, source, "no such file")
	says(t, watcher, "", "sight", "server.log", " for ", "the reasons that only the broker's log names")
	add := func(generation int32, reason string) {
		t.Helper()
		g := generationsOf(events(t, s), "logged")[generation+1]
		out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		fmt.Fprintf(out, "[%s] INFO [GroupCoordinator 1]: Preparing to rebalance group logged in state PreparingRebalance with old generation %d (__consumer_offsets-7) (reason: %s) (kafka.coordinator.group.GroupCoordinator)\n",
			time.UnixMilli(g.lo).Format("2006-01-02 15:04:05,000"), generation, strings.ReplaceAll(reason, "MEMBER", g.who))
	}
	told := func(generation int32, why event.Why) {
		t.Helper()
		known(t, watcher, fmt.Sprintf("the reason of generation %d", generation), func(e event.Event) bool {
			b, is := e.Body.(event.CauseInferred)
			return is && e.Group == "logged" && b.Generation == generation && b.Why == why && b.Evidence == "a line of the broker's log"
		})
	}
	a := live(t, s.KafkaAddrs(), "a", "logged", kgo.ConsumeTopics("orders"), kgo.Balancers(kgo.RangeBalancer()))
	stable(t, s, "logged", 1)
	settled(t, s, watcher, "logged")
	add(0, "Adding new member MEMBER with group instance id None; client reason: not provided")
	regained(t, watcher, source)
	told(1, event.WhyFirstMember)
	if err := os.Rename(file, file+".1"); err != nil { // as log4j rolls it
		t.Fatal(err)
	}
	a.cl.ForceRebalance()
	eventually(t, 30*time.Second, func() error {
		if g := generationsOf(events(t, watcher), "logged"); g[2] == nil {
			return fmt.Errorf("there are %v", g)
		}
		return nil
	})
	add(1, "Leader MEMBER re-joining group during Stable; client reason: rebalance enforced by user")
	told(2, event.WhyLeaderRejoined)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, func() error {
		if text := pageOf(t, watcher, "logged", "sight"); !strings.Contains(text, "server.log") {
			return fmt.Errorf("the page does not say that the log is gone: %s", text)
		}
		return nil
	})
}

// TestAttachReadsOnlyTheEndOfALongLog: where the log is longer than is to be read, the page says so and since when, and groups whose
// records lie before are asked for.
func TestAttachReadsOnlyTheEndOfALongLog(t *testing.T) {
	t.Parallel()
	s, p := behindTap(t, "offsets.topic.num.partitions=1")
	live(t, s.KafkaAddrs(), "a", "early", kgo.ConsumeTopics("orders"), kgo.AutoCommitInterval(time.Hour))
	stable(t, s, "early", 1)
	admin := kadm.NewClient(client(t, s))
	for i := range int64(200) {
		if err := admin.CommitAllOffsets(t.Context(), "busy", offsetsOf("orders", 1, i)); err != nil {
			t.Fatal(err)
		}
	}
	watcher := attachTo(t, p.first, func(c *app.Config) { c.Attach.ReadBytes = 5_000 })
	if got := lost(t, watcher, "the beginning of __consumer_offsets", "only the newest"); got.SinceMs == 0 {
		t.Errorf("%+v", got)
	}
	toldCommit(t, watcher, "busy", 199)
	known(t, watcher, "who is in the group whose record was not read", func(e event.Event) bool {
		b, is := e.Body.(event.AssignmentStored)
		return is && e.Group == "early" && len(b.Assignments) == 1
	})
	says(t, watcher, "early", "sight", "the beginning of __consumer_offsets", " for ", "asked for instead")
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.OffsetsCommitted); is && e.Group == "busy" && b.Offsets[0].Offset < 100 {
			t.Fatalf("it read what it should have left out: %s", e)
		}
	}
	p.check(t)
}

// TestAttachIsDeniedOneGroup: GROUP_AUTHORIZATION_FAILED for one group hides that group, by name and with the right that is missing;
// its neighbours in the same request are shown.
func TestAttachIsDeniedOneGroup(t *testing.T) {
	t.Parallel()
	s, p := behindTap(t)
	p.inject(func(_ int, answer kmsg.Response) bool {
		switch r := answer.(type) {
		case *kmsg.FetchResponse: // so that it has to ask
			for i := range r.Topics {
				for j := range r.Topics[i].Partitions {
					r.Topics[i].Partitions[j].ErrorCode, r.Topics[i].Partitions[j].RecordBatches = kerr.TopicAuthorizationFailed.Code, nil
				}
			}
		case *kmsg.DescribeGroupsResponse:
			for i := range r.Groups {
				if g := &r.Groups[i]; g.Group == "secret" {
					*g = kmsg.NewDescribeGroupsResponseGroup()
					g.Group, g.ErrorCode = "secret", kerr.GroupAuthorizationFailed.Code
				}
			}
		case *kmsg.OffsetFetchResponse:
			for i := range r.Groups {
				if g := &r.Groups[i]; g.Group == "secret" {
					g.ErrorCode, g.Topics = kerr.GroupAuthorizationFailed.Code, nil
				}
			}
		}
		return true
	})
	for _, group := range []string{"secret", "open"} {
		live(t, s.KafkaAddrs(), "member-of-"+group, group, kgo.ConsumeTopics("orders"))
		stable(t, s, group, 1)
	}
	watcher := attachTo(t, p.first, nil)
	if got := lost(t, watcher, "group secret", "GROUP_AUTHORIZATION_FAILED"); got.Right != "Describe on Group secret" || got.SinceMs == 0 {
		t.Errorf("%+v", got)
	}
	known(t, watcher, "who is in the other group", func(e event.Event) bool {
		b, is := e.Body.(event.AssignmentStored)
		return is && e.Group == "open" && len(b.Assignments) == 1
	})
	follow(t, watcher, "secret")
	lost(t, watcher, "offsets of group secret", "GROUP_AUTHORIZATION_FAILED")
	says(t, watcher, "open", "sight", "group secret", "Describe on Group secret", " for ")
	says(t, watcher, "open", "clients", "member-of-open")
	says(t, watcher, "open", "groups", "secret", "open") // both are listed
	for _, e := range events(t, watcher) {
		if _, is := e.Body.(event.MemberAdded); is && e.Group == "secret" {
			t.Errorf("it is told of: %s", e)
		}
	}
}

// TestAttachToASlowAndAMuteBroker: who answers slowly is asked less often; who does not answer at all is told with its reason and
// what that hides, and the groups of the others go on.
func TestAttachToASlowAndAMuteBroker(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	admin := kadm.NewClient(client(t, s))
	// A group at each broker.
	at := map[int32]string{}
	for i := 0; len(at) < 3; i++ {
		group := fmt.Sprint("g", i)
		eventually(t, 10*time.Second, func() error { return admin.CommitAllOffsets(t.Context(), group, offsetsOf("orders", 0, 1)) })
		if _, broker := coordinatorOf(t, s, group); at[broker] == "" {
			at[broker] = group
		}
	}
	var mute atomic.Bool
	p.inject(func(broker int, answer kmsg.Response) bool {
		if broker == 2 {
			time.Sleep(200 * time.Millisecond)
			return !mute.Load()
		}
		return true
	})
	asked := func() int { p.mu.Lock(); defer p.mu.Unlock(); return len(p.at[2]) }
	put := func(broker int32, n int64) {
		t.Helper()
		if err := admin.CommitAllOffsets(t.Context(), at[broker], offsetsOf("orders", 0, n)); err != nil {
			t.Fatal(err)
		}
	}
	for broker := range at {
		put(broker, 2)
		toldCommit(t, watcher, at[broker], 2)
	}
	known(t, watcher, "that broker 2 is slow", func(e event.Event) bool {
		b, is := e.Body.(event.CostMeasured)
		if !is {
			return false
		}
		for _, x := range b.Brokers {
			if x.Broker == 2 && x.RoundTripUs >= 200_000 {
				return true
			}
		}
		return false
	})
	before, since := asked(), time.Now()
	eventually(t, 10*time.Second, func() error {
		if time.Since(since) < 3*time.Second {
			return fmt.Errorf("3 s are not over")
		}
		return nil
	})
	if rate := float64(asked()-before) / time.Since(since).Seconds(); rate > 8 { // fetches alone: looks are 20 round trips apart
		t.Errorf("a slow broker was asked %.1f times a second", rate)
	}
	mute.Store(true)
	if got := lost(t, watcher, "broker 2", "it does not answer in time"); got.Hides == "" || got.SinceMs == 0 {
		t.Errorf("%+v", got)
	}
	for _, broker := range []int32{1, 3} {
		put(broker, 3)
		toldCommit(t, watcher, at[broker], 3)
	}
	put(2, 3)
	text := says(t, watcher, at[2], "sight", "broker 2", "does not answer in time", " for ")
	if strings.Contains(text, "the cluster") {
		t.Errorf("the rest is seen all the same: %s", text)
	}
	p.inject(nil)
	regained(t, watcher, "broker 2")
	toldCommit(t, watcher, at[2], 3)
	p.check(t)
}
