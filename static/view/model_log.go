package view

import "grouplab/coordinator/event"

// TxnEnd is how a transaction ended.
type TxnEnd string

const (
	TxnOpen      TxnEnd = "" // its marker is not there yet
	TxnCommitted TxnEnd = "committed"
	TxnAborted   TxnEnd = "aborted"
)

func txnEnd(commit bool) TxnEnd {
	if commit {
		return TxnCommitted
	}
	return TxnAborted
}

// Txn is a transactional id as its coordinator sees it.
type Txn struct {
	ID        string
	Producer  int64
	Epoch     int16
	State     event.TxnState
	StartMs   int64 // -1 where no transaction is open
	TimeoutMs int64
}

// Siding is what one producer's transaction has written for a group and nobody sees until its marker comes.
type Siding struct {
	Producer int64
	Epoch    int16
	// SinceMs is when its first offset came.
	SinceMs int64
	// Append is the append under way, or the last one; Written is set once something is in the log.
	Append  int64
	Written bool
	// Offsets are the newest of each partition.
	Offsets []event.OffsetValue
	Ended   TxnEnd
	EndedMs int64
}

// Over tells whether the marker has come.
func (s *Siding) Over() bool { return s.Ended != TxnOpen }

// Removal are offsets that were removed together.
type Removal struct {
	Why     event.Why
	AtMs    int64
	Offsets []event.OffsetValue
}

// Cleaning is one compaction: what was there before, and what became of each record. Offsets are kept.
type Cleaning struct {
	AtMs                    int64
	Seq                     int64
	From, To                int64
	BytesBefore, BytesAfter int64
	Kept, Count             int
	// Before are the newest records below To, oldest first, at most cleaningMost.
	Before []CleanedRecord
	// Reasons count all that went, in the order of reasons.
	Reasons []ReasonCount
}

// CleanedRecord is a record that a compaction met.
type CleanedRecord struct {
	TapeRecord
	// Why it went, "" where it stayed; By is the offset of the record that superseded it, -1 where none did.
	Why event.RemovalReason
	By  int64
}

// ReasonCount is how many records went for a reason.
type ReasonCount struct {
	Why   event.RemovalReason
	Count int
}

// cleaningMost is how many records of a compaction are kept to be drawn.
const cleaningMost = 48

// Answered are alike answers to one API.
type Answered struct {
	API    int16
	Code   int16
	Count  int
	LastMs int64
	Member string // the last who got it
}

// answered adds one answer to a list.
func answered(list []Answered, a Answered) []Answered {
	for i := range list {
		if list[i].API == a.API && list[i].Code == a.Code {
			list[i].Count, list[i].LastMs, list[i].Member = list[i].Count+1, a.LastMs, a.Member
			return list
		}
	}
	a.Count = 1
	return append(list, a)
}

// AppendFailure is an append that was not written, and what those were told who waited for it.
type AppendFailure struct {
	What    string
	Records int
	Code    int16 // the log's
	AtMs    int64
	Seq     int64
	Ignored bool
	// Times counts alike failures without a success between them; SinceMs is the first.
	Times   int
	SinceMs int64
	Answers []Answered
}

// Incarnation is a member id that a static member had before (KIP-345).
type Incarnation struct {
	ID string
	// Client is the process that had it.
	Client     string
	ReplacedMs int64
	// Fenced is what a process that still uses the id was answered, if it asked, to which API and by which broker.
	Fenced fencing
}

// fencing is an answer FENCED_INSTANCE_ID.
type fencing struct {
	Member string
	API    int16
	Code   int16
	AtMs   int64
	Broker int32
	Times  int
}
