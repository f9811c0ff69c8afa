package history

import (
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

const offsetsTopic = "__consumer_offsets"

// applyCluster follows brokers and who leads the partitions of __consumer_offsets.
func (h *History) applyCluster(e *event.Event) {
	switch b := e.Body.(type) {
	case event.ClusterAttached:
		h.attached = true
	case event.BrokerStarted:
		h.brokers[b.ID] = &broker{up: true, sinceMs: e.AtMs}
	case event.BrokerStopped:
		h.stopBroker(e, b)
	case event.BrokerFenced:
		if k := h.brokers[b.ID]; k != nil {
			k.fenced = true
		}
	case event.LeaderChanged:
		if b.Topic == offsetsTopic {
			t := h.tape(b.Partition)
			t.leader, t.replicas = b.Leader, b.Replicas
		}
	case event.LoadStarted:
		h.tape(b.Partition).loading[e.Broker] = e.AtMs
	case event.LoadFinished:
		delete(h.tape(b.Partition).loading, e.Broker)
		h.retention(e.Broker, b.RetentionMs)
		h.notLoaded(b.Partition)
	case event.PartitionUnloaded:
		delete(h.tape(b.Partition).loading, e.Broker)
	case event.CleanupRan:
		h.retention(e.Broker, b.RetentionMs)
	case event.ConnectionClosed:
		h.connectionClosed(e, b)
	case event.ClientStopped:
		if g := h.groups[e.Group]; g != nil && b.Killed {
			for _, m := range g.members {
				if m.client == b.Client {
					h.dies(g, m, e.AtMs, true)
				}
			}
		}
	}
}

func (h *History) tape(partition int32) *tape {
	t := h.tapes[partition]
	if t == nil {
		t = &tape{leader: -1, loading: map[int32]int64{}}
		h.tapes[partition] = t
	}
	return t
}

func (h *History) retention(broker int32, ms int64) {
	if b := h.brokers[broker]; b != nil && ms > 0 {
		b.retentionMs = ms
	}
}

func (h *History) stopBroker(e *event.Event, b event.BrokerStopped) {
	k := h.brokers[b.ID]
	if k == nil {
		k = &broker{}
		h.brokers[b.ID] = k
	}
	*k = broker{killed: b.Killed, sinceMs: e.AtMs, noticedBy: b.NoticedByMs}
	for _, t := range h.tapes {
		delete(t.loading, b.ID)
	}
	for _, name := range slices.Sorted(maps.Keys(h.groups)) {
		if g := h.groups[name]; g.coordinator == b.ID {
			h.loseCoordinator(g, e.AtMs)
		}
	}
}

// notLoaded drops the groups of which a load found nothing: they had not been written.
func (h *History) notLoaded(partition int32) {
	for _, g := range h.moved(partition) {
		h.gone(g)
	}
}

// moved are the groups of a partition that have no coordinator, by name.
func (h *History) moved(partition int32) (list []*group) {
	for g := range h.moving {
		if !g.unseen && g.lostMs > 0 && g.coordinator == 0 && g.partition == partition {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	return list
}

// loseCoordinator drops what lived in a coordinator's memory: a rebalance under way is forgotten with it.
func (h *History) loseCoordinator(g *group, atMs int64) {
	if h.attached { // what an observer knows is from the log
		g.coordinator = 0
		return
	}
	g.forget()
	if g.coordinator = 0; g.partition < 0 { // nothing of it is in a log
		h.gone(g)
		return
	}
	if g.lostMs == 0 {
		g.lostMs = atMs
	}
	if r := g.rebalance; r != nil {
		r.end(event.WhyNotCoordinator, "", atMs)
	}
	h.restless(g, atMs)
	h.touch(g, true)
}

// connectionClosed makes ghosts of members whose connection went away without LeaveGroup.
func (h *History) connectionClosed(e *event.Event, b event.ConnectionClosed) {
	for _, id := range b.Members {
		g := h.memberOf[id]
		if g == nil || e.Group != "" && e.Group != g.name {
			continue
		}
		if m := g.member(id); m != nil {
			h.dies(g, m, e.AtMs, false)
		}
	}
}
