package log

import (
	"slices"

	"grouplab/coordinator/event"
)

// plan is what a compaction knows of the segments, and by which it says of each record whether it stays.
type plan struct {
	Compaction
	segments int
	// upTo is where what is compacted ends.
	upTo   int64
	newest newest
	// open are batches of transactions without a marker yet, by producer, while transactions are looked for.
	open map[int64][]int64
	// aborted are batches, by base offset, whose transaction was aborted; empty are markers before which nothing of
	// their transaction is left.
	aborted, empty map[int64]bool
	// closed is set where a batch could not be opened.
	closed bool
	// kept is room for the records of one batch.
	kept []Record
}

// newest is the offset of the newest record of each key, those of aborted transactions aside (Kafka: OffsetMap).
type newest struct {
	at      map[string]int32
	offsets []int64
}

func (n *newest) put(key []byte, offset int64) {
	if i, known := n.at[string(key)]; known {
		n.offsets[i] = offset
		return
	}
	n.at[string(key)] = int32(len(n.offsets))
	n.offsets = append(n.offsets, offset)
}

func (n *newest) get(key []byte) (offset int64, known bool) {
	i, known := n.at[string(key)]
	if known {
		offset = n.offsets[i]
	}
	return offset, known
}

// transaction takes what a batch says of transactions.
func (p *plan) transaction(b Batch) {
	switch {
	case b.Control():
		commit, _, known := marker(b)
		if !known {
			return
		}
		p.empty[b.BaseOffset] = len(p.open[b.ProducerID]) == 0
		for _, base := range p.open[b.ProducerID] {
			p.aborted[base] = !commit
		}
		delete(p.open, b.ProducerID)
	case b.Transactional():
		p.open[b.ProducerID] = append(p.open[b.ProducerID], b.BaseOffset)
	}
}

// openOnes says what becomes of transactions whose marker did not come: where they are open still, they end what can be
// compacted.
func (p *plan) openOnes(l *Log, segments []segment) {
	for producer, batches := range p.open {
		if l.openSince(producer) > batches[len(batches)-1] { // its marker lies behind what can be compacted
			for _, base := range batches {
				p.aborted[base] = l.abortedAt(producer, base)
			}
			continue
		}
		for p.segments > 0 && segments[p.segments].base > batches[0] {
			p.segments--
		}
	}
	p.upTo = segments[p.segments].base
}

// keys takes the keys of a batch.
func (p *plan) keys(b Batch) error {
	switch {
	case b.Control() || p.aborted[b.BaseOffset]:
		return nil
	case b.Codec() != None && p.Unpack == nil:
		p.closed = true
		return nil
	}
	return b.Each(p.Unpack, func(r Record) bool {
		if r.Key != nil {
			p.newest.put(r.Key, r.Offset)
		}
		return true
	})
}

// removed notes a record that goes.
func (c *Compacted) removed(b Batch, r Record, why event.RemovalReason, by int64, tell int) {
	if c.Count++; c.Count <= tell {
		c.Removed = append(c.Removed, Removed{r, why, by, describe(b, r)})
		return
	}
	at := slices.IndexFunc(c.More, func(m event.RemovedMore) bool { return m.Why == why })
	if at < 0 {
		at = len(c.More)
		c.More = append(c.More, event.RemovedMore{Why: why})
	}
	c.More[at].Count++
}

// batch returns what is left of a batch: the batch itself where nothing changes, nil where it goes.
func (p *plan) batch(l *Log, b Batch, done *Compacted) ([]byte, error) {
	if b.Codec() != None && p.Unpack == nil {
		done.Kept += int(b.Count)
		return b.Bytes, nil
	}
	horizonMs, horizon := b.DeleteHorizonMs()
	over := horizon && horizonMs <= p.NowMs
	kept := p.kept[:0]
	removed, mortal := false, false
	err := b.Each(p.Unpack, func(r Record) bool {
		why, by := p.fate(b, r, over)
		if why == "" {
			kept = append(kept, r)
			mortal = mortal || r.Value == nil && !b.Control() || p.empty[b.BaseOffset]
			return true
		}
		removed = true
		done.removed(b, r, why, by, p.Tell)
		return true
	})
	p.kept = kept
	if err != nil {
		return nil, err
	}
	done.Kept += len(kept)
	begin := mortal && !horizon
	switch {
	case len(kept) == 0 && !l.lastOf(b) && b.NextOffset() != p.upTo:
		return nil, nil
	case !removed && !begin:
		return b.Bytes, nil
	case begin:
		horizonMs, horizon = p.NowMs+p.DeleteRetentionMs, true
	}
	return rebuild(b, kept, horizonMs, horizon), nil
}

// fate is why a record goes, "" where it stays.
func (p *plan) fate(b Batch, r Record, over bool) (why event.RemovalReason, by int64) {
	if b.Control() {
		if p.empty[b.BaseOffset] && over {
			return event.WhyEmptyTransaction, -1
		}
		return "", -1
	}
	newest, known := p.newest.get(r.Key)
	switch {
	case p.aborted[b.BaseOffset]:
		return event.WhyAborted, -1
	case r.Key == nil:
		return event.WhyNoKey, -1
	case known && newest > r.Offset:
		return event.WhySuperseded, newest
	case r.Value == nil && over && !p.closed:
		return event.WhyTombstoneOver, -1
	}
	return "", -1
}

// lastOf tells whether a batch holds what is remembered of a producer: its last records or, where it has none in its
// epoch, the marker that brought the epoch (Kafka: isBatchLastRecordOfProducer).
func (l *Log) lastOf(b Batch) bool {
	p, known := l.producers[b.ProducerID]
	switch {
	case !known:
		return false
	case p.lastData >= 0:
		return b.LastOffset() == p.lastData
	}
	return b.Control() && b.ProducerEpoch == p.epoch
}
