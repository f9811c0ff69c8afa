package sim

import (
	"fmt"
	"regexp"
)

// Config is what a world is made of. The zero value of each field means its default.
type Config struct {
	// Seed decides every chance: ties between brokers, lost messages, member ids.
	Seed uint64
	// Brokers is how many brokers there are, with ids 1 to N; 1 to 9, default 3.
	Brokers int32
	// LatencyMs is how long a message between a client and a broker, or between brokers, takes; 1 to 60 000, default 2.
	LatencyMs int64
	// LossPPM is how many of a million messages between clients and brokers are lost; 0 to 1 000 000.
	LossPPM int32
	// Set holds Kafka's configuration names and their values; see Names.
	Set []Setting
}

// Setting is one configuration value under Kafka's own name.
type Setting struct{ Name, Value string }

// ConsumerConfig describes a consumer process. The zero value of each optional field means the default of Kafka's Java
// client, as far as a comment does not say otherwise.
type ConsumerConfig struct {
	// Name is the client.id, and the name by which scripts know it: letters, digits, '-', '_', '.'; at most 64.
	Name string
	// Group is the group.id; any string that is not empty.
	Group string
	// Topics are what it subscribes to; at least one.
	Topics []string
	// SessionTimeoutMs is session.timeout.ms, default 45 000. The coordinator checks its bounds, not the client.
	SessionTimeoutMs int32
	// RebalanceTimeoutMs is max.poll.interval.ms, which JoinGroup carries as the rebalance timeout; default 300 000.
	RebalanceTimeoutMs int32
	// HeartbeatMs is heartbeat.interval.ms, default 3 000.
	HeartbeatMs int32
	// AutoCommitMs is auto.commit.interval.ms, default 5 000; -1 turns auto-commit off.
	AutoCommitMs int32
	// MetadataMaxAgeMs is metadata.max.age.ms, default 300 000.
	MetadataMaxAgeMs int64
	// RetryBackoffMs is retry.backoff.ms, default 100.
	RetryBackoffMs int64
	// RequestTimeoutMs is request.timeout.ms, default 30 000. JoinGroup has its own: RebalanceTimeoutMs + 5 000.
	RequestTimeoutMs int64
	// RecordsPerSecond is how fast its position grows in each partition that it owns, default 1.
	RecordsPerSecond int32
	// JoinVersion is the version of JoinGroup that it speaks, 0 to 9; -1 means 9, the newest. Up to 3 there is no
	// handshake for the member id (KIP-394). The zero value is the newest too: write 0 as JoinVersionZero.
	JoinVersion int16
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// withDefaults checks a consumer's description and fills in what was left out.
func (c ConsumerConfig) withDefaults() (ConsumerConfig, error) {
	if !clientName.MatchString(c.Name) {
		return c, fmt.Errorf("no consumer can be called %q: a name has 1 to 64 letters, digits, '.', '_' or '-'", c.Name)
	}
	if c.Group == "" {
		return c, fmt.Errorf("consumer %s has no group: give it one", c.Name)
	}
	if len(c.Topics) == 0 {
		return c, fmt.Errorf("consumer %s subscribes to nothing: give it a topic", c.Name)
	}
	def32(&c.SessionTimeoutMs, 45_000)
	def32(&c.RebalanceTimeoutMs, 300_000)
	def32(&c.HeartbeatMs, 3_000)
	def32(&c.AutoCommitMs, 5_000)
	def32(&c.RecordsPerSecond, 1)
	def64(&c.MetadataMaxAgeMs, 300_000)
	def64(&c.RetryBackoffMs, 100)
	def64(&c.RequestTimeoutMs, 30_000)
	return c, nil
}

func def32(v *int32, d int32) {
	if *v == 0 {
		*v = d
	}
}

func def64(v *int64, d int64) {
	if *v == 0 {
		*v = d
	}
}
