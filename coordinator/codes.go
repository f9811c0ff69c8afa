package coordinator

// Kafka's error codes that the coordinator itself gives or maps.
const (
	codeUnknownServerError      int16 = -1
	codeNone                    int16 = 0
	codeUnknownTopicOrPartition int16 = 3
	codeInvalidFetchSize        int16 = 4
	codeNotLeaderOrFollower     int16 = 6
	codeRequestTimedOut         int16 = 7
	codeMessageTooLarge         int16 = 10
	codeOffsetMetadataTooLarge  int16 = 12
	codeNetworkException        int16 = 13
	codeLoadInProgress          int16 = 14
	codeNotAvailable            int16 = 15
	codeNotCoordinator          int16 = 16
	codeRecordListTooLarge      int16 = 18
	codeNotEnoughReplicas       int16 = 19
	codeNotEnoughAfterAppend    int16 = 20
	codeIllegalGeneration       int16 = 22
	codeInconsistentProtocol    int16 = 23
	codeInvalidGroupID          int16 = 24
	codeUnknownMemberID         int16 = 25
	codeInvalidSessionTimeout   int16 = 26
	codeRebalanceInProgress     int16 = 27
	codeInvalidRequest          int16 = 42
	codeStorageError            int16 = 56
	codeNonEmptyGroup           int16 = 68
	codeGroupIDNotFound         int16 = 69
	codeMemberIDRequired        int16 = 79
	codeGroupMaxSizeReached     int16 = 81
	codeFencedInstanceID        int16 = 82
	codeSubscribedToTopic       int16 = 86
	codeUnstableOffsetCommit    int16 = 88
)

// Kafka's API keys.
const (
	apiOffsetCommit    int16 = 8
	apiOffsetFetch     int16 = 9
	apiFindCoordinator int16 = 10
	apiJoinGroup       int16 = 11
	apiHeartbeat       int16 = 12
	apiLeaveGroup      int16 = 13
	apiSyncGroup       int16 = 14
	apiDescribeGroups  int16 = 15
	apiListGroups      int16 = 16
	apiTxnOffsetCommit int16 = 28
	apiDeleteGroups    int16 = 42
	apiOffsetDelete    int16 = 47
)
