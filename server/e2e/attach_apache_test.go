//go:build interop

package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/event"
	"grouplab/server/app"
	"grouplab/server/e2e/apache"
)

// witness notes what a client itself was given, by generation or epoch.
type witness struct {
	mu   sync.Mutex
	owns map[string][]int32 // by client, of orders
	seen []string
}

func (w *witness) options(client string) []kgo.Opt {
	note := func(what string, change func(have []int32, parts []int32) []int32) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.owns[client] = change(w.owns[client], topics["orders"])
			slices.Sort(w.owns[client])
			w.seen = append(w.seen, fmt.Sprintf("%s %s %v: has %v", client, what, topics["orders"], w.owns[client]))
		}
	}
	without := func(have, parts []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(have), func(p int32) bool { return slices.Contains(parts, p) })
	}
	return []kgo.Opt{kgo.OnPartitionsAssigned(note("gets", func(have, parts []int32) []int32 { return append(slices.Clone(have), parts...) })),
		kgo.OnPartitionsRevoked(note("gives back", without)), kgo.OnPartitionsLost(note("loses", without))}
}

// last are who owns what at the end of the events, by client id; the clients are found by their members.
func last(all []event.Event, group string) string {
	client, owns := map[string]string{}, map[string][]int32{}
	var assigned map[string][]int32
	parts := func(list []event.TopicPartitions) (out []int32) {
		for _, t := range list {
			if t.Topic == "orders" {
				out = append(out, t.Partitions...)
			}
		}
		slices.Sort(out)
		return out
	}
	for _, e := range all {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.MemberAdded:
			client[b.Member] = cmp.Or(b.ClientID, client[b.Member])
		case event.MemberReplaced:
			client[b.Member] = cmp.Or(b.ClientID, client[b.Old])
		case event.AssignmentStored:
			assigned = map[string][]int32{}
			for _, a := range b.Assignments {
				assigned[client[a.Member]] = parts(a.Topics)
			}
		case event.MemberReconciled:
			owns[client[b.Member]] = parts(b.Assigned)
		case event.MemberRemoved:
			delete(owns, client[b.Member])
		}
	}
	if len(owns) > 0 {
		assigned = owns
	}
	return fmt.Sprint(assigned)
}

// TestAttachToApacheKafka: what is told of a real Apache Kafka agrees with what its clients were given, for classic and KIP-848
// groups, through joins, a kill, a static restart, a cooperative move, a broker's death and a deleted topic. KAFKA names the version.
func TestAttachToApacheKafka(t *testing.T) {
	version := cmp.Or(os.Getenv("KAFKA"), "4.0.2")
	cluster, err := apache.Start(apache.Config{Version: version, Nodes: 3, Dir: t.TempDir(), Set: map[string]string{
		"group.initial.rebalance.delay.ms": "500", "group.min.session.timeout.ms": "1000", "group.consumer.min.session.timeout.ms": "2000",
		"group.consumer.session.timeout.ms": "3000", "group.consumer.min.heartbeat.interval.ms": "200", "group.consumer.heartbeat.interval.ms": "500",
		"offsets.topic.num.partitions": "6", "min.insync.replicas": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
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
	eventually(t, time.Minute, func() error { return admin.CommitAllOffsets(t.Context(), "first", offsetsOf("doomed", 0, 1)) })
	watcher := attachTo(t, strings.Join(cluster.Addrs(), ","), nil)
	read(t, watcher, 6)

	for _, kind := range []struct {
		group   string
		options []kgo.Opt
	}{
		{"range", []kgo.Opt{kgo.Balancers(kgo.RangeBalancer())}},
		{"coop", []kgo.Opt{kgo.Balancers(kgo.CooperativeStickyBalancer())}},
		{"modern", []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())}},
	} {
		w := &witness{owns: map[string][]int32{}}
		acts := &acts{}
		start := func(id string, more ...kgo.Opt) *mortal {
			acts.did("start", id)
			return live(t, cluster.Addrs(), id, kind.group, slices.Concat([]kgo.Opt{kgo.ConsumeTopics("orders")}, kind.options, w.options(id), more)...)
		}
		same := func(step string, clients ...string) {
			t.Helper()
			eventually(t, time.Minute, func() error {
				w.mu.Lock()
				truth := map[string][]int32{}
				fair := true
				for _, id := range clients {
					truth[id] = w.owns[id]
					fair = fair && len(w.owns[id]) == 6/len(clients)
				}
				w.mu.Unlock()
				if told := last(events(t, watcher), kind.group); !fair || told != fmt.Sprint(truth) {
					return fmt.Errorf("%s, %s: the clients have %v, the watcher says %s", kind.group, step, truth, told)
				}
				return nil
			})
			t.Logf("%-8s %-16s %s", kind.group, step, last(events(t, watcher), kind.group))
		}
		start("a")
		same("first join", "a")
		b := start("b")
		same("second join", "a", "b")
		acts.did("kill", "b")
		b.kill()
		same("kill", "a")
		c := start("c")
		same("another join", "a", "c")
		acts.did("leave", "c")
		c.leave()
		same("leave", "a")
		static := start("s", kgo.InstanceID("s"))
		same("static join", "a", "s")
		acts.did("kill", "s")
		static.kill()
		start("s", kgo.InstanceID("s"))
		same("static restart", "a", "s")
		acts.compare(t, watcher, kind.group)
	}

	_, err = admin.DeleteTopics(t.Context(), "doomed")
	if err != nil {
		t.Fatal(err)
	}
	known(t, watcher, "that the offsets of a deleted topic are gone", func(e event.Event) bool {
		return e.Group == "first" && e.Body.Kind() == "OffsetsRemoved"
	})
	cluster.Kill(2)
	lost(t, watcher, "broker 2", "")
	eventually(t, time.Minute, func() error { return admin.CommitAllOffsets(t.Context(), "after", offsetsOf("orders", 0, 7)) })
	known(t, watcher, "a commit after a broker's death", func(e event.Event) bool { return e.Group == "after" && e.Body.Kind() == "OffsetsCommitted" })
	if err := cluster.Restart(2); err != nil {
		t.Fatal(err)
	}
	regained(t, watcher, "broker 2")
	costs(t, watcher)
}

// acts are what was done to the clients, in the order of time.
type acts []deed

type deed struct {
	what, client string
	atMs         int64
}

func (a *acts) did(what, client string) { *a = append(*a, deed{what, client, time.Now().UnixMilli()}) }

// step is a generation or an epoch as it is told.
type step struct {
	number     int32
	why        event.Why
	client     string
	sure       event.Confidence
	loMs, hiMs int64
}

// stepsOf reads them out of what the watcher tells.
func stepsOf(all []event.Event, group string) (list []step) {
	client := map[string]string{}
	for _, e := range all {
		if e.Group == group {
			switch b := e.Body.(type) {
			case event.MemberAdded:
				client[b.Member] = cmp.Or(b.ClientID, client[b.Member])
			case event.MemberReplaced:
				client[b.Member] = cmp.Or(b.ClientID, client[b.Old])
			}
		}
	}
	for _, e := range all {
		if b, is := e.Body.(event.CauseInferred); is && e.Group == group {
			list = slices.DeleteFunc(list, func(s step) bool { return s.number == b.Generation })
			list = append(list, step{b.Generation, b.Why, client[b.Member], b.Confidence, e.AtMs, max(e.AtMs, e.AtHiMs)})
		}
	}
	return list
}

// causes are what each act may be told as.
var causes = map[string][]event.Why{
	"start": {event.WhyFirstMember, event.WhyNewMember, event.WhyStaticRestarted},
	"kill":  {event.WhySessionExpired},
	"leave": {event.WhyMemberLeft},
}

// ends are what the end of a member may be taken for.
var ends = []event.Why{event.WhySessionExpired, event.WhyMemberLeft, event.WhyMembersGone}

// compare holds each generation that is told against what was done, and prints a table. A cause that is surely told must be that
// of an act, and its time be inside of what is told: a client joins within seconds of its start and leaves at once; a killed
// one goes when its session is over. Each act must be told, but for a kill after which a static member comes back in time; a cause
// that is told with doubt tells of the end of its member, whatever it takes it for: a leave after a long silence looks like a
// session that ran out.
func (a acts) compare(t testing.TB, watcher *app.Server, group string) {
	t.Helper()
	const mostMs = 10_000 // from an act to what it brings about, on a busy machine
	told := map[int]bool{}
	for _, s := range stepsOf(events(t, watcher), group) {
		found, guessed := -1, -1
		for i, x := range a {
			if x.client != s.client || x.atMs > s.hiMs || s.loMs > x.atMs+mostMs {
				continue
			}
			if slices.Contains(causes[x.what], s.why) {
				found = i
			} else if s.sure != event.High && x.what != "start" && slices.Contains(ends, s.why) {
				guessed = i
			}
		}
		verdict, of := "open", "nothing that was done"
		if found >= 0 {
			told[found], verdict = true, "agrees"
			of = fmt.Sprintf("%s of %s, %+d to %+d ms", a[found].what, a[found].client, s.loMs-a[found].atMs, s.hiMs-a[found].atMs)
		} else if guessed >= 0 {
			told[guessed] = true
			of = fmt.Sprintf("perhaps the %s of %s", a[guessed].what, a[guessed].client)
		} else if s.sure == event.High && s.why != event.WhySecondStep {
			verdict = "WRONG"
			t.Errorf("%s, generation %d: surely %s by %s from %d to %d, and that was not done then: %v", group, s.number, s.why, s.client, s.loMs, s.hiMs, a)
		}
		t.Logf("%-8s generation %2d: %-24s %-3s %-6v %-6s %s", group, s.number, s.why, s.client, s.sure, verdict, of)
	}
	for i, x := range a {
		back := slices.ContainsFunc(a[i+1:], func(y deed) bool { return y.client == x.client && y.what == "start" })
		before := slices.ContainsFunc(a[:i], func(y deed) bool { return y.client == x.client && y.what == "kill" })
		if !told[i] && !(x.what == "kill" && back) && !before {
			t.Errorf("%s: the %s of %s is told by no cause: %v", group, x.what, x.client, a)
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
