package kafka

// api is one API key: what ApiVersions says of it, and what runs it.
type api struct {
	key  int16
	name string
	// min and max are advertised.
	min, max int16
	// decodeFrom is the lowest version that is served. It is min, except where an old version must be seen in ApiVersions
	// for a client to behave (see 00_produce.go).
	decodeFrom int16
	// keepsBytes is set where the decoded request points into its frame after it was decoded.
	keepsBytes bool
	// prompt is set where nothing that the client does waits for anything but the log: such requests may follow one another
	// without waiting for the answer, so that what comes together is appended together. Answers keep the requests' order.
	prompt bool
	// run serves a request on the loop's goroutine. It ends in complete, now or later.
	run func(s *Server, c *call, nowMs int64)
}

// table lists what is served, by key. Every row is in the file that its number names.
func table() []api {
	return []api{
		produceAPI, fetchAPI, listOffsetsAPI, metadataAPI, offsetCommitAPI, offsetFetchAPI, findCoordinatorAPI, joinGroupAPI,
		heartbeatAPI, leaveGroupAPI, syncGroupAPI, describeGroupsAPI, listGroupsAPI, saslHandshakeAPI, apiVersionsAPI, createTopicsAPI, deleteTopicsAPI, deleteRecordsAPI,
		initProducerIDAPI, offsetForLeaderEpochAPI, addPartitionsToTxnAPI, addOffsetsToTxnAPI, endTxnAPI, writeTxnMarkersAPI,
		txnOffsetCommitAPI, describeConfigsAPI, alterConfigsAPI, describeLogDirsAPI, saslAuthenticateAPI, createPartitionsAPI, deleteGroupsAPI, electLeadersAPI,
		incrementalAlterConfigsAPI, alterPartitionReassignmentsAPI, listPartitionReassignmentsAPI, offsetDeleteAPI, describeClusterAPI,
		describeProducersAPI, describeTransactionsAPI, listTransactionsAPI, describeTopicPartitionsAPI,
	}
}

const highestKey = 127

// index gives the rows by key, nil where a key is not served.
func index(rows []api) *[highestKey + 1]*api {
	byKey := new([highestKey + 1]*api)
	for i := range rows {
		byKey[rows[i].key] = &rows[i]
	}
	return byKey
}
