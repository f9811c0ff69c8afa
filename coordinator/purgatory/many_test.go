package purgatory

import "testing"

// Ten million timers at once, from a millisecond to years ahead, so on nine wheels: each ends exactly at its millisecond,
// none is lost and none ends twice, and a wheel that was emptied keeps its room.
func TestTenMillionTimers(t *testing.T) {
	const n = 10_000_000
	const seconds, years = n * 6 / 10, n / 1000 // how many end within 45 s, and how many in the years to come
	w := NewWheel(1_790_000_000_000)
	startMs := w.ClockMs()
	deadline := func(i int32) int64 {
		switch {
		case i < seconds:
			return startMs + 1 + int64(i)%45_000
		case i < n-years:
			return startMs + 45_001 + int64(i)%3_555_000 // within the hour
		}
		return startMs + int64(i-(n-years)+1)*(1<<25) // each nine hours later, for ten years
	}
	w.entries = make([]entry, 0, n) // its growth would double what the test needs
	for i := range int32(n) {
		w.Arm(0, i, deadline(i))
	}
	if w.Size() != n || w.Levels() != 9 {
		t.Fatalf("%d timers on %d wheels", w.Size(), w.Levels())
	}
	seen := make([]uint64, n/64+1)
	ended := 0
	for w.Size() > 0 {
		nowMs := w.NextMs()
		for {
			x, due := w.Advance(nowMs, nil)
			if !due {
				break
			}
			if w.ClockMs() != x.DeadlineMs || x.DeadlineMs != deadline(x.Ref) {
				t.Fatalf("timer %d ended at %d, it was armed for %d", x.Ref, w.ClockMs(), deadline(x.Ref))
			}
			if bit := uint64(1) << (x.Ref % 64); seen[x.Ref/64]&bit == 0 {
				seen[x.Ref/64] |= bit
				ended++
			}
		}
	}
	if ended != n || w.NextMs() != -1 || len(w.entries) != n {
		t.Fatalf("%d of %d ended, room for %d", ended, n, len(w.entries))
	}
}
