package txn

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Request is one request of a client.
type Request struct {
	// Ticket names the request at its host. The coordinator gives it back with the reply.
	Ticket int64
	// ClientID is the request header's client.id, "" where it was null; ClientHost the textual address.
	ClientID, ClientHost string
	// Cause is the Seq of the event that brought the request, 0 where there is none.
	Cause int64
	// Kmsg is the decoded request, with its Version set. It is read until the request is answered, so the host must not
	// change it.
	Kmsg kmsg.Request
}

// Reply answers one request.
type Reply struct {
	Ticket int64
	// Kmsg is the response, with the request's version.
	Kmsg kmsg.Response
	// Code is the error code that matters: the top-level one, or the first one found in a response that has none.
	Code int16
	// Cause is the Seq of the ReplySent that told of it.
	Cause int64
}

// Append asks the host to write one record to a partition of __transaction_state, with acks=all. The host gives the
// outcome to Appended, with the same ticket, exactly once, unless it drops the whole machine first.
type Append struct {
	Ticket           int64
	Partition, Epoch int32
	Record           record.Record
	// TimeoutMs is the transaction's own timeout, as in Kafka.
	TimeoutMs int64
	Cause     int64
}

// Marker asks the host to have the leader of a partition write the marker that ends a transaction there (WriteTxnMarkers).
// The host gives the answer to Marked.
type Marker struct {
	Ticket        int64
	Topic         string
	Partition     int32
	ProducerID    int64
	ProducerEpoch int16
	// CoordinatorEpoch is the epoch of the partition of __transaction_state; the marker carries it.
	CoordinatorEpoch int32
	Commit           bool
	Cause            int64
}

// Output is what the coordinator wants done and known. Its slices are valid until the next door is used.
type Output struct {
	Appends []Append
	Markers []Marker
	Replies []Reply
	// Events, by Seq.
	Events []event.Event
	// AllocateProducerIDs is set when a block of producer ids is wanted from the controller; Allocated brings it.
	AllocateProducerIDs bool
	// CreateTopic is set when a FindCoordinator found no __transaction_state: the host creates it.
	CreateTopic bool
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
}

// Config is what does not change during a machine's life.
type Config struct {
	// Broker is the id of the broker whose coordinator this is.
	Broker int32
	// Numbers hands out Seq; everything of one world shares one.
	Numbers  *event.Numbers
	Settings Settings
}

// Settings are Kafka's broker settings, by Kafka's names. Times are in milliseconds.
type Settings struct {
	// TransactionMaxTimeoutMs is transaction.max.timeout.ms: the longest timeout that a producer may ask for.
	TransactionMaxTimeoutMs int32
	// AbortTimedOutIntervalMs is transaction.abort.timed.out.transaction.cleanup.interval.ms: how often transactions are
	// looked at whose time is over.
	AbortTimedOutIntervalMs int64
	// TransactionalIDExpirationMs is transactional.id.expiration.ms: after how long an id that is not used is forgotten.
	TransactionalIDExpirationMs int64
	// RemoveExpiredIntervalMs is transaction.remove.expired.transaction.cleanup.interval.ms: how often that is looked at.
	RemoveExpiredIntervalMs int64
	// RetryBackoffMs is how long a marker or a last record waits after a failure that may pass. Kafka's marker thread
	// tries again in its next round.
	RetryBackoffMs int64
}

// DefaultSettings are Apache Kafka 4.0's defaults.
func DefaultSettings() Settings {
	return Settings{
		TransactionMaxTimeoutMs:     900_000,
		AbortTimedOutIntervalMs:     10_000,
		TransactionalIDExpirationMs: 7 * 24 * 3600 * 1000,
		RemoveExpiredIntervalMs:     3_600_000,
		RetryBackoffMs:              100,
	}
}

// BrokerInfo is a live broker and the address that it advertises.
type BrokerInfo struct {
	ID   int32
	Host string
	Port int32
}

// Metadata is what the broker knows of the cluster, as far as this coordinator looks into it.
type Metadata struct {
	// Brokers are those that are alive.
	Brokers []BrokerInfo
	// Topics gives each topic's number of partitions, internal ones too.
	Topics map[string]int32
	// Leaders gives the leader of each partition of __transaction_state, -1 where there is none. It is nil while the
	// topic does not exist.
	Leaders []int32
	// OffsetsPartitions is the number of partitions of __consumer_offsets, 0 while it does not exist.
	OffsetsPartitions int32
}

// LoadedBatch is one batch read from a partition of __transaction_state.
type LoadedBatch struct {
	BaseOffset int64
	Records    []record.Record
}

const offsetsTopic = "__consumer_offsets"
