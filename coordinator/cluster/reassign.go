package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

// Reassignment is a partition that is on its way to other brokers (KIP-455): until all of Adding are in sync, both the old
// and the new replicas have it.
type Reassignment struct {
	Topic                      string
	Partition                  int32
	Replicas, Adding, Removing []int32
}

func added(name string, from, to int32) event.Body {
	return event.PartitionsAdded{Topic: name, From: from, To: to}
}

// Reassign gives a partition to other brokers, the preferred leader first; nil ends a reassignment that is under way and
// goes back. mayResize allows another number of replicas. The code is Kafka's: 3 for no such partition, 38 and 39 for a
// wrong list, 85 where there is nothing to end (ReplicationControlManager.alterPartitionReassignments).
func (c *Cluster) Reassign(nowMs int64, topic string, partition int32, to []int32, mayResize bool) (code int16, message string) {
	c.at(nowMs)
	p := c.find(topic, partition)
	switch {
	case p == nil:
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no partition %s-%d", topic, partition)
	case to == nil && !p.reassigning():
		return codeNoReassignmentInProgress, fmt.Sprintf("%s-%d is not being reassigned", topic, partition)
	case to == nil:
		return c.revert(p)
	}
	if code, message = c.checkTarget(p, to, mayResize); code != codeNone {
		return code, message
	}
	have := p.ids()
	p.adding = without(to, have)
	p.removing = without(have, to)
	c.setReplicas(p, append(slices.Clone(to), p.removing...))
	c.out.MetadataChanged = true
	c.emit(0, "", 0, p.changed())
	c.completing = append(c.completing, p.index)
	return codeNone, ""
}

func (c *Cluster) checkTarget(p *partition, to []int32, mayResize bool) (code int16, message string) {
	if len(to) == 0 {
		return codeInvalidReplicaAssignment, "the list of replicas is empty"
	}
	for i, id := range to {
		switch {
		case id < 1 || id > c.cfg.Brokers:
			return codeInvalidReplicaAssignment, fmt.Sprintf("broker %d is not there", id)
		case slices.Contains(to[:i], id):
			return codeInvalidReplicaAssignment, fmt.Sprintf("the list names broker %d twice", id)
		}
	}
	if now := len(p.replicas) - len(p.adding); !mayResize && len(to) != now {
		return codeInvalidReplicationFactor, fmt.Sprintf("%s-%d has %d replicas, not %d, and the request does not allow a change of that", p.topic.name, p.number, now, len(to))
	}
	return codeNone, ""
}

// revert ends a reassignment: the replicas that were being added go.
func (c *Cluster) revert(p *partition) (code int16, message string) {
	isr := p.isrWithout(p.adding)
	if len(isr) == 0 {
		return codeInvalidReplicaAssignment, "none of the old replicas is in sync: going back would lose what the new ones have"
	}
	back := without(p.ids(), p.adding)
	c.settleReplicas(p, back, isr)
	return codeNone, ""
}

func (p *partition) reassigning() bool { return len(p.adding)+len(p.removing) > 0 }

// completeReassignments ends those whose new replicas are all in sync (PartitionReassignmentReplicas).
func (c *Cluster) completeReassignments() {
	waiting := c.completing
	c.completing = nil
	for _, index := range waiting {
		p := c.partitions[index]
		if !p.reassigning() || len(without(p.adding, p.isr)) > 0 {
			continue
		}
		if isr := p.isrWithout(p.removing); len(isr) > 0 {
			c.settleReplicas(p, without(p.ids(), p.removing), isr)
		}
	}
}

// settleReplicas ends a reassignment with these replicas. Where some go, the leader epoch rises, so that nobody takes a
// fetch of theirs for one of the present.
func (c *Cluster) settleReplicas(p *partition, ids, isr []int32) {
	fewer := len(ids) < len(p.replicas)
	leader := p.leader
	if !slices.Contains(ids, leader) {
		leader = -1
		for _, id := range ids {
			if leader < 0 && slices.Contains(isr, id) && c.broker(id).listed() {
				leader = id
			}
		}
	}
	p.adding, p.removing = nil, nil
	if fewer && leader != p.leader && p.leader >= 0 && c.Running(p.leader) {
		c.resign(p)
	}
	c.setReplicas(p, ids)
	if fewer {
		c.lead(p, leader, isr, 0)
		return
	}
	c.emit(0, "", 0, p.changed())
	c.out.MetadataChanged = true
}

// setReplicas changes which brokers have a copy. Those that stay keep theirs, new ones begin empty.
func (c *Cluster) setReplicas(p *partition, ids []int32) {
	var replicas []replica
	var remotes []remote
	for _, id := range ids {
		if i := p.at(id); i >= 0 {
			replicas, remotes = append(replicas, p.replicas[i]), append(remotes, p.remotes[i])
			continue
		}
		replicas = append(replicas, replica{broker: id, log: c.newLog(p.topic, id, p.number)})
		remotes = append(remotes, remote{end: -1, leaderEnd: -1, fetchedMs: never, caughtUpMs: never})
	}
	for i := range p.replicas {
		if r := &p.replicas[i]; !slices.Contains(ids, r.broker) && r.source != 0 {
			f := c.fetcher(r.broker, r.source)
			drop := func(index int32) bool { return index == p.index }
			f.queue, f.changed = slices.DeleteFunc(f.queue, drop), slices.DeleteFunc(f.changed, drop)
			c.leave(r)
		}
	}
	before := p.ids()
	p.replicas, p.remotes = replicas, remotes
	for _, id := range without(before, ids) {
		c.forget(p, id)
	}
	p.isr = slices.Clone(p.isr)
	slices.SortFunc(p.isr, func(a, b int32) int { return p.at(a) - p.at(b) })
	for i := range p.replicas {
		if !slices.Contains(before, p.replicas[i].broker) {
			c.retarget(p, i)
		}
	}
	c.noteBehind(p)
}

// Reassignments lists the partitions that are being reassigned, by topic and number.
func (c *Cluster) Reassignments() (list []Reassignment) {
	for _, name := range c.TopicNames() {
		for _, index := range c.byName[name].partitions {
			if p := c.partitions[index]; p.reassigning() {
				list = append(list, Reassignment{name, p.number, p.ids(), slices.Clone(p.adding), slices.Clone(p.removing)})
			}
		}
	}
	return list
}

// without is a list without what another one has.
func without(list, gone []int32) (rest []int32) {
	for _, id := range list {
		if !slices.Contains(gone, id) {
			rest = append(rest, id)
		}
	}
	return rest
}
