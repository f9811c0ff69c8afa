package purgatory

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is what a wheel has to do, kept as a plain list.
type model struct {
	clockMs int64
	armed   int
	pending []modelTimer
}

type modelTimer struct {
	timer      Timer
	ref        int32
	deadlineMs int64
	fromMs     int64 // when it counts as due: the deadline, or the clock at which it was armed if that is later
	order      int
	moves      []Cascade // the cascades it will still make
}

func (m *model) arm(timer Timer, ref int32, deadlineMs int64) {
	m.armed++
	moves := history(m.clockMs, deadlineMs)
	for i := range moves {
		moves[i].Timer, moves[i].Owner, moves[i].Ref = timer, uint8(ref), ref
	}
	m.pending = append(m.pending, modelTimer{timer, ref, deadlineMs, max(deadlineMs, m.clockMs), m.armed, moves})
}

func (m *model) drop(i int) modelTimer {
	x := m.pending[i]
	m.pending = slices.Delete(m.pending, i, i+1)
	return x
}

// first is the next timer due up to nowMs, -1 where there is none.
func (m *model) first(nowMs int64) int {
	best := -1
	for i, x := range m.pending {
		due := x.fromMs <= nowMs || x.fromMs <= m.clockMs
		if due && (best < 0 || x.fromMs < m.pending[best].fromMs ||
			x.fromMs == m.pending[best].fromMs && x.order < m.pending[best].order) {
			best = i
		}
	}
	return best
}

// moveTo sets the clock and returns how many cascades each timer has made on the way.
func (m *model) moveTo(nowMs int64) (made []Cascade) {
	m.clockMs = max(m.clockMs, nowMs)
	for i := range m.pending {
		x := &m.pending[i]
		for len(x.moves) > 0 && x.moves[0].AtMs <= m.clockMs {
			made = append(made, x.moves[0])
			x.moves = x.moves[1:]
		}
	}
	return made
}

func (m *model) nextMs() int64 {
	next := int64(-1)
	for _, x := range m.pending {
		at := x.fromMs
		if len(x.moves) > 0 {
			at = x.moves[0].AtMs
		}
		if next < 0 || at < next {
			next = at
		}
	}
	return next
}

func (m *model) nextDeadlineMs() int64 {
	next := int64(-1)
	for _, x := range m.pending {
		if next < 0 || x.deadlineMs < next {
			next = x.deadlineMs
		}
	}
	return next
}

// byTimer sorts cascades so that those of different timers compare: the model has no order between cells.
func byTimer(list []Cascade) []Cascade {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Cascade) int {
		if a.Timer != b.Timer {
			return int(a.Timer - b.Timer)
		}
		return b.From - a.From
	})
	return list
}

// delays reach from the past over every level up to 8.
func delays() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(-30, 30), rapid.Int64Range(0, 500), rapid.Int64Range(0, 10_000),
		rapid.Int64Range(0, 400_000), rapid.Int64Range(0, 40*day), rapid.SampledFrom([]int64{19, 20, 399, 400, 7_999,
			8_000, 10_000, 45_000, 159_999, 160_000, 300_000, 3_200_000, 64_000_000, 1_280_000_000, math.MaxInt32}))
}

func TestWheelAgainstASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 10_000_000), rapid.Just(int64(1_790_000_000_123))).Draw(t, "start")
		w, m := NewWheel(start), &model{clockMs: start}
		var moves []Cascade
		record := func(c Cascade) { moves = append(moves, c) }
		pick := func(t *rapid.T) int {
			if len(m.pending) == 0 {
				t.Skip("nothing is pending")
			}
			return rapid.IntRange(0, len(m.pending)-1).Draw(t, "timer")
		}
		arm := func(t *rapid.T) {
			ref := int32(m.armed % 200)
			deadlineMs := max(0, m.clockMs+delays().Draw(t, "delay"))
			m.arm(w.Arm(uint8(ref), ref, deadlineMs), ref, deadlineMs)
		}
		step := func(t *rapid.T, nowMs int64) bool {
			moves = moves[:0]
			x, ok := w.Advance(nowMs, record)
			i := m.first(nowMs)
			if ok != (i >= 0) {
				t.Fatalf("Advance(%d) returned %+v, %v; pending %+v", nowMs, x, ok, m.pending)
			}
			var made []Cascade
			if ok {
				y := m.pending[i]
				made = m.moveTo(y.fromMs)
				if want := (Expired{y.timer, uint8(y.ref), y.ref, y.deadlineMs}); x != want || len(m.pending[i].moves) != 0 {
					t.Fatalf("Advance(%d) returned %+v, want %+v", nowMs, x, want)
				}
				m.drop(i)
			} else {
				made = m.moveTo(nowMs)
			}
			if got, want := byTimer(moves), byTimer(made); !slices.Equal(got, want) {
				t.Fatalf("Advance(%d) cascaded %+v, want %+v", nowMs, got, want)
			}
			return ok
		}
		t.Repeat(map[string]func(*rapid.T){
			"arm":  arm,
			"arm2": arm,
			"arm3": arm,
			"cancel": func(t *rapid.T) {
				w.Cancel(m.drop(pick(t)).timer)
			},
			"rearm": func(t *rapid.T) {
				x := m.drop(pick(t))
				deadlineMs := max(0, m.clockMs+delays().Draw(t, "delay"))
				w.Rearm(x.timer, deadlineMs)
				m.arm(x.timer, x.ref, deadlineMs)
			},
			"advance": func(t *rapid.T) {
				nowMs := m.clockMs + delays().Draw(t, "by")
				for step(t, nowMs) {
				}
			},
			"advance to the next": func(t *rapid.T) {
				if next := w.NextMs(); next >= 0 {
					step(t, next)
				}
			},
			"one": func(t *rapid.T) { step(t, m.clockMs+delays().Draw(t, "by")) },
			"copy": func(t *rapid.T) {
				w = w.Clone()
			},
			"": func(t *rapid.T) {
				if w.ClockMs() != m.clockMs || w.Size() != len(m.pending) {
					t.Fatalf("clock %d, size %d; want %d, %d", w.ClockMs(), w.Size(), m.clockMs, len(m.pending))
				}
				if got, want := w.NextMs(), m.nextMs(); got != want {
					t.Fatalf("NextMs %d, want %d", got, want)
				}
				if got, want := w.NextDeadlineMs(), m.nextDeadlineMs(); got != want {
					t.Fatalf("NextDeadlineMs %d, want %d", got, want)
				}
				for _, x := range m.pending {
					if got := w.DeadlineMs(x.timer); got != x.deadlineMs {
						t.Fatalf("DeadlineMs(%d) %d, want %d", x.timer, got, x.deadlineMs)
					}
				}
				if err := w.check(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// check looks at every list: links both ways, each timer in the cell of its deadline, bits as the lists say.
func (w *Wheel) check() error {
	total := 0
	for slot, c := range w.cells {
		prev := int32(-1)
		for i := c.first; i >= 0; i = w.entries[i].next {
			e := w.entries[i]
			total++
			if e.prev != prev || int(e.cell) != slot {
				return fmt.Errorf("cell %d: entry %d has prev %d and cell %d, want %d", slot, i, e.prev, e.cell, prev)
			}
			if n := (slot - 1) / Cells; slot > 0 && e.deadlineMs/ticksMs[n]%Cells != int64((slot-1)%Cells) {
				return fmt.Errorf("deadline %d lies in cell %d of wheel %d", e.deadlineMs, (slot-1)%Cells, n)
			}
			prev = i
		}
		if c.last != prev {
			return fmt.Errorf("cell %d ends with %d, not %d", slot, c.last, prev)
		}
		if slot > 0 && (w.levels[(slot-1)/Cells].used>>((slot-1)%Cells)&1 == 1) != (c.first >= 0) {
			return fmt.Errorf("cell %d: the bit says otherwise than the list", slot)
		}
	}
	if total != w.size {
		return fmt.Errorf("%d timers in the cells, size %d", total, w.size)
	}
	return nil
}

// A timer's way through the wheels depends on its deadline and on when it was armed, not on how time was moved.
func TestCascadesDoNotDependOnSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.SliceOfN(delays(), 1, 20).Draw(t, "delays")
		run := func(stepMs int64) (told []string) {
			w := NewWheel(5_000_000)
			for i, d := range delay {
				w.Arm(0, int32(i), w.ClockMs()+d)
			}
			for w.Size() > 0 {
				to := w.ClockMs() + stepMs
				if stepMs == 0 {
					to = w.NextMs()
				}
				for _, x := range expire(w, to, func(c Cascade) { told = append(told, fmt.Sprint(c)) }) {
					told = append(told, fmt.Sprint(x))
				}
			}
			return told
		}
		exact := run(0)
		steps := rapid.Int64Range(1_000_000, 50*day).Draw(t, "step")
		// Within one Advance all cascades are told before what expired is listed, so compare what was told of each.
		a, b := slices.Sorted(slices.Values(exact)), slices.Sorted(slices.Values(run(steps)))
		if !slices.Equal(a, b) {
			t.Fatalf("by %d ms: %v\nexact: %v", steps, b, a)
		}
	})
}

// A copy and its original do the same from the copy on, names of timers included.
func TestCloneIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWheel(1_790_000_000_123)
		var timers []Timer
		arm := func(w *Wheel, d int64) Timer { return w.Arm(1, int32(d%1000), max(0, w.ClockMs()+d)) }
		for _, d := range rapid.SliceOfN(delays(), 0, 50).Draw(t, "before") {
			if d%5 == 0 && len(timers) > 0 {
				w.Cancel(timers[len(timers)-1])
				timers = timers[:len(timers)-1]
				continue
			}
			timers = append(timers, arm(w, d))
		}
		expire(w, w.ClockMs()+rapid.Int64Range(0, 20_000).Draw(t, "gap"), nil)
		c := w.Clone()
		after := rapid.SliceOfN(delays(), 0, 50).Draw(t, "after")
		tell := func(w *Wheel) (told []string) {
			for i, d := range after {
				told = append(told, fmt.Sprint(arm(w, d)))
				if i%3 == 0 {
					for _, x := range expire(w, w.ClockMs()+d/2, func(c Cascade) { told = append(told, fmt.Sprint(c)) }) {
						told = append(told, fmt.Sprint(x))
					}
				}
			}
			return told
		}
		if a, b := tell(w), tell(c); !slices.Equal(a, b) {
			t.Fatalf("the original says\n%v\nthe copy\n%v", a, b)
		}
	})
}
