package tab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// toldLines are lines of n groups as an overview tells them, between FactsBegan and FactsEnded.
func toldLines(n int, seq int64, more ...event.Event) []event.Event {
	list := []event.Event{{Seq: seq, AtMs: 5000, Body: event.FactsBegan{NowMs: 5000}}}
	for i := range n {
		b := event.GroupSummarized{Type: "classic", State: event.Stable, Members: 2, Generation: 4, Coordinator: 1}
		if i == 7 {
			b.State = event.PreparingRebalance
		}
		list = append(list, event.Event{Seq: seq, AtMs: 5000, Group: fmt.Sprintf("g%03d", i), Body: b})
	}
	return append(append(list, more...), event.Event{Seq: seq, AtMs: 5000, Body: event.FactsEnded{}})
}

// TestLiveFollowsOneGroup: the list comes first; then the group in motion is followed, and another one on another connection.
func TestLiveFollowsOneGroup(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.Socket(true, "")
	d.receive(c.say("hello", map[string]any{"version": 1, "world": "w1", "seq": 9, "nowMs": 5000}))
	d.receive(c.messages(toldLines(40, 9))...)
	if d.options.Group != "g007" || d.last.Connect != "api/live?group=g007&overview=1" {
		t.Fatalf("follows %q over %q; want g007, which is in motion", d.options.Group, d.last.Connect)
	}
	d.Socket(true, "")
	d.receive(c.messages(toldLines(40, 9, event.Event{Seq: 9, AtMs: 5000, Group: "g007", Broker: 1, Body: event.GroupLoaded{State: event.PreparingRebalance, Generation: 4}}))...)
	if u := d.frame(16); u.Connect != "" {
		t.Fatalf("connects again to %q", u.Connect)
	}
	if u := d.do("group", "g012"); u.Connect != "api/live?group=g012&overview=1" {
		t.Fatalf("another group is followed over %q", u.Connect)
	}
	d.Socket(true, "")
	d.receive(c.messages(toldLines(40, 9, event.Event{Seq: 9, AtMs: 5000, Group: "g012", Broker: 1, Body: event.GroupLoaded{State: event.Stable, Generation: 4}}))...)
	if html := d.html["groups"]; strings.Contains(html, "gone") {
		t.Error("the group that is no longer followed is shown as gone")
	}
	if d.options.Group != "g012" || !strings.Contains(d.html["headline"], "g012") {
		t.Errorf("%q is on stage", d.options.Group)
	}
}

// TestLiveAddress: the group and what is asked of the list can be given to others.
func TestLiveAddress(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	d.do("search", "sho")
	d.do("list", "state Stable")
	u := d.do("list", "sort lost")
	if want := "find=sho&group=shop&sort=lost&state=Stable"; u.Hash != want || !u.SetHash {
		t.Fatalf("the address is %q; want %q", u.Hash, want)
	}
	other := &desk{Tab: NewLive(false, Choices{Motion: "full", Hash: u.Hash}), t: t, wall: 1000}
	if first := other.frame(16); first.Connect != "api/live?group=shop&overview=1" || other.options.Search != "sho" || other.options.Listing.Sort != "lost" {
		t.Errorf("another page connects to %q and asks for %+v", first.Connect, other.options.Listing)
	}
	if linked := NewLive(false, Choices{Query: "group=shop"}).Frame(16); linked.Connect != "api/live?group=shop&overview=1" {
		t.Errorf("the link of an alert connects to %q", linked.Connect)
	}
	if d.do("list", "clear"); d.options.Listing.State != "" || d.options.Search != "" {
		t.Error("the filters are not cleared")
	}
	for _, bad := range []string{"", "%zz", "main", "a=%00", strings.Repeat("group=", 50000)} {
		d.do("hash", bad)
	}
}

// TestLiveFrozenLines: of a group's lines only the newest is kept while the picture stands still.
func TestLiveFrozenLines(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	m := d.mode.(*liveMode)
	before := m.seq
	d.do("freeze", "")
	for i := range 1000 {
		d.receive(c.messages([]event.Event{{Seq: before, AtMs: 6000, Group: fmt.Sprintf("g%d", i%5), Body: event.GroupSummarized{State: event.Stable, Generation: int32(i)}}})...)
	}
	if len(m.kept) != 5 || m.behind != 5 || m.seq != before {
		t.Fatalf("%d facts are kept, %d behind, at %d; want 5, 5, %d", len(m.kept), m.behind, m.seq, before)
	}
	d.do("freeze", "")
	if got := m.model.Watch().Groups["g4"].Summary.Generation; got != 999 {
		t.Errorf("generation %d is shown; want the newest, 999", got)
	}
}

// TestLiveListScrolls: other rows are drawn when the list is scrolled, and what cannot be a place changes nothing.
func TestLiveListScrolls(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.Socket(true, "")
	d.receive(c.messages(toldLines(900, 9))...)
	d.do("scrolled", "0 600")
	if !strings.Contains(d.html["groups"], "g003") || strings.Contains(d.html["groups"], "g500") {
		t.Fatal("the top of the list is not what is drawn")
	}
	d.do("scrolled", fmt.Sprintf("%d 600", 62*500))
	if strings.Contains(d.html["groups"], "g003") || !strings.Contains(d.html["groups"], "g500") {
		t.Error("the list was scrolled, its rows were not")
	}
	for _, bad := range []string{"", "x y", "-1 5", "5 0", "5", "999999999999999999999 1"} {
		d.do("scrolled", bad)
	}
	if !strings.Contains(d.html["groups"], "g500") {
		t.Error("what is no place moved the list")
	}
	if d.Key(Key{Name: "ArrowDown", Field: "groups"}); d.frame(16).Reveal != "group-list" {
		t.Error("down does not lead into the list")
	}
	if d.do("search", "g123"); !d.Key(Key{Name: "Enter", Field: "groups"}) || d.options.Group != "g123" {
		t.Errorf("Enter leads to %q", d.options.Group)
	}
}

// TestAnObservedClusterIsNotProbed: there is no machine that could say what a request would get, so nobody is asked.
func TestAnObservedClusterIsNotProbed(t *testing.T) {
	for _, observed := range []bool{false, true} {
		c, d := newCluster(t), openLive(t, false)
		d.frame(16)
		facts := c.e.World().Facts()
		if observed {
			facts = slices.Insert(slices.Clone(facts), 1, event.Event{Seq: facts[0].Seq, AtMs: facts[0].AtMs, Body: event.ClusterAttached{ClusterID: "theirs", Mode: "log"}})
		}
		d.Socket(true, "")
		d.receive(c.say("hello", map[string]any{"version": 1, "world": "w1", "seq": 1, "nowMs": c.e.NowMs()}))
		d.receive(c.messages(facts)...)
		d.frame(askEveryMs)
		if probed := strings.Contains(strings.Join(d.asked, " "), "api/probe?"); probed == observed {
			t.Errorf("observed %v, asked %q", observed, d.asked)
		}
	}
}
