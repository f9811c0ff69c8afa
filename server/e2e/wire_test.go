package e2e

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is a bare Kafka connection: what is sent and when is the test's to say.
type wire struct {
	t      testing.TB
	nc     net.Conn
	in     *bufio.Reader
	format *kmsg.RequestFormatter
	last   int32
}

func dial(t testing.TB, address string) *wire {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &wire{t: t, nc: nc, in: bufio.NewReader(nc), format: kmsg.NewRequestFormatter(kmsg.FormatterClientID("wire"))}
}

// send writes requests in one piece and returns the correlation id of the last.
func (w *wire) send(requests ...kmsg.Request) int32 {
	w.t.Helper()
	var out []byte
	for _, r := range requests {
		w.last++
		out = append(out, w.format.AppendRequest(nil, r, w.last)...)
	}
	w.raw(out)
	return w.last
}

func (w *wire) raw(bytes []byte) {
	w.t.Helper()
	if _, err := w.nc.Write(bytes); err != nil {
		w.t.Fatalf("writing: %v", err)
	}
}

// frame reads the next answer: its correlation id and what follows.
func (w *wire) frame() (correlation int32, body []byte, err error) {
	w.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(w.in, body); err != nil {
		return 0, nil, err
	}
	return int32(binary.BigEndian.Uint32(body)), body[4:], nil
}

// receive reads the answer to a request, which must be the next one.
func receive[R kmsg.Response](w *wire, correlation int32, request kmsg.Request) R {
	w.t.Helper()
	got, body, err := w.frame()
	if err != nil {
		w.t.Fatalf("reading the answer to %s: %v", kmsg.NameForKey(request.Key()), err)
	}
	if got != correlation {
		w.t.Fatalf("the answer to %s is number %d, not %d", kmsg.NameForKey(request.Key()), got, correlation)
	}
	response := request.ResponseKind()
	if response.IsFlexible() && response.Key() != 18 {
		if body[0] != 0 {
			w.t.Fatalf("the answer's header has tags: %d", body[0])
		}
		body = body[1:]
	}
	if err := response.ReadFrom(body); err != nil {
		w.t.Fatalf("the answer to %s v%d: %v", kmsg.NameForKey(request.Key()), request.GetVersion(), err)
	}
	return response.(R)
}

// ask sends one request and reads its answer.
func ask[R kmsg.Response](w *wire, request kmsg.Request) R {
	w.t.Helper()
	return receive[R](w, w.send(request), request)
}

// closed demands that the server closes the connection without another byte.
func (w *wire) closed() {
	w.t.Helper()
	w.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	n, err := w.in.Read(make([]byte, 1))
	if n > 0 {
		w.t.Fatal("an answer came where the connection should have been closed")
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		w.t.Fatal("the connection stayed open")
	}
}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
