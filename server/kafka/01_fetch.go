package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Fetch (1), v4 to v17.
//
//   - v4: isolation level (KIP-98). read_committed ends at the last stable offset, and is told of the aborted transactions
//     that reach into what it gets; its client leaves their records out.
//   - v5: log start offset
//   - v7: sessions (KIP-227): see sessions.go
//   - v9: the client's leader epoch (KIP-320)
//   - v10: zstd (KIP-110). As with Kafka since 4.0, older versions get it, too: batches are sent as they lie.
//   - v11: rack (KIP-392). Consumers are always served by the leader.
//   - v12: flexible (KIP-482); the epoch of the last record that the client has, and where the log went another way
//     (KIP-595)
//   - v13: topics by id (KIP-516)
//   - v15: replica state (KIP-903)
//   - v16: the present leader and its address, where the asked broker is not (KIP-951)
//   - v17: directory id (KIP-853)
//
// At least one batch is returned, however large (KIP-74), and batches are never cut. The answer keeps the request's
// order.
var fetchAPI = api{key: 1, name: "Fetch", min: 4, max: 17, decodeFrom: 4, run: fetch}

func fetch(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.FetchRequest)
	code := refuseFetch(request)
	var f fetching
	if code == 0 {
		f, code = s.sessions.begin(c, request, nowMs)
	}
	if code != 0 {
		answer := request.ResponseKind().(*kmsg.FetchResponse)
		c.code = code
		if c.version >= 7 {
			answer.ErrorCode = code
		}
		if c.version < 7 || code == kerr.UnknownServerError.Code && c.version < 13 {
			// There is no place for an error of the whole answer, or Kafka says it twice (FetchRequest.getErrorResponse).
			s.eachFetched(c, request, answer, func(row *kmsg.FetchResponseTopicPartition, _ string, _ kmsg.FetchRequestTopicPartition) {
				row.ErrorCode = code
			})
		}
		c.complete(answer)
		return
	}
	f.request = onceEach(f.request)
	answer, found := s.read(c, f.request)
	if found.failed || found.bytes >= int(request.MinBytes) || request.MaxWaitMillis <= 0 || len(f.request.Topics) == 0 {
		s.answerFetch(nowMs, c, f, answer, found)
		return
	}
	s.fetches.park(s, c, f, nowMs+int64(request.MaxWaitMillis))
}

// refuseFetch finds what is wrong with the request as a whole.
func refuseFetch(r *kmsg.FetchRequest) int16 {
	if r.IsolationLevel < 0 || r.IsolationLevel > 1 {
		return kerr.UnknownServerError.Code
	}
	return 0
}

// onceEach keeps of a partition that is named twice the last, at its first place, and leaves out topics without
// partitions.
func onceEach(r *kmsg.FetchRequest) *kmsg.FetchRequest {
	type place struct {
		topic     string
		id        [16]byte
		partition int32
	}
	at, changed := map[place]*kmsg.FetchRequestTopicPartition{}, false
	once := *r
	once.Topics = make([]kmsg.FetchRequestTopic, 0, len(r.Topics))
	for _, t := range r.Topics {
		kept := make([]kmsg.FetchRequestTopicPartition, 0, len(t.Partitions))
		for _, p := range t.Partitions {
			if first := at[place{t.Topic, t.TopicID, p.Partition}]; first != nil {
				*first, changed = p, true
				continue
			}
			kept = append(kept, p) // there is room: what at points to stays where it is
			at[place{t.Topic, t.TopicID, p.Partition}] = &kept[len(kept)-1]
		}
		changed = changed || len(kept) == 0
		if len(kept) > 0 {
			t.Partitions = kept
			once.Topics = append(once.Topics, t)
		}
	}
	if !changed {
		return r
	}
	return &once
}

// fetched is what a read of all partitions came to.
type fetched struct {
	bytes int
	// failed is set where a partition has an error: then nothing is waited for.
	failed bool
}

// readAtOnce bounds what one answer holds, so that nobody waits long while it is read from a disk: there may always be less in
// it than was asked for.
const readAtOnce = 4 << 20

// read reads what there is for a fetch now.
func (s *Server) read(c *call, request *kmsg.FetchRequest) (*kmsg.FetchResponse, fetched) {
	answer := request.ResponseKind().(*kmsg.FetchResponse)
	budget := min(int(s.cfg.FetchMaxBytes), s.answers.room(), readAtOnce)
	if request.Version >= 3 {
		budget = min(budget, int(request.MaxBytes))
	}
	var f fetched
	s.eachFetched(c, request, answer, func(row *kmsg.FetchResponseTopicPartition, topic string, p kmsg.FetchRequestTopicPartition) {
		if topic == "" {
			if row.ErrorCode, f.failed = kerr.UnknownTopicID.Code, true; c.version < 13 {
				row.ErrorCode = kerr.UnknownTopicOrPartition.Code
			}
			c.note(row.ErrorCode)
			return
		}
		found := s.readOne(request, Read{Broker: c.conn.broker, Topic: topic, Partition: p.Partition, Epoch: p.CurrentLeaderEpoch,
			Offset: p.FetchOffset, MaxBytes: max(0, min(budget, int(p.PartitionMaxBytes))), MinOne: f.bytes == 0, Committed: request.IsolationLevel == 1}, p.LastFetchedEpoch)
		if found.diverging != nil {
			row.DivergingEpoch, f.failed = *found.diverging, true
		}
		if row.ErrorCode = found.Code; found.Code == 0 {
			row.HighWatermark, row.LastStableOffset, row.LogStartOffset = found.HighWatermark, found.LastStable, found.LogStart
		}
		if len(found.Batches) > 0 {
			row.RecordBatches = found.Batches
		}
		if request.IsolationLevel == 1 {
			row.AbortedTransactions = make([]kmsg.FetchResponseTopicPartitionAbortedTransaction, len(found.Aborted))
			for i, a := range found.Aborted {
				row.AbortedTransactions[i].ProducerID, row.AbortedTransactions[i].FirstOffset = a.ProducerID, a.First
			}
		}
		if found.Code != 0 {
			f.failed = true
			c.note(found.Code)
			s.nameLeader(c.version, fromReplica(request), answer, row, found.ReadResult)
		}
		f.bytes += len(found.Batches)
		budget -= len(found.Batches)
	})
	return answer, f
}

// reading is what was read, or where the log that the client believes in has gone another way (KIP-595).
type reading struct {
	ReadResult
	diverging *kmsg.FetchResponseTopicPartitionDivergingEpoch
}

func fromReplica(r *kmsg.FetchRequest) bool { return r.ReplicaID >= 0 || r.ReplicaState.ID >= 0 }

// readOne reads one partition. lastEpoch is the epoch of the last record that the client has, -1 where it does not say.
func (s *Server) readOne(request *kmsg.FetchRequest, r Read, lastEpoch int32) reading {
	if fromReplica(request) {
		found := s.cluster.Read(r)
		if found.Code == 0 { // nobody follows over this listener: replicas are inside of this process
			found = ReadResult{Code: kerr.NotLeaderForPartition.Code, Leader: found.Leader, Epoch: found.Epoch}
		}
		return reading{ReadResult: found}
	}
	if lastEpoch < 0 {
		return reading{ReadResult: s.cluster.Read(r)}
	}
	epoch, end, code := s.cluster.EpochEnd(r.Broker, r.Topic, r.Partition, r.Epoch, lastEpoch)
	switch {
	case code != 0:
		return reading{ReadResult: s.cluster.Read(r)} // which says so
	case end < 0 || epoch < 0:
		return reading{ReadResult: ReadResult{Code: kerr.OffsetOutOfRange.Code}}
	case epoch < lastEpoch || end < r.Offset:
		r.Offset = end
		found := s.cluster.Read(r)
		found.Batches, found.Aborted = nil, nil
		return reading{found, &kmsg.FetchResponseTopicPartitionDivergingEpoch{Epoch: epoch, EndOffset: end}}
	}
	return reading{ReadResult: s.cluster.Read(r)}
}

// eachFetched builds the answer's rows in the request's order. topic is "" where an id is not known.
func (s *Server) eachFetched(c *call, request *kmsg.FetchRequest, answer *kmsg.FetchResponse,
	fill func(row *kmsg.FetchResponseTopicPartition, topic string, p kmsg.FetchRequestTopicPartition)) {
	answer.Topics = make([]kmsg.FetchResponseTopic, len(request.Topics))
	for i, t := range request.Topics {
		topic := &answer.Topics[i]
		*topic = kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		name := t.Topic
		if c.version >= 13 {
			name, _ = s.cluster.TopicName(t.TopicID)
		}
		topic.Partitions = make([]kmsg.FetchResponseTopicPartition, len(t.Partitions))
		for j, p := range t.Partitions {
			row := &topic.Partitions[j]
			*row = kmsg.NewFetchResponseTopicPartition()
			row.Partition, row.HighWatermark, row.LastStableOffset, row.LogStartOffset = p.Partition, -1, -1, -1
			row.RecordBatches = []byte{}
			fill(row, name, p)
		}
	}
}

// nameLeader tells a client that asked the wrong broker, or believes in an old epoch, who leads now (KIP-951).
func (s *Server) nameLeader(version int16, fromReplica bool, answer *kmsg.FetchResponse, row *kmsg.FetchResponseTopicPartition, found ReadResult) {
	if version < 16 || found.Code != kerr.NotLeaderForPartition.Code && found.Code != kerr.FencedLeaderEpoch.Code {
		return
	}
	row.CurrentLeader.LeaderID, row.CurrentLeader.LeaderEpoch = found.Leader, found.Epoch
	if b, ok := s.endpoint(found.Leader); ok && !fromReplica {
		answer.Brokers = append(answer.Brokers, kmsg.FetchResponseBroker{NodeID: b.ID, Host: b.Host, Port: b.Port})
	}
}

func (s *Server) answerFetch(nowMs int64, c *call, f fetching, answer *kmsg.FetchResponse, found fetched) {
	answer.Topics = merged(answer.Topics)
	s.sessions.finish(c, f, answer, nowMs)
	answer.Brokers = distinct(answer.Brokers, func(b kmsg.FetchResponseBroker) int32 { return b.NodeID })
	c.weight = found.bytes
	c.complete(answer)
}

// merged makes one of topics that follow themselves, as Kafka does (FetchResponse.toMessage): some clients name a topic once
// for each partition.
func merged(topics []kmsg.FetchResponseTopic) []kmsg.FetchResponseTopic {
	kept := topics[:0]
	for _, t := range topics {
		if n := len(kept); n > 0 && kept[n-1].Topic == t.Topic && kept[n-1].TopicID == t.TopicID {
			kept[n-1].Partitions = append(kept[n-1].Partitions, t.Partitions...)
			continue
		}
		kept = append(kept, t)
	}
	return kept
}
