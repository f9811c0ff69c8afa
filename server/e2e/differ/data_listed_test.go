//go:build interop

package differ

// The rows of README's table that several differences stand in: its first column.
const (
	words        = "the words of errors of Produce, CreatePartitions, ElectLeaders, AlterPartitionReassignments"
	unreadable   = "records with an unknown codec, or that do not unpack"
	unanswered   = "null records; AlterConfigs that names a resource twice"
	oddProducers = "a producer's epoch below 0; an empty transactional id; a transactional batch of no producer under an id"
	anyName      = "broker settings of any name; `min.insync.replicas` of more than there are brokers; documentation of settings; size of a volume"
	namesAndIDs  = "names beside ids in Metadata; a name and its id in DeleteTopics"
	collisions   = "new names of one CreateTopics that collide; the id of a topic that is only validated"
	notServed    = "KIP-848, share and streams groups; transactions of version 2"
	oneInSync    = "4.3: `min.insync.replicas`=1 of a new cluster"
)

// knownDifferences are meant; each begins with its row in the README, which has the reason (TestREADMEHasTheDifferences).
var knownDifferences = []known{
	differs(words, `^`, `ErrorMessage = (null|no words)$`, `ErrorMessage = words$`, "an error has words here where Kafka has none"),
	differs(words, `^`, `ErrorMessage = words$`, `ErrorMessage = null$`, "Kafka has words where the code says all"),

	// Produce
	differs(unanswered, `^Produce v\d+: null records`, `.`, `.`, "Kafka never answers; here it is INVALID_RECORD"),
	differs(unreadable, `^Produce v\d+: (an unknown codec|codec 7|.* claimed)$`, `ErrorCode = -1|LogStartOffset = -1|BaseOffset = -1|HighWatermark = 0|LastStableOffset = 0|no batches`,
		`ErrorCode = (87|0)|LogStartOffset = 0|BaseOffset = 0|HighWatermark = 3|LastStableOffset = 3|RecordBatches: `, "UNKNOWN_SERVER_ERROR, for all partitions where no codec has the number; here INVALID_RECORD for the one"),
	differs("single records that are wrong (KIP-467)", `^Produce v\d+: (records from the future|a compacted topic and no key|a topic of a narrow time)$`, `ErrorRecords\[\]`, `ErrorRecords = none`, "the words name the first record that is wrong (KIP-467 lists them)"),
	differs(oddProducers, `^Produce v\d+: .*: an empty id$`, `.`, `.`, "an empty transactional id is none here"),
	differs(oddProducers, `^Produce v\d+: .*: no producer$`, `ErrorCode = 0|BaseOffset = \d|LogStartOffset = 0`, `ErrorCode = 49|BaseOffset = -1|LogStartOffset = -1`, "Kafka takes a transactional batch of no producer beside a transactional id; no producer sends it"),
	differs(oddProducers, `^Produce v\d+: an epoch below 0 of a producer$`, `.`, `.`, "Kafka takes it; no producer has such an epoch"),

	// Fetch
	differs("the last batch of a Fetch that meets its byte limit", `^Fetch v\d+: .* bytes`, `a batch that is cut|bytes more|no batches`, `no batches`, "Kafka cuts the last batch at the byte limit; here batches are whole"),
	differs(unreadable, `^Fetch v\d+: -1 bytes`, `.`, `.`, "UNKNOWN_SERVER_ERROR; here a negative limit is 0"),
	differs("a deleted topic of a fetch session with ids", `^Fetch v\d+: session: a topic that is deleted$`, `ErrorCode = 3$`, `ErrorCode = 100$`, "a session's topic that is deleted is UNKNOWN_TOPIC_ID here, as it is without a session"),
	differs("OffsetForLeaderEpoch of an epoch below -1", `^OffsetForLeaderEpoch v\d+: epoch -5,`, `LeaderEpoch = -5|EndOffset = 0`, `LeaderEpoch = -1|EndOffset = -1`, "an epoch below -1 is none"),

	// Metadata and topics
	differs("a topic that Metadata creates", `^Metadata v\d+: a topic that is created at once$`, `error 3, 0 partitions`, `error 0, 2 partitions`, "a topic that is created is there with the answer"),
	differs(unreadable, `^Metadata v\d+: neither name nor id$`, `.`, `.`, "UNKNOWN_SERVER_ERROR for the whole request; here UNKNOWN_TOPIC_ID for the topic"),
	differs(namesAndIDs, `^Metadata v1[23]: ids$`, ``, `.`, "names beside ids are answered, too"),
	differs("a setting's value with blanks around it", `^CreateTopics v[567]: a value with blanks`, `Value = " 100000 "`, `Value = "100000"`, "Kafka tells a setting as it was said, and describes it without blanks"),
	differs("`node.id` and the like as settings", `^IncrementalAlterConfigs v\d+: all brokers, node.id`, `ErrorCode = 42`, `ErrorCode = 40`, "not a setting here, so of no name that is known"),
	differs("two rows of one topic in a fetch session with ids", `^Fetch v\d+: session: what is not there, and comes$`, `Topic = ""`, ``, "a session's rows of one topic are told together"),
	differs(collisions, `^CreateTopics v\d+: names that collide`, `.`, `.`, "Kafka finds a collision with what is there, but not within a request"),
	differs(collisions, `^CreateTopics v7: .*, validated$`, `TopicID = <id of`, `TopicID = 00000000000000000000000000000000`, "Kafka gives an id to what it does not create"),
	differs("`segment.bytes`", `^(CreateTopics|DescribeConfigs) v\d+: `, `Value = "1073741824"`, `Value = "16777216"`, "segments are smaller: logs are read as a whole at the start"),
	differs(namesAndIDs, `^DeleteTopics v6: .*by id and name$`, `.`, `.`, "a topic that is named by its name and its id has one row"),
	differs(unreadable, `^DescribeTopicPartitions v0: no name$`, `.`, `.`, "UNKNOWN_SERVER_ERROR for the whole request; here INVALID_TOPIC_EXCEPTION for the one"),

	// Settings
	differs(unreadable, `^(Incremental)?AlterConfigs v\d+: |^DescribeConfigs v\d+: resource`, `ErrorCode = -1`, `ErrorCode = 42`, "UNKNOWN_SERVER_ERROR for a kind, a name or an operation that is none; here INVALID_REQUEST"),
	differs(anyName, `^IncrementalAlterConfigs v\d+: all brokers, validated colour=`, `ErrorCode = 0`, `ErrorCode = 40`, "Kafka takes broker settings of any name; here one that is none is refused, with the nearest"),
	differs(anyName, `^IncrementalAlterConfigs v\d+: all brokers, validated min.insync.replicas=9$`, `ErrorCode = 0$`, `ErrorCode = 42$`, "Kafka takes more than there are brokers"),
	differs(unanswered, `^AlterConfigs v\d+: one twice$`, `.`, `.`, "Kafka never answers; here it is INVALID_REQUEST"),
	differs(anyName, `^DescribeConfigs v\d+: `, `Documentation = words`, `Documentation = null`, "there is no documentation here"),

	// Folders, transactions, versions
	differs(anyName, `^DescribeLogDirs v4: `, `(Total|Usable)Bytes = set`, `(Total|Usable)Bytes = -1`, "the size of the volume is not told"),
	differs(unreadable, `^WriteTxnMarkers v\d+: an old epoch$`, `ErrorCode = -1`, `ErrorCode = (3|47)`, "UNKNOWN_SERVER_ERROR; here the errors of the partitions"),
	differs(notServed, `^ApiVersions v\d+: software`, `^  \w+: \d+ to \d+$|^  (supports|has) `, `^  \w+: \d+ to \d+$`, "what is served differs: the table of versions in each file of server/kafka"),

	// Apache Kafka 4.3
	differsIn("4.3", oneInSync, `^CreateTopics v\d+: `, `Source = 3$`, `Source = 5$`, "a new cluster of 4.1 and up tells all brokers min.insync.replicas=1 (KIP-966)"),
	differsIn("4.3", oneInSync, `^((Incremental)?Alter|Describe)Configs v\d+: `, `Source = DYNAMIC_DEFAULT_BROKER_CONFIG$|ConfigSynonyms\[\]\.(Name = "min.insync.replicas"|Value = "1")$`, `Source = DEFAULT_CONFIG$`, "likewise"),
	differsIn("4.3", oneInSync, `^DescribeConfigs v\d+: all brokers, `, `.`, `.`, "likewise"),
	differsIn("4.3", oneInSync, `^IncrementalAlterConfigs v\d+: all brokers, min.insync.replicas 1 null, `, `ErrorCode = 40$`, `ErrorCode = 0$`, "likewise: it cannot be taken back"),
	differsIn("4.3", "4.3: loggers of a broker", `^(IncrementalAlter|Describe)Configs v\d+: resource type 8 named "1"$`, `.`, `.`, "its loggers are told where there are none; here there are no loggers"),
}
