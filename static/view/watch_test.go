package view

import (
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// manyLines is a cluster of n groups of which only lines were told.
func manyLines(n int) *Model {
	m := NewLiveModel()
	m.SetNow(watchFrom)
	for i := 0; i < n; i++ {
		b := event.GroupSummarized{Type: typeClassic, State: event.Stable, Members: i % 7, Generation: int32(i), Partition: int32(i % 50), Coordinator: int32(i%3 + 1),
			SinceMs: watchFrom - int64(i)*1000, Rebalances: i % 11, LostPartitionMs: int64(i%13) * 1000, Topics: []string{fmt.Sprintf("topic-%d", i%100)}, Clients: []string{fmt.Sprintf("client-%d", i)}}
		if i%100 == 7 {
			b.State, b.Type, b.Waiting, b.Awaited = event.Reconciling, typeConsumer, 1, []string{fmt.Sprintf("member-of-%d", i)}
		}
		m.Apply(event.Event{Seq: int64(i + 1), AtMs: watchFrom, Group: fmt.Sprintf("group-%04d", i), Body: b})
	}
	return m
}

func listOf(m *Model, o Options) (*stage, *listed) {
	s := newStage(m, Watching(o))
	return s, s.listing()
}

func TestThoseInMotionComeFirst(t *testing.T) {
	_, l := listOf(manyLines(500), Options{})
	if l.of != 500 || len(l.lines) != 500 {
		t.Fatalf("%d of %d lines; want 500", len(l.lines), l.of)
	}
	for i := range 5 {
		if l.lines[i].state != event.Reconciling || i > 0 && l.lines[i].name < l.lines[i-1].name {
			t.Errorf("line %d is %s, %s", i, l.lines[i].name, l.lines[i].state)
		}
	}
	if l.lines[5].name != "group-0000" {
		t.Errorf("after those in motion comes %s", l.lines[5].name)
	}
}

func TestTheListIsSearchedFilteredAndSorted(t *testing.T) {
	m := manyLines(500)
	for _, c := range []struct {
		o    Options
		want int
		top  string
	}{
		{Options{Search: "GROUP-04"}, 100, "group-0407"},
		{Options{Search: "topic-42"}, 5, "group-0042"},
		{Options{Search: "client-499"}, 1, "group-0499"},
		{Options{Search: "member-of-107"}, 1, "group-0107"},
		{Options{Search: "nothing"}, 0, ""},
		{Options{Listing: Listing{State: "Reconciling"}}, 5, "group-0007"},
		{Options{Listing: Listing{Type: typeConsumer}}, 5, "group-0007"},
		{Options{Listing: Listing{Coordinator: "2"}}, 167, "group-0007"},
		{Options{Listing: Listing{Sort: "name"}}, 500, "group-0000"},
		{Options{Listing: Listing{Sort: "rebalances"}}, 500, "group-0010"},
		{Options{Listing: Listing{Sort: "lost"}}, 500, "group-0012"},
		{Options{Listing: Listing{Sort: "members"}}, 500, "group-0006"},
	} {
		_, l := listOf(m, c.o)
		if len(l.lines) != c.want || c.want > 0 && c.o.Listing.Coordinator == "" && l.lines[0].name != c.top {
			t.Errorf("%+v: %d lines, first %v; want %d, %s", c.o.Listing, len(l.lines), l.lines[:min(1, len(l.lines))], c.want, c.top)
		}
	}
}

// TestOnlyTheRowsOnScreenAreDrawn: a row's number is its place among all, and what is left out keeps its height.
func TestOnlyTheRowsOnScreenAreDrawn(t *testing.T) {
	m := manyLines(5000)
	for _, top := range []int{0, 62 * 2000, 62 * 4990, 1 << 30} {
		s, l := listOf(m, Options{Listing: Listing{TopPx: top, HighPx: 620, Sort: "name"}})
		html := render(t, watchList(s, l))
		checkMarkup(t, html)
		rows, spare := 0, 0
		for _, tg := range tags(html) {
			if tg.attrs["role"] == "row" && tg.attrs["data-do"] == "group" {
				rows++
			}
			if tg.attrs["class"] == "spacer" {
				n := 0
				fmt.Sscan(tg.attrs["height"], &n)
				spare += n
			}
		}
		if rows == 0 || rows > 30 || spare+rows*listRowPx != 5000*listRowPx || !strings.Contains(html, `aria-rowcount="5001"`) {
			t.Errorf("scrolled to %d: %d rows and %d pixels beside them", top, rows, spare)
		}
	}
}

// BenchmarkListOfFiveThousand is what a frame costs the list.
func BenchmarkListOfFiveThousand(b *testing.B) {
	m := manyLines(5000)
	for b.Loop() {
		s, l := listOf(m, Options{Search: "group", Listing: Listing{TopPx: 62 * 100, HighPx: 800}})
		render(b, watchList(s, l))
		render(b, groupFinder(s, l))
	}
}

func TestALoopIsNamed(t *testing.T) {
	m := incident()
	s := newStage(m, Watching(watchOptions("payments", "")()))
	list := s.records()
	if client, times := s.loop(list[:len(list)-1]); client != "payments-3" || times < 12 {
		t.Errorf("%d times %q; want payments-3 many times", times, client)
	}
	html := render(t, stripPane(s, list))
	if !strings.Contains(html, "A loop: payments-3 left → rejoined → same partitions") {
		t.Error("the strip names no loop")
	}
	if p := s.strip(list); p.Count != len(list) || len(p.Rows) > stripRows {
		t.Errorf("%d generations in %d rows", p.Count, len(p.Rows))
	}
}

// TestARebalanceThatIsToldAgainIsReplaced: a generation is told when it settles, and again when its cause is known.
func TestARebalanceThatIsToldAgainIsReplaced(t *testing.T) {
	m := NewLiveModel()
	for i, why := range []event.Why{event.WhySeen, event.WhySessionExpired} {
		m.Apply(event.Event{Seq: int64(i + 1), AtMs: 5000, Group: "g", Body: event.GenerationRecorded{Generation: 3, StartedMs: 1000, Why: why}})
	}
	m.Apply(event.Event{Seq: 3, AtMs: 5000, Group: "g", Body: event.GenerationRecorded{Generation: 2, StartedMs: 500}})
	list := m.Watch().Groups["g"].Records
	if len(list) != 2 || list[0].Generation != 2 || list[1].Why != event.WhySessionExpired {
		t.Errorf("%+v; want generations 2 and 3, the latter by its session", list)
	}
}

// TestUnknownLagIsNotZero: unknown is —, and a commit beyond the end of the log is a warning.
func TestUnknownLagIsNotZero(t *testing.T) {
	s := newStage(attachedCluster(), Watching(attachedOptions()))
	rows, sum, unknown, _ := s.lagRows()
	if len(rows) != 6 || unknown != 2 || sum != 46 {
		t.Fatalf("%d rows, %d unknown, %d behind; want 6, 2, 46", len(rows), unknown, sum)
	}
	if !rows[0].Warn || rows[0].Lag != "−11" || rows[0].Words == "" {
		t.Errorf("%+v; want the negative lag first, as a warning", rows[0])
	}
	for _, r := range rows {
		if r.lag == lagUnknown && r.Lag != "—" {
			t.Errorf("%+v; want —", r)
		}
	}
}

// TestAnObservedClusterIsOnlyRead: nothing can be killed there, and what cannot be seen is said to be so.
func TestAnObservedClusterIsOnlyRead(t *testing.T) {
	for _, lang := range []Lang{English, Chinese} {
		o := attachedOptions()
		o.Lang = lang
		html := stageHTML(t, attachedCluster(), o)
		for _, bad := range []string{`data-do="kill-broker"`, `data-do="demo"`, `data-do="restart-broker"`} {
			if strings.Contains(html, bad) {
				t.Errorf("%s: %s on the page of a cluster that is only observed", lang, bad)
			}
		}
		for _, want := range []string{"Describe on Group billing-us", "MkU3OEVBNTcwNTJENDM2Qk", lang.T0("watch.readonly"), lang.T0("watch.unseen.purgatory")} {
			if !strings.Contains(html, want) {
				t.Errorf("%s: %q is not said", lang, want)
			}
		}
	}
}

// T0 is a word of a running cluster's panes as it stands.
func (l Lang) T0(key string) string { return wordsOfWatch[key].In(l) }

func TestAConsumerGroupSaysWhoWaitsForWhom(t *testing.T) {
	m := reconciling()
	o := watchOptions("shipping", "")()
	if said := Headline(m, Watching(o)); !strings.Contains(said, "2 of 3 members are not at their target") {
		t.Errorf("the headline says %q", said)
	}
	html := partsHTML(t, m, o, "shelves", "machine", "clients")
	for _, want := range []string{"waits for parcel-a·9fA1", "has to give up parcels-3", "7 → 8", "Reconciling", "its session is not known"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not said in %s", want, html)
		}
	}
}

// TestWatchedNamesStayText: names from a cluster that is observed are as hostile as any.
func TestWatchedNamesStayText(t *testing.T) {
	evil := `<img src=x onerror=alert(1)>` + "\u202e" + strings.Repeat("x", 65000)
	m := NewLiveModel()
	at := func(b event.Body) { m.Apply(event.Event{Seq: m.Seq + 1, AtMs: watchFrom, Group: evil, Body: b}) }
	at(event.GroupSummarized{Type: evil, State: event.State(evil), Topics: []string{evil}, Awaited: []string{evil}, Waiting: 2, Member: evil, Why: event.Why(evil), Loops: 3})
	at(event.GroupLoaded{State: event.PreparingRebalance, Generation: 3})
	at(event.MemberAdded{Member: evil, ClientID: evil, ClientHost: evil})
	at(event.GenerationRecorded{Generation: 3, StartedMs: watchFrom - 1000, Why: event.Why(evil), ClientID: evil, ClientReason: evil, Joined: []string{evil}, Lost: []event.Lost{{Why: event.Why(evil), Member: evil, PartitionMs: 5}}})
	at(event.CauseInferred{Generation: 4, Why: event.WhyMemberLeft, Member: evil, Confidence: event.Low, Evidence: evil})
	at(event.LagMeasured{Topic: evil, Partitions: []event.PartitionLag{{Words: evil}}})
	at(event.EpochBumped{Epoch: 4, Why: event.Why(evil), Member: evil})
	at(event.MemberReconciled{Member: evil, Epoch: 3, State: stateUnreleased, WaitsFor: []string{evil}, Revoking: []event.TopicPartitions{{Topic: evil, Partitions: []int32{1}}}})
	m.Apply(event.Event{Seq: m.Seq + 1, AtMs: watchFrom, Body: event.ClusterAttached{ClusterID: evil, Mode: evil}})
	m.Apply(event.Event{Seq: m.Seq + 1, AtMs: watchFrom, Body: event.SightChanged{Source: evil, Lost: true, Reason: evil, Right: evil, Hides: evil}})
	for _, selected := range []string{"", "rebalance:3", "member:" + evil} {
		o := liveOptions()
		o.Group, o.Selected = evil, selected
		for _, p := range Parts(m, o) {
			html := render(t, p.Component)
			checkMarkup(t, html)
			said := tagPattern.ReplaceAllString(html, "")
			if strings.Contains(html, "<img") || strings.Contains(said, "\u202e") {
				t.Errorf("%.20q selected: a name got through in part %s", selected, p.ID)
			}
			if len(said) > 6000 && p.ID != "selection" { // a card shows names whole
				t.Errorf("%.20q selected: %d bytes of text in part %s; a name was not folded", selected, len(said), p.ID)
			}
		}
	}
}
