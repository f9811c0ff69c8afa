package live

import (
	"context"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"
)

func BenchmarkPublish(b *testing.B) {
	for _, c := range []struct {
		name    string
		viewers int
	}{{"nobody watches", 0}, {"1 viewer", 1}, {"100 viewers", 100}} {
		b.Run(c.name, func(b *testing.B) {
			w := newTestWorld(b, Config{})
			for range c.viewers {
				go func() {
					_ = w.hub.Watch(context.Background(), Request{}, func(context.Context, []byte) error { return nil })
				}()
			}
			b.ReportAllocs()
			for b.Loop() {
				w.bump(10)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/event")
		})
	}
}

// cpu is the process's CPU time so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkViewers prints the share of one core that 1 000 events a second to so many sockets take, the sockets' other
// ends included.
func BenchmarkViewers(b *testing.B) {
	for _, c := range []struct {
		name    string
		viewers int
	}{{"10", 10}, {"100", 100}, {"1000", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			w := newTestWorld(b, Config{})
			s := serve(b, w)
			var wg sync.WaitGroup
			for range c.viewers {
				conn := rawViewer(b, s)
				wg.Go(func() { _, _ = io.Copy(io.Discard, conn) })
			}
			for w.hub.Stats().Viewers < int64(c.viewers) {
				time.Sleep(time.Millisecond)
			}
			before, began := cpu(), time.Now()
			for b.Loop() {
				w.bump(10)
				time.Sleep(10 * time.Millisecond)
			}
			b.ReportMetric(100*float64(cpu()-before)/float64(time.Since(began)), "%core")
			b.ReportMetric(float64(w.hub.Stats().Gaps), "gaps")
			w.hub.Close()
			wg.Wait()
		})
	}
}
