package observe

import (
	"sync"
	"time"

	"grouplab/server/observe/timeline"
)

// recordBytes is what a record of __consumer_offsets is taken to need where nobody says how large the log is.
const recordBytes = 100

// reader is how far the partitions of __consumer_offsets are read. Who fetches from a broker claims the partitions that it
// leads, so that a partition whose leader moves is not read twice and out of order.
type reader struct {
	mu    sync.Mutex
	parts map[int32]*part
	// share is how many bytes of one partition are read, 0 for all.
	share   int64
	sizes   map[int32]int64
	stirred time.Time
	tailing bool // of a partition only the end is read
}

// part is one partition.
type part struct {
	leader, epoch int32
	owner         int32 // the broker whose answer is awaited, 0 for none
	next          int64 // -1: not begun
	read          int32 // the leader epoch of the last record, -1 for none
	moved         bool  // the epoch has changed since it was checked
	why           string
	had           int64 // where it was read to when it was begun anew, -1 for nowhere
	// damages are batches that could not be read, missing the offsets that they held.
	damages, missing int64
	again            time.Time
	failing          time.Time // since when it fails, zero where it does not
	denied           bool
}

// wish is what is asked for of a partition.
type wish struct {
	partition, epoch, read int32
	next                   int64
	moved                  bool
}

// reset forgets all positions.
func (r *reader) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = map[int32]*part{}
	r.sizes, r.share, r.tailing = nil, 0, false
}

// measured takes the partitions' sizes, and decides how much of one is read: all, where all of them are at most most bytes.
func (r *reader) measured(sizes map[int32]int64, most int64, partitions int) (total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range sizes {
		total += n
	}
	r.sizes, r.share = sizes, 0
	if total > most || len(sizes) == 0 {
		r.share = max(most/int64(max(partitions, 1)), 1)
	}
	return total
}

// from is where a partition is read from.
func (r *reader) from(partition int32, start, end int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	size, known := r.sizes[partition]
	switch {
	case r.share == 0, known && size <= r.share, (end-start)*recordBytes <= r.share:
		return start
	}
	return max(start, end-max(r.share/recordBytes, 1))
}

// lead takes who leads the partitions now.
func (r *reader) lead(offsets *timeline.Topic) {
	if offsets == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range offsets.Partitions {
		have := r.parts[p.Number]
		if have == nil {
			have = &part{next: -1, read: -1, had: -1}
			r.parts[p.Number] = have
		}
		if p.Epoch < have.epoch {
			continue // an answer of a broker that has not heard yet
		}
		if p.Epoch != have.epoch || p.Leader != have.leader {
			have.moved = have.next >= 0 && have.read >= 0 && p.Epoch >= 0
			have.again = time.Time{}
		}
		have.leader, have.epoch = p.Leader, p.Epoch
	}
}

// claim takes the partitions that a broker leads and that may be asked for now.
func (r *reader) claim(broker int32) (list []wish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for n := range int32(len(r.parts)) {
		p := r.parts[n]
		if p == nil || p.leader != broker || p.owner != 0 || now.Before(p.again) {
			continue
		}
		p.owner = broker
		list = append(list, wish{partition: n, epoch: p.epoch, read: p.read, next: p.next, moved: p.moved})
	}
	return list
}

// release gives back what a broker was asked for.
func (r *reader) release(broker int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parts {
		if p.owner == broker {
			p.owner = 0
		}
	}
}

// position is the offset that is read next.
func (r *reader) position(partition int32) (next int64, reading bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.parts[partition]; p != nil {
		return p.next, true
	}
	return 0, false
}

// change calls f with a partition, where it is known.
func (r *reader) change(partition int32, f func(*part)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.parts[partition]; p != nil {
		f(p)
	}
}

func (r *reader) begun(partition int32, from int64) {
	r.change(partition, func(p *part) {
		p.next, p.read, p.moved, p.why, p.had, p.failing, p.denied = from, -1, false, "", -1, time.Time{}, false
	})
}

func (r *reader) advance(partition int32, next int64, epoch int32) {
	r.change(partition, func(p *part) {
		p.next, p.read, p.failing, p.denied = next, max(p.read, epoch), time.Time{}, false
	})
}

func (r *reader) checked(partition int32) { r.change(partition, func(p *part) { p.moved = false }) }

// restart has a partition read anew.
func (r *reader) restart(partition int32, why string) {
	r.change(partition, func(p *part) {
		p.had = max(p.had, p.next)
		p.next, p.read, p.moved, p.why, p.again = -1, -1, false, why, time.Time{}
	})
}

// had is where a partition had been read to that is to be begun anew, -1 where it never was.
func (r *reader) had(partition int32) int64 {
	at := int64(-1)
	r.change(partition, func(p *part) { at = p.had })
	return at
}

// damage counts a batch that cannot be read, and the offsets in it, and returns how many there were of each.
func (r *reader) damage(partition int32, offsets int64) (batches, missing int64) {
	r.change(partition, func(p *part) {
		p.damages, p.missing = p.damages+1, p.missing+offsets
		batches, missing = p.damages, p.missing
	})
	return batches, missing
}

func (r *reader) why(partition int32) (why string) {
	r.change(partition, func(p *part) { why = p.why })
	return why
}

// fail leaves a partition alone for a while and tells whether it has failed for so long that it should be said.
func (r *reader) fail(partition int32, code int16) (lasting bool) {
	now := time.Now()
	r.change(partition, func(p *part) {
		if p.failing.IsZero() {
			p.failing = now
		}
		p.again, p.denied = now.Add(fetchAgain), code == codeTopicDenied
		lasting = now.Sub(p.failing) >= graceOf
	})
	return lasting
}

// denied tells whether a partition may not be read any more.
func (r *reader) denied() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parts {
		if p.denied {
			return true
		}
	}
	return false
}

// tailed tells whether only the end of a log is read.
func (r *reader) tailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tailing
}

// tail notes that of a partition only the end is read.
func (r *reader) tail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tailing = true
}

// stir notes that groups move; quiet is for how long none did.
func (r *reader) stir() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stirred = time.Now()
}

func (r *reader) quiet() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.stirred)
}
