package txn

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/record"
)

// findCoordinator answers which broker leads the partition of __transaction_state that a transactional id lives in. Any
// broker can answer it. The host gives only requests of key type 1 to this machine.
func (c *Coordinator) findCoordinator(r *Request, q *kmsg.FindCoordinatorRequest) {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	keys := q.CoordinatorKeys
	if q.Version < 4 {
		keys = []string{q.CoordinatorKey}
	}
	first, why := codeNone, ""
	for _, key := range keys {
		b, code, guard := c.find(key)
		if first == codeNone {
			first, why = code, guard
		}
		message := &guard
		if code == codeNone && q.Version < 4 { // Kafka puts its own name for "nothing is wrong" there, and no word later
			message = kmsg.StringPtr("NONE")
		}
		if q.Version < 4 {
			resp.ErrorCode, resp.ErrorMessage, resp.NodeID, resp.Host, resp.Port = code, message, b.ID, b.Host, b.Port
			break
		}
		resp.Coordinators = append(resp.Coordinators, kmsg.FindCoordinatorResponseCoordinator{Key: key, NodeID: b.ID, Host: b.Host, Port: b.Port,
			ErrorCode: code, ErrorMessage: message})
	}
	c.send(r, resp, first, why)
}

func (c *Coordinator) find(id string) (b BrokerInfo, code int16, guard string) {
	nobody := BrokerInfo{ID: -1, Port: -1}
	if len(c.meta.Leaders) == 0 {
		c.out.CreateTopic = true
		return nobody, codeNotAvailable, "__transaction_state does not exist yet"
	}
	number := record.Partition(id, int32(len(c.meta.Leaders)))
	for _, b := range c.meta.Brokers {
		if b.ID == c.meta.Leaders[number] {
			return b, codeNone, ""
		}
	}
	return nobody, codeNotAvailable, fmt.Sprintf("__transaction_state-%d has no leader that is alive", number)
}
