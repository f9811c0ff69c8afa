package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	// JoinVersion is the version of JoinGroup that it speaks, 1 to 9, default 9. Up to 3 there is no handshake for the
	// member id (KIP-394).
	JoinVersion int16
	// OldRequests has it send all other requests, too, in the versions of a client of JoinVersion's time, 1 to 8.
	OldRequests bool
	// Assignors is partition.assignment.strategy by the assignors' names, the preferred one first: range, roundrobin,
	// sticky, cooperative-sticky; default range alone. A consumer rebalances cooperatively (KIP-429) where all of its
	// assignors can, that is, with cooperative-sticky alone.
	Assignors []string
	// InstanceID is group.instance.id, which makes it a static member (KIP-345): it never sends LeaveGroup. "" for a
	// dynamic member; otherwise like Name. It needs JoinVersion 5.
	InstanceID string
	// TransactionalID makes it consume, transform and produce in transactions (KIP-98, KIP-447): instead of auto-commit
	// its positions are committed every AutoCommitMs in a transaction of this id. "" for none; otherwise like Name.
	TransactionalID string
	// TransactionTimeoutMs is transaction.timeout.ms, default 60 000.
	TransactionTimeoutMs int32
	// CommitMetadata is put into the metadata of each offset that it commits, followed by '-' and a number that no other
	// commit has: so commits of one offset can be told apart. "" for commits without metadata; otherwise like Name.
	CommitMetadata string
}

// withDefaults checks a world's description and fills in what was left out.
func (c Config) withDefaults() (Config, error) {
	def32(&c.Brokers, 3)
	def64(&c.LatencyMs, 2)
	if c.Brokers < 1 || c.Brokers > 9 {
		return c, fmt.Errorf("there cannot be %d brokers: 1 to 9", c.Brokers)
	}
	return c, errors.Join(checkLatency(c.LatencyMs), checkLoss(c.LossPPM))
}

func checkLatency(ms int64) error {
	if ms < 1 || ms > 60_000 {
		return fmt.Errorf("a latency of %d ms is out of bounds: 1 ms to 60 s", ms)
	}
	return nil
}

func checkLoss(ppm int32) error {
	if ppm < 0 || ppm > 1_000_000 {
		return fmt.Errorf("a loss of %d in a million is out of bounds: 0 to 1 000 000", ppm)
	}
	return nil
}

// named tells whether s is 1 to 64 letters, digits, '.', '_' or '-'.
func named(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}

// withDefaults checks a consumer's description and fills in what was left out.
func (c ConsumerConfig) withDefaults() (ConsumerConfig, error) {
	if !named(c.Name) {
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
	def32(&c.TransactionTimeoutMs, 60_000)
	def64(&c.MetadataMaxAgeMs, 300_000)
	def64(&c.RetryBackoffMs, 100)
	def64(&c.RequestTimeoutMs, 30_000)
	if c.JoinVersion == 0 {
		c.JoinVersion = 9
	}
	if len(c.Assignors) == 0 {
		c.Assignors = []string{rangeAssignor}
	}
	c.Assignors = slices.Clone(c.Assignors)
	return c, cmp.Or(c.checkBounds(), c.checkAssignors(), c.checkInstance(), c.checkTransactional(), c.checkMetadata())
}

func (c ConsumerConfig) checkMetadata() error {
	if c.CommitMetadata != "" && !named(c.CommitMetadata) {
		return fmt.Errorf("consumer %s: its commits cannot carry %q as metadata: it has 1 to 64 letters, digits, '.', '_' or '-'", c.Name, c.CommitMetadata)
	}
	return nil
}

func (c ConsumerConfig) checkAssignors() error {
	for i, name := range c.Assignors {
		if !slices.Contains(Assignors(), name) {
			return fmt.Errorf("consumer %s: no assignor is called %q; there are %s", c.Name, name, strings.Join(Assignors(), ", "))
		}
		if slices.Contains(c.Assignors[:i], name) {
			return fmt.Errorf("consumer %s: it has the assignor %s twice", c.Name, name)
		}
	}
	return nil
}

func (c ConsumerConfig) checkTransactional() error {
	switch {
	case c.TransactionalID == "":
	case !named(c.TransactionalID):
		return fmt.Errorf("consumer %s: no transactional id can be %q: it has 1 to 64 letters, digits, '.', '_' or '-'", c.Name, c.TransactionalID)
	case c.AutoCommitMs <= 0:
		return fmt.Errorf("consumer %s: a transactional consumer needs an interval for its commits", c.Name)
	}
	return nil
}

func (c ConsumerConfig) checkInstance() error {
	switch {
	case c.InstanceID == "":
	case !named(c.InstanceID):
		return fmt.Errorf("consumer %s: no instance can be called %q: a name has 1 to 64 letters, digits, '.', '_' or '-'", c.Name, c.InstanceID)
	case c.JoinVersion < 5:
		return fmt.Errorf("consumer %s: JoinGroup v%d cannot carry an instance id: v5 is the first that can", c.Name, c.JoinVersion)
	}
	return nil
}

func (c ConsumerConfig) checkBounds() error {
	for _, b := range []struct {
		name           string
		v, least, most int64
	}{
		{"session timeout", int64(c.SessionTimeoutMs), 1, math.MaxInt32},
		// JoinGroup waits 5 s longer, in an int32.
		{"rebalance timeout", int64(c.RebalanceTimeoutMs), 1, math.MaxInt32 - 5000},
		{"heartbeat interval", int64(c.HeartbeatMs), 1, math.MaxInt32},
		{"auto-commit interval", int64(c.AutoCommitMs), -1, math.MaxInt32},
		{"metadata age", c.MetadataMaxAgeMs, 1, math.MaxInt32},
		{"retry back-off", c.RetryBackoffMs, 1, math.MaxInt32},
		{"request timeout", c.RequestTimeoutMs, 1, math.MaxInt32},
		{"rate", int64(c.RecordsPerSecond), 1, 1_000_000},
		{"transaction timeout", int64(c.TransactionTimeoutMs), 1, math.MaxInt32},
		{"version of JoinGroup", int64(c.JoinVersion), 1, 9},
	} {
		if b.v < b.least || b.v > b.most {
			return fmt.Errorf("consumer %s: its %s is %d; it goes from %d to %d", c.Name, b.name, b.v, b.least, b.most)
		}
	}
	if c.HeartbeatMs >= c.SessionTimeoutMs {
		return fmt.Errorf("consumer %s: its heartbeat interval (%d ms) must be below its session timeout (%d ms)",
			c.Name, c.HeartbeatMs, c.SessionTimeoutMs)
	}
	return nil
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
