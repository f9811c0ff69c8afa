package record

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/server/live"
)

// world is a hub of a cluster with one group, whose clock a test moves.
type world struct {
	t   testing.TB
	hub *live.Hub
	mu  sync.Mutex
	now int64
	n   event.Numbers
}

func newWorld(t testing.TB, keep int) *world {
	w := &world{t: t, now: 1_764_478_800_000}
	w.hub = live.New(live.Config{Keep: keep, FactsInterval: time.Nanosecond, NowMs: w.nowMs, Facts: func(context.Context) (live.Snapshot, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		seq := w.n.Last()
		all := []event.Event{{Seq: seq, AtMs: w.now, Body: event.FactsBegan{NowMs: w.now}},
			{Seq: seq, AtMs: w.now, Broker: 1, Group: "orders", Body: event.GroupLoaded{State: event.Stable, Partition: 7}},
			{Seq: seq, AtMs: w.now, Body: event.FactsEnded{}}}
		return live.Snapshot{Seq: seq, NowMs: w.now, Events: all}, nil
	}})
	t.Cleanup(w.hub.Close)
	return w
}

func (w *world) nowMs() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// tell publishes n heartbeats, a millisecond apart.
func (w *world) tell(n int) {
	w.mu.Lock()
	defer w.mu.Unlock() // facts that are asked for meanwhile hold none of these, or all
	var all []event.Event
	for range n {
		w.now++
		all = append(all, event.Event{Seq: w.n.Next(), AtMs: w.now, Broker: 1, Group: "orders", Body: event.HeartbeatReceived{Member: "c1-x"}})
	}
	w.hub.Publish(all)
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += d.Milliseconds()
}

func (w *world) open(dir string, with func(*Config)) *Recorder {
	w.t.Helper()
	cfg := Config{Dir: dir, Hub: w.hub, Every: time.Millisecond, Retry: 5 * time.Millisecond}
	if with != nil {
		with(&cfg)
	}
	r, err := Open(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Start()
	eventually(w.t, "it has begun", func() bool { return r.Stats().Segments > 0 })
	return r
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func cut(t testing.TB, r *Recorder, p Piece) *recording.Reader {
	t.Helper()
	var b bytes.Buffer
	if err := r.Cut(t.Context(), &b, p); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(&b, recording.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for rec.Next(1000) {
	}
	if !rec.Whole {
		t.Fatalf("the piece is not whole: %s", rec.Stopped)
	}
	return rec
}

// beats are the numbers of the heartbeats.
func beats(rec *recording.Reader) (list []int64) {
	for _, e := range rec.Events {
		if _, ok := e.Body.(event.HeartbeatReceived); ok {
			list = append(list, e.Seq)
		}
	}
	return list
}

func TestWhatHappenedIsKeptAndCut(t *testing.T) {
	w := newWorld(t, 0)
	r := w.open(t.TempDir(), func(c *Config) { c.SegmentAge = time.Second })
	began := w.nowMs()
	for range 5 {
		w.tell(100)
		eventually(t, "everything is written", func() bool { return r.Stats().Events == int64(w.n.Last()) })
		w.pass(2 * time.Second)
		n := r.Stats().Segments
		eventually(t, "a new segment", func() bool { return r.Stats().Segments > n })
	}
	all := beats(cut(t, r, Piece{}))
	for i := range all {
		if all[i] != int64(i+1) {
			t.Fatalf("event %d is %d", i, all[i])
		}
	}
	if len(all) != 500 {
		t.Errorf("%d events, want 500", len(all))
	}
	rec := cut(t, r, Piece{FromMs: began + 2500, ToMs: began + 4500})
	if got := beats(rec); len(got) < 100 || got[0] > 201 || got[len(got)-1] > 300 || rec.Header.FromMs != began+2500 {
		t.Errorf("the piece goes from %d to %d", got[0], got[len(got)-1])
	}
	if err := r.Check(Piece{FromMs: w.nowMs() + 1e6}); err == nil || !strings.Contains(err.Error(), "nothing is kept") {
		t.Errorf("the future: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(r.Kept()[0].path)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	again := w.open(r.cfg.Dir, nil)
	defer again.Close()
	if got := beats(cut(t, again, Piece{})); len(got) != 500 {
		t.Errorf("after a restart there are %d events", len(got))
	}
}

func TestTheBoundsHold(t *testing.T) {
	w := newWorld(t, 0)
	dir := t.TempDir()
	r := w.open(dir, func(c *Config) { c.Bytes, c.SegmentBytes, c.Age = 40_000, 2000, time.Hour })
	defer r.Close()
	for i := range 60 {
		w.tell(300)
		eventually(t, "written", func() bool { return r.Stats().Events == int64(300*(i+1)) })
	}
	if s := r.Stats(); s.Bytes > 40_000+2000 || s.Dropped == 0 || s.Segments < 2 {
		t.Errorf("%+v", s)
	}
	w.pass(3 * time.Hour)
	w.tell(2000)
	eventually(t, "the old ones went", func() bool { w.tell(50); return r.Kept()[0].ToMs >= w.nowMs()-time.Hour.Milliseconds() })
	files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
	eventually(t, "as many files as segments", func() bool {
		files, _ = filepath.Glob(filepath.Join(dir, "*"+suffix))
		return len(files) == r.Stats().Segments
	})
}

// Wherever the last file was torn, what lies before is there, and a line says that it was cut.
func TestATornTailIsCut(t *testing.T) {
	w := newWorld(t, 0)
	dir := t.TempDir()
	r := w.open(dir, nil)
	w.tell(1000)
	eventually(t, "written", func() bool { return r.Stats().Events == 1000 })
	r.Close()
	path := r.Kept()[0].path
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{30, 60, 90} {
		_ = os.Remove(path + indexSuffix)
		if err := os.WriteFile(path, whole[:len(whole)*part/100], 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		kept, err := recoverAll(dir, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || len(kept) != 1 {
			t.Fatalf("%d%%: %v, %d segments", part, err, len(kept))
		}
		if kept[0].Events == 0 || kept[0].Events > 1004 || !strings.Contains(log.String(), "cut where it breaks off") {
			t.Errorf("%d%%: %d events, log %s", part, kept[0].Events, log.String())
		}
		again, err := look(path, slog.New(slog.DiscardHandler))
		if err != nil || again.Events != kept[0].Events {
			t.Errorf("%d%%: mended it has %d events, had %d (%v)", part, again.Events, kept[0].Events, err)
		}
	}
}

func TestASecondProcessIsKeptOut(t *testing.T) {
	w := newWorld(t, 0)
	dir := t.TempDir()
	r := w.open(dir, nil)
	defer r.Close()
	if _, err := Open(Config{Dir: dir, Hub: w.hub}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v", err)
	}
}

// A folder that takes nothing stops nobody: one line, then a gap, and it goes on when there is room again.
func TestADiskThatTakesNothing(t *testing.T) {
	w := newWorld(t, 0)
	dir := filepath.Join(t.TempDir(), "rec")
	var log syncBuffer
	r := w.open(dir, func(c *Config) { c.SegmentAge = time.Second; c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	defer r.Close()
	w.tell(10)
	eventually(t, "written", func() bool { return r.Stats().Events == 10 })
	away := dir + "-away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * time.Second)
	eventually(t, "it fails", func() bool { return r.Stats().Failing && r.Stats().Failures > 2 })
	w.tell(100)
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it goes on", func() bool { return !r.Stats().Failing })
	w.tell(10)
	eventually(t, "written again", func() bool { g := beats(cut(t, r, Piece{})); return g[len(g)-1] == 120 })
	rec := cut(t, r, Piece{})
	if len(rec.Gaps) != 1 || rec.Gaps[0].From != 11 || rec.Gaps[0].To != 110 {
		t.Errorf("gaps: %+v", rec.Gaps)
	}
	if n := strings.Count(log.String(), "nothing is recorded"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A burst larger than the hub keeps shows as a gap, and the picture is built anew after it.
func TestABurstIsAGap(t *testing.T) {
	w := newWorld(t, 100)
	r := w.open(t.TempDir(), func(c *Config) { c.Every = 50 * time.Millisecond })
	defer r.Close()
	eventually(t, "begun", func() bool { return r.Stats().Segments == 1 })
	for range 200 {
		w.tell(100)
	}
	eventually(t, "noted", func() bool { return r.Stats().Gaps > 0 })
	eventually(t, "in the piece", func() bool { return len(cut(t, r, Piece{}).Gaps) > 0 })
}

// No name is left in any kind of event: every string of every kind is filled with a name of its own.
func TestMaskingLeavesNoName(t *testing.T) {
	n := 0
	var names []string
	name := func() string {
		n++
		s := fmt.Sprintf("Zq%d-secret.host", n)
		names = append(names, s)
		return s
	}
	var events []event.Event
	for _, kind := range event.Kinds() {
		body := reflect.New(reflect.TypeOf(event.Zero(kind))).Elem()
		fill(body, name)
		walk(body, "", func(field string, _ reflect.Value) {
			if classes[field] == "" {
				t.Errorf("%s.%s: nobody says what kind of name it holds; say it in classes", kind, field)
			}
		})
		events = append(events, event.Event{Seq: int64(len(events) + 1), Group: name(), Body: body.Interface().(event.Body)})
	}
	m := newMasker(true)
	for i := range events {
		m.learn(&events[i])
	}
	m.learned()
	for i := range events {
		e, err := m.mask(events[i])
		if err != nil {
			t.Fatal(err)
		}
		text, _ := e.AppendJSON(nil)
		if at := bytes.Index(text, []byte("Zq")); at >= 0 || bytes.Contains(text, []byte("secret")) {
			t.Errorf("a name is left: %s", text)
		}
	}
}

// fill gives every plain string a name, and every slice one element.
func fill(v reflect.Value, name func() string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(name())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), name)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	}
}

func TestMaskingKeepsRelations(t *testing.T) {
	all := []event.Event{
		{Group: "billing", Body: event.MemberAdded{Member: "billing-worker-1-a1b2", ClientID: "billing-worker-1", ClientHost: "/10.1.2.3", Protocols: []string{"range", "mine"}, Topics: []string{"orders"}}},
		{Group: "billing", Body: event.OperationTested{Key: "GroupJoin billing", Lacks: "2 of 3 rejoined, missing billing-worker-1-a1b2"}},
		{Group: "billing", Body: event.MemberRemoved{Member: "billing-worker-1-a1b2", Why: event.WhyMemberLeft, ClientReason: "the consumer is being closed"}},
	}
	m := newMasker(false)
	for i := range all {
		m.learn(&all[i])
	}
	m.learned()
	var got []string
	for _, e := range all {
		c, err := m.mask(e)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := c.AppendJSON(nil)
		got = append(got, string(text))
	}
	for i, want := range []string{`"group":"group-1","kind":"MemberAdded","body":{"member":"client-1-m1","clientId":"client-1","clientHost":"host-1"`,
		`"key":"GroupJoin group-1","lacks":"2 of 3 rejoined, missing client-1-m1"`, `"member":"client-1-m1","why":"member left","clientReason":"the consumer is being closed"`} {
		if !strings.Contains(got[i], want) {
			t.Errorf("%s\nhas no %s", got[i], want)
		}
	}
	if !strings.Contains(got[0], `"protocols":["range","protocol-1"],"topics":["orders"]`) {
		t.Error(got[0])
	}
	if s := fmt.Sprint(all[0].Body); !strings.Contains(s, "10.1.2.3") {
		t.Error("the event itself was changed")
	}
}
