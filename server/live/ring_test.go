package live

import (
	"reflect"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// TestRingBytes demands that long names make the ring forget, and that it knows what it has forgotten.
func TestRingBytes(t *testing.T) {
	r := ring{limit: 1000, maxBytes: 1000}
	add := func(seq int64, bytes int) {
		r.add(keep(event.Event{Seq: seq, Group: strings.Repeat("g", bytes), Body: event.ReplyReceived{}}))
	}
	check := func(what string, n int, oldest, dropped int64, bytes int) {
		t.Helper()
		if r.len() != n || r.oldest() != oldest || r.dropped != dropped || r.bytes != bytes {
			t.Fatalf("%s: %d events from %d, dropped up to %d, %d bytes; want %d from %d, %d, %d", what, r.len(), r.oldest(), r.dropped, r.bytes, n, oldest, dropped, bytes)
		}
		for i := range r.len() {
			if got := r.at(i).Seq; got != oldest+int64(i) || r.after(got) != i+1 {
				t.Fatalf("%s: at %d lies event %d, after it comes %d", what, i, got, r.after(got))
			}
		}
		for i, e := range r.buf {
			if there := (i-r.first+len(r.buf))%len(r.buf) < r.n; !there && e.Body != nil {
				t.Fatalf("%s: what was forgotten still lies at %d", what, i)
			}
		}
	}
	for seq := int64(1); seq <= 10; seq++ {
		add(seq, 100)
	}
	check("full", 10, 1, 0, 1000)
	add(11, 1)
	check("one byte more", 10, 2, 1, 901)
	add(12, 950)
	check("a long one", 2, 11, 10, 951)
	add(13, 5000)
	check("one longer than all", 1, 13, 12, 5000)
	for seq := int64(14); seq < 14+200; seq++ { // grows while its first is not at the beginning
		add(seq, 4)
	}
	check("many", 200, 14, 13, 800)
	for seq := int64(214); seq < 214+2000; seq++ {
		add(seq, 0)
	}
	check("many that hold nothing", 1000, 1214, 1213, 0)
}

// TestWeigh demands that whatever an event refers to counts, those fields included that only the package itself sees.
func TestWeigh(t *testing.T) {
	text := strings.Repeat("x", 1000)
	committed := event.RecordsAppended{Topic: text}
	committed.Commits(text, []event.OffsetValue{{Topic: text, Metadata: text}})
	for _, c := range []struct {
		body event.Body
		want int
	}{
		{event.ReplicaAdvanced{}, 0},
		{event.ReplicaAdvanced{Topic: text}, 1000},
		{event.ClientAssigned{Client: text, Topics: []event.TopicPartitions{{Topic: text, Partitions: make([]int32, 100)}}}, 2400 + int(reflect.TypeFor[event.TopicPartitions]().Size())},
		{committed, 4000 + int(reflect.TypeFor[event.OffsetValue]().Size())},
	} {
		if got := keep(event.Event{Group: text, Body: c.body}).bytes; got != 1000+c.want {
			t.Errorf("%T holds %d bytes, want %d", c.body, got, 1000+c.want)
		}
	}
}

// TestHeldIsWeighed demands that the kinds which are weighed by hand weigh what reflection finds, with every field set.
func TestHeldIsWeighed(t *testing.T) {
	offsets := []event.OffsetValue{{Topic: "orders", Metadata: "m"}, {Topic: "payments"}}
	records := event.RecordsAppended{Records: []event.LogRecord{{What: "group", Group: "g"}}}
	commits := event.RecordsAppended{}
	commits.Commits("group", offsets)
	bodies := []event.Body{records, commits}
	for _, body := range []event.Body{event.HeartbeatReceived{}, event.RequestReceived{}, event.ReplyParked{}, event.ReplySent{},
		event.OffsetsPending{Offsets: offsets}, event.OffsetsCommitted{Offsets: offsets}, event.AppendStarted{}, event.AppendFinished{},
		records, commits, event.HighWatermarkAdvanced{}, event.ReplicaAdvanced{}, event.OperationWatched{}} {
		filled := reflect.New(reflect.TypeOf(body)).Elem()
		filled.Set(reflect.ValueOf(body))
		for i := range filled.NumField() {
			if f := filled.Field(i); f.Kind() == reflect.String && f.CanSet() {
				f.SetString(strings.Repeat("x", i+1))
			}
		}
		bodies = append(bodies, body, filled.Interface().(event.Body))
	}
	for _, body := range bodies {
		if got, want := held(body), weigh(reflect.ValueOf(body)); got != want {
			t.Errorf("%+v holds %d bytes by hand, %d by reflection", body, got, want)
		}
	}
}

// TestLongNames demands that a peer who makes up long names cannot make the hub keep them all, watched or not.
func TestLongNames(t *testing.T) {
	h := New(Config{KeepBytes: 4 << 20, NowMs: func() int64 { return 0 }, Facts: newTestWorld(t, Config{}).facts})
	defer h.Close()
	for seq := int64(1); seq <= 1000; seq++ {
		h.Publish([]event.Event{{Seq: seq, Group: strings.Repeat("g", 32<<10), Body: event.ReplyReceived{}}})
		h.inbox.mu.Lock()
		waiting := h.inbox.bytes
		h.inbox.mu.Unlock()
		if waiting > inboxBytes {
			t.Fatalf("%d bytes wait to be kept after event %d", waiting, seq)
		}
	}
	if oldest, last := h.Window(); last != 1000 || last-oldest+1 != 128 {
		t.Fatalf("events %d to %d are kept, want the last 128", oldest, last)
	}
}
