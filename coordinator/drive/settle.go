package drive

import (
	"fmt"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/coordinator/txn"
)

// settle goes round until nothing moves: what the cluster has for the machines, what the machines have for the cluster,
// and the loads that are due.
func (d *Drive) settle() {
	for moved := true; moved; {
		moved = false
		if d.clusterStale {
			d.clusterStale, moved = false, true
			d.takeCluster()
		}
		for i := range d.machines {
			if m := &d.machines[i]; m.stale && m.c != nil {
				m.stale, moved = false, true
				d.takeMachine(int32(i+1), m)
			}
			if m := &d.machines[i]; m.txnStale && m.c != nil {
				m.txnStale, moved = false, true
				d.takeTxn(int32(i+1), m)
			}
		}
		if !moved {
			moved = d.runLoads()
		}
	}
}

// takeCluster hands on what came out of the cluster. What is told to machines comes in the order of Kafka: metadata,
// then lost partitions, then gained ones, then the outcomes of appends.
func (d *Drive) takeCluster() {
	out := d.cluster.Take()
	d.clusterMs = out.DeadlineMs
	d.out.Events = append(d.out.Events, out.Events...)
	d.out.Watermarks = append(d.out.Watermarks, out.Watermarks...)
	if out.MetadataChanged {
		d.out.MetadataChanged = true
		d.tellMetadata()
	}
	for _, l := range out.Emigrations {
		d.emigrate(l)
	}
	for _, l := range out.Immigrations {
		d.immigrate(l)
	}
	d.moveTxn(&out)
	for _, a := range out.Appended {
		if !a.Internal {
			d.out.Produced = append(d.out.Produced, a)
		} else if a.Marker || a.Topic == cluster.TransactionTopic {
			d.txnAppended(a)
		} else if m := d.machine(a.Broker); m != nil {
			m.c.Appended(d.nowMs, a.Ticket, a.BaseOffset, a.Code)
			m.stale = true
		}
	}
	if !d.cfg.DeliverAtOnce {
		d.out.Messages = append(d.out.Messages, out.Messages...)
		return
	}
	for _, m := range out.Messages {
		d.cluster.Deliver(d.nowMs, m)
		d.clusterStale = true
	}
}

// tellMetadata makes the machines of brokers that have started, and tells all of them what brokers know.
func (d *Drive) tellMetadata() {
	var meta coordinator.Metadata
	for _, b := range d.cluster.Listed() {
		meta.Brokers = append(meta.Brokers, coordinator.BrokerInfo{ID: b.ID, Host: b.Host, Port: b.Port})
	}
	meta.Topics = map[string]int32{}
	for _, name := range d.cluster.TopicNames() {
		meta.Topics[name] = d.cluster.Partitions(name)
	}
	for p := range d.cluster.Partitions(cluster.OffsetsTopic) {
		leader, _, _ := d.cluster.Leader(cluster.OffsetsTopic, p)
		meta.OffsetsLeaders = append(meta.OffsetsLeaders, leader)
	}
	for i := range d.machines {
		m, id := &d.machines[i], int32(i+1)
		if m.c == nil && d.cluster.Running(id) {
			d.create(id, m)
		}
		if m.c != nil {
			m.c.MetadataChanged(d.nowMs, meta)
			m.stale = true
		}
	}
	d.tellTxnMetadata(meta)
}

func (d *Drive) create(id int32, m *machine) {
	issued, memberID := m.issued, d.cfg.MemberID
	m.deadlineMs, m.txnDeadlineMs = -1, -1
	m.life++
	m.txn = txn.New(d.nowMs, txn.Config{Broker: id, Numbers: d.cfg.Numbers, Settings: d.cfg.Transactions})
	m.c = coordinator.New(d.nowMs, coordinator.Config{Broker: id, Numbers: d.cfg.Numbers, Settings: d.cfg.Settings,
		MemberID: func(clientID string, broker int32, n int64) string { return memberID(clientID, broker, issued+n) }})
}

// takeMachine hands on what came out of a coordinator.
func (d *Drive) takeMachine(id int32, m *machine) {
	out := m.c.Take()
	m.deadlineMs = out.DeadlineMs
	d.out.Events = append(d.out.Events, out.Events...)
	for _, r := range out.Replies {
		d.out.Replies = append(d.out.Replies, BrokerReply{id, r})
	}
	for i := range out.Appends {
		d.append(id, &out.Appends[i])
	}
	for _, v := range out.Verifications {
		m.c.Verified(d.nowMs, v.Ticket, d.verify(v))
		m.stale = true
	}
	if out.CreateOffsetsTopic {
		// Where too few brokers are alive the client is told COORDINATOR_NOT_AVAILABLE and asks again, as in Kafka.
		if n := len(out.Events); n > 0 {
			d.cluster.Because(out.Events[n-1].Seq)
		}
		d.cluster.EnsureOffsetsTopic(d.nowMs)
		d.cluster.Because(0)
		d.clusterStale = true
	}
}

// append writes a coordinator's records as one batch.
func (d *Drive) append(broker int32, a *coordinator.Append) {
	producer, attributes := log.NoProducer, int16(0)
	if a.Transactional {
		producer, attributes = log.Producer{ID: a.ProducerID, Epoch: a.ProducerEpoch, BaseSequence: -1}, log.Transactional
	}
	d.cluster.Append(d.nowMs, cluster.AppendRequest{Broker: broker, Topic: cluster.OffsetsTopic, Partition: a.Partition,
		Epoch: a.Epoch, Batch: d.records.encoded(producer, attributes, a.Records), Acks: a.Acks, TimeoutMs: a.TimeoutMs, Ticket: a.Ticket,
		Internal: true, Group: a.Group, Offsets: a.Offsets, Cause: a.Cause, What: a.What})
	d.clusterStale = true
}

// emigrate takes an offsets partition from a coordinator, and ends its load.
func (d *Drive) emigrate(l cluster.Leadership) {
	for i := range d.loads {
		if d.loads[i].is(cluster.OffsetsTopic, l) {
			d.loads = append(d.loads[:i], d.loads[i+1:]...)
			break
		}
	}
	if m := d.machine(l.Broker); m != nil {
		m.c.Because(d.cluster.LedSeq(cluster.OffsetsTopic, l.Partition))
		m.c.Emigrate(d.nowMs, l.Partition, l.Epoch)
		m.stale = true
	}
}

// stillLeads tells whether a leadership has not passed on in the very moment in which it was given: several changes may
// be taken at once. A broker that was dead then has not been told that it lost it, and may run again by now.
func (d *Drive) stillLeads(topic string, l cluster.Leadership) bool {
	leader, epoch, ok := d.cluster.Leader(topic, l.Partition)
	return ok && leader == l.Broker && epoch == l.Epoch
}

// immigrate gives an offsets partition to a coordinator and begins to load it. A leader that is gone unnoticed has no
// machine, and will be replaced.
func (d *Drive) immigrate(l cluster.Leadership) {
	m := d.machine(l.Broker)
	if m == nil || !d.stillLeads(cluster.OffsetsTopic, l) {
		return
	}
	m.c.Because(d.cluster.LedSeq(cluster.OffsetsTopic, l.Partition))
	m.c.Immigrate(d.nowMs, l.Partition, l.Epoch, l.EndOffset)
	m.stale = true
	due := d.nowMs
	if l.EndOffset > 0 {
		due += d.cfg.LoadDelayMs
	}
	d.loads = append(d.loads, load{topic: cluster.OffsetsTopic, broker: l.Broker, partition: l.Partition, epoch: l.Epoch, end: l.EndOffset, dueMs: due})
}

func unopened(b log.Batch, err error) string {
	return fmt.Sprintf("the batch at %d cannot be read: %v", b.BaseOffset, err)
}
