package view

import (
	"strings"

	"grouplab/coordinator/event"
)

// ModePaste is a stage of which a pasted log tells: it is stepped through, and nothing of it is simulated.
const ModePaste Mode = "paste"

// PagePaste is the page on which one's own log becomes a picture.
const PagePaste PageKind = "paste"

// PasteState is what the page of a pasted log shows beside the stage.
type PasteState struct {
	// Name is the file's, "" where text was pasted. Reading is set while it is read; then Done of Of bytes are.
	Name     string
	Reading  bool
	Done, Of int64
	// Read is set once there is a result.
	Read bool
	// Lines, Understood, Rest and Unknown count lines as package brokerlog does; Dropped were too many to keep.
	Lines, Understood, Rest, Unknown, Dropped int
	// Timed is set where lines carry times; otherwise a second stands for a line.
	Timed bool
	// FromMs and ToMs are the first and the last fact's times. Cut is how many facts were kept where there were more, 0 where all
	// are: the later ones are left out.
	FromMs, ToMs int64
	Cut          int
	// Groups are those that the log names, the ones with the most facts first.
	Groups []PasteGroup
	// At and Of count the facts of the group on stage up to the cursor, and all.
	At, Facts int
	// Near are lines around the one that the cursor, or the selected fact, comes from: Current.
	Near    []PasteLine
	Current int
	// Bad are lines that are not understood.
	Bad []PasteLine
	// AtStart and AtEnd tell where the cursor stands; Playing whether it moves by itself.
	AtStart, AtEnd bool
}

// PasteGroup is a group that a log names.
type PasteGroup struct {
	Name              string
	Facts, Rebalances int
}

// PasteLine is a line of a log.
type PasteLine struct {
	Number int
	Text   string
}

// PasteParts are the parts of the page of a pasted log.
func PasteParts(m *Model, o Options, p *PasteState) []Part {
	o.ext = pasting{}
	s := newStage(m, o)
	list := s.parts()
	for i := range list {
		switch list[i].ID {
		case "transport":
			list[i].Component = pasteTransport(s, p)
		case "truth":
			list[i].Component = pasteTruth(s, p)
		case "headline":
			if !p.Read {
				list[i].Component = pasteNothing(s, p)
			}
		case "ledger":
			list[i].Component = watchLedger(s)
		case "shelves":
			if s.doubtful() {
				list[i].Component = awaitedShelf(s)
			}
		}
		if s.modern() != nil {
			switch list[i].ID {
			case "machine":
				list[i].Component = modernMachine(s)
			case "clients":
				list[i].Component = modernClients(s)
			case "shelves":
				list[i].Component = modernShelf(s)
			}
		}
	}
	past := s.records()
	return append(list, Part{"strip", pasteStrip(s, p, past)}, Part{"history", pasteHistory(s, p, past)}, Part{"pasted", pasted(s, p)},
		Part{"found", pasteGroups(s, p)}, Part{"lines", pasteLines(s, p)}, Part{"unknown", pasteUnknown(s, p)})
}

// Pasting gives options what the stage of a pasted log can.
func Pasting(o Options) Options {
	o.ext = pasting{}
	return o
}

// pasting is the extension of a pasted log's stage.
type pasting struct{ watching }

func (pasting) word(key string) (Text, bool) {
	if t, ok := wordsOfPaste[key]; ok {
		return t, true
	}
	return watching{}.word(key)
}

// amend says what lines alone cannot tell: whom a rebalance waits for, where no line says how it ended; and that who coordinates is not known.
func (pasting) amend(s *stage, h sentence) sentence {
	switch {
	case s.g == nil || s.g.Gone && s.g.State == event.Dead:
	case s.modern() != nil && inMotion(s.g.State):
		return s.modernSentence(s.modern())
	case s.doubtful():
		return s.outsideSentence()
	case s.g.State == event.PreparingRebalance:
		return s.foreseen(h)
	case s.g.Broker == 0 && s.g.State == event.Stable:
		return sentence{s.t("head.stable", num(len(s.g.Present()))), s.clauses(s.rich("head.stable.since", s.ago(s.g.SinceMs)), s.lastRebalance())}
	case s.g.Broker == 0 && s.g.State == event.Empty:
		return sentence{s.t("head.empty"), s.clauses(s.emptySince())}
	}
	return h
}

// foreseen says of a wait whose end stands in later lines when that will be.
func (s *stage) foreseen(h sentence) sentence {
	w := s.waiting()
	for _, miss := range w.Missing {
		if miss.SessionEndsMs == 0 {
			return h
		}
		if miss.SessionEndsMs >= w.EndMs {
			w.EndMs, w.EndMember, w.EndBy = miss.SessionEndsMs, miss.Label, EndSession
		}
	}
	if w.Kind != WaitJoin || len(w.Missing) == 0 {
		return h
	}
	h.Clauses = s.clauses(s.end(w), s.plain("paste.foreseen"), s.began(w))
	return h
}

// doubtful tells whether it is not sure whom the rebalance under way waits for.
func (s *stage) doubtful() bool {
	w := s.watchedGroup()
	if w == nil || w.Awaited == nil || s.g == nil || s.g.State != event.PreparingRebalance || w.Awaited.State != s.g.State {
		return false
	}
	for _, a := range w.Awaited.Awaited {
		if !a.Sure {
			return true
		}
	}
	return false
}

// percent says how far reading is.
func (p *PasteState) percent() int64 {
	if p.Of <= 0 {
		return 0
	}
	return min(100*p.Done/p.Of, 100)
}

func (p *PasteState) title(s *stage) string {
	if p.Name == "" {
		return s.t("paste.text")
	}
	return plainText(p.Name, 60)
}

// eventOfLine is what a line's button asks for.
func (l PasteLine) arg() string { return num(l.Number) }

// plainLine is a line of a log as it can be shown: what would break or turn a line around is written out.
func plainLine(text string) string { return plainText(strings.TrimSpace(text), 400) }
