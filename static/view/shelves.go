package view

import "grouplab/coordinator/event"

// slot is one place on a shelf: somebody who is there, or somebody who is missing.
type slot struct {
	Letter, Label, Key string
	Leader, Missing    bool
	Says               string
}

// shelf is where parked replies are kept.
type shelf struct {
	Title, Note string
	Slots       []slot
	More        int
}

// slotsMost is how many places are drawn. Those who are missing stay first.
const slotsMost = 18

func (sh *shelf) bound() {
	if len(sh.Slots) <= slotsMost {
		return
	}
	var kept []slot
	room := slotsMost
	for _, sl := range sh.Slots {
		if sl.Missing {
			room--
		}
	}
	for _, sl := range sh.Slots {
		if sl.Missing || room > 0 {
			kept = append(kept, sl)
			if !sl.Missing {
				room--
			}
		}
	}
	kept = kept[:min(len(kept), 2*slotsMost)]
	sh.More, sh.Slots = len(sh.Slots)-len(kept), kept
}

func (s *stage) joinShelf() shelf {
	sh := shelf{Title: s.t("shelf.join"), Note: s.t("shelf.join.none")}
	if s.g == nil {
		return sh
	}
	for _, p := range s.g.Join {
		sh.Slots = append(sh.Slots, s.parkedSlot(p, "J"))
	}
	w := s.waiting()
	switch w.Kind {
	case WaitJoin:
		for _, miss := range w.Missing {
			sh.Slots = append(sh.Slots, s.missingSlot(miss))
		}
		sh.Note = s.t("shelf.here", num(w.Here), num(w.Of))
	case WaitInitialDelay:
		sh.Note = s.t("shelf.delay", num(w.Here))
	default:
		if len(sh.Slots) > 0 { // a static member's new id is written first (KIP-345)
			sh.Note = s.t("shelf.written")
		}
	}
	sh.bound()
	return sh
}

func (s *stage) syncShelf() shelf {
	sh := shelf{Title: s.t("shelf.sync"), Note: s.t("shelf.sync.none")}
	if s.g == nil {
		return sh
	}
	for _, p := range s.g.Sync {
		sh.Slots = append(sh.Slots, s.parkedSlot(p, "S"))
	}
	if s.g.State == event.CompletingRebalance {
		for _, mb := range s.g.Present() {
			if s.g.ParkedSync(mb.ID) == nil {
				sh.Slots = append(sh.Slots, s.missingSlot(s.m.missing(s.g, mb)))
			}
		}
		sh.Note = s.t("shelf.here", num(len(s.g.Sync)), num(len(s.g.Present())))
	}
	sh.bound()
	return sh
}

func (s *stage) parkedSlot(p *Parked, letter string) slot {
	label := s.g.Label(p.Member)
	if p.Member == "" {
		label = p.ClientID
	}
	return slot{Letter: letter, Label: short(label, 16), Key: "member:" + p.Member, Leader: p.Member != "" && p.Member == s.g.Leader && letter == "S",
		Says: s.t("slot.here", s.ago(p.SinceMs))}.leads(s)
}

// leads says that a slot is the leader's, which is drawn as a crown.
func (sl slot) leads(s *stage) slot {
	if sl.Leader {
		sl.Says += s.t("comma") + s.t("tag.leader")
	}
	return sl
}

func (s *stage) missingSlot(miss Missing) slot {
	sl := slot{Label: short(miss.Label, 16), Key: "member:" + miss.Member, Missing: true, Leader: miss.Member == s.g.Leader && s.g.State == event.CompletingRebalance,
		Says: s.t("slot.missing")}
	if miss.Gone {
		sl.Says = s.t("slot.gone")
	}
	return sl.leads(s)
}
