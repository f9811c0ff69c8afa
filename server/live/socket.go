package live

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"nhooyr.io/websocket"
)

// A viewer may send pongs and a close frame. floodBytes and floodBytesPerSecond are far more than these need; whoever
// sends more is cut.
const (
	floodBytes          = 64 << 10
	floodBytesPerSecond = 1 << 10
)

// mostDeflated is how many viewers at a time may have their messages compressed. A compressor takes a megabyte. With a context of
// its own each viewer would keep one, a gigabyte for a thousand; so a message is compressed by itself, which shortens ours
// to between a fifth and a tenth all the same, and whoever writes borrows a compressor. A viewer that does not read holds one for
// as long as WriteTimeout, though: those beyond the bound are sent plain text, so that hostile ones cannot take more.
const mostDeflated = 200

// farewell is how long a viewer has to answer a close frame.
const farewell = time.Second

var (
	errSilent = errors.New("it did not answer a ping")
	errSpoke  = errors.New("it sent a message, but a viewer only listens")
	errGone   = errors.New("it went away")
	errUnread = errors.New("it did not read")
	errFlood  = errors.New("it sent more than a viewer has to say")
)

// Serve makes the request a viewer's websocket and serves it until it goes. It returns ErrFull, ErrClosed or
// ErrNoOverview where it has written nothing; otherwise the request was answered and the error, if any, says why the viewer was cut.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, what Request) error {
	if what.Overview && h.overview == nil {
		return ErrNoOverview
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	leave, err := h.enter(host)
	if err != nil {
		return err
	}
	defer leave()
	guard := &guardedWriter{ResponseWriter: w}
	mode := websocket.CompressionDisabled
	if h.stats.deflated.Add(1) <= mostDeflated {
		mode = websocket.CompressionNoContextTakeover
	}
	defer h.stats.deflated.Add(-1)
	conn, err := websocket.Accept(guard, r, &websocket.AcceptOptions{CompressionMode: mode, CompressionThreshold: 512})
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	s := &socket{hub: h, conn: conn, raw: guard.conn}
	return s.serve(what)
}

// socket is one viewer's connection.
type socket struct {
	hub  *Hub
	conn *websocket.Conn
	raw  net.Conn
}

func (s *socket) serve(what Request) error {
	ctx, end := context.WithCancelCause(context.Background())
	writing, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	// A write that is broken off breaks the connection, so one that is under way ends in peace where the viewer is still to be
	// told why it must go.
	cancel := func(cause error) {
		end(cause)
		if !errors.Is(cause, errSpoke) && !errors.Is(cause, errFlood) {
			giveUp()
		}
	}
	// When the hub closes, a viewer that reads gets its close frame; a write that hangs is given up soon.
	stop := context.AfterFunc(s.hub.ctx, func() {
		time.AfterFunc(farewell/2, func() { cancel(ErrClosed) })
	})
	defer stop()
	var listening, pinging sync.WaitGroup
	listening.Go(func() { s.listen(context.WithoutCancel(ctx), cancel) })
	pinging.Go(func() { s.ping(ctx, cancel) })
	err := s.hub.Watch(ctx, what, func(_ context.Context, text []byte) error { return s.send(writing, text) })
	if errors.Is(err, errGone) {
		_ = s.conn.CloseNow()
		listening.Wait() // it knows whether the viewer went or was shown out
	}
	err = s.part(err, context.Cause(ctx))
	cancel(errGone)
	_ = s.conn.CloseNow()
	listening.Wait()
	pinging.Wait()
	return err
}

func (s *socket) send(ctx context.Context, text []byte) error {
	limited, done := context.WithTimeout(ctx, s.hub.cfg.WriteTimeout)
	defer done()
	err := s.conn.Write(limited, websocket.MessageText, text)
	switch {
	case err == nil:
		return nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		// First, since the library closes a connection whose write ran out of time, and then the listener says that the
		// viewer went.
		return fmt.Errorf("%w for %v", errUnread, s.hub.cfg.WriteTimeout)
	case ctx.Err() != nil:
		return err
	}
	return errGone
}

// listen answers control frames until the viewer goes, says something or floods.
func (s *socket) listen(ctx context.Context, cancel func(cause error)) {
	s.conn.SetReadLimit(1 << 10)
	_, _, err := s.conn.Reader(ctx)
	switch {
	case err == nil:
		cancel(errSpoke)
	case errors.Is(err, errFlood):
		cancel(errFlood)
	default:
		cancel(errGone)
	}
}

// ping asks the viewer now and then whether it is there, and ends it where it is not.
func (s *socket) ping(ctx context.Context, cancel func(cause error)) {
	t := time.NewTicker(s.hub.cfg.PingInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		wait, done := context.WithTimeout(ctx, s.hub.cfg.WriteTimeout)
		err := s.conn.Ping(wait)
		done()
		if err != nil {
			cancel(errSilent) // the first cause counts: this one has no effect on a viewer that went
			return
		}
	}
}

// part says goodbye where that still makes sense, counts a viewer that was cut and returns why it was. err is what
// ended Watch, cause what ended its context, if that was ended.
func (s *socket) part(err, cause error) error {
	switch {
	case errors.Is(err, ErrClosed), errors.Is(cause, ErrClosed):
		s.close(websocket.StatusGoingAway, "the server stops")
		return nil
	case errors.Is(err, errUnread):
	case errors.Is(cause, errGone), cause == nil && errors.Is(err, errGone):
		return nil
	case errors.Is(cause, errSpoke), errors.Is(cause, errFlood):
		err = cause
		s.close(websocket.StatusPolicyViolation, err.Error())
	case errors.Is(cause, errSilent):
		err = cause
	case errors.Is(err, ErrTooMany):
		s.close(websocket.StatusPolicyViolation, "there are too many groups to send everything of all: ask with overview=1")
		return nil
	default:
		s.close(websocket.StatusInternalError, "the cluster could not be read; see the server's output")
	}
	s.hub.stats.cut.Add(1)
	return err
}

// close sends a close frame and gives the viewer a moment to answer it.
func (s *socket) close(code websocket.StatusCode, reason string) {
	t := time.AfterFunc(farewell, func() { _ = s.raw.Close() })
	defer t.Stop()
	_ = s.conn.Close(code, reason)
}

// guardedWriter hands out a connection that ends when too much is sent over it.
type guardedWriter struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack takes the connection over from the HTTP server.
func (g *guardedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(g.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	g.conn = &guardedConn{Conn: conn, left: floodBytes, at: time.Now()}
	return g.conn, buf, nil
}

// guardedConn counts what is read. Only one goroutine reads a connection.
type guardedConn struct {
	net.Conn
	left float64
	at   time.Time
}

// Read reads, and fails for a peer that floods.
func (c *guardedConn) Read(p []byte) (int, error) {
	now := time.Now()
	c.left = min(floodBytes, c.left+now.Sub(c.at).Seconds()*floodBytesPerSecond)
	c.at = now
	if c.left <= 0 {
		return 0, errFlood
	}
	n, err := c.Conn.Read(p)
	c.left -= float64(n)
	return n, err
}
