package kafka

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxRows bounds the elements of all arrays of a request, tagged fields among them. One of 8 MB could have eight million,
	// each a structure in memory, a row in the answer and a moment of the loop that everybody shares. Kafka has no such bound.
	maxRows = 100_000
	// maxStringBytes is the longest string of the protocol. Versions with compact lengths could write a longer one; Kafka's
	// parser closes the connection on it ("had invalid length"), in every field of every request.
	maxStringBytes = 1<<15 - 1
	// maxRepeats bounds how often a request may name the same thing, where the answer has all of it once for each time: a
	// group with its members, a partition with its producers.
	maxRepeats = 8
	// maxProtocols bounds the protocols of one member, which are compared with one another, and kept. Clients have up to five.
	maxProtocols = 1000
	// largeBody is the size from which bodies take turns to be decoded: decoding reserves up to thirty times as much before
	// anything can be counted. Produce is counted first (checkProduce).
	largeBody     = 256 << 10
	decodedAtOnce = 1
)

// decoding are the turns of large bodies.
var decoding = make(chan struct{}, decodedAtOnce)

// takeTurn waits until a body may be decoded, or the connection is over; done lets the next one.
func (c *conn) takeTurn(h header) (done func(), err error) {
	if len(h.body) <= largeBody || h.key == produceAPI.key {
		return func() {}, nil
	}
	select {
	case decoding <- struct{}{}:
		return func() { <-decoding }, nil
	case <-c.dead:
		return nil, errDropped
	}
}

// checkRows refuses a decoded request whose strings are too long, or that has too many rows, or some of them too often.
func checkRows(a *api, h header, request kmsg.Request) error {
	if len(h.body) > maxStringBytes { // else it has room for neither
		var n rows
		n.count(reflect.ValueOf(request).Elem())
		if n.long > 0 {
			return refusef("%s v%d: a string has %d bytes; %d are allowed", a.name, h.version, n.long, maxStringBytes)
		}
		if n.rows > maxRows && h.key != produceAPI.key {
			return refusef("%s v%d: the request has more than %d rows", a.name, h.version, maxRows)
		}
	}
	if join, ok := request.(*kmsg.JoinGroupRequest); ok && len(join.Protocols) > maxProtocols {
		return refusef("%s v%d: a member has %d protocols; %d are allowed", a.name, h.version, len(join.Protocols), maxProtocols)
	}
	if len(h.body) > maxRepeats {
		if name, repeated := repeats(request); repeated {
			return refusef("%s v%d: the request names %.100q more than %d times", a.name, h.version, name, maxRepeats)
		}
	}
	return nil
}

// rows counts what a request has; long is the length of a string that is too long.
type rows struct{ rows, long int }

func (n *rows) count(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxStringBytes {
			n.long = v.Len()
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n.count(v.Elem())
		}
	case reflect.Slice:
		n.list(v)
	case reflect.Struct:
		if tags, ok := v.Addr().Interface().(*kmsg.Tags); ok {
			n.rows += tags.Len()
			return
		}
		for i := range v.NumField() {
			n.count(v.Field(i))
		}
	}
}

func (n *rows) list(v reflect.Value) {
	of := v.Type().Elem().Kind()
	if of == reflect.Uint8 {
		return
	}
	if n.rows += v.Len(); of != reflect.Struct && of != reflect.String {
		return
	}
	for i := 0; i < v.Len() && n.rows <= maxRows && n.long == 0; i++ {
		n.count(v.Index(i))
	}
}

// repeats finds what a request names too often.
func repeats(request kmsg.Request) (name string, found bool) {
	times := map[any]int{}
	often := func(key any, called string) {
		if times[key]++; times[key] > maxRepeats {
			name, found = called, true
		}
	}
	switch q := request.(type) {
	case *kmsg.DescribeGroupsRequest:
		for _, id := range q.Groups {
			often(id, id)
		}
	case *kmsg.OffsetFetchRequest:
		for i := range q.Groups {
			often(q.Groups[i].Group, q.Groups[i].Group)
		}
	case *kmsg.DescribeTransactionsRequest:
		for _, id := range q.TransactionalIDs {
			often(id, id)
		}
	case *kmsg.DescribeConfigsRequest:
		for i := range q.Resources {
			often(resource{q.Resources[i].ResourceType, q.Resources[i].ResourceName}, q.Resources[i].ResourceName)
		}
	case *kmsg.DescribeProducersRequest:
		for _, t := range q.Topics {
			for _, p := range t.Partitions {
				often(place{t.Topic, p}, t.Topic)
			}
		}
	}
	return name, found
}

// resource is what DescribeConfigs names.
type resource struct {
	kind kmsg.ConfigResourceType
	name string
}
