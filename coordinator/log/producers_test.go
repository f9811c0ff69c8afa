package log

import (
	"errors"
	"math"
	"testing"
)

// try sends a batch of n records as a producer does, and tells where it is and what was wrong.
func try(t *testing.T, l *Log, p Producer, n int) (base int64, duplicate bool, code int16) {
	t.Helper()
	b := parsed(t, Encode(p, 0, values(n, 1000)))
	base, duplicate, err := l.Check(b)
	var known *Error
	if errors.As(err, &known) {
		return -1, false, known.Code
	}
	if err != nil {
		t.Fatal(err)
	}
	if duplicate {
		return base, true, 0
	}
	b, err = l.Append(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b.BaseOffset, false, 0
}

type attempt struct {
	p         Producer
	n         int
	base      int64
	duplicate bool
	code      int16
}

func attempts(t *testing.T, l *Log, list ...attempt) {
	t.Helper()
	for i, a := range list {
		base, duplicate, code := try(t, l, a.p, a.n)
		if code != a.code || (code == 0 && (base != a.base || duplicate != a.duplicate)) {
			t.Fatalf("attempt %d, %+v: at %d, duplicate %v, code %d", i, a, base, duplicate, code)
		}
	}
}

func TestIdempotentProducer(t *testing.T) {
	l := New(NewMemory(), Config{})
	attempts(t, l,
		attempt{Producer{7, 0, 0}, 3, 0, false, 0},
		attempt{Producer{7, 0, 3}, 2, 3, false, 0},
		attempt{Producer{7, 0, 3}, 2, 3, true, 0},   // sent again: answered with the offset of then
		attempt{Producer{7, 0, 0}, 3, 0, true, 0},   // and the one before
		attempt{Producer{7, 0, 3}, 1, 0, false, 45}, // the same beginning, another end
		attempt{Producer{7, 0, 6}, 1, 0, false, 45}, // a gap
		attempt{Producer{8, 4, 12}, 1, 5, false, 0}, // not known: any number (KIP-360)
		attempt{Producer{8, 3, 13}, 1, 0, false, 47},
		attempt{Producer{8, 5, 13}, 1, 0, false, 45}, // a new epoch begins with 0
		attempt{Producer{8, 5, 0}, 1, 6, false, 0},
		attempt{Producer{8, 4, 13}, 1, 0, false, 47},
		attempt{Producer{-1, -1, -1}, 1, 7, false, 0}, // nobody
		attempt{Producer{-1, -1, -1}, 1, 8, false, 0},
		attempt{Producer{7, 0, 5}, 1, 9, false, 0},
	)
	if l.Producers() != 2 {
		t.Errorf("%d producers are remembered, want 2", l.Producers())
	}
}

func TestOnlyTheLastFiveBatchesAreKnownAgain(t *testing.T) {
	l := New(NewMemory(), Config{})
	for i := range 7 {
		attempts(t, l, attempt{Producer{7, 0, int32(i)}, 1, int64(i), false, 0})
	}
	attempts(t, l,
		attempt{Producer{7, 0, 2}, 1, 2, true, 0},
		attempt{Producer{7, 0, 1}, 1, 0, false, 45},
	)
}

func TestSequenceNumbersWrap(t *testing.T) {
	l := New(NewMemory(), Config{})
	attempts(t, l,
		attempt{Producer{7, 0, math.MaxInt32 - 1}, 3, 0, false, 0}, // max-1, max, 0
		attempt{Producer{7, 0, 1}, 1, 3, false, 0},
		attempt{Producer{8, 0, math.MaxInt32}, 1, 4, false, 0},
		attempt{Producer{8, 0, 0}, 1, 5, false, 0},
	)
}

// What was cut from a log is forgotten, and a copy remembers for itself.
func TestProducersFollowTheLog(t *testing.T) {
	l := New(NewMemory(), Config{})
	attempts(t, l,
		attempt{Producer{7, 0, 0}, 1, 0, false, 0},
		attempt{Producer{7, 0, 1}, 1, 1, false, 0},
		attempt{Producer{9, 0, 0}, 1, 2, false, 0},
	)
	c := l.Clone()
	if err := c.Truncate(1); err != nil {
		t.Fatal(err)
	}
	if c.Producers() != 1 || l.Producers() != 2 {
		t.Fatalf("%d producers in the cut copy, %d in the original; want 1 and 2", c.Producers(), l.Producers())
	}
	attempts(t, c, attempt{Producer{7, 0, 2}, 1, 0, false, 45}, attempt{Producer{7, 0, 1}, 1, 1, false, 0})
	attempts(t, l, attempt{Producer{7, 0, 1}, 1, 1, true, 0}, attempt{Producer{7, 0, 2}, 1, 3, false, 0})
	l.ExpireProducers(1000)
	if l.Producers() != 2 {
		t.Errorf("%d producers are left before their time, want 2", l.Producers())
	}
	l.ExpireProducers(1001)
	if l.Producers() != 0 {
		t.Errorf("%d producers are left after their time", l.Producers())
	}
}
