package view

import "grouplab/coordinator/event"

func (m *Model) client(name, group string) *Client {
	c := m.Clients[name]
	if c == nil {
		c = &Client{Name: name, Group: group}
		m.Clients[name] = c
	}
	return c
}

func (m *Model) applyClient(e event.Event) {
	switch b := e.Body.(type) {
	case event.ClientStarted:
		m.Clients[b.Client] = &Client{Name: b.Client, Group: e.Group, Topics: b.Topics, Real: b.Real, Alive: true, Started: true,
			SinceMs: e.AtMs, State: event.Unjoined, SessionTimeoutMs: b.SessionTimeoutMs, HeartbeatMs: b.HeartbeatMs}
	case event.ClientStopped:
		c := m.client(b.Client, e.Group)
		c.Alive, c.Killed, c.Owned, c.WaitingFor, c.SinceMs = false, b.Killed, nil, "", e.AtMs
		m.dropFlights(b.Client)
		if b.Killed {
			m.killed(c, e)
		}
	case event.ClientPaused:
		m.client(b.Client, e.Group).Paused = true
	case event.ClientResumed:
		m.client(b.Client, e.Group).Paused = false
	case event.ClientStateChanged:
		c := m.client(b.Client, e.Group)
		c.State, c.Member, c.Generation, c.Reason = b.To, b.Member, b.Generation, b.Reason
		c.WaitingFor = ""
	case event.ClientAssigned:
		m.client(b.Client, e.Group).Owned = b.Topics
	case event.ClientRevoked:
		m.client(b.Client, e.Group).Owned = minus(m.client(b.Client, e.Group).Owned, b.Topics)
	case event.ClientWaiting:
		c := m.client(b.Client, e.Group)
		c.WaitingFor, c.WaitingUntilMs = b.For, b.DeadlineMs
	case event.ClientFailed:
		m.client(b.Client, e.Group).Failed = b.Error
	case event.CoordinatorFound:
		m.client(b.Client, e.Group).Coordinator = b.ID
	case event.CoordinatorLost:
		m.client(b.Client, e.Group).Coordinator = 0
	case event.ConnectionClosed:
		m.connectionClosed(e, b)
	default:
		m.applyWire(e)
	}
}

func (m *Model) applyWire(e event.Event) {
	switch b := e.Body.(type) {
	case event.RequestSent:
		m.Flights[b.Request] = &Flight{Request: b.Request, Client: b.Client, Group: e.Group, Member: b.Member, API: b.API,
			Broker: b.To, LeftMs: e.AtMs, ArrivesMs: b.ArrivesMs, DeadlineMs: b.DeadlineMs}
	case event.RequestReceived:
		if f := m.Flights[b.Ticket]; f != nil {
			f.Parked = true
		}
	case event.ReplyOnWire:
		f := m.Flights[b.Request]
		if f == nil {
			f = &Flight{Request: b.Request, Client: b.Client, Group: e.Group, API: b.API}
			m.Flights[b.Request] = f
		}
		f.Reply, f.Parked, f.Code, f.Broker, f.LeftMs, f.ArrivesMs = true, false, b.Code, b.From, e.AtMs, b.ArrivesMs
	case event.ReplyReceived:
		delete(m.Flights, b.Request)
	case event.RequestFailed:
		delete(m.Flights, b.Request)
	case event.MessageLost:
		if f := m.Flights[b.Request]; f != nil {
			f.ArrivesMs = 0
		}
	}
}

func (m *Model) dropFlights(client string) {
	for n, f := range m.Flights {
		if f.Client == client {
			delete(m.Flights, n)
		}
	}
}

// killed makes ghosts of the members that belong to a dead process.
func (m *Model) killed(c *Client, e event.Event) {
	for _, g := range m.Groups {
		if c.Group != "" && g.Name != c.Group {
			continue
		}
		for _, mb := range g.Members {
			if mb.process() == c.Name {
				g.ghost(mb, e)
			}
		}
	}
}

func (m *Model) connectionClosed(e event.Event, b event.ConnectionClosed) {
	for _, id := range b.Members {
		for _, g := range m.Groups {
			if e.Group != "" && g.Name != e.Group {
				continue
			}
			if mb := g.Member(id); mb != nil {
				g.ghost(mb, e)
			}
		}
	}
}

// ghost marks a member whose process is gone.
func (g *Group) ghost(mb *Member, e event.Event) {
	if mb.Removed || mb.Gone {
		return
	}
	mb.Gone, mb.GoneMs = true, e.AtMs
	var deadlineMs int64
	if op := g.SessionOp(mb.ID); op != nil {
		deadlineMs = op.DeadlineMs
	}
	g.span(mb, SpanGhost, e.AtMs, deadlineMs)
	g.mark(Mark{Kind: MarkKill, AtMs: e.AtMs, Seq: e.Seq, Member: mb.ID})
}

// revive takes back that a member is a ghost: it was heard, so only its connection had gone. Of a process that is known to be
// dead, what is heard was under way, also where another runs under its name since.
func (m *Model) revive(g *Group, mb *Member, atMs int64) {
	c := m.Clients[mb.process()]
	if mb.Gone && !mb.Removed && (c == nil || !c.Started || c.Alive && c.SinceMs < mb.GoneMs) {
		mb.Gone, mb.GoneMs = false, 0
		g.span(mb, SpanMember, atMs, 0)
	}
}

// minus takes partitions away from a list of owned ones.
func minus(owned, gone []event.TopicPartitions) []event.TopicPartitions {
	type tp struct {
		topic     string
		partition int32
	}
	drop := map[tp]bool{}
	for _, t := range gone {
		for _, p := range t.Partitions {
			drop[tp{t.Topic, p}] = true
		}
	}
	var left []event.TopicPartitions
	for _, t := range owned {
		kept := without(t.Partitions, func(p int32) bool { return drop[tp{t.Topic, p}] })
		if len(kept) > 0 {
			left = append(left, event.TopicPartitions{Topic: t.Topic, Partitions: kept})
		}
	}
	return left
}
