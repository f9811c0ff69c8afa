package history

import (
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// Take appends what is to be told at nowMs: a GenerationRecorded for each new, or corrected, record, and a GroupSummarized for
// each group of which another one was told before, unless that was less than SummaryMs ago and its state has not changed.
// They carry the Seq of the last fact.
func (h *History) Take(dst []event.Event, nowMs int64) []event.Event {
	h.advance(nowMs)
	h.age()
	if hour := h.nowMs / hourMs; hour != h.hour {
		h.hour = hour
		for _, name := range slices.Sorted(maps.Keys(h.groups)) { // an hour of the last 24 has passed
			if s := &h.groups[name].summary; s.Rebalances > 0 || s.LostPartitionMs > 0 {
				h.touch(h.groups[name], false)
			}
		}
	}
	for i, r := range h.told {
		if r.told = false; !r.counted {
			r.counted = true
			h.totals.Rebalances[r.body.Why]++
		}
		dst = append(dst, h.event(r.group, r.body))
		h.told[i] = nil
	}
	h.told = h.told[:0]
	waiting := h.changed[:0]
	for _, g := range h.changed {
		if g.everTold && !g.atOnce && h.nowMs-g.toldMs < h.cfg.SummaryMs {
			waiting = append(waiting, g)
			continue
		}
		g.listed, g.atOnce = false, false
		if s := h.summarize(g); (!g.everTold && !s.Gone) || g.everTold && !same(&s, &g.summary) {
			g.summary, g.everTold, g.toldMs = s, true, h.nowMs
			dst = append(dst, h.event(g, s))
		}
		h.dropGroup(g)
	}
	clear(h.changed[len(waiting):])
	h.changed = waiting
	return dst
}

// Pending tells whether Take will have something to tell later, though nothing happens.
func (h *History) Pending() bool { return len(h.changed) > 0 || len(h.told) > 0 }

func (h *History) event(g *group, b event.Body) event.Event {
	return event.Event{Seq: h.seq, AtMs: h.nowMs, Broker: g.coordinator, Group: g.name, Body: b}
}

// Summaries appends the present summary of each group that is there, by name.
func (h *History) Summaries(dst []event.Event) []event.Event {
	for _, name := range slices.Sorted(maps.Keys(h.groups)) {
		if g := h.groups[name]; !g.gone {
			dst = append(dst, h.event(g, h.summarize(g)))
		}
	}
	return dst
}

// Matching appends the summaries of the first groups by name whose name matches, at most so many.
func (h *History) Matching(dst []event.Event, match func(name string) bool, most int) []event.Event {
	for _, name := range h.Names(match, most) {
		dst = append(dst, h.event(h.groups[name], h.summarize(h.groups[name])))
	}
	return dst
}

// Names are the first groups by name whose name matches, at most so many.
func (h *History) Names(match func(name string) bool, most int) (names []string) {
	for name, g := range h.groups {
		if g.gone || !match(name) {
			continue
		}
		if names = append(names, name); len(names) >= 2*most+64 { // the smaller part is enough
			slices.Sort(names)
			names = names[:most]
		}
	}
	slices.Sort(names)
	return names[:min(len(names), most)]
}

// Count is how many groups have a name that matches.
func (h *History) Count(match func(name string) bool) (n int) {
	for name, g := range h.groups {
		if !g.gone && match(name) {
			n++
		}
	}
	return n
}

// Summary is that of one group; ok is false where there is none.
func (h *History) Summary(group string) (s event.GroupSummarized, ok bool) {
	g := h.groups[group]
	if g == nil || g.gone {
		return s, false
	}
	return h.summarize(g), true
}

// Records appends the remembered generations of a group, the oldest first. It may be gone.
func (h *History) Records(dst []event.Event, group string) []event.Event {
	if g := h.groups[group]; g != nil {
		for _, r := range g.records {
			dst = append(dst, h.event(g, r.body))
		}
	}
	return dst
}

func (h *History) summarize(g *group) event.GroupSummarized {
	s := event.GroupSummarized{Type: g.kind, State: g.state, Gone: g.gone, SinceMs: g.sinceMs, Coordinator: g.coordinator, Partition: g.partition,
		Generation: g.generation, Members: len(g.members), Why: g.last.why, Member: g.last.member, Confidence: g.last.confidence, Loops: g.loop.rounds}
	s.Rebalances, s.LostPartitionMs = g.day(h.nowMs)
	if g.gone {
		s.State = event.Dead
		return s
	}
	for _, m := range g.members {
		if m.served && m.partitions == 0 {
			s.Bench++
		}
	}
	s.Topics, s.MoreTopics, s.Clients = topicsAndClients(g)
	w := h.waiting(g)
	s.Awaited, s.Waiting, s.DeadlineMs = w.members, len(w.members)+w.more, w.deadlineMs
	s.ExpiresMs = h.expires(g)
	g.sumGhosts(&s)
	return s
}

// topicsAndClients are the topics that the members read and the client ids that they have, the first of each by name.
func topicsAndClients(g *group) (topics []string, more int, clients []string) {
	seen := map[string]bool{}
	for _, m := range g.members {
		for _, t := range m.topics {
			seen[t] = true
		}
	}
	topics = first(seen)
	more = len(seen) - len(topics)
	clear(seen)
	for _, m := range g.members {
		if m.client != "" {
			seen[m.client] = true
		}
	}
	return topics, more, first(seen)
}

// first are the first names of a set.
func first(set map[string]bool) []string {
	list := slices.Sorted(maps.Keys(set))
	if len(list) > named {
		list = slices.Clone(list[:named])
	}
	return list
}

// expires is when the first of an Empty group's offsets may go (Kafka: GroupMetadata.removeExpiredOffsets, KIP-211), 0 where
// that is not known.
func (h *History) expires(g *group) int64 {
	if g.state != event.Empty || !g.hasOffsets {
		return 0
	}
	first := int64(0)
	earlier := func(ms int64) {
		if first == 0 || ms < first {
			first = ms
		}
	}
	retentionMs := int64(0)
	if b := h.brokers[g.coordinator]; b != nil {
		retentionMs = b.retentionMs
	}
	if !g.simple && retentionMs > 0 {
		earlier(g.sinceMs + retentionMs)
	}
	for _, o := range g.offsets {
		switch {
		case o.expireMs > 0:
			earlier(o.expireMs)
		case g.simple && retentionMs > 0:
			earlier(o.commitMs + retentionMs)
		}
	}
	return first
}

// same tells whether two summaries say the same.
func same(a, b *event.GroupSummarized) bool {
	return slices.Equal(a.Topics, b.Topics) && slices.Equal(a.Clients, b.Clients) && slices.Equal(a.Awaited, b.Awaited) &&
		slices.Equal(a.Ghosts, b.Ghosts) && plain(a) == plain(b)
}

// flat is a summary without its lists.
type flat struct {
	kind, state, member, why, confidence             string
	gone                                             bool
	since, deadline, lost, expires, ghosts           int64
	coordinator, partition, generation               int32
	members, bench, more, waiting, rebalances, loops int
	dead                                             int
}

func plain(s *event.GroupSummarized) flat {
	return flat{s.Type, string(s.State), s.Member, string(s.Why), string(s.Confidence), s.Gone, s.SinceMs, s.DeadlineMs, s.LostPartitionMs, s.ExpiresMs, s.GhostsMs,
		s.Coordinator, s.Partition, s.Generation, s.Members, s.Bench, s.MoreTopics, s.Waiting, s.Rebalances, s.Loops, s.Dead}
}
