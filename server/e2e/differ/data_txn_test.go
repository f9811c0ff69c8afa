//go:build interop

package differ

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// begun is a producer with an open transaction that has written three records to partition 0 of a topic of its own.
func (s *side) begun() (producer, string) {
	topic := s.topic("t", 2)
	p := s.newProducer("tx-" + s.group)
	s.take(p.addPartitions(3, topic, 0), func(a kmsg.Response) int16 {
		return a.(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode
	})
	s.take(p.produce(9, topic, 0), func(a kmsg.Response) int16 { return a.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode })
	return p, topic
}

// take asks until it is taken: CONCURRENT_TRANSACTIONS passes.
func (s *side) take(r kmsg.Request, code func(kmsg.Response) int16) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := code(s.ask("admin", r))
		if got == 0 {
			return
		}
		if got != 51 || time.Now().After(deadline) {
			s.stop("%s: error %d", kmsg.NameForKey(r.Key()), got)
		}
	}
}

func (p producer) produce(v int16, topic string, seq int32) *kmsg.ProduceRequest {
	r := produceOf(v, -1, topic, batch{values: values(3, 10), attrs: 0x10, pid: p.pid, epoch: p.epoch, seq: seq}.bytes())
	r.TransactionID = &p.id
	return r
}

// settled waits until the markers of a transaction are through: the last stable offset is the end.
func (s *side) settled(topic string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		f := s.ask("admin", fetchOf(11, topic, [16]byte{}, 0)).(*kmsg.FetchResponse).Topics[0].Partitions[0]
		if f.LastStableOffset == f.HighWatermark {
			return
		}
		if time.Now().After(deadline) {
			s.stop("the transaction does not end on %s", topic)
		}
	}
}

func describeTransactionsOf(ids ...string) *kmsg.DescribeTransactionsRequest {
	r := kmsg.NewPtrDescribeTransactionsRequest()
	r.TransactionalIDs = ids
	return r
}

// completed waits until the coordinator knows that all markers are written.
func (s *side) completed(id string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		switch s.ask("admin", describeTransactionsOf(id)).(*kmsg.DescribeTransactionsResponse).TransactionStates[0].State {
		case "CompleteCommit", "CompleteAbort", "Empty":
			return
		}
		if time.Now().After(deadline) {
			s.stop("the transaction of %s does not end", id)
		}
	}
}

func transactionQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	tooLate := func(p producer) producer { p.epoch++; return p }
	for _, q := range []struct {
		name string
		who  func(p producer) producer
	}{
		{"the producer", func(p producer) producer { return p }}, {"another epoch", tooLate}, {"an older epoch", func(p producer) producer { p.epoch--; return p }},
		{"another producer id", func(p producer) producer { p.pid = 99_999; return p }}, {"an unknown id", func(p producer) producer { p.id += "x"; return p }},
		{"an empty id", func(p producer) producer { p.id = ""; return p }}, {"no producer", func(p producer) producer { p.pid = 0; return p }},
	} {
		add(0, 3, "in a transaction: "+q.name, func(s *side, v int16) {
			p, topic := s.begun()
			s.tell("p", q.who(p).produce(v, topic, 3))
			s.tell("o", producersOf(topic, 0, 1))
		})
		add(0, 3, "without a transaction: "+q.name, func(s *side, v int16) {
			topic := s.topic("t", 2)
			s.tell("p", q.who(s.newProducer("tx-"+s.group)).produce(v, topic, 0))
		})
		add(0, 3, "a partition that is no part: "+q.name, func(s *side, v int16) {
			p, topic := s.begun()
			r := q.who(p).produce(v, topic, 0)
			r.Topics[0].Partitions[0].Partition = 1
			s.tell("p", r)
		})
		for _, commit := range []bool{true, false} {
			add(26, 0, fmt.Sprintf("%s, commit %v", q.name, commit), func(s *side, v int16) {
				p, topic := s.begun()
				asked := q.who(p)
				s.tell("p", asked.end(v, commit))
				if asked == p {
					s.settled(topic)
					s.completed(p.id)
					s.tell("c", fetchOf(11, topic, [16]byte{}, 0))
					s.tell("p", p.end(v, commit))
					s.tell("p", p.end(v, !commit))
				}
				s.tell("o", describeTransactionsOf(p.id, asked.id))
			})
		}
		add(24, 0, q.name, func(s *side, v int16) {
			p, topic := s.begun()
			s.tell("p", q.who(p).addPartitions(v, topic, 0, 1))
			s.tell("p", q.who(p).addPartitions(v, topic, 7, 1))
			s.tell("p", q.who(p).addPartitions(v, s.group+"-absent", 0))
			r := q.who(p).addPartitions(v, topic)
			s.tell("p", r)
			r.Topics = nil
			s.tell("p", r)
			s.tell("o", describeTransactionsOf(p.id))
		})
		add(25, 0, q.name, func(s *side, v int16) {
			p, _ := s.begun()
			s.tell("p", q.who(p).addOffsets(v, s.group))
			s.tell("p", q.who(p).addOffsets(v, ""))
			s.tell("o", describeTransactionsOf(p.id))
		})
	}
	for isolation := int8(0); isolation < 2; isolation++ {
		for _, how := range []string{"open", "committed", "aborted"} {
			end := func(s *side) string {
				p, topic := s.begun()
				if how != "open" {
					s.tell("p", p.end(3, how == "committed"))
					s.settled(topic)
					s.write(topic, good())
				}
				return topic
			}
			all = append(all, dataQuestion{api: 1, name: fmt.Sprintf("a transaction that is %s, isolation %d", how, isolation), only: []int16{4, 7, 12, 13}, ask: func(s *side, v int16) {
				topic := end(s)
				for _, offset := range []int64{0, 2, 3, 4} {
					r := fetchOf(v, topic, s.ids[topic], offset)
					r.IsolationLevel = isolation
					s.tell("c", r)
				}
			}})
			all = append(all, dataQuestion{api: 2, since: 1, name: fmt.Sprintf("a transaction that is %s, isolation %d", how, isolation), only: []int16{2, 4, 6}, ask: func(s *side, v int16) {
				topic := end(s)
				for _, at := range []int64{-1, -2, -3, born} {
					r := listOffsetsOf(v, topic, at, 0)
					r.IsolationLevel = isolation
					s.tell("c", r)
				}
			}})
		}
	}
	return append(all, txnAdminQuestions()...)
}

func txnAdminQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	for _, ms := range []int32{-1, 0, 1, 60_000, 900_000, 900_001} {
		add(22, 0, fmt.Sprintf("a timeout of %d ms", ms), func(s *side, v int16) {
			s.awaitTransactions("tx-" + s.group)
			s.newProducer("warm-" + s.group)
			s.tell("p", initProducer(v, "tx-"+s.group, ms))
			s.tell("p", initProducer(v, "", ms))
		})
	}
	for _, q := range []producer{{pid: -1, epoch: 0}, {pid: 0, epoch: 0}, {pid: 0, epoch: -1}, {pid: 5, epoch: 5}, {pid: -5, epoch: -5}, {pid: 4711, epoch: 0}} {
		add(22, 3, fmt.Sprintf("as producer %d of epoch %d", q.pid, q.epoch), func(s *side, v int16) {
			s.newProducer("warm-" + s.group)
			for _, id := range []string{"", "tx-" + s.group, "warm-" + s.group} {
				r := initProducer(v, id, 60_000)
				r.ProducerID, r.ProducerEpoch = q.pid, q.epoch
				s.tell("p", r)
			}
		})
	}
	add(22, 0, "in the middle of a transaction", func(s *side, v int16) {
		p, topic := s.begun()
		s.tell("p", initProducer(v, p.id, 60_000)) // it is aborted first
		s.settled(topic)
		s.completed(p.id)
		s.tell("p", initProducer(v, p.id, 60_000))
		s.tell("c", fetchOf(11, topic, [16]byte{}, 0))
		s.tell("p", p.produce(9, topic, 3))
	})
	for _, q := range []struct {
		name string
		ids  func(s *side) []string
	}{
		{"open", func(s *side) []string { p, _ := s.begun(); return []string{p.id} }},
		{"fresh", func(s *side) []string { return []string{s.newProducer("tx-" + s.group).id} }},
		{"unknown and empty", func(s *side) []string { s.newProducer("tx-" + s.group); return []string{"absent-" + s.group, ""} }},
		{"one twice", func(s *side) []string { p := s.newProducer("tx-" + s.group); return []string{p.id, p.id} }},
		{"none", func(*side) []string { return nil }},
		{"ended", func(s *side) []string {
			p, topic := s.begun()
			s.tell("p", p.end(3, true))
			s.settled(topic)
			s.completed(p.id)
			return []string{p.id}
		}},
	} {
		add(65, 0, q.name, func(s *side, v int16) { s.tell("o", describeTransactionsOf(q.ids(s)...)) })
	}
	for _, states := range [][]string{nil, {}, {"Ongoing"}, {"Empty"}, {"ongoing"}, {"Nonsense", "Ongoing"}, {"Nonsense"}, {""}, {"Dead"}} {
		add(66, 0, fmt.Sprintf("in states %q", states), func(s *side, v int16) {
			s.begun()
			s.all = true
			r := kmsg.NewPtrListTransactionsRequest()
			r.Version, r.StateFilters = v, states
			s.tell("o", r)
		})
	}
	add(66, 0, "of producers", func(s *side, v int16) {
		p, _ := s.begun()
		s.all = true
		r := kmsg.NewPtrListTransactionsRequest()
		r.Version = v
		for _, ids := range [][]int64{{p.pid}, {p.pid, 5}, {999_999}, {-1}} {
			r.ProducerIDFilters = ids
			s.tell("o", r)
		}
	})
	for _, ms := range []int64{-5, -1, 0, 1, 3600_000} {
		add(66, 1, fmt.Sprintf("open for %d ms", ms), func(s *side, v int16) {
			s.begun()
			s.newProducer("second-tx-" + s.group)
			time.Sleep(20 * time.Millisecond)
			s.all = true
			r := kmsg.NewPtrListTransactionsRequest()
			r.Version, r.DurationFilterMillis = v, ms
			s.tell("o", r)
		})
	}
	add(61, 0, "producers", func(s *side, v int16) {
		p, topic := s.begun()
		s.write(topic, batch{values: values(2, 5), pid: 4711, epoch: 3}, batch{values: values(2, 5), pid: 4712, epoch: 0, afterMs: 3})
		s.producer(4711)
		s.producer(4712)
		s.tell("o", producersOf(topic, 0, 1, 7, -1))
		s.tell("p", p.end(3, true))
		s.settled(topic)
		s.tell("o", producersOf(topic, 0))
		r := producersOf(s.group+"-absent", 0)
		r.Topics = append(r.Topics, producersOf("a b", 0).Topics...)
		r.Topics = append(r.Topics, producersOf(topic).Topics...)
		s.tell("o", r)
		r.Topics = nil
		s.tell("o", r)
	})
	return append(all, markerQuestions()...)
}

// markerQuestions are about WriteTxnMarkers, with which an operator ends a transaction that hangs.
func markerQuestions() (all []dataQuestion) {
	for _, q := range []struct {
		name   string
		marker func(p producer) kmsg.WriteTxnMarkersRequestMarker
	}{
		{"abort", func(p producer) kmsg.WriteTxnMarkersRequestMarker {
			return kmsg.WriteTxnMarkersRequestMarker{ProducerID: p.pid, ProducerEpoch: p.epoch}
		}},
		{"commit", func(p producer) kmsg.WriteTxnMarkersRequestMarker {
			return kmsg.WriteTxnMarkersRequestMarker{ProducerID: p.pid, ProducerEpoch: p.epoch, Committed: true}
		}},
		{"an old epoch", func(p producer) kmsg.WriteTxnMarkersRequestMarker {
			return kmsg.WriteTxnMarkersRequestMarker{ProducerID: p.pid, ProducerEpoch: p.epoch - 1}
		}},
		{"a later epoch", func(p producer) kmsg.WriteTxnMarkersRequestMarker {
			return kmsg.WriteTxnMarkersRequestMarker{ProducerID: p.pid, ProducerEpoch: p.epoch + 3}
		}},
		{"an unknown producer", func(producer) kmsg.WriteTxnMarkersRequestMarker {
			return kmsg.WriteTxnMarkersRequestMarker{ProducerID: 77, ProducerEpoch: 0}
		}},
	} {
		all = append(all, dataQuestion{api: 27, name: q.name, ask: func(s *side, v int16) {
			p, topic := s.begun()
			m := q.marker(p)
			if m.ProducerID == 77 {
				s.producer(77)
			}
			m.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic, Partitions: []int32{0, 9}}, {Topic: s.group + "-absent", Partitions: []int32{0}}}
			r := kmsg.NewPtrWriteTxnMarkersRequest()
			r.Version, r.Markers = v, []kmsg.WriteTxnMarkersRequestMarker{m}
			s.tell("o", r)
			s.tell("c", fetchOf(11, topic, [16]byte{}, 0))
			s.tell("o", producersOf(topic, 0))
		}})
	}
	all = append(all, dataQuestion{api: 27, name: "nothing", ask: func(s *side, v int16) {
		r := kmsg.NewPtrWriteTxnMarkersRequest()
		r.Version = v
		s.tell("o", r)
	}})
	return all
}
