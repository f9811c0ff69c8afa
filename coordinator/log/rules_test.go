package log

import "testing"

// What lies behind the damage is gone from the store too: a segment that stayed would come back at the next start, behind
// what was written since.
func TestWhatLiesBehindTheDamageLeavesTheStore(t *testing.T) {
	k := &kept{Memory: NewMemory()}
	l := New(k, Config{SegmentBytes: 150})
	write := func(l *Log) {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, values(1, 1))), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		write(l)
	}
	if len(k.segments) < 3 {
		t.Fatalf("%d segments are too few to lose some", len(k.segments))
	}
	hurt := k.spoilt(0, k.segments[0].size-1, 0x40)
	o, err := Open(hurt, l.cfg, hurt.found(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(hurt.segments); n != 1 || hurt.segments[0].size != int(o.Size()) {
		t.Fatalf("the store has %d segments, the first of %d bytes; the log has one of %d", n, hurt.segments[0].size, o.Size())
	}
	write(o)
	write(o)
	again, err := Open(hurt, l.cfg, hurt.found(), func(d Damage) error { t.Errorf("the next start finds %+v", d); return nil })
	if err != nil || again.EndOffset() != o.EndOffset() || again.Size() != o.Size() {
		t.Fatalf("the next start: %v, a log of %d bytes up to %d; it was %d up to %d", err, again.Size(), again.EndOffset(), o.Size(), o.EndOffset())
	}
}
