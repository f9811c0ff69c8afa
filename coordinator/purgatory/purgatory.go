package purgatory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// PurgeInterval is how many operations may be over and still lie in watch lists before Purge drops them
// (Kafka: DelayedOperationPurgatory's purgeInterval).
const PurgeInterval = 1000

// Op names an operation of one purgatory. The zero Op names none.
type Op struct {
	// Number is unique among all operations of all purgatories of a wheel, from 1 on, in order of creation.
	Number int64
	slot   int32
}

// Behaviour is what the operations of one purgatory do (Kafka: the methods of a DelayedOperation). V is an operation as
// a plain value, so that a purgatory can be copied; its behaviour is given anew to each copy. All methods may use the
// purgatory again.
type Behaviour[K comparable, V any] interface {
	// TryComplete tells whether the operation's condition holds. The purgatory then completes it; TryComplete itself
	// changes nothing.
	TryComplete(op Op, v V) bool
	// OnComplete runs once for each operation, when it is over: expired tells by which door.
	OnComplete(op Op, v V, expired bool)
	// OnExpiration runs after OnComplete where time was up.
	OnExpiration(op Op, v V)
	// StayedIncomplete is told that a knock on key tested the operation in vain.
	StayedIncomplete(op Op, key K, v V)
}

// Purgatory holds operations that wait for a condition under one or more keys and for a deadline in a Wheel
// (Kafka: DelayedOperationPurgatory; its 512 shards and its locks are not needed with one owner).
//
// An operation that is over leaves the wheel at once. From watch lists it is dropped when somebody knocks there, or by
// Purge; until then Watched counts it. Steady use allocates nothing.
type Purgatory[K comparable, V any] struct {
	wheel     *Wheel
	owner     uint8
	behaviour Behaviour[K, V]
	estimated int // operations watched, dead ones included (Kafka: estimatedTotalOperations)
	delayed   int // operations with a timer
	watched   int // entries in all lists
	ops       arena[operation[V]]
	watchers  arena[watcher]
	lists     arena[list[K]]
	byKey     map[K]int32
	empty     int // lists without entries that are still in byKey
	lastKey   K   // the key looked up last and its list, -1 none: most keys are asked for twice in a row
	lastList  int32
}

type operation[V any] struct {
	value    V
	number   int64 // 0: over, or a free slot
	timer    Timer // None before it is armed
	startMs  int64
	deadline int64
	watchers int32 // how many entries of lists lead here; the slot is free when it is over and none does
	first    int32 // first of its watchers, linked by sibling
	busy     bool  // TryCompleteElseWatch has not returned yet: keep the slot
}

type watcher struct{ op, list, prev, next, sibling int32 }

type list[K comparable] struct {
	key         K
	first, last int32
	walks       int32 // walks under way; while there are any, nothing is unlinked
	used        bool  // false: a free slot
}

// New makes an empty purgatory on wheel. Owner tells its timers from those of others on the same wheel.
func New[K comparable, V any](wheel *Wheel, owner uint8, b Behaviour[K, V]) *Purgatory[K, V] {
	return &Purgatory[K, V]{wheel: wheel, owner: owner, behaviour: b, byKey: map[K]int32{}, lastList: -1}
}

// Clone copies the purgatory onto a copy of its wheel, with the behaviour that belongs to the copy. It must not be
// called from a method of Behaviour.
func (p *Purgatory[K, V]) Clone(wheel *Wheel, b Behaviour[K, V]) *Purgatory[K, V] {
	c := *p
	c.wheel, c.behaviour = wheel, b
	c.ops, c.watchers, c.lists = p.ops.clone(), p.watchers.clone(), p.lists.clone()
	c.byKey = maps.Clone(p.byKey)
	return &c
}

// Watched is the sum of the lengths of all watch lists: an operation under three keys counts three times, and those
// that are over count until they are dropped (Kafka: PurgatorySize is this figure).
func (p *Purgatory[K, V]) Watched() int { return p.watched }

// Delayed is the number of operations with a live timer (Kafka: NumDelayedOperations).
func (p *Purgatory[K, V]) Delayed() int { return p.delayed }

// Unswept is how many entries of watch lists are of operations that are over.
func (p *Purgatory[K, V]) Unswept() int { return p.watched - p.delayed }

// Over is how many operations are over since the last purge, by the estimate that Purge goes by.
func (p *Purgatory[K, V]) Over() int { return p.estimated - p.delayed }

// TryCompleteElseWatch completes the operation at once if its condition holds; otherwise it watches it under every key
// and tries a second time, because the condition may have come true meanwhile (with one owner it cannot, but Kafka's
// rule is kept, and what it counts); and then arms its timer. Completed tells that the operation is over and OnComplete
// has run. At least one key is needed.
func (p *Purgatory[K, V]) TryCompleteElseWatch(nowMs int64, v V, deadlineMs int64, keys ...K) (op Op, completed bool) {
	if len(keys) == 0 {
		panic("purgatory: Purgatory.TryCompleteElseWatch without a key")
	}
	op = p.begin(nowMs, v, deadlineMs)
	if p.try(op) {
		p.settle(op)
		return op, true
	}
	for _, k := range keys {
		p.watch(op, k)
	}
	p.estimated++
	if !p.try(op) && p.waiting(op) {
		o := &p.ops.at[op.slot]
		o.timer = p.wheel.Arm(p.owner, op.slot, o.deadline)
		p.delayed++
	}
	completed = !p.waiting(op)
	p.settle(op)
	return op, completed
}

// CheckAndComplete knocks on a key: it tests every operation watched there in order of watching, completes those whose
// condition holds, and drops from this key's list all that are over. It returns how many it completed. Operations that
// come to wait under the key meanwhile are not tested.
func (p *Purgatory[K, V]) CheckAndComplete(key K) int {
	l, ok := p.find(key)
	if !ok {
		return 0
	}
	completed, newest := 0, p.wheel.numbers
	p.lists.at[l].walks++
	for w := p.lists.at[l].first; w >= 0; w = p.watchers.at[w].next {
		slot := p.watchers.at[w].op
		op := Op{p.ops.at[slot].number, slot}
		if op.Number == 0 || op.Number > newest {
			continue
		}
		if p.try(op) {
			completed++
		} else if p.waiting(op) {
			p.behaviour.StayedIncomplete(op, key, p.ops.at[slot].value)
		}
	}
	p.lists.at[l].walks--
	p.sweep(l)
	return completed
}

// Complete ends an operation whatever its condition says, as if by door A (Kafka: forceComplete). It returns false if
// the operation is over already.
func (p *Purgatory[K, V]) Complete(op Op) bool { return p.forceComplete(op, false) }

// Cancel drops an operation: it will never complete, and none of its methods runs. It returns false if the operation is
// over already.
func (p *Purgatory[K, V]) Cancel(op Op) bool {
	if !p.waiting(op) {
		return false
	}
	p.finish(op)
	return true
}

// Expire ends the operation whose timer expired: OnComplete, then OnExpiration.
func (p *Purgatory[K, V]) Expire(x Expired) {
	o := &p.ops.at[x.Ref]
	if x.Owner != p.owner || o.number == 0 || o.timer != x.Timer {
		panic(fmt.Sprintf("purgatory: Purgatory.Expire of %+v, which is not the timer of a waiting operation of owner %d", x, p.owner))
	}
	op, v := Op{o.number, x.Ref}, o.value
	o.timer = None
	p.delayed--
	if p.forceComplete(op, true) {
		p.behaviour.OnExpiration(op, v)
	}
}

// Purge drops what is over from all watch lists, if by the estimate there are more than PurgeInterval such operations.
// Kafka does so after each move of the clock. It returns whether it did.
func (p *Purgatory[K, V]) Purge() bool {
	if p.Over() <= PurgeInterval {
		return false
	}
	p.estimated = p.delayed
	for l := range p.lists.at {
		p.sweep(int32(l))
	}
	return true
}

func (p *Purgatory[K, V]) begin(nowMs int64, v V, deadlineMs int64) Op {
	p.wheel.numbers++
	op := Op{p.wheel.numbers, p.ops.take()}
	p.ops.at[op.slot] = operation[V]{value: v, number: op.Number, timer: None, startMs: nowMs, deadline: deadlineMs, first: -1, busy: true}
	return op
}

func (p *Purgatory[K, V]) waiting(op Op) bool {
	return op.Number != 0 && int(op.slot) < len(p.ops.at) && p.ops.at[op.slot].number == op.Number
}

func (p *Purgatory[K, V]) try(op Op) bool {
	return p.waiting(op) && p.behaviour.TryComplete(op, p.ops.at[op.slot].value) && p.forceComplete(op, false)
}

func (p *Purgatory[K, V]) forceComplete(op Op, expired bool) bool {
	if !p.waiting(op) {
		return false
	}
	v := p.ops.at[op.slot].value
	p.finish(op)
	p.behaviour.OnComplete(op, v, expired)
	return true
}

// finish marks an operation as over and takes it from the wheel.
func (p *Purgatory[K, V]) finish(op Op) {
	o := &p.ops.at[op.slot]
	if o.timer != None {
		p.wheel.Cancel(o.timer)
		p.delayed--
	}
	var none V
	o.number, o.timer, o.value = 0, None, none
	p.freeIfUnused(op.slot)
}

// settle lets the slot go that TryCompleteElseWatch held.
func (p *Purgatory[K, V]) settle(op Op) {
	p.ops.at[op.slot].busy = false
	p.freeIfUnused(op.slot)
}

func (p *Purgatory[K, V]) freeIfUnused(slot int32) {
	if o := &p.ops.at[slot]; o.number == 0 && o.watchers == 0 && !o.busy {
		p.ops.release(slot)
	}
}

func (p *Purgatory[K, V]) find(key K) (l int32, ok bool) {
	if p.lastList >= 0 && p.lastKey == key {
		return p.lastList, true
	}
	if l, ok = p.byKey[key]; ok {
		p.lastKey, p.lastList = key, l
	}
	return l, ok
}

func (p *Purgatory[K, V]) watch(op Op, key K) {
	l, ok := p.find(key)
	if !ok {
		l = p.lists.take()
		p.lists.at[l] = list[K]{key: key, first: -1, last: -1, used: true}
		p.byKey[key], p.lastKey, p.lastList = l, key, l
		p.empty++
	}
	w := p.watchers.take()
	o, li := &p.ops.at[op.slot], &p.lists.at[l]
	p.watchers.at[w] = watcher{op: op.slot, list: l, prev: li.last, next: -1, sibling: o.first}
	if li.last >= 0 {
		p.watchers.at[li.last].next = w
	} else {
		li.first = w
		p.empty--
	}
	li.last = w
	o.first = w
	o.watchers++
	p.watched++
}

// sweep drops what is over from a list.
func (p *Purgatory[K, V]) sweep(l int32) {
	li := &p.lists.at[l]
	if li.walks > 0 || li.first < 0 {
		return // the outermost walk sweeps; or nothing is there
	}
	for w := li.first; w >= 0; {
		next := p.watchers.at[w].next
		if p.ops.at[p.watchers.at[w].op].number == 0 {
			p.unwatch(w)
		}
		w = next
	}
	if li.first < 0 {
		p.empty++
		p.dropEmpty()
	}
}

// dropEmpty forgets the empty lists when they are many. Kafka does so at once (removeKeyIfEmpty); but a session's key
// is mostly used again in the next breath, so the empty ones may be as many as the others, or PurgeInterval.
func (p *Purgatory[K, V]) dropEmpty() {
	if p.empty <= PurgeInterval || p.empty <= len(p.byKey)/2 {
		return
	}
	for l := range p.lists.at {
		if li := &p.lists.at[l]; li.used && li.first < 0 {
			delete(p.byKey, li.key)
			*li = list[K]{first: -1, last: -1}
			p.lists.release(int32(l))
		}
	}
	p.empty, p.lastList = 0, -1
}

func (p *Purgatory[K, V]) unwatch(w int32) {
	n := p.watchers.at[w]
	li := &p.lists.at[n.list]
	if n.prev >= 0 {
		p.watchers.at[n.prev].next = n.next
	} else {
		li.first = n.next
	}
	if n.next >= 0 {
		p.watchers.at[n.next].prev = n.prev
	} else {
		li.last = n.prev
	}
	p.watchers.release(w)
	p.watched--
	p.ops.at[n.op].watchers--
	p.freeIfUnused(n.op)
}

// Waiting lists the operations that are not over, in order of their numbers.
func (p *Purgatory[K, V]) Waiting() []Op {
	ops := make([]Op, 0, p.delayed)
	for slot := range p.ops.at {
		if n := p.ops.at[slot].number; n != 0 {
			ops = append(ops, Op{n, int32(slot)})
		}
	}
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Number, b.Number) })
	return ops
}

// At names the waiting operation that a Cascade's Ref stands for.
func (p *Purgatory[K, V]) At(ref int32) Op { return Op{p.ops.at[ref].number, ref} }

// Details is what is known of a waiting operation.
type Details[K comparable, V any] struct {
	Value               V
	Keys                []K
	StartMs, DeadlineMs int64
	Placement           Placement
	Armed               int64 // of two timers due in one millisecond, the one armed first ends first
}

// Get returns what is known of an operation; ok is false where it is over.
func (p *Purgatory[K, V]) Get(op Op) (d Details[K, V], ok bool) {
	if !p.waiting(op) {
		return d, false
	}
	o := &p.ops.at[op.slot]
	d = Details[K, V]{Value: o.value, StartMs: o.startMs, DeadlineMs: o.deadline, Placement: p.Place(op)}
	if o.timer != None {
		d.Armed = p.wheel.entries[p.wheel.pending("Get", o.timer)].order
	}
	for w := o.first; w >= 0; w = p.watchers.at[w].sibling {
		d.Keys = append(d.Keys, p.lists.at[p.watchers.at[w].list].key)
	}
	slices.Reverse(d.Keys) // siblings are linked newest first
	return d, true
}

// Place says where the timer of a waiting operation lies, without the cost of Get. An operation without a timer, over
// or in its two tries, lies nowhere: level -1.
func (p *Purgatory[K, V]) Place(op Op) Placement {
	if !p.waiting(op) || p.ops.at[op.slot].timer == None {
		return Placement{Level: -1}
	}
	return p.wheel.Place(p.ops.at[op.slot].timer)
}

// PassOver uses up a number, for an operation that was to replace one of the same condition and deadline: the host leaves
// the old one, and what comes after is numbered alike.
func (w *Wheel) PassOver() { w.numbers++ }
