package view

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

const (
	// stripRows is how many triggers have a row of their own; the others share one.
	stripRows = 5
	// stripNear is the part of the strip within which ticks of one trigger are drawn as one.
	stripNear = 0.016
	// historyRows is how many rebalances the table has, historyLong where more are asked for.
	historyRows, historyLong = 8, 200
)

// strip is the last day of the group on stage: a row for each trigger, a tick for each generation.
type strip struct {
	FromMs, ToMs int64
	Rows         []stripRow
	Spans        []stripSpan
	Marks        []stripMark
	Count        int
	LostMs       int64
	owned        bool // it is known of a partition that it was assigned: otherwise what was lost is not known
}

// stripSum says how many rebalances there were, and what they cost: — where it is not known of any partition that it was owned.
func (s *stage) stripSum(p *strip) string {
	lost := "—"
	if p.owned || p.LostMs > 0 {
		lost = s.partitionTime(p.LostMs)
	}
	return s.t("watch.strip.sum", num(p.Count), lost)
}

// stripRow are the generations of one trigger.
type stripRow struct {
	Class, Says string
	Count       int
	LostMs      int64
	Ticks       []stripTick
}

// stripTick is one generation, or several of the same trigger that lie close together.
type stripTick struct {
	At, To     float64
	Generation int32
	Count      int
	Says       string
	Bounded    bool // its time is known within bounds only
}

// stripSpan is a stretch of the group: rebalancing, or not.
type stripSpan struct {
	At, Wide float64
	Open     bool
}

// stripMark is a word on the axis.
type stripMark struct {
	At   float64
	Text string
}

// strip draws the records.
func (s *stage) strip(list []Record) *strip {
	p := &strip{ToMs: s.m.NowMs, Count: len(list)}
	first := p.ToMs
	if len(list) > 0 {
		first = list[0].StartedMs
	}
	if s.g != nil && len(s.g.States) > 0 {
		first = min(first, s.g.States[0].FromMs)
	}
	p.FromMs = p.ToMs - niceSpan(p.ToMs-first)
	for i := range list {
		p.addSpan(list, i)
		p.LostMs += list[i].lostMs()
		p.owned = p.owned || list[i].Partitions > 0
	}
	if s.g != nil && inMotion(s.g.State) && !s.g.Gone {
		at := min(p.x(s.g.SinceMs), 0.994)
		p.Spans = append(p.Spans, stripSpan{at, max(1-at, 0.004), true})
	}
	s.addRows(p, list)
	for k := int64(0); k < 4; k++ {
		ago := (p.ToMs - p.FromMs) * (4 - k) / 4
		p.Marks = append(p.Marks, stripMark{float64(k) / 4, s.t("watch.ago", s.dur(ago))})
	}
	return p
}

// niceSpan is the length of the axis: a day, or less where less is known.
func niceSpan(ms int64) int64 {
	for _, min := range []int64{10, 60, 6 * 60} {
		if ms <= min*60000 {
			return min * 60000
		}
	}
	return dayMs
}

func (p *strip) x(ms int64) float64 {
	return min(max(float64(ms-p.FromMs)/float64(p.ToMs-p.FromMs), 0), 1)
}

func (p *strip) addSpan(list []Record, i int) {
	end := list[i].SettledMs
	open := end == 0
	if open && i+1 < len(list) {
		end, open = list[i+1].StartedMs, false
	}
	if open {
		end = p.ToMs
	}
	at := p.x(list[i].StartedMs)
	p.Spans = append(p.Spans, stripSpan{at, max(p.x(end)-at, 0.002), open})
}

// addRows puts each generation into the row of its trigger: those with most have rows of their own.
func (s *stage) addRows(p *strip, list []Record) {
	type key struct {
		why event.Why
		who string
	}
	counts, order := map[key]int{}, []key{}
	keys := make([]key, len(list))
	for i := range list {
		keys[i] = key{list[i].Why, s.triggerOf(&list[i])}
		if counts[keys[i]]++; counts[keys[i]] == 1 {
			order = append(order, keys[i])
		}
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(counts[b], counts[a]) })
	rows, more := map[key]int{}, len(order) > stripRows
	for i, k := range order {
		if more && i >= stripRows-1 {
			rows[k] = stripRows - 1
			continue
		}
		rows[k] = i
	}
	p.Rows = make([]stripRow, min(len(order), stripRows))
	for i := range list {
		r, row := &list[i], &p.Rows[rows[keys[i]]]
		if more && rows[keys[i]] == stripRows-1 {
			row.Class, row.Says = "cause-other", s.t("watch.triggers", num(len(order)-stripRows+1))
		} else {
			row.Class, row.Says = causeClass(r.Why), plainText(s.causeOf(r), 60)
		}
		row.Count++
		row.LostMs += r.lostMs()
		s.addTick(p, row, r)
	}
}

func (s *stage) addTick(p *strip, row *stripRow, r *Record) {
	at := p.x(r.StartedMs)
	if n := len(row.Ticks); n > 0 && at-row.Ticks[n-1].To < stripNear {
		t := &row.Ticks[n-1]
		t.To, t.Generation = at, r.Generation
		t.Count++
		t.Says = s.t("watch.tick.many", num(t.Count), row.Says)
		return
	}
	row.Ticks = append(row.Ticks, stripTick{At: at, To: at, Generation: r.Generation, Count: 1, Bounded: r.StartedHiMs > r.StartedMs,
		Says: s.t("watch.tick", num(r.Generation), s.span(r.StartedMs, r.StartedHiMs), row.Says)})
}

// history is one row of the table of rebalances.
type history struct {
	Generation                        int32
	At, Cause, Sure, Reason, Moved    string
	Lost, Took, Members, Class, Truth string
	Pointless                         bool
}

// histories are the newest rebalances, newest first, and how many more there are.
func (s *stage) histories(list []Record) (rows []history, more int) {
	most := historyRows
	if s.o.Listing.Long {
		most = historyLong
	}
	for i := len(list) - 1; i >= 0; i-- {
		if len(rows) == most {
			return rows, i + 1
		}
		rows = append(rows, s.historyOf(&list[i]))
	}
	return rows, 0
}

func (s *stage) historyOf(r *Record) history {
	h := history{Generation: r.Generation, At: s.span(r.StartedMs, r.StartedHiMs), Cause: plainText(s.causeOf(r), 80), Class: causeClass(r.Why),
		Took: "—", Lost: "—", Moved: "—", Truth: truthClass(r.Truth)}
	if r.Confidence != "" {
		h.Sure, h.Truth = s.sure(r.Confidence), "inferred"
	}
	h.Reason = s.clientReason(r)
	if r.SettledMs > 0 {
		h.Took = s.dur(r.SettledMs - r.StartedMs)
	}
	if r.Moved != unknownCount {
		h.Moved = s.t("watch.moved", num(r.Moved), num(r.Partitions))
		h.Pointless = r.Moved == 0
		h.Lost = s.t("watch.lost", s.partitionTime(r.lostMs()))
		if r.UnownedPartitionMs > 0 {
			h.Lost = s.t("watch.unowned")
		}
	}
	h.Members = num(r.Members)
	if n := len(r.Joined) + r.MoreJoined; n > 0 {
		h.Members += " +" + num(n)
	}
	if n := len(r.Left) + r.MoreLeft; n > 0 {
		h.Members += " −" + num(n)
	}
	return h
}

// clientReason is what the client itself gave as its reason (KIP-800); many give none, and a session that ran out has none.
func (s *stage) clientReason(r *Record) string {
	switch {
	case r.ClientReason != "":
		return s.t("watch.reason", plainText(r.ClientReason, 80))
	case r.Why == event.WhyMemberLeft || r.Why == event.WhyNewMember || r.Why == event.WhyLeaderRejoined || r.Why == event.WhyMetadataChanged:
		return s.t("watch.noreason")
	}
	return ""
}

// rebalanceCard explains one generation: "rebalance:GENERATION".
func (s *stage) rebalanceCard(rest string) *card {
	list := s.records()
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		if num(r.Generation) != rest {
			continue
		}
		c := &card{Title: s.t("band.gen", rest)}
		c.add(s.t("watch.card.cause"), plainText(s.causeOf(r), 120))
		c.add(s.t("watch.card.sure"), s.sure(r.Confidence))
		c.add(s.t("watch.card.reason"), s.clientReason(r))
		if w := s.watchedGroup(); w != nil {
			c.add(s.t("watch.card.evidence"), plainText(w.Causes[r.Generation].Evidence, 200))
		}
		c.add(s.t("card.started"), s.span(r.StartedMs, r.StartedHiMs))
		if r.JoinedMs > 0 {
			c.add(s.t("watch.card.joined"), s.clock(r.JoinedMs)+s.t("comma")+s.dur(r.JoinedMs-r.StartedMs))
		}
		if r.SettledMs > 0 {
			c.add(s.t("watch.card.settled"), s.clock(r.SettledMs)+s.t("comma")+s.dur(r.SettledMs-r.StartedMs))
		} else {
			c.add(s.t("watch.card.settled"), s.t("watch.never"))
		}
		if r.Moved != unknownCount {
			c.add(s.t("watch.card.moved"), s.t("watch.moved", num(r.Moved), num(r.Partitions)))
			c.add(s.t("watch.card.lost"), s.t("watch.lost", s.partitionTime(r.lostMs())))
		}
		if r.UnownedPartitionMs > 0 {
			c.add(s.t("watch.unowned"), s.t("watch.lost", s.partitionTime(r.UnownedPartitionMs)))
		}
		c.add(s.t("card.members"), num(r.Members))
		c.add(s.t("watch.card.new"), s.namesOf(r.Joined, r.MoreJoined))
		c.add(s.t("watch.card.left"), s.namesOf(r.Left, r.MoreLeft))
		if r.Unsettled > 0 {
			c.add(s.t("watch.card.unsettled"), num(r.Unsettled))
		}
		if r.Seq > 0 && s.fact(r.Seq) != nil {
			c.Links = append(c.Links, link{"event:" + num(r.Seq), "#" + num(r.Seq)})
		}
		return c
	}
	return nil
}

// namesOf names members, and how many more there are.
func (s *stage) namesOf(ids []string, more int) string {
	text := ""
	for i, id := range ids {
		if i > 0 {
			text += s.t("comma")
		}
		text += name(s.labelIn(s.g, id))
	}
	if more > 0 {
		text += s.t("comma") + s.t("and.more", num(more))
	}
	return text
}
