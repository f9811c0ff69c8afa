package app

import (
	"encoding/binary"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

// acquired is what the clients of one program learnt from answers, so that the next requests can be meant.
type acquired struct {
	mu         sync.Mutex
	members    []string
	generation int32
	producer   int64
	epoch      int16
	session    int32
	topic      [16]byte
}

// client is one connection of a program.
type client struct {
	t      *testing.T
	nc     net.Conn
	shared *acquired
	last   int32
	// rest is the second half of a request.
	rest []byte
	// soiled is set once something was sent that is no whole request: from then on answers prove nothing.
	soiled bool
	member string

	// news rings when an answer was read, or the connection is over.
	news chan struct{}

	mu     sync.Mutex
	asked  []asked // waits for its answer, in order
	ended  bool
	open   atomic.Pointer[chan struct{}] // closed: answers are read
	reader sync.WaitGroup
}

type asked struct {
	correlation int32
	request     kmsg.Request
}

func connect(t *testing.T, at *pipes, shared *acquired) *client {
	nc, err := at.dial()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, nc: nc, shared: shared, news: make(chan struct{}, 1)}
	reading := make(chan struct{})
	close(reading)
	c.open.Store(&reading)
	c.reader.Go(c.read)
	return c
}

// over tells whether the server has closed the connection.
func (c *client) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *client) hangUp() {
	if c == nil {
		return
	}
	c.nc.Close()
	if c.deaf() {
		close(*c.open.Load())
	}
	c.reader.Wait()
}

func (c *client) deaf() bool {
	select {
	case <-*c.open.Load():
		return false
	default:
		return true
	}
}

// deafen stops the reading of answers, or begins it again.
func (c *client) deafen() {
	if c.deaf() {
		close(*c.open.Load())
		return
	}
	closed := make(chan struct{})
	c.open.Store(&closed)
}

// ask sends a request whose answer is looked at.
func (c *client) ask(program *bytecode, served []kmsg.ApiVersionsResponseApiKey) {
	frame := c.frame(program, served)
	c.write(frame)
}

// frame makes a request and takes its answer for due.
func (c *client) frame(program *bytecode, served []kmsg.ApiVersionsResponseApiKey) []byte {
	k := served[int(program.next())%len(served)]
	version := max(k.MinVersion, k.MaxVersion-int16(program.next()%32)%(k.MaxVersion-k.MinVersion+1))
	request := kmsg.RequestForKey(k.ApiKey)
	if d, ok := request.(interface{ Default() }); ok {
		d.Default()
	}
	request.SetVersion(version)
	c.shared.mu.Lock()
	filler{c, program}.fill(reflect.ValueOf(request).Elem(), "", 0)
	c.shared.mu.Unlock()
	c.last++
	if p, ok := request.(*kmsg.ProduceRequest); !ok || p.Acks != 0 {
		c.mu.Lock()
		c.asked = append(c.asked, asked{c.last, request})
		c.mu.Unlock()
	}
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("fuzz")).AppendRequest(nil, request, c.last)
}

// spoilt sends what may be no request.
func (c *client) spoilt(bytes []byte) {
	c.mu.Lock()
	c.soiled = true
	c.mu.Unlock()
	c.write(bytes)
}

// write gives up where the server takes nothing more, as it does while it has enough to do.
func (c *client) write(bytes []byte) {
	c.nc.SetWriteDeadline(time.Now().Add(5 * time.Millisecond))
	if n, err := c.nc.Write(bytes); err != nil && n < len(bytes) {
		c.mu.Lock()
		c.soiled = true
		c.mu.Unlock()
	}
}

// settle waits until everything is answered, or for a moment: a join may be held for long.
func (c *client) settle(moment time.Duration) {
	late := time.NewTimer(moment)
	defer late.Stop()
	for {
		c.mu.Lock()
		done := len(c.asked) == 0 || c.ended
		c.mu.Unlock()
		if done {
			return
		}
		select {
		case <-c.news:
		case <-late.C:
			return
		}
	}
}

// read takes answers until the connection ends.
func (c *client) read() {
	defer func() {
		c.mu.Lock()
		c.ended = true
		c.mu.Unlock()
		c.ring()
	}()
	for {
		<-*c.open.Load()
		var head [4]byte
		if _, err := io.ReadFull(c.nc, head[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(c.nc, frame); err != nil {
			return
		}
		c.answered(frame)
		c.ring()
	}
}

func (c *client) ring() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// answered checks that an answer is the next one, and can be read; and learns from it.
func (c *client) answered(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.soiled || len(c.asked) == 0 {
		return
	}
	due := c.asked[0]
	c.asked = c.asked[1:]
	if got := int32(binary.BigEndian.Uint32(frame)); got != due.correlation {
		c.t.Errorf("answer %d came where %d was due, to %s v%d", got, due.correlation, kmsg.NameForKey(due.request.Key()), due.request.GetVersion())
		return
	}
	response, body := due.request.ResponseKind(), frame[4:]
	if response.IsFlexible() && response.Key() != 18 {
		body = body[1:]
	}
	if err := response.ReadFrom(body); err != nil {
		c.t.Errorf("the answer to %s v%d: %v", kmsg.NameForKey(due.request.Key()), due.request.GetVersion(), err)
		return
	}
	c.learn(response)
}

func (c *client) learn(response kmsg.Response) {
	a := c.shared
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r := response.(type) {
	case *kmsg.JoinGroupResponse:
		if r.MemberID != "" {
			c.member = r.MemberID
			a.members = append(a.members, r.MemberID)
		}
		a.generation = max(a.generation, r.Generation)
	case *kmsg.InitProducerIDResponse:
		if r.ErrorCode == 0 {
			a.producer, a.epoch = r.ProducerID, r.ProducerEpoch
		}
	case *kmsg.FetchResponse:
		if r.SessionID != 0 {
			a.session = r.SessionID
		}
	case *kmsg.MetadataResponse:
		if len(r.Topics) > 0 {
			a.topic = r.Topics[0].TopicID
		}
	}
}

// filler writes what a client would say into a request, field by field, by their names; the program chooses where there is
// a choice.
type filler struct {
	*client
	program *bytecode
}

var tagged = reflect.TypeFor[kmsg.Tags]()

func (f filler) fill(v reflect.Value, name string, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == tagged || depth > 6 {
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "Version" {
				f.fill(v.Field(i), field.Name, depth+1)
			}
		}
	case reflect.Slice:
		f.fillSlice(v, name, depth)
	case reflect.Array:
		if v.Len() == 16 && v.Type().Elem().Kind() == reflect.Uint8 && f.program.next()&1 == 1 {
			v.Set(reflect.ValueOf(f.shared.topic).Convert(v.Type()))
		}
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.String && (name != "InstanceID" && !strings.HasPrefix(name, "Transaction") || f.program.next()&3 == 3) {
			text := f.text(name)
			v.Set(reflect.ValueOf(&text))
		}
	case reflect.String:
		v.SetString(f.text(name))
	case reflect.Bool:
		v.SetBool(f.program.next()&1 == 1)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n, ok := f.number(name); ok {
			v.SetInt(n)
		}
	}
}

func (f filler) fillSlice(v reflect.Value, name string, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(f.bytes(name))
		return
	}
	n := 1
	if name == "ReplicaAssignment" || name == "Assignment" || name == "Configs" {
		n = 0 // the counts say it, and the defaults
	}
	if choice := f.program.next(); choice&7 == 7 {
		n = int(choice >> 3 & 3)
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		element := v.Index(i)
		if d, ok := element.Addr().Interface().(interface{ Default() }); ok {
			d.Default()
		}
		f.fill(element, strings.TrimSuffix(name, "s"), depth+1)
	}
}

func (f filler) text(name string) string {
	switch name {
	case "Group", "GroupID", "CoordinatorKey":
		return []string{"g", "g", "g", "h"}[f.program.next()&3]
	case "MemberID":
		if choice := int(f.program.next()); choice&3 == 3 && len(f.shared.members) > 0 {
			return f.shared.members[choice>>2%len(f.shared.members)]
		}
		return f.member
	case "Topic", "TopicName", "ResourceName":
		return []string{"orders", "orders", "t", "__consumer_offsets"}[f.program.next()&3]
	case "TransactionalID", "TransactionID", "TransactionalIDFilter":
		return "t"
	case "ProtocolType":
		return "consumer"
	case "Mechanism":
		return []string{"PLAIN", "SCRAM-SHA-256", "PLAIN", "?"}[f.program.next()&3]
	case "InstanceID":
		return "i"
	case "Config", "ConfigName":
		return "retention.ms"
	case "Value":
		return "1000"
	}
	return "range"
}

func (f filler) number(name string) (int64, bool) {
	choice := int64(f.program.next())
	switch name {
	case "Generation", "GenerationID":
		return int64(f.shared.generation) + []int64{0, 0, 1, -1}[choice&3], true
	case "ProducerID":
		return f.shared.producer, true
	case "ProducerEpoch":
		return int64(f.shared.epoch), true
	case "SessionID":
		return int64(f.shared.session), choice&1 == 1
	case "Partition":
		return choice & 3, true
	case "Acks":
		return choice%3 - 1, true
	case "SessionTimeoutMillis", "RebalanceTimeoutMillis":
		return 50 + (255-choice)*10, true // a connection full of held joins learns that its client is gone when the first ends
	case "MaxWaitMillis", "TimeoutMillis":
		return choice << 3, true
	case "NumPartitions", "Count":
		return 1 + choice&7, true
	case "ReplicationFactor":
		return 1 + choice&7/7, true
	case "ResourceType":
		return 2 + choice&1<<1, true // a topic, or a broker
	}
	if choice < 128 {
		return 0, false // as it is by default
	}
	return []int64{0, 1, 2, 3, 100, -1, 1 << 20, 1<<31 - 1}[choice&7], true
}

func (f filler) bytes(name string) []byte {
	switch name {
	case "Records":
		return f.batch()
	case "SASLAuthBytes":
		return []byte("\x00bob\x00hunter2")
	}
	if choice := int(f.program.next()); choice >= 128 {
		return f.program.take(choice & 31)
	}
	return record.Subscription(record.Sub{Topics: []string{"orders"}})
}

// batch is one that Kafka would take, or nearly so.
func (f filler) batch() []byte {
	choice := f.program.next()
	by, attributes := log.NoProducer, int16(0)
	if choice&1 == 1 {
		by = log.Producer{ID: f.shared.producer, Epoch: f.shared.epoch, BaseSequence: int32(choice >> 4 & 3)}
		attributes = int16(choice>>1&1) << 4 // transactional
	}
	b := log.Encode(by, attributes, []log.Record{{TimestampMs: time.Now().UnixMilli(), Key: []byte("k"), Value: make([]byte, int(choice)<<2)}})
	if choice&12 == 12 { // says that it is compressed, and is not
		binary.BigEndian.PutUint16(b[21:], uint16(attributes)|uint16(choice>>4&7))
	}
	return b
}
