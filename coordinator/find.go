package coordinator

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// The kinds of coordinators; 2 would be a share group's.
const (
	keyTypeGroup       int8 = 0
	keyTypeTransaction int8 = 1
)

// found is one key's answer.
type found struct {
	code   int16
	guard  string
	broker BrokerInfo
}

// findCoordinator answers which broker leads the partition of __consumer_offsets that a group lives in, or that of
// __transaction_state for a transactional id. Any broker can answer it. There is no gate: a coordinator that is still loading is found.
func (c *Coordinator) findCoordinator(r *Request, q *kmsg.FindCoordinatorRequest) {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	resp.Version = q.Version
	keyType := q.CoordinatorType
	if q.Version == 0 {
		keyType = keyTypeGroup
	}
	keys := q.CoordinatorKeys
	if q.Version < 4 {
		keys = []string{q.CoordinatorKey}
	}
	sent := event.ReplySent{Ticket: r.Ticket, API: apiFindCoordinator}
	for _, key := range keys {
		f := c.findOne(keyType, key)
		if sent.Code == codeNone {
			sent.Code, sent.Guard = f.code, f.guard
		}
		message := f.message(q.Version)
		if q.Version < 4 {
			resp.ErrorCode, resp.ErrorMessage = f.code, message
			resp.NodeID, resp.Host, resp.Port = f.broker.ID, f.broker.Host, f.broker.Port
			break
		}
		resp.Coordinators = append(resp.Coordinators, kmsg.FindCoordinatorResponseCoordinator{Key: key,
			NodeID: f.broker.ID, Host: f.broker.Host, Port: f.broker.Port, ErrorCode: f.code, ErrorMessage: message})
	}
	c.send(soughtID(q), resp, sent)
}

// message says what is wrong. Where nothing is, Kafka puts its own name for that into versions 1 to 3, and no word later.
func (f *found) message(version int16) *string {
	if f.code == codeNone && version < 4 {
		return kmsg.StringPtr("NONE")
	}
	return &f.guard
}

func (c *Coordinator) findOne(keyType int8, key string) found {
	nobody := BrokerInfo{ID: -1, Port: -1}
	var topic string
	var leaders []int32
	switch keyType {
	case keyTypeGroup:
		topic, leaders = "__consumer_offsets", c.meta.OffsetsLeaders
		c.out.CreateOffsetsTopic = c.out.CreateOffsetsTopic || len(leaders) == 0
	case keyTypeTransaction:
		topic, leaders = "__transaction_state", c.meta.TransactionLeaders
		c.out.CreateTransactionTopic = c.out.CreateTransactionTopic || len(leaders) == 0
	default:
		return found{codeInvalidRequest, fmt.Sprintf("key type %d: only 0, a group, and 1, a transactional id, have a coordinator here", keyType), nobody}
	}
	if len(leaders) == 0 {
		return found{codeNotAvailable, topic + " does not exist yet", nobody}
	}
	number := record.Partition(key, int32(len(leaders)))
	leader := leaders[number]
	for _, b := range c.meta.Brokers {
		if b.ID == leader {
			return found{broker: b}
		}
	}
	return found{codeNotAvailable, fmt.Sprintf("%s-%d has no leader that is alive", topic, number), nobody}
}
