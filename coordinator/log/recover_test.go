package log

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kept is a Memory that remembers its notes, as a store on disk does.
type kept struct {
	*Memory
	notes Notes
}

func (k *kept) Note(n Notes) error {
	k.notes = Notes{n.Start, n.Cleaned, slices.Clone(n.Epochs)}
	return nil
}

func (k *kept) found() Found {
	f := Found{Notes: k.notes}
	for _, s := range k.segments {
		f.Segments = append(f.Segments, FoundSegment{s.base, s.size})
	}
	return f
}

// spoilt is a copy with one bit of a segment turned.
func (k *kept) spoilt(segment, at int, bit byte) *kept {
	c := &kept{NewMemory(), k.notes}
	for i, s := range k.segments {
		data, _ := k.Read(s.base, 0, s.size)
		data = bytes.Clone(data)
		if i == segment {
			data[at] ^= bit
		}
		c.segments = append(c.segments, memorySegment{base: s.base, size: s.size, blocks: []block{{data: data}}})
	}
	return c
}

// written is a log with everything in it that recovery must find again.
func written(t *rapid.T) (*Log, *kept) {
	k := &kept{Memory: NewMemory()}
	l := New(k, Config{SegmentBytes: rapid.IntRange(150, 900).Draw(t, "segment"), IndexIntervalBytes: 200})
	epoch, sequence, open := int32(0), int32(0), false
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 11).Draw(t, "step") {
		case 0:
			epoch++
			l.BeginEpoch(epoch)
		case 1:
			if err := l.Truncate(max(l.start, l.end-int64(rapid.IntRange(0, 6).Draw(t, "cut")))); err != nil {
				t.Fatal(err)
			}
			sequence, epoch = 0, epoch+1
			for _, p := range l.Active() {
				open = p.TransactionStart >= 0
				if p.ProducerID == 7 {
					sequence = p.LastSequence + 1
				}
			}
			l.BeginEpoch(epoch)
		case 2:
			if err := l.DeleteBefore(l.start + int64(rapid.IntRange(0, 3).Draw(t, "delete"))); err != nil {
				t.Fatal(err)
			}
		case 3:
			if open {
				appended(t, l, Marker{ProducerID: 7, ProducerEpoch: 1, Commit: rapid.Bool().Draw(t, "commit"), TimestampMs: 5}.Encode(), epoch)
				open = false
			}
		case 4, 5:
			n := rapid.IntRange(1, 3).Draw(t, "n")
			appended(t, l, Encode(Producer{7, 1, sequence}, Transactional, values(n, 9)), epoch)
			sequence, open = sequence+int32(n), true
		default:
			appended(t, l, Encode(NoProducer, 0, values(rapid.IntRange(1, 4).Draw(t, "n"), rapid.Int64Range(0, 99).Draw(t, "ms"))), epoch)
		}
	}
	return l, k
}

func appended(t *rapid.T, l *Log, batch []byte, epoch int32) {
	b, _, err := Parse(batch)
	if err == nil {
		_, err = l.Append(b, epoch)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenFindsEverything: a log that is read back is the log that was written: bounds, epochs, index, transactions.
func TestOpenFindsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, k := written(t)
		o, err := Open(k, l.cfg, k.found(), func(d Damage) error { t.Fatalf("nothing is damaged, and yet: %+v", d); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if o.start != l.start || o.end != l.end || o.LatestEpoch() != l.LatestEpoch() || o.Size() != l.Size() {
			t.Fatalf("%d to %d, epoch %d, %d bytes; it was %d to %d, epoch %d, %d bytes", o.start, o.end, o.LatestEpoch(), o.Size(), l.start, l.end, l.LatestEpoch(), l.Size())
		}
		for e := range int32(20) {
			epoch, end := l.EpochEnd(e)
			if got, gotEnd := o.EpochEnd(e); got != epoch || gotEnd != end {
				t.Fatalf("epoch %d: %d ended at %d; it was %d at %d (%v, %v)", e, got, gotEnd, epoch, end, o.epochs, l.epochs)
			}
		}
		if !slices.Equal(o.Active(), l.Active()) && l.start == 0 { // a producer of which all was deleted is forgotten
			t.Fatalf("producers %v; they were %v", o.Active(), l.Active())
		}
		if l.start == 0 && !slices.Equal(o.Aborted(0, o.end), l.Aborted(0, l.end)) {
			t.Fatalf("aborted %v; they were %v", o.Aborted(0, o.end), l.Aborted(0, l.end))
		}
		if !slices.EqualFunc(batchesOf(t, o), batchesOf(t, l), bytes.Equal) {
			t.Fatal("the batches differ")
		}
	})
}

func batchesOf(t *rapid.T, l *Log) (list [][]byte) {
	if err := l.Each(l.start, l.end, func(b Batch) bool { list = append(list, b.Bytes); return true }); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestOpenCutsAtTheDamage: one wrong bit anywhere, or a lost end, costs nothing before it; what is left can be written to.
func TestOpenCutsAtTheDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, k := written(t)
		if len(k.segments) == 0 || l.Size() == 0 {
			return
		}
		at := rapid.IntRange(0, int(l.Size())-1).Draw(t, "at")
		segment := 0
		for at >= k.segments[segment].size {
			at -= k.segments[segment].size
			segment++
		}
		hurt := k.spoilt(segment, at, 1<<rapid.IntRange(0, 7).Draw(t, "bit"))
		if rapid.Bool().Draw(t, "lost") { // the end is lost instead
			hurt = k.spoilt(segment, at, 0)
			hurt.segments = hurt.segments[:segment+1]
			if err := hurt.Truncate(hurt.segments[segment].base, at); err != nil {
				t.Fatal(err)
			}
			hurt.segments[segment].size = at
		}
		o, err := Open(hurt, l.cfg, hurt.found(), nil)
		if err != nil {
			t.Fatal(err)
		}
		before := 0 // whole batches before the damage that are not deleted
		for i, s := range k.segments[:segment+1] {
			data, _ := k.Read(s.base, 0, s.size)
			for position := 0; position < len(data); position += sizeOf(data[position:]) {
				if (i < segment || position+sizeOf(data[position:]) <= at) && nextOffset(data[position:]) > l.start {
					before++
				}
			}
		}
		was, is := batchesOf(t, l), batchesOf(t, o)
		if len(is) < before || !slices.EqualFunc(is[:before], was[:before], bytes.Equal) {
			t.Fatalf("%d batches are left, of %d before the damage", len(is), before)
		}
		end := o.end
		appended(t, o, Encode(NoProducer, 0, values(2, 1)), max(0, o.LatestEpoch()))
		if o.end != end+2 || len(batchesOf(t, o)) != len(is)+1 {
			t.Fatal("what is left cannot be written to")
		}
	})
}

// TestDamageIsNamed: a torn end is told from damage with something behind it.
func TestDamageIsNamed(t *testing.T) {
	k := &kept{Memory: NewMemory()}
	l := New(k, Config{SegmentBytes: 300})
	for range 8 {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(1, 1))), 0); err != nil {
			t.Fatal(err)
		}
	}
	size, last := k.segments[0].size/4, len(k.segments)-1
	for _, c := range []struct {
		name         string
		segment, at  int
		torn         bool
		offset, lost int64
		reason       string
	}{
		{"a record in the middle", 0, size + 70, false, 1, 7, "CRC"},
		{"a length in the middle", 0, size + atLength, false, 1, 7, "cannot be in"},
		{"an offset in the middle", 0, size, false, 1, 7, "comes next"},
		{"a magic number", 0, 2*size + atMagic, false, 2, 6, "magic"},
		{"the last record", last, k.segments[last].size - 1, true, 7, 1, "CRC"},
	} {
		var found Damage
		hurt := k.spoilt(c.segment, c.at, 0x40)
		o, err := Open(hurt, l.cfg, hurt.found(), func(d Damage) error { found = d; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if found.Torn != c.torn || found.Offset != c.offset || found.Bytes != c.lost*int64(size) || !strings.Contains(found.Reason, c.reason) || o.end != c.offset {
			t.Errorf("%s: %+v; the log ends at %d", c.name, found, o.end)
		}
	}
}
