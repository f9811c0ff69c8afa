package view

import "fmt"

const (
	tapeRows   = 6
	tapeRowPx  = 31
	threadWide = 14
	tapeMarkPx = 10 // more room above the first record beyond the high watermark
)

// tapeRow is one record of the tape.
type tapeRow struct {
	Offset    int64
	Letter    string
	Key       string
	Value     string
	Arg       string
	Struck    bool // overwritten by a newer record of the same key
	Tombstone bool
	InFlight  bool // beyond the high watermark
	Mark      bool // the high watermark stands above this row
	Says      string
}

// tapePicture is the end of one offsets partition.
type tapePicture struct {
	Name    string
	Count   int64
	Live    int
	Rows    []tapeRow
	Older   int64
	AllSafe bool // the high watermark is at the end
	Threads []string
}

func (s *stage) tape() *tapePicture {
	if s.g == nil || s.m.Tapes[s.partition()] == nil {
		return nil
	}
	t := s.m.Tapes[s.partition()]
	p := &tapePicture{Name: tapeName(t.Partition), Count: t.EndOffset, Live: t.Live, AllSafe: t.HighWatermark >= t.EndOffset}
	records := t.Records
	if len(records) > tapeRows {
		records = records[len(records)-tapeRows:]
	}
	if len(records) > 0 {
		p.Older = records[0].Offset
	}
	for i, r := range records {
		row := s.tapeRow(t, r)
		row.Mark = row.InFlight && (i == 0 || records[i-1].Offset < t.HighWatermark)
		p.Rows = append(p.Rows, row)
	}
	p.Threads = s.threads(t, records)
	return p
}

func (s *stage) tapeRow(t *Tape, r TapeRecord) tapeRow {
	row := tapeRow{Offset: r.Offset, Arg: "record:" + num(t.Partition) + ":" + num(r.Offset), Struck: r.OverwrittenBy >= 0,
		Tombstone: r.Tombstone, InFlight: r.Offset >= t.HighWatermark}
	switch r.What {
	case "offset":
		row.Letter, row.Key, row.Value = "O", partitionName(r.Topic, r.Partition), num(r.LogRecord.Offset)
	case "group":
		row.Letter, row.Key, row.Value = "G", s.t("tape.group"), s.t("tape.group.value", num(r.Generation), num(r.Members))
	default:
		row.Letter, row.Key, row.Value = "·", s.t("tape.other"), ""
	}
	if r.Tombstone {
		row.Letter, row.Value = "†", s.t("tape.novalue")
	}
	if r.Group != s.g.Name && r.Group != "" {
		row.Key = short(r.Group, 12) + " " + row.Key
	}
	row.Says = fmt.Sprintf("%d: %s %s", r.Offset, row.Key, row.Value)
	if row.Struck {
		row.Says += ", " + s.t("tape.struck", num(r.OverwrittenBy))
	}
	if row.InFlight {
		row.Says += ", " + s.t("tape.inflight")
	}
	return row
}

// tapeY is the middle of a row.
func tapeY(t *Tape, records []TapeRecord, i int) int {
	y := i*tapeRowPx + tapeRowPx/2
	if records[i].Offset >= t.HighWatermark {
		y += tapeMarkPx
	}
	return y
}

// threads join a record to the older one of the same key that it overwrote: the selected record's, or the newest one's.
func (s *stage) threads(t *Tape, records []TapeRecord) []string {
	for i := len(records) - 1; i >= 0; i-- {
		arg := "record:" + num(t.Partition) + ":" + num(records[i].Offset)
		if s.o.Selected != "" && s.o.Selected[0] == 'r' && arg != s.o.Selected {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if records[j].OverwrittenBy == records[i].Offset {
				y1, y2 := tapeY(t, records, i), tapeY(t, records, j)
				return []string{fmt.Sprintf("M%d %dH8Q3 %d 3 %dV%dQ3 %d 8 %dH%d", threadWide, y1, y1, y1-5, y2+5, y2, y2, threadWide),
					fmt.Sprintf("M%d %dl4 4-4 4", threadWide-5, y2-4)}
			}
		}
	}
	return nil
}
