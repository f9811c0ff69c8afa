package event

import "fmt"

func withEpoch(id int64, epoch int16) string { return fmt.Sprintf("producer %d epoch %d", id, epoch) }

func (b TxnStateChanged) text() string {
	change := string(b.To)
	if b.From != "" {
		change = string(b.From) + " -> " + change
	}
	line := words(Name(b.TransactionalID), change, withEpoch(b.ProducerID, b.ProducerEpoch))
	if len(b.Partitions) > 0 {
		line = words(line, Partitions(b.Partitions))
	}
	return line + ": " + b.Why
}
func (b TxnRemoved) text() string { return Name(b.TransactionalID) + ": " + b.Why }
func (b TxnFenced) text() string {
	return words(Name(b.TransactionalID), withEpoch(b.ProducerID, b.ProducerEpoch)) + ": " + b.Why
}
func (b TxnAppendStarted) text() string {
	return words(Name(b.TransactionalID), fmt.Sprintf("append %d to __transaction_state-%d,", b.Append, b.Partition), string(b.To), "until", Clock(b.DeadlineMs))
}
func (b TxnAppendFinished) text() string {
	return words(Name(b.TransactionalID), fmt.Sprintf("append %d", b.Append), CodeName(b.Code), flag(b.Ignored, "ignored"))
}
func (b TxnMarkerSent) text() string {
	kind := "ABORT"
	if b.Commit {
		kind = "COMMIT"
	}
	return words(Name(b.TransactionalID), fmt.Sprintf("marker %d", b.Marker), kind, "for", tp(b.Topic, b.Partition), withEpoch(b.ProducerID, b.ProducerEpoch))
}
func (b TxnMarkerAnswered) text() string {
	line := words(Name(b.TransactionalID), fmt.Sprintf("marker %d", b.Marker), "for", tp(b.Topic, b.Partition), CodeName(b.Code))
	if b.RetryMs > 0 {
		line = words(line, "again at", Clock(b.RetryMs))
	}
	return line
}
func (b TxnLoadStarted) text() string {
	return fmt.Sprintf("__transaction_state-%d epoch %d to %d", b.Partition, b.Epoch, b.EndOffset)
}
func (b TxnLoadFinished) text() string {
	return words(fmt.Sprintf("__transaction_state-%d epoch %d: %d transactional ids", b.Partition, b.Epoch, b.Transactions),
		flag(b.Failed != "", "FAILED: "+b.Failed))
}
func (b TxnUnloaded) text() string {
	return fmt.Sprintf("__transaction_state-%d epoch %d: %d transactional ids", b.Partition, b.Epoch, b.Transactions)
}
func (b ProducerIDsAllocated) text() string {
	return fmt.Sprintf("%d to %d", b.First, b.First+int64(b.Count)-1)
}
