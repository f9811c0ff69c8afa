package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// DescribeTransactions (65), v0 (KIP-664). The transaction coordinator of each id answers: coordinator/txn/look.go.
var describeTransactionsAPI = api{key: 65, name: "DescribeTransactions", min: 0, max: 0, run: describeTransactions}

func describeTransactions(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.DescribeTransactionsRequest)
	answer := request.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	for _, id := range request.TransactionalIDs {
		row := kmsg.NewDescribeTransactionsResponseTransactionState()
		row.TransactionalID = id
		found, code := s.cluster.Transaction(c.conn.broker, id)
		if row.ErrorCode = code; code == 0 {
			row.State, row.TimeoutMillis, row.StartTimestamp = found.State, found.TimeoutMs, found.StartMs
			row.ProducerID, row.ProducerEpoch = found.ProducerID, found.ProducerEpoch
			for _, t := range found.Partitions {
				row.Topics = append(row.Topics, kmsg.DescribeTransactionsResponseTransactionStateTopic{Topic: t.Topic, Partitions: t.Partitions})
			}
		}
		c.note(code)
		answer.TransactionStates = append(answer.TransactionStates, row)
	}
	c.complete(answer)
}
