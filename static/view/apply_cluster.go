package view

import (
	"slices"

	"grouplab/coordinator/event"
)

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
			m.tape(b.Partition).compact(b)
		}
	default:
		m.applyLoad(e)
	}
}

// compact takes off the tape what compaction removed. The fact names the first of them; a record below To that a newer
// one had overwritten is gone in any case. Those that stay keep their offsets.
func (t *Tape) compact(b event.LogCompacted) {
	gone := map[int64]bool{}
	for _, r := range b.Removed {
		gone[r.Offset] = true
	}
	t.Records = slices.DeleteFunc(t.Records, func(r TapeRecord) bool {
		return r.Offset < b.To && (gone[r.Offset] || r.OverwrittenBy >= 0 && r.OverwrittenBy < b.To)
	})
	t.Compacted, t.Removed = b.To, t.Removed+b.Count
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
		m.tape(b.Partition).Loads[e.Broker] = &Load{State: Owned, Epoch: b.Epoch, Groups: b.Groups, Failed: b.Failed, SinceMs: e.AtMs}
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
	broker.Up, broker.Killed, broker.Fenced = false, b.Killed, false
	broker.SinceMs, broker.NoticedByMs = e.AtMs, b.NoticedByMs
	for _, t := range m.Tapes {
		delete(t.Loads, b.ID)
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
	for _, p := range append(append([]*Parked(nil), g.Join...), g.Sync...) {
		g.unpark(p.Ticket)
		g.endWait(p.Member, atMs)
	}
	g.Ops, g.Pending, g.Appends = nil, nil, nil
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
	t.Leader, t.Epoch, t.Replicas, t.ISR = b.Leader, b.Epoch, b.Replicas, b.ISR
}

func (m *Model) appendRecords(e event.Event, b event.RecordsAppended) {
	if b.Topic != offsetsTopic {
		return
	}
	t := m.tape(b.Partition)
	end := b.BaseOffset + int64(b.Count)
	t.EndOffset = max(t.EndOffset, end)
	t.Ends[e.Broker] = max(t.Ends[e.Broker], end)
	for i, r := range b.Records {
		t.add(TapeRecord{Offset: b.BaseOffset + int64(i), AtMs: e.AtMs, Seq: e.Seq, LogRecord: r, OverwrittenBy: -1})
		told := slices.ContainsFunc(b.Records[:i], func(x event.LogRecord) bool { return x.Group == r.Group })
		if g := m.Groups[r.Group]; g != nil && !told {
			g.Partition = b.Partition
			if !m.inFacts {
				g.mark(Mark{Kind: MarkAppend, AtMs: e.AtMs, Seq: e.Seq, Text: r.What, Number: b.BaseOffset})
			}
		}
	}
}

// add puts a record at the end and strikes the older record of the same key. A record at a position that is there
// already replaces what was cut off before it.
func (t *Tape) add(r TapeRecord) {
	if n := len(t.Records); n > 0 && t.Records[n-1].Offset >= r.Offset {
		t.Records = without(t.Records, func(x TapeRecord) bool { return x.Offset >= r.Offset })
	}
	if r.What != "other" {
		k := tapeKey{group: r.Group, isGroup: r.What == "group"}
		if !k.isGroup {
			k.topic, k.partition = r.Topic, r.Partition
		}
		if old, ok := t.latest[k]; ok {
			for i := len(t.Records) - 1; i >= 0 && t.Records[i].Offset >= old; i-- {
				if t.Records[i].Offset == old {
					t.Records[i].OverwrittenBy = r.Offset
				}
			}
			if t.alive[k] {
				t.Live--
			}
		}
		t.latest[k], t.alive[k] = r.Offset, !r.Tombstone
		if !r.Tombstone {
			t.Live++
		}
	}
	t.Records = keep(append(t.Records, r), maxTape)
}
