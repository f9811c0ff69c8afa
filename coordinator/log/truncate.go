package log

import (
	"errors"
	"fmt"
	"slices"
)

// Truncate cuts off everything from an offset on: a follower does so where it parted from its leader. An offset inside of
// a batch takes the whole batch away. What the cut batches said of producers and epochs is forgotten too.
func (l *Log) Truncate(to int64) error {
	if len(l.flying) > 0 {
		_ = l.settle() // what it takes back was to be cut, or will be fetched again
	}
	if to >= l.end {
		return nil
	}
	if to <= l.start {
		return l.Restart(l.start)
	}
	err := l.cutTo(to)
	l.cleaned = min(l.cleaned, l.segments[len(l.segments)-1].base)
	l.truncateEpochs(l.end)
	// A start within the batch that went goes back with the end: that batch will come again as a whole (Kafka:
	// Partition.doAppendRecordsToFollowerOrFutureReplica).
	l.start = min(l.start, l.end)
	l.note()
	return errors.Join(err, l.relearn())
}

// cutTo removes segments from the end, then cuts the one that holds to. Where the store fails half way the log ends where it
// has got to, so that it is whole and can be cut again.
func (l *Log) cutTo(to int64) error {
	keep := len(l.segments)
	for keep > 0 && l.segments[keep-1].base >= to {
		keep--
		base := l.segments[keep].base
		if err := l.drop(keep); err != nil {
			return err
		}
		l.end = base
	}
	return l.cut(&l.segments[keep-1], to)
}

// drop removes the segment at i, which is the last or the first.
func (l *Log) drop(i int) error {
	l.giveUpCleaning(l.segments[i].base)
	if err := l.store.Remove(l.segments[i].base); err != nil {
		return fmt.Errorf("remove segment %d: %w", l.segments[i].base, err)
	}
	l.segments = slices.Delete(slices.Clone(l.segments), i, i+1)
	return nil
}

// cut shortens the last segment so that it ends before the batch that holds to, and reads its figures anew.
func (l *Log) cut(s *segment, to int64) error {
	l.giveUpCleaning(s.base)
	old, end := *s, l.end
	l.end = to
	*s = segment{base: old.base, maxMs: noTimestamp}
	for entry := range old.index {
		err := l.between(&old, entry, func(_ int, data []byte) bool {
			b := header(data)
			if b.NextOffset() > to {
				l.end = min(to, b.BaseOffset)
				return false
			}
			s.enter(b, l.cfg.IndexIntervalBytes)
			return true
		})
		if err != nil {
			*s, l.end = old, end
			return err
		}
		if entry+1 < len(old.index) && old.index[entry+1].offset >= to {
			break
		}
	}
	if err := l.store.Truncate(s.base, s.size); err != nil {
		*s, l.end = old, end
		return fmt.Errorf("cut segment %d at offset %d: %w", s.base, to, err)
	}
	return nil
}

// relearn reads the producers' state from what is left (Kafka keeps snapshots for this; cuts are rare and logs short).
func (l *Log) relearn() error {
	if len(l.producers) == 0 && len(l.aborted) == 0 {
		return nil
	}
	l.producers, l.open, l.ended, l.aborted = nil, nil, nil, nil
	return l.Each(l.start, l.end, func(b Batch) bool { l.remember(b); return true })
}

// Restart throws everything away and begins again, empty, at an offset (Kafka: truncateFullyAndStartAt).
func (l *Log) Restart(at int64) error {
	if len(l.flying) > 0 {
		_ = l.settle()
	}
	for len(l.segments) > 0 {
		base := l.segments[len(l.segments)-1].base
		if err := l.drop(len(l.segments) - 1); err != nil {
			return err
		}
		l.end = base
	}
	l.start, l.end, l.cleaned = at, at, at
	l.epochs, l.producers, l.open, l.ended, l.aborted = nil, nil, nil, nil, nil
	return l.store.Note(l.notes())
}

// Retain deletes the oldest segments (cleanup.policy=delete): those that are larger together than maxBytes, those whose
// newest record is older than beforeMs, and those below minStart, which is where the leader's log begins. The segment
// that is written to stays, and nothing from keep (the high watermark) on goes. maxBytes < 0 and beforeMs < 0 mean: no
// such bound.
func (l *Log) Retain(maxBytes, beforeMs, minStart, keep int64) error {
	for len(l.segments) > 1 && l.segments[1].base <= keep {
		s := &l.segments[0]
		tooMuch := maxBytes >= 0 && l.Size()-int64(s.size) >= maxBytes
		tooOld := beforeMs >= 0 && s.maxMs < beforeMs
		if !tooMuch && !tooOld && l.segments[1].base > minStart {
			break
		}
		if err := l.drop(0); err != nil {
			return err
		}
		l.begin(max(l.start, l.segments[0].base))
	}
	return nil
}

// begin makes an offset the first one that is kept.
func (l *Log) begin(start int64) {
	l.start = start
	l.forgetEpochs(start)
	l.forgetAborted()
	l.note()
}

// DeleteBefore makes an offset, at most the log's end, the first one that is kept, and deletes the segments that lie
// before it as a whole (Kafka: UnifiedLog.maybeIncrementLogStartOffset, DeleteRecords). A log that begins behind it stays
// as it is.
func (l *Log) DeleteBefore(start int64) error {
	if start = min(start, l.end); start <= l.start {
		return nil
	}
	// What was deleted must not come back after a crash, so a store that cannot say so keeps it.
	if err := l.store.Note(Notes{start, l.cleaned, l.epochs}); err != nil {
		return fmt.Errorf("note that the log begins at %d: %w", start, err)
	}
	l.begin(start)
	for len(l.segments) > 1 && l.segments[1].base <= start {
		if err := l.drop(0); err != nil {
			return err
		}
	}
	return nil
}

// CloseOld begins a new segment where the newest record of the last one is older than beforeMs and everything in it is
// below keep (the high watermark), so that Retain can delete it (Kafka: UnifiedLog.deleteSegments).
func (l *Log) CloseOld(beforeMs, keep int64) error {
	n := len(l.segments)
	if n == 0 || l.segments[n-1].size == 0 || l.segments[n-1].maxMs >= beforeMs || l.end > keep {
		return nil
	}
	return l.roll()
}

// Resize changes segment.bytes and segment.ms for what is written from now on.
func (l *Log) Resize(segmentBytes int, segmentMs int64) {
	l.cfg.SegmentBytes, l.cfg.SegmentMs = segmentBytes, segmentMs
}

// Segments is the number of segments.
func (l *Log) Segments() int { return len(l.segments) }
