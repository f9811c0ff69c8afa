//go:build interop

package differ

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produced tells what is answered to a Produce, and what is in the first two partitions then.
func (s *side) produced(r *kmsg.ProduceRequest) {
	s.tell("p", r)
	s.contents(r.Topics[0].Topic, 2)
}

func (s *side) contents(topic string, partitions int32) {
	f := fetchOf(11, topic, [16]byte{}, 0)
	for p := int32(1); p < partitions; p++ {
		f.Topics[0].Partitions = append(f.Topics[0].Partitions, fetchPartition(p, 0))
	}
	s.tell("reader", f)
}

func good() batch { return batch{values: values(3, 10)} }

// spoiled are batches with one thing wrong each.
var spoiled = []struct {
	name string
	make func(b *batch)
}{
	{"a wrong CRC", func(b *batch) { b.wrong = func(raw []byte) { raw[17] ^= 0xff } }},
	{"magic 0", func(b *batch) { b.wrong = func(raw []byte) { raw[16] = 0 } }},
	{"magic 1", func(b *batch) { b.wrong = func(raw []byte) { raw[16] = 1 } }},
	{"magic 3", func(b *batch) { b.wrong = func(raw []byte) { raw[16] = 3 } }},
	{"a negative magic", func(b *batch) { b.wrong = func(raw []byte) { raw[16] = 0xff } }},
	{"a length that is too small", func(b *batch) { b.wrong = func(raw []byte) { binary.BigEndian.PutUint32(raw[8:], 10) } }},
	{"a length of 0", func(b *batch) { b.wrong = func(raw []byte) { binary.BigEndian.PutUint32(raw[8:], 0) } }},
	{"a negative length", func(b *batch) { b.wrong = func(raw []byte) { binary.BigEndian.PutUint32(raw[8:], 0xffffffff) } }},
	{"a length that is too large", func(b *batch) { b.wrong = func(raw []byte) { binary.BigEndian.PutUint32(raw[8:], uint32(len(raw))) } }},
	{"a count that is too small", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[57:], 2) } }},
	{"a count that is too large", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[57:], 4) } }},
	{"a count of 0", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[57:], 0) } }},
	{"a negative count", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[57:], 0xffffffff) } }},
	{"a last offset that is too small", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[23:], 1) } }},
	{"a last offset that is too large", func(b *batch) { b.wrongInCR = func(raw []byte) { binary.BigEndian.PutUint32(raw[23:], 9) } }},
	{"a control batch", func(b *batch) { b.attrs = 0x20 }},
	{"a control batch of a producer", func(b *batch) { b.attrs, b.pid = 0x20, 77 }},
	{"a transactional batch of no producer", func(b *batch) { b.attrs = 0x10 }},
	{"a transactional batch of a producer", func(b *batch) { b.attrs, b.pid = 0x10, 77 }},
	{"an unknown codec", func(b *batch) { b.attrs = 5 }},
	{"codec 7", func(b *batch) { b.attrs = 7 }},
	{"unknown attributes", func(b *batch) { b.attrs = 0x4000 }},
	{"a delete horizon", func(b *batch) { b.attrs = 0x40 }},
	{"LogAppendTime claimed", func(b *batch) { b.attrs = 0x08 }},
	{"gzip claimed", func(b *batch) { b.attrs = 1 }},
	{"snappy claimed", func(b *batch) { b.attrs = 2 }},
	{"lz4 claimed", func(b *batch) { b.attrs = 3 }},
	{"zstd claimed", func(b *batch) { b.attrs = 4 }},
	{"a base offset", func(b *batch) { b.base = 40 }},
	{"a negative base offset", func(b *batch) { b.base = -5 }},
	{"no record", func(b *batch) { b.values = nil }},
	{"records that are cut", func(b *batch) { b.wrongInCR = func(raw []byte) { raw[61] = 0x7e } }},
	{"an offset delta twice", func(b *batch) { b.wrongInCR = func(raw []byte) { raw[61+4+14] = raw[61+3] } }},
	{"records from the future", func(b *batch) { b.afterMs = 3 * 3600_000 }},
	{"records from long ago", func(b *batch) { b.afterMs = -50 * 24 * 3600_000 }},
	{"a first sequence below 0 of a producer", func(b *batch) { b.pid, b.seq = 77, -1 }},
	{"an epoch below 0 of a producer", func(b *batch) { b.pid, b.epoch = 77, -1 }},
	{"a producer id below -1", func(b *batch) { b.pid = -7 }},
	{"more than message.max.bytes", func(b *batch) { b.values = values(3, 10_000) }},
	{"more than message.max.bytes, packed", func(b *batch) { b.values, b.codec = values(3, 10_000), 1 }},
	{"no key", func(b *batch) { b.nullKeys = true }},
}

func produceQuestions() (all []dataQuestion) {
	add := func(name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: 0, name: name, ask: ask})
	}
	for acks := int16(-3); acks <= 2; acks++ {
		add(fmt.Sprintf("acks %d", acks), func(s *side, v int16) {
			topic := s.topic("t", 2)
			if acks != 0 {
				s.produced(produceOf(v, acks, topic, good().bytes(), good().bytes()))
				return
			}
			s.send("p", produceOf(v, acks, topic, good().bytes()))
			s.tell("p", topicsOf(9, topic)) // its answer is the next one
			s.contents(topic, 2)
		})
	}
	add("acks 0 to nowhere", func(s *side, v int16) {
		s.send("p", produceOf(v, 0, s.group+"-absent", good().bytes()))
		s.tell("p", topicsOf(9, sharedData))
	})
	for i, c := range packings {
		add("packed with "+c.name, func(s *side, v int16) {
			b := batch{values: values(5, 100), codec: int16(i)}
			s.produced(produceOf(v, -1, s.topic("t", 2), b.bytes(), good().bytes()))
			s.tell("old reader", fetchOf(4, s.group+"-t", [16]byte{}, 0))
			s.tell("old reader", fetchOf(10, s.group+"-t", [16]byte{}, 0))
		})
	}
	for _, w := range spoiled {
		all = append(all, dataQuestion{api: 0, name: w.name, ask: func(s *side, v int16) {
			b := good()
			w.make(&b)
			s.produced(produceOf(v, -1, s.topic("t", 2), b.bytes(), good().bytes()))
		}})
	}
	for _, piece := range []struct {
		name string
		raw  []byte
	}{{"null records", nil}, {"empty records", []byte{}}, {"half a header", good().bytes()[:30]}, {"a byte", []byte{1}}} {
		add(piece.name, func(s *side, v int16) {
			s.produced(produceOf(v, -1, s.topic("t", 2), piece.raw, good().bytes()))
		})
	}
	add("two batches at once", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2), append(good().bytes(), good().bytes()...)))
	})
	add("a batch and rubbish", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2), append(good().bytes(), 1, 2, 3)))
	})
	add("unknown topics and partitions", func(s *side, v int16) {
		r := produceOf(v, 1, s.topic("t", 2), good().bytes(), good().bytes(), good().bytes())
		r.Topics[0].Partitions[1].Partition = -1
		for _, name := range []string{s.group + "-absent", "", "a b", ".", "..", "__consumer_offsets", "__transaction_state"} {
			more := produceOf(v, 1, name, good().bytes())
			r.Topics = append(r.Topics, more.Topics[0])
		}
		s.produced(r)
	})
	add("nothing", func(s *side, v int16) {
		r := produceOf(v, 1, "x")
		s.tell("p", r)
		r.Topics = nil
		s.tell("p", r)
	})
	add("a partition twice", func(s *side, v int16) {
		r := produceOf(v, -1, s.topic("t", 2), good().bytes(), batch{values: values(1, 5)}.bytes())
		r.Topics[0].Partitions[1].Partition = 0
		s.produced(r)
	})
	add("a topic twice", func(s *side, v int16) {
		r := produceOf(v, -1, s.topic("t", 2), good().bytes())
		more := produceOf(v, -1, s.group+"-t", good().bytes(), good().bytes())
		r.Topics = append(r.Topics, more.Topics[0])
		s.produced(r)
	})
	add("too few in sync", func(s *side, v int16) {
		s.topic("t", 2, "min.insync.replicas", "1")
		s.alterTopic(s.group+"-t", "min.insync.replicas", "2")
		for _, acks := range []int16{1, -1} {
			s.produced(produceOf(v, acks, s.group+"-t", good().bytes()))
		}
	})
	add("a topic with LogAppendTime", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2, "message.timestamp.type", "LogAppendTime"), good().bytes(), batch{values: values(5, 100), codec: 1}.bytes()))
	})
	add("a topic that packs itself", func(s *side, v int16) {
		topic := s.topic("t", 2, "compression.type", "gzip")
		s.tell("p", produceOf(v, -1, topic, good().bytes(), batch{values: values(5, 100), codec: 3}.bytes()))
		s.tell("p", listOffsetsOf(1, topic, -1, 0, 1))
	})
	add("a topic that unpacks", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2, "compression.type", "uncompressed"), good().bytes(), batch{values: values(5, 100), codec: 3}.bytes()))
	})
	add("a compacted topic and no key", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2, "cleanup.policy", "compact"), batch{values: values(3, 10), nullKeys: true}.bytes(), good().bytes()))
	})
	add("a topic with smaller messages", func(s *side, v int16) {
		s.produced(produceOf(v, -1, s.topic("t", 2, "max.message.bytes", "200"), batch{values: values(3, 60)}.bytes(), good().bytes()))
	})
	add("a topic of a narrow time", func(s *side, v int16) {
		topic := s.topic("t", 2, "message.timestamp.before.max.ms", "1000", "message.timestamp.after.max.ms", "1000")
		s.produced(produceOf(v, -1, topic, good().bytes(), batch{values: values(3, 10), afterMs: 3600_000}.bytes()))
	})
	return append(all, sequenceQuestions()...)
}

// sequenceQuestions are about idempotent producers. A known one has written sequences 0 to 2 and 3 to 5 with epoch 1.
func sequenceQuestions() (all []dataQuestion) {
	of := func(epoch int16, seq int32, n int) batch {
		return batch{values: values(n, 10), pid: 4711, epoch: epoch, seq: seq}
	}
	for _, q := range []struct {
		name string
		next batch
	}{
		{"the next", of(1, 6, 3)}, {"the last again", of(1, 3, 3)}, {"the first again", of(1, 0, 3)}, {"one of them in another size", of(1, 3, 2)},
		{"a gap", of(1, 7, 3)}, {"an overlap", of(1, 5, 3)}, {"what was never there", of(1, -2, 3)}, {"the next epoch", of(2, 0, 3)},
		{"the next epoch, not from 0", of(2, 6, 3)}, {"a much later epoch", of(30, 0, 3)}, {"an old epoch", of(0, 0, 3)}, {"an old epoch going on", of(0, 6, 3)},
		{"sequences around the end", of(1, 2147483647, 3)},
	} {
		all = append(all, dataQuestion{api: 0, name: "a known producer, " + q.name, ask: func(s *side, v int16) {
			topic := s.topic("t", 2)
			s.write(topic, of(1, 0, 3), of(1, 3, 3))
			s.produced(produceOf(v, -1, topic, q.next.bytes()))
			s.tell("p", produceOf(v, -1, topic, of(1, 6, 3).bytes()))
			s.tell("o", producersOf(topic, 0, 1))
		}})
	}
	for _, seq := range []int32{0, 5} {
		all = append(all, dataQuestion{api: 0, name: fmt.Sprintf("an unknown producer beginning with %d", seq), ask: func(s *side, v int16) {
			topic := s.topic("t", 2)
			s.produced(produceOf(v, -1, topic, of(3, seq, 3).bytes()))
			s.produced(produceOf(v, -1, topic, of(3, seq+3, 3).bytes()))
			s.tell("o", producersOf(topic, 0, 1))
		}})
		all = append(all, dataQuestion{api: 0, name: fmt.Sprintf("a producer whose records are deleted, with %d", seq), ask: func(s *side, v int16) {
			topic := s.topic("t", 2)
			s.write(topic, of(1, 0, 3), of(1, 3, 3))
			s.tell("o", deleteRecordsOf(2, topic, 0, 6))
			s.produced(produceOf(v, -1, topic, of(1, 6+seq, 3).bytes()))
		}})
	}
	all = append(all, dataQuestion{api: 0, name: "the sixth duplicate", ask: func(s *side, v int16) {
		topic := s.topic("t", 2)
		for i := range int32(7) {
			s.write(topic, of(1, i, 1))
		}
		for i := range int32(7) {
			s.tell("p", produceOf(v, -1, topic, of(1, i, 1).bytes()))
		}
	}})
	return all
}

func producersOf(topic string, partitions ...int32) *kmsg.DescribeProducersRequest {
	r := kmsg.NewPtrDescribeProducersRequest()
	r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: topic, Partitions: partitions}}
	return r
}
