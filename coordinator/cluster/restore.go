package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// Disk is where a host keeps the logs of its brokers. Without one they are in memory and end with the cluster.
type Disk interface {
	// New gives the log of a replica that begins empty.
	New(at log.Replica, cfg log.Config) *log.Log
	// Open gives the log of a replica that was there before, and the high watermark that was noted of it last.
	Open(at log.Replica, cfg log.Config) (l *log.Log, highWatermark int64, err error)
	// Remove forgets a replica with all that it holds.
	Remove(at log.Replica)
}

// State is what a controller knows and what must outlive it (Kafka: the metadata log). Logs are not in it.
type State struct {
	ClusterID string
	// TopicNumbers counts the topics that there ever were.
	TopicNumbers int
	Topics       []TopicState // in order of creation
}

// TopicState is a topic in State.
type TopicState struct {
	Name       string
	ID         [16]byte
	Number     int
	Configs    []TopicConfig
	Partitions []PartitionState
}

// PartitionState is a partition in State.
type PartitionState struct {
	Leader, Epoch                   int32
	Replicas, ISR, Adding, Removing []int32
}

// Changes counts what has changed in State. A host that keeps it on disk looks here after each door.
func (c *Cluster) Changes() int64 { return c.changes }

// State tells what a controller knows.
func (c *Cluster) State() State {
	s := State{ClusterID: c.cfg.ClusterID, TopicNumbers: c.topicNumbers}
	for _, t := range c.topics {
		topic := TopicState{Name: t.name, ID: t.id, Number: t.number, Configs: slices.Clone(t.configs)}
		for _, index := range t.partitions {
			p := c.partitions[index]
			topic.Partitions = append(topic.Partitions, PartitionState{p.leader, p.epoch, p.ids(), slices.Clone(p.isr), slices.Clone(p.adding), slices.Clone(p.removing)})
		}
		s.Topics = append(s.Topics, topic)
	}
	return s
}

// Restore gives a new cluster, in which all brokers run, the topics of an earlier one whose logs are on Config.Disk. An
// error says what is wrong with the state or with a log; the cluster is of no use then.
//
// Every partition gets a leader in a new epoch: the replica whose log reaches farthest, by the epoch of its last record and
// then by its end. No acknowledged record is lost by that even where the state on disk is older than the logs: the leader
// of the newest epoch began with all of them, and nobody has more of that epoch than its leader. Those with an equal log
// and a place in the ISR stay in it; the others fetch what they lack and come back.
func (c *Cluster) Restore(nowMs int64, s State) error {
	c.at(nowMs)
	if err := c.checkState(s); err != nil {
		return err
	}
	c.cfg.ClusterID, c.topicNumbers = s.ClusterID, s.TopicNumbers
	for i := range s.Topics {
		if err := c.restoreTopic(&s.Topics[i]); err != nil {
			return err
		}
	}
	c.out.MetadataChanged = true
	c.setRetainTick()
	return nil
}

// NextProducerID is larger than every producer id in a log.
func (c *Cluster) NextProducerID() (next int64) {
	for _, p := range c.partitions {
		for i := range p.replicas {
			if active := p.replicas[i].log.Active(); len(active) > 0 {
				next = max(next, active[len(active)-1].ProducerID+1)
			}
		}
	}
	return next
}

func (c *Cluster) restoreTopic(from *TopicState) error {
	t := &topic{number: from.Number, name: from.Name, id: from.ID, internal: from.Name == OffsetsTopic || from.Name == TransactionTopic, configs: slices.Clone(from.Configs)}
	if code, message := c.configure(t); code != codeNone {
		return fmt.Errorf("topic %s: %s", t.name, message)
	}
	c.topics = append(c.topics, t)
	c.byName[t.name] = t
	seq := c.emit(0, "", 0, event.TopicCreated{Topic: t.name, Partitions: int32(len(from.Partitions)), Replicas: int16(len(from.Partitions[0].Replicas)), Internal: t.internal})
	for number := range from.Partitions {
		if err := c.restorePartition(t, int32(number), &from.Partitions[number], seq); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) restorePartition(t *topic, number int32, from *PartitionState, cause int64) error {
	p := &partition{topic: t, number: number, index: int32(len(c.partitions)), leader: -1, epoch: from.Epoch, firstDeadlineMs: -1,
		adding: slices.Clone(from.Adding), removing: slices.Clone(from.Removing)}
	for _, id := range from.Replicas {
		l, hw, err := c.cfg.Disk.Open(log.Replica{Broker: id, Topic: t.name, TopicID: t.id, Partition: number}, t.logConfig())
		if err != nil {
			return fmt.Errorf("%s-%d on broker %d: %w", t.name, number, id, err)
		}
		p.replicas = append(p.replicas, replica{broker: id, log: l, hw: min(max(hw, l.StartOffset()), l.EndOffset())})
		p.epoch = max(p.epoch, l.LatestEpoch())
		if t.compacted && l.Closed() > 0 {
			c.wantsCleaning(p)
		}
	}
	c.partitions = append(c.partitions, p)
	t.partitions = append(t.partitions, p.index)
	leader := p.farthest(from.Leader, from.ISR)
	isr := []int32{}
	for i := range p.replicas {
		r := &p.replicas[i]
		if id := r.broker; id == leader || slices.Contains(from.ISR, id) && r.compare(&p.replicas[p.at(leader)]) == 0 {
			isr = append(isr, id)
		}
	}
	p.shownHW = p.replicas[p.at(leader)].hw
	c.lead(p, leader, isr, cause)
	if p.reassigning() {
		c.completing = append(c.completing, p.index)
	}
	return nil
}

// compare tells which of two logs reaches farther: below zero where the other one does.
func (r *replica) compare(o *replica) int {
	if mine, other := r.log.EpochAt(r.log.EndOffset()-1), o.log.EpochAt(o.log.EndOffset()-1); mine != other {
		return int(mine) - int(other)
	}
	switch mine, other := r.log.EndOffset(), o.log.EndOffset(); {
	case mine < other:
		return -1
	case mine > other:
		return 1
	}
	return 0
}

// farthest is the replica whose log reaches farthest; among equals the leader that there was, then one of the ISR, then the
// first.
func (p *partition) farthest(leader int32, isr []int32) int32 {
	rank := func(r *replica) int {
		switch {
		case r.broker == leader:
			return 2
		case slices.Contains(isr, r.broker):
			return 1
		}
		return 0
	}
	best := &p.replicas[0]
	for i := range p.replicas {
		r := &p.replicas[i]
		if order := r.compare(best); order > 0 || order == 0 && rank(r) > rank(best) {
			best = r
		}
	}
	return best.broker
}

// checkState finds what a state of an earlier cluster says that cannot be.
func (c *Cluster) checkState(s State) error {
	names, ids := map[string]bool{}, map[[16]byte]bool{}
	switch {
	case c.cfg.Disk == nil:
		panic("cluster.Restore: Config.Disk must be set")
	case len(c.topics) > 0:
		panic("cluster.Restore: there are topics already")
	case s.ClusterID == "":
		return fmt.Errorf("it has no cluster id")
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		if code, message := c.checkName(t.Name); code != codeNone {
			return fmt.Errorf("topic %d: %s", i, message)
		}
		switch {
		case names[t.Name] || ids[t.ID]:
			return fmt.Errorf("topic %s, or its id, is there twice", t.Name)
		case t.ID == [16]byte{}:
			return fmt.Errorf("topic %s has no id", t.Name)
		case t.Number < 0 || t.Number >= s.TopicNumbers:
			return fmt.Errorf("topic %s has number %d, where %d topics were made", t.Name, t.Number, s.TopicNumbers)
		case len(t.Partitions) == 0:
			return fmt.Errorf("topic %s has no partition", t.Name)
		}
		names[t.Name], ids[t.ID] = true, true
		for number := range t.Partitions {
			if err := c.checkPartition(&t.Partitions[number]); err != nil {
				return fmt.Errorf("%s-%d: %w", t.Name, number, err)
			}
		}
	}
	return nil
}

func (c *Cluster) checkPartition(p *PartitionState) error {
	const mostEpoch = 1 << 30
	if len(p.Replicas) == 0 {
		return fmt.Errorf("it has no replica")
	}
	for i, id := range p.Replicas {
		switch {
		case id < 1 || slices.Contains(p.Replicas[:i], id):
			return fmt.Errorf("its replicas are %v", p.Replicas)
		case id > c.cfg.Brokers:
			return fmt.Errorf("it has a replica on broker %d, and there are %d brokers now", id, c.cfg.Brokers)
		}
	}
	for _, list := range [][]int32{p.ISR, p.Adding, p.Removing} {
		for _, id := range list {
			if !slices.Contains(p.Replicas, id) {
				return fmt.Errorf("broker %d is named, and the replicas are %v", id, p.Replicas)
			}
		}
	}
	if p.Epoch < 0 || p.Epoch > mostEpoch || p.Leader != -1 && !slices.Contains(p.Replicas, p.Leader) {
		return fmt.Errorf("broker %d leads it in epoch %d, and the replicas are %v", p.Leader, p.Epoch, p.Replicas)
	}
	return nil
}

// EachReplica tells the high watermark of every replica, as its broker knows it.
func (c *Cluster) EachReplica(visit func(at log.Replica, highWatermark int64)) {
	for _, p := range c.partitions {
		for i := range p.replicas {
			r := &p.replicas[i]
			visit(log.Replica{Broker: r.broker, Topic: p.topic.name, TopicID: p.topic.id, Partition: p.number}, r.hw)
		}
	}
}

// newLog is the empty log of a new replica.
func (c *Cluster) newLog(t *topic, broker, partition int32) *log.Log {
	if c.cfg.Disk != nil {
		return c.cfg.Disk.New(log.Replica{Broker: broker, Topic: t.name, TopicID: t.id, Partition: partition}, t.logConfig())
	}
	return log.New(log.NewMemory(), t.logConfig())
}

func (t *topic) logConfig() log.Config {
	segmentMs := t.segmentMs
	if t.compacted { // so that max.compaction.lag.ms is kept where little is written (LogConfig.maxSegmentMs)
		segmentMs = min(segmentMs, t.maxLagMs)
	}
	return log.Config{SegmentBytes: t.segmentBytes, SegmentMs: segmentMs}
}

// forget drops the log of a replica that is none any more.
func (c *Cluster) forget(p *partition, broker int32) {
	if c.cfg.Disk != nil {
		c.cfg.Disk.Remove(log.Replica{Broker: broker, Topic: p.topic.name, TopicID: p.topic.id, Partition: p.number})
	}
}
