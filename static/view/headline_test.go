package view

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// TestHeadlines pins the one sentence that the lab exists for, in every named state.
func TestHeadlines(t *testing.T) {
	want := map[string]string{
		"unclean-restart": "Waiting for 1 of 4: c3 (killed) · will end in 5.1 s when the session of c3 runs out · at the latest in 56.9 s (rebalance timeout of c1) · began because c3′ joined",
		"empty":           "No group yet · start a consumer and its group appears here",
		"first-member":    "Waiting for time to pass: 1 here so far · will end in 1.7 s: only time ends it · newcomers may extend it, to 58.7 s from now at most · began because c1 was the first member",
		"joining":         "Waiting for 1 of 3: c3 · will end when c3 has rejoined, told by the next heartbeat · at the latest in 58.2 s (rebalance timeout of c1) · began because the leader c1 joined again",
		"completing":      "Waiting for the leader’s assignment: c1 (frozen) · will end in 7.6 s when the session of c1 runs out · at the latest in 57.6 s (rebalance timeout of c1) · began because the leader c1 joined again",
		"append":          "Waiting for the log: the assignment is being written · under way for 1 ms: ends when every in-sync replica has the record · began because the leader c1 joined again",
		"stable":          "Waiting for nobody: 3 members are served · Stable for 11.6 s · the session of c2 runs out in 7.8 s unless it heartbeats · the last rebalance began because c3 joined and took 1.6 s",
		"broker-killed":   "Waiting for the controller: broker 1 is dead and nobody has noticed · noticed in 5.7 s at the latest · then another replica of __consumer_offsets-26 takes over",
		"loading":         "Waiting for broker 2 to read __consumer_offsets-26 · 11 of 17 records read · members are answered COORDINATOR_LOAD_IN_PROGRESS until then",
	}
	for name, sentence := range want {
		n := galleryNamed(name)
		if got := strings.ReplaceAll(Headline(n.Model, n.Options), "\u00a0", " "); got != sentence {
			t.Errorf("%s:\n  got  %s\n  want %s", name, got, sentence)
		}
	}
}

func TestTheGhostIsNamedInBothLanguages(t *testing.T) {
	n := galleryNamed("unclean-restart")
	for lang, want := range map[Lang][]string{
		English: {"c3 (killed)", "5.1\u00a0s", "56.9\u00a0s", "c3′ joined"},
		Chinese: {"c3（已被杀）", "5.1\u00a0秒", "56.9\u00a0秒", "c3′ 加入"},
	} {
		o := n.Options
		o.Lang = lang
		got := Headline(n.Model, o)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q does not say %q", lang, got, w)
			}
		}
	}
}

func TestDurations(t *testing.T) {
	for ms, want := range map[int64]string{0: "0 ms", 999: "999 ms", 1000: "1.0 s", 5096: "5.1 s", 99949: "99.9 s", 100000: "1 min 40 s",
		300000: "5 min", 3600000: "1 h", 7500000: "2 h 5 min", 200000000: "2 d 7 h", -1500: "−1.5 s"} {
		if got := strings.ReplaceAll(English.Duration(ms), "\u00a0", " "); got != want {
			t.Errorf("%d ms: got %q, want %q", ms, got, want)
		}
	}
	if got := Chinese.Duration(5096); got != "5.1\u00a0秒" {
		t.Errorf("zh: %q", got)
	}
}

// TestJavaHash compares with values that Java's String.hashCode is known for.
func TestJavaHash(t *testing.T) {
	for s, want := range map[string]int32{"": 0, "a": 97, "hello": 99162322, "polygenelubricants": -2147483648, "𝄞": 1772394} {
		if got := javaHash(s); got != want {
			t.Errorf("hash of %q: got %d, want %d", s, got, want)
		}
	}
	// The smallest number has no absolute value; Kafka clears the sign bit, which leaves 0.
	if got := partitionOf("polygenelubricants", 50); got != 0 {
		t.Errorf("partition of polygenelubricants: got %d, want 0", got)
	}
	if got := partitionOf("orders-svc", 50); got != 26 {
		t.Errorf("partition of orders-svc: got %d, want 26", got)
	}
}

// TestLivingAndDeadAreAwaitedTogether: the session of the ghost is what ends the wait, once the living have rejoined.
func TestLivingAndDeadAreAwaitedTogether(t *testing.T) {
	s, all := trio()
	s.at(21000)
	s.there(event.ClientStopped{Client: "c3", Killed: true})
	s.at(22000)
	again := s.consumer("c3", "c3-d07735f9", 10000)
	s.join(again, event.WhyNewMember)
	want := "Waiting for 3 of 4: c1, c2, c3 (killed) · will end in 8.0 s when the session of c3 runs out, if c1, c2 have rejoined by then · "
	if got := strings.ReplaceAll(Headline(s.m, galleryOptions("")), "\u00a0", " "); !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	s.rejoin(all[0])
	if got := strings.ReplaceAll(Headline(s.m, galleryOptions("")), "\u00a0", " "); !strings.Contains(got, "if c2 has rejoined by then") {
		t.Errorf("got %s", got)
	}
}
