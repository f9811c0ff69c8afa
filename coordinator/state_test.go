package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

func TestFSM01_AllowedTransitions(t *testing.T) {
	const p, k, s, e, d = event.PreparingRebalance, event.CompletingRebalance, event.Stable, event.Empty, event.Dead
	for _, way := range [][]event.State{{p}, {d}, {p, k, p}, {p, d}, {p, e}, {p, e, d}, {p, k, s}, {p, d, d}, {p, k, s, p}} {
		b := newBench(t)
		g := b.c.createGroup(groupID, 0)
		for _, to := range way {
			b.c.transition(g, to, event.WhyNewMember, "")
			if g.stateMs != b.now || g.canRebalance() != (to == e || to == k || to == s) {
				t.Fatalf("%v: %+v", way, g)
			}
		}
	}
	for _, way := range [][]event.State{{e}, {k}, {s}, {p, p}, {p, s}, {p, k, e}, {p, k, k}, {p, k, s, s}, {p, k, s, e},
		{d, e}, {d, p}, {d, k}, {d, s}} {
		b := newBench(t)
		g := b.c.createGroup(groupID, 0)
		for _, to := range way[:len(way)-1] {
			b.c.transition(g, to, event.WhyNewMember, "")
		}
		from, to := g.state, way[len(way)-1]
		func() {
			defer func() {
				got := fmt.Sprint(recover())
				if !strings.Contains(got, string(from)) || !strings.Contains(got, string(to)) {
					t.Fatalf("%v: %s", way, got)
				}
			}()
			b.c.transition(g, to, event.WhyNewMember, "")
		}()
		if g.state != from {
			t.Fatalf("%v left the state %s", way, g.state)
		}
	}
}

// withProtocols is a group in a state whose members have these protocol lists.
func withProtocols(b *bench, state event.State, lists ...[]string) *group {
	g := newGroup(groupID, 0, 0)
	b.c.addGroup(g)
	for i, list := range lists {
		b.c.addMember(g, &member{id: fmt.Sprint("m", i), protocols: protocolsOf(protocolList(list...))}, "consumer")
	}
	g.state = state
	return g
}

func TestFSM02_Voting(t *testing.T) {
	b := newBench(t)
	lists := [][]string{{"range", "roundrobin"}, {"roundrobin", "range"}, {"roundrobin", "range"}}
	for n, want := range map[int]string{0: "", 1: "range", 2: "range", 3: "roundrobin"} {
		if got := withProtocols(b, event.PreparingRebalance, lists[:n]...).electProtocol(); got != want {
			t.Fatalf("%d members elect %q, want %q", n, got, want)
		}
	}
	// Who cannot have its first choice votes for its next one.
	got := withProtocols(b, event.PreparingRebalance, []string{"a", "b", "c"}, []string{"x", "c", "b"}, []string{"c", "b"}).electProtocol()
	if got != "c" {
		t.Fatal(got)
	}
}

func TestFSM03_SupportsProtocols(t *testing.T) {
	b := newBench(t)
	list := func(names ...string) []protocol { return protocolsOf(protocolList(names...)) }
	empty := withProtocols(b, event.Empty)
	if !empty.supportsProtocols("consumer", list("x")) || empty.supportsProtocols("consumer", nil) || empty.supportsProtocols("", list("x")) {
		t.Fatal("Empty")
	}
	one := withProtocols(b, event.PreparingRebalance, []string{"range", "roundrobin"})
	if !one.supportsProtocols("consumer", list("roundrobin", "foo")) || !one.supportsProtocols("consumer", list("range", "foo")) ||
		one.supportsProtocols("consumer", list("foo", "bar")) {
		t.Fatal("one member")
	}
	two := withProtocols(b, event.PreparingRebalance, []string{"range", "roundrobin"}, []string{"roundrobin", "blah"})
	if !two.supportsProtocols("consumer", list("roundrobin", "foo")) || two.supportsProtocols("other", list("roundrobin", "foo")) ||
		two.supportsProtocols("consumer", list("range", "foo")) {
		t.Fatal("two members")
	}
}

func TestFSM04_NextGeneration(t *testing.T) {
	b := newBench(t)
	b.direct("m", joinWith{protocols: protocolList("roundrobin")})
	if g := b.c.groups[groupID]; g.generation != 0 || g.protocol != "" {
		t.Fatalf("%+v", g)
	}
	b.advance(51)
	if g := b.c.groups[groupID]; g.generation != 1 || g.protocol != "roundrobin" || g.state != event.CompletingRebalance {
		t.Fatalf("%+v", g)
	}
}

func TestFSM05_SubscribedTopics(t *testing.T) {
	b := newBench(t)
	m, ticket := b.twoStep("m", joinWith{protocols: subscribed("range", "foo", "bar")})
	if b.c.groups[groupID].subscribedKnown {
		t.Fatal("a new group knows its topics")
	}
	b.advance(51)
	b.joined(ticket)
	if g := b.c.groups[groupID]; !g.subscribedKnown || fmt.Sprint(g.subscribed) != "[bar foo]" {
		t.Fatalf("%+v", g)
	}
	b.leave(groupID, 5, m)
	if g := b.c.groups[groupID]; !g.subscribedKnown || len(g.subscribed) != 0 {
		t.Fatalf("%+v", g)
	}
	b.direct("x", joinWith{protocols: protocolList("range")})
	b.advance(51)
	if g := b.c.groups[groupID]; g.subscribedKnown {
		t.Fatalf("unparsable metadata: %+v", g)
	}
}

func TestFSM06_MetadataComparison(t *testing.T) {
	m := &member{protocols: []protocol{{"range", nil}}}
	for _, c := range []struct {
		list []protocol
		same bool
	}{{[]protocol{{"range", []byte{}}}, true}, {[]protocol{{"range", []byte{0}}}, false}, {[]protocol{{"roundrobin", nil}}, false},
		{[]protocol{{"range", nil}, {"roundrobin", nil}}, false}, {nil, false}} {
		if m.sameProtocols(c.list) != c.same {
			t.Fatalf("%v: %v", c.list, !c.same)
		}
	}
	m = &member{protocols: []protocol{{"range", []byte("r")}, {"roundrobin", nil}}}
	if m.sameProtocols([]protocol{{"roundrobin", nil}, {"range", []byte("r")}}) {
		t.Fatal("the order is a preference")
	}
}

// The reasons that clients give are told with the request and with the rebalance (KIP-800).
func TestReasons(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.join("m", joinWith{version: 9, id: m, reason: ptr("topics changed")})
	started := eventsOf[event.RebalanceStarted](b)
	if last := started[len(started)-1]; last.ClientReason != "topics changed" || last.Why != event.WhyLeaderRejoined || last.Member != m {
		t.Fatalf("%+v", last)
	}
}
