//go:build interop

package differ

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// producer is a transactional id and what InitProducerId gave for it.
type producer struct {
	id    string
	pid   int64
	epoch int16
}

func initProducer(v int16, id string, timeoutMs int32) *kmsg.InitProducerIDRequest {
	r := kmsg.NewPtrInitProducerIDRequest()
	r.Version, r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = v, timeoutMs, -1, -1
	if id != "" {
		r.TransactionalID = &id
	}
	return r
}

// awaitTransactions waits until the coordinator of a transactional id serves it.
func (s *side) awaitTransactions(id string) {
	r := findCoordinator(id)
	r.CoordinatorType = 1
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		a := s.ask("admin", r).(*kmsg.FindCoordinatorResponse)
		if a.ErrorCode == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.stop("no coordinator for transactional ids: error %d", a.ErrorCode)
		}
	}
}

func (s *side) newProducer(id string) producer {
	s.awaitTransactions(id)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		a := s.ask("admin", initProducer(4, id, 60_000)).(*kmsg.InitProducerIDResponse)
		if a.ErrorCode == 0 {
			s.producers[a.ProducerID] = len(s.producers) + 1
			return producer{id, a.ProducerID, a.ProducerEpoch}
		}
		if time.Now().After(deadline) {
			s.stop("InitProducerId: error %d", a.ErrorCode)
		}
	}
}

func (p producer) addOffsets(v int16, group string) *kmsg.AddOffsetsToTxnRequest {
	r := kmsg.NewPtrAddOffsetsToTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Group = v, p.id, p.pid, p.epoch, group
	return r
}

func (p producer) addPartitions(v int16, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	r := kmsg.NewPtrAddPartitionsToTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch = v, p.id, p.pid, p.epoch
	r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
	return r
}

func (p producer) end(v int16, commit bool) *kmsg.EndTxnRequest {
	r := kmsg.NewPtrEndTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = v, p.id, p.pid, p.epoch, commit
	return r
}

func (p producer) commit(v int16, group, member string, instance *string, generation int32, partitions ...int32) *kmsg.TxnOffsetCommitRequest {
	r := kmsg.NewPtrTxnOffsetCommitRequest()
	r.Version, r.Group, r.TransactionalID, r.ProducerID, r.ProducerEpoch = v, group, p.id, p.pid, p.epoch
	r.MemberID, r.InstanceID, r.Generation = member, instance, generation
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic = "orders"
	for _, n := range partitions {
		c := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		c.Partition, c.Offset, c.Metadata = n, int64(200+n), kmsg.StringPtr("in a transaction")
		t.Partitions = append(t.Partitions, c)
	}
	r.Topics = append(r.Topics, t)
	return r
}

// open begins a transaction that includes the group's offsets.
func (s *side) open() producer {
	p := s.newProducer("tx-" + s.group)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		a := s.ask("admin", p.addOffsets(3, s.group)).(*kmsg.AddOffsetsToTxnResponse)
		if a.ErrorCode == 0 {
			return p
		}
		if a.ErrorCode != 51 || time.Now().After(deadline) { // CONCURRENT_TRANSACTIONS passes
			s.stop("AddOffsetsToTxn: error %d", a.ErrorCode)
		}
	}
}

// ended asks until a transaction's end is taken, and until its markers are through.
func (s *side) ended(p producer, commit bool) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		a := s.ask("admin", p.end(3, commit)).(*kmsg.EndTxnResponse)
		if a.ErrorCode == 0 {
			break
		}
		if a.ErrorCode != 51 || time.Now().After(deadline) {
			s.stop("EndTxn: error %d", a.ErrorCode)
		}
	}
	time.Sleep(300 * ms)
}

// txnCommits are TxnOffsetCommits within an open transaction, of everybody, in a situation.
func txnCommits() (all []question) {
	for _, w := range members {
		all = append(all, question{name: "TxnOffsetCommit of " + w.name, api: 28,
			fits: func(at situation, v int16) bool { return w.fits(at, 3, v) && (v >= 3 || w.name == "the leader") },
			ask: func(s *side, at situation, v int16) {
				p := s.open()
				s.tell("asker", p.commit(v, s.group, w.member(at), w.instance(at), w.generation(at), 0, 99))
				s.tell("asker", fetch(7, s.group, true, []int32{0, 1}, "orders"))
				s.ended(p, true)
				s.tell("asker", fetch(7, s.group, true, []int32{0, 1}, "orders"))
			}})
	}
	return all
}

// txnCases are the cases of transactions that a client can see.
var txnCases = []struct {
	id   string
	play func(*side)
}{
	{"TXN-01 markers", func(s *side) {
		for _, commit := range []bool{true, false} {
			p := s.open()
			s.tell("m", p.commit(3, s.group, "", nil, -1, 0))
			s.tell("m", fetch(7, s.group, true, []int32{0, 1}, "orders"))
			s.tell("m", fetch(7, s.group, false, []int32{0}, "orders"))
			s.tell("m", fetch(8, s.group, true, nil))
			s.ended(p, commit)
			s.tell("m", fetch(7, s.group, true, []int32{0}, "orders"))
		}
	}},
	{"TXN-05 fencing of static members", func(s *side) {
		l, _ := s.twoStatic(20_000, 20_000)
		p := s.open()
		s.tell("m", p.commit(3, s.group, "", kmsg.StringPtr("leader"), 1, 0))
		s.tell("m", p.commit(3, s.group, "invalid-member", kmsg.StringPtr("leader"), 1, 0))
		s.tell("m", p.commit(3, s.group, l, kmsg.StringPtr("leader"), 1, 0))
	}},
	{"TXN-08 a later plain commit wins", func(s *side) {
		p := s.open()
		s.tell("m", p.commit(3, s.group, "", nil, -1, 0))
		s.tell("m", commit(8, s.group, "", nil, -1, "orders", 0))
		s.tell("m", fetch(7, s.group, true, []int32{0}, "orders"))
		s.ended(p, true)
		s.tell("m", fetch(7, s.group, true, []int32{0}, "orders"))
	}},
	{"TXN-09 partly oversized", func(s *side) {
		p := s.open()
		r := p.commit(3, s.group, "", nil, -1, 0, 1)
		r.Topics[0].Partitions[1].Metadata = kmsg.StringPtr(string(make([]byte, 4097)))
		s.tell("m", r)
		s.ended(p, true)
		s.tell("m", fetch(7, s.group, true, []int32{0, 1}, "orders"))
	}},
	{"a producer that is fenced", func(s *side) {
		old := s.open()
		s.tell("m", old.commit(3, s.group, "", nil, -1, 0))
		s.newProducer("tx-" + s.group)
		for v := int16(0); v <= 3; v++ {
			s.tell("m", old.commit(v, s.group, "", nil, -1, 0))
			s.tell("m", old.addOffsets(v, s.group))
			s.tell("m", old.addPartitions(v, "orders", 0))
			s.tell("m", old.end(v, true))
		}
		s.tell("m", fetch(7, s.group, true, []int32{0}, "orders"))
	}},
	{"a transactional id that nobody knows", func(s *side) {
		s.newProducer("tx-" + s.group)
		stranger := producer{"unknown-" + s.group, 4711, 0}
		for v := int16(0); v <= 3; v++ {
			s.tell("m", stranger.commit(v, s.group, "", nil, -1, 0))
			s.tell("m", stranger.addOffsets(v, s.group))
			s.tell("m", stranger.addPartitions(v, "orders", 0))
			s.tell("m", stranger.end(v, true))
		}
	}},
	{"another producer id, a later epoch", func(s *side) {
		p := s.newProducer("tx-" + s.group)
		other, later := p, p
		other.pid, later.epoch = 99_999, p.epoch+1
		for _, q := range []producer{other, later} {
			for v := int16(0); v <= 3; v++ {
				s.tell("m", q.addOffsets(v, s.group))
				s.tell("m", q.addPartitions(v, "orders", 0))
				s.tell("m", q.end(v, false))
			}
		}
	}},
	{"an end without a transaction", func(s *side) {
		p := s.newProducer("tx-" + s.group)
		s.tell("m", p.end(3, true))
		s.tell("m", p.end(3, false))
		s.tell("m", p.commit(3, s.group, "", nil, -1, 0))
	}},
	{"a commit and an end said again", func(s *side) {
		p := s.open()
		s.tell("m", p.addPartitions(3, "orders", 0, 1))
		s.tell("m", p.addPartitions(3, "orders", 0, 99))
		s.tell("m", p.addPartitions(3, "absent", 0))
		s.ended(p, true)
		s.tell("m", p.end(3, true))
		s.tell("m", p.end(3, false))
	}},
	{"InitProducerId", func(s *side) {
		p := s.newProducer("tx-" + s.group)
		for v := int16(0); v <= 5; v++ {
			s.tell("m", initProducer(v, "", 60_000))
			s.tell("m", initProducer(v, p.id, 0))
			s.tell("m", initProducer(v, p.id, 10_000_000))
			s.tell("m", initProducer(v, p.id, 60_000))
		}
		for v := int16(3); v <= 5; v++ {
			for _, q := range []producer{{p.id, p.pid, 0}, {p.id, p.pid, 6}, {p.id, p.pid, 100}, {p.id, 4711, 0}} {
				r := initProducer(v, q.id, 60_000)
				r.ProducerID, r.ProducerEpoch = q.pid, q.epoch
				s.tell("m", r)
			}
		}
		s.tell("m", &kmsg.InitProducerIDRequest{Version: 4, TransactionalID: kmsg.StringPtr(""), TransactionTimeoutMillis: 1000, ProducerID: -1, ProducerEpoch: -1})
		s.tell("m", &kmsg.InitProducerIDRequest{Version: 4, TransactionalID: &p.id, TransactionTimeoutMillis: 1000, ProducerID: 5, ProducerEpoch: -1})
	}},
}
