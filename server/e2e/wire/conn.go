// Package wire is a bare Kafka connection for tests: what is sent, in which version and when is the test's to say.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Patience is how long an answer may take that must come.
const Patience = time.Minute

// ErrHeld says that nothing of an answer came in the time given: the broker holds it, and a later Receive may still have it.
var ErrHeld = errors.New("no answer yet")

// Conn is one connection. Reading goes through In, which keeps what was read ahead.
type Conn struct {
	net.Conn
	In     *bufio.Reader
	format *kmsg.RequestFormatter
	last   int32
}

// Dial connects to a broker as the client id given.
func Dial(address, clientID string) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", address, Patience)
	if err != nil {
		return nil, err
	}
	return Over(nc, clientID), nil
}

// Over speaks over a connection that is there already, as one with TLS.
func Over(nc net.Conn, clientID string) *Conn {
	return &Conn{Conn: nc, In: bufio.NewReader(nc), format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))}
}

// Read reads what the peer sent, without its framing.
func (c *Conn) Read(p []byte) (int, error) { return c.In.Read(p) }

// Append writes requests behind one another, each as a frame with the next correlation id.
func (c *Conn) Append(to []byte, requests ...kmsg.Request) []byte {
	for _, r := range requests {
		c.last++
		to = append(to, c.format.AppendRequest(nil, r, c.last)...)
	}
	return to
}

// Send sends requests in one piece and returns the correlation id of the last.
func (c *Conn) Send(requests ...kmsg.Request) (correlation int32, err error) {
	_, err = c.Write(c.Append(nil, requests...))
	return c.last, err
}

// Held waits as long as given and says whether nothing of an answer has come. What has come is not read.
func (c *Conn) Held(during time.Duration) (bool, error) {
	c.SetReadDeadline(time.Now().Add(during))
	head, err := c.In.Peek(1)
	if errors.Is(err, os.ErrDeadlineExceeded) && len(head) == 0 {
		return true, nil
	}
	return false, err
}

// Frame reads the next answer: its correlation id and what follows. Where nothing has come after most the error is
// ErrHeld; an answer that has begun is waited for.
func (c *Conn) Frame(most time.Duration) (correlation int32, body []byte, err error) {
	if held, err := c.Held(most); held || err != nil {
		if held {
			err = ErrHeld
		}
		return 0, nil, err
	}
	c.SetReadDeadline(time.Now().Add(Patience))
	var head [4]byte
	if _, err := io.ReadFull(c.In, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 4 || size > 100<<20 {
		return 0, nil, fmt.Errorf("an answer of %d bytes", size)
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(c.In, body); err != nil {
		return 0, nil, err
	}
	return int32(binary.BigEndian.Uint32(body)), body[4:], nil
}

// Receive reads the answer to a request that was sent, which must be the next one. Errors are as Frame's.
func (c *Conn) Receive(correlation int32, r kmsg.Request, most time.Duration) (kmsg.Response, error) {
	got, body, err := c.Frame(most)
	if err != nil {
		return nil, err
	}
	if got != correlation {
		return nil, fmt.Errorf("the answer has number %d, not %d", got, correlation)
	}
	response := r.ResponseKind()
	if response.IsFlexible() && response.Key() != 18 { // an ApiVersions answer never has tags in its header
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("the answer's header has tags: % x", body[:min(1, len(body))])
		}
		body = body[1:]
	}
	return response, response.ReadFrom(body)
}

// Ask sends one request and reads its answer. Errors are as Frame's.
func (c *Conn) Ask(r kmsg.Request, most time.Duration) (kmsg.Response, error) {
	correlation, err := c.Send(r)
	if err != nil {
		return nil, err
	}
	return c.Receive(correlation, r, most)
}
