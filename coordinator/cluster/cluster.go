package cluster

import (
	"grouplab/coordinator/event"
	"math"
)

// Kafka's codes that a cluster answers with.
const (
	codeNone                        int16 = 0
	codeOffsetOutOfRange            int16 = 1
	codeUnknownTopicOrPartition     int16 = 3
	codeNotLeaderOrFollower         int16 = 6
	codeRequestTimedOut             int16 = 7
	codeMessageTooLarge             int16 = 10
	codeNetworkException            int16 = 13
	codeInvalidTopic                int16 = 17
	codeNotEnoughReplicas           int16 = 19
	codePreferredLeaderNotAvailable int16 = 80
	codeEligibleLeadersNotAvailable int16 = 83
	codeElectionNotNeeded           int16 = 84
	codeNoReassignmentInProgress    int16 = 85
	codeInvalidRequiredAcks         int16 = 21
	codeInvalidTimestamp            int16 = 32
	codeTopicAlreadyExists          int16 = 36
	codeInvalidPartitions           int16 = 37
	codeInvalidReplicationFactor    int16 = 38
	codeInvalidReplicaAssignment    int16 = 39
	codeInvalidConfig               int16 = 40
	codeInvalidRequest              int16 = 42
	codePolicyViolation             int16 = 44
	codeStorageError                int16 = 56
	codeFencedLeaderEpoch           int16 = 74
	codeUnknownLeaderEpoch          int16 = 75
	codeInvalidRecord               int16 = 87
	codeOffsetNotAvailable          int16 = 78
)

// Cluster is brokers, topics and their logs. It is not safe for several goroutines: one goroutine owns it.
type Cluster struct {
	cfg Config
	// nowMs is the time of the last door; it never falls.
	nowMs, startMs int64
	brokers        []broker // by id-1
	topics         []*topic // in order of creation
	byName         map[string]*topic
	partitions     []*partition // of all topics, in order of creation
	fetchers       []fetcher    // one for each follower and leader; see Cluster.fetcher
	// waiting are the partitions with appends that wait for replicas; behind counts those with a follower that is in
	// sync and has not caught up, and lagTickMs is when they are looked at, -1 where there are none.
	waiting   []int32
	behind    int
	lagTickMs int64
	// cleanTickMs is when the cleaner looks next, -1 where no log has a new segment to look at; cleaning is what is left of its
	// present round.
	cleanTickMs int64
	cleaning    []cleanJob
	// faults are for the next appends of coordinators; topicNumbers counts the topics that there ever were.
	faults       []Fault
	topicNumbers int
	// completing are reassigned partitions whose ISR has changed.
	completing []int32
	// retainTickMs is when retention is looked at next, -1 where no topic has its own.
	retainTickMs int64
	// changes counts what has changed of State.
	changes int64
	// because is the Seq of what is being asked from outside, 0 where nothing is.
	because int64
	quiet   bool
	out     Output
	spare   Output
}

// New returns a cluster whose brokers all run and which has no topic. It panics where Config.Numbers is missing.
func New(nowMs int64, cfg Config) *Cluster {
	if cfg.Numbers == nil {
		panic("cluster.New: Config.Numbers must be set")
	}
	cfg = cfg.withDefaults()
	c := &Cluster{cfg: cfg, nowMs: nowMs, startMs: nowMs, byName: map[string]*topic{}, lagTickMs: -1, cleanTickMs: -1, retainTickMs: -1, quiet: cfg.Quiet,
		brokers: make([]broker, cfg.Brokers), fetchers: make([]fetcher, cfg.Brokers*cfg.Brokers)}
	for id := int32(1); id <= cfg.Brokers; id++ {
		c.brokers[id-1] = broker{id: id, fenceAtMs: -1, state: running}
		for leader := int32(1); leader <= cfg.Brokers; leader++ {
			*c.fetcher(id, leader) = fetcher{follower: id, leader: leader, full: true, retryMs: -1, beatMs: -1}
		}
	}
	for i := range c.brokers {
		c.emitStarted(&c.brokers[i])
	}
	c.out.MetadataChanged = true
	return c
}

func (cfg Config) withDefaults() Config {
	def(&cfg.Brokers, 1)
	def(&cfg.ClusterID, "grouplab-lab-cluster-0")
	def(&cfg.OffsetsPartitions, 50)
	def(&cfg.OffsetsReplicas, int16(min(3, cfg.Brokers)))
	def(&cfg.TransactionPartitions, 50)
	def(&cfg.TransactionReplicas, int16(min(3, cfg.Brokers)))
	def(&cfg.TransactionMinInsync, 2)
	def(&cfg.DefaultPartitions, 1)
	def(&cfg.DefaultReplicas, int16(min(3, cfg.Brokers)))
	def(&cfg.MinInsyncReplicas, 1)
	def(&cfg.BrokerSessionTimeoutMs, 9000)
	def(&cfg.ReplicaLagTimeMaxMs, 30000)
	def(&cfg.ReplicaFetchWaitMaxMs, 500)
	def(&cfg.ReplicaFetchBackoffMs, 1000)
	def(&cfg.ReplicaFetchMaxBytes, 1048576)
	def(&cfg.MaxMessageBytes, 1048588)
	def(&cfg.MaxPartitions, 10000)
	def(&cfg.SegmentBytes, 16<<20)
	def(&cfg.RetentionMs, 7*24*3600*1000)
	def(&cfg.RetentionBytes, -1)
	def(&cfg.RetentionCheckMs, 300000)
	def(&cfg.OffsetsSegmentBytes, 100<<20)
	def(&cfg.CleanerBackoffMs, 15000)
	def(&cfg.MinCleanableRatio, 0.5)
	def(&cfg.DeleteRetentionMs, 24*3600*1000)
	def(&cfg.MaxCompactionLagMs, math.MaxInt64)
	if cfg.HostPort == nil {
		cfg.HostPort = defaultHostPort
	}
	return cfg
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// at notes the time of a door. A host's clock never goes back; if it does, time stands still here.
func (c *Cluster) at(nowMs int64) { c.nowMs = max(c.nowMs, nowMs) }

// emit says a fact and returns its Seq.
func (c *Cluster) emit(broker int32, group string, cause int64, body event.Body) int64 {
	switch body.(type) {
	case event.LeaderChanged, event.TopicCreated, event.TopicDeleted, event.PartitionsAdded:
		c.changes++
	}
	if cause == 0 {
		cause = c.because
	}
	seq := c.cfg.Numbers.Next()
	c.out.Events = append(c.out.Events, event.Event{Seq: seq, AtMs: c.nowMs, Broker: broker, Group: group, Cause: cause, Body: body})
	return seq
}

// Because says which event led to what is asked of the cluster next, where that carries no cause of its own: what an
// operator or a script did. 0 says that there is none.
func (c *Cluster) Because(seq int64) { c.because = seq }

// Advance tells that time has passed.
func (c *Cluster) Advance(nowMs int64) {
	c.at(nowMs)
	c.noticeKilled()
	c.releaseHeld()
	c.expireWaiting()
	if c.lagTickMs >= 0 && c.nowMs >= c.lagTickMs {
		c.shrinkLagging()
	}
	if c.cleanTickMs >= 0 && c.nowMs >= c.cleanTickMs {
		c.clean()
	}
	if c.retainTickMs >= 0 && c.nowMs >= c.retainTickMs {
		c.retainAll()
	}
}

// Take returns what has come out since the last Take.
func (c *Cluster) Take() Output {
	c.pump()
	out := c.out
	out.DeadlineMs = c.deadline()
	c.out, c.spare = c.spare.emptied(), out
	return out
}

// emptied keeps the room of slices that were given out two Takes ago.
func (o Output) emptied() Output {
	clear(o.Events) // let go of bodies, records and messages
	clear(o.Messages)
	return Output{Messages: o.Messages[:0], Appended: o.Appended[:0], Emigrations: o.Emigrations[:0], Immigrations: o.Immigrations[:0],
		TxnEmigrations: o.TxnEmigrations[:0], TxnImmigrations: o.TxnImmigrations[:0],
		Watermarks: o.Watermarks[:0], Events: o.Events[:0]}
}

// deadline is the next time at which something happens by itself.
func (c *Cluster) deadline() int64 {
	next := int64(-1)
	sooner := func(ms int64) {
		if ms >= 0 && (next < 0 || ms < next) {
			next = ms
		}
	}
	for i := range c.brokers {
		sooner(c.brokers[i].fenceAtMs)
	}
	for _, index := range c.waiting {
		sooner(c.partitions[index].firstDeadlineMs)
		sooner(c.partitions[index].heldDeadline())
	}
	sooner(c.lagTickMs)
	sooner(c.cleanTickMs)
	sooner(c.retainTickMs)
	for i := range c.fetchers {
		sooner(c.fetcherDeadline(&c.fetchers[i]))
	}
	return next
}

// SetQuiet leaves out the events of single batches (RecordsAppended, ReplicaAdvanced, HighWatermarkAdvanced) while
// nobody watches; Facts tells all of it to whoever comes.
func (c *Cluster) SetQuiet(quiet bool) { c.quiet = quiet }

// Brokers is the number of brokers, running or not.
func (c *Cluster) Brokers() int32 { return c.cfg.Brokers }

// Config tells what the cluster was made with, defaults filled in.
func (c *Cluster) Config() Config { return c.cfg }

// Clone returns a copy that goes its own way and numbers its events with n. The bytes of the logs are shared.
func (c *Cluster) Clone(n *event.Numbers) *Cluster {
	d := *c
	d.cfg.Numbers = n
	d.brokers = append([]broker(nil), c.brokers...)
	d.waiting = append([]int32(nil), c.waiting...)
	d.cleaning = append([]cleanJob(nil), c.cleaning...)
	d.completing = append([]int32(nil), c.completing...)
	d.faults = append([]Fault(nil), c.faults...)
	d.out, d.spare = c.out.copied(), Output{}
	d.byName = make(map[string]*topic, len(c.byName))
	d.topics = make([]*topic, len(c.topics))
	d.partitions = append(make([]*partition, 0, len(c.partitions)), c.partitions...)
	for i, t := range c.topics {
		copied := *t
		copied.partitions = append([]int32(nil), t.partitions...)
		d.topics[i], d.byName[t.name] = &copied, &copied
		for _, index := range t.partitions {
			d.partitions[index] = c.partitions[index].clone(&copied)
		}
	}
	d.fetchers = append([]fetcher(nil), c.fetchers...)
	for i := range d.fetchers {
		f := &d.fetchers[i]
		f.queue, f.changed = append([]int32(nil), f.queue...), append([]int32(nil), f.changed...)
	}
	return &d
}

func (o Output) copied() Output {
	o.Messages = append([]Message(nil), o.Messages...)
	o.Appended = append([]Appended(nil), o.Appended...)
	o.Emigrations = append([]Leadership(nil), o.Emigrations...)
	o.Immigrations = append([]Leadership(nil), o.Immigrations...)
	o.TxnEmigrations = append([]Leadership(nil), o.TxnEmigrations...)
	o.TxnImmigrations = append([]Leadership(nil), o.TxnImmigrations...)
	o.Watermarks = append([]Watermark(nil), o.Watermarks...)
	o.Events = append([]event.Event(nil), o.Events...)
	return o
}

func (p *partition) clone(t *topic) *partition {
	d := *p
	d.topic = t
	d.replicas = make([]replica, len(p.replicas))
	for i, r := range p.replicas {
		r.log = r.log.Clone()
		d.replicas[i] = r
	}
	d.remotes = append([]remote(nil), p.remotes...)
	d.waiters = append([]waiter(nil), p.waiters...)
	return &d
}
