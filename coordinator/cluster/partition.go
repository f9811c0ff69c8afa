package cluster

import (
	"math"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// topic is a topic and the settings that matter here.
type topic struct {
	number     int // in order of creation, from 0
	name       string
	id         [16]byte
	internal   bool
	partitions []int32 // indexes in Cluster.partitions
	configs    []TopicConfig

	minInsync                           int16
	maxMessageBytes, segmentBytes       int
	segmentMs                           int64
	retentionMs, retentionBytes         int64
	timestampAfterMs, timestampBeforeMs int64
	// stamps: records get the leader's time (message.timestamp.type); unclean: a replica that is not in sync may lead
	// where no other is alive (unclean.leader.election.enable).
	stamps, unclean bool
	// compacted and deletes are what cleanup.policy says; the rest is for compaction.
	compacted, deletes                    bool
	minDirtyRatio                         float64
	deleteRetentionMs, minLagMs, maxLagMs int64
}

// partition is the controller's view of a partition, its replicas, and what its leader knows.
type partition struct {
	topic  *topic
	number int32
	index  int32
	// leader is -1 where there is none. isr is in the order of the replicas and is replaced, never changed.
	leader, epoch int32
	isr           []int32
	replicas      []replica
	// adding and removing are the replicas that come and go while the partition is reassigned; they are replaced, never
	// changed.
	adding, removing []int32

	// The rest is the leader's, made anew in each epoch. remotes are in the order of the replicas; the leader's own is
	// not used. epochStart is the log end at which the epoch began.
	remotes    []remote
	epochStart int64
	// waiters are appends that wait for the replicas, by offset; firstDeadlineMs is the soonest of theirs, -1 without.
	waiters         []waiter
	firstDeadlineMs int64
	// behind is set while an in-sync follower has not caught up.
	behind bool
	// toClean is set while the cleaner should look at it.
	toClean bool
	// shownHW is what HighWatermarkAdvanced said last. A new leader's may be lower for a moment (KIP-207).
	shownHW int64
	// lastAppend is the Seq of the newest RecordsAppended: the cause of what followers do with it.
	lastAppend int64
	// ledSeq is the Seq of the LeaderChanged that began the epoch.
	ledSeq int64
}

// replica is a partition's log on one broker.
type replica struct {
	broker int32
	log    *log.Log
	// hw is the high watermark as this broker knows it.
	hw int64
	// source is the leader that this broker fetches from, 0 where it leads, does not run or nobody leads.
	source int32
	// queued is set while the partition is to be named in the next fetch, with advanced as the cause.
	queued   bool
	advanced int64
	// unkept is set while the fetcher waits for the disk to keep what is here, with advanced as the cause: a fetch tells the
	// leader how far the follower is.
	unkept bool
	// failed is set from when its disk failed until it follows again: nobody waits for it meanwhile.
	failed bool
}

// remote is what a leader knows of a follower (Kafka: ReplicaState).
type remote struct {
	// end is the follower's log end, as its last fetch told; -1 before its first one in this epoch.
	end int64
	// leaderEnd and fetchedMs are the leader's log end and the time at the last fetch.
	leaderEnd, fetchedMs int64
	// caughtUpMs is the last time at which the follower had everything.
	caughtUpMs int64
	// listed is set while the partition is in the fetcher's list of news.
	listed bool
	// trouble is what the leader found wrong with the follower's last fetch; it is told in the answer.
	trouble trouble
}

// never is a time that was long ago.
const never = math.MinInt64 / 2

type troubleKind int8

const (
	fine troubleKind = iota
	diverging
	outOfRange
)

// trouble says that the follower's log, which ends at asked, does not fit to the leader's: where it parts from it, epoch
// and end are the largest epoch that both know and its end at the leader.
type trouble struct {
	kind       troubleKind
	epoch      int32
	end, asked int64
}

// waiter is an append with acks -1 that waits until the high watermark reaches its end, and behind those before it.
type waiter struct {
	end, deadlineMs int64
	// own: it waits for the leader's own disk alone.
	own    bool
	result Appended
	// heldUntilMs is until when a Fault keeps its answer back, 0 where none does.
	heldUntilMs int64
}

// at is the place of a broker's replica, -1 where it has none.
func (p *partition) at(broker int32) int {
	for i := range p.replicas {
		if p.replicas[i].broker == broker {
			return i
		}
	}
	return -1
}

// local is the leader's replica. It panics where there is no leader.
func (p *partition) local() *replica { return &p.replicas[p.at(p.leader)] }

func (p *partition) inSync(broker int32) bool { return slices.Contains(p.isr, broker) }

func (p *partition) ids() []int32 {
	ids := make([]int32, len(p.replicas))
	for i := range p.replicas {
		ids[i] = p.replicas[i].broker
	}
	return ids
}

// minInsync is min.insync.replicas, but not more than there are replicas (Kafka: effectiveMinIsr).
func (p *partition) minInsync() int { return min(int(p.topic.minInsync), len(p.replicas)) }

func (p *partition) changed() event.LeaderChanged {
	return event.LeaderChanged{Topic: p.topic.name, Partition: p.number, Leader: p.leader, Epoch: p.epoch,
		Replicas: p.ids(), ISR: slices.Clone(p.isr)}
}

// find returns a partition, or nil.
func (c *Cluster) find(name string, number int32) *partition {
	t := c.byName[name]
	if t == nil || number < 0 || int(number) >= len(t.partitions) {
		return nil
	}
	return c.partitions[t.partitions[number]]
}

// led returns a partition that a broker leads in the epoch that the caller has in mind, or Kafka's code.
func (c *Cluster) led(broker int32, name string, number, epoch int32) (*partition, int16) {
	p := c.find(name, number)
	switch {
	case p == nil:
		return nil, codeUnknownTopicOrPartition
	case epoch >= 0 && epoch < p.epoch:
		return p, codeFencedLeaderEpoch
	case epoch >= 0 && epoch > p.epoch:
		return p, codeUnknownLeaderEpoch
	case p.leader != broker || !c.Running(broker):
		return p, codeNotLeaderOrFollower
	}
	return p, codeNone
}
