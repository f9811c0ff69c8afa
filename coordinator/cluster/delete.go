package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

// deleted stands in the place of the partitions of deleted topics, whose indexes may still be on the wire. It has no
// replicas, so whoever looks passes it over.
var deleted = &partition{topic: &topic{}, number: -1, index: -1, leader: -1, epoch: -1, firstDeadlineMs: -1}

// DeleteTopic removes a topic with all its data. Appends that wait there are answered UNKNOWN_TOPIC_OR_PARTITION. The
// code is Kafka's: 3 where there is no such topic; 42 for an internal one, which Kafka lets an administrator delete and
// which is the ground that the coordinators here stand on.
func (c *Cluster) DeleteTopic(nowMs int64, name string) (code int16, message string) {
	c.at(nowMs)
	t := c.byName[name]
	switch {
	case t == nil:
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no topic %q", name)
	case t.internal:
		return codeInvalidRequest, fmt.Sprintf("%s is internal: the coordinators keep their state in it", name)
	}
	for _, index := range t.partitions {
		p := c.partitions[index]
		c.giveUp(p, codeUnknownTopicOrPartition, fmt.Sprintf("topic %s was deleted", name))
		for i := range p.replicas {
			if r := &p.replicas[i]; r.source != 0 {
				c.leave(r)
			}
			c.forget(p, p.replicas[i].broker)
		}
		if p.behind {
			c.behind--
		}
		c.partitions[index] = deleted
	}
	c.setLagTick()
	c.topics = slices.DeleteFunc(c.topics, func(o *topic) bool { return o == t })
	delete(c.byName, name)
	c.out.MetadataChanged = true
	c.emit(0, "", 0, event.TopicDeleted{Topic: name})
	return codeNone, ""
}
