package cluster

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// factRecords is how much of the end of each offsets partition Facts tells.
const factRecords = 50

// Facts returns events from which a fold rebuilds the picture of this cluster: brokers, topics, leaders, high
// watermarks, and the newest records of the offsets partitions. They change nothing and use no new Seq: each carries the
// Seq handed out last.
func (c *Cluster) Facts(nowMs int64) []event.Event {
	c.at(nowMs)
	var facts []event.Event
	say := func(atMs int64, broker int32, group string, body event.Body) {
		facts = append(facts, event.Event{Seq: c.cfg.Numbers.Last(), AtMs: atMs, Broker: broker, Group: group, Body: body})
	}
	c.brokerFacts(say)
	for _, t := range c.topics {
		replicas := len(c.partitions[t.partitions[0]].replicas)
		say(c.nowMs, 0, "", event.TopicCreated{Topic: t.name, Partitions: int32(len(t.partitions)), Replicas: int16(replicas), Internal: t.internal})
		for _, index := range t.partitions {
			say(c.nowMs, 0, "", c.partitions[index].changed())
		}
		for _, index := range t.partitions {
			c.logFacts(c.partitions[index], say)
		}
	}
	return facts
}

// OverviewFacts returns of Facts what a list of groups shows: the brokers, the topics' names and sizes, who leads the partitions
// of __consumer_offsets and, of one of these, the newest records; partition -1 is none. Its cost does not grow with the other
// partitions.
func (c *Cluster) OverviewFacts(nowMs int64, partition int32) []event.Event {
	c.at(nowMs)
	var facts []event.Event
	say := func(atMs int64, broker int32, group string, body event.Body) {
		facts = append(facts, event.Event{Seq: c.cfg.Numbers.Last(), AtMs: atMs, Broker: broker, Group: group, Body: body})
	}
	c.brokerFacts(say)
	for _, t := range c.topics {
		replicas := len(c.partitions[t.partitions[0]].replicas)
		say(c.nowMs, 0, "", event.TopicCreated{Topic: t.name, Partitions: int32(len(t.partitions)), Replicas: int16(replicas), Internal: t.internal})
		if t.name != OffsetsTopic {
			continue
		}
		for _, index := range t.partitions {
			say(c.nowMs, 0, "", c.partitions[index].changed())
		}
		if partition >= 0 && int(partition) < len(t.partitions) {
			c.logFacts(c.partitions[t.partitions[partition]], say)
		}
	}
	return facts
}

func (c *Cluster) brokerFacts(say func(int64, int32, string, event.Body)) {
	for i := range c.brokers {
		b := &c.brokers[i]
		host, port := c.cfg.HostPort(b.id)
		say(c.nowMs, b.id, "", event.BrokerStarted{ID: b.id, Host: host, Port: port})
		switch b.state {
		case stopped:
			say(c.nowMs, b.id, "", event.BrokerStopped{ID: b.id})
		case killed, returning:
			say(c.nowMs, b.id, "", event.BrokerStopped{ID: b.id, Killed: true, NoticedByMs: b.fenceAtMs})
		}
	}
}

// logFacts tells of a log in which there is something.
func (c *Cluster) logFacts(p *partition, say func(int64, int32, string, event.Body)) {
	source := p.newest()
	l := p.replicas[source].log
	if l.EndOffset() == 0 {
		return
	}
	teller := p.replicas[source].broker
	if p.topic.name == OffsetsTopic {
		// A log that cannot be read has no tail to show; the host hears of it where it matters, at the next append.
		_ = l.Each(l.EndOffset()-factRecords, l.EndOffset(), func(b log.Batch) bool {
			records := log.Describe(b, nil)
			said := event.RecordsAppended{Topic: p.topic.name, Partition: p.number, BaseOffset: b.BaseOffset, Count: int(b.Count),
				Bytes: len(b.Bytes), Records: records}
			tellProducer(&said, b)
			say(min(b.MaxTimestampMs, c.nowMs), teller, groupOf(records), said)
			return true
		})
	}
	for i := range p.replicas {
		if r := &p.replicas[i]; i != source && r.log.EndOffset() > 0 {
			say(c.nowMs, r.broker, "", event.ReplicaAdvanced{Topic: p.topic.name, Partition: p.number, EndOffset: r.log.EndOffset()})
		}
	}
	say(c.nowMs, teller, "", event.HighWatermarkAdvanced{Topic: p.topic.name, Partition: p.number, Offset: p.shownHW, EndOffset: l.EndOffset()})
}

// newest is the place of the replica whose log is shown: the leader's, or the longest where nobody leads.
func (p *partition) newest() int {
	if p.leader >= 0 {
		return p.at(p.leader)
	}
	best := 0
	for i := range p.replicas {
		if p.replicas[i].log.EndOffset() > p.replicas[best].log.EndOffset() {
			best = i
		}
	}
	return best
}

// groupOf is the group that all records of a batch are about, "" where they are about several.
func groupOf(records []event.LogRecord) string {
	group := ""
	for i, r := range records {
		if i > 0 && r.Group != group {
			return ""
		}
		group = r.Group
	}
	return group
}
