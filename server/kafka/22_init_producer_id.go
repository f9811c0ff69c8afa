package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// InitProducerId (22), v0 to v5.
//
//   - v2: flexible (KIP-482)
//   - v3: the producer's present id and epoch (KIP-360)
//   - v4: PRODUCER_FENCED (KIP-588)
//   - v5: TRANSACTION_ABORTABLE (KIP-890)
//
// Without a transactional id Kafka hands out a fresh id with epoch 0, whatever id and epoch the client says it has: a
// client that sends id 0 and epoch 0 gets one too. Transactional ids get UNSUPPORTED_VERSION: a producer gives up at once
// and does not ask again for ever.
var initProducerIDAPI = api{key: 22, name: "InitProducerId", min: 0, max: 5, run: initProducerID}

func initProducerID(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.InitProducerIDRequest)
	answer := request.ResponseKind().(*kmsg.InitProducerIDResponse)
	if request.TransactionalID != nil {
		answer.ErrorCode = kerr.UnsupportedVersion.Code
		answer.ProducerID, answer.ProducerEpoch = -1, -1
		if *request.TransactionalID == "" {
			answer.ErrorCode = kerr.InvalidRequest.Code
		}
		c.code = answer.ErrorCode
		c.complete(answer)
		return
	}
	answer.ProducerID, answer.ProducerEpoch = s.cluster.ProducerID(), 0
	c.complete(answer)
}
