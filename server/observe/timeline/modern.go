package timeline

import (
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// modern is a KIP-848 group as the log has it.
type modern struct {
	epoch, target int32
	hash          int64
	sinceMs       int64 // of the epoch
	members       []*modernMember
}

// modernMember is what the log says of one member.
type modernMember struct {
	*member
	known    bool // its metadata (kind 5) was there
	regex    string
	assignor string
	// current is kind 8, currentMs its time; target is kind 7.
	current   record.ModernCurrent
	last      record.ModernCurrent // what current was before its tombstone
	currentMs int64
	target    []record.IDPartitions
	waitsFor  []string // as told last
}

// static members that are away for a while have this epoch.
const awayEpoch = -2

func (x *modern) member(id string) *modernMember {
	for _, m := range x.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// make finds or makes a member.
func (x *modern) make(id string) *modernMember {
	if m := x.member(id); m != nil {
		return m
	}
	m := &modernMember{member: &member{id: id}, current: record.ModernCurrent{Epoch: -1, PreviousEpoch: -1}}
	x.members = append(x.members, m)
	return m
}

// change is what one step did to a group.
type change struct {
	fresh, gone, updated, moved []*modernMember
	epoch, target               int32 // before
	hash                        int64
	bumped, targeted            bool
	topics, regex               bool // kinds 4 and 16 were there
	targets                     map[idPartition]string
	removed                     bool
}

type idPartition struct {
	topic  record.TopicID
	number int32
}

// targets are the members by the partitions that they shall have.
func (x *modern) targets() map[idPartition]string {
	owner := map[idPartition]string{}
	for _, m := range x.members {
		for _, tp := range m.target {
			for _, number := range tp.Partitions {
				owner[idPartition{tp.Topic, number}] = m.id
			}
		}
	}
	return owner
}

// loadModern takes a record while its partition is read for the first time: what compaction has left is no history.
func (t *Timeline) loadModern(p *partition, g *group, r modernRecord, from *Record) {
	c := &change{}
	t.applyModern(p, g, r, from.TimestampMs, c)
	if c.removed {
		g.modern, g.members = nil, nil
	}
}

// applyModern takes one record into a group.
func (t *Timeline) applyModern(p *partition, g *group, r modernRecord, atMs int64, c *change) {
	if g.modern == nil {
		if r.value == nil {
			return // a tombstone of a group that is gone
		}
		g.modern = &modern{}
		g.typ, g.protocolType = consumerType, "consumer"
		g.hasRecord, g.record = false, settled{}
	}
	x := g.modern
	var err error
	switch r.key.Kind {
	case record.ConsumerGroupMetadata:
		if r.value == nil {
			c.removed = true
			return
		}
		var v record.ModernGroup
		if v, err = record.DecodeModernGroup(r.value); err == nil {
			c.bumped = c.bumped || v.Epoch != x.epoch
			x.epoch, x.hash, x.sinceMs = v.Epoch, v.MetadataHash, atMs
		}
	case record.ConsumerGroupPartitionMetadata:
		c.topics = true
		if r.value != nil {
			err = t.learnTopics(r.value)
		}
	case record.ConsumerGroupMemberMetadata:
		err = t.applyMember(x, r, c, atMs)
	case record.ConsumerGroupTargetAssignmentMetadata:
		var v record.ModernTarget
		if r.value != nil {
			if v, err = record.DecodeModernTarget(r.value); err == nil {
				x.target, c.targeted = v.Epoch, true
			}
		}
	case record.ConsumerGroupTargetAssignmentMember:
		c.targeted = c.targeted || r.value != nil
		if m := x.member(r.key.Member); r.value == nil && m != nil {
			m.target = nil
		} else if r.value != nil {
			m = x.make(r.key.Member)
			if m.target, err = record.DecodeModernAssignment(r.value); err != nil {
				m.target = nil
			}
		}
	case record.ConsumerGroupCurrentMemberAssignment:
		err = t.applyCurrent(x, r, c, atMs)
	case record.ConsumerGroupRegularExpression:
		c.regex = true
	}
	if err != nil {
		t.skip(p, &Record{Offset: r.at}, "a value of key version "+itoa(int32(r.key.Kind))+" "+faultOf(r.value, 0))
	}
}

func (t *Timeline) learnTopics(value []byte) error {
	list, err := record.DecodeModernTopics(value)
	for _, x := range list {
		if x.Name != "" && t.byID[x.ID] == "" {
			t.byID[x.ID] = t.names.one(x.Name)
		}
	}
	return err
}

func (t *Timeline) applyMember(x *modern, r modernRecord, c *change, atMs int64) error {
	if r.value == nil {
		if m := x.member(r.key.Member); m != nil {
			x.members = slices.DeleteFunc(x.members, func(o *modernMember) bool { return o == m })
			if m.known {
				c.gone = append(c.gone, m)
			}
		}
		return nil
	}
	v, err := record.DecodeModernMember(r.value)
	if err != nil {
		return err
	}
	m := x.make(r.key.Member)
	if m.known {
		c.updated = append(c.updated, m)
	} else {
		c.fresh = append(c.fresh, m)
		m.currentMs = atMs
	}
	m.known = true
	old := *m.member
	now := old
	now.clientID, now.host, now.rebalanceMs = t.names.one(v.ClientID), t.names.one(v.ClientHost), v.RebalanceTimeoutMs
	now.topics, now.instance, m.regex, m.assignor = t.names.all(v.Topics), text(v.InstanceID), text(v.Regex), text(v.Assignor)
	now.sessionMs, now.seenMs = int32(t.sessionMs()), atMs
	now.protocols = nil
	if v.Classic {
		now.sessionMs, now.protocols = v.SessionTimeoutMs, t.names.all(v.Protocols)
	} else if m.assignor != "" {
		now.protocols = []string{t.names.one(m.assignor)}
	}
	m.member = &now
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (t *Timeline) applyCurrent(x *modern, r modernRecord, c *change, atMs int64) error {
	if r.value == nil {
		if m := x.member(r.key.Member); m != nil {
			m.last, m.current = m.current, record.ModernCurrent{Epoch: -1, PreviousEpoch: -1}
		}
		return nil
	}
	v, err := record.DecodeModernCurrent(r.value)
	if err != nil {
		return err
	}
	m := x.make(r.key.Member)
	m.current, m.currentMs = v, atMs
	if !slices.Contains(c.moved, m) {
		c.moved = append(c.moved, m)
	}
	return nil
}

// sessionMs is group.consumer.session.timeout.ms, Kafka's default where it is not known.
func (t *Timeline) sessionMs() int64 {
	if t.about.ConsumerSessionTimeoutMs > 0 {
		return t.about.ConsumerSessionTimeoutMs
	}
	return 45_000
}

// modernStep takes what a coordinator wrote at once of a KIP-848 group.
func (t *Timeline) modernStep(g *group, records []modernRecord, atMs int64, why event.Why) {
	p := t.partitions[g.partition]
	c := &change{}
	if x := g.modern; x != nil {
		c.epoch, c.target, c.hash, c.targets = x.epoch, x.target, x.hash, x.targets()
	}
	made := g.modern == nil
	for _, r := range records {
		t.applyModern(p, g, r, atMs, c)
	}
	x := g.modern
	if x == nil {
		return
	}
	switch {
	case c.removed:
		t.modernGone(g, c, atMs)
	case made && p.tail && x.epoch > 1: // not all of its records lie behind the position: only answers tell of it
		g.modern = nil
		t.moving[g.name] = g
	case why == event.WhyBecameConsumer:
		t.endMotion(g)
		g.told = false
		t.tellModernBaseline(g, 0)
		cause := t.emit(g, exactly(atMs), 0, event.EpochBumped{Epoch: x.epoch, Why: why, Confidence: event.High})
		g.cause = event.CauseInferred{Generation: x.epoch, Why: why, Confidence: event.High, Evidence: "the classic group's record was removed in the same append"}
		t.emit(g, when{atMs, atMs, event.Inferred}, cause, g.cause)
	default:
		if !g.told {
			g.told, g.generation = true, 0
			t.emit(g, exactly(atMs), 0, event.GroupCreated{})
			g.listed, g.wasListed = event.GroupListed{Type: consumerType, ProtocolType: "consumer"}, true
			t.emit(g, exactly(atMs), 0, g.listed)
		}
		t.tellChange(g, c, atMs)
	}
}

func (t *Timeline) modernGone(g *group, c *change, atMs int64) {
	for _, m := range append(c.gone, g.modern.members...) {
		if g.told && m.known {
			t.emit(g, when{atMs, atMs, event.Inferred}, 0, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
		}
	}
	g.modern, g.members = nil, nil
	g.state = event.Empty
}

// state is what Kafka derives from the same facts (ConsumerGroup.maybeUpdateGroupState).
func (x *modern) state() event.State {
	any, reconciled := false, true
	for _, m := range x.members {
		if m.known {
			any = true
			reconciled = reconciled && m.current.State == record.MemberStable && m.current.Epoch == x.target
		}
	}
	switch {
	case !any:
		return event.Empty
	case x.epoch > x.target:
		return event.Assigning
	case !reconciled:
		return event.Reconciling
	}
	return event.Stable
}

// waitsFor are the members that have not released what each is to get: partition by partition, whoever has it or is to give it up.
func (x *modern) waitsFor() map[string][]string {
	holder := map[idPartition]string{}
	for _, m := range x.members {
		for _, list := range [2][]record.IDPartitions{m.current.Assigned, m.current.PendingRevocation} {
			for _, tp := range list {
				for _, number := range tp.Partitions {
					holder[idPartition{tp.Topic, number}] = m.id
				}
			}
		}
	}
	waits := map[string][]string{}
	for _, m := range x.members {
		for _, tp := range m.target {
			for _, number := range tp.Partitions {
				if by := holder[idPartition{tp.Topic, number}]; by != "" && by != m.id && !slices.Contains(waits[m.id], by) {
					waits[m.id] = append(waits[m.id], by)
				}
			}
		}
		slices.Sort(waits[m.id])
	}
	return waits
}
