package log

import (
	"errors"
	"slices"
	"testing"
)

// txnLog is a log to which transactions are written in few words.
type txnLog struct {
	t *testing.T
	*Log
}

func (l txnLog) write(data []byte) {
	l.t.Helper()
	b := parsed(l.t, data)
	if _, _, err := l.Check(b); err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.Append(b, 0); err != nil {
		l.t.Fatal(err)
	}
}

func (l txnLog) data(id int64, sequence int32) {
	l.t.Helper()
	l.write(Encode(Producer{id, 0, sequence}, Transactional, values(1, 1)))
}

func (l txnLog) mark(id int64, commit bool) {
	l.t.Helper()
	l.write(Marker{ProducerID: id, CoordinatorEpoch: 1, Commit: commit}.Encode())
}

// TestAborted: a reader of committed records is told of every aborted transaction that reaches into what it reads, and of
// no other; cuts from either end forget what lies there, a copy goes its own way.
func TestAborted(t *testing.T) {
	l := txnLog{t, New(NewMemory(), Config{})}
	l.data(1, 0)     // 0
	l.data(2, 0)     // 1
	l.mark(1, false) // 2
	l.data(3, 0)     // 3
	l.mark(2, true)  // 4
	l.data(1, 1)     // 5
	l.mark(3, false) // 6
	l.mark(1, false) // 7
	l.data(4, 0)     // 8, open
	expect := func(on *Log, from, upTo int64, want ...Aborted) {
		t.Helper()
		if got := on.Aborted(from, upTo); !slices.Equal(got, want) {
			t.Errorf("from %d to %d: %v, want %v", from, upTo, got, want)
		}
	}
	first, third, again := Aborted{1, 0}, Aborted{3, 3}, Aborted{1, 5}
	expect(l.Log, 0, 9, first, third, again)
	expect(l.Log, 0, 1, first)
	expect(l.Log, 2, 4, first, third) // the marker itself still counts
	expect(l.Log, 3, 4, third)
	expect(l.Log, 3, 6, third, again)
	expect(l.Log, 8, 9)
	if !l.Open(4, 0) || l.Open(4, 1) || l.Open(1, 0) {
		t.Error("only the fourth producer has an open transaction, in epoch 0")
	}
	other := l.Clone()
	l.mark(4, false) // 9
	expect(l.Log, 8, 10, Aborted{4, 8})
	expect(other, 8, 10)
	if err := other.Truncate(7); err != nil {
		t.Fatal(err)
	}
	expect(other, 0, 9, first, third)
	if !other.Open(1, 0) || other.LastStable(7) != 5 {
		t.Errorf("cut before its marker the transaction is open again: stable up to %d", other.LastStable(7))
	}
	if err := l.DeleteBefore(5); err != nil || l.StartOffset() != 5 {
		t.Fatalf("begins at %d, %v", l.StartOffset(), err)
	}
	expect(l.Log, 5, 10, third, again, Aborted{4, 8})
	if err := l.DeleteBefore(2); err != nil || l.StartOffset() != 5 {
		t.Errorf("what is deleted stays so: begins at %d, %v", l.StartOffset(), err)
	}
	if err := l.DeleteBefore(99); err != nil || l.StartOffset() != 10 || l.EndOffset() != 10 {
		t.Errorf("not beyond the end: %d to %d, %v", l.StartOffset(), l.EndOffset(), err)
	}
}

// TestPlainBatchInATransaction: a producer with an open transaction writes nothing beside it.
func TestPlainBatchInATransaction(t *testing.T) {
	l := txnLog{t, New(NewMemory(), Config{})}
	l.data(1, 0)
	plain := parsed(t, Encode(Producer{1, 0, 1}, 0, values(1, 1)))
	var refused *Error
	if _, _, err := l.Check(plain); !errors.As(err, &refused) || refused.Code != codeInvalidTxnState {
		t.Errorf("a plain batch within a transaction: %v", err)
	}
	l.mark(1, true)
	if _, _, err := l.Check(plain); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

// TestActive tells of each producer what DescribeProducers asks.
func TestActive(t *testing.T) {
	l := txnLog{t, New(NewMemory(), Config{})}
	l.data(7, 0)
	l.data(3, 0)
	l.mark(3, true)
	want := []ProducerState{{3, 0, 0, 0, 1, -1}, {7, 0, 0, 1, -1, 0}}
	got := l.Active()
	for i := range got {
		got[i].LastTimestampMs = want[min(i, 1)].LastTimestampMs
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
