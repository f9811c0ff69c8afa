package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/web"
)

// said collects lines of the log.
type said struct {
	mu   sync.Mutex
	text []string
}

func (s *said) logf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, fmt.Sprintf(format, args...))
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.text, "\n")
}

// TestStartSaysHowFarItIs: a server that reads what an earlier one kept says how much of it is read and loaded.
func TestStartSaysHowFarItIs(t *testing.T) {
	defer func(usual time.Duration) { progressEvery = usual }(progressEvery)
	progressEvery = 0
	cfg := Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []Topic{{"orders", 3}}, Data: t.TempDir(), Set: []string{"offsets.topic.num.partitions=2"}}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: make([]byte, 10_000)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var offsets kadm.Offsets
	offsets.AddOffset("orders", 0, 1, -1)
	for i := range 20 {
		if err := kadm.NewClient(cl).CommitAllOffsets(ctx, fmt.Sprint("group-", i), offsets); err != nil {
			t.Fatal(err)
		}
	}
	cl.Close()
	s.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	var log said
	cfg.Logf = log.logf
	again, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	for _, part := range []string{"reading the logs: 100 % (", "loading groups and offsets: 100 % (20 of 20 records)", "were read and the groups loaded, in"} {
		if !strings.Contains(log.all(), part) {
			t.Errorf("no line says %q:\n%s", part, log.all())
		}
	}
}

// TestFrontWhileStarting: until the lab is there everything is answered 503, with how far the start is.
func TestFrontWhileStarting(t *testing.T) {
	now := web.Progress{Phase: "reading the logs", Done: 30, Total: 120, Unit: "bytes"}
	front := web.NewFront(func() web.Progress { return now })
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
		return w
	}
	for path, says := range map[string]string{"/healthz": "not ready: reading the logs: 25 % (30 of 120 bytes)", "/": `value="25"`, "/live": "reading the logs: 25 %", "/metrics": "not ready"} {
		if text := get(path).Body.String(); !strings.Contains(text, says) {
			t.Errorf("%s says %q, not %q", path, text, says)
		}
	}
	var state struct {
		Error    string
		Starting web.Progress
	}
	if err := json.Unmarshal(get("/api/state").Body.Bytes(), &state); err != nil || state.Starting != now || state.Error == "" {
		t.Errorf("/api/state: %+v, %v", state, err)
	}
}

// TestPageWhileStarting: the page answers from the moment that its port is taken.
func TestPageWhileStarting(t *testing.T) {
	s, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	ready := func() int {
		answer, err := http.Get(s.URL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if code := ready(); code != http.StatusServiceUnavailable {
		t.Errorf("before it runs it answers %d", code)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	for end := time.Now().Add(patience); ready() != http.StatusOK; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is never ready")
		}
	}
	http.DefaultClient.CloseIdleConnections()
	s.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
