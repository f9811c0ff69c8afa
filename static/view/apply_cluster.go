package view

import "grouplab/coordinator/event"

const offsetsTopic = "__consumer_offsets"

func (m *Model) applyCluster(e event.Event) {
	switch b := e.Body.(type) {
	case event.BrokerStarted:
		m.Brokers[b.ID] = &Broker{ID: b.ID, Host: b.Host, Port: b.Port, Up: true, SinceMs: e.AtMs}
	case event.BrokerStopped:
		m.stopBroker(e, b)
	case event.BrokerFenced:
		if broker := m.Brokers[b.ID]; broker != nil {
			broker.Fenced = true
		}
	case event.TopicCreated:
		m.Topics[b.Topic] = &Topic{Name: b.Topic, Partitions: b.Partitions, Internal: b.Internal}
	case event.PartitionsAdded:
		m.Topics[b.Topic] = &Topic{Name: b.Topic, Partitions: b.To}
	case event.TopicDeleted:
		delete(m.Topics, b.Topic)
	case event.LeaderChanged:
		m.changeLeader(e, b)
	case event.RecordsAppended:
		m.appendRecords(e, b)
	case event.ReplicaAdvanced:
		if b.Topic == offsetsTopic {
			m.tape(b.Partition).Ends[e.Broker] = b.EndOffset
		}
	case event.HighWatermarkAdvanced:
		if b.Topic == offsetsTopic {
			t := m.tape(b.Partition)
			t.HighWatermark, t.EndOffset = b.Offset, max(t.EndOffset, b.EndOffset)
			t.Ends[e.Broker] = max(t.Ends[e.Broker], b.EndOffset)
		}
	case event.LogCompacted:
		if b.Topic == offsetsTopic {
			m.compact(e, b)
		}
	case event.TxnStateChanged, event.TxnRemoved:
		m.applyTxnState(e)
	case event.CleanupRan:
		m.retention(e.Broker, b.RetentionMs, b.NextMs)
	default:
		m.applyLoad(e)
	}
}

func (m *Model) applyLoad(e event.Event) {
	switch b := e.Body.(type) {
	case event.LoadStarted:
		m.tape(b.Partition).Loads[e.Broker] = &Load{State: Loading, Epoch: b.Epoch, End: b.EndOffset, SinceMs: e.AtMs}
	case event.LoadProgressed:
		if l := m.tape(b.Partition).Loads[e.Broker]; l != nil {
			l.Offset, l.End, l.Records = b.Offset, b.EndOffset, b.Records
		}
	case event.LoadFinished:
		m.finishLoad(e, b)
	case event.PartitionUnloaded:
		m.tape(b.Partition).Loads[e.Broker] = &Load{State: Unloaded, Epoch: b.Epoch, SinceMs: e.AtMs}
	}
}

func (m *Model) stopBroker(e event.Event, b event.BrokerStopped) {
	broker := m.Brokers[b.ID]
	if broker == nil {
		broker = &Broker{ID: b.ID}
		m.Brokers[b.ID] = broker
	}
	broker.CleanupMs = 0
	broker.Up, broker.Killed, broker.Fenced = false, b.Killed, false
	broker.SinceMs, broker.NoticedByMs = e.AtMs, b.NoticedByMs
	for _, t := range m.Tapes {
		delete(t.Loads, b.ID)
		if t.Leader == b.ID && !m.inFacts {
			t.Failover = Failover{From: b.ID, FromEpoch: t.Epoch, LostMs: e.AtMs}
		}
	}
	for _, g := range m.Groups {
		if g.Broker == b.ID {
			m.loseCoordinator(g, e.AtMs)
			g.mark(Mark{Kind: MarkFailover, AtMs: e.AtMs, Seq: e.Seq, Number: int64(b.ID)})
		}
	}
}

// loseCoordinator takes away what lived only in the memory of a broker that is gone: parked replies, operations,
// pending ids, appends. The members stay as the log's last word until a new coordinator loads them.
func (m *Model) loseCoordinator(g *Group, atMs int64) {
	g.lose(atMs)
	for _, p := range append(append([]*Parked(nil), g.Join...), g.Sync...) {
		g.unpark(p.Ticket)
		g.endWait(p.Member, atMs)
	}
	g.Ops, g.Pending, g.Appends, g.names = nil, nil, nil, nil
	g.Sidings = without(g.Sidings, func(s *Siding) bool { return !s.Over() && !s.Written })
	for _, row := range g.Offsets {
		row.Pending = nil
	}
	g.Broker = 0
}

func (m *Model) tape(partition int32) *Tape {
	t := m.Tapes[partition]
	if t == nil {
		t = &Tape{Partition: partition, Leader: -1, Ends: map[int32]int64{}, Loads: map[int32]*Load{},
			latest: map[tapeKey]int64{}, alive: map[tapeKey]bool{}}
		m.Tapes[partition] = t
	}
	return t
}

func (m *Model) changeLeader(e event.Event, b event.LeaderChanged) {
	if b.Topic != offsetsTopic {
		return
	}
	t := m.tape(b.Partition)
	if t.Leader != b.Leader && t.Leader > 0 && !m.inFacts {
		for _, g := range m.Groups {
			if g.Partition == b.Partition {
				g.mark(Mark{Kind: MarkFailover, AtMs: e.AtMs, Seq: e.Seq, Number: int64(b.Leader)})
			}
		}
	}
	if !m.inFacts && (t.Leader > 0 || t.Failover.LostMs > 0) {
		t.lead(t.Leader, b.Leader, t.Epoch, b.Epoch, e.AtMs)
	}
	if end, known := t.Ends[b.Leader]; known && b.Leader != t.Leader && end < t.EndOffset {
		t.cut(end)
	}
	t.Leader, t.Epoch, t.Replicas, t.ISR = b.Leader, b.Epoch, b.Replicas, b.ISR
}
