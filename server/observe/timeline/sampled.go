package timeline

import (
	"slices"

	"grouplab/coordinator/event"
)

// sampleModern follows a KIP-848 group that only ConsumerGroupDescribe tells of.
func (t *Timeline) sampleModern(g *group, o *Described, p poll) {
	w := when{p.asked, p.answered, event.Sampled}
	old := g.lastModern
	g.lastModern = copyOf(o)
	if inMotion(o.State) {
		t.moving[g.name] = g
	} else {
		delete(t.moving, g.name)
	}
	members := t.sampledMembers(o)
	if old == nil {
		g.told, g.sampled, g.typ, g.protocolType, g.protocol = true, true, consumerType, "consumer", t.names.one(o.Protocol)
		g.generation, g.state, g.members = o.Epoch, o.State, members
		t.emit(g, w, 0, event.GroupLoaded{State: o.State, Generation: o.Epoch, ProtocolType: "consumer", Protocol: g.protocol, Partition: g.partition})
		for _, m := range members {
			t.emit(g, w, 0, m.added(true))
		}
		for _, body := range sampledAssignments(o) {
			t.emit(g, w, 0, body)
		}
		return
	}
	w.lo = min(old.AskedMs, w.lo)
	var fresh, gone []*member
	for _, m := range members {
		if find(g.members, m.id) == nil {
			fresh = append(fresh, m)
		}
	}
	for _, m := range g.members {
		if find(members, m.id) == nil {
			gone = append(gone, m)
		}
	}
	cause := int64(0)
	if o.Epoch != old.Epoch {
		g.generation = o.Epoch
		g.cause = whySampled(o, fresh, gone)
		cause = t.emit(g, w, 0, event.EpochBumped{Epoch: o.Epoch, Why: g.cause.Why, Member: g.cause.Member, Confidence: g.cause.Confidence})
		t.emit(g, when{w.lo, w.hi, event.Inferred}, cause, g.cause)
	}
	for _, m := range fresh {
		t.emit(g, w, cause, m.added(false))
	}
	for _, m := range gone {
		t.emit(g, w, cause, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
	}
	g.members = members
	t.sampledSteps(g, old, o, w, cause)
}

// whySampled concludes why the epoch rose between two looks.
func whySampled(o *Described, fresh, gone []*member) event.CauseInferred {
	c := event.CauseInferred{Generation: o.Epoch, Confidence: event.Medium}
	switch {
	case len(fresh) > 0 && len(gone) == 0:
		c.Why, c.Member, c.Evidence = event.WhyNewMember, only(fresh), listOf(fresh)+" came between two looks"
	case len(gone) > 0 && len(fresh) == 0:
		c.Why, c.Member, c.Evidence = event.WhyMembersGone, only(gone), listOf(gone)+" went between two looks"
	case len(fresh) > 0:
		c.Why, c.Confidence, c.Evidence = event.WhyNewMember, event.Low, listOf(fresh)+" came and "+listOf(gone)+" went between two looks"
	default:
		c.Why, c.Confidence, c.Evidence = event.WhyTopicsChanged, event.Low, "the epoch rose and the members are the same"
	}
	return c
}

func (t *Timeline) sampledSteps(g *group, old, o *Described, w when, cause int64) {
	targets := sampledAssignments(o)
	before := sampledAssignments(old)
	if o.TargetEpoch != old.TargetEpoch {
		b := targets[0].(event.TargetAssigned)
		b.Moved = movedBetween(old, o)
		cause = t.emit(g, w, cause, b)
	}
	for _, body := range targets[1:] {
		b := body.(event.MemberReconciled)
		same := slices.ContainsFunc(before[1:], func(x event.Body) bool {
			a := x.(event.MemberReconciled)
			return a.Member == b.Member && a.Epoch == b.Epoch && a.State == b.State && slices.EqualFunc(a.Assigned, b.Assigned, sameTopic)
		})
		if !same {
			t.emit(g, w, cause, b)
		}
	}
	t.changeState(g, w, cause, event.StateChanged{To: o.State, Why: whyModern(o.State, g.cause)})
}

func movedBetween(old, o *Described) (n int) {
	owner := map[string]map[int32]string{}
	for i := range old.Members {
		for _, x := range old.Members[i].Target {
			if owner[x.Topic] == nil {
				owner[x.Topic] = map[int32]string{}
			}
			for _, number := range x.Partitions {
				owner[x.Topic][number] = old.Members[i].Member
			}
		}
	}
	for i := range o.Members {
		for _, x := range o.Members[i].Target {
			for _, number := range x.Partitions {
				if owner[x.Topic][number] != o.Members[i].Member {
					n++
				}
			}
		}
	}
	return n
}

func (t *Timeline) sampledMembers(o *Described) (list []*member) {
	for i := range o.Members {
		d := &o.Members[i]
		list = append(list, &member{id: d.Member, instance: d.InstanceID, clientID: t.names.one(d.ClientID), host: t.names.one(d.ClientHost),
			topics: t.names.all(slices.Clone(d.Topics)), assigned: d.Assigned, seenMs: o.AskedMs})
	}
	return list
}

// sampledAssignments are the target and each member's step of an answer.
func sampledAssignments(o *Described) []event.Body {
	target := event.TargetAssigned{Epoch: o.TargetEpoch}
	var steps []event.Body
	for i := range o.Members {
		d := &o.Members[i]
		target.Assignments = append(target.Assignments, event.Assignment{Member: d.Member, Topics: d.Target})
		state := "stable"
		switch {
		case !within(d.Assigned, d.Target):
			state = "unrevoked_partitions"
		case !within(d.Target, d.Assigned):
			state = "unreleased_partitions"
		}
		steps = append(steps, event.MemberReconciled{Member: d.Member, Epoch: d.Epoch, PreviousEpoch: d.Epoch, State: state, Assigned: d.Assigned})
	}
	return append([]event.Body{target}, steps...)
}

// within tells whether all of a is in b.
func within(a, b []event.TopicPartitions) bool {
	for _, x := range a {
		i := slices.IndexFunc(b, func(y event.TopicPartitions) bool { return y.Topic == x.Topic })
		if i < 0 && len(x.Partitions) > 0 {
			return false
		}
		for _, number := range x.Partitions {
			if !slices.Contains(b[i].Partitions, number) {
				return false
			}
		}
	}
	return true
}

// copyOf keeps an answer that the host may use again.
func copyOf(o *Described) *Described {
	c := *o
	c.Members = slices.Clone(o.Members)
	for i := range c.Members {
		m := &c.Members[i]
		m.Subscription, m.Assignment = nil, nil
		m.Topics, m.Assigned, m.Target = slices.Clone(m.Topics), slices.Clone(m.Assigned), slices.Clone(m.Target)
	}
	return &c
}
