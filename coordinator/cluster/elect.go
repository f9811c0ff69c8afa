package cluster

import (
	"fmt"
	"slices"
)

// Elect has the controller elect a leader as an operator asks (Kafka: ReplicationControlManager.electLeader, KIP-460): the
// preferred one, which is the first replica, or, where nobody leads and unclean is set, any replica that runs, whatever it
// lacks. The code is Kafka's: 3 for no such partition, 84 where there is nothing to do, 80 where the preferred replica is
// not in sync or not alive, 83 where no replica is alive.
func (c *Cluster) Elect(nowMs int64, topic string, partition int32, unclean bool) (code int16, message string) {
	c.at(nowMs)
	p := c.find(topic, partition)
	switch {
	case p == nil:
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no partition %s-%d", topic, partition)
	case unclean && p.leader >= 0, !unclean && p.leader == p.replicas[0].broker:
		return codeElectionNotNeeded, fmt.Sprintf("%s-%d has its leader", topic, partition)
	case unclean:
		return c.electAny(p)
	}
	first := p.replicas[0].broker
	if !p.inSync(first) || !c.broker(first).listed() {
		return codePreferredLeaderNotAvailable, fmt.Sprintf("broker %d, the preferred leader of %s-%d, is not in sync or not alive", first, topic, partition)
	}
	c.lead(p, first, p.isr, 0)
	return codeNone, ""
}

// electAny gives a partition without a leader to a replica that is alive: one in sync if there is one, else the first, whose
// log is the truth from then on.
func (c *Cluster) electAny(p *partition) (code int16, message string) {
	chosen := int32(-1)
	for i := range p.replicas {
		id := p.replicas[i].broker
		if !c.broker(id).listed() {
			continue
		}
		if p.inSync(id) {
			c.lead(p, id, p.isr, 0)
			return codeNone, ""
		}
		if chosen < 0 {
			chosen = id
		}
	}
	if chosen < 0 {
		return codeEligibleLeadersNotAvailable, fmt.Sprintf("no replica of %s-%d is alive", p.topic.name, p.number)
	}
	r := &p.replicas[p.at(chosen)]
	r.hw = min(r.hw, r.log.EndOffset())
	c.lead(p, chosen, []int32{chosen}, 0)
	return codeNone, ""
}

// DeleteRecords makes an offset the first one that is kept of a partition, on all of its replicas that run; the others
// follow when they are back. -1 stands for the high watermark. It returns the partition's new start (Kafka:
// Partition.deleteRecordsOnLeader, whose caller waits until the last follower has heard of it). The code is Kafka's: 1
// beyond the high watermark, 17 for an internal topic, 44 where cleanup.policy does not delete.
func (c *Cluster) DeleteRecords(nowMs int64, broker int32, topic string, partition int32, offset int64) (start int64, code int16) {
	c.at(nowMs)
	p, code := c.led(broker, topic, partition, -1)
	switch {
	case p != nil && p.topic.internal:
		return -1, codeInvalidTopic
	case code != codeNone:
		return -1, code
	case !p.topic.deletes:
		return -1, codePolicyViolation
	}
	local := p.local()
	if offset == -1 {
		offset = local.hw
	}
	if offset < 0 || offset > local.hw {
		return -1, codeOffsetOutOfRange
	}
	if err := local.log.DeleteBefore(offset); err != nil {
		return -1, codeStorageError
	}
	start = local.log.StartOffset()
	for i := range p.replicas {
		if r := &p.replicas[i]; r.broker != p.leader && c.Running(r.broker) {
			c.followStart(r, start)
		}
	}
	c.out.Watermarks = append(c.out.Watermarks, Watermark{p.leader, p.topic.name, p.number, local.hw}) // who waits below the start is told
	return start, codeNone
}

// AddPartitionsAt is AddPartitions with the new partitions placed by hand: the replicas of each, the preferred leader
// first.
func (c *Cluster) AddPartitionsAt(nowMs int64, name string, total int32, places [][]int32) (code int16, message string) {
	if places == nil {
		return c.AddPartitions(nowMs, name, total)
	}
	c.at(nowMs)
	t := c.byName[name]
	if t == nil {
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no topic %q", name)
	}
	have := int32(len(t.partitions))
	switch {
	case total <= have:
		return codeInvalidPartitions, fmt.Sprintf("%s has %d partitions already; the new number must be larger than that, not %d", name, have, total)
	case int(total-have) != len(places):
		return codeInvalidReplicaAssignment, fmt.Sprintf("%d partitions are new, and %d are placed by hand", total-have, len(places))
	}
	places, code, message = c.placed(TopicSpec{Partitions: -1, Replicas: -1, Assignment: places})
	if want := len(c.partitions[t.partitions[0]].replicas); code == codeNone && len(places[0]) != want {
		return codeInvalidReplicaAssignment, fmt.Sprintf("the partitions of %s have %d replicas, not %d", name, want, len(places[0]))
	}
	if code != codeNone {
		return code, message
	}
	c.out.MetadataChanged = true
	c.add(t, places, c.emit(0, "", 0, added(name, have, total)))
	return codeNone, ""
}

// isrWithout is the ISR without some brokers.
func (p *partition) isrWithout(gone []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(p.isr), func(id int32) bool { return slices.Contains(gone, id) })
}
