package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grouplab/coordinator/event"
	"grouplab/lessons/render"
	"grouplab/server/live"
	"grouplab/server/web/pages"
)

// TestMain waits for goroutines that are about to end: on a busy machine that may take a while.
func TestMain(m *testing.M) {
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

const (
	token = "0123456789abcdef0123456789abcdef"
	nowMs = 1_700_000_000_000
	nasty = `<script>alert(1)</script>"'&` + "\u2028"
)

// book holds two lessons that try to break out of their pages.
var book = pages.Of([]render.Lesson{lessonOf("first-member", 2), lessonOf("unclean-restart", 8)})

func lessonOf(id string, number int) render.Lesson {
	said := render.Text{En: nasty, Zh: "中文" + nasty}
	html := render.Text{En: "<p>en</p>", Zh: "<p>zh</p>"}
	return render.Lesson{ID: id, Number: number, Script: "setup\n  # </script><script>alert(1)</script><!--\n", Title: said, Summary: said,
		Steps: []render.Step{{Name: "look", Title: said, HTML: html, Hints: []render.Text{html}, Question: &render.Question{Name: "end", AskHTML: html,
			Options: []render.Option{{ID: "a", HTML: html, WhyHTML: html}, {ID: "b", HTML: html, WhyHTML: html}}}}},
		Goals: []render.Named{{Name: "stable", HTML: html, Plain: said}}}
}

// control stands in for the cluster; it remembers what it was told.
type control struct{ told []string }

func (c *control) say(format string, args ...any) {
	c.told = append(c.told, fmt.Sprintf(format, args...))
}

func (c *control) KillBroker(id int32) error {
	switch {
	case id > 3:
		return fmt.Errorf("%w broker %d; there are 1 to 3", ErrUnknown, id)
	case id == 3:
		return errors.New("broker 3 is down already")
	}
	c.say("kill %d", id)
	return nil
}

func (c *control) RestartBroker(id int32) error { c.say("restart %d", id); return nil }

func (c *control) AddPartitions(topic string, total int32) error {
	if topic == nasty {
		return fmt.Errorf("%w topic %q", ErrUnknown, topic)
	}
	c.say("partitions %s %d", topic, total)
	return nil
}

func (c *control) MoveLeader(topic string, partition, to int32) error {
	if topic == nasty {
		return fmt.Errorf("%w topic %q", ErrUnknown, topic)
	}
	c.say("move %s %d %d", topic, partition, to)
	return nil
}

func (c *control) StartDemo(n int) ([]string, error) {
	if n > 16 {
		return nil, errors.New("at most 16 demo consumers run at once")
	}
	c.say("start %d", n)
	return []string{"demo-1"}, nil
}

func (c *control) KillDemo(name string) error { c.say("kill %s", name); return nil }
func (c *control) StopDemo(name string) error { c.say("stop %s", name); return nil }
func (c *control) Demo() []DemoClient         { return []DemoClient{{Name: "demo-1", Running: true}} }

func (c *control) Probe(_ context.Context, group, member string) ([]Probed, error) {
	if group != "orders-svc" {
		return nil, fmt.Errorf("%w group %q", ErrUnknown, group)
	}
	return []Probed{{API: 12, Code: 27, Guard: "state is PreparingRebalance"}, {API: 11, Parked: true, Until: member}}, nil
}

// lab is a server with a small cluster that stands still.
type lab struct {
	*Server
	control *control
	hub     *live.Hub
	numbers event.Numbers
	asked   int
	many    bool // there are too many groups to tell of all
	sick    error
}

func newLab(t testing.TB, hubConfig live.Config) *lab {
	l := &lab{control: &control{}}
	hubConfig.Facts = func(ctx context.Context) (live.Snapshot, error) {
		if l.many {
			return live.Snapshot{}, live.ErrTooMany
		}
		return l.facts(ctx)
	}
	hubConfig.GroupFacts = func(ctx context.Context, group string) (live.Snapshot, error) {
		s, err := l.facts(ctx)
		if group == "pay/ments" || group == nasty { // of which only the history knows
			last := len(s.Events) - 1
			s.Events = append(s.Events[:last:last], event.Event{Seq: s.Seq, Broker: 1, Group: group, Body: event.GroupLoaded{State: event.Stable}}, s.Events[last])
		}
		return s, err
	}
	hubConfig.NowMs = func() int64 { return nowMs }
	l.hub = live.New(hubConfig)
	t.Cleanup(l.hub.Close)
	l.Server = newServer(Config{Hub: l.hub, Control: l.control, Token: token, Kafka: []string{"127.0.0.1:9092"}, Hosts: []string{"Lab.Example"},
		Health: func(context.Context) error { return l.sick }}, book)
	return l
}

func (l *lab) event(group string, b event.Body) event.Event {
	return event.Event{Seq: l.numbers.Next(), AtMs: nowMs - 1000, Broker: 1, Group: group, Body: b}
}

func (l *lab) publish(group string, bodies ...event.Body) {
	var batch []event.Event
	for _, b := range bodies {
		batch = append(batch, l.event(group, b))
	}
	l.Observe(batch)
	l.hub.Publish(batch)
}

// facts tell of three brokers and two groups; orders-svc waits for a ghost.
func (l *lab) facts(context.Context) (live.Snapshot, error) {
	l.asked++
	s := live.Snapshot{Seq: l.numbers.Last(), NowMs: nowMs}
	say := func(broker int32, group string, b event.Body) {
		s.Events = append(s.Events, event.Event{Seq: s.Seq, AtMs: nowMs - 4000, Broker: broker, Group: group, Body: b})
	}
	say(0, "", event.FactsBegan{NowMs: nowMs})
	for id := int32(1); id <= 3; id++ {
		say(id, "", event.BrokerStarted{ID: id, Host: "127.0.0.1", Port: 9091 + id})
	}
	say(0, "", event.TopicCreated{Topic: "orders", Partitions: 6, Replicas: 3})
	say(0, "", event.LeaderChanged{Topic: "__consumer_offsets", Partition: 26, Leader: 1, Epoch: 4, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2}})
	say(1, "", event.HighWatermarkAdvanced{Topic: "__consumer_offsets", Partition: 26, Offset: 116, EndOffset: 117})
	say(1, "", event.LoadFinished{Partition: 26, Epoch: 4, Groups: 2})
	say(1, "orders-svc", event.GroupLoaded{State: event.PreparingRebalance, SinceMs: nowMs - 3000, Generation: 4, ProtocolType: "consumer",
		Protocol: "range", Leader: "c1-a", Partition: 26, Began: event.WhyNewMember, BeganMember: "c1-a", BeganMs: nowMs - 3000})
	for i, name := range []string{"c1", "c3"} {
		say(1, "orders-svc", event.MemberAdded{Member: name + "-a", ClientID: name, ClientHost: "/127.0.0.1", SessionTimeoutMs: 10000,
			RebalanceTimeoutMs: 60000, Protocols: []string{"range"}, Topics: []string{"orders"}, Loaded: true})
		say(1, "orders-svc", event.OperationWatched{Op: int64(i + 1), Type: event.DelayedHeartbeat, Keys: []string{"k"}, Member: name + "-a",
			StartMs: nowMs - 4900, DeadlineMs: nowMs + 5100})
	}
	say(1, "orders-svc", event.ReplyParked{Ticket: 7, API: 11, Member: "c1-a", SinceMs: nowMs - 3000, Until: "everyone has rejoined"})
	say(1, "orders-svc", event.OperationWatched{Op: 9, Type: event.DelayedJoin, Keys: []string{"j"}, StartMs: nowMs - 3000, DeadlineMs: nowMs + 57000, DeadlineOf: "c1-a"})
	say(1, "orders-svc", event.OffsetsCommitted{BaseOffset: 112, Offsets: []event.OffsetValue{{Topic: "orders", Offset: 3448, LeaderEpoch: -1}}, Loaded: true})
	say(1, nasty, event.GroupLoaded{State: event.Empty, SinceMs: nowMs - 9000, Generation: 2, Partition: 3})
	say(0, "", event.FactsEnded{})
	return s, nil
}

// ask sends a request as a browser on this machine would.
func (l *lab) ask(method, target string, change ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:8080"
	r.RemoteAddr = "127.0.0.1:50000"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Result()
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func body(text string) func(*http.Request) {
	return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
}

func withToken(r *http.Request) { r.Header.Set(TokenHeader, token) }

func text(t testing.TB, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// refused demands an error in JSON with that status and those words.
func refused(t testing.TB, r *http.Response, status int, words string) {
	t.Helper()
	raw := text(t, r)
	var p problem
	if err := json.Unmarshal([]byte(raw), &p); err != nil {
		t.Errorf("the error is no JSON: %v in %s", err, raw)
	}
	if r.StatusCode != status || !strings.Contains(p.Error, words) || p.Hint == "" {
		t.Errorf("answered %d %+v, want %d and %q with a hint", r.StatusCode, p, status, words)
	}
	if strings.ContainsAny(raw, "<>\u2028") {
		t.Errorf("markup went through: %s", raw)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("the error's type is %s", got)
	}
}

func TestEveryAnswerIsHardened(t *testing.T) {
	l := newLab(t, live.Config{})
	for _, target := range []string{"/", "/live", "/gallery", "/lab/unclean-restart", "/lab/nothing", "/nothing", "/api/state", "/api/nothing",
		"/api/events", "/metrics", "/healthz", "/assets/icon.svg", "/assets/nothing.css"} {
		for _, host := range []string{"127.0.0.1:8080", "evil.example"} {
			r := l.ask("GET", target, func(r *http.Request) { r.Host = host })
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
					"img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
				"X-Content-Type-Options":       "nosniff",
				"Referrer-Policy":              "same-origin",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
				"Access-Control-Allow-Origin":  "",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s asked of %s: %s is %q", target, host, name, got)
				}
			}
			if r.Header.Get("Content-Type") == "" {
				t.Errorf("%s has no content type", target)
			}
		}
	}
}

func TestHosts(t *testing.T) {
	l := newLab(t, live.Config{})
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "localhost": 200, "localhost:8080": 200, "LOCALHOST:1": 200, "[::1]:8080": 200, "::1": 200, "192.168.1.7:8080": 200,
		"lab.example:8080": 200, "a.localhost:8080": 200, "localhost.:8080": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "": 421, "1.2.3": 421,
	} {
		r := l.ask("GET", "/api/state", func(r *http.Request) { r.Host = host })
		if r.StatusCode != want {
			t.Errorf("Host %q: %d, want %d", host, r.StatusCode, want)
		}
		if want == 421 {
			refused(t, r, 421, "is not known as")
		}
	}
	if r := l.ask("GET", "/healthz", func(r *http.Request) { r.Host = "lab.svc.cluster.local" }); r.StatusCode != 200 {
		t.Errorf("a health check under another name: %d", r.StatusCode)
	}
}

func TestMethods(t *testing.T) {
	l := newLab(t, live.Config{})
	for target, allow := range map[string]string{
		"/": "GET, HEAD", "/live": "GET, HEAD", "/gallery": "GET, HEAD", "/lab/unclean-restart": "GET, HEAD", "/api/state": "GET, HEAD",
		"/api/events": "GET, HEAD", "/api/live": "GET, HEAD", "/api/probe": "GET, HEAD", "/metrics": "GET, HEAD", "/healthz": "GET, HEAD",
		"/assets/icon.svg": "GET, HEAD", "/sw.js": "GET, HEAD", "/api/demo": "GET, HEAD",
		"/api/brokers/1/kill": "POST", "/api/topics/orders/partitions": "POST",
	} {
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", map[string]string{"POST": "GET", "GET, HEAD": "TRACE"}[allow]} {
			r := l.ask(method, target, withToken)
			refused(t, r, http.StatusMethodNotAllowed, method+" is not possible here")
			if got := r.Header.Get("Allow"); got != allow {
				t.Errorf("%s %s: Allow is %q, want %q", method, target, got, allow)
			}
		}
	}
	if len(l.control.told) != 0 {
		t.Errorf("the cluster was told %v", l.control.told)
	}
	for _, target := range []string{"/", "/api/state", "/api/events", "/assets/icon.svg"} {
		if r := l.ask("HEAD", target); r.StatusCode != 200 {
			t.Errorf("HEAD %s: %d", target, r.StatusCode)
		}
	}
}

func TestHealth(t *testing.T) {
	l := newLab(t, live.Config{})
	if r := l.ask("GET", "/healthz"); r.StatusCode != 200 || text(t, r) != "ok\n" {
		t.Errorf("healthy: %s", r.Status)
	}
	l.sick = errors.New("the loop did not answer")
	if r := l.ask("GET", "/healthz"); r.StatusCode != 503 || text(t, r) != "the loop did not answer\n" {
		t.Errorf("sick: %s", r.Status)
	}
}
