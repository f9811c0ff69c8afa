package e2e

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

// lines collects what the server logs.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.text, "\n")
}

func frameOf(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func headerOf(key, version int16) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return append(b, 0, 0, 0, 1, 0, 1, 'x')
}

// TestHostileFrames sends what no client should. Each connection ends with a line that says what was wrong, and whoever
// else is connected is served all the while.
func TestHostileFrames(t *testing.T) {
	manyTopics := append(headerOf(0, 3), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0) // acks -1, time-out 0
	cases := []struct {
		name  string
		bytes []byte
		// hangUp closes our side after writing.
		hangUp bool
		says   string
	}{
		{"length of zero", []byte{0, 0, 0, 0}, false, "announces 0 bytes; 1 to 104857600 are allowed (socket.request.max.bytes)"},
		{"negative length", []byte{0xff, 0xff, 0xff, 0xff}, false, "announces -1 bytes"},
		{"length over the limit", []byte{0x7f, 0xff, 0xff, 0xff}, false, "announces 2147483647 bytes"},
		{"large frame of a small key", append([]byte{0x05, 0xff, 0, 0}, headerOf(3, 1)...), false, "all but Produce may have 8388608"},
		{"shorter than a header", frameOf([]byte{0, 3, 0, 1}), false, "a frame of 4 bytes is too short for a request header"},
		{"cut length", []byte{0, 0}, true, "the connection ended inside a frame's length: 2 of 4 bytes came"},
		{"cut frame", append([]byte{0, 0, 1, 0}, headerOf(3, 1)...), true, "the connection ended inside a frame: 11 of 256 bytes came"},
		{"cut large frame", append([]byte{0, 0x20, 0, 0}, headerOf(0, 3)...), true, "the connection ended inside a frame: 11 of 2097152 bytes came"},
		{"client id beyond the frame", frameOf([]byte{0, 3, 0, 1, 0, 0, 0, 1, 0x40, 0}), false, "the client id is longer than its frame"},
		{"unknown key", frameOf(headerOf(999, 0)), false, "there is no API key 999"},
		{"negative key", frameOf(headerOf(-1, 0)), false, "there is no API key -1"},
		{"a key that is not served", frameOf(headerOf(29, 0)), false, "DescribeACLs (API key 29) is not served here"},
		{"version too high", frameOf(headerOf(3, 99)), false, "Metadata v99 is not served here; v0 to v13 are"},
		{"version below zero", frameOf(headerOf(11, -1)), false, "JoinGroup v-1 is not served here"},
		{"Produce in a version that is only advertised", frameOf(headerOf(0, 2)), false, "Produce v2 is not served here; v3 to v11 are"},
		{"body too short", frameOf(headerOf(12, 0)), false, "Heartbeat v0: the body is cut"},
		{"array longer than its frame", frameOf(append(headerOf(3, 1), 0x7f, 0xff, 0xff, 0xff)), false, "Metadata v1: the body is cut"},
		{"produce array longer than its frame", frameOf(append(manyTopics, 0x7f, 0xff, 0xff, 0xff)), false, "Produce v3: the body is cut"},
		{"header tags beyond the frame", frameOf(append(headerOf(3, 12), 5, 1, 100)), false, "the header's tagged fields are longer than the frame"},
		{"TLS hello", append([]byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03}, make([]byte, 506)...), false, "a TLS hello came; this port is not encrypted"},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), false, "an HTTP request came"},
		{"HTTP POST", []byte("POST /api HTTP/1.1\r\n\r\n"), false, "an HTTP request came"},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.6\r\n"), false, "an SSH client came"},
	}
	var log *lines
	var at string
	var bystander *wire
	for i, c := range cases {
		if i%12 == 0 { // so many lines in ten seconds are logged in full, so each dozen has a server of its own
			log = &lines{}
			at = startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Logf: log.logf}).KafkaAddrs()[0]
			bystander = dial(t, at)
		}
		t.Run(c.name, func(t *testing.T) {
			w := dial(t, at)
			w.raw(c.bytes)
			if c.hangUp {
				w.Conn.Conn.(*net.TCPConn).CloseWrite()
			}
			w.closed()
			request := kmsg.NewPtrMetadataRequest()
			request.Version = 12
			if got := ask[*kmsg.MetadataResponse](bystander, request); len(got.Brokers) != 1 {
				t.Fatalf("the bystander sees %d brokers, not 1", len(got.Brokers))
			}
			eventually(t, 5*time.Second, func() error {
				if !log.has(c.says) {
					return fmt.Errorf("no line says %q:\n%s", c.says, log.all())
				}
				return nil
			})
		})
	}
}

// TestRandomBytes throws noise at a server, as raw bytes and as bodies of every key and version.
func TestRandomBytes(t *testing.T) {
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Logf: func(string, ...any) {}})
	at := s.KafkaAddrs()[0]
	bystander := dial(t, at)
	prng := rand.New(rand.NewPCG(7, 11))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(prng.Uint32())
		}
		return b
	}
	throw := func(b []byte) {
		nc, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(b)
		nc.(*net.TCPConn).CloseWrite()
		nc.SetReadDeadline(time.Now().Add(5 * time.Second))
		for buf := make([]byte, 4096); ; {
			if _, err := nc.Read(buf); err != nil {
				break
			}
		}
		nc.Close()
	}
	for range 200 {
		throw(noise(1 + prng.IntN(400)))
	}
	for key := int16(0); key < 80; key++ {
		for version := int16(0); version < 14; version++ {
			throw(frameOf(append(headerOf(key, version), noise(prng.IntN(120))...)))
		}
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 9
	if got := ask[*kmsg.MetadataResponse](bystander, request); len(got.Brokers) != 1 {
		t.Fatalf("the bystander sees %d brokers", len(got.Brokers))
	}
}

// TestLengthsCostNothing opens connections that announce a large frame and send nothing: memory must not follow.
func TestLengthsCostNothing(t *testing.T) {
	s := kafkaServer(t, 1)
	before := heap()
	for range 50 {
		dial(t, s.KafkaAddrs()[0]).raw(append([]byte{0x06, 0, 0, 0}, headerOf(0, 3)...))
	}
	time.Sleep(200 * time.Millisecond)
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("50 announcements of 100 MB cost %d bytes", grown)
	}
}

// TestIdleConnectionsEnd: after connections.max.idle.ms without a byte, and not before.
func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 1, "connections.max.idle.ms=5000") // much longer than a busy machine makes the other one pause
	idle, busy := dial(t, s.KafkaAddrs()[0]), dial(t, s.KafkaAddrs()[0])
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	start := time.Now()
	ask[*kmsg.MetadataResponse](idle, metadata)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		idle.In.ReadByte()
	}()
	for open := true; open; time.Sleep(100 * time.Millisecond) {
		ask[*kmsg.MetadataResponse](busy, metadata)
		select {
		case <-ended:
			open = false
		default:
		}
	}
	if took := time.Since(start); took < 4900*time.Millisecond || took > patience {
		t.Errorf("the idle connection ended after %v", took)
	}
	ask[*kmsg.MetadataResponse](busy, metadata)
}

// TestTooManyConnections: max.connections refuses the next one and says so.
func TestTooManyConnections(t *testing.T) {
	var log lines
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Set: []string{"max.connections=2"}, Logf: log.logf})
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	first, second := dial(t, s.KafkaAddrs()[0]), dial(t, s.KafkaAddrs()[0])
	ask[*kmsg.MetadataResponse](first, metadata)
	ask[*kmsg.MetadataResponse](second, metadata)
	dial(t, s.KafkaAddrs()[0]).closed()
	eventually(t, 5*time.Second, func() error { // the line comes behind the end of the connection
		if !log.has("there are 2 connections already (max.connections)") {
			return fmt.Errorf("nobody says why:\n%s", log.all())
		}
		return nil
	})
	second.Close()
	eventually(t, 5*time.Second, func() error { return tried(s.KafkaAddrs()[0], metadata) })
	ask[*kmsg.MetadataResponse](first, metadata)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// patience is the least that anything which must come is waited for, whatever a test finds enough: machines may be busy, and
// only tests that fail use it up.
const patience = 90 * time.Second

// eventually asks again until there is no error, or fails with the last one.
func eventually(t testing.TB, within time.Duration, ask func() error) {
	t.Helper()
	err := ask()
	for end := time.Now().Add(max(within, patience)); err != nil && time.Now().Before(end); err = ask() {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tried asks on a connection of its own, which may be refused.
func tried(address string, request kmsg.Request) error {
	c, err := bare.Dial(address, "again")
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Ask(request, bare.Patience)
	return err
}
