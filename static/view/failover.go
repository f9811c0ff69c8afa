package view

import "grouplab/coordinator/event"

// Failover is how an offsets partition goes from one broker to the next: nobody leads it, the next one reads the log, the
// next one owns it. A time is 0 where the step has not come.
type Failover struct {
	From, To              int32
	LostMs, LeadMs, OwnMs int64
	FromEpoch, Epoch      int32
}

// failoverShownMs is for how long a failover that is over is told.
const failoverShownMs = 60_000

// Lost is a rebalance that was under way in the memory of a broker that is gone. It is not in the log, so nobody goes on
// with it: the next coordinator begins with what the log has.
type Lost struct {
	Broker     int32
	State      event.State
	Generation int32
	// Parked are the labels of those whose answers were held.
	Parked []string
	AtMs   int64
}

// lead tells a tape that its partition has another leader.
func (t *Tape) lead(from, to, fromEpoch, epoch int32, atMs int64) {
	if to <= 0 || from == to {
		return
	}
	if f := &t.Failover; f.LostMs == 0 || f.OwnMs > 0 || f.LeadMs > 0 {
		t.Failover = Failover{From: from, FromEpoch: fromEpoch, LostMs: atMs}
	}
	t.Failover.To, t.Failover.Epoch, t.Failover.LeadMs = to, epoch, atMs
}

// lose keeps what a rebalance looked like when its coordinator went.
func (g *Group) lose(atMs int64) {
	if g.State != event.PreparingRebalance && g.State != event.CompletingRebalance {
		return
	}
	l := Lost{Broker: g.Broker, State: g.State, Generation: g.Generation, AtMs: atMs}
	for _, list := range [][]*Parked{g.Join, g.Sync} {
		for _, p := range list {
			l.Parked = append(l.Parked, g.Label(g.memberOf(p.Member, p.ClientID)))
		}
	}
	g.Lost = l
}

// failoverStep is one stamped step.
type failoverStep struct {
	Text, At   string
	Done, Here bool
}

// failover are the three steps of the group's partition, nil where nothing of the kind happened lately.
func (s *stage) failover() []failoverStep {
	t := s.m.Tapes[s.partition()]
	if t == nil || t.Failover.LostMs == 0 || t.Failover.OwnMs > 0 && s.m.NowMs-t.Failover.OwnMs > failoverShownMs {
		return nil
	}
	f := t.Failover
	gone := failoverStep{Text: s.t("fail.gone", num(f.From), num(f.FromEpoch)), At: event.Clock(f.LostMs), Done: true, Here: f.LeadMs == 0}
	load := failoverStep{Text: s.t("fail.load"), Done: f.OwnMs > 0, Here: f.LeadMs > 0 && f.OwnMs == 0}
	own := failoverStep{Text: s.t("fail.own"), Done: f.OwnMs > 0, Here: f.OwnMs > 0}
	if f.LeadMs > 0 {
		load.Text, load.At = s.t("fail.loads", num(f.To), num(f.Epoch)), event.Clock(f.LeadMs)
	}
	if f.OwnMs > 0 {
		load.Text = s.t("fail.loads", num(f.To), num(f.Epoch))
		if l := t.Loads[f.To]; l != nil && l.State == Owned {
			load.Text = s.t("fail.loaded", num(f.To), num(f.Epoch), s.loaded(l))
		}
		own.Text, own.At = s.t("fail.owned"), event.Clock(f.OwnMs)
	}
	return []failoverStep{gone, load, own}
}

// lost says what became of a rebalance whose coordinator is gone, "" where there is none.
func (s *stage) lost() (who []string, says string) {
	l := s.g.Lost
	if l.Broker == 0 {
		return nil, ""
	}
	if s.g.Broker == 0 {
		return l.Parked, s.t("lost.gone", num(l.Broker))
	}
	return l.Parked, s.t("lost.back", num(l.Broker), string(s.g.State), num(s.g.Generation))
}
