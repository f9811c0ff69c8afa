package cluster

import (
	"slices"
	"strings"

	"grouplab/coordinator/log"
)

// Read reads below the high watermark, for clients (Kafka: ReplicaManager.readFromLog). An offset between the high
// watermark and the log end gives nothing; one outside of the log gives OFFSET_OUT_OF_RANGE.
func (c *Cluster) Read(r ReadRequest) ReadResult {
	result := ReadResult{HighWatermark: -1, LastStable: -1, LogStart: -1, Leader: -1, Epoch: -1}
	p, code := c.led(r.Broker, r.Topic, r.Partition, r.Epoch)
	if p != nil {
		result.Leader, result.Epoch = p.leader, p.epoch
	}
	if result.Code = code; code != codeNone {
		return result
	}
	local := p.local()
	result.HighWatermark, result.LastStable, result.LogStart = local.hw, local.log.LastStable(local.hw), local.log.StartOffset()
	if r.Offset < local.log.StartOffset() || r.Offset > local.log.EndOffset() {
		result.Code = codeOffsetOutOfRange
		return result
	}
	upTo := local.hw
	if r.Committed {
		upTo = result.LastStable
	}
	var err error
	if result.Batches, err = local.log.Read(r.Offset, upTo, r.MaxBytes, r.MinOne); err != nil {
		result.Code = codeStorageError
	}
	if r.Committed && len(result.Batches) > 0 {
		result.Aborted = local.log.Aborted(r.Offset, log.EndOf(result.Batches))
	}
	return result
}

// Leads tells whether a broker runs and leads a partition.
func (c *Cluster) Leads(broker int32, topic string, partition int32) bool {
	_, code := c.led(broker, topic, partition, -1)
	return code == codeNone
}

// OpenTransaction tells whether the log of a partition that has a leader holds an open transaction of a producer.
func (c *Cluster) OpenTransaction(topic string, partition int32, producerID int64, epoch int16) bool {
	p := c.find(topic, partition)
	return p != nil && p.leader >= 0 && p.local().log.Open(producerID, epoch)
}

// ActiveProducers lists the producers that a broker's log of a partition remembers (KIP-664). As in Kafka, followers
// answer too.
func (c *Cluster) ActiveProducers(broker int32, topic string, partition int32) (list []log.ProducerState, code int16) {
	p := c.find(topic, partition)
	if p == nil {
		return nil, codeUnknownTopicOrPartition
	}
	at := p.at(broker)
	if at < 0 || !c.Running(broker) {
		return nil, codeNotLeaderOrFollower
	}
	return p.replicas[at].log.Active(), codeNone
}

// ReadLog reads up to the log end, for the broker's own coordinator: whole batches from the one that holds offset, about
// maxBytes, at least one. ok is false where the broker does not lead the partition, or the offset is not in its log.
func (c *Cluster) ReadLog(broker int32, topic string, partition int32, offset int64, maxBytes int) (batches []byte, endOffset int64, ok bool) {
	p, code := c.led(broker, topic, partition, -1)
	if code != codeNone {
		return nil, -1, false
	}
	l := p.local().log
	offset = max(offset, l.StartOffset())
	if offset > l.EndOffset() {
		return nil, -1, false
	}
	batches, err := l.Read(offset, l.EndOffset(), maxBytes, true)
	return batches, l.EndOffset(), err == nil
}

// ListOffset finds an offset by time, or one of Latest, Earliest, MaxTimestamp. epoch -1: the client has none. Right
// after an election the latest offset may not be known yet: OFFSET_NOT_AVAILABLE (KIP-207).
func (c *Cluster) ListOffset(broker int32, topic string, partition, epoch int32, timestampMs int64) ListedOffset {
	return c.listOffset(broker, topic, partition, epoch, timestampMs, false)
}

// ListCommitted is ListOffset for a reader of committed records: what counts ends at the last stable offset.
func (c *Cluster) ListCommitted(broker int32, topic string, partition, epoch int32, timestampMs int64) ListedOffset {
	return c.listOffset(broker, topic, partition, epoch, timestampMs, true)
}

func (c *Cluster) listOffset(broker int32, topic string, partition, epoch int32, timestampMs int64, committed bool) ListedOffset {
	none := ListedOffset{Offset: -1, TimestampMs: -1, LeaderEpoch: -1}
	p, code := c.led(broker, topic, partition, epoch)
	if none.Code = code; code != codeNone {
		return none
	}
	local := p.local()
	upTo := local.hw
	if committed {
		upTo = local.log.LastStable(local.hw)
	}
	var offset, foundMs int64
	var ok bool
	var err error
	switch {
	case timestampMs == Latest:
		if local.hw < p.epochStart {
			none.Code = codeOffsetNotAvailable
			return none
		}
		return ListedOffset{Offset: upTo, TimestampMs: -1, LeaderEpoch: p.epoch}
	case timestampMs == Earliest:
		start := local.log.StartOffset()
		return ListedOffset{Offset: start, TimestampMs: -1, LeaderEpoch: local.log.EpochAt(start)}
	case timestampMs == MaxTimestamp:
		offset, foundMs, ok, err = local.log.Newest(c.cfg.Decompress)
		ok = ok && offset < upTo
	case timestampMs < 0:
		none.Code = codeInvalidRequest
		return none
	default:
		offset, foundMs, ok, err = local.log.OffsetForTime(timestampMs, upTo, c.cfg.Decompress)
	}
	switch {
	case err != nil:
		none.Code = codeStorageError
		return none
	case !ok && local.hw < p.epochStart:
		none.Code = codeOffsetNotAvailable
		return none
	case !ok:
		return none
	}
	return ListedOffset{Offset: offset, TimestampMs: foundMs, LeaderEpoch: local.log.EpochAt(offset)}
}

// EpochEnd answers OffsetForLeaderEpoch (KIP-101, KIP-320): the largest epoch up to the asked one, and where it ended.
func (c *Cluster) EpochEnd(broker int32, topic string, partition, currentEpoch, epoch int32) (endEpoch int32, endOffset int64, code int16) {
	p, code := c.led(broker, topic, partition, currentEpoch)
	if code != codeNone {
		return -1, -1, code
	}
	endEpoch, endOffset = p.local().log.EpochEnd(epoch)
	return endEpoch, endOffset, codeNone
}

// controllerOf is the first of the brokers that runs, -1 where there are none.
func (c *Cluster) controllerOf(brokers []BrokerInfo) int32 {
	controller := int32(-1)
	for _, b := range brokers {
		if controller < 0 || (!c.Running(controller) && c.Running(b.ID)) {
			controller = b.ID
		}
	}
	return controller
}

// MetadataOf tells what brokers know of the cluster and of one topic each; topics that are not there are left out.
func (c *Cluster) MetadataOf(topics []string) Metadata {
	m := Metadata{ClusterID: c.cfg.ClusterID, Brokers: c.Listed()}
	m.Controller = c.controllerOf(m.Brokers)
	for _, name := range topics {
		if t := c.byName[name]; t != nil {
			m.Topics = append(m.Topics, c.info(t))
		}
	}
	return m
}

// Metadata tells everything that brokers know. MetadataOf, TopicNames, Topic and TopicByID are cheaper.
func (c *Cluster) Metadata() Metadata {
	m := Metadata{ClusterID: c.cfg.ClusterID, Brokers: c.Listed()}
	m.Controller = c.controllerOf(m.Brokers)
	for _, name := range c.TopicNames() {
		m.Topics = append(m.Topics, c.info(c.byName[name]))
	}
	return m
}

// Listed are the brokers that the controller takes for alive.
func (c *Cluster) Listed() []BrokerInfo {
	var list []BrokerInfo
	for i := range c.brokers {
		if b := &c.brokers[i]; b.listed() {
			host, port := c.cfg.HostPort(b.id)
			list = append(list, BrokerInfo{b.id, host, port})
		}
	}
	return list
}

// TopicNames lists the topics, sorted.
func (c *Cluster) TopicNames() []string {
	names := make([]string, 0, len(c.topics))
	for _, t := range c.topics {
		names = append(names, t.name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

// Topic tells of one topic.
func (c *Cluster) Topic(name string) (TopicInfo, bool) {
	t := c.byName[name]
	if t == nil {
		return TopicInfo{}, false
	}
	return c.info(t), true
}

func (c *Cluster) info(t *topic) TopicInfo {
	info := TopicInfo{Name: t.name, ID: t.id, Internal: t.internal, Configs: slices.Clone(t.configs),
		Partitions: make([]PartitionInfo, len(t.partitions))}
	total := 0
	for _, index := range t.partitions {
		p := c.partitions[index]
		total += 2*len(p.replicas) + len(p.isr)
	}
	ids := make([]int32, 0, total) // all lists of brokers lie in one
	list := func(from int) []int32 { return ids[from:len(ids):len(ids)] }
	for i, index := range t.partitions {
		p := c.partitions[index]
		part := &info.Partitions[i]
		part.Partition, part.Leader, part.Epoch = p.number, p.leader, p.epoch
		from := len(ids)
		for j := range p.replicas {
			ids = append(ids, p.replicas[j].broker)
		}
		part.Replicas = list(from)
		from = len(ids)
		ids = append(ids, p.isr...)
		part.ISR = list(from)
		from = len(ids)
		for _, id := range part.Replicas {
			if !c.broker(id).listed() {
				ids = append(ids, id)
			}
		}
		if len(ids) > from {
			part.Offline = list(from)
		}
	}
	return info
}

// TopicByID finds a topic's name.
func (c *Cluster) TopicByID(id [16]byte) (name string, ok bool) {
	for _, t := range c.topics {
		if t.id == id {
			return t.name, true
		}
	}
	return "", false
}

// Partitions is a topic's number of partitions, 0 where there is no such topic.
func (c *Cluster) Partitions(topic string) int32 {
	if t := c.byName[topic]; t != nil {
		return int32(len(t.partitions))
	}
	return 0
}

// Leader tells the leader and epoch of a partition; ok is false where there is no such partition.
func (c *Cluster) Leader(topic string, partition int32) (leader, epoch int32, ok bool) {
	p := c.find(topic, partition)
	if p == nil {
		return -1, -1, false
	}
	return p.leader, p.epoch, true
}

// LedSeq is the Seq of the LeaderChanged that began a partition's epoch, 0 where there is no such partition.
func (c *Cluster) LedSeq(topic string, partition int32) int64 {
	p := c.find(topic, partition)
	if p == nil {
		return 0
	}
	return p.ledSeq
}

// ReplicaInfo is one broker's copy of a partition.
type ReplicaInfo struct {
	Broker                                int32
	InSync, Leader                        bool
	StartOffset, EndOffset, HighWatermark int64
	Bytes                                 int64
}

// Replicas tells of a partition's copies, in order of preference; nil where there is no such partition.
func (c *Cluster) Replicas(topic string, partition int32) []ReplicaInfo {
	p := c.find(topic, partition)
	if p == nil {
		return nil
	}
	var list []ReplicaInfo
	for i := range p.replicas {
		r := &p.replicas[i]
		list = append(list, ReplicaInfo{r.broker, p.inSync(r.broker), r.broker == p.leader, r.log.StartOffset(), r.log.EndOffset(), r.hw, r.log.Size()})
	}
	return list
}
