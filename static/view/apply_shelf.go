package view

import "grouplab/coordinator/event"

const (
	apiJoinGroup = 11
	apiSyncGroup = 14
)

// applyShelf moves replies onto the shelves and off them.
func (g *Group) applyShelf(e event.Event) {
	switch b := e.Body.(type) {
	case event.RequestReceived:
		if b.API == apiSyncGroup {
			if mb := g.Member(b.Member); mb != nil {
				mb.AwaitsSync = false
			}
		}
		if b.API == apiJoinGroup || b.API == apiSyncGroup {
			g.message(Message{API: b.API, Member: g.memberOf(b.Member, b.ClientID), FromMs: e.AtMs, ToMs: e.AtMs, Seq: e.Seq})
		}
	case event.ReplyParked:
		g.park(&Parked{Ticket: b.Ticket, API: b.API, Member: b.Member, ClientID: b.ClientID, SinceMs: b.SinceMs, Until: b.Until, Seq: e.Seq})
	case event.ReplySent:
		if p := g.unpark(b.Ticket); p != nil {
			g.endWait(p.Member, e.AtMs)
			g.message(Message{API: b.API, Member: p.Member, FromMs: e.AtMs, ToMs: e.AtMs, Reply: true, Code: b.Code, Seq: e.Seq})
		}
	case event.ReplyDropped:
		if p := g.unpark(b.Ticket); p != nil {
			g.endWait(p.Member, e.AtMs)
		}
	}
}

func (g *Group) memberOf(member, clientID string) string {
	if member != "" {
		return member
	}
	return clientID
}

func (g *Group) park(p *Parked) {
	kind := SpanJoin
	switch p.API {
	case apiJoinGroup:
		g.Join = append(g.Join, p)
	case apiSyncGroup:
		g.Sync = append(g.Sync, p)
		kind = SpanSync
	default:
		return
	}
	if mb := g.Member(p.Member); mb != nil {
		mb.LastHeardMs = p.SinceMs
		mb.New = mb.New && p.API == apiJoinGroup
		g.span(mb, kind, p.SinceMs, 0)
	}
}

func (g *Group) unpark(ticket int64) *Parked {
	var found *Parked
	match := func(p *Parked) bool {
		if p.Ticket == ticket {
			found = p
		}
		return p.Ticket == ticket
	}
	g.Join = drop(g.Join, match)
	if found == nil {
		g.Sync = drop(g.Sync, match)
	}
	return found
}

// endWait ends a member's waiting span: it is answered and a member again.
func (g *Group) endWait(member string, atMs int64) {
	if mb := g.Member(member); mb != nil && !mb.Removed && !mb.Gone {
		mb.New = false
		g.span(mb, SpanMember, atMs, 0)
	}
}

// ParkedJoin is the member's reply on the join shelf, nil where there is none.
func (g *Group) ParkedJoin(member string) *Parked { return parkedOf(g.Join, member) }

// ParkedSync is the member's reply on the sync shelf, nil where there is none.
func (g *Group) ParkedSync(member string) *Parked { return parkedOf(g.Sync, member) }

func parkedOf(shelf []*Parked, member string) *Parked {
	for _, p := range shelf {
		if p.Member == member {
			return p
		}
	}
	return nil
}

// applyPurgatory keeps the list of operations that wait.
func (g *Group) applyPurgatory(m *Model, e event.Event) {
	switch b := e.Body.(type) {
	case event.OperationWatched:
		op := &Op{Key: OpKey{e.Broker, b.Op}, Group: g.Name, Type: b.Type, Keys: b.Keys, Member: b.Member, Generation: b.Generation,
			StartMs: b.StartMs, DeadlineMs: b.DeadlineMs, RemainingMs: b.RemainingMs, DeadlineOf: b.DeadlineOf, Until: b.Until,
			Pending: b.Pending, New: b.New, Level: b.Level, CellMs: b.CellMs, Seq: e.Seq}
		g.Ops = append(drop(g.Ops, func(x *Op) bool { return x.Key == op.Key }), op)
		switch b.Type {
		case event.InitialDelayedJoin:
			g.Delays = append(copied(g.Delays), b.StartMs)
		case event.DelayedJoin:
			op.Rearmed = g.rearmedMs > 0 && g.rearmedMs == e.AtMs
			g.rearmedMs = 0
		}
		g.ghostDeadline(b)
		m.swept(e.Broker, b.Type, b.Unswept, b.Over)
	case event.OperationTested:
		if op := g.opByKey(OpKey{e.Broker, b.Op}); op != nil {
			op.Lacks, op.LacksMs = b.Lacks, e.AtMs
			m.knock = &Knock{Key: op.Key, Under: b.Key, AtMs: e.AtMs}
		}
	case event.OperationCompleted:
		if b.Type == event.DelayedJoin && b.Expired {
			g.rearmedMs = e.AtMs
		}
		if b.Expired {
			m.swept(e.Broker, b.Type, b.Unswept, b.Over)
		}
		g.Ops = drop(g.Ops, func(x *Op) bool { return x.Key == OpKey{e.Broker, b.Op} })
	case event.TimerCascaded:
		if op := g.opByKey(OpKey{e.Broker, b.Op}); op != nil {
			op.Level, op.CellMs = b.Level, b.CellMs
		}
	}
}

// swept notes how much of a broker's purgatory is over.
func (m *Model) swept(broker int32, kind event.OpKind, unswept, over int) {
	b := m.Brokers[broker]
	if b == nil {
		return
	}
	if kind == event.DelayedHeartbeat {
		b.Heartbeats = Sweep{unswept, over}
	} else {
		b.Rebalances = Sweep{unswept, over}
	}
}

// ghostDeadline tells a ghost's lane when its session runs out, where the timer was armed after it died.
func (g *Group) ghostDeadline(b event.OperationWatched) {
	mb := g.Member(b.Member)
	if mb == nil || !mb.Gone || b.Type != event.DelayedHeartbeat {
		return
	}
	if lane := g.lane(mb); len(lane.Spans) > 0 {
		lane.Spans[len(lane.Spans)-1].DeadlineMs = b.DeadlineMs
	}
}

func (g *Group) opByKey(key OpKey) *Op {
	for _, op := range g.Ops {
		if op.Key == key {
			return op
		}
	}
	return nil
}

// Knocked is the last test of a watched operation, nil where there was none.
func (m *Model) Knocked() *Knock { return m.knock }
