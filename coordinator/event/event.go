// Package event is the vocabulary of facts. Whatever changes in the coordinator, in its logs, in the cluster around it
// or in a simulated client is said here, in the past tense, once. The page, the golden transcripts, the console and a
// recording are all folds over the same stream, so nothing on screen has a truth of its own.
//
// An Event is a header and a Body. The header says when, where, for which group and because of what; the Body is one
// of the structs in the other files of this package. Bodies are values: they are never changed after they were
// emitted, so a slice of events can be shared, kept and replayed.
package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Truth says how an event came to be known. Stale and unknown are not among the values: they are the fold's to derive.
type Truth uint8

const (
	// Observed is the zero value: the machine itself said it.
	Observed Truth = iota
	// Inferred was concluded from other facts (a cause that was never written down).
	Inferred
	// Sampled was seen by asking now and then; it happened between AtMs and AtHiMs.
	Sampled
)

// String is the truth's name in JSON and in print; "" for Observed.
func (t Truth) String() string {
	switch t {
	case Inferred:
		return "inferred"
	case Sampled:
		return "sampled"
	}
	return ""
}

// Event is one fact.
type Event struct {
	// Seq numbers the facts of one world across its brokers and clients: 1, 2, 3, without holes.
	Seq int64
	// AtMs is when it happened, in the world's milliseconds. It never falls from one Seq to the next, but for what an observer
	// learned later: from a log that it reads, and where Truth is Inferred or Sampled, or AtHiMs is set.
	AtMs int64
	// AtHiMs is set where time is only bounded: it happened in [AtMs, AtHiMs]. Zero means exactly AtMs.
	AtHiMs int64
	// Broker is the broker on which it happened; 0 where it happened at a client or in the cluster as a whole.
	Broker int32
	// Truth says how it is known. (It fills a gap here: events are copied by the million.)
	Truth Truth
	// Group is the consumer group that it concerns; "" where it concerns none.
	Group string
	// Cause is the Seq of the fact that led to it; 0 for the root of a chain.
	Cause int64
	// Body is the fact itself.
	Body Body
}

// Body is what happened. Each implementation is a struct of this package, used by value.
type Body interface {
	// Kind is the name of the struct: "StateChanged".
	Kind() string
	// text prints the fact in one line, without the header.
	text() string
}

// Numbers hands out Seq. All machines, clients and the cluster of one world share one, so that one order holds across
// brokers. It is not safe for several goroutines: one goroutine owns a world.
type Numbers struct{ last int64 }

// Next returns the next number, starting with 1.
func (n *Numbers) Next() int64 { n.last++; return n.last }

// Last returns the number handed out last, 0 before the first.
func (n *Numbers) Last() int64 { return n.last }

// Clone returns numbers that go on from the same place, for a copy of the world.
func (n *Numbers) Clone() *Numbers { c := *n; return &c }

type wireEvent struct {
	Seq    int64           `json:"seq"`
	AtMs   int64           `json:"atMs"`
	AtHiMs int64           `json:"atHiMs,omitempty"`
	Broker int32           `json:"broker,omitempty"`
	Group  string          `json:"group,omitempty"`
	Cause  int64           `json:"cause,omitempty"`
	Truth  string          `json:"truth,omitempty"`
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON writes the header's fields, the body's kind and the body.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON writes to dst. It is for hosts that write many: json.Marshal reads through what
// MarshalJSON has written once more.
func (e Event) AppendJSON(dst []byte) ([]byte, error) {
	if e.Body == nil {
		return dst, fmt.Errorf("event %d has no body", e.Seq)
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return dst, fmt.Errorf("event %d, %s: %w", e.Seq, e.Body.Kind(), err)
	}
	dst = strconv.AppendInt(append(dst, `{"seq":`...), e.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"atMs":`...), e.AtMs, 10)
	dst = appendNumber(dst, `,"atHiMs":`, e.AtHiMs)
	dst = appendNumber(dst, `,"broker":`, int64(e.Broker))
	dst = appendText(dst, `,"group":`, e.Group)
	dst = appendNumber(dst, `,"cause":`, e.Cause)
	dst = appendText(dst, `,"truth":`, e.Truth.String())
	dst = append(append(append(dst, `,"kind":"`...), e.Body.Kind()...), `","body":`...)
	return append(append(dst, body...), '}'), nil
}

// appendNumber and appendText append a field, unless it is zero.
func appendNumber(dst []byte, name string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), n, 10)
}

func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	quoted, _ := json.Marshal(text) // a string cannot fail
	return append(append(dst, name...), quoted...)
}

// UnmarshalJSON reads what MarshalJSON wrote. An unknown kind or truth is an error that names it.
func (e *Event) UnmarshalJSON(data []byte) error {
	var w wireEvent
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("an event is a JSON object: %w", err)
	}
	truth := Observed
	for truth.String() != w.Truth {
		if truth++; truth > Sampled {
			return fmt.Errorf("event %d: no truth is called %q; there are \"\", %q and %q", w.Seq, w.Truth, Inferred, Sampled)
		}
	}
	zero, known := kinds[w.Kind]
	if !known {
		return fmt.Errorf("event %d: no kind is called %q", w.Seq, w.Kind)
	}
	if len(w.Body) == 0 {
		return fmt.Errorf("event %d, %s: the body is missing", w.Seq, w.Kind)
	}
	body, err := decode(zero, w.Body)
	if err != nil {
		return fmt.Errorf("event %d, %s: %w", w.Seq, w.Kind, err)
	}
	*e = Event{w.Seq, w.AtMs, w.AtHiMs, w.Broker, truth, w.Group, w.Cause, body}
	return nil
}

// decode reads a body of the same kind as zero.
func decode(zero Body, data []byte) (Body, error) {
	b := reflect.New(reflect.TypeOf(zero))
	err := json.Unmarshal(data, b.Interface())
	return b.Elem().Interface().(Body), err
}
