//go:build interop

package differ

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

// conn is a bare connection: what is sent, in which version and when is the question's to say.
type conn struct {
	nc     net.Conn
	in     *bufio.Reader
	format *kmsg.RequestFormatter
	last   int32
}

func dial(address, clientID string) (*conn, error) {
	nc, err := net.DialTimeout("tcp", address, 20*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{nc: nc, in: bufio.NewReader(nc), format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))}, nil
}

func (c *conn) send(r kmsg.Request) error {
	c.last++
	_, err := c.nc.Write(c.format.AppendRequest(nil, r, c.last))
	return err
}

// errParked says that no answer came in the time given: the reply is held.
var errParked = errors.New("no answer yet")

// receive reads the answer to the last request.
func (c *conn) receive(r kmsg.Request, most time.Duration) (kmsg.Response, error) {
	c.nc.SetReadDeadline(time.Now().Add(most))
	head, err := c.in.Peek(4)
	if errors.Is(err, os.ErrDeadlineExceeded) && len(head) == 0 {
		return nil, errParked
	}
	if err != nil {
		return nil, err
	}
	c.in.Discard(4)
	body := make([]byte, binary.BigEndian.Uint32(head))
	c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, err
	}
	if got := int32(binary.BigEndian.Uint32(body)); got != c.last {
		return nil, fmt.Errorf("the answer has number %d, not %d", got, c.last)
	}
	body = body[4:]
	response := r.ResponseKind()
	if response.IsFlexible() && response.Key() != 18 {
		if body[0] != 0 {
			return nil, fmt.Errorf("the answer's header has %d tags", body[0])
		}
		body = body[1:]
	}
	return response, response.ReadFrom(body)
}

// ask sends one request and reads its answer.
func (c *conn) ask(r kmsg.Request, most time.Duration) (kmsg.Response, error) {
	if err := c.send(r); err != nil {
		return nil, err
	}
	return c.receive(r, most)
}
