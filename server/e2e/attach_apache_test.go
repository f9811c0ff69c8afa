//go:build interop

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/event"
	"grouplab/server/app"
	"grouplab/server/e2e/apache"
)

// retentionMs is for how long the cluster keeps the offsets of a group that nobody is in.
const retentionMs = 60_000

// TestAttachToApacheKafka: what is told of a real Apache Kafka agrees with what its clients noted themselves, for classic and KIP-848
// groups, franz-go's and Java's, through joins, a kill, a leave, a static restart, cooperative moves, transactions that commit and
// abort, an offset that expires, a deleted topic and a broker's death. KAFKA names the version; KEEP names a folder for the nodes'
// logs.
func TestAttachToApacheKafka(t *testing.T) {
	cluster, err := apache.Start(apache.Config{Version: cmp.Or(os.Getenv("KAFKA"), apache.Reference), Nodes: 3, Dir: t.TempDir(), Logs: true, Set: map[string]string{
		"group.initial.rebalance.delay.ms": "500", "group.min.session.timeout.ms": "1000", "group.consumer.min.session.timeout.ms": "2000",
		"group.consumer.session.timeout.ms": "3000", "group.consumer.min.heartbeat.interval.ms": "200", "group.consumer.heartbeat.interval.ms": "500",
		"offsets.topic.num.partitions": "6", "min.insync.replicas": "1", "offsets.retention.minutes": fmt.Sprint(retentionMs / 60_000),
		"offsets.retention.check.interval.ms": "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	keepLogs(t, cluster)
	cl, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	admin := kadm.NewClient(cl)
	for _, name := range []string{"orders", "doomed"} {
		if _, err := admin.CreateTopic(t.Context(), 6, 3, nil, name); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, time.Minute, func() error { return admin.CommitAllOffsets(t.Context(), "first", offsetsOf("orders", 0, 1)) })
	addresses := strings.Join(cluster.Addrs(), ",")
	watcher := attachTo(t, addresses, nil)
	logged := attachTo(t, addresses, func(c *app.Config) {
		c.Attach.Logs = []string{cluster.LogFile(1), cluster.LogFile(2), cluster.LogFile(3)}
	})
	read(t, watcher, 6)
	read(t, logged, 6)

	idleMs := time.Now().UnixMilli()
	if err := admin.CommitAllOffsets(t.Context(), "idle", offsetsOf("orders", 3, 33)); err != nil {
		t.Fatal(err)
	}
	sum := tally{}
	transactions(t, cluster, admin, watcher, sum)
	for _, k := range append(plays(false), play{group: "modern", options: []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())},
		sessionMs: 3000, modern: true}) {
		k.act(t, cluster.Addrs(), watcher).into(sum)
	}
	javaConsumers(t, cluster, watcher, sum)
	reasons(t, watcher, logged, []string{"range", "coop", "java"}, sum)
	expired(t, watcher, idleMs, sum)
	deleted(t, admin, watcher, sum)
	brokerDies(t, cluster, admin, watcher, sum)
	costs(t, watcher)
	t.Logf("Apache Kafka %s:\n%v", cmp.Or(os.Getenv("KAFKA"), apache.Reference), sum)
}

// keepLogs copies the nodes' logs to the folder KEEP.
func keepLogs(t *testing.T, cluster *apache.Cluster) {
	dir := os.Getenv("KEEP")
	if dir == "" {
		return
	}
	t.Cleanup(func() {
		for id := range 3 {
			text, err := os.ReadFile(cluster.LogFile(id + 1))
			if err == nil {
				err = os.WriteFile(fmt.Sprintf("%s/server-%d.log", dir, id+1), text, 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// check counts one comparison.
func check(t testing.TB, sum tally, what string, ok bool, format string, args ...any) {
	t.Helper()
	if ok {
		sum.add(what, verdictRight)
		return
	}
	sum.add(what, verdictWrong)
	t.Errorf(what+": "+format, args...)
}

// transactions: offsets are told as staged until their transaction ends; what one commits is then told, what one aborts never is,
// and both as Kafka itself answers OffsetFetch.
func transactions(t *testing.T, cluster *apache.Cluster, admin *kadm.Client, watcher *app.Server, sum tally) {
	t.Helper()
	staged := func(at int64) func(event.Event) bool {
		return func(e event.Event) bool {
			b, is := e.Body.(event.TxnOffsetsWritten)
			return is && e.Group == "txn" && b.Offsets[0].Offset == at
		}
	}
	ended := func(at int64, commit bool) func(event.Event) bool {
		return func(e event.Event) bool {
			b, is := e.Body.(event.TxnOffsetsEnded)
			return is && e.Group == "txn" && b.Offsets[0].Offset == at && b.Commit == commit
		}
	}
	for _, c := range []struct {
		at  int64
		how kgo.TransactionEndTry
	}{{11, kgo.TryCommit}, {99, kgo.TryAbort}, {12, kgo.TryCommit}, {98, kgo.TryAbort}} {
		id := fmt.Sprint("x", c.at)
		cl, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...), kgo.TransactionalID(id))
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		end := stageInTransaction(t, cl, "txn", id, c.at)
		known(t, watcher, "what a transaction has staged", staged(c.at))
		check(t, sum, "offsets of open transactions", commitsOf(events(t, watcher), "txn")["orders-0"] != c.at, "%d is told as committed before its transaction ended", c.at)
		end(c.how)
		known(t, watcher, "how a transaction ended", ended(c.at, bool(c.how)))
		truth, err := admin.FetchOffsets(t.Context(), "txn")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := truth.Lookup("orders", 0)
		eventually(t, 30*time.Second, func() error {
			if got := commitsOf(events(t, watcher), "txn")["orders-0"]; got != want.At {
				return fmt.Errorf("Kafka has %d committed, the watcher says %d", want.At, got)
			}
			return nil
		})
		sum.add("offsets after transactions", verdictRight)
	}
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.OffsetsCommitted); is && e.Group == "txn" {
			check(t, sum, "offsets after transactions", b.Offsets[0].Offset < 90, "what was aborted is told as committed: %s", e)
		}
	}
}

// expired: the offset of a group that nobody is in is told to have expired, not before its time and soon after it, and the group is
// gone.
func expired(t *testing.T, watcher *app.Server, committedMs int64, sum tally) {
	t.Helper()
	e := known(t, watcher, "that an offset has expired", func(e event.Event) bool {
		return e.Group == "idle" && e.Body.Kind() == "OffsetsRemoved"
	})
	b := e.Body.(event.OffsetsRemoved)
	check(t, sum, "expiry", b.Why == event.WhyOffsetsExpired && len(b.Offsets) == 1 && b.Offsets[0].Offset == 33, "%s", e)
	late := e.AtMs - committedMs - retentionMs
	check(t, sum, "expiry", late >= -slackMs && late < 10_000, "it was told %d ms after its time", late)
	known(t, watcher, "that its group is gone", func(e event.Event) bool { return e.Group == "idle" && e.Body.Kind() == "GroupRemoved" })
	t.Logf("idle     its offset expired %d ms after its time", late)
}

// deleted: the offsets of a deleted topic are told to be gone, and why.
func deleted(t *testing.T, admin *kadm.Client, watcher *app.Server, sum tally) {
	t.Helper()
	both := offsetsOf("doomed", 0, 1)
	both.AddOffset("orders", 1, 7, -1)
	if err := admin.CommitAllOffsets(t.Context(), "reader", both); err != nil {
		t.Fatal(err)
	}
	known(t, watcher, "a commit for two topics", func(e event.Event) bool { return e.Group == "reader" && e.Body.Kind() == "OffsetsCommitted" })
	if _, err := admin.DeleteTopics(t.Context(), "doomed"); err != nil {
		t.Fatal(err)
	}
	e := known(t, watcher, "that the offsets of a deleted topic are gone", func(e event.Event) bool {
		return e.Group == "reader" && e.Body.Kind() == "OffsetsRemoved"
	})
	b := e.Body.(event.OffsetsRemoved)
	check(t, sum, "a deleted topic", len(b.Offsets) == 1 && b.Offsets[0].Topic == "doomed", "%s", e)
	check(t, sum, "a deleted topic", fmt.Sprint(commitsOf(events(t, watcher), "reader")) == "map[orders-1:7]", "what is left is %v", commitsOf(events(t, watcher), "reader"))
}

// brokerDies: the broker that coordinates a group whose members consume is killed; the members go on at the next one, and so does what
// is told of them.
func brokerDies(t *testing.T, cluster *apache.Cluster, admin *kadm.Client, watcher *app.Server, sum tally) {
	t.Helper()
	at := admin.FindGroupCoordinators(t.Context(), "coop")
	if err := at.Error(); err != nil {
		t.Fatal(err)
	}
	broker := int(at["coop"].NodeID)
	cluster.Kill(broker)
	name := fmt.Sprint("broker ", broker)
	lost(t, watcher, name, "")
	moved := known(t, watcher, "that its groups have moved", func(e event.Event) bool {
		b, is := e.Body.(event.LeaderChanged)
		return is && b.Partition == partitionOf("coop") && b.Leader != int32(broker) && b.Leader >= 0
	})
	eventually(t, time.Minute, func() error { return admin.CommitAllOffsets(t.Context(), "after", offsetsOf("orders", 0, 7)) })
	known(t, watcher, "a commit after a broker's death", func(e event.Event) bool { return e.Group == "after" && e.Body.Kind() == "OffsetsCommitted" })
	sum.add("a broker's death", verdictRight)
	// The members' own commits go on at the next coordinator.
	known(t, watcher, "a commit of a member after its coordinator's death", func(e event.Event) bool {
		return e.Group == "coop" && e.Seq > moved.Seq && e.Body.Kind() == "AssignmentStored" || e.Group == "coop" && e.Seq > moved.Seq && e.Body.Kind() == "GroupLoaded"
	})
	eventually(t, time.Minute, func() error {
		truth, err := admin.DescribeGroups(t.Context(), "coop")
		if err != nil || truth["coop"].State != "Stable" {
			return fmt.Errorf("coop is %s: %w", truth["coop"].State, cmp.Or(err, truth["coop"].Err, errors.New("not Stable yet")))
		}
		want := map[string][]int32{}
		for _, m := range truth["coop"].Members {
			if c, ok := m.Assigned.AsConsumer(); ok {
				for _, topic := range c.Topics {
					want[m.ClientID] = append(want[m.ClientID], topic.Partitions...)
				}
				slices.Sort(want[m.ClientID])
			}
		}
		if got := last(events(t, watcher), "coop"); got != fmt.Sprint(want) {
			return fmt.Errorf("at its next coordinator coop is %v, the watcher says %s", want, got)
		}
		return nil
	})
	sum.add("a broker's death", verdictRight)
	if err := cluster.Restart(broker); err != nil {
		t.Fatal(err)
	}
	regained(t, watcher, name)
}

// reasons: with the brokers' logs each cause that is told has the reason that the coordinator itself wrote, and whoever had concluded
// one without them had concluded the same where he was sure.
func reasons(t *testing.T, watcher, logged *app.Server, groups []string, sum tally) {
	t.Helper()
	for _, group := range groups {
		guessed := stepsOf(events(t, watcher), group)
		var written []event.CauseInferred
		eventually(t, 30*time.Second, func() error {
			written = written[:0]
			by := map[int32]event.CauseInferred{}
			for _, e := range events(t, logged) {
				if b, is := e.Body.(event.CauseInferred); is && e.Group == group {
					by[b.Generation] = b
				}
			}
			for _, g := range guessed {
				b, is := by[g.number]
				if !is || b.Evidence != "a line of the broker's log" {
					return fmt.Errorf("%s, generation %d: the broker's log says nothing: %+v", group, g.number, b)
				}
				written = append(written, b)
			}
			return nil
		})
		for i, g := range guessed {
			b := written[i]
			same := b.Why == g.why || g.why == event.WhySecondStep || g.sure != event.High
			check(t, sum, "causes, beside the broker's log", same, "%s, generation %d: surely %s, the log says %s", group, g.number, g.why, b.Why)
			t.Logf("%-8s generation %2d: %-40s %-6v; the log: %s %q", group, g.number, g.why, g.sure, b.Why, b.ClientReason)
		}
	}
}

// costs fails the test where a broker was asked more than 20 times a second.
func costs(t testing.TB, watcher *app.Server) {
	t.Helper()
	told := errors.New("the cost was never told")
	for _, e := range events(t, watcher) {
		if b, is := e.Body.(event.CostMeasured); is {
			told = nil
			for _, at := range b.Brokers {
				if a := float64(at.Requests) * 1000 / float64(b.IntervalMs); a > 20 {
					t.Errorf("broker %d was asked %.1f times a second", at.Broker, a)
				}
			}
		}
	}
	if told != nil {
		t.Error(told)
	}
}
