package view

import "grouplab/coordinator/event"

// reconcile folds what a consumer group tells (KIP-848). Its epoch stands where a classic group has its generation.
func (w *Watched) reconcile(m *Model, e event.Event) {
	if w.Modern == nil {
		w.Modern = &Modern{Members: map[string]event.MemberReconciled{}}
	}
	g := m.group(e)
	if g.Gone && g.State != event.Dead {
		g.Gone = false
	}
	switch b := e.Body.(type) {
	case event.EpochBumped:
		w.Modern.Epoch, w.Modern.Bumped, w.Modern.BumpedMs = b.Epoch, b, e.AtMs
		g.Generation = b.Epoch
		g.Began = Began{Why: b.Why, Member: b.Member, AtMs: e.AtMs, Seq: e.Seq}
		g.mark(Mark{Kind: MarkGeneration, AtMs: e.AtMs, Seq: e.Seq, Number: int64(b.Epoch)})
	case event.TargetAssigned:
		w.Modern.Target, w.Modern.Targets, w.Modern.Moved, w.Modern.TargetMs = b.Epoch, b.Assignments, b.Moved, e.AtMs
	case event.MemberReconciled:
		w.Modern.Members[b.Member] = b
		if mb := g.Member(b.Member); mb != nil {
			mb.Assigned = b.Assigned
			g.everAssigned = true
		}
	}
}

// target is what a member is to have, nil where that is not known.
func (w *Modern) target(member string) []event.TopicPartitions {
	for _, a := range w.Targets {
		if a.Member == member {
			return a.Topics
		}
	}
	return nil
}
