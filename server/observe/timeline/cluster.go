package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// topic is what Metadata said of one topic.
type topic struct {
	name       string
	id         record.TopicID
	partitions int32
	internal   bool
	gone       bool  // it was there, and is not any more
	grewMs     int64 // when its partitions were seen to be more, 0: never
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }

func (t *Timeline) attached(o Attached) {
	if t.about.ClusterID != "" && o.ClusterID != t.about.ClusterID {
		for _, g := range t.sorted() {
			t.emit(g, exactly(t.nowMs), 0, event.GroupRemoved{Why: event.WhyNotCoordinator})
		}
		t.forget()
	}
	if o.Partitions > 0 && o.Partitions != t.about.Partitions {
		for _, g := range t.groups {
			if t.partitions[g.partition] == nil {
				g.partition = record.Partition(g.name, o.Partitions)
			}
		}
	}
	t.about = o
	t.emit(nil, exactly(t.nowMs), 0, t.toldAttached())
}

func (t *Timeline) toldAttached() event.ClusterAttached {
	return event.ClusterAttached{ClusterID: t.about.ClusterID, Mode: t.about.Mode, Partitions: t.about.Partitions, PollMs: t.about.PollMs}
}

func (t *Timeline) metadata(o Metadata) {
	if len(o.Brokers) > 0 {
		t.alive(o.Brokers)
	}
	for i := range o.Topics {
		x := &o.Topics[i]
		if x.Name == "" {
			continue
		}
		t.topicSeen(x)
		if x.Name == offsetsTopic {
			t.leaders(x)
		}
	}
	for _, name := range o.Gone {
		x := t.topics[name]
		if x == nil { // asked for because a group names it
			x = &topic{name: t.names.one(name)}
			t.topics[name] = x
		}
		if !x.gone {
			x.gone, x.partitions = true, 0
			delete(t.byID, x.id)
			t.emit(nil, exactly(t.nowMs), 0, event.TopicDeleted{Topic: name})
		}
	}
}

// alive compares the brokers with those that were there.
func (t *Timeline) alive(list []Broker) {
	there := map[int32]bool{}
	for _, x := range list {
		there[x.ID] = true
		b := t.broker(x.ID)
		if !b.up || b.Host != x.Host || b.Port != x.Port {
			b.up, b.Broker = true, x
			t.emit(nil, exactly(t.nowMs), 0, event.BrokerStarted{ID: x.ID, Host: x.Host, Port: x.Port})
			t.events[len(t.events)-1].Broker = x.ID
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.brokers)) {
		if b := t.brokers[id]; b.up && !there[id] {
			b.up, b.polls = false, nil
			t.emit(nil, when{t.nowMs, t.nowMs, event.Sampled}, 0, event.BrokerStopped{ID: id})
		}
	}
}

func (t *Timeline) topicSeen(o *Topic) {
	n := int32(len(o.Partitions))
	old := t.topics[o.Name]
	switch {
	case old == nil || old.gone:
		t.emit(nil, exactly(t.nowMs), 0, event.TopicCreated{Topic: o.Name, Partitions: n, Replicas: replicas(o), Internal: o.Internal})
	case o.ID != old.id && o.ID != record.TopicID{} && old.id != record.TopicID{}: // deleted and made anew between two looks
		delete(t.byID, old.id)
		t.emit(nil, exactly(t.nowMs), 0, event.TopicDeleted{Topic: o.Name})
		t.emit(nil, exactly(t.nowMs), 0, event.TopicCreated{Topic: o.Name, Partitions: n, Replicas: replicas(o), Internal: o.Internal})
	case n > old.partitions:
		t.emit(nil, exactly(t.nowMs), 0, event.PartitionsAdded{Topic: o.Name, From: old.partitions, To: n})
		old.grewMs = t.nowMs
	}
	if old == nil {
		old = &topic{name: t.names.one(o.Name)}
		t.topics[old.name] = old
	}
	old.id, old.partitions, old.internal, old.gone = o.ID, n, o.Internal, false
	if o.ID != (record.TopicID{}) {
		t.byID[o.ID] = old.name
		t.named(o.ID)
	}
}

func replicas(o *Topic) int16 {
	if len(o.Partitions) == 0 {
		return 0
	}
	return int16(len(o.Partitions[0].Replicas))
}

// leaders follows the leaders of __consumer_offsets. A new leader loads its groups from the log: what was under way at the
// old one is over, and the members are the last record's.
func (t *Timeline) leaders(o *Topic) {
	list := slices.Clone(o.Partitions)
	slices.SortFunc(list, func(a, b Partition) int { return cmp.Compare(a.Number, b.Number) })
	for _, p := range list {
		old, known := t.offsetsTopic[p.Number]
		if known && old.Leader == p.Leader && old.Epoch == p.Epoch && slices.Equal(old.ISR, p.ISR) && slices.Equal(old.Replicas, p.Replicas) {
			continue
		}
		p.Replicas, p.ISR = slices.Clone(p.Replicas), slices.Clone(p.ISR)
		t.offsetsTopic[p.Number] = p
		cause := t.emitAt(p.Number, 0, event.LeaderChanged{Topic: offsetsTopic, Partition: p.Number, Leader: p.Leader, Epoch: p.Epoch,
			Replicas: p.Replicas, ISR: p.ISR})
		if read := t.partitions[p.Number]; known && old.Leader != p.Leader && read != nil {
			read.leaderSinceMs = t.nowMs
			t.moved(read, p, cause)
		}
	}
}

// moved tells of a partition's groups at their new coordinator.
func (t *Timeline) moved(read *partition, p Partition, cause int64) {
	if !read.ready || p.Leader < 0 {
		return
	}
	done := event.LoadFinished{Partition: p.Number, Epoch: p.Epoch, RetentionMs: t.about.RetentionMs}
	for _, g := range t.sorted() {
		if g.partition != p.Number || !g.told {
			continue
		}
		done.Groups++
		for _, x := range g.offsets {
			done.Offsets += len(x.list)
		}
		t.endMotion(g)
		if g.modern != nil {
			t.tellModern(g, when{t.nowMs, t.nowMs, event.Inferred}, cause)
			continue
		}
		if g.hasRecord {
			g.members, g.state = g.record.members, event.Stable
		}
		if len(g.members) == 0 {
			g.state = event.Empty
		}
		for _, body := range g.loaded() {
			t.emit(g, when{t.nowMs, t.nowMs, event.Inferred}, cause, body)
		}
	}
	t.emitAt(p.Number, cause, done)
}

func (t *Timeline) sourceFailed(o SourceFailed) {
	b := event.SightChanged{Source: o.Source, Lost: true, Code: o.Code, Reason: o.Reason, SinceMs: t.nowMs, Right: o.Right, Hides: o.Hides}
	old, was := t.lost[o.Source]
	if was {
		b.SinceMs = old.SinceMs
		if b == old {
			return
		}
	}
	t.lost[o.Source] = b
	t.emit(nil, exactly(t.nowMs), 0, b)
	t.events[len(t.events)-1].Broker = o.Broker
}

func (t *Timeline) sourceBack(o SourceBack) {
	if _, was := t.lost[o.Source]; !was {
		return
	}
	delete(t.lost, o.Source)
	t.emit(nil, exactly(t.nowMs), 0, event.SightChanged{Source: o.Source})
	t.events[len(t.events)-1].Broker = o.Broker
}
