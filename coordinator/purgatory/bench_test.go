package purgatory

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// sessionMs spreads deadlines as the sessions of a big cluster do.
func sessionMs(i int) int64 { return 10_000 + int64(i%35_000) }

func filledWheel(n int) (*Wheel, []Timer) {
	w := NewWheel(1_790_000_000_000)
	timers := make([]Timer, n)
	for i := range timers {
		timers[i] = w.Arm(0, int32(i), w.ClockMs()+sessionMs(i))
	}
	return w, timers
}

var sizes = []int{10, 1_000, 100_000, 10_000_000}

// BenchmarkWheelRearm re-arms one timer among N pending: what a heartbeat does to its session. The budget is 50 ns and
// no allocation, whatever N is.
func BenchmarkWheelRearm(b *testing.B) {
	for _, n := range sizes {
		w, timers := filledWheel(n)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			one := timers[n/2]
			for i := 0; b.Loop(); i++ {
				w.Rearm(one, w.ClockMs()+sessionMs(i))
			}
		})
	}
}

// BenchmarkWheelRearmRandom re-arms a timer chosen at random: from some size on its cost is that of memory far away.
func BenchmarkWheelRearmRandom(b *testing.B) {
	for _, n := range sizes {
		w, timers := filledWheel(n)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			r := rand.New(rand.NewPCG(1, 2))
			for i := 0; b.Loop(); i++ {
				w.Rearm(timers[r.IntN(n)], w.ClockMs()+sessionMs(i))
			}
		})
	}
}

// BenchmarkAfterFuncReset is the same with the runtime's own timers, for comparison. Ten million of them do not fit
// beside the others.
func BenchmarkAfterFuncReset(b *testing.B) {
	for _, n := range sizes[:3] {
		timers := make([]*time.Timer, n)
		for i := range timers {
			timers[i] = time.AfterFunc(time.Hour+time.Duration(sessionMs(i))*time.Millisecond, func() {})
		}
		for _, random := range []bool{false, true} {
			b.Run(fmt.Sprintf("random=%v/N=%d", random, n), func(b *testing.B) {
				b.ReportAllocs()
				r := rand.New(rand.NewPCG(1, 2))
				at := n / 2
				for i := 0; b.Loop(); i++ {
					if random {
						at = r.IntN(n)
					}
					timers[at].Reset(time.Hour + time.Duration(sessionMs(i))*time.Millisecond)
				}
			})
		}
		for _, t := range timers {
			t.Stop()
		}
	}
}

// BenchmarkWheelAdvance moves a wheel of N sessions, each re-armed when it expires, by 1 ms an iteration.
func BenchmarkWheelAdvance(b *testing.B) {
	for _, n := range sizes[:3] {
		w, _ := filledWheel(n)
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			expired := 0
			for b.Loop() {
				for nowMs := w.ClockMs() + 1; ; {
					x, ok := w.Advance(nowMs, nil)
					if !ok {
						break
					}
					expired++
					w.Arm(0, x.Ref, x.DeadlineMs+sessionMs(int(x.Ref)))
				}
			}
			b.ReportMetric(float64(expired)/float64(b.N), "expired/op")
		})
	}
}

// BenchmarkHeartbeat is what a heartbeat does to a purgatory of N members: the old operation ends, the key is knocked
// on and a new operation waits.
func BenchmarkHeartbeat(b *testing.B) {
	type names struct{ group, member string }
	b.Run("key=number", func(b *testing.B) { heartbeats(b, func(i int) int32 { return int32(i) }) })
	b.Run("key=names", func(b *testing.B) {
		heartbeats(b, func(i int) names {
			return names{"orders-svc", fmt.Sprintf("consumer-%d-5f2c9a3e-7a43-4a0e-b6a5-2f9d0e1c4b7a", i)}
		})
	})
}

func heartbeats[K comparable](b *testing.B, key func(int) K) {
	for _, n := range sizes[:3] {
		w := NewWheel(0)
		p := New[K, int64](w, 0, idle[K]{})
		keys, ops := make([]K, n), make([]Op, n)
		for i := range keys {
			keys[i] = key(i)
			ops[i], _ = p.TryCompleteElseWatch(0, 0, 45_000, keys[i])
		}
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % n
				p.Complete(ops[at])
				p.CheckAndComplete(keys[at])
				ops[at], _ = p.TryCompleteElseWatch(w.ClockMs(), 0, w.ClockMs()+45_000+int64(i%1000), keys[at])
			}
		})
	}
}
