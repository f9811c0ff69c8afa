package kafka

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxInFlight and maxInFlightBytes bound what a connection decodes ahead of its answers. One request is always let in,
	// whatever its size.
	maxInFlight      = 64
	maxInFlightBytes = 1 << 20
	// maxUnwrittenBytes bounds the answers that wait for a slow client; beyond it its requests wait too.
	maxUnwrittenBytes = 1 << 20
)

// conn is one client's connection to one broker.
type conn struct {
	id     int64
	srv    *Server
	broker int32
	socket socket
	// stream is what is read from and written to: the socket, or TLS over it.
	stream io.ReadWriter
	// host is the address as Kafka stores it: "/127.0.0.1".
	host string
	// turnFn, dispatchFn and flushFn are the methods, made into values once.
	turnFn, dispatchFn, flushFn func(nowMs int64)

	// lastActive is the monotonic time of the last byte read or written, since the server's start.
	lastActive atomic.Int64
	// authenticated is set when the client has said who it is.
	authenticated atomic.Bool
	// dead is closed when the connection is over.
	dead chan struct{}
	readerSide
	// requests are the large requests that are not answered yet; waiting are the answers that are not written.
	requests map[*hold]struct{} // under mu
	waiting  *hold
	// unwritten is the size of the answers that were not written yet, roughly.
	unwritten atomic.Int64
	// writers is the writer, while there is one.
	writers sync.WaitGroup

	mu            sync.Mutex
	room          sync.Cond // the reader waits for room
	more          sync.Cond // the writer waits for answers
	inbox         []*call   // decoded; the loop has not seen them
	out           []*call   // answered; the writer has not taken them
	spareOut      []*call   // room for out, used in turn
	writing       bool      // there is a writer
	inFlight      int
	inFlightBytes int
	stalled       bool // the loop waits for unwritten to fall
	full          bool // the reader waits for room; looks looks at the connection meanwhile
	looks         *time.Timer
	free          []*call // answered heartbeats and commits, to be used again
	posted        bool    // turn is on its way to the loop
	ended         string
	byClient      bool // it ended from the client's side: what was sent with acks 0 before still counts

	loopSide
}

func newConn(s *Server, broker int32, nc net.Conn, id int64) *conn {
	c := &conn{id: id, srv: s, broker: broker, dead: make(chan struct{})}
	c.socket = socket{Conn: nc, c: c}
	c.stream = &c.socket
	c.waiting = &hold{pool: s.answers, end: func() {
		c.end(refusal("it takes its answers too slowly while memory for them is short"))
	}}
	c.room.L, c.more.L = &c.mu, &c.mu
	c.principal = anonymous
	c.host = "/" + addressOf(nc.RemoteAddr())
	c.turnFn, c.dispatchFn, c.flushFn = c.turn, c.dispatch, c.flush
	c.touch()
	return c
}

func addressOf(a net.Addr) string {
	if host, _, err := net.SplitHostPort(a.String()); err == nil {
		return host
	}
	return a.String()
}

func (c *conn) touch() { c.lastActive.Store(int64(time.Since(c.srv.started))) }

// serve is the connection's life, and its reader's; it returns when the last writer is done, too.
func (c *conn) serve() {
	if err := c.guard(c.secure); err != nil {
		c.end(err)
		return
	}
	c.end(c.guard(c.read))
	c.writers.Wait()
	c.giveAll()
	c.post()
}

// claimMemory begins to count a large request.
func (c *conn) claimMemory() *hold {
	h := c.srv.requests.begin(c.dead, func() {
		c.end(refusal("its request came too slowly while memory for requests is short (queued.max.request.bytes)"))
	})
	c.mu.Lock()
	if c.requests == nil {
		c.requests = map[*hold]struct{}{}
	}
	c.requests[h] = struct{}{}
	c.mu.Unlock()
	return h
}

// releaseMemory gives back a large request that is answered; giveAll gives back everything.
func (c *conn) releaseMemory(h *hold) {
	h.give()
	c.mu.Lock()
	delete(c.requests, h)
	c.mu.Unlock()
}

func (c *conn) giveAll() {
	c.waiting.give()
	c.mu.Lock()
	defer c.mu.Unlock()
	for h := range c.requests {
		h.give()
	}
	c.requests = nil
}

// guard runs a goroutine's work so that a panic of a decoder or encoder on hostile bytes ends this connection only.
func (c *conn) guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.log.Error(fmt.Sprintf("connection %d of %s: panic: %v", c.id, c.socket.RemoteAddr(), p), "stack", string(debug.Stack()))
			err = refusef("the request broke the decoder: %v", p)
		}
	}()
	return work()
}

// read is the reader's life: frames to calls to the loop.
func (c *conn) read() error {
	in := newFrames(c.stream, c.srv.cfg.SocketRequestMaxBytes)
	in.claim = c.claimMemory
	var batch []*call
	for {
		frame, inPlace, err := in.next()
		if err != nil {
			c.submit(batch)
			return err
		}
		next := c.again(batch, frame)
		if next == nil {
			if next, err = c.parse(frame, inPlace); err != nil {
				c.submit(batch)
				return err
			}
		}
		if in.held != nil { // it came whole: nothing depends on the client any more
			in.held.settle()
			next.held, in.held = in.held, nil
		}
		batch = append(batch, next)
		if len(batch) == maxInFlight/2 || !in.more() {
			if !c.submit(batch) {
				return errDropped // it ended already, with a reason of its own
			}
			clear(batch)
			batch = batch[:0]
		}
	}
}

// parse makes a call out of a frame.
func (c *conn) parse(frame []byte, inPlace bool) (*call, error) {
	if !c.known() && len(frame) > maxTokenBytes {
		return nil, refusef("a frame of %d bytes came before the client said who it is; %d are allowed", len(frame), maxTokenBytes)
	}
	if c.bareTokens && !c.known() {
		return &call{conn: c, api: &saslToken, size: len(frame), token: append([]byte(nil), frame...)}, nil
	}
	h, a, err := c.srv.parseHeader(frame)
	if err != nil {
		return nil, err
	}
	next := c.newCall(a, h, len(frame))
	if string(h.clientID) != c.readerClientID {
		c.readerClientID = string(h.clientID)
	}
	next.clientID = c.readerClientID
	if h.version > a.max || h.version < 0 {
		return next, nil // ApiVersions of a newer client: the answer does not depend on the body
	}
	done, err := c.takeTurn(h)
	if err != nil {
		return nil, err
	}
	defer done()
	c.bareTokens = a.key == saslHandshakeAPI.key && h.version == 0
	if inPlace && a.keepsBytes {
		h.body = append([]byte(nil), h.body...)
	}
	if a.key == heartbeatAPI.key {
		if inPlace {
			c.lastBeat = frame
		}
		return next, c.decodeHeartbeat(next, a, h)
	}
	if a.key == offsetCommitAPI.key {
		return next, c.decodeCommit(next, a, h)
	}
	if next.request, err = decode(a, h); err != nil {
		return nil, err
	}
	if p, ok := next.request.(*kmsg.ProduceRequest); ok {
		next.noAnswer = p.Acks == 0
		c.checkBatches(next, p)
	}
	return next, nil
}

// checkBatches looks into compressed batches here, beside the loop.
func (c *conn) checkBatches(next *call, p *kmsg.ProduceRequest) {
	if c.srv.cfg.CheckBatch == nil {
		return
	}
	for i := range p.Topics {
		for j := range p.Topics[i].Partitions {
			batch, code, _ := onlyBatch(next.version, p.Topics[i].Partitions[j].Records)
			if code != 0 || len(batch) <= attributesAt || batch[attributesAt]&0x07 == 0 {
				continue
			}
			if code, message := c.srv.cfg.CheckBatch(batch); code != 0 {
				if next.bad == nil {
					next.bad = map[[2]int]badBatch{}
				}
				next.bad[[2]int{i, j}] = badBatch{code, message}
			}
		}
	}
}

// submit hands calls to the loop. It waits while the connection has as much under way as it may have, and reports false
// when the connection ended.
func (c *conn) submit(batch []*call) bool {
	if len(batch) == 0 {
		return true
	}
	bytes := 0
	for _, next := range batch {
		bytes += next.size
	}
	c.mu.Lock()
	for c.ended == "" && c.inFlight > 0 && (c.inFlight+len(batch) > maxInFlight || c.inFlightBytes+bytes > maxInFlightBytes) {
		c.waitForRoom()
	}
	if c.ended != "" {
		c.mu.Unlock()
		return false
	}
	c.inFlight += len(batch)
	c.inFlightBytes += bytes
	c.inbox = append(c.inbox, batch...)
	tell := !c.posted
	c.posted = true
	c.mu.Unlock()
	if tell {
		c.srv.loop.Post(c.turnFn)
	}
	return true
}

// post brings the connection before the loop once more: there is something new to see, or it is over.
func (c *conn) post() {
	c.mu.Lock()
	tell := !c.posted
	c.posted = true
	c.mu.Unlock()
	if tell {
		c.srv.loop.Post(c.turnFn)
	}
}

// end ends the connection, once, from any goroutine. It does not wait. The reader tells the loop.
func (c *conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != "" {
		return
	}
	var refused refusal
	bad := errors.As(why, &refused)
	c.ended, c.byClient = reason(why), !bad && why != errDropped
	close(c.dead)
	c.socket.Close()
	c.room.Broadcast()
	c.more.Signal()
	if bad {
		c.srv.refused(c.broker, c.socket.RemoteAddr(), string(refused))
	}
}

func reason(why error) string {
	var refused refusal
	switch {
	case errors.Is(why, io.EOF):
		return "the client closed it"
	case errors.As(why, &refused):
		return string(refused)
	case errors.Is(why, errIdle), errors.Is(why, errDropped):
		return why.Error()
	}
	return fmt.Sprintf("the connection broke: %v", why)
}
