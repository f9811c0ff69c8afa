package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// codeFenced is FENCED_INSTANCE_ID.
const codeFenced = 82

// replaceMember gives a static member its new id. It is the same member in the same row; its process is a new one, and
// whoever still uses the old id is fenced.
func (m *Model) replaceMember(g *Group, e event.Event, b event.MemberReplaced) {
	mb := g.Member(b.Old)
	if mb == nil {
		return
	}
	lane := g.lane(mb)
	old := Incarnation{ID: b.Old, Client: mb.process(), ReplacedMs: e.AtMs}
	if g.lastFenced.Member == b.Old && g.lastFenced.AtMs == e.AtMs { // its reply was parked
		old.Fenced = g.lastFenced
	}
	if n := len(mb.Earlier); b.ClientID == "" && n > 0 && mb.Earlier[n-1].ID == b.Member {
		mb.Process, mb.Earlier = mb.Earlier[n-1].Client, mb.Earlier[:n-1] // the new id was not written: the old one is back
	} else {
		mb.Earlier = keep(append(slices.Clip(mb.Earlier), old), 16)
	}
	if c := b.ClientID; c != "" && c != mb.process() {
		mb.Label, g.names = "", nil
		mb.Label = g.newLabel(m, b.Member, c)
		mb.Process = c
		lane.Label = mb.InstanceID // the place in the group goes on, whoever has it
	}
	lane.Earlier, lane.Member = append(slices.Clip(lane.Earlier), b.Old), b.Member
	mb.ID, mb.LastHeardMs, g.names = b.Member, e.AtMs, nil
	if mb.Gone {
		mb.Gone = false
		g.span(mb, SpanMember, e.AtMs, 0)
	}
}

// process is the client whose process has a member's id.
func (mb *Member) process() string {
	if mb.Process != "" {
		return mb.Process
	}
	return mb.ClientID
}

// processOf finds the process of a static member that was loaded, where it is not the one that the log names.
func (m *Model) processOf(g *Group, b event.MemberAdded) string {
	for _, c := range m.Clients {
		if c.Group == g.Name && c.Member == b.Member && c.Name != b.ClientID {
			return c.Name
		}
	}
	return ""
}

// applyAnswer learns from an answer what it says beside its request: who is fenced, what a load keeps waiting, what became
// of an append that failed.
func (m *Model) applyAnswer(g *Group, e event.Event) {
	b, ok := e.Body.(event.ReplySent)
	if !ok {
		return
	}
	if b.Code == codeFenced {
		g.fence(fencing{Member: b.Member, API: b.API, Code: b.Code, AtMs: e.AtMs, Broker: e.Broker, Times: 1})
	}
	answer := Answered{API: b.API, Code: b.Code, LastMs: e.AtMs, Member: b.Member}
	if f := g.Failed; f != nil && e.Cause == f.Seq {
		f.Answers = answered(f.Answers, answer)
	}
	if l := m.loadOf(g, e.Broker); l != nil && (b.Code == codeLoading || b.API == apiHeartbeat) {
		l.Answers = answered(l.Answers, answer)
	}
}

// fence notes that the process of an earlier id was told so.
func (g *Group) fence(f fencing) {
	g.lastFenced = f
	for _, mb := range g.Members {
		for i := range mb.Earlier {
			if inc := &mb.Earlier[i]; inc.ID == f.Member {
				f.Times += inc.Fenced.Times
				inc.Fenced = f
			}
		}
	}
}

// fencedProcess finds the member whose id a process had before, and which id; nil where none had.
func (g *Group) fencedProcess(c *Client) (*Member, *Incarnation) {
	for _, mb := range g.Members {
		for i := len(mb.Earlier) - 1; i >= 0; i-- {
			inc := &mb.Earlier[i]
			if inc.Client == c.Name && mb.process() != c.Name && (c.Member == inc.ID || inc.Fenced.Code != 0 && c.Failed != "") {
				return mb, inc
			}
		}
	}
	return nil, nil
}
