package log

import (
	"errors"
	"fmt"
	"testing"
)

func TestMarker(t *testing.T) {
	b := parsed(t, Marker{ProducerID: 9, ProducerEpoch: 3, CoordinatorEpoch: 7, Commit: true, TimestampMs: 5}.Encode())
	records, err := b.Records(nil)
	if err != nil || !b.Control() || !b.Transactional() || b.ProducerID != 9 || b.ProducerEpoch != 3 || b.BaseSequence != -1 {
		t.Fatalf("batch %+v, %v", b, err)
	}
	if got := fmt.Sprintf("%x %x", records[0].Key, records[0].Value); got != "00000001 000000000007" {
		t.Errorf("key and value %s", got)
	}
	if m, ok := ReadMarker(b); !ok || m != (Marker{9, 3, 7, true, 5}) {
		t.Errorf("read %+v, %v", m, ok)
	}
}

// Transactions in a log: up to where everything is decided; whose marker is refused.
func TestTransactionsOfALog(t *testing.T) {
	l := New(NewMemory(), Config{})
	write := func(data []byte) (code int16) {
		t.Helper()
		b := parsed(t, data)
		_, _, err := l.Check(b)
		var known *Error
		if errors.As(err, &known) {
			return known.Code
		}
		if _, err := l.Append(b, 0); err != nil {
			t.Fatal(err)
		}
		return 0
	}
	data := func(id int64, epoch int16, sequence int32) []byte {
		return Encode(Producer{id, epoch, sequence}, Transactional, values(1, 1))
	}
	mark := func(id int64, epoch int16, coordinator int32) []byte {
		return Marker{ProducerID: id, ProducerEpoch: epoch, CoordinatorEpoch: coordinator, Commit: true}.Encode()
	}
	for i, step := range []struct {
		data   []byte
		code   int16
		hw     int64
		stable int64
	}{
		{Encode(NoProducer, 0, values(1, 1)), 0, 1, 1},
		{data(1, 0, 0), 0, 2, 1},  // at 1: open
		{data(2, 0, -1), 0, 3, 1}, // at 2: offsets have no sequence number
		{mark(1, 0, 5), 0, 3, 1},  // at 3: ended, but the watermark is not over the marker
		{data(1, 0, 1), 0, 4, 2},  // at 4: open again; the first is decided, the second producer's is not
		{mark(2, 0, 4), 0, 6, 4},  // at 5: the offsets' transaction ends
		{mark(1, 0, 4), codeCoordinatorFenced, 6, 4},
		{mark(1, 1, 6), 0, 7, 7}, // at 6: under a new epoch, as a coordinator does that ends it itself
		{data(1, 0, 2), codeInvalidProducerEpoch, 7, 7},
		{data(2, 0, -1), 0, 8, 7}, // at 7
		{mark(2, 1, 6), 0, 9, 9},  // at 8: fenced
		{data(2, 0, -1), codeInvalidProducerEpoch, 9, 9},
		{data(1, 1, 5), codeOutOfOrderSequence, 9, 9}, // nothing is known of this epoch: it begins with 0
		{mark(1, 0, 9), codeInvalidProducerEpoch, 9, 9},
		{data(1, 1, 0), 0, 10, 9}, // at 9
	} {
		if code := write(step.data); code != step.code {
			t.Fatalf("step %d: code %d, want %d", i, code, step.code)
		}
		if got := l.LastStable(step.hw); got != step.stable {
			t.Errorf("step %d: stable up to %d below %d, want %d", i, got, step.hw, step.stable)
		}
	}
	l.ExpireProducers(1 << 40)
	if l.Producers() != 1 {
		t.Errorf("%d producers are left, want the one whose transaction is open", l.Producers())
	}
	if err := l.Truncate(9); err != nil || l.LastStable(9) != 9 {
		t.Errorf("without the open one: stable up to %d, %v", l.LastStable(9), err)
	}
}
