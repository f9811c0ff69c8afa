package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grouplab/coordinator/event"
)

// TestMain waits for goroutines that are about to end: on a busy machine that may take a while.
func TestMain(m *testing.M) {
	if what := os.Getenv(audienceEnv); what != "" {
		playAudience(what)
	}
	code := m.Run()
	if code == 0 {
		left := goleak.Find()
		for end := time.Now().Add(time.Minute); left != nil && time.Now().Before(end); {
			left = goleak.Find()
		}
		if left != nil {
			fmt.Fprintln(os.Stderr, left)
			code = 1
		}
	}
	os.Exit(code)
}

// world stands in for the loop: it numbers events, publishes them and answers for facts, all under one lock.
type world struct {
	hub     *Hub
	mu      sync.Mutex
	numbers event.Numbers
	groups  map[string]int32 // generation by group: the state that facts tell
	aheadMs int64            // of the events' clock, which else goes by their number
	asked   atomic.Int64
	fail    error
}

func newTestWorld(t testing.TB, cfg Config) *world {
	w := &world{groups: map[string]int32{}}
	cfg.NowMs = func() int64 { return 1_000_000 }
	cfg.Facts = w.facts
	w.hub = New(cfg)
	t.Cleanup(w.hub.Close)
	return w
}

func (w *world) facts(context.Context) (Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked.Add(1)
	if w.fail != nil {
		return Snapshot{}, w.fail
	}
	s := Snapshot{Seq: w.numbers.Last(), NowMs: 1_000_000}
	say := func(group string, b event.Body) {
		s.Events = append(s.Events, event.Event{Seq: s.Seq, AtMs: s.NowMs, Group: group, Body: b})
	}
	say("", event.FactsBegan{NowMs: s.NowMs})
	for _, name := range []string{"a", "b"} {
		if g, ok := w.groups[name]; ok {
			say(name, event.GroupLoaded{State: event.Stable, Generation: g})
		}
	}
	say("", event.FactsEnded{})
	return s, nil
}

// bump starts n generations, by turns of the groups a and b, in one batch.
func (w *world) bump(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch := make([]event.Event, 0, n)
	for range n {
		seq := w.numbers.Next()
		name := []string{"a", "b"}[seq%2]
		w.groups[name]++
		batch = append(batch, event.Event{Seq: seq, AtMs: seq + w.aheadMs, Broker: 1, Group: name,
			Body: event.GenerationStarted{Generation: w.groups[name], Why: event.WhyAllRejoined}})
	}
	w.hub.Publish(batch)
}

// picture is a viewer's fold, strict about what it is sent: facts first, each event once and in order, and nothing
// missing that was not said to be.
type picture struct {
	group   string // followed; "" all
	hello   map[string]any
	seq     int64
	inFacts bool
	built   bool
	groups  map[string]int32
	gaps    []gap
	events  int
	clocks  int
	lazy    []byte // where set, nothing is checked: the picture is complete when this was in a message
}

func (p *picture) take(text []byte) error {
	if p.lazy != nil {
		p.built = true
		if bytes.Contains(text, p.lazy) {
			p.seq = math.MaxInt64
		}
		return nil
	}
	var m struct {
		Hello  map[string]any
		Gap    *gap
		Events []event.Event
		NowMs  int64
		Clock  *clock
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return fmt.Errorf("%w in %.200s", err, text)
	}
	switch {
	case m.Hello != nil:
		p.hello = m.Hello
	case m.Gap != nil:
		p.gaps, p.built = append(p.gaps, *m.Gap), false
		if p.seq > 0 && m.Gap.From > 0 && m.Gap.From != p.seq+1 {
			return fmt.Errorf("gap from %d after event %d", m.Gap.From, p.seq)
		}
	case m.Clock != nil:
		p.clocks++
	case m.NowMs != 1_000_000:
		return fmt.Errorf("no clock in %.200s", text)
	}
	for _, e := range m.Events {
		if err := p.apply(e); err != nil {
			return err
		}
	}
	return nil
}

func (p *picture) apply(e event.Event) error {
	if p.hello == nil {
		return fmt.Errorf("event %d came before hello", e.Seq)
	}
	switch b := e.Body.(type) {
	case event.FactsBegan:
		p.inFacts, p.groups, p.seq = true, map[string]int32{}, e.Seq
	case event.FactsEnded:
		p.inFacts, p.built = false, true
	case event.GroupLoaded:
		p.groups[e.Group] = b.Generation
	case event.GenerationStarted:
		p.events++
		step := int64(1)
		if p.group != "" {
			step = 2
			if p.seq%2 != e.Seq%2 { // facts ended on the other group's event
				step = 1
			}
		}
		if !p.built || e.Seq != p.seq+step {
			return fmt.Errorf("event %d came after %d (facts: %v)", e.Seq, p.seq, p.built)
		}
		if p.groups[e.Group]+1 != b.Generation {
			return fmt.Errorf("event %d: generation %d of %s after %d", e.Seq, b.Generation, e.Group, p.groups[e.Group])
		}
		p.seq, p.groups[e.Group] = e.Seq, b.Generation
	}
	return nil
}

// watch runs a viewer until its picture reaches the Seq until, or the test's patience ends. each, if any, runs after each message.
func (w *world) watch(t testing.TB, r Request, p *picture, until int64, each func()) {
	t.Helper()
	p.group = r.Group
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	done := errors.New("seen enough")
	err := w.hub.Watch(ctx, r, func(_ context.Context, text []byte) error {
		if err := p.take(text); err != nil {
			return err
		}
		if each != nil {
			each()
		}
		if p.built && !p.inFacts && p.seq >= until {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Errorf("%v; at event %d of %d, gaps %v", err, p.seq, until, p.gaps)
	}
}

func TestFactsThenEventsWithoutHoleOrDouble(t *testing.T) {
	w := newTestWorld(t, Config{MinInterval: time.Microsecond, FactsInterval: time.Hour})
	w.bump(10)
	var wg sync.WaitGroup
	pictures := make([]picture, 8)
	for i := range pictures {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 3 * time.Millisecond)
			w.watch(t, Request{}, &pictures[i], 4010, nil)
		})
	}
	for range 400 {
		w.bump(10)
		time.Sleep(100 * time.Microsecond)
	}
	wg.Wait()
	for i := range pictures {
		p := &pictures[i]
		if p.groups["a"] != 2005 || p.groups["b"] != 2005 || len(p.gaps) != 0 {
			t.Errorf("viewer %d ended with %v and gaps %v", i, p.groups, p.gaps)
		}
	}
	if n := w.asked.Load(); n > 2 {
		t.Errorf("8 viewers that share facts for an hour asked the loop %d times for them", n)
	}
}

func TestOneGroupFollowed(t *testing.T) {
	w := newTestWorld(t, Config{MinInterval: time.Microsecond})
	w.bump(11)
	var p picture
	done := make(chan struct{})
	go func() { defer close(done); w.watch(t, Request{Group: "b"}, &p, 2011, nil) }()
	for range 200 {
		w.bump(10)
	}
	<-done
	if p.groups["b"] != 1006 || p.groups["a"] != 0 {
		t.Errorf("a viewer of b ended with %v", p.groups)
	}
}

func TestNothingIsEncodedWhileNobodyWatches(t *testing.T) {
	w := newTestWorld(t, Config{})
	w.bump(5000)
	if s := w.hub.Stats(); s.Encoded != 0 || s.Published != 5000 || w.asked.Load() != 0 {
		t.Errorf("without viewers: %+v, facts asked %d times", s, w.asked.Load())
	}
	var p picture
	leave, err := w.hub.enter("x")
	if err != nil {
		t.Fatal(err)
	}
	w.watch(t, Request{}, &p, 5000, nil)
	if w.hub.cache.slots != nil {
		t.Error("facts alone filled the cache of events")
	}
	go w.bump(10)
	w.watch(t, Request{From: 5001}, &p, 5010, nil)
	if w.hub.cache.slots == nil {
		t.Error("ten events were sent and none is in the cache")
	}
	leave()
	if w.hub.cache.slots != nil || w.hub.facts.last != nil {
		t.Error("what viewers need is kept although the last one left")
	}
}

func TestResumeInTheMiddle(t *testing.T) {
	w := newTestWorld(t, Config{Keep: 1000, MaxLag: 100})
	w.bump(3000)
	p := picture{hello: map[string]any{}, seq: 2499, built: true, groups: map[string]int32{"a": 1249, "b": 1250}}
	w.watch(t, Request{From: 2500, World: w.hub.World()}, &p, 3000, nil)
	if len(p.gaps) != 0 || p.events != 501 || w.asked.Load() != 0 {
		t.Errorf("a viewer 501 events behind got %d events, gaps %v and %d times facts", p.events, p.gaps, w.asked.Load())
	}
	p = picture{hello: map[string]any{}, seq: 3000, built: true, groups: map[string]int32{"a": 1500, "b": 1500}}
	go w.bump(2)
	w.watch(t, Request{From: 3001}, &p, 3002, nil)
	if len(p.gaps) != 0 || p.events != 2 {
		t.Errorf("a viewer that had seen all got %d events and gaps %v", p.events, p.gaps)
	}
}

func TestResumeWhereThePastIsGone(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Request
		want gap
	}{
		{"too old", Request{From: 500}, gap{From: 500, To: 3000, Events: 2501, ToMs: 1_000_000,
			Reason: "event 500 is no longer kept"}},
		{"just too old", Request{From: 2000}, gap{From: 2000, To: 3000, Events: 1001, ToMs: 1_000_000,
			Reason: "event 2000 is no longer kept"}},
		{"another world", Request{From: 2990, World: "0123"}, gap{To: 3000, ToMs: 1_000_000,
			Reason: "the server was started again"}},
		{"the future", Request{From: 3002}, gap{To: 3000, ToMs: 1_000_000,
			Reason: "event 3002 does not exist yet, the last is 3000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTestWorld(t, Config{Keep: 1000})
			w.bump(3000)
			var p picture
			w.watch(t, c.r, &p, 3000, nil)
			if len(p.gaps) != 1 || p.gaps[0] != c.want {
				t.Errorf("gaps %+v, want %+v", p.gaps, c.want)
			}
			if p.groups["a"] != 1500 || p.events != 0 {
				t.Errorf("the picture after the gap is %v, of %d events", p.groups, p.events)
			}
			if s := w.hub.Stats(); s.Gaps != 1 || s.Skipped != c.want.Events {
				t.Errorf("counted %+v", s)
			}
		})
	}
}

func TestSlowViewerIsSkippedAndTold(t *testing.T) {
	w := newTestWorld(t, Config{Keep: 2000, MaxLag: 200, FactsInterval: 5 * time.Millisecond, MinInterval: time.Microsecond})
	w.bump(10) // events before 1 are not known to anybody
	var slow, quick picture
	published := make(chan struct{})
	var first, wg sync.WaitGroup
	first.Add(1)
	var once sync.Once
	wg.Go(func() {
		w.watch(t, Request{}, &slow, 10010, func() {
			if slow.built { // it has its first facts, and takes nothing until everything has happened
				once.Do(first.Done)
				<-published
			}
		})
	})
	wg.Go(func() { w.watch(t, Request{}, &quick, 10010, nil) })
	first.Wait()
	for range 1000 {
		w.bump(10)
		time.Sleep(50 * time.Microsecond)
	}
	close(published)
	wg.Wait()
	if len(slow.gaps) == 0 || slow.groups["a"] != 5005 || quick.groups["b"] != 5005 {
		t.Errorf("slow: %v, gaps %v; quick: %v", slow.groups, slow.gaps, quick.groups)
	}
	var told int64
	for _, g := range append(slow.gaps, quick.gaps...) {
		if g.Events != g.To-g.From+1 || g.Reason != "more than 200 events behind" {
			t.Errorf("gap %+v", g)
		}
		told += g.Events
	}
	if s := w.hub.Stats(); s.Skipped != told || s.Gaps != int64(len(slow.gaps)+len(quick.gaps)) {
		t.Errorf("told of %d events in %d and %d gaps, counted %+v", told, len(slow.gaps), len(quick.gaps), s)
	}
}

func TestEventsTooFastForAnyPage(t *testing.T) {
	w := newTestWorld(t, Config{MaxLag: 1000, MaxRate: 2000, FactsInterval: 50 * time.Millisecond})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				w.bump(100)
				time.Sleep(time.Millisecond)
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var p picture
	enough, began := errors.New("enough"), time.Now()
	err := w.hub.Watch(ctx, Request{}, func(_ context.Context, text []byte) error {
		if err := p.take(text); err != nil || len(p.gaps) == 0 || p.events == 0 || time.Since(began) < time.Second {
			return err
		}
		return enough
	})
	took := time.Since(began)
	close(stop)
	wg.Wait()
	if !errors.Is(err, enough) {
		t.Fatalf("%v; %d events came and %d gaps", err, p.events, len(p.gaps))
	}
	if most := int(2000*took.Seconds()) + 1000 + 2*chunkEvents; p.events > most {
		t.Errorf("%d events were sent in %v, want at most %d", p.events, took, most)
	}
}

func TestClockWhileNothingHappens(t *testing.T) {
	w := newTestWorld(t, Config{ClockInterval: 5 * time.Millisecond})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var p picture
	_ = w.hub.Watch(ctx, Request{}, func(_ context.Context, text []byte) error {
		err := p.take(text)
		if p.clocks == 3 {
			cancel()
		}
		return err
	})
	if p.clocks != 3 {
		t.Errorf("%d clocks came", p.clocks)
	}
}

func TestFactsThatFail(t *testing.T) {
	w := newTestWorld(t, Config{})
	w.fail = errors.New("the loop is closed")
	err := w.hub.Watch(context.Background(), Request{}, func(context.Context, []byte) error { return nil })
	if err == nil || err.Error() != "the cluster did not say how it stands: the loop is closed" {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	w := newTestWorld(t, Config{})
	ended := make(chan error)
	go func() {
		ended <- w.hub.Watch(context.Background(), Request{}, func(context.Context, []byte) error { return nil })
	}()
	for w.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	w.hub.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Watch ended with %v", err)
	}
	if _, err := w.hub.enter("x"); !errors.Is(err, ErrClosed) {
		t.Errorf("a viewer came in after Close: %v", err)
	}
	if _, err := w.hub.Snapshot(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("Snapshot after Close: %v", err)
	}
	w.bump(1) // the loop may still be at it
}

func TestEventsOutOfOrderAreABug(t *testing.T) {
	w := newTestWorld(t, Config{})
	w.bump(3)
	for _, bad := range []event.Event{{Seq: 3, Body: event.FactsEnded{}}, {Seq: 9}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("event %v was taken", bad)
				}
			}()
			w.hub.Publish([]event.Event{bad})
		}()
	}
	if oldest, last := w.hub.Window(); oldest != 1 || last != 3 {
		t.Errorf("kept %d to %d", oldest, last)
	}
}

func TestSince(t *testing.T) {
	w := newTestWorld(t, Config{Keep: 10})
	if oldest, last := w.hub.Window(); oldest != 1 || last != 0 || len(w.hub.Since(nil, 1, 5)) != 0 {
		t.Errorf("an empty hub keeps %d to %d", oldest, last)
	}
	w.bump(25)
	for _, c := range []struct{ from, first, n int64 }{{0, 16, 5}, {17, 17, 5}, {24, 24, 2}, {25, 25, 1}, {26, 0, 0}} {
		got := w.hub.Since(nil, c.from, 5)
		if int64(len(got)) != c.n || c.n > 0 && got[0].Seq != c.first {
			t.Errorf("from %d: %v", c.from, got)
		}
	}
	if oldest, last := w.hub.Window(); oldest != 16 || last != 25 {
		t.Errorf("kept %d to %d", oldest, last)
	}
}

func TestPlaces(t *testing.T) {
	w := newTestWorld(t, Config{MaxViewers: 4})
	var leave []func()
	for i, host := range []string{"x", "x", "x", "y", "y", "z"} {
		l, err := w.hub.enter(host)
		if wantFull := i == 2 || i == 5; errors.Is(err, ErrFull) != wantFull {
			t.Errorf("viewer %d from %s: %v", i, host, err)
		}
		if err == nil {
			leave = append(leave, l)
		}
	}
	for _, l := range leave {
		l()
	}
	if s := w.hub.Stats(); s.Viewers != 0 || s.Refused != 2 || len(w.hub.hosts) != 0 {
		t.Errorf("after all left: %+v, %v", s, w.hub.hosts)
	}
}
