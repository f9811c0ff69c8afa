package kafka

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

// introduced is a connection as its ConnectionOpened told of it, and when.
type introduced struct {
	opened event.ConnectionOpened
	broker int32
	atMs   int64
}

// closedConn is a closed connection that left members behind.
type closedConn struct {
	id       int64
	clientID string
	broker   int32
	atMs     int64
	reason   string
}

// Facts returns the events from which a fold learns which connections are open and which members are ghosts, by time.
// They use no new Seq: each carries seq. It runs on the loop's goroutine.
func (s *Server) Facts(seq int64) []event.Event {
	var facts []event.Event
	for _, c := range s.open {
		facts = append(facts, event.Event{Seq: seq, AtMs: c.atMs, Broker: c.broker, Body: c.opened})
	}
	return byTime(append(facts, s.ghosts(seq)...))
}

// Ghosts returns of Facts those about connections that left members behind. It runs on the loop's goroutine.
func (s *Server) Ghosts(seq int64) []event.Event { return byTime(s.ghosts(seq)) }

func (s *Server) ghosts(seq int64) (facts []event.Event) {
	left := map[*closedConn][]string{}
	for k, o := range s.members.owners {
		if o.member && o.closed != nil {
			left[o.closed] = append(left[o.closed], k.member)
		}
	}
	for c, ghosts := range left {
		slices.Sort(ghosts)
		facts = append(facts, event.Event{Seq: seq, AtMs: c.atMs, Broker: c.broker,
			Body: event.ConnectionClosed{Connection: c.id, ClientID: c.clientID, Members: ghosts, Reason: c.reason}})
	}
	return facts
}

func byTime(facts []event.Event) []event.Event {
	slices.SortFunc(facts, func(a, b event.Event) int {
		return cmp.Or(cmp.Compare(a.AtMs, b.AtMs), cmp.Compare(connectionOf(a), connectionOf(b)))
	})
	return facts
}

func connectionOf(e event.Event) int64 {
	switch b := e.Body.(type) {
	case event.ConnectionOpened:
		return b.Connection
	case event.ConnectionClosed:
		return b.Connection
	}
	return 0
}
