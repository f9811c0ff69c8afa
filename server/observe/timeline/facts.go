package timeline

import (
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// Facts returns events from which a fold rebuilds the picture of everything that is known. They change nothing and use no
// new Seq: each carries the one handed out last. FactsBegan and FactsEnded are the host's.
func (t *Timeline) Facts(nowMs int64) []event.Event {
	f := &facts{t: t, nowMs: max(nowMs, t.nowMs)}
	f.cluster()
	for _, g := range t.sorted() {
		f.group(g)
	}
	return f.events
}

// ClusterFacts are those of Facts that belong to no group.
func (t *Timeline) ClusterFacts(nowMs int64) []event.Event {
	f := &facts{t: t, nowMs: max(nowMs, t.nowMs)}
	f.cluster()
	return f.events
}

// GroupFacts are the facts of one group, none where it is not known.
func (t *Timeline) GroupFacts(nowMs int64, group string) []event.Event {
	g := t.groups[group]
	if g == nil {
		return nil
	}
	f := &facts{t: t, nowMs: max(nowMs, t.nowMs)}
	f.group(g)
	return f.events
}

type facts struct {
	t      *Timeline
	nowMs  int64
	events []event.Event
}

func (f *facts) add(g *group, broker int32, truth event.Truth, cause int64, body event.Body) {
	e := event.Event{Seq: f.t.cfg.Numbers.Last(), AtMs: f.nowMs, Broker: broker, Truth: truth, Cause: cause, Body: body}
	if g != nil {
		e.Group, e.Broker = g.name, f.t.coordinator(g)
	}
	f.events = append(f.events, e)
}

func (f *facts) cluster() {
	t := f.t
	if t.about.ClusterID != "" || t.about.Mode != "" {
		f.add(nil, 0, event.Observed, 0, t.toldAttached())
	}
	for _, id := range slices.Sorted(maps.Keys(t.brokers)) {
		if b := t.brokers[id]; b.up {
			f.add(nil, id, event.Observed, 0, event.BrokerStarted{ID: id, Host: b.Host, Port: b.Port})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.topics)) {
		if x := t.topics[name]; !x.gone {
			f.add(nil, 0, event.Observed, 0, event.TopicCreated{Topic: name, Partitions: x.partitions, Internal: x.internal})
		}
	}
	for _, number := range slices.Sorted(maps.Keys(t.offsetsTopic)) {
		p := t.offsetsTopic[number]
		f.add(nil, max(p.Leader, 0), event.Observed, 0, event.LeaderChanged{Topic: offsetsTopic, Partition: number, Leader: p.Leader, Epoch: p.Epoch,
			Replicas: p.Replicas, ISR: p.ISR})
	}
	f.partitions()
	for _, reason := range slices.Sorted(maps.Keys(t.skipped)) {
		s := t.skipped[reason]
		f.add(nil, 0, event.Observed, 0, event.LoadSkipped{Partition: s.Partition, Offset: s.Offset, Reason: s.Reason + "; records like it are left out and counted"})
	}
	for _, source := range slices.Sorted(maps.Keys(t.lost)) {
		f.add(nil, 0, event.Observed, 0, t.lost[source])
	}
}

// partitions tells of those of __consumer_offsets that are read.
func (f *facts) partitions() {
	t := f.t
	done := map[int32]*event.LoadFinished{}
	for _, g := range t.groups {
		d := done[g.partition]
		if d == nil {
			d = &event.LoadFinished{}
			done[g.partition] = d
		}
		d.Groups++
		for _, x := range g.offsets {
			d.Offsets += len(x.list)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(t.partitions)) {
		p, about := t.partitions[number], t.offsetsTopic[number]
		if !p.ready {
			f.add(nil, max(about.Leader, 0), event.Observed, 0, event.LoadStarted{Partition: number, Epoch: about.Epoch, EndOffset: p.end})
			f.add(nil, max(about.Leader, 0), event.Observed, p.seq, event.LoadProgressed{Partition: number, Offset: p.next, EndOffset: p.end, Records: p.records})
		} else if d := done[number]; d != nil {
			d.Partition, d.Epoch, d.RetentionMs = number, about.Epoch, t.about.RetentionMs
			f.add(nil, max(about.Leader, 0), event.Observed, 0, *d)
		}
	}
}

func (f *facts) group(g *group) {
	if g.wasListed && g.modern == nil {
		f.add(g, 0, event.Sampled, 0, g.listed)
	}
	if !g.told {
		return
	}
	truth := event.Observed
	if g.motion != nil || g.sampled {
		truth = event.Sampled
	}
	if g.lastModern != nil && g.modern == nil {
		f.add(g, 0, truth, 0, event.GroupLoaded{State: g.state, Generation: g.generation, ProtocolType: "consumer", Protocol: g.protocol, Partition: g.partition})
		for _, m := range g.members {
			f.add(g, 0, truth, 0, m.added(true))
		}
		for _, body := range sampledAssignments(g.lastModern) {
			f.add(g, 0, truth, 0, body)
		}
	} else if g.modern != nil {
		for _, body := range append(g.modernLoaded(), f.t.modernAssignments(g)...) {
			f.add(g, 0, truth, 0, body)
		}
	} else {
		f.classic(g, truth)
	}
	if g.cause.Why != "" {
		f.add(g, 0, event.Inferred, 0, g.cause)
	}
	if len(g.offsets) > 0 {
		f.add(g, 0, event.Observed, 0, event.OffsetsCommitted{BaseOffset: -1, Offsets: told(g.offsets), Loaded: true})
	}
	for _, x := range g.txns {
		f.add(g, 0, event.Observed, 0, event.TxnOffsetsWritten{ProducerID: x.producerID, ProducerEpoch: x.epoch, BaseOffset: -1, Offsets: told(x.offsets), Loaded: true})
	}
}

func (f *facts) classic(g *group, truth event.Truth) {
	for _, body := range g.loaded() {
		if b, is := body.(event.GroupLoaded); is && g.motion != nil {
			b.Began, b.BeganMs, b.SinceMs = event.WhySeen, g.motion.start.lo, g.motion.entered.lo
			if g.cause.Generation == g.generation+1 {
				b.Began, b.BeganMember = g.cause.Why, g.cause.Member
			}
			body = b
		}
		f.add(g, 0, truth, 0, body)
	}
	if g.leader != "" {
		f.add(g, 0, truth, 0, event.LeaderElected{Member: g.leader, Why: event.WhyGroupLoaded})
	}
	if g.motion != nil && g.motion.seen.State != "" {
		f.add(g, 0, event.Sampled, g.motion.seq, g.motion.seen)
	}
}
