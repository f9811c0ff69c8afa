package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"grouplab/coordinator/event"
)

// TestFloodEndsInFacts: whoever follows everything is told of a flood by gaps and facts, never by a hole; when it is over, events come
// again.
func TestFloodEndsInFacts(t *testing.T) {
	w := newTestWorld(t, Config{MinInterval: time.Microsecond, FactsInterval: 20 * time.Millisecond, FloodRate: 500})
	w.bump(10)
	var p picture
	done := make(chan struct{})
	go func() { defer close(done); w.watch(t, Request{}, &p, 4020, nil) }()
	for range 400 { // an event a millisecond, by their own clock
		w.bump(10)
		time.Sleep(50 * time.Microsecond)
	}
	if s := w.hub.Stats(); s.LeftOut == 0 || s.Published != 4010 {
		t.Errorf("of %d events %d were left out", s.Published, s.LeftOut)
	}
	if oldest, last := w.hub.Window(); oldest != 4011 || last != 4010 {
		t.Errorf("the window is %d to %d in a flood, and should be empty behind 4010", oldest, last)
	}
	if got := w.hub.Since(nil, 1, 10_000); len(got) > 0 {
		t.Errorf("%d events are given out, from %d on: there are holes between them", len(got), got[0].Seq)
	}
	w.mu.Lock()
	w.aheadMs = 5000 // of silence
	w.mu.Unlock()
	w.bump(10)
	<-done
	if p.groups["a"]+p.groups["b"] != 4020 {
		t.Errorf("the picture ends with %v", p.groups)
	}
	if !slices.ContainsFunc(p.gaps, func(g gap) bool { return strings.Contains(g.Reason, "more than 500 events a second") }) {
		t.Errorf("the flood is not told of: %v", p.gaps)
	}
	if oldest, last := w.hub.Window(); oldest != 4011 || last != 4020 {
		t.Errorf("after the flood the window is %d to %d, and should begin with the first event since", oldest, last)
	}
	if got := w.hub.Since(nil, 1, 10_000); len(got) != 10 || got[0].Seq != 4011 {
		t.Errorf("after the flood %d events are kept", len(got))
	}
}

// TestFloodSparesWhatIsFollowed: in a flood, who follows one group of many misses nothing of it, and the list of groups is right.
func TestFloodSparesWhatIsFollowed(t *testing.T) {
	m := newManyGroups(t, 20, Config{MinInterval: time.Microsecond, FloodRate: 100})
	m.rebalance(200) // a flood from here on
	own, others, began := m.names[3], m.names[4], make(chan struct{})
	l := &list{group: own, records: map[int32]event.GenerationRecorded{}}
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	seen, beats, end := errors.New("seen all"), 0, int64(0)
	go func() {
		defer close(done)
		err := m.hub.Watch(ctx, Request{Overview: true, Group: own}, func(_ context.Context, text []byte) error {
			beats += strings.Count(string(text), `"HeartbeatReceived"`)
			if err := l.take(text); err != nil {
				return err
			}
			if l.built && l.facts == 1 {
				select {
				case <-began:
				default:
					close(began)
				}
			}
			if strings.Contains(string(text), `"the last"`) {
				return seen
			}
			return nil
		})
		if !errors.Is(err, seen) {
			t.Error(err)
		}
	}()
	<-began
	const rounds = 300
	for i := range rounds {
		m.mu.Lock()
		var batch []event.Event
		say := func(group string, b event.Body) {
			batch = append(batch, event.Event{Seq: m.numbers.Next(), AtMs: time.Now().UnixMilli(), Broker: 1, Group: group, Body: b})
		}
		for range 20 {
			say(others, event.HeartbeatReceived{Member: "x"})
			say("", event.RecordsAppended{Topic: "orders", Partition: 3})
		}
		member := "y"
		if i == rounds-1 {
			member = "the last"
		}
		say(own, event.HeartbeatReceived{Member: member})
		end = m.numbers.Last()
		m.hub.Publish(batch)
		m.mu.Unlock()
		time.Sleep(100 * time.Microsecond)
	}
	<-done
	if beats != rounds || l.foreign != 0 || l.facts != 1 {
		t.Errorf("%d of %d heartbeats of the group, %d of others, %d times facts", beats, rounds, l.foreign, l.facts)
	}
	if s := m.hub.Stats(); s.LeftOut < rounds*40 {
		t.Errorf("only %d events were left out", s.LeftOut)
	}
	if _, last := m.hub.Window(); last != end {
		t.Errorf("the last event is %d, and the window ends with %d", end, last)
	}
}

// TestFirstFollowerAsksAnew: what was told of a group before somebody followed it is not shared with who does.
func TestFirstFollowerAsksAnew(t *testing.T) {
	asked := 0
	m := newManyGroups(t, 3, Config{FactsInterval: time.Hour})
	tell := m.hub.cfg.GroupFacts
	m.hub.cfg.GroupFacts = func(ctx context.Context, group string) (Snapshot, error) { asked++; return tell(ctx, group) }
	m.rebalance(3)
	for range 3 {
		l := &list{group: m.names[1], records: map[int32]event.GenerationRecorded{}}
		enough := errors.New("enough")
		err := m.hub.Watch(context.Background(), Request{Overview: true, Group: l.group}, func(_ context.Context, text []byte) error {
			if err := l.take(text); err != nil || !l.built {
				return err
			}
			return enough
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
	}
	if asked != 3 {
		t.Errorf("three followers, one after the other, asked %d times", asked)
	}
}

// TestHushedFacts: what is not even told of in a flood is in facts, whenever these are asked for; the picture is right when it is over.
func TestHushedFacts(t *testing.T) {
	w := newTestWorld(t, Config{MinInterval: time.Microsecond, FactsInterval: time.Millisecond, FloodRate: 500})
	w.bump(600)
	hush := func(on bool) {
		w.mu.Lock()
		w.hub.Hush(on, w.numbers.Last())
		w.mu.Unlock()
	}
	hush(true)
	var p picture
	done := make(chan struct{})
	go func() { defer close(done); w.watch(t, Request{}, &p, 5000, nil) }()
	silent := func() { // it happens, and nobody is told
		w.mu.Lock()
		w.groups["a"]++
		w.mu.Unlock()
	}
	for w.numbers.Last() < 4990 {
		silent()
		w.bump(1)
		silent()
		time.Sleep(10 * time.Microsecond)
	}
	silent()
	hush(false)
	time.Sleep(20 * time.Millisecond) // facts between the two
	for range 10 {
		w.bump(1)
		time.Sleep(time.Millisecond)
	}
	w.mu.Lock()
	w.aheadMs = 5000
	w.mu.Unlock()
	w.bump(10)
	<-done
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.groups["b"] > w.groups["b"] || p.groups["a"] > w.groups["a"] || p.groups["a"] < w.groups["a"]-5 {
		t.Errorf("the picture ends with %v, the world with %v", p.groups, w.groups)
	}
}

// TestWhoComesBackToAHushBeginsWithFacts: the batch after its beginning lacks what a group's viewer wants.
func TestWhoComesBackToAHushBeginsWithFacts(t *testing.T) {
	m := newManyGroups(t, 3, Config{})
	m.rebalance(3)
	last := m.numbers.Last()
	m.hub.Hush(true, last)
	l := &list{group: m.names[1], records: map[int32]event.GenerationRecorded{}}
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := m.hub.Watch(ctx, Request{Overview: true, Group: l.group, From: last + 1}, func(_ context.Context, text []byte) error {
		if err := l.take(text); err != nil || !l.built {
			return err
		}
		return enough
	})
	if !errors.Is(err, enough) || l.facts != 1 {
		t.Errorf("%v, %d times facts", err, l.facts)
	}
}
