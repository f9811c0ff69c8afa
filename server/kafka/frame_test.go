package kafka

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// TestFrames: however the bytes arrive, the same frames come out, and more is true only where the next is whole.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(2, 300), rapid.IntRange(readBuffer-10, readBuffer+10), rapid.IntRange(60_000, 200_000)), 1, 6).Draw(t, "sizes")
		var stream []byte
		for i, n := range sizes {
			stream = append(stream, framed(append([]byte{0, 0}, bytes.Repeat([]byte{byte(i + 1)}, n-2)...))...)
		}
		var in io.Reader = bytes.NewReader(stream)
		if rapid.Bool().Draw(t, "byte by byte") {
			in = iotest.OneByteReader(in)
		}
		reads := &countedReader{Reader: in}
		f := newFrames(reads, 1<<20)
		for i, n := range sizes {
			more, before := f.more(), reads.n
			frame, _, err := f.next()
			if more && reads.n != before {
				t.Fatalf("frame %d was said to be there, and had to be read", i)
			}
			if err != nil || len(frame) != n || frame[n-1] != byte(i+1) && n > 2 {
				t.Fatalf("frame %d: %d bytes, %v; want %d", i, len(frame), err, n)
			}
		}
		if f.more() {
			t.Fatal("there is more after the last frame")
		}
		if _, _, err := f.next(); err != io.EOF {
			t.Fatalf("the end of the stream is %v", err)
		}
	})
}

type countedReader struct {
	io.Reader
	n int
}

func (r *countedReader) Read(p []byte) (int, error) { r.n++; return r.Reader.Read(p) }

// TestProduceLengths: whatever can be encoded passes, and an array that its frame cannot hold is refused before anything
// is reserved for it.
func TestProduceLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := kmsg.NewPtrProduceRequest()
		r.Version = rapid.Int16Range(3, 11).Draw(t, "version")
		for range rapid.IntRange(0, 4).Draw(t, "topics") {
			topic := kmsg.NewProduceRequestTopic()
			topic.Topic = rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "topic")
			for range rapid.IntRange(0, 4).Draw(t, "partitions") {
				p := kmsg.NewProduceRequestTopicPartition()
				p.Records = rapid.SliceOf(rapid.Byte()).Draw(t, "records")
				topic.Partitions = append(topic.Partitions, p)
			}
			r.Topics = append(r.Topics, topic)
		}
		if id := rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "transactional id"); id != "" {
			r.TransactionID = &id
		}
		body := r.AppendTo(nil)
		if err := checkProduce(r.Version, body); err != nil {
			t.Fatalf("%v\n%x", err, body)
		}
		if len(body) > 1 {
			if err := checkProduce(r.Version, body[:len(body)-1]); err == nil {
				t.Fatal("a cut body passed")
			}
		}
	})
	for _, version := range []int16{3, 8, 9, 11} {
		r := kmsg.NewPtrProduceRequest()
		r.Version, r.Topics = version, make([]kmsg.ProduceRequestTopic, 4<<20) // without a name or a partition
		body := r.AppendTo(nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(&produceAPI, header{key: 0, version: version, body: append(make([]byte, max(0, int(version/9))), body...)})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "names more than 100000 topics and partitions") {
			t.Errorf("v%d: %v", version, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 48<<20 {
			t.Errorf("v%d: a hostile frame of %d MB cost %d MB", version, len(body)>>20, grown>>20)
		}
	}
}

// FuzzDecode: whatever comes, decoding ends with a request or a refusal.
func FuzzDecode(f *testing.F) {
	s := New(Config{Settings: DefaultSettings()})
	for _, a := range table() {
		for v := a.decodeFrom; v <= a.max; v++ {
			f.Add(kmsg.NewRequestFormatter().AppendRequest(nil, newRequest(a.key, v), 1)[4:])
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, a, err := s.parseHeader(frame)
		if err != nil || h.version > a.max || h.version < 0 {
			return
		}
		if _, err := decode(a, h); err != nil {
			if _, refused := err.(refusal); !refused {
				t.Errorf("%s v%d: %v is no refusal", a.name, h.version, err)
			}
		}
	})
}

func newRequest(key, version int16) kmsg.Request {
	r := kmsg.RequestForKey(key)
	if d, ok := r.(interface{ Default() }); ok {
		d.Default()
	}
	r.SetVersion(version)
	return r
}

// FuzzFrames: whatever a connection sends, its reader makes calls or ends with a refusal, and what it keeps is bounded by
// what came.
func FuzzFrames(f *testing.F) {
	s := New(Config{Settings: DefaultSettings()})
	var all []byte
	for _, a := range table() {
		frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, newRequest(a.key, a.max), 1)
		f.Add(frame)
		f.Add(append(append([]byte{}, frame...), frame[:len(frame)/2]...))
		all = append(all, frame...)
	}
	f.Add(all)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0x16, 3, 1, 2, 0, 1})
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0})
	f.Fuzz(func(t *testing.T, stream []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		defer theirs.Close()
		c := newConn(s, 1, ours, 1)
		in := newFrames(iotest.HalfReader(bytes.NewReader(stream)), 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for read := 0; ; read++ {
			frame, inPlace, err := in.next()
			if err == nil {
				_, err = c.parse(frame, inPlace)
			}
			if err != nil {
				if _, refused := err.(refusal); !refused && err != io.EOF {
					t.Fatalf("%v (%T) is no refusal", err, err)
				}
				break
			}
			if read*4 > len(stream) {
				t.Fatalf("%d frames out of %d bytes", read, len(stream))
			}
		}
		runtime.ReadMemStats(&after)
		if grown := int(after.TotalAlloc - before.TotalAlloc); grown > 4<<20+200*len(stream) {
			t.Fatalf("%d bytes cost %d", len(stream), grown)
		}
	})
}
