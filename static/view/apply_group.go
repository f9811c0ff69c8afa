package view

import "grouplab/coordinator/event"

func (m *Model) applyGroup(g *Group, e event.Event) {
	switch b := e.Body.(type) {
	case event.GroupCreated:
		m.takeOver(g, e)
		m.retention(e.Broker, b.RetentionMs, b.CleanupMs)
		g.enter(event.Empty, 0, e.AtMs)
	case event.GroupLoaded:
		m.loadGroup(g, e, b)
	case event.GroupRemoved:
		m.loseCoordinator(g, e.AtMs)
		g.Gone = true
	case event.StateChanged:
		m.changeState(g, e, b)
	case event.RebalanceStarted:
		g.Began = Began{Why: b.Why, Member: b.Member, ClientReason: b.ClientReason, AtMs: e.AtMs, Seq: e.Seq}
		g.Lost, g.Delays = Lost{}, nil
	case event.GenerationStarted:
		g.beginGeneration(e, b)
	case event.LeaderElected:
		g.Leader = b.Member
	case event.AssignmentStored:
		g.storeAssignment(b)
	case event.HeartbeatReceived:
		if mb := g.Member(b.Member); mb != nil {
			mb.LastHeardMs = e.AtMs
			m.revive(g, mb, e.AtMs)
		}
	default:
		m.applyMember(g, e)
		g.applyShelf(e)
		g.applyPurgatory(m, e)
		g.applyOffsets(e)
		m.applyAnswer(g, e)
	}
}

// takeOver makes the broker of a fact the group's coordinator.
func (m *Model) takeOver(g *Group, e event.Event) {
	if g.Broker != e.Broker && g.Broker != 0 {
		m.loseCoordinator(g, e.AtMs)
	}
	g.Broker, g.Gone = e.Broker, false
}

func (m *Model) loadGroup(g *Group, e event.Event, b event.GroupLoaded) {
	m.takeOver(g, e)
	if !m.inFacts {
		for _, mb := range g.Members {
			g.endLane(mb, e.AtMs)
		}
		g.Members, g.names = nil, nil
	}
	g.Partition, g.Generation, g.ProtocolType, g.Protocol, g.Leader = b.Partition, b.Generation, b.ProtocolType, b.Protocol, b.Leader
	sinceMs := b.SinceMs
	if sinceMs == 0 || sinceMs > e.AtMs {
		sinceMs = e.AtMs
	}
	if b.Began != "" {
		g.Began = Began{Why: b.Began, Member: b.BeganMember, AtMs: b.BeganMs, Seq: e.Seq}
	}
	if n := len(g.States); n == 0 || g.States[n-1].State != b.State || g.States[n-1].Generation != b.Generation || g.States[n-1].ToMs != 0 {
		fromMs := e.AtMs
		if len(g.States) == 0 && m.inFacts {
			fromMs = sinceMs
		}
		g.enter(b.State, b.Generation, fromMs)
	}
	g.State, g.SinceMs = b.State, sinceMs
	if n := len(g.Generations); b.Generation > 0 && (n == 0 || g.Generations[n-1].Number != b.Generation) {
		g.Generations = keep(append(g.Generations, Generation{Number: b.Generation, StartMs: sinceMs, Why: event.WhyGroupLoaded, Seq: e.Seq}), maxGenerations)
	}
}

func (m *Model) changeState(g *Group, e event.Event, b event.StateChanged) {
	m.takeOver(g, e)
	g.Last, g.LastSeq = b, e.Seq
	g.enter(b.To, g.Generation, e.AtMs)
	switch b.To {
	case event.CompletingRebalance:
		for _, mb := range g.Present() {
			mb.AwaitsSync = true
		}
	case event.Dead:
		g.Gone = true
	case event.PreparingRebalance, event.Empty:
		g.everAssigned = g.everAssigned && b.To != event.Empty
		for _, mb := range g.Members {
			mb.AwaitsSync = false
		}
	}
}

// enter begins a stretch of a state on the timeline.
func (g *Group) enter(s event.State, generation int32, atMs int64) {
	if n := len(g.States); n > 0 && g.States[n-1].ToMs == 0 {
		g.States[n-1].ToMs = atMs
	}
	g.States = keep(append(g.States, StateSpan{State: s, Generation: generation, FromMs: atMs}), maxSpans)
	g.State, g.SinceMs = s, atMs
}

func (g *Group) beginGeneration(e event.Event, b event.GenerationStarted) {
	if n := len(g.Generations); n > 0 && g.Generations[n-1].EndMs == 0 {
		g.Generations[n-1].EndMs = e.AtMs
	}
	g.Generation, g.Protocol, g.Leader, g.Lost = b.Generation, b.Protocol, b.Leader, Lost{}
	g.Generations = keep(append(g.Generations, Generation{Number: b.Generation, StartMs: e.AtMs, Why: g.Began.Why, Member: g.Began.Member,
		DurationMs: b.DurationMs, Members: len(b.Members), Seq: e.Seq}), maxGenerations)
	g.mark(Mark{Kind: MarkGeneration, AtMs: e.AtMs, Seq: e.Seq, Number: int64(b.Generation)})
	// Rows of members that were gone before this generation's rebalance began have been shown for one generation.
	g.Members, g.names = without(g.Members, func(mb *Member) bool { return mb.Removed && mb.RemovedGeneration < b.Generation-1 }), nil
	if n := len(g.States); n > 0 && g.States[n-1].ToMs == 0 && g.States[n-1].FromMs == e.AtMs {
		g.States[n-1].Generation = b.Generation
	}
}

func (g *Group) storeAssignment(b event.AssignmentStored) {
	for _, a := range b.Assignments {
		if mb := g.Member(a.Member); mb != nil {
			mb.Assigned = a.Topics
			g.everAssigned = true
		}
	}
}

func (m *Model) applyMember(g *Group, e event.Event) {
	switch b := e.Body.(type) {
	case event.MemberIDIssued:
		m.takeOver(g, e)
		p := &PendingID{ID: b.Member, ClientID: b.ClientID, ClientHost: b.ClientHost,
			Label: g.newLabel(m, b.Member, b.ClientID), SinceMs: e.AtMs, DeadlineMs: b.DeadlineMs}
		g.Pending = append(g.Pending, p) // no clone shares it
		g.names.add(p.ID, p.Label)
	case event.PendingForgotten:
		g.Pending = drop(g.Pending, func(p *PendingID) bool {
			if p.ID != b.Member {
				return false
			}
			g.names.free(p.Label)
			g.names.forget(p.ID)
			return true
		})
	case event.MemberAdded:
		m.addMember(g, e, b)
	case event.MemberUpdated:
		if mb := g.Member(b.Member); mb != nil {
			mb.SessionTimeoutMs, mb.RebalanceTimeoutMs, mb.Protocols, mb.Topics = b.SessionTimeoutMs, b.RebalanceTimeoutMs, b.Protocols, b.Topics
			mb.LastHeardMs = e.AtMs
			m.revive(g, mb, e.AtMs)
		}
	case event.MemberReplaced:
		m.replaceMember(g, e, b)
	case event.MemberRemoved:
		if mb := g.Member(b.Member); mb != nil {
			if !mb.Removed {
				g.names.free(mb.Label)
			}
			mb.Removed, mb.RemovedMs, mb.RemovedWhy, mb.RemovedGeneration = true, e.AtMs, b.Why, g.Generation
			mb.AwaitsSync = false
			g.endLane(mb, e.AtMs)
			if b.Why == event.WhySessionExpired {
				g.mark(Mark{Kind: MarkExpired, AtMs: e.AtMs, Seq: e.Seq, Member: b.Member})
			}
		}
	}
}

func (m *Model) addMember(g *Group, e event.Event, b event.MemberAdded) {
	m.takeOver(g, e)
	mb := &Member{ID: b.Member, InstanceID: b.InstanceID, ClientID: b.ClientID, ClientHost: b.ClientHost,
		SessionTimeoutMs: b.SessionTimeoutMs, RebalanceTimeoutMs: b.RebalanceTimeoutMs, Protocols: b.Protocols, Topics: b.Topics,
		New: b.New, AddedMs: e.AtMs, AddedGeneration: g.Generation, LastHeardMs: e.AtMs}
	if b.Loaded && b.InstanceID != "" {
		mb.Process = m.processOf(g, b)
	}
	mb.Label = g.newLabel(m, b.Member, mb.process())
	g.Members = append(without(g.Members, func(x *Member) bool {
		if x.ID != b.Member && (!x.Removed || x.Label != mb.Label) {
			return false
		}
		if !x.Removed {
			g.names.free(x.Label)
		}
		g.names.forget(x.ID)
		return true
	}), mb)
	g.names.add(mb.ID, mb.Label)
	// A loaded member's process may have died before its coordinator did.
	if c := m.Clients[mb.process()]; b.Loaded && c != nil && c.Started && c.Group == g.Name && (!c.Alive || c.Member != "" && c.Member != b.Member) {
		mb.Gone, mb.GoneMs = true, c.SinceMs
	}
	kind := SpanMember
	if mb.Gone {
		kind = SpanGhost
	}
	g.span(mb, kind, e.AtMs, 0)
}
