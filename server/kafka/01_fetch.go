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
//   - v12: flexible (KIP-482); the present leader in the answer, where the asked broker is not
//   - v13: topics by id (KIP-516)
//   - v15: replica state (KIP-903)
//   - v16: addresses of present leaders (KIP-951)
//   - v17: directory id (KIP-853)
//
// At least one batch is returned, however large (KIP-74), and batches are never cut. The answer repeats the request's
// order: some clients name a topic once for each partition.
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
		answer.ErrorCode, c.code = code, code
		if c.version < 7 {
			// There is no place for an error of the whole answer.
			s.eachFetched(c, request, answer, func(row *kmsg.FetchResponseTopicPartition, _ string, _ kmsg.FetchRequestTopicPartition) {
				row.ErrorCode = code
			})
		}
		c.complete(answer)
		return
	}
	answer, found := s.read(c, f.request)
	if found.failed || found.bytes >= int(request.MinBytes) || request.MaxWaitMillis <= 0 || len(f.request.Topics) == 0 {
		s.answerFetch(nowMs, c, f, answer, found)
		return
	}
	s.fetches.park(s, c, f, nowMs+int64(request.MaxWaitMillis))
}

// refuseFetch finds what is wrong with the request as a whole.
func refuseFetch(r *kmsg.FetchRequest) int16 {
	if r.ReplicaID >= 0 || r.ReplicaState.ID >= 0 {
		return kerr.InvalidRequest.Code // followers are inside of this process
	}
	return 0
}

// fetched is what a read of all partitions came to.
type fetched struct {
	bytes int
	// failed is set where a partition has an error: then nothing is waited for.
	failed bool
}

// read reads what there is for a fetch now.
func (s *Server) read(c *call, request *kmsg.FetchRequest) (*kmsg.FetchResponse, fetched) {
	answer := request.ResponseKind().(*kmsg.FetchResponse)
	budget := min(int(s.cfg.FetchMaxBytes), s.answers.room())
	if request.Version >= 3 {
		budget = min(budget, int(request.MaxBytes))
	}
	var f fetched
	s.eachFetched(c, request, answer, func(row *kmsg.FetchResponseTopicPartition, topic string, p kmsg.FetchRequestTopicPartition) {
		if topic == "" {
			row.ErrorCode, f.failed = kerr.UnknownTopicID.Code, true
			c.note(row.ErrorCode)
			return
		}
		found := s.cluster.Read(Read{Broker: c.conn.broker, Topic: topic, Partition: p.Partition, Epoch: p.CurrentLeaderEpoch,
			Offset: p.FetchOffset, MaxBytes: max(0, min(budget, int(p.PartitionMaxBytes))), MinOne: f.bytes == 0, Committed: request.IsolationLevel == 1})
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
			s.nameLeader(c.version, answer, row, found)
		}
		f.bytes += len(found.Batches)
		budget -= len(found.Batches)
	})
	return answer, f
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
func (s *Server) nameLeader(version int16, answer *kmsg.FetchResponse, row *kmsg.FetchResponseTopicPartition, found ReadResult) {
	if version < 12 || found.Code != kerr.NotLeaderForPartition.Code && found.Code != kerr.FencedLeaderEpoch.Code {
		return
	}
	row.CurrentLeader.LeaderID, row.CurrentLeader.LeaderEpoch = found.Leader, found.Epoch
	if b, ok := s.endpoint(found.Leader); ok && version >= 16 {
		answer.Brokers = append(answer.Brokers, kmsg.FetchResponseBroker{NodeID: b.ID, Host: b.Host, Port: b.Port})
	}
}

func (s *Server) answerFetch(nowMs int64, c *call, f fetching, answer *kmsg.FetchResponse, found fetched) {
	s.sessions.finish(c, f, answer, nowMs)
	answer.Brokers = distinct(answer.Brokers, func(b kmsg.FetchResponseBroker) int32 { return b.NodeID })
	c.weight = found.bytes
	c.complete(answer)
}
