package view

import (
	"sort"
	"strings"

	"grouplab/coordinator/event"
)

// whyLink is one link of a chain of causes, the newest first.
type whyLink struct {
	event *event.Event
	// Inferred is set where no fact names what led to it: it is the absence of something that has an explanation.
	Inferred bool
}

// fact finds a fact that is known, nil where it is no longer kept.
func (s *stage) fact(seq int64) *event.Event {
	m, _ := s.head()
	i := sort.Search(len(m.Lines), func(i int) bool { return m.Lines[i].Seq >= seq })
	if i < len(m.Lines) && m.Lines[i].Seq == seq {
		return &m.Lines[i]
	}
	if s.o.Fact != nil {
		return s.o.Fact(seq)
	}
	return nil
}

// whyChain leads from a fact to its root.
func (s *stage) whyChain(seq int64) []whyLink {
	var list []whyLink
	inferred := false
	for e := s.fact(seq); e != nil; {
		list = append(list, whyLink{e, inferred})
		cause := e.Cause
		if silent := s.silence(e); silent != 0 {
			cause, inferred = silent, true
		} else {
			inferred = false
		}
		if cause == 0 || cause >= e.Seq {
			break
		}
		e = s.fact(cause)
	}
	return list
}

// silence finds what explains an absence: why nothing was heard of a member whose session ran out, why the network lost
// something, why an id is not known any more. 0 where nothing does.
func (s *stage) silence(e *event.Event) int64 {
	switch b := e.Body.(type) {
	case event.OperationCompleted:
		if b.Expired && !b.Excused && b.Type == event.DelayedHeartbeat {
			client := s.processOf(e.Group, b.Member)
			if lost := s.lastBefore(e.Seq, e.Cause, func(body event.Body) bool { return silences(body, client, b.Member) }); lost != 0 {
				return lost
			}
			// Its last heartbeat may have been on the way when it fell silent: what it did last counts.
			last := s.lastBefore(e.Seq, 0, func(body event.Body) bool {
				switch b := body.(type) {
				case event.ClientStarted:
					return b.Client == client
				case event.ClientResumed:
					return b.Client == client
				}
				return silences(body, client, b.Member)
			})
			if f := s.fact(last); f != nil && silences(f.Body, client, b.Member) {
				return last
			}
		}
	case event.MessageLost:
		if e.Cause == 0 {
			return s.lastBefore(e.Seq, 0, func(body event.Body) bool {
				in, ok := body.(event.InputGiven)
				return ok && (strings.HasPrefix(in.Text, "cut") || strings.HasPrefix(in.Text, "drop"))
			})
		}
	case event.ReplySent:
		if e.Cause == 0 && b.Code != 0 && b.Member != "" {
			return s.lastBefore(e.Seq, 0, func(body event.Body) bool {
				gone, ok := body.(event.MemberRemoved)
				return ok && gone.Member == b.Member
			})
		}
	}
	return 0
}

// silences tells whether after a fact nothing is heard of a member.
func silences(body event.Body, client, member string) bool {
	switch b := body.(type) {
	case event.ClientStopped:
		return b.Client == client
	case event.ClientPaused:
		return b.Client == client
	case event.ClientFailed:
		return b.Client == client
	case event.MessageLost:
		return b.Client == client
	case event.ConnectionClosed:
		for _, id := range b.Members {
			if id == member {
				return true
			}
		}
	}
	return false
}

// lastBefore is the newest fact before one, and after another, that fits; 0 where none does.
func (s *stage) lastBefore(seq, after int64, fits func(event.Body) bool) int64 {
	m, _ := s.head()
	i := sort.Search(len(m.Lines), func(i int) bool { return m.Lines[i].Seq >= seq }) - 1
	for ; i >= 0 && m.Lines[i].Seq > after; i-- {
		if fits(m.Lines[i].Body) {
			return m.Lines[i].Seq
		}
	}
	return 0
}

// processOf is the client whose process has a member's id.
func (s *stage) processOf(group, member string) string {
	m, _ := s.head()
	if g := m.Groups[group]; g != nil {
		if mb := g.Member(member); mb != nil {
			return mb.process()
		}
	}
	if i := strings.LastIndexByte(member, '-'); i > 0 {
		return member[:i]
	}
	return member
}

// onTheWay tells whether a link only carries on what the one before did: it is left out unless all are asked for.
func onTheWay(e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.ReplyOnWire, event.RequestReceived, event.AppendStarted, event.RecordsAppended, event.ReplicaAdvanced,
		event.HighWatermarkAdvanced, event.TimerCascaded, event.ClientStateChanged, event.TxnAppendStarted:
		return true
	case event.ReplyReceived:
		return b.Code == 0
	case event.ReplySent:
		return b.Code == 0
	case event.AppendFinished:
		return b.Code == 0
	case event.OperationWatched:
		return b.Type != event.DelayedHeartbeat
	}
	return false
}

// whyLine is a link as the panel shows it.
type whyLine struct {
	Seq            int64
	At, Who, Says  string
	Inferred, Here bool
}

// whyLines are the links that the panel shows, and how many there are.
func (s *stage) whyLines() (list []whyLine, all int) {
	chain := s.whyChain(s.o.Why)
	for i, l := range chain {
		if !s.o.WhyAll && i > 0 && i < len(chain)-1 && onTheWay(l.event) {
			continue
		}
		list = append(list, whyLine{Seq: l.event.Seq, At: s.clock(l.event.AtMs), Who: s.who(l.event), Says: s.says(l.event),
			Inferred: l.Inferred, Here: s.o.Selected == "event:"+num(l.event.Seq)})
	}
	return list, len(chain)
}

// WhyLinks are the facts that the panel of the open chain shows, from what is asked about to the root.
func WhyLinks(m *Model, o Options) []int64 {
	list, _ := newStage(m, o).whyLines()
	seqs := make([]int64, len(list))
	for i, l := range list {
		seqs[i] = l.Seq
	}
	return seqs
}

// who says who did something.
func (s *stage) who(e *event.Event) string {
	switch b := e.Body.(type) {
	case event.InputGiven:
		if s.o.Yours != nil && s.o.Yours(e.Seq) {
			return s.t("who.you")
		}
		return s.t("who.script")
	case event.OperationCompleted:
		if b.Expired {
			return s.t("who.timer")
		}
	}
	if client := clientOfFact(e); client != "" {
		return name(client)
	}
	return s.where(*e)
}

// root says what kind of root a chain has.
func (s *stage) root() string {
	chain := s.whyChain(s.o.Why)
	if len(chain) == 0 {
		return s.t("root.lost")
	}
	e := chain[len(chain)-1].event
	switch e.Body.(type) {
	case event.InputGiven:
		if s.o.Mode == ModeLive {
			return s.t("root.operator")
		}
		if s.o.Yours != nil && s.o.Yours(e.Seq) {
			return s.t("root.you")
		}
		return s.t("root.script")
	}
	if e.Cause != 0 && e.Cause < e.Seq {
		return s.t("root.lost")
	}
	switch e.Body.(type) {
	case event.HeartbeatReceived, event.RequestSent, event.OperationWatched, event.CleanupRan, event.LogCompacted, event.CoordinatorLost,
		event.ClientWaiting, event.LeaderChanged:
		if s.o.Mode != ModeLive {
			return s.t("root.timer")
		}
	}
	return s.t("root.outside")
}

// clientOfFact is the client that tells a fact, "" where it is told elsewhere.
func clientOfFact(e *event.Event) string {
	switch b := e.Body.(type) {
	case event.ClientStarted:
		return b.Client
	case event.ClientStopped:
		return b.Client
	case event.ClientPaused:
		return b.Client
	case event.ClientResumed:
		return b.Client
	case event.ClientStateChanged:
		return b.Client
	case event.ClientAssigned:
		return b.Client
	case event.ClientRevoked:
		return b.Client
	case event.ClientWaiting:
		return b.Client
	case event.ClientFailed:
		return b.Client
	case event.CoordinatorFound:
		return b.Client
	case event.CoordinatorLost:
		return b.Client
	case event.MetadataRefreshed:
		return b.Client
	case event.RequestSent:
		return b.Client
	case event.ReplyReceived:
		return b.Client
	case event.RequestFailed:
		return b.Client
	}
	return ""
}

// pastDot is a link of the chain in the space-time picture.
type pastDot struct {
	X    float64
	Y    int
	Here bool
}

// past are the links of the open chain that lie within the axis, oldest first.
func (s *stage) past(f *frame) []pastDot {
	if s.o.Why == 0 {
		return nil
	}
	chain := s.whyChain(s.o.Why)
	var list []pastDot
	for i := len(chain) - 1; i >= 0; i-- {
		e := chain[i].event
		if e.AtMs < f.Axis.lowMs {
			continue
		}
		list = append(list, pastDot{X: f.Axis.X(e.AtMs), Y: s.placeOf(f, e), Here: s.o.Selected == "event:"+num(e.Seq)})
	}
	return list
}

// placeOf is the height at which a fact happened: at a client's lane, at the coordinator's band, in the log or outside.
func (s *stage) placeOf(f *frame, e *event.Event) int {
	if client := clientOfFact(e); client != "" {
		for i, l := range f.Lanes {
			if s.processOf(s.g.Name, l.Member) == client {
				return f.laneY(i)
			}
		}
	}
	switch e.Body.(type) {
	case event.InputGiven, event.ClientStarted, event.ClientStopped:
		return f.InputY
	case event.RecordsAppended, event.AppendStarted, event.AppendFinished, event.ReplicaAdvanced, event.HighWatermarkAdvanced,
		event.LoadStarted, event.LoadFinished, event.LeaderChanged, event.LogCompacted:
		return f.LogY
	}
	return bandTop + bandHigh/2
}

// FactOf is the fact that brought about what is selected, so that its causes can be asked for; 0 where the selection names
// none.
func FactOf(m *Model, g *Group, selected string) int64 {
	kind, rest, _ := strings.Cut(selected, ":")
	switch {
	case g == nil:
		return 0
	case kind == "op":
		for _, op := range g.Ops {
			if num(op.Key.Broker)+":"+num(op.Key.Op) == rest {
				return op.Seq
			}
		}
	case kind == "parked":
		for _, p := range append(append([]*Parked(nil), g.Join...), g.Sync...) {
			if num(p.Ticket) == rest {
				return p.Seq
			}
		}
	case kind == "record":
		for _, t := range m.Tapes {
			for _, r := range t.Records {
				if num(t.Partition)+":"+num(r.Offset) == rest {
					return r.Seq
				}
			}
		}
	case kind == "generation":
		for _, gen := range g.Generations {
			if num(gen.Number) == rest {
				return gen.Seq
			}
		}
	}
	return 0
}
