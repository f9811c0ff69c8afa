package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// rule is what a request of a member gets in a state: held, or answered with a code.
type rule struct {
	Parked bool
	Code   int16
}

// askedAPIs are the requests of the behaviour card, in the order of its columns.
var askedAPIs = [6]int16{apiJoinGroup, apiSyncGroup, apiHeartbeat, 13, 8, 9}

// ruleRow is a state's row of the behaviour card.
type ruleRow struct {
	State event.State
	Cells []ruleCell
	Now   bool
}

type ruleCell struct{ Text, Says string }

// ruleRows are the rows of the behaviour card and the codes that stand in it. The row of the state that the group is in was
// asked of the machine just now, where it could be; the others are what the same machine answered in runs of their own.
func (s *stage) ruleRows() (rows []ruleRow, codes []int16) {
	for _, st := range states {
		row := ruleRow{State: st, Now: s.known() && s.g.State == st}
		for i, api := range askedAPIs {
			r := rules[st][i]
			if row.Now {
				if k := slices.IndexFunc(s.o.Behaviour, func(a Answer) bool { return a.API == api }); k >= 0 {
					r = rule{s.o.Behaviour[k].Parked, s.o.Behaviour[k].Code}
				}
			}
			row.Cells = append(row.Cells, s.ruleCell(r))
			if !r.Parked && r.Code != 0 && !slices.Contains(codes, r.Code) {
				codes = append(codes, r.Code)
			}
		}
		rows = append(rows, row)
	}
	slices.Sort(codes)
	return rows, codes
}

func (s *stage) ruleCell(r rule) ruleCell {
	switch {
	case r.Parked:
		return ruleCell{s.t("rules.held"), ""}
	case r.Code == 0:
		return ruleCell{"✓", s.t("rules.served")}
	}
	return ruleCell{num(r.Code), event.CodeName(r.Code)}
}

// asks names who would send a request.
func (s *stage) asks(as string) string {
	if as == "member" {
		return s.t("asks.member")
	}
	return s.t("asks.unknown")
}
