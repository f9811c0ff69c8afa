package log

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

func parsed(t testing.TB, data []byte) Batch {
	t.Helper()
	b, rest, err := Parse(data)
	if err != nil || len(rest) != 0 {
		t.Fatalf("Parse: %v, %d bytes left", err, len(rest))
	}
	return b
}

func values(n int, ms int64) []Record {
	var records []Record
	for i := range n {
		records = append(records, Record{TimestampMs: ms, Value: fmt.Appendf(nil, "%d/%d", i, n)})
	}
	return records
}

// model is what a log should be: its batches, one after another.
type model struct {
	start, end int64
	batches    []Batch
}

func (m *model) add(b Batch) { m.batches, m.end = append(slices.Clip(m.batches), b), b.NextOffset() }

func (m *model) truncate(to int64) {
	keep := 0
	for keep < len(m.batches) && m.batches[keep].NextOffset() <= to {
		keep++
	}
	if keep < len(m.batches) {
		m.end = m.batches[keep].BaseOffset
	}
	m.batches = slices.Clip(m.batches[:keep])
}

func (m *model) epochEnd(epoch int32) (int32, int64) {
	latest := int32(-1)
	for _, b := range m.batches {
		latest = b.LeaderEpoch
	}
	if epoch > latest || epoch < 0 {
		return -1, -1
	}
	found, end := int32(-1), m.end
	for _, b := range m.batches {
		if b.LeaderEpoch > epoch {
			end = b.BaseOffset
			break
		}
		found = b.LeaderEpoch
	}
	if found < 0 {
		return epoch, end
	}
	return found, end
}

func (m *model) offsetForTime(ms, upTo int64) (int64, bool) {
	for _, b := range m.batches {
		if b.NextOffset() > upTo {
			return -1, false
		}
		records, _ := b.Records(nil)
		for _, r := range records {
			if r.TimestampMs >= ms {
				return r.Offset, true
			}
		}
	}
	return -1, false
}

func (m *model) compare(t *rapid.T, l *Log) {
	if l.StartOffset() != m.start || l.EndOffset() != m.end {
		t.Fatalf("log has %d to %d, want %d to %d", l.StartOffset(), l.EndOffset(), m.start, m.end)
	}
	i := 0
	err := l.Each(l.StartOffset(), l.EndOffset(), func(b Batch) bool {
		if i >= len(m.batches) || !bytes.Equal(b.Bytes, m.batches[i].Bytes) {
			t.Fatalf("batch %d at %d is not what was written", i, b.BaseOffset)
		}
		i++
		return true
	})
	if err != nil || i != len(m.batches) {
		t.Fatalf("%d batches, want %d: %v", i, len(m.batches), err)
	}
	var size int64
	for _, b := range m.batches {
		size += int64(len(b.Bytes))
	}
	if l.Size() != size {
		t.Fatalf("%d bytes, want %d", l.Size(), size)
	}
	for epoch := int32(-1); epoch < 12; epoch++ {
		gotEpoch, gotEnd := l.EpochEnd(epoch)
		if wantEpoch, wantEnd := m.epochEnd(epoch); gotEpoch != wantEpoch || gotEnd != wantEnd {
			t.Fatalf("epoch %d ends as %d at %d, want %d at %d (%v)", epoch, gotEpoch, gotEnd, wantEpoch, wantEnd, l.epochs)
		}
	}
}

// pair is a log and what it should be.
type pair struct {
	l *Log
	m model
}

func (p *pair) append(t *rapid.T, epoch int32) {
	b, _, _ := Parse(Encode(NoProducer, 0, values(rapid.IntRange(1, 5).Draw(t, "n"), rapid.Int64Range(0, 50).Draw(t, "ms"))))
	before := bytes.Clone(b.Bytes)
	got, err := p.l.Append(b, epoch)
	if err != nil || got.BaseOffset != p.m.end || got.LeaderEpoch != epoch {
		t.Fatalf("appended at %d in epoch %d, want %d in %d: %v", got.BaseOffset, got.LeaderEpoch, p.m.end, epoch, err)
	}
	if !bytes.Equal(before, b.Bytes) {
		t.Fatal("Append changed the bytes that it was given")
	}
	if err := got.CheckCRC(); err != nil {
		t.Fatal(err)
	}
	got.Bytes = bytes.Clone(got.Bytes)
	p.m.add(got)
}

func (p *pair) truncate(t *rapid.T) {
	to := rapid.Int64Range(p.m.start, p.m.end+2).Draw(t, "to")
	if err := p.l.Truncate(to); err != nil {
		t.Fatal(err)
	}
	p.m.truncate(to)
}

func (p *pair) read(t *rapid.T) {
	offset := rapid.Int64Range(p.m.start, p.m.end).Draw(t, "offset")
	upTo := rapid.Int64Range(p.m.start, p.m.end).Draw(t, "up to")
	maxBytes, minOne := rapid.IntRange(0, 900).Draw(t, "bytes"), rapid.Bool().Draw(t, "one")
	data, err := p.l.Read(offset, upTo, maxBytes, minOne)
	if err != nil {
		t.Fatal(err)
	}
	checkRead(t, &p.m, offset, upTo, maxBytes, minOne, data)
}

func (p *pair) time(t *rapid.T) {
	ms, upTo := rapid.Int64Range(0, 55).Draw(t, "ms"), rapid.Int64Range(p.m.start, p.m.end).Draw(t, "up to")
	got, foundMs, ok, err := p.l.OffsetForTime(ms, upTo, nil)
	want, found := p.m.offsetForTime(ms, upTo)
	if err != nil || ok != found || (ok && (got != want || foundMs < ms)) {
		t.Fatalf("time %d below %d: %d at %d ms, %v, %v; want %d, %v", ms, upTo, got, foundMs, ok, err, want, found)
	}
}

// A log behaves like a list of batches, and so does each copy of it, whatever is done to the others.
func TestLogIsAListOfBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{SegmentBytes: rapid.IntRange(100, 800).Draw(t, "segment"), IndexIntervalBytes: rapid.IntRange(1, 300).Draw(t, "interval")}
		logs := []*pair{{l: New(NewMemory(), cfg)}}
		epoch := int32(0)
		pick := func() *pair { return logs[rapid.IntRange(0, len(logs)-1).Draw(t, "log")] }
		t.Repeat(map[string]func(*rapid.T){
			"append":   func(t *rapid.T) { pick().append(t, epoch) },
			"truncate": func(t *rapid.T) { pick().truncate(t) },
			"read":     func(t *rapid.T) { pick().read(t) },
			"time":     func(t *rapid.T) { pick().time(t) },
			"epoch":    func(*rapid.T) { epoch = min(epoch+1, 10) },
			"clone": func(*rapid.T) {
				if len(logs) < 4 {
					p := pick()
					logs = append(logs, &pair{p.l.Clone(), p.m})
				}
			},
			"": func(t *rapid.T) {
				for _, p := range logs {
					p.m.compare(t, p.l)
				}
			},
		})
	})
}

func checkRead(t *rapid.T, m *model, offset, upTo int64, maxBytes int, minOne bool, data []byte) {
	size := len(data)
	first := true
	for len(data) > 0 {
		b, rest, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if first && (b.BaseOffset > offset || b.NextOffset() <= offset) {
			t.Fatalf("the first batch is %d to %d, asked was %d", b.BaseOffset, b.LastOffset(), offset)
		}
		if b.NextOffset() > upTo {
			t.Fatalf("batch %d to %d is not below %d", b.BaseOffset, b.LastOffset(), upTo)
		}
		if !first && size > maxBytes {
			t.Fatalf("%d bytes in several batches, at most %d were asked for", size, maxBytes)
		}
		first, data = false, rest
	}
	if !first {
		return
	}
	for _, b := range m.batches {
		if b.NextOffset() > offset && b.BaseOffset <= offset && b.NextOffset() <= upTo && (minOne || len(b.Bytes) <= maxBytes) {
			t.Fatalf("nothing read at %d below %d with %d bytes, but batch %d to %d fits", offset, upTo, maxBytes, b.BaseOffset, b.LastOffset())
		}
	}
}

// Bytes that were read stay as they are, even where the log is cut under them and written anew.
func TestReadBytesNeverChange(t *testing.T) {
	l := New(NewMemory(), Config{})
	for i := range 10 {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(2, int64(i)))), 1); err != nil {
			t.Fatal(err)
		}
	}
	data, err := l.Read(0, 20, 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(data)
	if err := l.Truncate(4); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(3, 99))), 2); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(kept, data) {
		t.Fatal("bytes that were read have changed")
	}
}

func TestFollowerTakesOnlyWhatFollows(t *testing.T) {
	leader, follower := New(NewMemory(), Config{}), New(NewMemory(), Config{})
	for i := range 3 {
		if _, err := leader.Append(parsed(t, Encode(NoProducer, 0, values(2, int64(i)))), int32(i)); err != nil {
			t.Fatal(err)
		}
	}
	all, _ := leader.Read(0, 6, 1<<20, true)
	late, _ := leader.Read(2, 6, 1<<20, true)
	damaged := bytes.Clone(all)
	damaged[len(damaged)-1] ^= 1
	if n, err := follower.AppendReplica(damaged); err == nil || n != 2 {
		t.Errorf("of three batches, the last one damaged, %d were taken: %v", n, err)
	}
	if err := follower.Truncate(0); err != nil || follower.EndOffset() != 0 || follower.LatestEpoch() != -1 {
		t.Fatalf("cut to nothing: end %d, epoch %d, %v", follower.EndOffset(), follower.LatestEpoch(), err)
	}
	if n, err := follower.AppendReplica(all); err != nil || n != 3 || follower.EndOffset() != 6 || follower.LatestEpoch() != 2 {
		t.Errorf("%d batches, end %d, epoch %d, %v", n, follower.EndOffset(), follower.LatestEpoch(), err)
	}
	if _, err := follower.AppendReplica(late); err == nil || follower.EndOffset() != 6 {
		t.Errorf("a batch before the end was taken: %v", err)
	}
	if same, _ := follower.Read(0, 6, 1<<20, true); !bytes.Equal(same, all) {
		t.Error("the follower's bytes differ from the leader's")
	}
}

func TestRetainDeletesOldSegments(t *testing.T) {
	fill := func() *Log {
		l := New(NewMemory(), Config{SegmentBytes: 150}) // two batches a segment
		for i := range 10 {
			if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(1, int64(1000+i)))), int32(i/4)); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	for _, c := range []struct {
		name                            string
		bytes, beforeMs, minStart, keep int64
		start                           int64
	}{
		{"no bound", -1, -1, 0, 10, 0},
		{"by size", 250, -1, 0, 10, 6},
		{"by age", -1, 1004, 0, 10, 4},
		{"by age, in mid-segment", -1, 1003, 0, 10, 2},
		{"by the leader's start", -1, -1, 5, 10, 4},
		{"not beyond the high watermark", 0, -1, 0, 5, 4},
		{"never the newest", 0, 5000, 10, 10, 8},
	} {
		l := fill()
		if err := l.Retain(c.bytes, c.beforeMs, c.minStart, c.keep); err != nil {
			t.Fatal(err)
		}
		if l.StartOffset() != c.start || l.EndOffset() != 10 {
			t.Errorf("%s: %d to %d, want %d to 10", c.name, l.StartOffset(), l.EndOffset(), c.start)
		}
		first := int64(-1)
		if err := l.Each(0, 10, func(b Batch) bool { first = b.BaseOffset; return false }); err != nil || first != c.start {
			t.Errorf("%s: the first batch is at %d, want %d (%v)", c.name, first, c.start, err)
		}
		if _, end := l.EpochEnd(0); end != max(4, c.start) {
			t.Errorf("%s: epoch 0 ends at %d, want %d", c.name, end, max(4, c.start))
		}
	}
}

func TestNewestIsTheFirstOfTheLargestTimestamps(t *testing.T) {
	l := New(NewMemory(), Config{SegmentBytes: 150})
	if _, _, ok, err := l.Newest(nil); ok || err != nil {
		t.Errorf("an empty log has a newest record: %v", err)
	}
	for _, ms := range []int64{5, 9, 3, 9, 1} {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(1, ms))), 0); err != nil {
			t.Fatal(err)
		}
	}
	if offset, ms, ok, err := l.Newest(nil); offset != 1 || ms != 9 || !ok || err != nil {
		t.Errorf("newest is %d at %d ms (%v, %v), want 1 at 9 ms", offset, ms, ok, err)
	}
}

func TestDescribeTellsWhatTheCoordinatorWrote(t *testing.T) {
	protocol, leader := "range", "m1"
	data := Encode(NoProducer, 0, []Record{
		{Key: record.OffsetKey("g", "orders", 3), Value: record.OffsetValue(record.Offset{Offset: 42, LeaderEpoch: -1, Metadata: "m", CommitTimestampMs: 1, ExpireTimestampMs: -1})},
		{Key: record.OffsetKey("g", "orders", 4)},
		{Key: record.GroupKey("g"), Value: record.GroupValue(record.Group{ProtocolType: "consumer", Generation: 7, Protocol: &protocol, Leader: &leader,
			StateTimestampMs: -1, Members: []record.Member{{MemberID: "m1"}, {MemberID: "m2"}}})},
		{Key: record.GroupKey("g")},
		{Key: []byte{0, 9, 1}, Value: []byte("x")},
		{Key: record.GroupKey("g"), Value: []byte("damaged")},
		{},
	})
	want := []event.LogRecord{
		{What: "offset", Group: "g", Topic: "orders", Partition: 3, Offset: 42, Metadata: "m"},
		{What: "offset", Group: "g", Topic: "orders", Partition: 4, Tombstone: true},
		{What: "group", Group: "g", Generation: 7, Members: 2, Protocol: "range"},
		{What: "group", Group: "g", Tombstone: true},
		{What: "other"},
		{What: "other"},
		{What: "other", Tombstone: true},
	}
	if got := Describe(parsed(t, data), nil); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
