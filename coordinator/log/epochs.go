package log

// EpochStart says at which offset a leader epoch began.
type EpochStart struct {
	Epoch int32
	Start int64
}

// LatestEpoch is the newest leader epoch that this log knows, -1 where it is empty of them.
func (l *Log) LatestEpoch() int32 {
	if len(l.epochs) == 0 {
		return -1
	}
	return l.epochs[len(l.epochs)-1].Epoch
}

// BeginEpoch notes that a leader epoch begins at the log's end: a broker became leader, even if it writes nothing
// (Kafka: LeaderEpochFileCache.assign).
func (l *Log) BeginEpoch(epoch int32) { l.beginEpoch(epoch, l.end) }

// beginEpoch drops entries that contradict the new one: of the same or a later epoch, or from the same offset on.
func (l *Log) beginEpoch(epoch int32, start int64) {
	if epoch < 0 || epoch == l.LatestEpoch() {
		return
	}
	keep := len(l.epochs)
	for keep > 0 && (l.epochs[keep-1].Epoch >= epoch || l.epochs[keep-1].Start >= start) {
		keep--
	}
	l.epochs = append(l.epochs[:keep:keep], EpochStart{epoch, start})
	l.note()
}

// EpochEnd answers a follower (KIP-101, KIP-279): the largest epoch up to the asked one that this log knows, and where
// it ended, which for the latest one is the log's end. Both are -1 where it cannot tell: the asked epoch is newer than
// all, or there are none.
func (l *Log) EpochEnd(epoch int32) (int32, int64) {
	if epoch < 0 || len(l.epochs) == 0 || epoch > l.LatestEpoch() {
		return -1, -1
	}
	if epoch == l.LatestEpoch() {
		return epoch, l.end
	}
	next := 0
	for l.epochs[next].Epoch <= epoch {
		next++
	}
	if next == 0 { // older than all: its records are gone, and ended before the first that is known
		return epoch, l.epochs[0].Start
	}
	return l.epochs[next-1].Epoch, l.epochs[next].Start
}

// truncateEpochs forgets epochs that began at or behind the new end.
func (l *Log) truncateEpochs(end int64) {
	keep := len(l.epochs)
	for keep > 0 && l.epochs[keep-1].Start >= end {
		keep--
	}
	l.epochs = l.epochs[:keep:keep]
}

// forgetEpochs drops epochs that ended before the log's new start; the one that reaches over it begins there.
func (l *Log) forgetEpochs(start int64) {
	for len(l.epochs) > 1 && l.epochs[1].Start <= start {
		l.epochs = l.epochs[1:]
	}
	if len(l.epochs) > 0 && l.epochs[0].Start < start {
		first := EpochStart{l.epochs[0].Epoch, start}
		l.epochs = append([]EpochStart{first}, l.epochs[1:]...)
	}
}

// EpochAt is the leader epoch in which the record at an offset was written, -1 where it is not known.
func (l *Log) EpochAt(offset int64) int32 {
	for i := len(l.epochs) - 1; i >= 0; i-- {
		if l.epochs[i].Start <= offset {
			return l.epochs[i].Epoch
		}
	}
	return -1
}
