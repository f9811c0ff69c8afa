package live

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grouplab/coordinator/event"
)

// ringModel is what a ring must look like: the events that are kept, one by one.
type ringModel struct {
	ring
	kept []event.Event
}

// adds gives the ring a batch of events that hold so many bytes each.
func (m *ringModel) adds(events, bytes int) {
	batch, sum := make([]event.Event, 0, events), 0
	for range events {
		e := event.Event{Seq: m.last + int64(len(batch)) + 1, Group: strings.Repeat("g", bytes), Body: event.ReplyReceived{}}
		batch, sum = append(batch, e), sum+held(&e)
	}
	m.kept = append(m.kept, batch...)
	m.ring.add(batch, sum)
}

// check compares what is kept, wherever one looks from, with the newest of all that was added. It returns how many there are.
func (m *ringModel) check(t *rapid.T) {
	if m.n > m.limit || m.bytes > m.maxBytes && len(m.segments) > 1 {
		t.Fatalf("%d events and %d bytes in %d segments are kept, %d and %d are allowed", m.n, m.bytes, len(m.segments), m.limit, m.maxBytes)
	}
	m.kept = m.kept[len(m.kept)-m.n:]
	if oldest := m.last - int64(m.n) + 1; m.oldest() != oldest || m.dropped != oldest-1 {
		t.Fatalf("the oldest is %d, dropped is up to %d; want %d", m.oldest(), m.dropped, oldest)
	}
	for _, from := range []int64{0, m.oldest() - 1, m.oldest(), (m.oldest() + m.last) / 2, m.last - 1, m.last} {
		want := m.kept[min(max(0, int(from-m.oldest()+1)), m.n):]
		if got := m.count(from); got != len(want) {
			t.Fatalf("after %d come %d, want %d", from, got, len(want))
		}
		var got []int64
		m.after(from, func(e *event.Event) bool { got = append(got, e.Seq); return true })
		if len(got) != len(want) || len(got) > 0 && (got[0] != want[0].Seq || got[len(got)-1] != m.last || !slices.IsSorted(got)) {
			t.Fatalf("after %d come %v, want %d", from, got, len(want))
		}
	}
}

// TestRing demands that a ring keeps the newest events within its bounds, in whatever batches they come, and knows what it has
// forgotten; that it keeps as many as it may, but for a segment where what they hold is too much.
func TestRing(t *testing.T) {
	const mostEvents, mostBytes = 600, 30
	rapid.Check(t, func(t *rapid.T) {
		m := &ringModel{ring: ring{limit: rapid.IntRange(1, 2000).Draw(t, "limit"), maxBytes: rapid.IntRange(1, 100_000).Draw(t, "bytes")}}
		for range rapid.IntRange(1, 10).Draw(t, "batches") {
			m.adds(rapid.IntRange(0, mostEvents).Draw(t, "events"), rapid.IntRange(0, mostBytes).Draw(t, "of bytes"))
			m.check(t)
			if m.n < min(int(m.last), m.limit) && m.bytes+mostEvents*mostBytes <= m.maxBytes {
				t.Fatalf("%d events and %d bytes are kept of %d; %d and %d are allowed", m.n, m.bytes, m.last, m.limit, m.maxBytes)
			}
		}
	})
}

// TestRingLetsGo demands that what was forgotten is not held on to: nothing lies before the first segment or in spare room.
func TestRingLetsGo(t *testing.T) {
	m := &ringModel{ring: ring{limit: 2000, maxBytes: 1 << 20}}
	for range 20 {
		m.adds(300, 10)
	}
	for _, e := range m.spare[:cap(m.spare)] {
		if e.Body != nil {
			t.Fatalf("event %d lies in spare room", e.Seq)
		}
	}
	if len(m.segments) > 2000/300+2 {
		t.Errorf("%d segments of 300 are kept for 2000 events", len(m.segments))
	}
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
		if got := held(&event.Event{Group: text, Body: c.body}); got != 1000+c.want {
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
		if got, want := heldByBody(body), weigh(reflect.ValueOf(body)); got != want {
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
	if oldest, last := h.Window(); last != 1000 || last-oldest+1 > 128 || last-oldest+1 < 96 {
		t.Fatalf("events %d to %d are kept, want the last 128 or, since a megabyte goes at a time, the last 96 or more", oldest, last)
	}
}
