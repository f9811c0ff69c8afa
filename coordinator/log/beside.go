package log

import (
	"errors"
	"fmt"
	"sort"
)

// Beside is a Store whose Append returns before the batch is kept: its host writes beside the machine, several batches at
// once. A batch can be read as soon as it was appended; that it is kept is heard by Log.Keep. Appends are kept in order; after
// one that fails, none is kept until Undo.
type Beside interface {
	Store
	// Kept tells how many Appends are kept, of all since the store was made, and why no more will be; nil: they may be.
	Kept() (appends int64, err error)
	// Await waits until every Append is kept, or has failed.
	Await()
	// Undo forgets the Appends that failed. Size then tells how long a segment is without them.
	Undo()
	Size(base int64) int
}

// flying is an append that is not known to be kept: its number, and the log's end behind it.
type flying struct{ number, end int64 }

// KeptOffset is up to where the store keeps the log: the end, but where a Beside is writing still.
func (l *Log) KeptOffset() int64 {
	if l.beside == nil || len(l.flying) == 0 {
		return l.end
	}
	return l.kept
}

// took notes that the store took a batch, with which the log ended at from and ends at l.end now.
func (l *Log) took(from int64) {
	if l.beside == nil {
		return
	}
	if len(l.flying) == 0 {
		l.kept = from
	}
	l.appends++
	l.flying = append(l.flying, flying{l.appends, l.end})
}

// Keep asks a Beside how far it is. Where it failed, the log ends where it is kept from now on, as if what follows had never
// been appended, and the error says why.
func (l *Log) Keep() error {
	if l.beside == nil {
		return nil
	}
	kept, failed := l.beside.Kept()
	done := sort.Search(len(l.flying), func(i int) bool { return l.flying[i].number > kept })
	if done > 0 {
		l.kept = l.flying[done-1].end
		l.flying = append(l.flying[:0], l.flying[done:]...)
	}
	if failed == nil {
		return nil
	}
	if len(l.flying) == 0 {
		l.beside.Undo()
		return nil
	}
	return errors.Join(fmt.Errorf("append behind %d: %w", l.kept, failed), l.undo())
}

// settle waits for a Beside, and takes back what it could not keep: what follows works with what is there.
func (l *Log) settle() error {
	if l.beside == nil {
		return nil
	}
	l.beside.Await()
	return l.Keep()
}

// undo takes back what was appended and is not kept.
func (l *Log) undo() error {
	l.beside.Undo()
	for i := range l.segments {
		s := &l.segments[i]
		if size := l.beside.Size(s.base); size < s.size {
			s.size = size
			s.index = s.index[:sort.Search(len(s.index), func(i int) bool { return s.index[i].position >= size })]
		}
	}
	l.flying = l.flying[:0]
	to := l.kept
	err := l.Truncate(to)
	l.end = max(to, l.start) // also where the disk cannot be read: nothing behind it is there
	return err
}
