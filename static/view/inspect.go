package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// Source says where the code is that does something: a table that is made at each build and comes with the page.
type Source struct {
	Kinds map[string]struct {
		Kafka string   `json:"kafka"`
		Go    []string `json:"go"`
	} `json:"kinds"`
	Guards map[string]string `json:"guards"`
}

// code tells a card which code does what it shows: that of a kind of fact.
func (s *stage) code(c *card, kind string) {
	if s.o.Source == nil {
		return
	}
	entry := s.o.Source.Kinds[kind]
	c.Go, c.Kafka = entry.Go, entry.Kafka
}

// rule is which check or rule decided what a fact tells, "" where none did.
func (s *stage) rule(e *event.Event) string {
	switch b := e.Body.(type) {
	case event.ReplySent:
		return b.Guard
	case event.StateChanged:
		return s.because(e, b.Why, b.Member)
	case event.RebalanceStarted:
		return s.because(e, b.Why, b.Member)
	case event.GenerationStarted:
		return s.because(e, b.Why, "")
	case event.MemberRemoved:
		return s.because(e, b.Why, b.Member)
	case event.PendingForgotten:
		return s.because(e, b.Why, b.Member)
	case event.LeaderElected:
		return s.because(e, b.Why, b.Member)
	case event.OffsetsRemoved:
		return s.because(e, b.Why, "")
	case event.GroupRemoved:
		return s.because(e, b.Why, "")
	case event.OperationWatched:
		return b.Until
	case event.OperationTested:
		return b.Lacks
	case event.OperationCompleted:
		return b.How
	case event.ReplyParked:
		return b.Until
	case event.ReplyDropped:
		return b.Reason
	}
	return ""
}

// settings are Kafka's names of what decides a fact, "" where no setting does.
func settings(e *event.Event) string {
	const session, poll = "session.timeout.ms", "max.poll.interval.ms"
	switch b := e.Body.(type) {
	case event.OperationWatched:
		return settingsOfOp(b.Type, b.Pending, b.New)
	case event.OperationCompleted:
		return settingsOfOp(b.Type, false, false)
	case event.HeartbeatReceived:
		return "heartbeat.interval.ms, " + session
	case event.MemberRemoved:
		return settingsOfWhy(b.Why)
	case event.StateChanged:
		return settingsOfWhy(b.Why)
	case event.GenerationStarted:
		return settingsOfWhy(b.Why)
	case event.RebalanceStarted:
		return settingsOfWhy(b.Why)
	case event.OffsetsRemoved:
		return settingsOfWhy(b.Why)
	case event.CleanupRan:
		return "offsets.retention.minutes, offsets.retention.check.interval.ms"
	case event.AppendStarted, event.AppendFinished:
		return "offsets.commit.timeout.ms, offsets.commit.required.acks, min.insync.replicas"
	case event.BrokerFenced, event.BrokerStopped:
		return "broker.session.timeout.ms"
	case event.LogCompacted:
		return "min.cleanable.dirty.ratio, delete.retention.ms, segment.bytes"
	case event.MetadataRefreshed:
		return "metadata.max.age.ms"
	case event.ClientWaiting:
		return "retry.backoff.ms"
	case event.MemberAdded, event.MemberUpdated:
		return session + ", " + poll + ", partition.assignment.strategy"
	case event.MemberReplaced:
		return "group.instance.id"
	case event.TopicCreated:
		return "offsets.topic.num.partitions, offsets.topic.replication.factor"
	}
	return ""
}

func settingsOfOp(kind event.OpKind, pending, first bool) string {
	switch {
	case kind == event.DelayedJoin:
		return "max.poll.interval.ms"
	case kind == event.InitialDelayedJoin:
		return "group.initial.rebalance.delay.ms"
	case kind == event.DelayedSync:
		return "max.poll.interval.ms"
	case first:
		return "" // Kafka's own five minutes: NewMemberJoinTimeoutMs
	case pending:
		return "session.timeout.ms"
	}
	return "session.timeout.ms, heartbeat.interval.ms"
}

func settingsOfWhy(why event.Why) string {
	switch why {
	case event.WhySessionExpired, event.WhyPendingExpired:
		return "session.timeout.ms"
	case event.WhyRebalanceTimeout, event.WhyNotRejoined, event.WhyNotSynced:
		return "max.poll.interval.ms"
	case event.WhyInitialDelayOver:
		return "group.initial.rebalance.delay.ms"
	case event.WhyGroupFull, event.WhyGroupTooLarge:
		return "group.max.size"
	case event.WhyOffsetsExpired, event.WhyNothingLeft:
		return "offsets.retention.minutes"
	case event.WhySyncAppendFailed:
		return "min.insync.replicas, offsets.commit.timeout.ms"
	case event.WhyStaticRestarted, event.WhyLeaderReplaced:
		return "group.instance.id"
	}
	return ""
}

// bodyFields are all fields of a fact as it is written down, by their names.
func bodyFields(e *event.Event) []field {
	data, err := json.Marshal(e.Body)
	if err != nil {
		return nil
	}
	return objectFields(data)
}

// objectFields are the fields of a JSON object in their order.
func objectFields(data []byte) []field {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return list
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return list
		}
		text := string(value)
		if plain, err := strconv.Unquote(text); err == nil {
			text = plain
		}
		name, _ := key.(string)
		list = append(list, field{name, plainText(text, 300)})
	}
	return list
}

// explain adds to a fact's card what decided it and which code did it.
func (s *stage) explain(c *card, e *event.Event) {
	c.add(s.t("card.rule"), plainText(s.rule(e), 200))
	c.add(s.t("card.config"), settings(e))
	s.code(c, e.Body.Kind())
	if b, ok := e.Body.(event.ReplySent); ok && b.Guard != "" && s.o.Source != nil {
		if place := s.o.Source.Guards[b.Guard]; place != "" {
			c.Go = append([]string{place}, c.Go...)
		}
	}
}

// requestCard shows a request that is on the way or parked, or what is kept of one.
func (s *stage) requestCard(rest string) *card {
	number, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil
	}
	var c *card
	if f := s.m.Flights[number]; f != nil {
		way := s.t("card.request.way", name(f.Client), s.t("broker.small", num(f.Broker)))
		if f.Reply {
			way = s.t("card.request.back", s.t("broker.small", num(f.Broker)), name(f.Client))
		}
		c = &card{Title: event.APIName(f.API) + " #" + num(number)}
		c.add(s.t("card.state"), way)
		c.add(s.t("card.sent"), s.clock(f.LeftMs))
		if f.ArrivesMs > 0 {
			c.add(s.t("card.arrives"), s.clock(f.ArrivesMs))
		} else if !f.Parked {
			c.add(s.t("card.arrives"), s.t("card.lost"))
		}
		c.add(s.t("card.deadline"), s.clock(f.DeadlineMs))
		if f.Reply {
			c.add(s.t("card.answer"), event.CodeName(f.Code))
		}
		kind := "RequestSent"
		if f.Reply {
			kind = "ReplySent"
		}
		s.code(c, kind)
	}
	if p := s.parked(number); p != nil {
		if c == nil {
			c = &card{Title: event.APIName(p.API) + " #" + num(number)}
		}
		c.add(s.t("card.parked"), s.clock(p.SinceMs))
		c.add(s.t("card.until"), p.Until)
		c.add(s.t("card.config"), "max.poll.interval.ms")
		s.code(c, "ReplyParked")
	}
	if c != nil {
		c.Raw = s.o.Raw
	}
	return c
}

// parked finds a reply that is held back by the number of its request.
func (s *stage) parked(ticket int64) *Parked {
	if s.g == nil {
		return nil
	}
	for _, list := range [][]*Parked{s.g.Join, s.g.Sync} {
		for _, p := range list {
			if p.Ticket == ticket {
				return p
			}
		}
	}
	return nil
}

// partitionCard shows one partition of a topic: who has it, by the coordinator and by the clients, and its offsets.
func (s *stage) partitionCard(rest string) *card {
	topic, number, ok := cutLast(rest, '-')
	p, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || s.g == nil {
		return nil
	}
	has := func(list []event.TopicPartitions) bool {
		for _, t := range list {
			for _, n := range t.Partitions {
				if t.Topic == topic && int64(n) == p {
					return true
				}
			}
		}
		return false
	}
	c := &card{Title: partitionName(topic, int32(p))}
	assigned, owned := "", ""
	for _, mb := range s.g.Present() {
		if has(mb.Assigned) {
			assigned = joined(assigned, name(mb.Label))
		}
	}
	for _, id := range s.clientNames() {
		if cl := s.m.Clients[id]; cl.Group == s.g.Name && has(cl.Owned) {
			owned = joined(owned, name(cl.Name))
		}
	}
	c.add(s.t("card.assigned.to"), orNobody(s, assigned))
	c.add(s.t("card.owned.by"), orNobody(s, owned))
	for _, row := range s.g.Offsets {
		if row.Topic != topic || int64(row.Partition) != p {
			continue
		}
		if row.Committed >= 0 {
			c.add(s.t("card.offset"), num(row.Committed))
			c.add(s.t("card.written"), s.clock(row.CommittedMs))
			c.add(s.t("card.inlog"), s.at(row.BaseOffset))
		}
		for _, o := range row.Pending {
			c.add(s.t("th.pending"), num(o)+s.t("comma")+s.clock(row.PendingSince))
		}
		for _, o := range row.Txn {
			c.add(s.t("tape.producer", num(o.ProducerID)), num(o.Offset)+s.t("comma")+s.clock(o.SinceMs))
		}
		if row.ExpireMs > 0 {
			c.add(s.t("card.deadline"), s.clock(row.ExpireMs))
		}
	}
	c.add(s.t("card.config"), "partition.assignment.strategy, auto.commit.interval.ms, offsets.retention.minutes")
	s.code(c, "AssignmentStored")
	return c
}

// at names a place in the group's partition of __consumer_offsets; -1 is not known.
func (s *stage) at(offset int64) string {
	if offset < 0 {
		return ""
	}
	return tapeName(s.g.Partition) + " @ " + num(offset)
}

func joined(list, one string) string {
	if list == "" || one == "" {
		return list + one
	}
	return list + ", " + one
}

func orNobody(s *stage, who string) string {
	if who == "" {
		return s.t("card.nobody")
	}
	return who
}

// clientNames are the clients' names, sorted.
func (s *stage) clientNames() []string { return sortedKeys(s.m.Clients) }

// sortedKeys are a map's keys in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// cutLast cuts at the last separator.
func cutLast(text string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// generationCard shows one generation of the group.
func (s *stage) generationCard(rest string) *card {
	if s.g == nil {
		return nil
	}
	for _, gen := range s.g.Generations {
		if num(gen.Number) != rest {
			continue
		}
		c := &card{Title: s.t("band.gen", num(gen.Number))}
		c.add(s.t("card.started"), s.clock(gen.StartMs))
		if gen.EndMs > 0 {
			c.add(s.t("card.ended"), s.clock(gen.EndMs)+s.t("comma")+s.dur(gen.EndMs-gen.StartMs))
		}
		c.add(s.t("card.joinphase"), s.dur(gen.DurationMs))
		c.add(s.t("card.members"), num(gen.Members))
		set := settingsOfWhy(gen.Why)
		if e := s.fact(gen.Seq); e != nil {
			set = joined(set, settings(e))
			for _, f := range bodyFields(e) {
				if f.Name == "protocol" || f.Name == "leader" || f.Name == "members" {
					c.Fields = append(c.Fields, f)
				}
			}
		}
		if text := "why." + string(gen.Why); s.knows(text) {
			c.add(s.t("card.rule"), s.t(text, name(s.g.Label(gen.Member))))
		}
		c.add(s.t("card.config"), set)
		c.Links = append(c.Links, link{"event:" + num(gen.Seq), "#" + num(gen.Seq)})
		s.code(c, "GenerationStarted")
		return c
	}
	return nil
}

// link is something else to select.
type link struct{ Key, Text string }

// memberLinks lead from a member to what hangs on it: its partitions, its requests on the way and parked, its timers.
func (s *stage) memberLinks(mb *Member) []link {
	var list []link
	for _, t := range mb.Assigned {
		for _, p := range t.Partitions {
			if len(list) < 12 {
				list = append(list, link{"partition:" + t.Topic + "-" + num(p), partitionName(t.Topic, p)})
			}
		}
	}
	for _, parked := range [][]*Parked{s.g.Join, s.g.Sync} {
		for _, p := range parked {
			if p.Member == mb.ID {
				list = append(list, link{"request:" + num(p.Ticket), event.APIName(p.API) + " #" + num(p.Ticket)})
			}
		}
	}
	for _, id := range sortedKeys(s.m.Flights) {
		if f := s.m.Flights[id]; f.Client == mb.process() && !f.Parked && len(list) < 24 {
			list = append(list, link{"request:" + num(id), event.APIName(f.API) + " #" + num(id)})
		}
	}
	for _, op := range s.g.Ops {
		if op.Member == mb.ID {
			list = append(list, link{"op:" + num(op.Key.Broker) + ":" + num(op.Key.Op), string(op.Type)})
		}
	}
	return list
}
