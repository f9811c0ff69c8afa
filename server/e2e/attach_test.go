package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
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

// live starts a consumer of topics that can be killed.
func live(t testing.TB, addresses []string, id, group string, options ...kgo.Opt) *mortal {
	t.Helper()
	m := &mortal{}
	dialer := net.Dialer{Timeout: 5 * time.Second}
	options = append([]kgo.Opt{kgo.SeedBrokers(addresses...), kgo.ClientID(id), kgo.ConsumerGroup(group), kgo.SessionTimeout(2 * time.Second),
		kgo.HeartbeatInterval(100 * time.Millisecond), kgo.FetchMaxWait(300 * time.Millisecond), kgo.AutoCommitInterval(300 * time.Millisecond),
		kgo.MetadataMinAge(50 * time.Millisecond), kgo.DisableClientMetrics(), kgo.RetryTimeout(20 * time.Second),
		kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			m.mu.Lock()
			defer m.mu.Unlock()
			if err == nil && m.dead {
				c.Close()
				return nil, errors.New("killed")
			}
			if err == nil {
				m.conns = append(m.conns, c)
			}
			return c, err
		})}, options...)
	cl, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	m.cl = cl
	ctx, stop := context.WithCancel(context.Background())
	var polling sync.WaitGroup
	polling.Go(func() {
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	})
	m.stop = func() { stop(); polling.Wait() }
	t.Cleanup(func() { m.kill(); cl.Close() })
	return m
}

// leave ends a consumer as one that is closed.
func (m *mortal) leave() {
	m.stop()
	m.cl.Close()
}

// generation is what a log of facts says of one generation of a group.
type generation struct {
	number  int32
	members string // member=partitions, …
	why     event.Why
	who     string
	sure    event.Confidence
	// lo to hi is when its rebalance began.
	lo, hi int64
}

// generationsOf reads them out of events. In those of an observer, CauseInferred says why.
func generationsOf(all []event.Event, group string) map[int32]*generation {
	list := map[int32]*generation{}
	at := func(n int32) *generation {
		if list[n] == nil {
			list[n] = &generation{number: n}
		}
		return list[n]
	}
	for _, e := range all {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.RebalanceStarted:
			g := at(b.Generation + 1)
			g.why, g.who, g.lo, g.hi = b.Why, b.Member, e.AtMs, max(e.AtMs, e.AtHiMs)
		case event.CauseInferred:
			g := at(b.Generation)
			g.why, g.who, g.sure = b.Why, b.Member, b.Confidence
		case event.AssignmentStored:
			var said []string
			for _, a := range b.Assignments {
				said = append(said, a.Member+" "+fmt.Sprint(a.Topics))
			}
			slices.Sort(said)
			at(b.Generation).members = strings.Join(said, ", ")
		}
	}
	for n, g := range list {
		if g.members == "" { // it never settled
			delete(list, n)
		}
	}
	return list
}

// stable waits until a group is Stable with so many members, as the observed server has it.
func stable(t testing.TB, s *app.Server, group string, members int) {
	t.Helper()
	admin := kadm.NewClient(client(t, s))
	eventually(t, 30*time.Second, func() error {
		d, err := admin.DescribeGroups(t.Context(), group)
		if g := d[group]; err != nil || g.State != "Stable" || len(g.Members) != members {
			return fmt.Errorf("group %s is %s with %d members, %w", group, g.State, len(g.Members), cmp.Or(err, g.Err, errors.New("as it should not be")))
		}
		return nil
	})
}

// behindTap is a server of ours behind a tap.
func behindTap(t testing.TB, set ...string) (s *app.Server, p *tap) {
	t.Helper()
	p = newTap(t, "grouplab-observer", 3)
	s = startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Advertise: p.first, Brokers: 3, Set: append(slices.Clone(quick), set...),
		Topics: []app.Topic{{Name: "orders", Partitions: 6}, {Name: "gone", Partitions: 2}}})
	p.mu.Lock()
	copy(p.brokers, s.KafkaAddrs())
	p.mu.Unlock()
	// The topic exists from the first commit on; what is done afterwards is to be seen as it happens.
	admin := kadm.NewClient(client(t, s))
	eventually(t, 10*time.Second, func() error {
		return admin.CommitAllOffsets(t.Context(), "first", offsetsOf("orders", 0, 1))
	})
	return s, p
}

// observedServer is a server of ours behind a tap, with somebody who watches it from outside.
func observedServer(t testing.TB, set ...string) (s, watcher *app.Server, p *tap) {
	t.Helper()
	s, p = behindTap(t, set...)
	watcher = attachTo(t, p.first, nil)
	read(t, watcher, 50)
	return s, watcher, p
}

// read waits until a watcher has read so many partitions of __consumer_offsets.
func read(t testing.TB, watcher *app.Server, partitions int) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		n := 0
		for _, e := range events(t, watcher) {
			if e.Body.Kind() == "LoadFinished" {
				n++
			}
		}
		if n < partitions {
			return fmt.Errorf("%d of %d partitions are read", n, partitions)
		}
		return nil
	})
}

// known waits until the watcher has told a fact.
func known(t testing.TB, watcher *app.Server, what string, is func(event.Event) bool) (found event.Event) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		for _, e := range events(t, watcher) {
			if is(e) {
				found = e
				return nil
			}
		}
		return errors.New("the watcher has not told: " + what)
	})
	return found
}

// settled waits until both know the same last generation of a group.
func settled(t testing.TB, s, watcher *app.Server, group string) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		ours, theirs := generationsOf(events(t, s), group), generationsOf(events(t, watcher), group)
		var last int32
		for n := range ours {
			last = max(last, n)
		}
		if last == 0 || theirs[last] == nil {
			return fmt.Errorf("the watcher does not know generation %d of %s", last, group)
		}
		return nil
	})
}

// agree compares what the watcher tells of a group with what the machine itself told, and writes a table of it.
func agree(t testing.TB, s, watcher *app.Server, group string) {
	t.Helper()
	ours, theirs := generationsOf(events(t, s), group), generationsOf(events(t, watcher), group)
	for n := int32(1); int(n) <= 64; n++ {
		o, w := ours[n], theirs[n]
		if o == nil {
			continue
		}
		if w == nil {
			t.Errorf("%s, generation %d is not known to the watcher", group, n)
			continue
		}
		if o.members != w.members {
			t.Errorf("%s, generation %d has %s\nand to the watcher %s", group, n, o.members, w.members)
		}
		const slack = 25 // two clocks of one machine, read in other moments
		inside := w.lo-slack <= o.lo && o.lo <= w.hi+slack
		t.Logf("%-10s generation %d: began %+d to %+d ms of the truth; machine: %s (%s), watcher: %s (%s, %s)", group, n, w.lo-o.lo, w.hi-o.lo,
			o.why, short(o.who), w.why, short(w.who), w.sure)
		if !inside && o.lo != 0 {
			t.Errorf("%s, generation %d began at %d; the watcher says %d to %d", group, n, o.lo, w.lo, w.hi)
		}
		// The second step of a cooperative move begins when its leader joins again; the watcher says what for.
		step := w.why == event.WhySecondStep && (o.why == event.WhyLeaderRejoined || o.why == event.WhyMetadataChanged)
		if w.sure == event.High && o.why != w.why && !step {
			t.Errorf("%s, generation %d: %s; the watcher is sure that it was: %s", group, n, o.why, w.why)
		}
	}
}

func short(member string) string {
	name, _, _ := strings.Cut(member, "-")
	return name
}

// TestAttachAgreesWithTheMachine: real consumers join, die, leave, restart and move partitions on a server of ours; who
// watches it from outside, as any cluster, tells the same generations, members and assignments as the machine itself, starts
// inside its bounds, and is wrong about no cause that it is sure of. It only reads, and not too often.
func TestAttachAgreesWithTheMachine(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	orders := kgo.ConsumeTopics("orders")
	live(t, s.KafkaAddrs(), "a", "classic", orders, kgo.Balancers(kgo.RangeBalancer()))
	stable(t, s, "classic", 1)
	b := live(t, s.KafkaAddrs(), "b", "classic", orders, kgo.Balancers(kgo.RangeBalancer()))
	stable(t, s, "classic", 2)
	settled(t, s, watcher, "classic")
	b.kill()
	stable(t, s, "classic", 1)
	settled(t, s, watcher, "classic")
	c := live(t, s.KafkaAddrs(), "c", "classic", orders, kgo.Balancers(kgo.RangeBalancer()))
	stable(t, s, "classic", 2)
	settled(t, s, watcher, "classic")
	c.leave()
	stable(t, s, "classic", 1)
	settled(t, s, watcher, "classic")
	agree(t, s, watcher, "classic")

	static := []kgo.Opt{orders, kgo.Balancers(kgo.RangeBalancer()), kgo.InstanceID("s1"), kgo.SessionTimeout(20 * time.Second)}
	one := live(t, s.KafkaAddrs(), "s", "static", static...)
	stable(t, s, "static", 1)
	one.kill()
	live(t, s.KafkaAddrs(), "s", "static", static...)
	replaced := func(e event.Event) bool { return e.Group == "static" && e.Body.Kind() == "MemberReplaced" }
	truth := known(t, s, "the restart of s1", replaced).Body.(event.MemberReplaced)
	if told := known(t, watcher, "the restart of s1", replaced).Body.(event.MemberReplaced); told != truth {
		t.Errorf("a static restart: %+v, and to the watcher %+v", truth, told)
	}
	agree(t, s, watcher, "static")

	live(t, s.KafkaAddrs(), "d", "coop", orders, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	stable(t, s, "coop", 1)
	live(t, s.KafkaAddrs(), "e", "coop", orders, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	stable(t, s, "coop", 2)
	eventually(t, 30*time.Second, func() error {
		if n := len(generationsOf(events(t, s), "coop")); n < 3 {
			return fmt.Errorf("%d generations: the second move is missing", n)
		}
		return nil
	})
	settled(t, s, watcher, "coop")
	agree(t, s, watcher, "coop")
	p.check(t)
}

// commitsOf are a group's commits as events tell them, in their last state.
func commitsOf(all []event.Event, group string) map[string]int64 {
	have := map[string]int64{}
	for _, e := range all {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.OffsetsCommitted:
			for _, o := range b.Offsets {
				have[fmt.Sprintf("%s-%d", o.Topic, o.Partition)] = o.Offset
			}
		case event.OffsetsRemoved:
			for _, o := range b.Offsets {
				have[fmt.Sprintf("%s-%d", o.Topic, o.Partition)] = -1
			}
		}
	}
	for name, at := range have {
		if at < 0 {
			delete(have, name)
		}
	}
	return have
}

// TestAttachFollowsCommits: commits, those of transactions that commit and of transactions that abort, tombstones of a deleted
// topic: the watcher has what the machine has.
func TestAttachFollowsCommits(t *testing.T) {
	t.Parallel()
	s, watcher, p := observedServer(t)
	admin := kadm.NewClient(client(t, s))
	both := offsetsOf("orders", 0, 5)
	both.AddOffset("gone", 1, 7, -1)
	if err := admin.CommitAllOffsets(t.Context(), "plain", both); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at  int64
		how kgo.TransactionEndTry
	}{{11, kgo.TryCommit}, {99, kgo.TryAbort}} {
		commitInTransaction(t, s, "txn", fmt.Sprint("x", c.at), c.at, c.how)
	}
	same := func(group string) {
		t.Helper()
		eventually(t, 30*time.Second, func() error {
			ours, theirs := commitsOf(events(t, s), group), commitsOf(events(t, watcher), group)
			if fmt.Sprint(ours) != fmt.Sprint(theirs) || len(ours) == 0 {
				return fmt.Errorf("%s has %v, and to the watcher %v", group, ours, theirs)
			}
			return nil
		})
	}
	same("plain")
	same("txn")
	if got := commitsOf(events(t, watcher), "txn"); got["orders-0"] != 11 {
		t.Errorf("a transaction that aborted moved an offset: %v", got)
	}
	if _, err := admin.DeleteTopics(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, func() error {
		if got := commitsOf(events(t, watcher), "plain"); fmt.Sprint(got) != "map[orders-0:5]" {
			return fmt.Errorf("after a topic was deleted the watcher has %v", got)
		}
		return nil
	})
	same("plain")
	p.check(t)
}

// commitInTransaction commits an offset of orders-0 in a transaction.
func commitInTransaction(t testing.TB, s *app.Server, group, id string, at int64, how kgo.TransactionEndTry) {
	t.Helper()
	stageInTransaction(t, client(t, s, kgo.TransactionalID(id)), group, id, at)(how)
}

// stageInTransaction commits an offset of orders-0 in a transaction and returns what ends that.
func stageInTransaction(t testing.TB, cl *kgo.Client, group, id string, at int64) (end func(kgo.TransactionEndTry)) {
	t.Helper()
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	producer, epoch, err := cl.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, producer, epoch, group
	if got, err := add.RequestWith(t.Context(), cl); err != nil || got.ErrorCode != 0 {
		t.Fatal(err, name(got.ErrorCode))
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group = id, producer, epoch, group
	topic, partition := kmsg.NewTxnOffsetCommitRequestTopic(), kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = at
	topic.Topic, topic.Partitions = "orders", append(topic.Partitions, partition)
	commit.Topics = append(commit.Topics, topic)
	if got, err := commit.RequestWith(t.Context(), cl); err != nil || got.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, got)
	}
	return func(how kgo.TransactionEndTry) {
		t.Helper()
		end := kmsg.NewPtrEndTxnRequest()
		end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = id, producer, epoch, bool(how)
		if got, err := end.RequestWith(t.Context(), cl); err != nil || got.ErrorCode != 0 {
			t.Fatal(err, name(got.ErrorCode))
		}
	}
}
