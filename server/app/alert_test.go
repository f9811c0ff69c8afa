package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/history"
)

// receiver is an HTTP server that is told of alerts; answer says what it does with each.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []alertMessage
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool) *receiver {
	rec := &receiver{}
	var n atomic.Int64
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m alertMessage
		err := json.NewDecoder(r.Body).Decode(&m)
		if err == nil && answer(int(n.Add(1)), w, r) {
			rec.mu.Lock()
			rec.got = append(rec.got, m)
			rec.mu.Unlock()
		}
	}))
	t.Cleanup(rec.Close)
	return rec
}

func takes(int, http.ResponseWriter, *http.Request) bool { return true }

func (rec *receiver) told() (list []string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, m := range rec.got {
		list = append(list, m.Event+" "+m.Group)
	}
	return list
}

// wards are groups that wait, or do not.
type wards struct {
	mu    sync.Mutex
	waits []history.Wait
	nowMs int64
}

func (w *wards) set(nowMs int64, waits ...history.Wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nowMs, w.waits = nowMs, waits
}

func (w *wards) look() ([]history.Wait, int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waits, w.nowMs, nil
}

// notes is a log that is read while it is written.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// watch runs alerts of an address, with short pauses, until the test ends.
func watch(t *testing.T, url string, w *wards) (a *alerts, log *notes) {
	log = &notes{}
	a = newAlerts(Alert{URL: url, After: time.Minute}, "http://lab.example", slog.New(slog.NewTextHandler(log, nil)), w.look)
	a.every, a.wait = time.Millisecond, time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); a.run(ctx) }()
	t.Cleanup(func() { stop(); <-done; a.client.CloseIdleConnections() })
	return a, log
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestAlertOnceAndWhenItIsOver: a group is told of once it has been stuck for long enough, and when it serves again.
func TestAlertOnceAndWhenItIsOver(t *testing.T) {
	rec, w := newReceiver(t, takes), &wards{}
	ghost := history.Wait{Group: "or/ders svc", State: event.PreparingRebalance, SinceMs: 1000, Awaited: []string{"c3-8805"}, Waiting: 1, DeadlineMs: 66_000,
		Why: event.WhyNewMember, Member: "c3-2993", Generation: 7, Coordinator: 2}
	w.set(60_999, ghost)
	_, log := watch(t, rec.URL, w)
	time.Sleep(20 * time.Millisecond)
	if told := rec.told(); len(told) > 0 {
		t.Fatalf("too early: %v", told)
	}
	w.set(61_000, ghost)
	eventually(t, "stuck", func() bool { return len(rec.told()) == 1 })
	w.set(62_000, ghost, history.Wait{Group: "other", SinceMs: 61_500})
	time.Sleep(20 * time.Millisecond)
	w.set(70_000, history.Wait{Group: "other", SinceMs: 61_500})
	eventually(t, "over", func() bool { return len(rec.told()) == 2 })
	stuck, over := rec.got[0], rec.got[1]
	want := alertMessage{Event: "stuck", Group: ghost.Group, State: ghost.State, SinceMs: 1000, Awaited: []string{"c3-8805"}, Waiting: 1, DeadlineMs: 66_000,
		Why: event.WhyNewMember, Member: "c3-2993", Generation: 7, Coordinator: 2, URL: "http://lab.example/live/?group=or%2Fders+svc"}
	if got, _ := json.Marshal(stuck); string(got) != string(must(json.Marshal(want))) {
		t.Errorf("told %s", got)
	}
	if over.Event != "over" || over.SinceMs != 1000 || over.OverMs != 70_000 || log.String() != "" {
		t.Errorf("over: %+v, log %s", over, log)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// TestAlertReceiverThatFails is tried again, a few times; one that says no is not.
func TestAlertReceiverThatFails(t *testing.T) {
	for _, c := range []struct {
		name        string
		answer      func(n int, w http.ResponseWriter, r *http.Request) bool
		told, tries int64
		log         string
	}{
		{"recovers", func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n < 3 {
				w.WriteHeader(503)
			}
			return n >= 3
		}, 1, 3, ""},
		{"is down", func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return false }, 0, alertTries, "it answered 500"},
		{"says no", func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(403); return false }, 0, 1, "it answered 403"},
		{"sends elsewhere", func(_ int, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://localhost.elsewhere.example/steal", http.StatusTemporaryRedirect)
			return false
		}, 0, 1, "another place"},
		{"drops what is told", func(_ int, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "/there", http.StatusFound)
			return false
		}, 0, 1, "redirects with 302"},
		{"moved within", func(n int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/there" {
				http.Redirect(w, r, "/there", http.StatusPermanentRedirect)
			}
			return r.URL.Path == "/there"
		}, 1, 2, ""},
		{"breaks off", func(_ int, w http.ResponseWriter, _ *http.Request) bool { panic(http.ErrAbortHandler) }, 0, alertTries, "EOF"},
		{"talks without end", func(n int, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write(make([]byte, 1<<20))
			return true
		}, 1, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries atomic.Int64
			rec := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
				tries.Add(1)
				return c.answer(n, w, r)
			})
			w := &wards{}
			w.set(100_000, history.Wait{Group: "g", SinceMs: 1})
			a, log := watch(t, strings.Replace(rec.URL, "http://", "http://user:hunter2@", 1)+"/hook?key=hunter2", w)
			eventually(t, "an end", func() bool { f := a.figures(); return f.Sent+f.Failed == 1 })
			eventually(t, "what was told", func() bool { return int64(len(rec.told())) >= c.told })
			f := a.figures()
			if f.Sent != c.told || tries.Load() != c.tries || int64(len(rec.told())) != c.told {
				t.Errorf("%+v after %d tries, told %v", f, tries.Load(), rec.told())
			}
			if said := log.String(); !strings.Contains(said, c.log) || strings.Contains(said, "hunter2") || c.log == "" && said != "" {
				t.Errorf("the log says %s", said)
			}
		})
	}
}

// TestAlertReceiverThatHangs holds nobody up: the queue is bounded, and what did not fit is told later, once.
func TestAlertReceiverThatHangs(t *testing.T) {
	release := make(chan struct{})
	rec := newReceiver(t, func(n int, _ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return true
	})
	w := &wards{}
	var waits []history.Wait
	for i := range 3 * alertsQueued {
		waits = append(waits, history.Wait{Group: strings.Repeat("g", 1+i%7) + string(rune('a'+i%26)) + time.Duration(i).String(), SinceMs: 1})
	}
	w.set(100_000, waits...)
	a, _ := watch(t, rec.URL, w)
	eventually(t, "a full queue", func() bool { return a.figures().Queued == alertsQueued })
	close(release)
	eventually(t, "all told", func() bool { return a.figures().Sent == int64(len(waits)) })
	eventually(t, "all heard", func() bool { return len(rec.told()) == len(waits) })
	told := rec.told()
	slices.Sort(told)
	if n := len(slices.Compact(told)); n != len(waits) {
		t.Errorf("%d groups of %d were told", n, len(waits))
	}
}

func TestAlertFlags(t *testing.T) {
	for _, c := range []struct {
		alert Alert
		say   string
	}{
		{Alert{URL: "ftp://x/y", After: time.Minute}, "https://alerts.example"}, {Alert{URL: "hook?secret", After: time.Minute}, "https://alerts.example"},
		{Alert{URL: "https://x/y", After: time.Millisecond}, "a second or more"}, {Alert{URL: "https://x/y", After: time.Second}, ""}, {Alert{}, ""},
	} {
		err := c.alert.check()
		if (err == nil) != (c.say == "") || err != nil && (!strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v", c.alert, err)
		}
	}
}
