package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListTransactions (66), v0 and v1 (KIP-664): the transactional ids that this broker coordinates; clients ask every
// broker.
//
//   - v1: only transactions that are open for longer than so many milliseconds (KIP-994); one that is not open, too: its
//     start is -1
var listTransactionsAPI = api{key: 66, name: "ListTransactions", min: 0, max: 1, run: listTransactions}

// transactionStates are the states by which a client may filter, by Kafka's names.
var transactionStates = []string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Dead"}

func listTransactions(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.ListTransactionsRequest)
	answer := request.ResponseKind().(*kmsg.ListTransactionsResponse)
	list, code := s.cluster.Transactions(c.conn.broker)
	answer.ErrorCode, c.code = code, code
	states, producers := map[string]bool{}, map[int64]bool{}
	for _, state := range request.StateFilters {
		if slices.Contains(transactionStates, state) {
			states[state] = true
		} else {
			answer.UnknownStateFilters = append(answer.UnknownStateFilters, state)
		}
	}
	for _, id := range request.ProducerIDFilters {
		producers[id] = true
	}
	for _, t := range list {
		switch {
		case len(request.StateFilters) > 0 && !states[t.State]:
		case len(request.ProducerIDFilters) > 0 && !producers[t.ProducerID]:
		case c.version >= 1 && request.DurationFilterMillis >= 0 && nowMs-t.StartMs <= request.DurationFilterMillis:
		default:
			row := kmsg.NewListTransactionsResponseTransactionState()
			row.TransactionalID, row.ProducerID, row.TransactionState = t.ID, t.ProducerID, t.State
			answer.TransactionStates = append(answer.TransactionStates, row)
		}
	}
	c.complete(answer)
}
