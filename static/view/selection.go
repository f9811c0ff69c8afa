package view

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// card explains what is selected.
type card struct {
	Kind, Title string
	Fields      []field
	Chain       []line
	Verbs       []verbButton
	Missing     bool
	// Links lead to what hangs on it. All are all fields of a fact. Raw are its bytes, Go and Kafka the code that did it.
	Links []link
	All   []field
	Raw   *Raw
	Go    []string
	Kafka string
}

type field struct{ Name, Value string }

// verbButton is something a viewer may do to what is selected.
type verbButton struct{ Do, Arg, Text string }

// selected finds what Options.Selected names; nil where nothing is selected.
func (s *stage) selected() *card {
	kind, rest, _ := strings.Cut(s.o.Selected, ":")
	var c *card
	if s.o.ext != nil {
		if c = s.o.ext.card(s, kind, rest); c != nil {
			c.Kind = s.t("card." + kind)
			return c
		}
	}
	switch kind {
	case "":
		return nil
	case "member":
		c = s.memberCard(rest)
	case "client":
		c = s.clientCard(rest)
	case "op":
		c = s.opCardOf(rest)
	case "purge":
		c = s.purgeCard()
	case "record":
		c = s.recordCard(rest)
	case "event":
		c = s.eventCard(rest)
	case "broker":
		c = s.brokerCard(rest)
	case "request":
		c = s.requestCard(rest)
	case "partition":
		c = s.partitionCard(rest)
	case "generation":
		c = s.generationCard(rest)
	case "state":
		if slices.Contains(states, event.State(rest)) {
			c = &card{Title: rest, Fields: []field{{s.t("card.meaning"), s.t("state.says." + rest)}}}
			s.code(c, "StateChanged")
		}
	}
	if c == nil {
		return &card{Kind: "", Title: s.t("card.gone"), Missing: true, Fields: []field{{s.t("card.was"), short(s.o.Selected, 60)}}}
	}
	c.Kind = s.t("card." + kind)
	return c
}

func (s *stage) memberCard(id string) *card {
	if s.g == nil {
		return nil
	}
	mb := s.g.Member(id)
	if mb == nil {
		return s.pendingCard(id)
	}
	c := &card{Title: name(mb.Label)}
	c.add(s.t("card.id"), event.Name(mb.ID))
	c.add(s.t("card.client"), event.Name(mb.ClientID)+" "+plainText(mb.ClientHost, 64))
	if mb.InstanceID != "" {
		c.add("group.instance.id", event.Name(mb.InstanceID))
		for _, inc := range mb.Earlier {
			c.add(s.t("card.earlier"), s.incarnation(inc))
		}
	}
	if mb.SessionTimeoutMs > 0 {
		c.add("session.timeout.ms", s.dur(int64(mb.SessionTimeoutMs)))
	}
	if mb.RebalanceTimeoutMs > 0 {
		c.add("max.poll.interval.ms", s.dur(int64(mb.RebalanceTimeoutMs)))
	}
	c.add(s.t("card.protocols"), plainText(strings.Join(mb.Protocols, ", "), 300))
	c.add(s.t("card.topics"), plainText(strings.Join(mb.Topics, ", "), 600))
	c.add(s.t("card.assigned"), event.Partitions(mb.Assigned))
	c.add(s.t("card.added"), s.clock(mb.AddedMs)+s.t("card.after", num(mb.AddedGeneration)))
	c.add(s.t("card.heard"), s.clock(mb.LastHeardMs))
	c.add(s.t("card.timer"), s.ringOf(mb).Says)
	c.add(s.t("card.config"), "session.timeout.ms, heartbeat.interval.ms, max.poll.interval.ms")
	c.Verbs, c.Links = s.verbs(mb.process()), s.memberLinks(mb)
	s.code(c, "MemberAdded")
	return c
}

func (s *stage) pendingCard(id string) *card {
	for _, p := range s.g.Pending {
		if p.ID == id {
			c := &card{Title: name(p.Label)}
			c.add(s.t("card.id"), event.Name(p.ID))
			c.add(s.t("card.client"), event.Name(p.ClientID)+" "+p.ClientHost)
			c.add(s.t("card.meaning"), s.t("card.pending"))
			c.add(s.t("card.deadline"), s.clock(p.DeadlineMs))
			c.add(s.t("card.config"), "session.timeout.ms")
			s.code(c, "MemberIDIssued")
			return c
		}
	}
	return nil
}

func (s *stage) clientCard(id string) *card {
	p := s.m.Clients[id]
	if p == nil {
		return nil
	}
	c := &card{Title: name(p.Name)}
	c.add(s.t("row.client"), s.processThinks(p))
	c.add(s.t("card.topics"), strings.Join(p.Topics, ", "))
	c.add("session.timeout.ms", s.dur(int64(p.SessionTimeoutMs)))
	c.add("heartbeat.interval.ms", s.dur(int64(p.HeartbeatMs)))
	c.add(s.t("card.owned"), event.Partitions(p.Owned))
	c.add(s.t("card.reason"), p.Reason)
	c.Verbs = s.verbs(p.Name)
	s.code(c, "ClientStarted")
	return c
}

func (s *stage) opCardOf(rest string) *card {
	if s.g == nil {
		return nil
	}
	broker, number, _ := strings.Cut(rest, ":")
	for _, op := range s.g.Ops {
		if num(op.Key.Broker) != broker || num(op.Key.Op) != number {
			continue
		}
		c := &card{Title: string(op.Type)}
		c.add(s.t("card.keys"), strings.Join(op.Keys, ", "))
		c.add(s.t("card.started"), s.clock(op.StartMs))
		c.add(s.t("card.deadline"), s.clock(op.DeadlineMs)+s.t("card.in", s.left(op.DeadlineMs)))
		if op.DeadlineOf != "" {
			c.add(s.t("card.deadlineof"), name(s.g.Label(op.DeadlineOf)))
		}
		if op.RemainingMs > 0 {
			c.add(s.t("card.extend"), s.dur(op.RemainingMs))
		}
		c.add(s.t("card.until"), op.Until)
		if op.Lacks != "" {
			c.add(s.t("card.lacks"), s.clock(op.LacksMs)+" "+op.Lacks)
		}
		if op.Level < wheelLevels {
			c.add(s.t("card.wheel"), s.t("card.wheel.value", s.round(wheelTicks[op.Level]), s.clock(op.CellMs)))
		}
		if _, idle := s.condition(op, s.waiting()); idle {
			c.add(s.t("card.fires"), s.t("op.idle"))
		}
		c.add(s.t("card.way"), s.wayOf(op))
		c.add(s.t("card.config"), settingsOfOp(op.Type, op.Pending, op.New))
		if s.o.Mode == ModeLesson {
			c.Verbs = append(c.Verbs, verbButton{"follow-timer", rest, s.t(map[bool]string{true: "card.unfollow", false: "card.follow"}[s.o.Follow])})
		}
		c.Links = append(c.Links, link{"event:" + num(op.Seq), "#" + num(op.Seq)})
		s.code(c, "OperationWatched")
		return c
	}
	return nil
}

func (s *stage) recordCard(rest string) *card {
	part, offset, _ := strings.Cut(rest, ":")
	p, _ := strconv.ParseInt(part, 10, 32)
	at, err := strconv.ParseInt(offset, 10, 64)
	t := s.m.Tapes[int32(p)]
	if t == nil || err != nil {
		return nil
	}
	for _, r := range t.Records {
		if r.Offset != at {
			continue
		}
		c := &card{Title: tapeName(t.Partition) + " @ " + num(r.Offset)}
		c.add(s.t("card.written"), s.clock(r.AtMs))
		if r.Txn {
			c.add(s.t("card.txn"), s.t("tape.producer", num(r.Producer))+s.t("comma")+s.t("tape.txn."+string(txnWord(r.Ended))))
		}
		if r.What == "offset" {
			c.add(s.t("card.key"), event.Name(r.Group)+" · "+partitionName(r.Topic, r.Partition))
			c.add(s.t("card.offset"), num(r.LogRecord.Offset))
			c.add(s.t("card.metadata"), r.Metadata)
		} else if r.What == "group" {
			c.add(s.t("card.key"), event.Name(r.Group))
			c.add(s.t("th.generation"), num(r.Generation))
			c.add(s.t("card.members"), num(r.Members))
			c.add(s.t("card.protocols"), r.Protocol)
		}
		if r.Tombstone {
			c.add(s.t("card.value"), s.t("tape.novalue")+": "+s.t("tape.deletes"))
		}
		if r.OverwrittenBy >= 0 {
			c.add(s.t("card.struck"), num(r.OverwrittenBy))
		}
		if r.Offset >= t.HighWatermark {
			c.add(s.t("card.visible"), s.t("tape.inflight"))
		}
		c.Raw = s.o.Raw
		c.Links = append(c.Links, link{"event:" + num(r.Seq), "#" + num(r.Seq)})
		s.code(c, "RecordsAppended")
		return c
	}
	return nil
}

func (s *stage) eventCard(rest string) *card {
	seq, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil
	}
	e := s.fact(seq)
	if e == nil {
		return nil
	}
	c := &card{Title: "#" + num(e.Seq) + " " + e.Body.Kind()}
	c.add(s.t("th.time"), s.clock(e.AtMs))
	c.add(s.t("th.where"), s.where(*e))
	c.add(s.t("card.group"), eventGroup(e))
	c.add(s.t("th.what"), e.Text())
	if e.Truth != event.Observed {
		c.add(s.t("card.truth"), s.t("truth."+e.Truth.String()))
	}
	s.explain(c, e)
	c.All, c.Raw = bodyFields(e), s.o.Raw
	if chain := s.chain(e.Seq); len(chain) > 1 {
		c.Chain = chain[1:]
	}
	return c
}

func eventGroup(e *event.Event) string {
	if e.Group == "" {
		return ""
	}
	return event.Name(e.Group)
}

func (s *stage) brokerCard(rest string) *card {
	id, err := strconv.ParseInt(rest, 10, 32)
	b := s.m.Brokers[int32(id)]
	if err != nil || b == nil {
		return nil
	}
	c := &card{Title: s.t("broker", num(b.ID))}
	c.add(s.t("card.state"), s.brokerHow(b))
	leads, groups := 0, 0
	for _, t := range s.m.Tapes {
		if t.Leader == b.ID {
			leads++
		}
	}
	for _, g := range s.m.Groups {
		if g.Broker == b.ID && !g.Gone {
			groups++
		}
	}
	c.add(s.t("card.leads"), num(leads))
	c.add(s.t("card.coordinates"), num(groups))
	c.add(s.t("card.config"), "broker.session.timeout.ms")
	s.code(c, "BrokerStarted")
	if s.o.Lesson != nil && b.Up && s.allows("kill-broker") {
		c.Verbs = append(c.Verbs, verbButton{"kill-broker", num(b.ID), s.t("do.kill")})
	}
	if s.o.Lesson != nil && !b.Up && s.allows("restart-broker") {
		c.Verbs = append(c.Verbs, verbButton{"restart-broker", num(b.ID), s.t("do.restart")})
	}
	return c
}

// add adds a field; an empty value is left out.
func (c *card) add(name, value string) {
	if value != "" {
		c.Fields = append(c.Fields, field{name, value})
	}
}
