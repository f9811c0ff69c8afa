package loop

import "container/heap"

type timer struct {
	deadlineMs int64
	id         int64
	run        func(nowMs int64)
}

// timers are the host's own: fetches that wait, mostly. The machine's are in its purgatory. Ties run in order of arming.
// A cancelled timer stays in the heap, without anything to run, until its time comes or half of the heap is such.
type timers struct {
	heap      []*timer
	live      map[int64]*timer
	last      int64
	cancelled int
}

func (t *timers) Len() int { return len(t.heap) }
func (t *timers) Less(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	return a.deadlineMs < b.deadlineMs || a.deadlineMs == b.deadlineMs && a.id < b.id
}
func (t *timers) Swap(i, j int) { t.heap[i], t.heap[j] = t.heap[j], t.heap[i] }
func (t *timers) Push(x any)    { t.heap = append(t.heap, x.(*timer)) }
func (t *timers) Pop() any {
	last := t.heap[len(t.heap)-1]
	t.heap[len(t.heap)-1] = nil
	t.heap = t.heap[:len(t.heap)-1]
	return last
}

func (t *timers) arm(deadlineMs int64, run func(nowMs int64)) int64 {
	t.last++
	entry := &timer{deadlineMs, t.last, run}
	if t.live == nil {
		t.live = map[int64]*timer{}
	}
	t.live[entry.id] = entry
	heap.Push(t, entry)
	return entry.id
}

func (t *timers) cancel(id int64) {
	entry, ok := t.live[id]
	if !ok {
		return
	}
	delete(t.live, id)
	entry.run = nil
	t.cancelled++
	if t.cancelled > 64 && t.cancelled > len(t.heap)/2 {
		t.sweep()
	}
}

func (t *timers) sweep() {
	kept := t.heap[:0]
	for _, entry := range t.heap {
		if entry.run != nil {
			kept = append(kept, entry)
		}
	}
	clear(t.heap[len(kept):])
	t.heap, t.cancelled = kept, 0
	heap.Init(t)
}

// due takes the first timer whose deadline has come, nil where there is none. Timers armed after the one called newest
// are left for the next turn, so that one which arms itself again cannot hold the loop.
func (t *timers) due(nowMs, newest int64) func(nowMs int64) {
	for len(t.heap) > 0 && t.heap[0].deadlineMs <= nowMs && t.heap[0].id <= newest {
		entry := heap.Pop(t).(*timer)
		if entry.run == nil {
			t.cancelled--
			continue
		}
		delete(t.live, entry.id)
		return entry.run
	}
	return nil
}

// nextMs is the first deadline, -1 where there is none. A cancelled one may cost a turn of the loop for nothing.
func (t *timers) nextMs() int64 {
	if len(t.heap) == 0 {
		return -1
	}
	return t.heap[0].deadlineMs
}
