package live

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nhooyr.io/websocket"
)

// patience is for what must come on any machine; it is used up only by tests that fail.
const patience = time.Minute

// site serves a hub and keeps what Serve returned.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	errs []error
}

func serve(t testing.TB, w *world) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		err := w.hub.Serve(rw, r, Request{Group: r.URL.Query().Get("group")})
		if errors.Is(err, ErrFull) || errors.Is(err, ErrClosed) {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, err)
	}))
	t.Cleanup(func() { w.hub.Close(); s.Close(); http.DefaultClient.CloseIdleConnections() })
	return s
}

// ended waits until a viewer's Serve has returned and gives its error.
func (s *site) ended(t *testing.T) error {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		if len(s.errs) > 0 {
			err := s.errs[0]
			s.errs = s.errs[1:]
			s.mu.Unlock()
			return err
		}
		s.mu.Unlock()
	}
	t.Fatalf("the viewer was still served after %v", patience)
	return nil
}

func (s *site) dial(t testing.TB, opts *websocket.DialOptions) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, resp, err := websocket.Dial(ctx, s.URL, opts)
	if err == nil {
		c.SetReadLimit(1 << 20)
		t.Cleanup(func() { _ = c.CloseNow() })
	}
	return c, resp, err
}

// follow reads until the picture reaches the Seq until.
func follow(ctx context.Context, c *websocket.Conn, p *picture, until int64) error {
	for !p.built || p.seq < until {
		_, text, err := c.Read(ctx)
		if err != nil {
			return fmt.Errorf("%w; at event %d of %d", err, p.seq, until)
		}
		if err := p.take(text); err != nil {
			return err
		}
	}
	return nil
}

func TestManyViewersAndSomeHostile(t *testing.T) {
	const viewers, strict, batches = 200, 20, 300
	w := newTestWorld(t, Config{FactsInterval: time.Hour, WriteTimeout: 3 * time.Minute}) // a busy machine makes nobody slow
	s := serve(t, w)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var ready, wg sync.WaitGroup
	pictures := make([]picture, strict)
	watch := func(p *picture, mode websocket.CompressionMode) error {
		c, _, err := s.dial(t, &websocket.DialOptions{CompressionMode: mode})
		if err == nil {
			err = follow(ctx, c, p, 0)
		}
		ready.Done()
		if err == nil {
			err = follow(ctx, c, p, 10*batches)
		}
		return err
	}
	ready.Add(viewers)
	for i := range viewers {
		wg.Go(func() {
			// Most only look for the last event, so that the test measures the hub and not itself.
			p, mode := &picture{lazy: fmt.Appendf(nil, `{"seq":%d,`, 10*batches)}, websocket.CompressionDisabled
			if i < strict {
				p, mode = &pictures[i], websocket.CompressionMode(i%3)
			}
			if err := watch(p, mode); err != nil {
				t.Errorf("viewer %d: %v", i, err)
			}
		})
	}
	ready.Wait()
	for range 5 {
		rawViewer(t, s) // never reads a byte
	}
	began := time.Now()
	took := make([]time.Duration, batches)
	for i := range took {
		at := time.Now()
		w.bump(10)
		took[i] = time.Since(at)
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	slices.Sort(took)
	st := w.hub.Stats()
	t.Logf("%d events to %d viewers in %v; Publish took %v in the middle and %v at the 99th of 100; %+v", 10*batches,
		viewers, time.Since(began), took[batches/2], took[batches*99/100], st)
	if took[batches/2] > time.Second { // those that never read would make it wait for minutes
		t.Errorf("Publish took %v: it waits for viewers", took[batches/2])
	}
	for i := range pictures {
		if p := &pictures[i]; p.groups["a"] != 5*batches || len(p.gaps) != 0 {
			t.Errorf("viewer %d ended with %v, gaps %v", i, p.groups, p.gaps)
		}
	}
	if st.Encoded > 10*batches+50 {
		t.Errorf("%d events and a few facts were encoded %d times", 10*batches, st.Encoded)
	}
}

// rawViewer shakes hands and does nothing more, with as small a receive buffer as there is.
func rawViewer(t testing.TB, s *site) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(2048)
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	return c
}

func TestViewerThatNeverReadsIsCut(t *testing.T) {
	w := newTestWorld(t, Config{MinInterval: time.Microsecond, WriteTimeout: 200 * time.Millisecond, PingInterval: time.Hour}) // on a slow machine a ping would be first
	s := serve(t, w)
	rawViewer(t, s)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				w.bump(500)
				time.Sleep(time.Millisecond)
			}
		}
	})
	err := s.ended(t)
	close(stop)
	wg.Wait()
	if !errors.Is(err, errUnread) || w.hub.Stats().Cut != 1 || w.hub.Stats().Viewers != 0 {
		t.Errorf("ended with %v, %+v", err, w.hub.Stats())
	}
}

func TestViewerThatSpeaksIsShownOut(t *testing.T) {
	w := newTestWorld(t, Config{})
	s := serve(t, w)
	c, _, err := s.dial(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Write(ctx, websocket.MessageText, []byte(`{"subscribe":"*"}`)); err != nil {
		t.Fatal(err)
	}
	err = follow(ctx, c, &picture{}, 1)
	var ce websocket.CloseError
	if !errors.As(err, &ce) || ce.Code != websocket.StatusPolicyViolation || ce.Reason != errSpoke.Error() {
		t.Errorf("it was told %v", err)
	}
	if err := s.ended(t); !errors.Is(err, errSpoke) || w.hub.Stats().Cut != 1 {
		t.Errorf("ended with %v, %+v", err, w.hub.Stats())
	}
}

// A flood of pings is legal by the RFC, and each wants an answer.
func TestViewerThatFloodsIsCut(t *testing.T) {
	w := newTestWorld(t, Config{})
	s := serve(t, w)
	c := rawViewer(t, s)
	go func() { _, _ = io.Copy(io.Discard, c) }()
	ping := append([]byte{0x89, 0x80 | 125, 0, 0, 0, 0}, make([]byte, 125)...)
	out := bufio.NewWriter(c)
	sent := 0
	for ; sent < 10_000; sent++ {
		if _, err := out.Write(ping); err != nil {
			break
		}
	}
	if err := s.ended(t); !errors.Is(err, errFlood) || w.hub.Stats().Cut != 1 {
		t.Errorf("after %d pings it ended with %v, %+v", sent, err, w.hub.Stats())
	}
}

func TestViewerThatIsNotThereIsCut(t *testing.T) {
	w := newTestWorld(t, Config{PingInterval: 20 * time.Millisecond, WriteTimeout: 100 * time.Millisecond})
	s := serve(t, w)
	c := rawViewer(t, s)
	go func() { _, _ = io.Copy(io.Discard, c) }() // takes everything, answers nothing
	if err := s.ended(t); !errors.Is(err, errSilent) || w.hub.Stats().Cut != 1 {
		t.Errorf("ended with %v, %+v", err, w.hub.Stats())
	}
}

func TestViewerThatLeavesIsNotCut(t *testing.T) {
	w := newTestWorld(t, Config{PingInterval: 20 * time.Millisecond})
	s := serve(t, w)
	for _, leave := range []func(*websocket.Conn) error{
		func(c *websocket.Conn) error { return c.Close(websocket.StatusNormalClosure, "") },
		func(c *websocket.Conn) error { return c.CloseNow() },
	} {
		c, _, err := s.dial(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := follow(context.Background(), c, &picture{}, 0); err != nil {
			t.Fatal(err)
		}
		if err := leave(c); err != nil {
			t.Fatal(err)
		}
		if err := s.ended(t); err != nil || w.hub.Stats().Cut != 0 {
			t.Errorf("ended with %v, %+v", err, w.hub.Stats())
		}
	}
}

// How long Close takes is measured until it is quick once: the machine may be busy.
func TestCloseSaysGoodbyeAndWaitsForNobody(t *testing.T) {
	took := closing(t)
	for try := 1; took > 3*time.Second && try < 5; try++ {
		took = closing(t)
	}
	if took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func closing(t *testing.T) (took time.Duration) {
	w := newTestWorld(t, Config{})
	s := serve(t, w)
	c, _, err := s.dial(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := follow(context.Background(), c, &picture{}, 0); err != nil {
		t.Fatal(err)
	}
	rawViewer(t, s) // will answer no close frame
	for w.hub.Stats().Viewers != 2 {
		time.Sleep(time.Millisecond)
	}
	told := make(chan error)
	go func() { told <- follow(context.Background(), c, &picture{hello: map[string]any{}}, 1) }()
	began := time.Now()
	w.hub.Close()
	took = time.Since(began)
	if err := <-told; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the viewer was told %v", err)
	}
	if _, resp, err := s.dial(t, nil); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a viewer after Close: %v, %v", resp, err)
	}
	return took
}

func TestFactsThatFailEndTheViewer(t *testing.T) {
	w := newTestWorld(t, Config{})
	w.fail = errors.New("the loop is closed")
	s := serve(t, w)
	c, _, err := s.dial(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := follow(context.Background(), c, &picture{}, 1); websocket.CloseStatus(err) != websocket.StatusInternalError {
		t.Errorf("the viewer was told %v", err)
	}
	if err := s.ended(t); err == nil || !strings.Contains(err.Error(), "the loop is closed") {
		t.Errorf("the host was told %v", err)
	}
}

func TestHandshake(t *testing.T) {
	w := newTestWorld(t, Config{})
	s := serve(t, w)
	if _, resp, err := s.dial(t, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page got in: %v", err)
	}
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a plain GET was answered %s", resp.Status)
	}
	c, resp, err := s.dial(t, &websocket.DialOptions{CompressionMode: websocket.CompressionNoContextTakeover,
		HTTPHeader: http.Header{"Origin": {s.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if got := resp.Header.Get("Sec-WebSocket-Extensions"); !strings.HasPrefix(got, "permessage-deflate") {
		t.Errorf("extensions %q", got)
	}
}
