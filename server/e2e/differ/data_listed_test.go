//go:build interop

package differ

// knownDifferences are meant; the README has them with their reasons.
var knownDifferences = []known{
	differs(`^`, `ErrorMessage = (null|no words)$`, `ErrorMessage = words$`, "an error has words here where Kafka has none"),
	differs(`^`, `ErrorMessage = words$`, `ErrorMessage = null$`, "Kafka has words where the code says all"),

	// Produce
	differs(`^Produce v\d+: null records`, `.`, `.`, "Kafka never answers; here it is INVALID_RECORD"),
	differs(`^Produce v\d+: (an unknown codec|codec 7|.* claimed)$`, `ErrorCode = -1|LogStartOffset = -1|BaseOffset = -1|HighWatermark = 0|LastStableOffset = 0|no batches`,
		`ErrorCode = (87|0)|LogStartOffset = 0|BaseOffset = 0|HighWatermark = 3|LastStableOffset = 3|RecordBatches: `, "UNKNOWN_SERVER_ERROR, for all partitions where no codec has the number; here INVALID_RECORD for the one"),
	differs(`^Produce v\d+: (records from the future|a compacted topic and no key|a topic of a narrow time)$`, `ErrorRecords\[\]`, `ErrorRecords = none`, "the words name the first record that is wrong (KIP-467 lists them)"),
	differs(`^Produce v\d+: .*: an empty id$`, `.`, `.`, "an empty transactional id is none here"),
	differs(`^Produce v\d+: .*: no producer$`, `ErrorCode = 0|BaseOffset = \d|LogStartOffset = 0`, `ErrorCode = 49|BaseOffset = -1|LogStartOffset = -1`, "Kafka takes a transactional batch of no producer beside a transactional id; no producer sends it"),
	differs(`^Produce v\d+: an epoch below 0 of a producer$`, `.`, `.`, "Kafka takes it; no producer has such an epoch"),

	// Fetch
	differs(`^Fetch v\d+: .* bytes`, `a batch that is cut|bytes more|no batches`, `no batches`, "Kafka cuts the last batch at the byte limit; here batches are whole"),
	differs(`^Fetch v\d+: -1 bytes`, `.`, `.`, "UNKNOWN_SERVER_ERROR; here a negative limit is 0"),
	differs(`^Fetch v\d+: session: a topic that is deleted$`, `ErrorCode = 3$`, `ErrorCode = 100$`, "a session's topic that is deleted is UNKNOWN_TOPIC_ID here, as it is without a session"),
	differs(`^OffsetForLeaderEpoch v\d+: epoch -5,`, `LeaderEpoch = -5|EndOffset = 0`, `LeaderEpoch = -1|EndOffset = -1`, "an epoch below -1 is none"),

	// Metadata and topics
	differs(`^Metadata v\d+: a topic that is created at once$`, `error 3, 0 partitions`, `error 0, 2 partitions`, "a topic that is created is there with the answer"),
	differs(`^Metadata v\d+: neither name nor id$`, `.`, `.`, "UNKNOWN_SERVER_ERROR for the whole request; here UNKNOWN_TOPIC_ID for the topic"),
	differs(`^Metadata v1[23]: ids$`, ``, `.`, "names beside ids are answered, too"),
	differs(`^CreateTopics v[567]: a value with blanks`, `Value = " 100000 "`, `Value = "100000"`, "Kafka tells a setting as it was said, and describes it without blanks"),
	differs(`^IncrementalAlterConfigs v\d+: all brokers, node.id`, `ErrorCode = 42`, `ErrorCode = 40`, "not a setting here, so of no name that is known"),
	differs(`^Fetch v\d+: session: what is not there, and comes$`, `Topic = ""`, ``, "a session's rows of one topic are told together"),
	differs(`^CreateTopics v\d+: names that collide`, `.`, `.`, "Kafka finds a collision with what is there, but not within a request"),
	differs(`^CreateTopics v7: .*, validated$`, `TopicID = <id of`, `TopicID = 00000000000000000000000000000000`, "Kafka gives an id to what it does not create"),
	differs(`^(CreateTopics|DescribeConfigs) v\d+: `, `Value = "1073741824"`, `Value = "16777216"`, "segments are smaller: logs are read as a whole at the start"),
	differs(`^DeleteTopics v6: .*by id and name$`, `.`, `.`, "a topic that is named by its name and its id has one row"),
	differs(`^DescribeTopicPartitions v0: no name$`, `.`, `.`, "UNKNOWN_SERVER_ERROR for the whole request; here INVALID_TOPIC_EXCEPTION for the one"),

	// Settings
	differs(`^(Incremental)?AlterConfigs v\d+: |^DescribeConfigs v\d+: resource`, `ErrorCode = -1`, `ErrorCode = 42`, "UNKNOWN_SERVER_ERROR for a kind, a name or an operation that is none; here INVALID_REQUEST"),
	differs(`^IncrementalAlterConfigs v\d+: all brokers, validated colour=`, `ErrorCode = 0`, `ErrorCode = 40`, "Kafka takes broker settings of any name; here one that is none is refused, with the nearest"),
	differs(`^IncrementalAlterConfigs v\d+: all brokers, validated min.insync.replicas=9$`, `ErrorCode = 0$`, `ErrorCode = 42$`, "Kafka takes more than there are brokers"),
	differs(`^AlterConfigs v\d+: one twice$`, `.`, `.`, "Kafka never answers; here it is INVALID_REQUEST"),
	differs(`^DescribeConfigs v\d+: `, `Documentation = words`, `Documentation = null`, "there is no documentation here"),

	// Folders, transactions, versions
	differs(`^DescribeLogDirs v4: `, `(Total|Usable)Bytes = set`, `(Total|Usable)Bytes = -1`, "the size of the volume is not told"),
	differs(`^WriteTxnMarkers v\d+: an old epoch$`, `ErrorCode = -1`, `ErrorCode = (3|47)`, "UNKNOWN_SERVER_ERROR; here the errors of the partitions"),
	differs(`^ApiVersions v\d+: software`, `^  \w+: \d+ to \d+$|^  (supports|has) `, `^  \w+: \d+ to \d+$`, "what is served differs: the table of versions in each file of server/kafka"),

	// Apache Kafka 4.3
	differsIn("4.3", `^CreateTopics v\d+: `, `Source = 3$`, `Source = 5$`, "a new cluster of 4.1 and up tells all brokers min.insync.replicas=1 (KIP-966)"),
	differsIn("4.3", `^((Incremental)?Alter|Describe)Configs v\d+: `, `Source = DYNAMIC_DEFAULT_BROKER_CONFIG$|ConfigSynonyms\[\]\.(Name = "min.insync.replicas"|Value = "1")$`, `Source = DEFAULT_CONFIG$`, "likewise"),
	differsIn("4.3", `^DescribeConfigs v\d+: all brokers, `, `.`, `.`, "likewise"),
	differsIn("4.3", `^IncrementalAlterConfigs v\d+: all brokers, min.insync.replicas 1 null, `, `ErrorCode = 40$`, `ErrorCode = 0$`, "likewise: it cannot be taken back"),
	differsIn("4.3", `^(IncrementalAlter|Describe)Configs v\d+: resource type 8 named "1"$`, `.`, `.`, "its loggers are told where there are none; here there are no loggers"),
}
