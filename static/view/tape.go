package view

import (
	"fmt"
	"strings"

	"grouplab/coordinator/event"
)

const (
	tapeRows   = 6 // at most; fewer where the offsets below need the room
	tapeLeast  = 4
	tapeRowPx  = 31
	tapeGapPx  = 19 // of a line between records
	threadWide = 16
	tapeMarkPx = 10 // more room above the first record beyond the high watermark
	threadsMax = 3
)

// tapeRow is one record of the tape, or, with Between set, what lies between two of them.
type tapeRow struct {
	Offset    int64
	Letter    string
	Key       string
	Value     string
	Arg       string
	Struck    bool // it does not count any more, or never will
	Tombstone bool
	Txn       bool
	Open      bool   // its transaction has not ended
	Marker    bool   // it ends a transaction
	Aborted   bool   // its transaction was aborted
	InFlight  bool   // beyond the high watermark
	Mark      bool   // the high watermark stands above this row
	Edge      bool   // between segments: what is above was compacted, the segment below never is while it is the newest
	Between   string // says what is not there any more, or where the compacted part ends
	Gap       bool
	Says      string
	y         int // its middle
}

// tapePicture is the end of one offsets partition.
type tapePicture struct {
	Name    string
	Count   int64
	Live    int
	Rows    []tapeRow
	Height  int
	AllSafe bool // the high watermark is at the end
	Threads []thread
}

// thread joins a record to an older one that it settles.
type thread struct {
	Line, Arrow string
	Kind        string // "overwrites", "deletes" or "ends"
}

func (s *stage) tape() *tapePicture {
	if s.g == nil || s.m.Tapes[s.partition()] == nil {
		return nil
	}
	t := s.m.Tapes[s.partition()]
	p := &tapePicture{Name: tapeName(t.Partition), Count: t.EndOffset, Live: t.Live, AllSafe: t.HighWatermark >= t.EndOffset}
	records := t.Records
	records = records[max(len(records)-s.tapeRows(), 0):]
	for i, r := range records {
		if i > 0 {
			p.between(s, t, records[i-1], r)
		}
		row := s.tapeRow(t, r)
		row.Mark = row.InFlight && (i == 0 || records[i-1].Offset < t.HighWatermark)
		if row.Mark {
			p.Height += tapeMarkPx
		}
		row.y = p.Height + tapeRowPx/2
		p.Height += tapeRowPx
		p.Rows = append(p.Rows, row)
	}
	p.Threads = s.threads(t, records, p.Rows)
	return p
}

// tapeRows is how many records are drawn: ownership is to be seen beside the cards.
func (s *stage) tapeRows() int {
	if s.o.Focus == "tape" || s.o.Selected != "" && s.o.Selected[0] == 'r' {
		return tapeRows
	}
	return min(max(tapeRows+3-len(s.g.Offsets), tapeLeast), tapeRows)
}

// between says what compaction left between two records: a gap, since offsets are kept, and the end of the clean part.
func (p *tapePicture) between(s *stage, t *Tape, older, newer TapeRecord) {
	gap := newer.Offset - older.Offset - 1
	edge := t.Compacted > 0 && older.Offset < t.Compacted && newer.Offset >= t.Compacted
	row := tapeRow{Gap: gap > 0, Edge: edge}
	switch {
	case gap > 0 && edge:
		row.Between = s.t("tape.gap.edge", num(gap))
	case gap > 0:
		row.Between = s.t("tape.gap", num(gap))
	case edge:
		row.Between = s.t("tape.edge")
	default:
		return
	}
	p.Height += tapeGapPx
	p.Rows = append(p.Rows, row)
}

func (s *stage) tapeRow(t *Tape, r TapeRecord) tapeRow {
	row := tapeRow{Offset: r.Offset, Arg: "record:" + num(t.Partition) + ":" + num(r.Offset), Struck: r.OverwrittenBy >= 0 || r.Ended == TxnAborted && r.What != "marker",
		Tombstone: r.Tombstone, InFlight: r.Offset >= t.HighWatermark, Txn: r.Txn, Open: r.Txn && r.Ended == TxnOpen,
		Marker: r.What == "marker", Aborted: r.Ended == TxnAborted}
	row.Letter, row.Key, row.Value = s.recordWords(r)
	if r.Group != s.g.Name && r.Group != "" {
		row.Key = short(r.Group, 12) + " " + row.Key
	}
	row.Says = s.recordSays(r, row)
	return row
}

// recordWords are the letter, the key and the value by which a record is drawn.
func (s *stage) recordWords(r TapeRecord) (letter, key, value string) {
	switch r.What {
	case "offset":
		letter, key, value = "O", partitionName(r.Topic, r.Partition), num(r.LogRecord.Offset)
	case "group":
		letter, key, value = "G", s.t("tape.group"), s.t("tape.group.value", num(r.Generation), num(r.Members))
	case "marker":
		letter, key, value = "A", s.t("tape.abort"), ""
		if r.Commit {
			letter, key = "C", s.t("tape.commit")
		}
	default:
		letter, key = "·", s.t("tape.other")
	}
	if r.Tombstone {
		letter, value = "†", s.t("tape.novalue")
	}
	if r.Txn {
		if value != "" {
			value += " "
		}
		value += s.t("tape.producer", num(r.Producer))
	}
	return letter, key, value
}

// recordSays is what the shape of a record says, in words.
func (s *stage) recordSays(r TapeRecord, row tapeRow) string {
	var says []string
	if r.Tombstone {
		says = append(says, s.t("tape.deletes"))
	}
	if r.Txn && !row.Marker {
		says = append(says, s.t("tape.txn."+string(txnWord(r.Ended))))
	}
	if r.OverwrittenBy >= 0 {
		says = append(says, s.t("tape.struck", num(r.OverwrittenBy)))
	}
	if row.InFlight {
		says = append(says, s.t("tape.inflight"))
	}
	return strings.Join(says, s.t("comma"))
}

func txnWord(e TxnEnd) TxnEnd {
	if e == TxnOpen {
		return "open"
	}
	return e
}

// traces tells whether a record is a commit of the partition that is selected: it is traced through all panes.
func (s *stage) traces(r tapeRow) bool { return r.Letter == "O" && s.o.Selected == "partition:"+r.Key }

// threads join what settles a record to the record: the selected one's; or every tombstone's and the newest marker's; or
// else the newest record's to the one of the same key that it overwrote.
func (s *stage) threads(t *Tape, records []TapeRecord, rows []tapeRow) []thread {
	y := map[int64]int{}
	for _, r := range rows {
		if r.Between == "" {
			y[r.Offset] = r.y
		}
	}
	var list []thread
	markers := 0
	for i := len(records) - 1; i >= 0 && len(list) < threadsMax; i-- {
		r := records[i]
		if s.o.Selected != "" && s.o.Selected[0] == 'r' && "record:"+num(t.Partition)+":"+num(r.Offset) != s.o.Selected {
			continue
		}
		if r.What == "marker" {
			markers++
		}
		if r.What != "marker" && !r.Tombstone && len(list)+markers > 0 {
			continue
		}
		for j := i - 1; j >= 0 && len(list) < threadsMax; j-- {
			if kind := settles(r, records[j]); kind != "" && (kind != "ends" || markers == 1) {
				list = append(list, threadOf(y[r.Offset], y[records[j].Offset], len(list), kind))
			}
		}
	}
	return list
}

// settles says what a record does to an older one, "" where nothing.
func settles(r, older TapeRecord) string {
	switch {
	case r.What == "marker" && older.Ended != TxnOpen && older.EndedBy == r.Offset:
		return "ends"
	case older.OverwrittenBy != r.Offset:
		return ""
	case r.Tombstone:
		return "deletes"
	}
	return "overwrites"
}

// threadOf draws a thread from a row up to an older one; each has a lane of its own.
func threadOf(from, to, lane int, kind string) thread {
	x := threadWide - 11 - lane*3
	return thread{Kind: kind, Line: fmt.Sprintf("M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d", threadWide, from, x+5, x, from, x, from-5, to+5, x, to, x+5, to, threadWide),
		Arrow: fmt.Sprintf("M%d %dl4 4-4 4", threadWide-5, to-4)}
}

// cleaningView is a compaction, before and after.
type cleaningView struct {
	Title   string
	Sums    string
	Cells   []cleanCell
	CellPx  int
	Reasons []reasonLine
	Records []tapeFate
	Earlier int64 // records before the first that is drawn
	Says    string
	// Dirty is the part of the records that came since; DirtySays says it in numbers.
	Dirty     float64
	DirtySays string
}

// cleanCell is one record in the picture of a compaction.
type cleanCell struct {
	Kind string // how it was drawn before: "value", "tombstone", "marker"
	Gone bool
	Why  string // the class of the reason
	X    int
}

type reasonLine struct{ Class, Text string }

// tapeFate is one record and what became of it.
type tapeFate struct {
	Offset int64
	What   string
	Fate   string
	Gone   bool
}

const cleaningPx = 256

func (s *stage) cleaning() *cleaningView {
	if s.g == nil {
		return nil
	}
	t := s.m.Tapes[s.partition()]
	if t == nil || t.Cleaned == nil {
		return nil
	}
	c := t.Cleaned
	v := &cleaningView{Title: s.t("clean.title", event.Clock(c.AtMs)), CellPx: min(16, cleaningPx/max(len(c.Before), 1)),
		Sums: s.t("clean.sums", num(c.Kept), num(c.Kept+c.Count), group3(c.BytesBefore), group3(c.BytesAfter))}
	for i, r := range c.Before {
		v.Cells = append(v.Cells, cleanCell{Kind: cleanKind(r), Gone: r.Why != "", Why: whyClass(r.Why), X: i * v.CellPx})
		f := tapeFate{Offset: r.Offset, Gone: r.Why != "", Fate: s.t("clean.kept")}
		_, key, value := s.recordWords(r.TapeRecord)
		f.What = key + " " + value
		if f.Gone {
			f.Fate = s.removalWhy(r.Why, r.By)
		} else if r.Tombstone {
			f.Fate = s.t("clean.kept.tombstone")
		}
		v.Records = append(v.Records, f)
	}
	if c.Kept > 0 {
		v.Reasons = append(v.Reasons, reasonLine{"kept", s.t("clean.reason", num(c.Kept), s.t("clean.stays"))})
	}
	for _, r := range c.Reasons {
		v.Reasons = append(v.Reasons, reasonLine{whyClass(r.Why), s.t("clean.reason", num(r.Count), s.t("removal."+whyClass(r.Why)))})
	}
	v.Says = v.Title + ": " + v.Sums
	dirty := max(t.EndOffset-t.Compacted, 0)
	v.Dirty = float64(dirty) / float64(max(dirty+int64(c.Kept), 1))
	v.DirtySays = s.t("clean.dirty", num(dirty), num(dirty+int64(c.Kept)))
	return v
}

func cleanKind(r CleanedRecord) string {
	switch {
	case r.What == "marker":
		return "marker"
	case r.Tombstone:
		return "tombstone"
	}
	return "value"
}

// removalWhy says why a record went.
func (s *stage) removalWhy(why event.RemovalReason, by int64) string {
	if why == event.WhySuperseded && by >= 0 {
		return s.t("clean.by", num(by))
	}
	return s.t("removal." + whyClass(why))
}

// whyClass names a reason shortly.
func whyClass(why event.RemovalReason) string {
	switch why {
	case "":
		return "kept"
	case event.WhySuperseded:
		return "superseded"
	case event.WhyTombstoneOver:
		return "tombstone"
	case event.WhyAborted:
		return "aborted"
	case event.WhyEmptyTransaction:
		return "marker"
	}
	return "nokey"
}

// reasonKind is the mark that stands for a reason.
func reasonKind(class string) string {
	switch class {
	case "tombstone", "marker":
		return class
	}
	return "value"
}

// failureView is an append that failed and what it became in the replies.
type failureView struct {
	Error, What string
	Answers     []string
}

func (s *stage) failure() *failureView {
	if s.g == nil || s.g.Failed == nil {
		return nil
	}
	f := s.g.Failed
	v := &failureView{Error: event.CodeName(f.Code), What: s.t("failed.what", s.t("failed.kind."+failedKind(f.What)), num(f.Records))}
	if f.Times > 1 {
		v.What += " " + s.t("failed.times", num(f.Times), event.Clock(f.SinceMs))
	}
	if f.Ignored {
		v.Answers = append(v.Answers, s.t("failed.ignored"))
	}
	for _, a := range f.Answers {
		v.Answers = append(v.Answers, s.t("failed.answer", event.APIName(a.API), event.CodeName(a.Code), num(a.Code)))
	}
	return v
}

func failedKind(what string) string {
	switch what {
	case "group", "tombstones":
		return what
	case "transactional offsets":
		return "txn"
	}
	return "offsets"
}
