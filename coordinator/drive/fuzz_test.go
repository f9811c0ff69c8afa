package drive

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// mended is the first batch with the checksum that its bytes have, since a fuzzer does not find one.
func mended(data []byte) []byte {
	const atLength, afterLength, atCRC, atAttributes = 8, 12, 17, 21
	if len(data) <= log.HeaderBytes {
		return data
	}
	end := int64(afterLength) + int64(binary.BigEndian.Uint32(data[atLength:]))
	if end > int64(len(data)) || end < log.HeaderBytes {
		return data
	}
	data = slices.Clone(data)
	binary.BigEndian.PutUint32(data[atCRC:], crc32.Checksum(data[atAttributes:end], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

// FuzzLoadBatches: whatever batches lie in __consumer_offsets and __transaction_state, a broker that starts reads them to
// an end, and says what it could not read.
func FuzzLoadBatches(f *testing.F) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	key, value := unhex("0001 0001 67 0001 74 00000000"), unhex("0003000000000000002a0000000700016d00000000000003e8")
	group := unhex("0002 0001 67")
	member := unhex("00030008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d310002693100016300022f680000ea600000271000000001010000000102")
	txn := unhex("0000 00000000000003e8 0002 0000ea60 01 00000001 0001 74 00000002 00000000 00000003 0000000000000005 0000000000000004")
	plain := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: 1, Key: key, Value: value}, {TimestampMs: 2, Key: group, Value: member}, {TimestampMs: 3, Key: key}})
	f.Add(false, plain)
	f.Add(false, append(log.Encode(log.Producer{ID: 7, BaseSequence: -1}, log.Transactional, []log.Record{{Key: key, Value: value}}),
		log.Encode(log.Producer{ID: 7, BaseSequence: -1}, log.Transactional|log.Control, []log.Record{{Key: []byte{0, 0, 0, 1}, Value: []byte{0, 0, 0, 0, 0, 0}}})...))
	f.Add(true, log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: 1, Key: unhex("000000027478"), Value: txn}}))
	f.Fuzz(func(t *testing.T, transactions bool, data []byte) {
		w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 1, OffsetsPartitions: 1, TransactionPartitions: 1}, DeliverAtOnce: true, LoadChunkBytes: 200})
		w.d.EnsureOffsetsTopic(w.nowMs)
		topic := cluster.OffsetsTopic
		if transactions {
			w.d.cluster.EnsureTransactionTopic(w.nowMs)
			w.d.changed()
			topic = cluster.TransactionTopic
		}
		w.take()
		for rest := data; len(rest) > 0; {
			_, epoch, _ := w.d.Cluster().Leader(topic, 0)
			b, after, err := log.Parse(mended(rest))
			if err != nil || b.LastOffsetDelta < 0 { // Validate refuses it, and no coordinator writes it
				break
			}
			w.d.cluster.Append(w.nowMs, cluster.AppendRequest{Broker: 1, Topic: topic, Epoch: epoch, Batch: b.Bytes, Acks: 1, Internal: true})
			w.d.changed()
			w.take()
			rest = rest[len(rest)-len(after):]
		}
		w.d.KillBroker(w.nowMs, 1)
		w.take()
		w.d.StartBroker(w.nowMs, 1)
		w.take()
		w.run(60_000)
		loads := 0
		for _, e := range w.events {
			switch e.Body.(type) {
			case event.LoadStarted, event.TxnLoadStarted:
				loads++
			case event.LoadFinished, event.TxnLoadFinished:
				loads--
			}
		}
		if loads != 0 {
			t.Fatalf("%d loads have not ended", loads)
		}
	})
}
