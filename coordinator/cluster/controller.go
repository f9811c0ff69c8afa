package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

type brokerState int8

const (
	running brokerState = iota
	// stopped: gone, and the controller knows.
	stopped
	// killed: gone without a word; the controller still believes in it until fenceAtMs.
	killed
	// returning: its process is back, but it may not register before its old session is over.
	returning
)

// broker is a broker as the controller and the world know it.
type broker struct {
	id    int32
	state brokerState
	// fenceAtMs is when the controller notices that it is gone, -1 where there is nothing to notice.
	fenceAtMs int64
	// stoppedSeq is the Seq of the BrokerStopped that told of its end.
	stoppedSeq int64
}

// listed tells whether the controller takes the broker for alive.
func (b *broker) listed() bool { return b.state != stopped }

func (c *Cluster) broker(id int32) *broker {
	if id < 1 || id > c.cfg.Brokers {
		panic(fmt.Sprintf("cluster: there is no broker %d; there are 1 to %d", id, c.cfg.Brokers))
	}
	return &c.brokers[id-1]
}

// Running tells whether a broker serves.
func (c *Cluster) Running(id int32) bool {
	return id >= 1 && id <= c.cfg.Brokers && c.brokers[id-1].state == running
}

// Returning tells of a broker that was started again and may not serve yet, since the controller has not noticed that it
// was gone: when it will.
func (c *Cluster) Returning(id int32) (atMs int64, ok bool) {
	if id < 1 || id > c.cfg.Brokers || c.brokers[id-1].state != returning {
		return -1, false
	}
	return c.brokers[id-1].fenceAtMs, true
}

func (c *Cluster) emitStarted(b *broker) {
	host, port := c.cfg.HostPort(b.id)
	c.emit(b.id, "", 0, event.BrokerStarted{ID: b.id, Host: host, Port: port})
}

func defaultHostPort(id int32) (string, int32) { return fmt.Sprintf("broker-%d", id), 9092 }

// StartBroker starts a broker that does not run. It serves at once, or, where the controller has not yet noticed that it
// was killed, when it does (Kafka: its registration is refused until its old session is over). It reports whether there
// was something to start.
func (c *Cluster) StartBroker(nowMs int64, id int32) bool {
	c.at(nowMs)
	b := c.broker(id)
	switch b.state {
	case stopped:
		c.start(b)
	case killed:
		b.state = returning
	default:
		return false
	}
	return true
}

// start lets a broker serve. What it was the last in-sync replica of, it leads again; the rest it follows.
func (c *Cluster) start(b *broker) {
	b.state = running
	c.emitStarted(b)
	c.out.MetadataChanged = true
	for other := int32(1); other <= c.cfg.Brokers; other++ {
		f := c.fetcher(other, b.id) // those who fetch from it find it at their next try
		for f.retryMs >= 0 && f.retryMs < c.nowMs {
			f.retryMs += max(1, c.cfg.ReplicaFetchBackoffMs)
		}
		c.fetcher(b.id, other).retryMs = -1
	}
	cause := c.cfg.Numbers.Last()
	for _, p := range c.partitions {
		i := p.at(b.id)
		if i >= 0 && p.topic.compacted && p.replicas[i].log.Closed() > 0 {
			c.wantsCleaning(p)
		}
		switch {
		case i < 0:
		case p.leader < 0 && p.inSync(b.id):
			c.lead(p, b.id, p.isr, cause)
		case p.leader < 0 && p.topic.unclean:
			c.electAny(p)
		default:
			c.retarget(p, i)
		}
	}
}

// StopBroker stops a broker cleanly (controlled shutdown): its leaderships move first.
func (c *Cluster) StopBroker(nowMs int64, id int32) bool {
	c.at(nowMs)
	b := c.broker(id)
	if b.state != running {
		return false
	}
	c.withdraw(id, 0)
	b.state = stopped
	c.gone(id)
	c.emit(id, "", 0, event.BrokerStopped{ID: id})
	c.out.MetadataChanged = true
	return true
}

// KillBroker ends a broker without a word. The controller notices after BrokerSessionTimeoutMs.
func (c *Cluster) KillBroker(nowMs int64, id int32) bool {
	c.at(nowMs)
	b := c.broker(id)
	if b.state != running {
		return false
	}
	b.state, b.fenceAtMs = killed, c.nowMs+c.cfg.BrokerSessionTimeoutMs
	c.gone(id)
	b.stoppedSeq = c.emit(id, "", 0, event.BrokerStopped{ID: id, Killed: true, NoticedByMs: b.fenceAtMs})
	return true
}

// gone breaks the connections of a broker and forgets who waited at it.
func (c *Cluster) gone(id int32) {
	for other := int32(1); other <= c.cfg.Brokers; other++ {
		c.disconnect(c.fetcher(id, other))
		c.disconnect(c.fetcher(other, id))
	}
	for _, p := range c.partitions {
		if p.leader == id {
			c.giveUp(p, codeNone, "")
			c.noteBehind(p)
		}
		if i := p.at(id); i >= 0 {
			c.retarget(p, i)
		}
	}
}

// noticeKilled fences the brokers whose session is over and lets those register that are back.
func (c *Cluster) noticeKilled() {
	for {
		var due *broker
		for i := range c.brokers {
			b := &c.brokers[i]
			if b.fenceAtMs >= 0 && b.fenceAtMs <= c.nowMs && (due == nil || b.fenceAtMs < due.fenceAtMs) {
				due = b
			}
		}
		if due == nil {
			return
		}
		back := due.state == returning
		due.state, due.fenceAtMs = stopped, -1
		c.out.MetadataChanged = true
		c.withdraw(due.id, c.emit(due.id, "", due.stoppedSeq, event.BrokerFenced{ID: due.id}))
		if back {
			c.start(due)
		}
	}
}

// withdraw takes a broker out of every ISR, except where it is the last one in it, and gives its leaderships to the
// first replica, in order of preference, that is in sync and taken for alive. There is no unclean election: where there
// is none, the partition has no leader (Kafka: ReplicationControlManager, PartitionChangeBuilder).
func (c *Cluster) withdraw(id int32, cause int64) {
	for _, p := range c.partitions {
		if !p.inSync(id) {
			continue
		}
		isr := p.isr
		if len(isr) > 1 {
			isr = slices.DeleteFunc(slices.Clone(isr), func(other int32) bool { return other == id })
		}
		switch {
		case p.leader == id:
			c.lead(p, p.next(c, id, isr), isr, cause)
			if p.leader < 0 && p.topic.unclean {
				c.electAny(p)
			}
		case len(isr) < len(p.isr):
			c.shrinkTo(p, isr, cause)
		}
	}
}

// shrinkTo is a shrink of the ISR by the controller; the leader, if any, then looks at its high watermark.
func (c *Cluster) shrinkTo(p *partition, isr []int32, cause int64) {
	if p.leader >= 0 && c.Running(p.leader) {
		c.setISR(p, isr, cause)
		return
	}
	p.isr = isr
	c.emit(0, "", cause, p.changed())
	c.noteBehind(p)
}

func (p *partition) next(c *Cluster, gone int32, isr []int32) int32 {
	for i := range p.replicas {
		if id := p.replicas[i].broker; id != gone && slices.Contains(isr, id) && c.broker(id).listed() {
			return id
		}
	}
	return -1
}

// lead makes a broker the leader of a partition, in a new epoch; -1: nobody leads.
func (c *Cluster) lead(p *partition, leader int32, isr []int32, cause int64) {
	if old := p.leader; old >= 0 && old != leader && c.Running(old) {
		c.resign(p)
	}
	p.leader, p.isr = leader, isr
	p.epoch++
	seq := c.emit(0, "", cause, p.changed())
	p.ledSeq = seq
	c.out.MetadataChanged = true
	c.begin(p)
	if leader >= 0 {
		gained := Leadership{leader, p.number, p.epoch, p.local().log.EndOffset()}
		switch p.topic.name {
		case OffsetsTopic:
			c.out.Immigrations = append(c.out.Immigrations, gained)
		case TransactionTopic:
			c.out.TxnImmigrations = append(c.out.TxnImmigrations, gained)
		}
	}
	if c.Running(leader) {
		c.advanceWatermark(p, seq)
	}
}

// resign takes a partition from its leader.
func (c *Cluster) resign(p *partition) {
	c.giveUp(p, codeNotLeaderOrFollower, fmt.Sprintf("broker %d no longer leads %s-%d", p.leader, p.topic.name, p.number))
	lost := Leadership{Broker: p.leader, Partition: p.number, Epoch: p.epoch + 1}
	switch p.topic.name {
	case OffsetsTopic:
		c.out.Emigrations = append(c.out.Emigrations, lost)
	case TransactionTopic:
		c.out.TxnEmigrations = append(c.out.TxnEmigrations, lost)
	}
	p.leader = -1
}

// begin is what the brokers do when they hear of a new epoch: the leader starts to count its followers anew, and they
// turn to it (Kafka: Partition.makeLeader, makeFollower).
func (c *Cluster) begin(p *partition) {
	p.remotes = make([]remote, len(p.replicas))
	for i := range p.remotes {
		p.remotes[i] = remote{end: -1, leaderEnd: -1, fetchedMs: never, caughtUpMs: never}
		if p.inSync(p.replicas[i].broker) {
			p.remotes[i].caughtUpMs = c.nowMs
		}
	}
	if c.Running(p.leader) { // one that is gone unnoticed does nothing, and will be replaced
		l := p.local().log
		p.epochStart = l.EndOffset()
		l.BeginEpoch(p.epoch)
	}
	for i := range p.replicas {
		c.retarget(p, i)
	}
	c.noteBehind(p)
}

// retarget has a replica fetch from whom it should now.
func (c *Cluster) retarget(p *partition, i int) {
	r := &p.replicas[i]
	source := p.leader
	if source < 0 || source == r.broker || !c.Running(r.broker) {
		source = 0
	}
	if r.source != source {
		if r.source != 0 {
			c.leave(r)
		}
		if r.source = source; source != 0 {
			c.fetcher(r.broker, source).count++
		}
	}
	r.queued = false
	if source != 0 {
		c.queue(p, r, 0)
	}
}

// leave takes a replica from its fetcher. A fetcher without partitions ends; a later one begins anew.
func (c *Cluster) leave(r *replica) {
	f := c.fetcher(r.broker, r.source)
	if r.unkept {
		r.unkept = false
		f.unkept--
	}
	if f.count--; f.count == 0 {
		c.disconnect(f)
	}
}
