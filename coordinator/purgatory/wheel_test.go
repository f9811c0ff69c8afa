package purgatory

import (
	"math"
	"slices"
	"strings"
	"testing"
)

const second, minute, day = 1000, 60_000, 86_400_000

// placement is TimingWheel.add, written down as the formula it is: the finest wheel that reaches e from clock c.
func placement(c, e int64) Placement {
	if e <= c {
		return Placement{-1, e}
	}
	tick := int64(1)
	for level := 0; ; level++ {
		if start := c / tick * tick; tick > math.MaxInt64/20 || e-start < tick*20 {
			return Placement{level, e / tick * tick}
		}
		tick *= 20
	}
}

// history is every move of a timer armed at clock c with deadline e, by the same formula.
func history(c, e int64) (moves []Cascade) {
	p := placement(c, e)
	for p.Level >= 0 {
		next := placement(p.CellMs, e)
		if next.Level >= 0 {
			moves = append(moves, Cascade{AtMs: p.CellMs, From: p.Level, To: next.Level, CellMs: next.CellMs})
		}
		p = next
	}
	return moves
}

// expire moves the wheel and lists what expired.
func expire(w *Wheel, nowMs int64, cascaded func(Cascade)) (list []Expired) {
	for {
		x, ok := w.Advance(nowMs, cascaded)
		if !ok {
			return list
		}
		list = append(list, x)
	}
}

func refs(list []Expired) (r []int32) {
	for _, x := range list {
		r = append(r, x.Ref)
	}
	return r
}

func TestPlacementIsKafkas(t *testing.T) {
	for _, c := range []struct {
		clockMs, deadlineMs int64
		want                Placement
	}{
		{0, 0, Placement{-1, 0}}, // refused by TimingWheel.add: run at once
		{0, 1, Placement{0, 1}},
		{0, 19, Placement{0, 19}},
		{0, 20, Placement{1, 20}},
		{0, 39, Placement{1, 20}},
		{0, 399, Placement{1, 380}},
		{0, 400, Placement{2, 400}},
		{0, 7_999, Placement{2, 7_600}},
		{0, 8_000, Placement{3, 8_000}},
		{0, 45_000, Placement{3, 40_000}}, // a session of Kafka 3+
		{0, 159_999, Placement{3, 152_000}},
		{0, 160_000, Placement{4, 160_000}},
		{0, 300_000, Placement{4, 160_000}}, // a new member's five minutes
		{0, 3_199_999, Placement{4, 3_040_000}},
		{0, 3_200_000, Placement{5, 3_200_000}},
		{0, 64_000_000, Placement{6, 64_000_000}},
		{0, math.MaxInt64, Placement{14, math.MaxInt64 / 1638400000000000000 * 1638400000000000000}},
		{37, 37, Placement{-1, 37}},
		{37, 10, Placement{-1, 10}},
		{37, 56, Placement{0, 56}},
		{37, 57, Placement{1, 40}},
		{37, 419, Placement{1, 400}}, // wheel 1 stands at 20, so it reaches 419
		{37, 420, Placement{2, 400}},
		{8_001, 8_019, Placement{0, 8_019}},
		{7_999, 8_018, Placement{0, 8_018}}, // wheel 0 has no boundaries
		{7_999, 8_380, Placement{2, 8_000}}, // wheel 1 stands at 7980 and ends at 8380
	} {
		w := NewWheel(c.clockMs)
		if got := w.Place(w.Arm(0, 0, c.deadlineMs)); got != c.want {
			t.Errorf("clock %d, deadline %d: %+v, want %+v", c.clockMs, c.deadlineMs, got, c.want)
		}
		if got := placement(c.clockMs, c.deadlineMs); got != c.want {
			t.Errorf("the formula at clock %d, deadline %d: %+v, want %+v", c.clockMs, c.deadlineMs, got, c.want)
		}
	}
}

func TestWheelsAreMadeOnDemand(t *testing.T) {
	w := NewWheel(0)
	for i, want := range []int{0, 1, 2, 3, 7, 7} {
		if i > 0 {
			w.Arm(0, 0, []int64{5, 20, 400, 64_000_000, 5}[i-1])
		}
		if w.Levels() != want {
			t.Errorf("after %d timers: %d wheels, want %d", i, w.Levels(), want)
		}
	}
}

func TestCascadesOfASession(t *testing.T) {
	w := NewWheel(0)
	w.Arm(3, 7, 9_000)
	var moves []Cascade
	record := func(c Cascade) { moves = append(moves, c) }
	if x := expire(w, 8_999, record); x != nil {
		t.Fatalf("expired before its deadline: %+v", x)
	}
	want := []Cascade{{0, 3, 7, 8_000, 3, 2, 8_800}, {0, 3, 7, 8_800, 2, 1, 9_000}}
	if !slices.Equal(moves, want) {
		t.Fatalf("cascades %+v, want %+v", moves, want)
	}
	if x := expire(w, 9_000, record); !slices.Equal(x, []Expired{{0, 3, 7, 9_000}}) || len(moves) != 2 {
		t.Fatalf("at its deadline: %+v, cascades %+v", x, moves)
	}
}

// Where cells of several wheels begin at once, the coarse ones are emptied first, each in order of arming.
func TestCoarseCellsAreEmptiedFirst(t *testing.T) {
	w := NewWheel(0)
	w.Arm(0, 1, 415) // wheel 2
	expire(w, 100, nil)
	w.Arm(0, 2, 415) // wheel 1
	w.Arm(0, 3, 403) // wheel 1
	expire(w, 101, nil)
	w.Rearm(0, 650) // wheel 2 again
	w.Arm(0, 4, 700)
	var order []int32
	expire(w, 400, func(c Cascade) { order = append(order, c.Ref) })
	if !slices.Equal(order, []int32{1, 4, 2, 3}) {
		t.Fatalf("order %v", order)
	}
}

func TestNextDeadlineLooksIntoCoarseCells(t *testing.T) {
	w := NewWheel(0)
	w.Arm(0, 1, 40) // wheel 1
	expire(w, 39, nil)
	w.Arm(0, 2, 41) // wheel 0
	if got := w.NextDeadlineMs(); got != 40 {
		t.Fatalf("%d, want 40", got)
	}
}

func TestExpiryIsInOrderOfDeadlineThenArming(t *testing.T) {
	w := NewWheel(0)
	w.Arm(0, 1, 500) // from wheel 2
	w.Arm(0, 2, 100) // from wheel 1
	expire(w, 95, nil)
	w.Arm(0, 3, 100) // from wheel 0
	w.Arm(0, 4, 99)
	w.Arm(0, 5, 100)
	expire(w, 97, nil)
	w.Arm(0, 6, 500)
	if got := refs(expire(w, 10_000, nil)); !slices.Equal(got, []int32{4, 2, 3, 5, 1, 6}) {
		t.Fatalf("order %v", got)
	}
}

func TestDueTimersCanBeCancelledAndRearmed(t *testing.T) {
	w := NewWheel(0)
	a, b, c := w.Arm(0, 1, 50), w.Arm(0, 2, 50), w.Arm(0, 3, 50)
	w.Arm(0, 4, 50)
	if x, _ := w.Advance(50, nil); x.Timer != a {
		t.Fatalf("first %+v", x)
	}
	w.Cancel(b)
	w.Rearm(c, 50) // due again, but behind 4 now
	w.Arm(0, 5, 7) // long past: due, as the last
	if p := w.Place(c); p != (Placement{-1, 50}) {
		t.Errorf("a due timer lies in %+v", p)
	}
	if got := w.NextMs(); got != 50 {
		t.Errorf("with timers due NextMs is %d, want the clock", got)
	}
	if got := w.NextDeadlineMs(); got != 7 {
		t.Errorf("NextDeadlineMs %d, want 7", got)
	}
	if got := refs(expire(w, 50, nil)); !slices.Equal(got, []int32{4, 3, 5}) {
		t.Fatalf("order %v", got)
	}
	if w.Size() != 0 || w.NextMs() != -1 || w.NextDeadlineMs() != -1 {
		t.Errorf("an empty wheel: size %d, NextMs %d, NextDeadlineMs %d", w.Size(), w.NextMs(), w.NextDeadlineMs())
	}
}

func TestNextMsStopsAtCascades(t *testing.T) {
	w := NewWheel(0)
	w.Arm(0, 1, 9_001)
	var stops []int64
	for w.NextMs() >= 0 {
		if got := w.NextDeadlineMs(); got != 9_001 {
			t.Fatalf("NextDeadlineMs %d, want 9001", got)
		}
		stops = append(stops, w.NextMs())
		expire(w, w.NextMs(), nil)
	}
	if want := []int64{8_000, 8_800, 9_000, 9_001}; !slices.Equal(stops, want) {
		t.Fatalf("stops %v, want %v", stops, want)
	}
}

func TestClockNeverGoesBack(t *testing.T) {
	w := NewWheel(1_000)
	w.Arm(0, 1, 1_500)
	expire(w, 1_400, nil)
	if x := expire(w, 3, nil); len(x) != 0 || w.ClockMs() != 1_400 {
		t.Fatalf("clock %d, expired %v", w.ClockMs(), x)
	}
	if x := expire(w, 1_500, nil); len(x) != 1 {
		t.Fatalf("expired %v", x)
	}
}

// Time goes from occupied cell to occupied cell: by ticks of 1 ms this would take longer than the universe has.
func TestAdvanceSkipsEmptyTime(t *testing.T) {
	w := NewWheel(0)
	for i := range int32(1000) {
		w.Arm(0, i, int64(i)*day*3_650+int64(i))
	}
	if x := expire(w, math.MaxInt64, nil); len(x) != 1000 || !slices.IsSorted(refs(x)) || w.ClockMs() != math.MaxInt64 {
		t.Fatalf("%d expired, clock %d", len(x), w.ClockMs())
	}
}

func TestMisuseNamesItself(t *testing.T) {
	w := NewWheel(0)
	timer := w.Arm(0, 0, 10)
	w.Cancel(timer)
	for want, misuse := range map[string]func(){
		"purgatory: Wheel.Cancel of timer 0, which is not pending":      func() { w.Cancel(timer) },
		"purgatory: Wheel.Rearm of timer 0, which is not pending":       func() { w.Rearm(timer, 5) },
		"purgatory: Wheel.Place of timer -1, which is not pending":      func() { w.Place(None) },
		"purgatory: Wheel.DeadlineMs of timer 99, which is not pending": func() { w.DeadlineMs(99) },
		"purgatory: NewWheel(-1): time is in milliseconds from 0 on":    func() { NewWheel(-1) },
	} {
		if got := panicOf(misuse); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
}

func panicOf(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}

func TestRearmAllocatesNothing(t *testing.T) {
	w := NewWheel(0)
	var timers []Timer
	for i := range 10_000 {
		timers = append(timers, w.Arm(0, int32(i), int64(i)*7+1))
	}
	i := 0
	if n := testing.AllocsPerRun(20_000, func() {
		i++
		timer := timers[i%len(timers)]
		w.Rearm(timer, w.ClockMs()+45*second+int64(i%977))
		w.Cancel(timer)
		timers[i%len(timers)] = w.Arm(0, 0, w.ClockMs()+10*second+int64(i))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
