package sim

// what says what a due is about.
type what uint8

const (
	reaches  what = iota // a request reaches its broker; ref is its number
	returns              // an answer reaches its client; ref is the request's number
	breaks               // a client notices that a connection is gone; ref is the connection
	unmutes              // a broker reads the next request of a connection; ref is the connection
	wakes                // a consumer has something to do; ref is its index
	delivers             // a message between brokers arrives; ref is its number
)

// due is one entry of the agenda.
type due struct {
	atMs  int64
	order int64
	what  what
	ref   int64
}

func (a due) before(b due) bool { return a.atMs < b.atMs || a.atMs == b.atMs && a.order < b.order }

// agenda holds what will happen, as a binary heap by time and then by order of insertion, so that a run is the same
// every time. It holds plain values: a copy is a copy of the slice.
type agenda struct {
	heap  []due
	order int64
}

// add puts something on the agenda and returns its order, which names it.
func (a *agenda) add(atMs int64, w what, ref int64) int64 {
	a.order++
	a.heap = append(a.heap, due{atMs, a.order, w, ref})
	for i := len(a.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.heap[i].before(a.heap[parent]) {
			break
		}
		a.heap[i], a.heap[parent] = a.heap[parent], a.heap[i]
		i = parent
	}
	return a.order
}

// first is the entry that is due first; ok is false where there is none.
func (a *agenda) first() (d due, ok bool) {
	if len(a.heap) == 0 {
		return due{}, false
	}
	return a.heap[0], true
}

// drop takes the first entry away.
func (a *agenda) drop() {
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap = a.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.heap[child].before(a.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}

func (a *agenda) clone() agenda { return agenda{append([]due(nil), a.heap...), a.order} }
