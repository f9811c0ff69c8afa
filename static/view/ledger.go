package view

import (
	"strings"

	"grouplab/coordinator/event"
)

// verdict is one commit and what became of it.
type verdict struct {
	At, Member, Sent, Now, Verdict, Class, Offsets string
}

// verdicts are the newest commits, newest first.
func (s *stage) verdicts(most int) []verdict {
	if s.g == nil {
		return nil
	}
	var list []verdict
	for i := len(s.g.Ledger) - 1; i >= 0 && len(list) < most; i-- {
		e := s.g.Ledger[i]
		v := verdict{At: s.clock(e.AtMs), Member: name(s.g.Label(e.Member)), Sent: num(e.Generation), Now: num(e.GroupGeneration),
			Verdict: s.t("ledger.flying"), Class: "flying", Offsets: values(e.Offsets)}
		if e.Member == "" {
			v.Member = s.t("ledger.nomember")
		}
		if e.Done {
			v.Verdict, v.Class = s.t("ledger.committed"), "committed"
			if e.Code != 0 {
				v.Verdict, v.Class = event.CodeName(e.Code), "refused"
			}
		}
		list = append(list, v)
	}
	return list
}

func values(list []event.OffsetValue) string {
	var parts []string
	for i, o := range list {
		if i == 4 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, partitionName(o.Topic, o.Partition)+" = "+num(o.Offset))
	}
	return strings.Join(parts, ", ")
}
