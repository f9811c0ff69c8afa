package purgatory

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Cells is the number of cells of each wheel (Kafka: SystemTimer's wheelSize). The first wheel's cell is 1 ms.
const Cells = 20

// maxLevels is enough for every int64 deadline: 20^15 is more than 2^63.
const maxLevels = 15

// Timer names a pending timer of one Wheel. Names are reused after the timer has expired or was cancelled.
type Timer int32

// None is the Timer that stands for no timer.
const None Timer = -1

// Placement says where in the wheels a timer lies.
type Placement struct {
	// Level is the wheel: 0 has cells of 1 ms, 1 of 20 ms, 2 of 400 ms, 3 of 8 s, 4 of 160 s. It is -1 for a timer
	// that is due and waits only for its turn.
	Level int
	// CellMs is when the timer's cell begins; the timer's deadline for Level -1.
	CellMs int64
}

// Expired is a timer whose time is up. It is no longer pending.
type Expired struct {
	Timer      Timer
	Owner      uint8
	Ref        int32
	DeadlineMs int64
}

// Cascade tells that the clock reached a coarse cell and a timer of it dropped into a finer wheel.
type Cascade struct {
	Timer Timer
	Owner uint8
	Ref   int32
	// AtMs is the start of the coarse cell, which is when the timer dropped.
	AtMs int64
	// From and To are levels, From > To; CellMs is the start of the new cell.
	From, To int
	CellMs   int64
}

// Wheel is Kafka's hierarchical timing wheel, moved by Advance. Placement and cascade are TimingWheel's: a timer lies in
// the finest wheel whose 20 cells reach its deadline, in the cell of its deadline rounded down; when the clock reaches
// the cell, its timers move to finer wheels or are due. There is one difference: Kafka's clock stands at the last cell that came
// due until another one does, ours goes on to the nowMs of Advance. So a timer's cells depend on when it was armed and
// on its deadline, not on its neighbours or on how often time was moved.
//
// Arming, re-arming and cancelling take constant time and allocate only while the arena grows.
type Wheel struct {
	clockMs int64
	// nextMs is the start of the earliest occupied cell, or earlier where nextStale is set; never: all are empty.
	nextMs    int64
	nextStale bool
	size      int
	armed     int64 // how often a timer was armed; gives the order of arming
	numbers   int64 // how many operations were numbered; see Purgatory
	levels    []level
	cells     []cell  // 0: due; then Cells for each level
	entries   []entry // the arena
	free      int32   // first free entry, linked by next; -1 none
	scratch   []int32 // for sorting what is due; empty between calls
}

// level is one wheel. Occupied cells are always ahead of the clock: 1 to 19 cells after startMs.
type level struct {
	startMs int64 // the clock, rounded down to this level's tick
	cursor  int32 // startMs/tick mod Cells
	used    uint32
}

type cell struct{ first, last int32 } // -1: empty

type entry struct {
	prev, next int32
	deadlineMs int64
	order      int64
	ref        int32
	cell       int16 // index into Wheel.cells; notPending
	owner      uint8
}

const (
	dueCell    = 0
	notPending = -1
)

// never is later than every deadline.
const never = math.MaxInt64

// ticksMs and spansMs are the width of a cell and of a wheel. The last wheel's width does not fit and is cut.
var ticksMs, spansMs = widths()

func widths() (ticks, spans [maxLevels]int64) {
	tick := int64(1)
	for n := range ticks {
		ticks[n] = tick
		if n == maxLevels-1 {
			spans[n] = never
			break
		}
		tick *= Cells
		spans[n] = tick
	}
	return ticks, spans
}

// NewWheel makes an empty wheel whose clock stands at startMs, which must not be negative.
func NewWheel(startMs int64) *Wheel {
	if startMs < 0 {
		panic(fmt.Sprintf("purgatory: NewWheel(%d): time is in milliseconds from 0 on", startMs))
	}
	return &Wheel{clockMs: startMs, nextMs: never, cells: []cell{{-1, -1}}, free: -1}
}

// ClockMs is how far the wheel was advanced.
func (w *Wheel) ClockMs() int64 { return w.clockMs }

// Size is the number of pending timers.
func (w *Wheel) Size() int { return w.size }

// Levels is the number of wheels made so far. They are made on demand and stay.
func (w *Wheel) Levels() int { return len(w.levels) }

// Arm adds a timer. Owner and ref come back in Expired and Cascade. A deadline at or before the clock is due at once:
// the next Advance returns it, after what was already due.
func (w *Wheel) Arm(owner uint8, ref int32, deadlineMs int64) Timer {
	i := w.free
	if i >= 0 {
		w.free = w.entries[i].next
	} else {
		i = int32(len(w.entries))
		w.entries = append(w.entries, entry{})
	}
	w.entries[i].owner, w.entries[i].ref = owner, ref
	w.arm(i, deadlineMs)
	w.size++
	return Timer(i)
}

// Rearm moves a pending timer to a new deadline, as if it were armed now.
func (w *Wheel) Rearm(t Timer, deadlineMs int64) {
	w.unlink(w.pending("Rearm", t))
	w.arm(int32(t), deadlineMs)
}

// Cancel drops a pending timer.
func (w *Wheel) Cancel(t Timer) {
	w.unlink(w.pending("Cancel", t))
	w.release(int32(t))
}

// DeadlineMs is the deadline of a pending timer, as it was given.
func (w *Wheel) DeadlineMs(t Timer) int64 { return w.entries[w.pending("DeadlineMs", t)].deadlineMs }

// Place says where a pending timer lies.
func (w *Wheel) Place(t Timer) Placement {
	e := &w.entries[w.pending("Place", t)]
	if e.cell == dueCell {
		return Placement{-1, e.deadlineMs}
	}
	n := int(e.cell-1) / Cells
	return Placement{n, e.deadlineMs - e.deadlineMs%ticksMs[n]}
}

// Advance moves the clock towards nowMs and stops at the next timer whose time is up, which it returns; ok is false
// when nothing is due up to nowMs and the clock stands there. So call it until ok is false. Timers come in order of
// deadline, then of arming. Between calls timers may be armed, re-armed and cancelled, also those that are due. The
// clock never goes back: an earlier nowMs changes nothing.
//
// Cascaded, if not nil, is told of each timer that drops to a finer wheel; it must not touch the wheel. The clock goes
// from occupied cell to occupied cell, however far nowMs is.
func (w *Wheel) Advance(nowMs int64, cascaded func(Cascade)) (x Expired, ok bool) {
	for {
		if i := w.cells[dueCell].first; i >= 0 {
			e := &w.entries[i]
			x = Expired{Timer(i), e.owner, e.ref, e.deadlineMs}
			w.unlink(i)
			w.release(i)
			return x, true
		}
		next := w.nextCellMs()
		if next > nowMs || next == never {
			w.moveTo(nowMs)
			return Expired{}, false
		}
		w.moveTo(next)
		w.open(cascaded)
	}
}

// NextMs is the next moment at which Advance has something to do: a timer is due, or a cell cascades. It is what a
// host should sleep until. It costs a look at each level. -1: no timer is pending.
func (w *Wheel) NextMs() int64 {
	if w.cells[dueCell].first >= 0 {
		return w.clockMs
	}
	if next := w.nextCellMs(); next != never {
		return next
	}
	return -1
}

// NextDeadlineMs is the earliest deadline of all pending timers, exactly; -1: none is pending. It scans one cell a level
// at most, so it may look at many timers where many share a coarse cell: for waking up use NextMs.
func (w *Wheel) NextDeadlineMs() int64 {
	if w.size == 0 {
		return -1
	}
	best := w.earliestIn(dueCell, never)
	for n := range w.levels {
		startMs, slot := w.earliestCell(n)
		if startMs < best { // a cell that begins later holds nothing earlier
			best = w.earliestIn(slot, best)
		}
	}
	return best
}

// Clone copies the wheel: the copy places, cascades and expires as the original would.
func (w *Wheel) Clone() *Wheel {
	c := *w
	c.levels, c.cells, c.entries = slices.Clone(w.levels), slices.Clone(w.cells), slices.Clone(w.entries)
	c.scratch = nil
	return &c
}

// pending checks that t is pending: the opposite is a bug of the caller, who holds a name of a timer that is over.
func (w *Wheel) pending(what string, t Timer) int32 {
	if t < 0 || int(t) >= len(w.entries) || w.entries[t].cell == notPending {
		panic(fmt.Sprintf("purgatory: Wheel.%s of timer %d, which is not pending", what, t))
	}
	return int32(t)
}

func (w *Wheel) release(i int32) {
	w.entries[i].cell, w.entries[i].next = notPending, w.free
	w.free = i
	w.size--
}

func (w *Wheel) arm(i int32, deadlineMs int64) {
	w.armed++
	e := &w.entries[i]
	e.deadlineMs, e.order = min(deadlineMs, never-1), w.armed
	w.link(i, w.slot(e.deadlineMs))
}

// slot finds the cell of a deadline, as TimingWheel.add does, and notes that it will be occupied.
func (w *Wheel) slot(deadlineMs int64) int {
	if deadlineMs <= w.clockMs {
		return dueCell
	}
	for n := 0; ; n++ {
		if n == len(w.levels) {
			w.addLevel()
		}
		l := &w.levels[n]
		aheadMs := deadlineMs - l.startMs
		if aheadMs >= spansMs[n] && n < maxLevels-1 {
			continue
		}
		steps := aheadMs / ticksMs[n]
		w.nextMs = min(w.nextMs, l.startMs+steps*ticksMs[n])
		at := int(l.cursor) + int(steps)
		if at >= Cells {
			at -= Cells
		}
		l.used |= 1 << at
		return 1 + n*Cells + at
	}
}

func (w *Wheel) addLevel() {
	n := len(w.levels)
	w.levels = append(w.levels, level{})
	w.levels[n].moveTo(w.clockMs, ticksMs[n])
	for range Cells {
		w.cells = append(w.cells, cell{-1, -1})
	}
}

func (l *level) moveTo(nowMs, tickMs int64) {
	ticks := nowMs / tickMs
	l.startMs, l.cursor = ticks*tickMs, int32(ticks%Cells)
}

// link appends to a cell's list (TimerTaskList.add).
func (w *Wheel) link(i int32, slot int) {
	c, e := &w.cells[slot], &w.entries[i]
	e.cell, e.prev, e.next = int16(slot), c.last, -1
	if c.last >= 0 {
		w.entries[c.last].next = i
	} else {
		c.first = i
	}
	c.last = i
}

func (w *Wheel) unlink(i int32) {
	e := &w.entries[i]
	c := &w.cells[e.cell]
	if e.prev >= 0 {
		w.entries[e.prev].next = e.next
	} else {
		c.first = e.next
	}
	if e.next >= 0 {
		w.entries[e.next].prev = e.prev
	} else {
		c.last = e.prev
	}
	if c.first < 0 && e.cell != dueCell {
		at := int(e.cell - 1)
		w.levels[at/Cells].used &^= 1 << (at % Cells)
		w.nextStale = true
	}
}

// moveTo sets the clocks of all levels. No occupied cell may begin before nowMs.
func (w *Wheel) moveTo(nowMs int64) {
	if nowMs <= w.clockMs {
		return
	}
	w.clockMs = nowMs
	for n := range w.levels {
		l := &w.levels[n]
		if nowMs-l.startMs < ticksMs[n] {
			return // the clock is still in this cell, and so in those of the coarser levels
		}
		l.moveTo(nowMs, ticksMs[n])
	}
}

// open empties the cells that begin at the clock, coarse ones first: their timers are due or drop to finer cells.
func (w *Wheel) open(cascaded func(Cascade)) {
	for n := len(w.levels) - 1; n >= 0; n-- {
		l := &w.levels[n]
		if l.startMs != w.clockMs || l.used&(1<<l.cursor) == 0 {
			continue
		}
		l.used &^= 1 << l.cursor
		c := &w.cells[1+n*Cells+int(l.cursor)]
		i := c.first
		*c = cell{-1, -1}
		for i >= 0 {
			e := &w.entries[i]
			next := e.next
			slot := w.slot(e.deadlineMs)
			w.link(i, slot)
			if cascaded != nil && slot != dueCell {
				p := w.Place(Timer(i))
				cascaded(Cascade{Timer(i), e.owner, e.ref, w.clockMs, n, p.Level, p.CellMs})
			}
			i = next
		}
	}
	w.nextStale = true
	w.sortDue()
}

// sortDue puts what is due in order of arming: timers of one deadline may have come from different cells.
func (w *Wheel) sortDue() {
	due := w.scratch[:0]
	sorted := true
	for i := w.cells[dueCell].first; i >= 0; i = w.entries[i].next {
		sorted = sorted && (len(due) == 0 || w.entries[due[len(due)-1]].order < w.entries[i].order)
		due = append(due, i)
	}
	w.scratch = due[:0]
	if sorted {
		return
	}
	slices.SortFunc(due, func(a, b int32) int {
		if w.entries[a].order < w.entries[b].order {
			return -1
		}
		return 1
	})
	w.cells[dueCell] = cell{-1, -1}
	for _, i := range due {
		w.link(i, dueCell)
	}
}

// nextCellMs is the start of the earliest occupied cell, never where all are empty.
func (w *Wheel) nextCellMs() int64 {
	if w.nextStale {
		w.nextStale, w.nextMs = false, never
		for n := range w.levels {
			startMs, _ := w.earliestCell(n)
			w.nextMs = min(w.nextMs, startMs)
		}
	}
	return w.nextMs
}

// earliestCell is the first occupied cell of a level: its start (never where all are empty) and its index.
func (w *Wheel) earliestCell(n int) (startMs int64, slot int) {
	l := &w.levels[n]
	if l.used == 0 {
		return never, 0
	}
	ahead := l.used>>l.cursor | l.used<<(Cells-l.cursor)&(1<<Cells-1)
	steps := bits.TrailingZeros32(ahead)
	return l.startMs + int64(steps)*ticksMs[n], 1 + n*Cells + (int(l.cursor)+steps)%Cells
}

// earliestIn is the earliest deadline in a cell, or best where that is earlier.
func (w *Wheel) earliestIn(slot int, best int64) int64 {
	for i := w.cells[slot].first; i >= 0; i = w.entries[i].next {
		best = min(best, w.entries[i].deadlineMs)
	}
	return best
}
