package live

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nhooyr.io/websocket"

	"grouplab/coordinator/event"
)

// audience is what a process of its own plays: viewers over real sockets.
type audience struct {
	Addr string
	// Viewers read and look at nothing; Samples look at each event: whether one is missing and how old it is; they leave and
	// come back now and then, and go on where they were.
	Viewers, Samples int
	// Bad is how many of each kind are slow, dead and hostile.
	Bad int
	// Deflate offers compression, for all that read.
	Deflate bool
}

// heard is what the samples say.
type heard struct {
	P50, P99, Max time.Duration
	Events, Holes int64
	Gaps, Resumed int64
	Failed        []string
}

const audienceEnv = "GROUPLAB_LIVE_AUDIENCE"

// playAudience is the program of the process with the viewers.
func playAudience(what string) {
	var a audience
	if err := json.Unmarshal([]byte(what), &a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	for range a.Bad {
		go a.slow(ctx)
		go a.dead(ctx)
		go a.hostile(ctx)
	}
	var others, samples sync.WaitGroup
	for range a.Viewers {
		others.Go(func() { a.reads(ctx) })
	}
	var all heard
	var mu sync.Mutex
	var ages []time.Duration
	for range a.Samples {
		samples.Go(func() {
			s := sample{a: &a}
			err := s.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			ages = append(ages, s.ages...)
			all.Events, all.Holes, all.Gaps, all.Resumed = all.Events+s.events, all.Holes+s.holes, all.Gaps+s.gaps, all.Resumed+s.resumed
			if err != nil {
				all.Failed = append(all.Failed, err.Error())
			}
		})
	}
	samples.Wait()
	slices.Sort(ages)
	if n := len(ages); n > 0 {
		all.P50, all.P99, all.Max = ages[n/2], ages[n*99/100], ages[n-1]
	}
	_ = json.NewEncoder(os.Stdout).Encode(all)
	os.Exit(0)
}

func (a *audience) dial() (net.Conn, error) {
	c, err := net.Dial("tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	extension := ""
	if a.Deflate {
		extension = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; server_no_context_takeover\r\n"
	}
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n%s\r\n", extension)
	return c, nil
}

func (a *audience) reads(context.Context) {
	if c, err := a.dial(); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// slow takes a little now and then, through as small a buffer as there is.
func (a *audience) slow(ctx context.Context) {
	c, err := a.dial()
	if err != nil {
		return
	}
	_ = c.(*net.TCPConn).SetReadBuffer(2048)
	for b := make([]byte, 512); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

// dead shakes hands and never does anything again, nor hangs up.
func (a *audience) dead(ctx context.Context) {
	if c, err := a.dial(); err == nil {
		_ = c.(*net.TCPConn).SetReadBuffer(2048)
		<-ctx.Done()
		_ = c.Close()
	}
}

// hostile floods with pings, sends rubbish, or half of a handshake, and begins again when it is shown out.
func (a *audience) hostile(ctx context.Context) {
	flood := bytes.Repeat(append([]byte{0x89, 0x80 | 125, 0, 0, 0, 0}, make([]byte, 125)...), 2000) // pings
	rubbish := bytes.Repeat([]byte("\xff\xff\xff\xff rubbish"), 2000)
	for n := 0; ctx.Err() == nil; n++ {
		var c net.Conn
		var err error
		if n%3 == 2 {
			if c, err = net.Dial("tcp", a.Addr); err == nil {
				_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: web")
			}
		} else {
			c, err = a.dial()
		}
		if err == nil && n%3 < 2 {
			_, _ = c.Write([][]byte{flood, rubbish}[n%3])
		}
		time.Sleep(100 * time.Millisecond)
		if c != nil {
			_ = c.Close()
		}
	}
}

// sample is a viewer that looks at what it is sent.
type sample struct {
	a                            *audience
	world                        string
	seq                          int64
	ages                         []time.Duration
	events, holes, gaps, resumed int64
}

var errSeenAll = errors.New("the last event was seen")

func (s *sample) run(ctx context.Context) error {
	for {
		err := s.watch(ctx)
		if errors.Is(err, errSeenAll) {
			return nil
		}
		if err != nil {
			return err
		}
		s.resumed++
	}
}

// watch reads until it has seen the last event, or has read for a while.
func (s *sample) watch(ctx context.Context) error {
	mode := websocket.CompressionDisabled
	if s.a.Deflate {
		mode = websocket.CompressionNoContextTakeover
	}
	url := fmt.Sprintf("ws://%s/?world=%s", s.a.Addr, s.world)
	if s.seq > 0 {
		url += fmt.Sprintf("&from=%d", s.seq+1)
	}
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{CompressionMode: mode})
	if err != nil {
		return err
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(1 << 20)
	leave := time.Now().Add(time.Duration(700+rand.IntN(1500)) * time.Millisecond)
	for s.seq == 0 || time.Now().Before(leave) {
		_, text, err := c.Read(ctx)
		if err != nil {
			return err
		}
		if err := s.take(text); err != nil {
			return err
		}
	}
	return nil
}

func (s *sample) take(text []byte) error {
	now := time.Now()
	var m struct {
		Hello  *struct{ World string }
		Gap    *struct{}
		Events []struct {
			Seq  int64
			Kind string
			Body struct{ Text string }
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if m.Hello != nil {
		s.world = m.Hello.World
	}
	if m.Gap != nil {
		s.gaps++
	}
	for _, e := range m.Events {
		switch e.Kind {
		case "FactsEnded":
			s.seq = e.Seq
		case "InputGiven":
			if s.seq > 0 && e.Seq != s.seq+1 {
				s.holes++
			}
			s.seq = e.Seq
			s.events++
			if e.Body.Text == "end" {
				return errSeenAll
			}
			if ns, err := strconv.ParseInt(e.Body.Text[:19], 10, 64); err == nil {
				s.ages = append(s.ages, now.Sub(time.Unix(0, ns)))
			}
		}
	}
	return nil
}

// stadium is a hub with an audience.
type stadium struct {
	hub     *Hub
	numbers event.Numbers
	mu      sync.Mutex
	site    *httptest.Server
	cut     atomic.Int64
}

func newStadium(t testing.TB, cfg Config) *stadium {
	s := &stadium{}
	cfg.NowMs = func() int64 { return time.Now().UnixMilli() }
	cfg.Facts = func(context.Context) (Snapshot, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		seq := s.numbers.Last()
		return Snapshot{Seq: seq, Events: []event.Event{{Seq: seq, Body: event.FactsBegan{}}, {Seq: seq, Body: event.FactsEnded{}}}}, nil
	}
	s.hub = New(cfg)
	s.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		from, _ := strconv.ParseInt(q.Get("from"), 10, 64)
		if err := s.hub.Serve(w, r, Request{From: from, World: q.Get("world")}); err != nil {
			s.cut.Add(1)
		}
	}))
	s.site.Config.ErrorLog = nil
	t.Cleanup(func() { s.hub.Close(); s.site.CloseClientConnections(); s.site.Close() })
	return s
}

func (s *stadium) publish(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch []event.Event
	for _, text := range texts {
		batch = append(batch, event.Event{Seq: s.numbers.Next(), AtMs: time.Now().UnixMilli(), Broker: 1, Body: event.InputGiven{Text: text}})
	}
	s.hub.Publish(batch)
}

// padding makes an event as long as most are.
var padding = strings.Repeat(".", 100)

// play seats the audience, publishes so many events a second for a while and returns what the samples heard, and the bytes of
// memory that a viewer took.
func (s *stadium) play(t testing.TB, a audience, perSecond int, long time.Duration) (h heard, memory float64) {
	t.Helper()
	before := inUse()
	a.Addr = strings.TrimPrefix(s.site.URL, "http://")
	what, _ := json.Marshal(a)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), audienceEnv+"="+string(what))
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seats := int64(a.Viewers + a.Samples + 2*a.Bad)
	s.publish("0")
	for end := time.Now().Add(patience); s.hub.Stats().Viewers < seats; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatalf("only %d viewers came; %s", s.hub.Stats().Viewers, complaints.String())
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	texts := make([]string, perSecond/100)
	for end := time.Now().Add(long); time.Now().Before(end); <-tick.C {
		for i := range texts {
			texts[i] = strconv.FormatInt(time.Now().UnixNano(), 10) + padding
		}
		s.publish(texts...)
		if left := time.Until(end); memory == 0 && left < long/2 {
			memory = float64(inUse()-before) / float64(s.hub.Stats().Viewers)
		}
	}
	s.publish("end")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the audience: %v; %s", err, complaints.String())
	}
	if err := json.Unmarshal(out.Bytes(), &h); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return h, memory
}

// inUse is the memory that lives, stacks included.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestAudienceWithBadViewers: among slow, dead and hostile viewers the others are sent every event, across leaving and coming
// back, and none is skipped.
func TestAudienceWithBadViewers(t *testing.T) {
	s := newStadium(t, Config{WriteTimeout: 5 * time.Second, MaxLag: 50_000})
	h, memory := s.play(t, audience{Viewers: 60, Samples: 15, Bad: 5}, 1000, 2500*time.Millisecond)
	t.Logf("half of the events within %v, 99 %% within %v; %.0f bytes a viewer; %+v, %+v", h.P50, h.P99, memory, h, s.hub.Stats())
	if len(h.Failed) > 0 || h.Holes > 0 || h.Gaps > 0 || h.Events == 0 {
		t.Errorf("the samples heard %+v", h)
	}
	if h.Resumed == 0 {
		t.Error("nobody left and came back")
	}
	if s.cut.Load() == 0 {
		t.Error("no hostile viewer was shown out")
	}
}

// BenchmarkHub is a thousand viewers at a thousand events a second, over real sockets to a process of their own: how long an
// event travels, what a viewer costs, and how many events were dropped for any; then the same with thirty bad viewers among
// them, and with compression.
func BenchmarkHub(b *testing.B) {
	for _, c := range []struct {
		name string
		a    audience
	}{{"1000", audience{Viewers: 950, Samples: 50}}, {"1000+30bad", audience{Viewers: 950, Samples: 50, Bad: 10}},
		{"1000deflate", audience{Viewers: 950, Samples: 50, Deflate: true}}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStadium(b, Config{MaxViewers: 8000}) // one host may hold half of the places
			before, began := cpu(), time.Now()
			for b.Loop() {
				h, memory := s.play(b, c.a, 1000, 8*time.Second)
				b.ReportMetric(float64(h.P50)/1e6, "ms-p50")
				b.ReportMetric(float64(h.P99)/1e6, "ms-p99")
				b.ReportMetric(memory, "B/viewer")
				b.ReportMetric(float64(h.Gaps+h.Holes), "drops")
				b.ReportMetric(float64(h.Resumed), "resumed")
				if len(h.Failed) > 0 {
					b.Error(h.Failed)
				}
			}
			b.ReportMetric(100*float64(cpu()-before)/float64(time.Since(began)), "%core")
		})
	}
}
