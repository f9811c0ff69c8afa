package view

import (
	"slices"

	"grouplab/coordinator/event"
)

const (
	offsetRows    = 6
	removedRows   = 3
	sidingOffsets = 4
)

// offsetLine is one partition's offsets.
type offsetLine struct {
	Name, Key               string
	Pending, Committed, Txn string
}

// offsetLines are the group's offsets, and how many more there are.
func (s *stage) offsetLines() (list []offsetLine, more int) {
	if s.g == nil {
		return nil, 0
	}
	for _, row := range s.g.Offsets {
		if len(list) == offsetRows {
			more++
			continue
		}
		line := offsetLine{Name: partitionName(row.Topic, row.Partition), Key: "partition:" + row.Topic + "-" + num(row.Partition), Committed: "—"}
		if row.Committed >= 0 {
			line.Committed = num(row.Committed)
		}
		if n := len(row.Pending); n > 0 {
			line.Pending = num(row.Pending[n-1])
			if n > 1 {
				line.Pending += " ×" + num(n)
			}
		}
		if n := len(row.Txn); n > 0 {
			line.Txn = num(row.Txn[n-1].Offset)
		}
		list = append(list, line)
	}
	return list, more
}

// sidingView is what one producer's transaction has written.
type sidingView struct {
	Class   string
	Sign    string
	Title   string
	State   string
	Offsets []string
	More    int
	Note    string
}

// sidings are the transactions that wait for their marker, and the last that ended.
func (s *stage) sidings() []sidingView {
	if s.g == nil {
		return nil
	}
	var list []sidingView
	for _, x := range s.g.Sidings {
		v := sidingView{Title: s.t("siding.title", num(x.Producer), num(x.Epoch))}
		for i, o := range x.Offsets {
			if i == sidingOffsets {
				v.More = len(x.Offsets) - i
				break
			}
			v.Offsets = append(v.Offsets, partitionName(o.Topic, o.Partition)+" = "+num(o.Offset))
		}
		switch {
		case x.Ended == TxnCommitted:
			v.Class, v.Sign, v.State = "siding-committed", "committed", s.t("siding.committed", s.ago(x.EndedMs))
		case x.Ended == TxnAborted:
			v.Class, v.Sign, v.State, v.Note = "siding-aborted", "down", s.t("siding.aborted", s.ago(x.EndedMs)), s.t("siding.aborted.note")
		case !x.Written:
			v.Class, v.Sign, v.State = "siding-open", "pending", s.t("siding.writing")
		default:
			v.Class, v.Sign, v.State, v.Note = "siding-open", "leader", s.t("siding.open", s.ago(x.SinceMs)), s.sidingNote(x)
		}
		list = append(list, v)
	}
	return list
}

func (s *stage) sidingNote(x *Siding) string {
	note := s.t("siding.open.note")
	t := s.m.Txns[x.Producer]
	switch {
	case t == nil:
	case t.StartMs >= 0 && t.State == event.TxnOngoing:
		note += " " + s.t("siding.timeout", name(t.ID), s.left(t.StartMs+t.TimeoutMs))
	default:
		note += " " + s.t("siding.state", name(t.ID), string(t.State))
	}
	return note
}

// removedLines are the offsets that went last, why, and how many more.
func (s *stage) removedLines() (list []offsetLine, why string, more int) {
	if s.g == nil || s.g.Removed == nil {
		return nil, "", 0
	}
	r := s.g.Removed
	for i, o := range r.Offsets {
		if i == removedRows {
			return list, s.removedWhy(r), len(r.Offsets) - i
		}
		list = append(list, offsetLine{Name: partitionName(o.Topic, o.Partition), Committed: num(o.Offset)})
	}
	return list, s.removedWhy(r), 0
}

func (s *stage) removedWhy(r *Removal) string {
	return s.t("removed.why", s.why(r.Why, ""), s.ago(r.AtMs))
}

// fate is what will become of committed offsets, and of how many.
type fate struct {
	Text    []run
	Expires bool
	what    string
	atMs    int64
	count   int
}

// fates say when committed offsets expire and why, or why they do not (KIP-211). Alike ones are told once.
func (s *stage) fates() []fate {
	if s.g == nil || s.g.Broker == 0 || s.asking() {
		return nil
	}
	b := s.m.Brokers[s.g.Broker]
	if b == nil || b.RetentionMs == 0 {
		return nil
	}
	var list []fate
	for _, row := range s.g.Offsets {
		if row.Committed < 0 {
			continue
		}
		f := s.fateOf(row, b)
		if i := slices.IndexFunc(list, func(x fate) bool { return x.what == f.what && x.atMs == f.atMs }); i >= 0 {
			list[i].count++
			continue
		}
		f.count = 1
		list = append(list, f)
	}
	for i := range list {
		s.tellFate(&list[i], b)
	}
	return list
}

// fateOf follows the coordinator's own order of conditions (Kafka: GroupMetadata.removeExpiredOffsets).
func (s *stage) fateOf(row *OffsetRow, b *Broker) fate {
	g := s.g
	switch {
	case len(row.Pending) > 0 || len(row.Txn) > 0:
		return fate{what: "fate.kept.pending"}
	case g.State != event.Empty && g.State != event.Stable:
		return fate{what: "fate.kept.rebalance"}
	case g.State == event.Stable && s.reads(row.Topic):
		return fate{what: "fate.kept.read"}
	case row.ExpireMs > 0:
		return fate{what: "fate.own", atMs: row.ExpireMs, Expires: true}
	case g.State == event.Stable:
		return fate{what: "fate.unread", atMs: row.CommittedMs + b.RetentionMs, Expires: true}
	case g.Generation == 0:
		return fate{what: "fate.simple", atMs: row.CommittedMs + b.RetentionMs, Expires: true}
	}
	return fate{what: "fate.empty", atMs: g.SinceMs + b.RetentionMs, Expires: true}
}

// reads tells whether a member reads a topic, or may.
func (s *stage) reads(topic string) bool {
	for _, mb := range s.g.Present() {
		if len(mb.Topics) == 0 || slices.Contains(mb.Topics, topic) {
			return true
		}
	}
	return false
}

func (s *stage) tellFate(f *fate, b *Broker) {
	count := num(f.count)
	if !f.Expires {
		f.Text = s.plain(f.what, count)
		return
	}
	f.Text = s.rich("fate.expires", s.left(f.atMs), count)
	if f.atMs <= s.m.NowMs {
		f.Text = s.rich("fate.due", count)
	}
	f.Text = append(f.Text, run{Text: " " + s.t(f.what, s.dur(b.RetentionMs))})
	switch {
	case b.CleanupMs <= s.m.NowMs:
	case b.CleanupMs < f.atMs:
		f.Text = append(f.Text, run{Text: " " + s.t("fate.cleanup.early", s.left(b.CleanupMs))})
	default:
		f.Text = append(f.Text, run{Text: " " + s.t("fate.cleanup", s.left(b.CleanupMs))})
	}
}
