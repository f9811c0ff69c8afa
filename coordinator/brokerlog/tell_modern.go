package brokerlog

import (
	"strings"

	"grouplab/coordinator/event"
)

// consumer folds what a broker says of a consumer group (KIP-848).
func (t *teller) consumer(g *group, s *saying) {
	if !g.modern {
		g.modern = true
		t.emit(g, event.GroupListed{Type: "consumer"})
	}
	t.begin(g, event.Empty, g.generation)
	switch s.kind {
	case memberJoins, staticJoins:
		g.trigger = reason{why: event.WhyNewMember, member: s.Member}
		if g.generation == 0 && len(g.members) == 0 {
			g.trigger.why = event.WhyFirstMember
		}
		t.add(g, s.Member, s.Instance, false)
	case staticRejoins:
		t.add(g, s.Other, s.Instance, true)
		t.becomes(g, s.Other, s.Member, s.Instance)
		g.trigger = reason{why: event.WhyStaticRestarted, member: s.Member}
	case staticAway:
		m := t.add(g, s.Member, s.Instance, true)
		if m != nil {
			t.emit(g, event.MemberReconciled{Member: s.Member, Epoch: -2, PreviousEpoch: m.epoch, State: stable})
		}
	case memberLeaves:
		t.remove(g, s.Member, event.WhyMemberLeft, s.Says)
		g.trigger = reason{why: event.WhyMemberLeft, member: s.Member}
	case memberFenced:
		why := event.WhySessionExpired
		if !strings.Contains(s.Text, "session expired") {
			why = event.WhyMembersGone
		}
		t.remove(g, s.Member, why, "")
		g.trigger = reason{why: why, member: s.Member}
	case memberSlow:
		t.remove(g, s.Member, event.WhyNotRevoked, "")
		g.trigger = reason{why: event.WhyNotRevoked, member: s.Member}
	case topicsUpdated:
		t.add(g, s.Member, "", true)
		g.trigger = reason{why: event.WhyMetadataChanged, member: s.Member}
	case becameConsumer:
		g.trigger = reason{why: event.WhyBecameConsumer}
	case becameClassic:
		g.modern = false
		t.emit(g, event.GroupListed{Type: "classic"})
	case epochBumped:
		t.bumped(g, s)
	case targetComputed:
		t.enter(g, event.Reconciling, event.WhyTargetReached, "")
	case memberState:
		t.reconciled(g, s)
	}
	if len(g.members) == 0 && g.state != event.Empty {
		t.enter(g, event.Empty, event.WhyNoMembers, "")
	}
}

const stable = "stable"

func (t *teller) bumped(g *group, s *saying) {
	if g.trigger.why == "" {
		g.trigger.why = event.WhyTopicsChanged
	}
	g.generation, g.began, g.startMs = int32(s.N), g.trigger, s.AtMs
	t.emit(g, event.EpochBumped{Epoch: g.generation, Why: g.trigger.why, Member: g.trigger.member})
	if len(g.members) > 0 {
		t.enter(g, event.Assigning, g.trigger.why, g.trigger.member)
	}
	g.trigger = reason{}
	for _, m := range g.order {
		m.settled = false
	}
}

// reconciled reads "assignedPartitions=[…] and revokedPartitions=[…]."
func (t *teller) reconciled(g *group, s *saying) {
	m := t.add(g, s.Member, "", true)
	if m == nil {
		return
	}
	assigned, revoked, _ := strings.Cut(s.Text, " and revokedPartitions=")
	b := event.MemberReconciled{Member: s.Member, Epoch: int32(s.N), PreviousEpoch: int32(s.K), State: strings.ToLower(s.State),
		Assigned: partitionsIn(assigned), Revoking: partitionsIn(revoked)}
	m.epoch, m.settled = b.Epoch, b.State == stable && b.Epoch == g.generation
	t.emit(g, b)
	for _, m := range g.order {
		if !m.settled {
			return
		}
	}
	if g.state == event.Reconciling || g.state == event.Assigning {
		t.enter(g, event.Stable, event.WhyTargetReached, s.Member)
		g.size = -1
		t.record(g, s.AtMs)
	}
}
