package cluster

import "fmt"

// MoveLeader makes another in-sync replica the leader of a partition, in a new epoch, as an operator would (Kafka: a
// reassignment that puts it first, then a preferred election). A broker that is not in sync, or not running, cannot lead:
// what it lacks would be lost. The leader that there is already is no error and changes nothing.
func (c *Cluster) MoveLeader(nowMs int64, topic string, partition, to int32) (code int16, message string) {
	c.at(nowMs)
	p := c.find(topic, partition)
	switch {
	case p == nil:
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no partition %s-%d", topic, partition)
	case p.at(to) < 0:
		return codeInvalidReplicaAssignment, fmt.Sprintf("broker %d has no replica of %s-%d", to, topic, partition)
	case !p.inSync(to) || !c.Running(to):
		return codeEligibleLeadersNotAvailable, fmt.Sprintf("broker %d is not in sync with %s-%d; only a replica that is can lead it", to, topic, partition)
	case p.leader != to:
		c.lead(p, to, p.isr, 0)
	}
	return codeNone, ""
}
