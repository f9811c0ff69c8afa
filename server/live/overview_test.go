package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/history"
)

// manyGroups is a world of many groups, each with a generation that rises and a member.
type manyGroups struct {
	*world
	names []string
}

func newManyGroups(t testing.TB, n int, cfg Config) *manyGroups {
	m := &manyGroups{world: &world{groups: map[string]int32{}}}
	for i := range n {
		m.names = append(m.names, fmt.Sprintf("group-%03d", i))
	}
	cfg.NowMs = func() int64 { return time.Now().UnixMilli() }
	cfg.Facts = func(context.Context) (Snapshot, error) { return m.tell(m.names...), nil }
	cfg.GroupFacts = func(_ context.Context, group string) (Snapshot, error) { return m.tell(group), nil }
	cfg.Fold = history.New(history.Config{SummaryMs: 1})
	m.hub = New(cfg)
	t.Cleanup(m.hub.Close)
	return m
}

func (m *manyGroups) tell(names ...string) Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Snapshot{Seq: m.numbers.Last(), NowMs: time.Now().UnixMilli()}
	say := func(group string, b event.Body) {
		s.Events = append(s.Events, event.Event{Seq: s.Seq, AtMs: s.NowMs, Broker: 1, Group: group, Body: b})
	}
	say("", event.FactsBegan{NowMs: s.NowMs})
	for _, name := range names {
		if g, there := m.groups[name]; there {
			say(name, event.GroupLoaded{State: event.Stable, Generation: g, Partition: 3})
		}
	}
	say("", event.FactsEnded{})
	return s
}

// rebalance brings n groups to their next generation, in one batch.
func (m *manyGroups) rebalance(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var batch []event.Event
	for range n {
		name := m.names[rand.IntN(len(m.names))]
		m.groups[name]++
		for _, b := range []event.Body{event.RebalanceStarted{Why: event.WhyLeaderRejoined}, event.StateChanged{To: event.PreparingRebalance},
			event.GenerationStarted{Generation: m.groups[name], Why: event.WhyAllRejoined}, event.StateChanged{To: event.CompletingRebalance},
			event.AssignmentStored{Generation: m.groups[name]}, event.StateChanged{To: event.Stable, Why: event.WhyAssignmentWritten}} {
			batch = append(batch, event.Event{Seq: m.numbers.Next(), AtMs: time.Now().UnixMilli(), Broker: 1, Group: name, Body: b})
		}
	}
	m.hub.Publish(batch)
}

// list is a page that lists all groups and follows one.
type list struct {
	group   string
	seq     int64
	world   string
	facts   int
	inFacts bool
	latest  map[string]event.GroupSummarized
	records map[int32]event.GenerationRecorded
	events  int
	foreign int // events of other groups
	built   bool
}

func (l *list) take(text []byte) error {
	var m struct {
		Hello  *struct{ World string }
		Gap    *gap
		Events []event.Event
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if m.Hello != nil {
		l.world = m.Hello.World
	}
	for _, e := range m.Events {
		switch b := e.Body.(type) {
		case event.FactsBegan:
			l.inFacts, l.latest, l.built = true, map[string]event.GroupSummarized{}, false
			l.facts++
		case event.FactsEnded:
			l.inFacts, l.built, l.seq = false, true, e.Seq
		case event.GroupSummarized:
			l.latest[e.Group] = b
			l.told(e)
		case event.GenerationRecorded:
			if e.Group != l.group {
				return fmt.Errorf("a record of %q came to who follows %q", e.Group, l.group)
			}
			l.records[b.Generation] = b
			l.told(e)
		default:
			if l.inFacts {
				continue
			}
			if e.Group != l.group && e.Group != "" {
				l.foreign++
			}
			if e.Seq <= l.seq {
				return fmt.Errorf("event %d came after %d", e.Seq, l.seq)
			}
			l.seq, l.events = e.Seq, l.events+1
		}
	}
	return nil
}

// told moves the place from which the page goes on: what is told of the groups may do that, too.
func (l *list) told(e event.Event) {
	if !l.inFacts {
		l.seq = max(l.seq, e.Seq)
	}
}

// agrees tells whether the page lists what the world is.
func (l *list) agrees(m *manyGroups) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, generation := range m.groups {
		if l.latest[name].Generation != generation {
			return false
		}
	}
	return l.group == "" || len(l.records) == int(m.groups[l.group])
}

// TestOverviewListsAllAndLosesNothing: pages that follow one group, or none, of sixty are cut off at any message and go on where
// they were. In the end each has every group's last generation, every record of its own and nothing of others'.
func TestOverviewListsAllAndLosesNothing(t *testing.T) {
	m := newManyGroups(t, 60, Config{MinInterval: time.Microsecond})
	m.rebalance(200)
	stop := make(chan struct{})
	var publishing, wg sync.WaitGroup
	publishing.Go(func() {
		for range 200 {
			m.rebalance(5)
			time.Sleep(time.Millisecond)
		}
		close(stop)
	})
	lists := make([]list, 6)
	for i := range lists {
		l := &lists[i]
		l.records = map[int32]event.GenerationRecorded{}
		if i%3 > 0 {
			l.group = m.names[i]
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			cutOff, enough := errors.New("cut off"), errors.New("enough")
			for round := 0; ; round++ {
				r := Request{Group: l.group, Overview: true}
				if l.built {
					r.From, r.World = l.seq+1, l.world
				}
				messages := 0
				err := m.hub.Watch(ctx, r, func(_ context.Context, text []byte) error {
					if err := l.take(text); err != nil {
						return err
					}
					select {
					case <-stop:
						if l.built && l.agrees(m) {
							return enough
						}
					default:
						if messages++; l.built && messages > rand.IntN(12) {
							return cutOff
						}
					}
					return nil
				})
				if errors.Is(err, enough) {
					return
				}
				if !errors.Is(err, cutOff) {
					t.Errorf("list %d, round %d: %v; it is at event %d with %d records", i, round, err, l.seq, len(l.records))
					return
				}
			}
		})
	}
	publishing.Wait()
	looked := make(chan struct{})
	publishing.Go(func() { // whoever is up to date already would hear of nothing more
		for {
			m.hub.Publish([]event.Event{{Seq: m.numbers.Next(), Body: event.InputGiven{Text: "look"}}})
			select {
			case <-looked:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	wg.Wait()
	close(looked)
	publishing.Wait()
	for i := range lists {
		if l := &lists[i]; l.foreign > 0 {
			t.Errorf("list %d was sent %d events of other groups", i, l.foreign)
		}
		if lists[i].facts != 1 {
			t.Errorf("list %d was sent facts %d times", i, lists[i].facts)
		}
	}
}

// TestOverviewLeavesOutWhatIsToldOfEverything: of every batch, replica, connection and transaction only what concerns the group.
func TestOverviewLeavesOutWhatIsToldOfEverything(t *testing.T) {
	v := &viewer{overview: &overview{}, group: "g", partition: 7}
	for _, c := range []struct {
		group string
		body  event.Body
		want  bool
	}{
		{"g", event.HeartbeatReceived{}, true}, {"h", event.StateChanged{}, false}, {"", event.BrokerStopped{}, true},
		{"", event.RecordsAppended{Topic: "orders"}, false}, {"h", event.RecordsAppended{Topic: offsetsTopic, Partition: 7}, true},
		{"g", event.RecordsAppended{Topic: "orders", Partition: 7}, false}, {"", event.HighWatermarkAdvanced{Topic: offsetsTopic, Partition: 6}, false},
		{"", event.LeaderChanged{Topic: "orders"}, false}, {"", event.LeaderChanged{Topic: offsetsTopic, Partition: 1}, true},
		{"", event.ConnectionOpened{}, false}, {"", event.ConnectionClosed{}, false}, {"", event.ConnectionClosed{Members: []string{"m"}}, true},
		{"", event.TxnStateChanged{}, false}, {"", event.TopicCreated{}, true},
	} {
		if got := v.follows(&event.Event{Group: c.group, Body: c.body}); got != c.want {
			t.Errorf("%s of %q is sent: %v", c.body.Kind(), c.group, got)
		}
	}
}

// TestOverviewWhereThereIsNone is an answer, no crash.
func TestOverviewWhereThereIsNone(t *testing.T) {
	w := newTestWorld(t, Config{})
	err := w.hub.Watch(context.Background(), Request{Overview: true}, func(context.Context, []byte) error { return nil })
	if !errors.Is(err, ErrNoOverview) || !errors.Is(w.hub.Fold(func() {}), ErrNoOverview) {
		t.Errorf("got %v", err)
	}
}

// TestOverviewTooLongAgo: who comes back after what it missed of records was dropped begins with facts.
func TestOverviewTooLongAgo(t *testing.T) {
	o := &overview{latest: map[string]*told{}}
	for i := range int64(6 * spareTold) {
		o.add(event.Event{Seq: i + 1, Group: "g", Body: event.GenerationRecorded{Generation: int32(i)}}, i+1)
		o.add(event.Event{Seq: i + 1, Group: "g", Body: event.GroupSummarized{Generation: int32(i)}}, i+1)
		o.trim()
	}
	if len(o.log) > 2*(1+spareTold)+1 {
		t.Errorf("%d are kept", len(o.log))
	}
	if _, ok := o.resumed(100); ok {
		t.Error("whoever saw the first hundred events goes on, though records are gone")
	}
	version, ok := o.resumed(6*spareTold - 10)
	list, _, _ := o.since(nil, version, 1<<40, "g", 100)
	if !ok || len(list) != 12 {
		t.Errorf("whoever lacks ten events is sent %d (%v)", len(list), ok)
	}
	if all, _, _ := o.all(""); len(all) != 1 {
		t.Errorf("one group is listed %d times", len(all))
	}
}

// strictFold wants each group's generations without hole or double.
type strictFold struct {
	generation map[string]int32
	facts      int
	wrong      []string
}

func (f *strictFold) Needs(e *event.Event) bool                         { return f.Wants(e) }
func (f *strictFold) Wants(*event.Event) bool                           { return true }
func (f *strictFold) Take(dst []event.Event, _ int64) []event.Event     { return dst }
func (f *strictFold) Pending() bool                                     { return false }
func (f *strictFold) Records(dst []event.Event, _ string) []event.Event { return dst }

func (f *strictFold) Apply(e *event.Event) {
	switch b := e.Body.(type) {
	case event.FactsBegan:
		f.generation = map[string]int32{}
	case event.FactsEnded:
		f.facts++
	case event.GroupLoaded:
		f.generation[e.Group] = b.Generation
	case event.GenerationStarted:
		if f.generation[e.Group]+1 != b.Generation {
			f.wrong = append(f.wrong, fmt.Sprintf("event %d: generation %d of %s after %d", e.Seq, b.Generation, e.Group, f.generation[e.Group]))
		}
		f.generation[e.Group] = b.Generation
	}
}

// TestFactsInPieces: the fold begins anew in pieces, three groups each, while the world goes on and new groups come to be.
func TestFactsInPieces(t *testing.T) {
	m := newManyGroups(t, 40, Config{})
	fold := &strictFold{}
	h := m.hub
	o := &overview{fold: fold, latest: map[string]*told{}}
	m.rebalance(60) // not of all
	pieces := 0
	h.cfg.Pieces = func(_ context.Context, broker int32, after string) (Piece, error) {
		defer m.rebalance(20) // between two pieces
		m.mu.Lock()
		defer m.mu.Unlock()
		pieces++
		p := Piece{Seq: m.numbers.Last(), Broker: 1, Group: after}
		var left []string
		for name := range m.groups {
			if broker == 1 && name > after {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		if broker == 0 {
			return p, nil
		}
		for _, name := range left[:min(3, len(left))] {
			p.Events = append(p.Events, event.Event{Seq: p.Seq, Broker: 1, Group: name, Body: event.GroupLoaded{Generation: m.groups[name]}})
			p.Group = name
		}
		p.Last = len(left) <= 3
		return p, nil
	}
	if !h.refold(o) {
		t.Fatal("it was given up")
	}
	h.feed(o, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, want := range m.groups {
		if fold.generation[name] != want {
			t.Errorf("%s is at %d, the fold has %d", name, want, fold.generation[name])
		}
	}
	if pieces < 10 || fold.facts != 1 || len(fold.wrong) > 0 {
		t.Errorf("%d pieces, %d ends, wrong: %v", pieces, fold.facts, fold.wrong)
	}
}

// TestFoldThatMissedEventsBeginsAnew: what the ring has forgotten is replaced by facts.
func TestFoldThatMissedEventsBeginsAnew(t *testing.T) {
	m := newManyGroups(t, 10, Config{Keep: 100})
	fold := &strictFold{}
	o := &overview{fold: fold, latest: map[string]*told{}}
	o.more.init()
	m.rebalance(100)
	if h := m.hub; h.behind(o.seq) <= h.cfg.Keep {
		t.Fatal("nothing was forgotten")
	} else if !h.refold(o) {
		t.Fatal("it was given up")
	}
	m.rebalance(3)
	m.hub.feed(o, nil)
	for name, want := range m.groups {
		if fold.generation[name] != want {
			t.Errorf("%s is at %d, the fold has %d", name, want, fold.generation[name])
		}
	}
	if len(fold.wrong) > 0 {
		t.Error(fold.wrong)
	}
}
