package view

import (
	"net/url"
	"strconv"
	"strings"

	"grouplab/coordinator/event"

	"github.com/a-h/templ"
)

// ModeRecording is a stage of which a recording tells: it is stepped through as a lesson is, and nothing of it is simulated.
const ModeRecording Mode = "recording"

// PageRecordings is the page that opens recordings, with a server or without.
const PageRecordings PageKind = "recordings"

// RecordingState is what the page of recordings shows beside the stage.
type RecordingState struct {
	// Name is the open file's; Says is why the last one could not be opened.
	Name, Says string
	// Reading is set while it is read, Open once it is shown. Events were read, Drawn of them are in the picture.
	Reading, Open bool
	Events, Drawn int
	// FromMs to ToMs is what it tells of; Group the only group in it, "" for all.
	FromMs, ToMs     int64
	Group            string
	Masked, Observed bool
	// Stopped says why it ends early, Unknown which kinds were skipped; of Unreadable lines Words says what is wrong with the first.
	Stopped, Unknown, Words string
	Unreadable              int
	Gaps                    []RecordingGap
	// Kept is what the server keeps, nil where there is none; Piece what is wanted of it.
	Kept  *Kept
	Piece Piece
	// Held is the moment that is kept to be compared, nil for none. LabNotes say what the run that was made for the lab does not
	// reproduce; LabMade is set once one was made.
	Held     *Held
	LabMade  bool
	LabNotes []string
}

// RecordingGap is a stretch that nobody recorded.
type RecordingGap struct {
	FromMs, ToMs int64
	Reason       string
}

// Kept is what a server's recorder keeps.
type Kept struct {
	// On is set where it records, Failing while the disk takes nothing.
	On, Failing  bool
	FromMs, ToMs int64
	Bytes, Gaps  int64
	Groups       []string
	MoreGroups   int
}

// Piece is what is wanted of a server's recording: SpanMs around AtMs, or, with Now, up to now.
type Piece struct {
	AtMs, SpanMs int64
	Now          bool
	Group        string
	Mask, Topics bool
}

// Query is the address of the piece: as a file, or plain for a page.
func (p Piece) Query(plain bool) string {
	from, to := p.AtMs-p.SpanMs/2, p.AtMs+p.SpanMs/2
	q := url.Values{}
	if p.Now {
		from, to = p.AtMs-p.SpanMs, 0
	}
	q.Set("from", strconv.FormatInt(max(from, 0), 10))
	if to > 0 {
		q.Set("to", strconv.FormatInt(to, 10))
	}
	for _, x := range []struct {
		name  string
		value string
	}{{"group", p.Group}, {"mask", one(p.Mask)}, {"topics", one(p.Mask && p.Topics)}, {"plain", one(plain)}} {
		if x.value != "" {
			q.Set(x.name, x.value)
		}
	}
	return "api/recordings/cut?" + q.Encode()
}

func one(on bool) string {
	if on {
		return "1"
	}
	return ""
}

// recordingSpans are how much can be taken at once, in milliseconds.
var recordingSpans = []int64{2 * 60_000, 10 * 60_000, 60 * 60_000, 24 * 3_600_000}

// RecordingParts are the parts of the page of recordings.
func RecordingParts(m *Model, o Options, r *RecordingState) []Part {
	o.ext = recorded{}
	s := newStage(m, o)
	l, past := s.listing(), s.records()
	list := s.parts()
	for i := range list {
		if c := s.insteadOf(list[i].ID); c != nil {
			list[i].Component = c
		}
		switch list[i].ID {
		case "truth":
			list[i].Component = recordingTruth(s, r)
		case "headline":
			if !r.Open {
				list[i].Component = recordingNothing(s, r)
			}
		}
	}
	return append(list, Part{"recording", recordingOpen(s, r)}, Part{"compare", recordingCompare(s, r)}, Part{"kept", recordingKept(s, r)}, Part{"finder", groupFinder(s, l)}, Part{"groups", watchList(s, l)},
		Part{"strip", stripPane(s, past)}, Part{"history", historyPane(s, past)}, Part{"figures", figuresPane(s, past)})
}

// recorded is the extension of a recording's stage.
type recorded struct{ watching }

func (recorded) word(key string) (Text, bool) {
	if t, ok := wordsOfRecordings[key]; ok {
		return t, true
	}
	return watching{}.word(key)
}

// RecordingWord is a sentence of this page.
func RecordingWord(l Lang, key string, args ...string) string {
	s := wordsOfRecordings[key].In(l)
	for i, a := range args {
		s = strings.ReplaceAll(s, "{"+strconv.Itoa(i)+"}", a)
	}
	return s
}

// recordingParts are the parts of the page before its program has started.
func (d PageData) recordingParts() map[string]templ.Component {
	_, o := d.stage()
	o.Mode = ModeRecording
	parts := map[string]templ.Component{}
	for _, p := range RecordingParts(NewLiveModel(), o, &RecordingState{}) {
		parts[p.ID] = p.Component
	}
	return parts
}

// RecordingDay prints a moment with its day, in UTC.
func RecordingDay(ms int64) string {
	if ms < wallFromMs {
		return event.Clock(ms)
	}
	year, month, day := civil(ms / 86_400_000)
	return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + " " + event.Clock(ms%86_400_000) + " UTC"
}

func pad(n, width int64) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(int(width)-len(s), 0)) + s
}

// civil is the date of a day since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
func civil(days int64) (year, month, day int64) {
	days += 719468
	era := days / 146097
	of := days - era*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*y + y/4 - y/100
	mp := (5*of + 2) / 153
	day = of - (153*mp+2)/5 + 1
	if month = mp + 3; month > 12 {
		month -= 12
	}
	if year = y + era*400; month <= 2 {
		year++
	}
	return year, month, day
}

// recordedSize prints bytes as a reader takes them in.
func (s *stage) recordedSize(bytes int64) string {
	if bytes < 1<<20 {
		return num((bytes+1023)>>10) + " KB"
	}
	return num(bytes>>20) + " MB"
}
