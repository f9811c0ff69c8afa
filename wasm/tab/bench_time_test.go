package tab

import (
	"runtime"
	"testing"
)

// far lets so many events happen, the picture included.
func far(d *desk, events int64) {
	for end := d.lesson.head.seq() + events; d.lesson.head.seq() < end; {
		d.lesson.pass(d.lesson.cursor.nowMs + 1000)
	}
	d.frame(16)
}

// BenchmarkBackTenThousand is one rewind over 10 000 events of 50 members, the picture and its HTML included.
func BenchmarkBackTenThousand(b *testing.B) {
	d := crowd(b, 50)
	far(d, 12_000)
	end := d.seq()
	for b.Loop() {
		b.StopTimer()
		d.do("end", "")
		b.StartTimer()
		d.lesson.show(end - 10_000)
		d.frame(16)
	}
	if d.seq() != end-10_000 {
		b.Fatalf("at %d, not %d", d.seq(), end-10_000)
	}
}

// BenchmarkFrame500 is a frame at speed 1 with 500 members, the world, the picture and its HTML included.
func BenchmarkFrame500(b *testing.B) {
	d := crowd(b, 500)
	d.do("play", "")
	for b.Loop() {
		d.frame(16)
	}
}

// heapMB is what lives, after garbage is gone.
func heapMB() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// BenchmarkHour is an hour of 20 members with branches, and prints what lives after each third of it: it must be flat.
func BenchmarkHour(b *testing.B) {
	for b.Loop() {
		d := crowd(b, 20)
		var after []float64
		for part := range 3 {
			for i := range 20 { // a minute each
				at := d.lesson.cursor.nowMs
				far := at + 60_000
				for d.lesson.cursor.nowMs < far {
					d.lesson.pass(far)
				}
				d.frame(16)
				if i%5 == 4 { // an act in the past leaves a branch
					d.do("seek", seqText(far-5000))
					d.do([]string{"kill", "start"}[(part*4+i/5)%2], "c1")
				}
			}
			after = append(after, heapMB())
		}
		b.ReportMetric(after[0], "MB-20min")
		b.ReportMetric(after[1], "MB-40min")
		b.ReportMetric(after[2], "MB-60min")
		if len(d.lesson.branches) > maxBranches {
			b.Fatalf("%d branches", len(d.lesson.branches))
		}
	}
}
