package txn

// Kafka's error codes that the coordinator itself gives or maps.
const (
	codeUnknownServerError      int16 = -1
	codeNone                    int16 = 0
	codeUnknownTopicOrPartition int16 = 3
	codeNotLeaderOrFollower     int16 = 6
	codeRequestTimedOut         int16 = 7
	codeMessageTooLarge         int16 = 10
	codeLoadInProgress          int16 = 14
	codeNotAvailable            int16 = 15
	codeNotCoordinator          int16 = 16
	codeRecordListTooLarge      int16 = 18
	codeNotEnoughReplicas       int16 = 19
	codeNotEnoughAfterAppend    int16 = 20
	codeUnsupportedVersion      int16 = 35
	codeInvalidRequest          int16 = 42
	codeUnsupportedFormat       int16 = 43 // UNSUPPORTED_FOR_MESSAGE_FORMAT
	codeInvalidProducerEpoch    int16 = 47
	codeInvalidTxnState         int16 = 48
	codeInvalidProducerID       int16 = 49 // INVALID_PRODUCER_ID_MAPPING
	codeInvalidTxnTimeout       int16 = 50
	codeConcurrentTransactions  int16 = 51
	codeCoordinatorFenced       int16 = 52 // TRANSACTION_COORDINATOR_FENCED
	codeOperationNotAttempted   int16 = 55
	codeStorageError            int16 = 56
	codeProducerFenced          int16 = 90
	codeTransactionAbortable    int16 = 120
)

// appendCode is what a client is told when its record was not written (TransactionStateManager.appendTransactionToLog).
func appendCode(code int16) int16 {
	switch code {
	case codeUnknownTopicOrPartition, codeNotEnoughReplicas, codeNotEnoughAfterAppend, codeRequestTimedOut:
		return codeNotAvailable
	case codeNotLeaderOrFollower, codeStorageError:
		return codeNotCoordinator
	case codeMessageTooLarge, codeRecordListTooLarge:
		return codeUnknownServerError
	}
	return code
}
