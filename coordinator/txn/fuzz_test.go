package txn

import (
	"testing"

	"grouplab/coordinator/record"
)

// FuzzLoad: whatever __transaction_state holds, a coordinator reads it to an end and goes on: what is under way times
// out, what is decided is marked, and a producer can begin anew.
func FuzzLoad(f *testing.F) {
	add := func(t record.Transaction) {
		f.Add(record.TransactionKey("tx"), record.TransactionValue(t), record.TransactionKey("ty"), []byte(nil))
		f.Add(record.TransactionKey("tx"), []byte{}, record.TransactionKey("tx"), record.TransactionValue(t))
	}
	for state := range int8(8) {
		add(record.Transaction{ProducerID: 1000, ProducerEpoch: 2, TimeoutMs: 60000, State: state, Partitions: []record.TopicPartitions{{Topic: "t", Partitions: []int32{0, 3}}}, UpdateTimestampMs: 5, StartTimestampMs: 4})
	}
	add(record.Transaction{ProducerID: -1, ProducerEpoch: 32767, TimeoutMs: -1, State: 1, UpdateTimestampMs: -1 << 63, StartTimestampMs: 1<<63 - 1})
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 []byte) {
		w := newWorld(t)
		w.log = append(w.log, record.Record{Key: key1, Value: value1}, record.Record{Key: key2, Value: value2})
		w.lead()
		for i := 0; i < 300 && (len(w.appends) > 0 || len(w.markers) > 0 || w.deadline >= 0 && w.deadline < 3_600_000); i++ {
			for len(w.appends) > 0 {
				w.append(0)
			}
			for len(w.markers) > 0 {
				w.mark(0)
			}
			if w.deadline >= 0 && w.deadline < 3_600_000 {
				w.to(max(w.deadline, w.nowMs))
			}
		}
		w.picture()
		ticket := w.ask(initReq("tx", 60000))
		for i := 0; i < 50 && (len(w.appends) > 0 || len(w.markers) > 0); i++ {
			for len(w.appends) > 0 {
				w.append(0)
			}
			for len(w.markers) > 0 {
				w.mark(0)
			}
		}
		if _, ok := w.replies[ticket]; !ok {
			t.Fatal("InitProducerId is not answered")
		}
	})
}
