package e2e

import (
	"hash/crc32"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	bare "grouplab/server/e2e/wire"
)

// wire is a bare connection that fails its test where an answer does not come.
type wire struct {
	*bare.Conn
	t testing.TB
}

func dial(t testing.TB, address string) *wire {
	t.Helper()
	c, err := bare.Dial(address, "wire")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &wire{c, t}
}

// send writes requests in one piece and returns the correlation id of the last.
func (w *wire) send(requests ...kmsg.Request) int32 {
	w.t.Helper()
	correlation, err := w.Send(requests...)
	if err != nil {
		w.t.Fatalf("writing: %v", err)
	}
	return correlation
}

func (w *wire) raw(bytes []byte) {
	w.t.Helper()
	if _, err := w.Write(bytes); err != nil {
		w.t.Fatalf("writing: %v", err)
	}
}

// frame reads the next answer: its correlation id and what follows.
func (w *wire) frame() (correlation int32, body []byte, err error) { return w.Frame(bare.Patience) }

// receive reads the answer to a request, which must be the next one.
func receive[R kmsg.Response](w *wire, correlation int32, request kmsg.Request) R {
	w.t.Helper()
	response, err := w.Receive(correlation, request, bare.Patience)
	if err != nil {
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
	w.SetReadDeadline(time.Now().Add(bare.Patience))
	n, err := w.Read(make([]byte, 1))
	if n > 0 {
		w.t.Fatal("an answer came where the connection should have been closed")
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		w.t.Fatal("the connection stayed open")
	}
}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
