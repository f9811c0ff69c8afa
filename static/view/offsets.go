package view

const offsetRows = 6

// offsetLine is one partition's offsets.
type offsetLine struct {
	Name                    string
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
		line := offsetLine{Name: partitionName(row.Topic, row.Partition), Committed: "—"}
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
			line.Txn = s.t("offsets.txn", num(row.Txn[n-1].Offset), num(row.Txn[n-1].ProducerID))
		}
		list = append(list, line)
	}
	return list, more
}
