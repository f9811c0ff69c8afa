package kafka

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
)

const (
	// writePiece is what is given to the socket at once; each piece has writeTimeout.
	writePiece = 256 << 10
	// keepBuffer is the largest encoding buffer that is used again.
	keepBuffer = 64 << 10
)

// buffers are for encoding. Most connections have nothing to write most of the time, so they have neither a buffer nor a
// writer's stack.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write is a writer's life: answers to bytes.
func (c *conn) write() {
	err := c.guard(func() error {
		buf := buffers.Get().(*[]byte)
		for taken := c.takeOut(nil); len(taken) > 0; taken = c.takeOut(taken) {
			var err error
			if *buf, err = c.send((*buf)[:0], taken); err != nil {
				return err
			}
		}
		if cap(*buf) <= keepBuffer {
			buffers.Put(buf)
		}
		return nil
	})
	if err != nil {
		c.end(err)
	}
}

// takeOut takes what is answered, and gives back the slice that it took before. Where there is nothing the writer of a busy
// connection waits; of one whose client asks now and then it ends, and so it does where the connection is over: then nothing is
// returned. To start a writer for each burst would cost a tenth of what many heartbeats cost.
func (c *conn) takeOut(before []*call) (taken []*call) {
	clear(before)
	c.mu.Lock()
	defer c.mu.Unlock()
	if before != nil {
		c.spareOut = before[:0]
	}
	for len(c.out) == 0 && c.ended == "" {
		if len(before) < 2 && c.inFlight == 0 {
			c.writing = false
			return nil
		}
		c.more.Wait()
	}
	if c.ended != "" {
		return nil
	}
	taken, c.out, c.spareOut = c.out, c.spareOut, nil
	return taken
}

// send encodes answers and writes them, many small ones at once.
func (c *conn) send(buf []byte, answers []*call) ([]byte, error) {
	var sent share
	first := 0
	for i, a := range answers {
		switch {
		case a.bare:
			buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(a.token))), a.token...)
		case a.response != nil:
			buf = a.encode(slices.Grow(buf, a.weight))
		}
		sent.add(a)
		if len(buf) >= writePiece/4 || i == len(answers)-1 || a.last != "" {
			if a.last != "" {
				c.holdBack()
			}
			c.recycle(answers[first : i+1])
			if _, err := c.stream.Write(buf); err != nil {
				return buf, err
			}
			c.written(sent)
			if a.last != "" {
				return buf, refusal(a.last)
			}
			buf, first, sent = buf[:0], i+1, share{}
		}
	}
	return buf, nil
}

// failureDelay is connection.failed.authentication.delay.ms: whoever guesses passwords, or tries a wrong one again and again,
// waits that long for each.
const failureDelay = 100 * time.Millisecond

// holdBack waits, unless the connection ends.
func (c *conn) holdBack() {
	select {
	case <-c.dead:
	case <-time.After(failureDelay):
	}
}

// share is what some answered calls have of a connection's room.
type share struct{ calls, size, weight int }

func (s *share) add(c *call) { s.calls++; s.size += c.size; s.weight += c.weight }

// encode appends an answer with its length and header. ApiVersions alone keeps header v0 in flexible versions, so that a
// client can read it before it knows what the server speaks (KIP-511).
func (c *call) encode(buf []byte) []byte {
	start := len(buf)
	buf = append(buf, 0, 0, 0, 0)
	buf = kbin.AppendInt32(buf, c.correlation)
	if c.response.IsFlexible() && c.api.key != apiVersionsAPI.key {
		buf = append(buf, 0)
	}
	buf = c.response.AppendTo(buf)
	binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start-4))
	return buf
}

// written gives the room of answered calls back, to the reader and to a stalled loop.
func (c *conn) written(sent share) {
	c.unwritten.Add(-int64(sent.weight))
	if sent.weight > 0 {
		c.waiting.taken(int64(sent.weight))
	}
	c.mu.Lock()
	c.inFlight -= sent.calls
	c.inFlightBytes -= sent.size
	c.room.Broadcast()
	tell := c.stalled && !c.posted && c.unwritten.Load() <= maxUnwrittenBytes
	if tell {
		c.stalled, c.posted = false, true
	}
	c.mu.Unlock()
	if tell {
		c.srv.loop.Post(c.turnFn)
	}
}
