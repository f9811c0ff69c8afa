package observe

import (
	"context"
	"sync"
	"time"
)

// What an observer asks of one broker in any second is less than 20 requests: perSecond and burst of all that it asks by
// itself, a Fetch each fetchPace, and Metadata each metadataPace at most, whichever broker it goes to.
const (
	perSecond    = 6
	burst        = 3
	fetchPace    = 150 * time.Millisecond
	metadataPace = 500 * time.Millisecond
)

// limits are the buckets of the brokers.
type limits struct {
	mu sync.Mutex
	of map[int32]*bucket
}

// bucket holds the moment at which it would be full again.
type bucket struct{ full time.Time }

// wait waits until the broker may be asked once more.
func (l *limits) wait(ctx context.Context, broker int32) error {
	const each = time.Second / perSecond
	l.mu.Lock()
	b := l.of[broker]
	if b == nil {
		b = &bucket{}
		l.of[broker] = b
	}
	now := time.Now()
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(each)
	delay := b.full.Sub(now) - burst*each
	l.mu.Unlock()
	return pause(ctx, delay)
}

// pause waits, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
