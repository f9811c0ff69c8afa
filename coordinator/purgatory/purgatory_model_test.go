package purgatory

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// room is what a purgatory can be asked, by the test and by the operations of a test.
type room interface {
	watch(v int, keys []int, delayMs int64)
	knock(key int)
	complete(v int)
	cancel(v int)
}

// script says what an operation does: when its condition holds and what its completion sets off.
type script struct {
	ready      map[int]bool
	onComplete map[int]func(r room)
	told       []string
}

func (s *script) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// real is a purgatory under test.
type real struct {
	*script
	w   *Wheel
	p   *Purgatory[int, int]
	ops map[int]Op
}

func newReal(s *script) *real {
	r := &real{script: s, w: NewWheel(0), ops: map[int]Op{}}
	r.p = New[int, int](r.w, 4, r)
	return r
}

func (r *real) TryComplete(op Op, v int) bool {
	r.ops[v] = op
	r.tell("try %d", v)
	return r.ready[v]
}
func (r *real) OnComplete(_ Op, v int, expired bool) {
	r.tell("complete %d %v", v, expired)
	if f := r.onComplete[v]; f != nil {
		f(r)
	}
}
func (r *real) OnExpiration(_ Op, v int)          { r.tell("expiration %d", v) }
func (r *real) StayedIncomplete(_ Op, key, v int) { r.tell("incomplete %d %d", v, key) }
func (r *real) watch(v int, keys []int, delayMs int64) {
	op, completed := r.p.TryCompleteElseWatch(r.w.ClockMs(), v, r.w.ClockMs()+delayMs, keys...)
	r.tell("watched #%d %v", op.Number, completed)
}
func (r *real) knock(key int)  { r.tell("knocked %d", r.p.CheckAndComplete(key)) }
func (r *real) complete(v int) { r.tell("completed %v", r.p.Complete(r.ops[v])) }
func (r *real) cancel(v int)   { r.tell("cancelled %v", r.p.Cancel(r.ops[v])) }
func (r *real) advance(nowMs int64) {
	for {
		x, ok := r.w.Advance(nowMs, nil)
		if !ok {
			break
		}
		r.p.Expire(x)
	}
	r.tell("purged %v", r.p.Purge())
}

func (r *real) clone(s *script) *real {
	c := &real{script: s, w: r.w.Clone(), ops: map[int]Op{}}
	for v, op := range r.ops {
		c.ops[v] = op
	}
	c.p = r.p.Clone(c.w, c)
	return c
}

// plain is Kafka's DelayedOperationPurgatory with lists and nothing else.
type plain struct {
	*script
	nowMs     int64
	numbers   int
	armed     int
	ops       []*plainOp
	lists     map[int][]*plainOp
	walks     map[int]int
	estimated int
}

type plainOp struct {
	v, number, armed int
	deadlineMs       int64
	timer, over      bool
}

func (p *plain) find(v int) *plainOp {
	for _, o := range slices.Backward(p.ops) {
		if o.v == v {
			return o
		}
	}
	return nil
}

func (p *plain) try(o *plainOp) bool {
	if o.over {
		return false
	}
	p.tell("try %d", o.v)
	return p.ready[o.v] && p.force(o, false)
}

func (p *plain) force(o *plainOp, expired bool) bool {
	if o.over {
		return false
	}
	o.over, o.timer = true, false
	p.tell("complete %d %v", o.v, expired)
	if f := p.onComplete[o.v]; f != nil {
		f(p)
	}
	return true
}

func (p *plain) watch(v int, keys []int, delayMs int64) {
	p.numbers++
	o := &plainOp{v: v, number: p.numbers, deadlineMs: p.nowMs + delayMs}
	p.ops = append(p.ops, o)
	done := p.try(o)
	if !done {
		for _, k := range keys {
			p.lists[k] = append(p.lists[k], o)
		}
		p.estimated++
		if !p.try(o) && !o.over {
			p.armed++
			o.timer, o.armed = true, p.armed
		}
	}
	p.tell("watched #%d %v", o.number, o.over)
}

func (p *plain) knock(key int) {
	n, newest := 0, p.numbers
	p.walks[key]++
	for _, o := range slices.Clone(p.lists[key]) {
		switch {
		case o.over || o.number > newest:
		case p.try(o):
			n++
		case !o.over:
			p.tell("incomplete %d %d", o.v, key)
		}
	}
	p.walks[key]--
	p.sweep(key)
	p.tell("knocked %d", n)
}

func (p *plain) sweep(key int) {
	if p.walks[key] == 0 {
		p.lists[key] = slices.DeleteFunc(p.lists[key], func(o *plainOp) bool { return o.over })
	}
}

func (p *plain) complete(v int) {
	o := p.find(v)
	p.tell("completed %v", o != nil && p.force(o, false))
}
func (p *plain) cancel(v int) {
	o := p.find(v)
	p.tell("cancelled %v", o != nil && !o.over)
	if o != nil {
		o.over, o.timer = true, false
	}
}

func (p *plain) advance(nowMs int64) {
	for {
		var next *plainOp
		for _, o := range p.ops {
			if o.timer && o.deadlineMs <= nowMs && (next == nil || o.deadlineMs < next.deadlineMs ||
				o.deadlineMs == next.deadlineMs && o.armed < next.armed) {
				next = o
			}
		}
		if next == nil {
			break
		}
		p.nowMs = max(p.nowMs, next.deadlineMs)
		next.timer = false
		if p.force(next, true) {
			p.tell("expiration %d", next.v)
		}
	}
	p.nowMs = max(p.nowMs, nowMs)
	p.ops = slices.DeleteFunc(p.ops, func(o *plainOp) bool { return o.over })
	purge := p.estimated-p.delayed() > PurgeInterval
	if purge {
		p.estimated = p.delayed()
		for k := range p.lists {
			p.sweep(k)
		}
	}
	p.tell("purged %v", purge)
}

func (p *plain) delayed() (n int) {
	for _, o := range p.ops {
		if o.timer {
			n++
		}
	}
	return n
}

func (p *plain) watched() (n int) {
	for _, l := range p.lists {
		n += len(l)
	}
	return n
}

// effect draws what a completion sets off; it may knock, watch anew, complete and cancel.
func effect(t *rapid.T, depth int, next func() int) func(room) {
	key, other := rapid.IntRange(0, 4).Draw(t, "key"), rapid.IntRange(1, 40).Draw(t, "other")
	switch rapid.IntRange(0, 6).Draw(t, "effect") {
	case 0:
		return func(r room) { r.knock(key) }
	case 1:
		v, delayMs := next(), rapid.Int64Range(0, 500).Draw(t, "delay")
		return func(r room) { r.watch(v, []int{key}, delayMs) }
	case 2:
		return func(r room) { r.complete(other) }
	case 3:
		return func(r room) { r.cancel(other) }
	case 4:
		if depth > 0 {
			a, b := effect(t, depth-1, next), effect(t, depth-1, next)
			return func(r room) {
				if a != nil {
					a(r)
				}
				if b != nil {
					b(r)
				}
			}
		}
	}
	return nil
}

func TestPurgatoryAgainstPlainLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ready, effects, last := map[int]bool{}, map[int]func(room){}, 0
		next := func() int { last++; return last }
		r := newReal(&script{ready: ready, onComplete: effects})
		p := &plain{script: &script{ready: ready, onComplete: effects}, lists: map[int][]*plainOp{}, walks: map[int]int{}}
		watch := func(t *rapid.T) {
			v := next()
			keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 4), 1, 3, rapid.ID[int]).Draw(t, "keys")
			delayMs := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, 20_000)).Draw(t, "delay")
			if f := effect(t, 1, next); f != nil {
				effects[v] = f
			}
			ready[v] = rapid.IntRange(0, 5).Draw(t, "ready") == 0
			r.watch(v, keys, delayMs)
			p.watch(v, keys, delayMs)
		}
		draw := func(t *rapid.T) int { return rapid.IntRange(1, max(1, last)).Draw(t, "operation") }
		t.Repeat(map[string]func(*rapid.T){
			"watch":   watch,
			"watch 2": watch,
			"ready":   func(t *rapid.T) { v := draw(t); ready[v] = !ready[v] },
			"knock":   func(t *rapid.T) { k := rapid.IntRange(0, 4).Draw(t, "key"); r.knock(k); p.knock(k) },
			"complete": func(t *rapid.T) {
				v := draw(t)
				r.complete(v)
				p.complete(v)
			},
			"cancel": func(t *rapid.T) { v := draw(t); r.cancel(v); p.cancel(v) },
			"advance": func(t *rapid.T) {
				to := p.nowMs + rapid.Int64Range(0, 3_000).Draw(t, "by")
				r.advance(to)
				p.advance(to)
			},
			"many": func(t *rapid.T) { // enough that are over for a purge
				k := rapid.IntRange(0, 4).Draw(t, "key")
				for range 500 {
					v := next()
					r.watch(v, []int{k, 99}, 10_000)
					r.complete(v)
					p.watch(v, []int{k, 99}, 10_000)
					p.complete(v)
				}
			},
			"copy": func(t *rapid.T) { r = r.clone(r.script) },
			"": func(t *rapid.T) {
				if !slices.Equal(r.told, p.told) {
					t.Fatalf("it said\n%q\nwant\n%q", r.told, p.told)
				}
				r.told, p.told = nil, nil
				if r.p.Watched() != p.watched() || r.p.Delayed() != p.delayed() {
					t.Fatalf("watched %d, delayed %d; want %d, %d", r.p.Watched(), r.p.Delayed(), p.watched(), p.delayed())
				}
				if err := r.p.check(); err != nil {
					t.Fatal(err)
				}
				var waiting []int64
				for _, o := range p.ops {
					if !o.over {
						waiting = append(waiting, int64(o.number))
					}
				}
				var got []int64
				for _, op := range r.p.Waiting() {
					got = append(got, op.Number)
				}
				slices.Sort(waiting)
				if !slices.Equal(got, waiting) {
					t.Fatalf("waiting %v, want %v", got, waiting)
				}
			},
		})
	})
}

// A copy says what its original says, to its own behaviour, and neither moves the other.
func TestPurgatoryCloneIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ready := map[int]bool{}
		a := newReal(&script{ready: ready})
		play := func(rooms []*real, steps []int64) {
			for i, d := range steps {
				for _, r := range rooms {
					v := len(r.ops) + 1
					switch {
					case d%4 == 0:
						r.knock(int(d % 5))
					case d%4 == 1:
						r.complete(int(d%int64(v)) + 1)
					case i%5 == 0:
						r.advance(r.w.ClockMs() + d)
					default:
						r.watch(v, []int{int(d % 5), int(d % 3)}, d)
					}
				}
			}
		}
		steps := rapid.SliceOfN(rapid.Int64Range(0, 100_000), 0, 60)
		for _, v := range rapid.SliceOf(rapid.IntRange(1, 60)).Draw(t, "ready") {
			ready[v] = true
		}
		play([]*real{a}, steps.Draw(t, "before"))
		a.told = nil
		b := a.clone(&script{ready: ready})
		play([]*real{a, b}, steps.Draw(t, "after"))
		if !slices.Equal(a.told, b.told) {
			t.Fatalf("the original said\n%q\nthe copy\n%q", a.told, b.told)
		}
		if x, y := fmt.Sprintf("%+v", a.w), fmt.Sprintf("%+v", b.w); x != y {
			t.Fatalf("wheels differ:\n%s\n%s", x, y)
		}
	})
}

// check counts everything anew: entries of lists, of operations and free slots must account for each other.
func (p *Purgatory[K, V]) check() error {
	entries, empty, perOp := 0, 0, make([]int32, len(p.ops.at))
	for l, li := range p.lists.at {
		if !li.used {
			continue
		}
		if at, ok := p.byKey[li.key]; !ok || at != int32(l) || li.walks != 0 {
			return fmt.Errorf("list %d %+v is at %d, %v", l, li, at, ok)
		}
		if li.first < 0 {
			empty++
		}
		prev := int32(-1)
		for w := li.first; w >= 0; w = p.watchers.at[w].next {
			if n := p.watchers.at[w]; n.prev != prev || n.list != int32(l) {
				return fmt.Errorf("list %d: entry %d is %+v, after %d", l, w, n, prev)
			}
			entries++
			perOp[p.watchers.at[w].op]++
			prev = w
		}
	}
	unused := len(p.ops.free)
	for slot, o := range p.ops.at {
		if o.watchers != perOp[slot] || o.busy {
			return fmt.Errorf("operation %d %+v has %d entries", slot, o, perOp[slot])
		}
		if o.number == 0 && o.watchers == 0 {
			unused--
		}
	}
	switch {
	case entries != p.watched || entries+len(p.watchers.free) != len(p.watchers.at):
		return fmt.Errorf("%d entries in lists, %d counted, %d free of %d", entries, p.watched, len(p.watchers.free), len(p.watchers.at))
	case empty != p.empty || len(p.byKey)+len(p.lists.free) != len(p.lists.at):
		return fmt.Errorf("%d empty lists, %d counted; %d keys, %d free of %d", empty, p.empty, len(p.byKey), len(p.lists.free), len(p.lists.at))
	case unused != 0:
		return fmt.Errorf("free operations and their slots differ by %d", unused)
	}
	return nil
}

// Many keys that are used once leave no more than the allowance of empty lists.
func TestEmptyListsAreForgotten(t *testing.T) {
	r := newReal(&script{ready: map[int]bool{}})
	for v := 1; v <= 20_000; v++ {
		r.watch(v, []int{v}, 1000)
		if v%10 != 0 {
			r.complete(v)
			r.knock(v)
		}
		if v%500 == 0 {
			if err := r.p.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if live := 2000; r.p.empty > live+1 || len(r.p.byKey) != live+r.p.empty {
		t.Errorf("%d lists, %d of them empty", len(r.p.byKey), r.p.empty)
	}
}

// The key that was knocked on when the empty lists were forgotten may be the next to be used.
func TestForgottenKeyIsUsedAgain(t *testing.T) {
	r := newReal(&script{ready: map[int]bool{}})
	for v := 1; v <= PurgeInterval+1; v++ {
		r.watch(v, []int{v}, 1000)
		r.complete(v)
		r.knock(v)
	}
	if r.p.empty != 0 {
		t.Fatalf("%d empty lists are kept", r.p.empty)
	}
	r.watch(5000, []int{PurgeInterval + 1}, 1000)
	if err := r.p.check(); err != nil {
		t.Fatal(err)
	}
}
