package view

import (
	"strings"

	"grouplab/coordinator/event"
)

const transcriptRows = 32

// line is one row of the transcript.
type line struct {
	Seq, Cause int64
	At, Where  string
	What       string
	Class      string
	Current    bool
}

// transcript are the newest facts, newest first: those of the group on stage and those of no group.
func (s *stage) transcript() []line {
	var list []line
	want := strings.ToLower(s.o.Find)
	for i := len(s.m.Lines) - 1; i >= 0 && len(list) < transcriptRows; i-- {
		e := s.m.Lines[i]
		if s.g != nil && e.Group != "" && e.Group != s.g.Name {
			continue
		}
		if want != "" && !strings.Contains(strings.ToLower(e.Text()+s.told(&e, 400)), want) {
			continue
		}
		l := line{Seq: e.Seq, Cause: e.Cause, At: s.clock(e.AtMs), Where: s.where(e), What: s.told(&e, 400), Current: i == len(s.m.Lines)-1 || want == "" && len(list) == 0, Class: truthClass(e.Truth)}
		list = append(list, l)
	}
	return list
}

// told is a fact in the one wording that all outputs share; in Chinese its name and a sentence, since that wording is English.
func (s *stage) told(e *event.Event, most int) string {
	if s.o.Lang == Chinese {
		return e.Body.Kind() + " " + s.says(e)
	}
	return plainText(e.Text(), most)
}

// where says on which broker, at a client or in the cluster a fact happened.
func (s *stage) where(e event.Event) string {
	switch {
	case e.Broker != 0:
		return s.t("broker.small", num(e.Broker))
	case e.Group != "":
		return s.t("where.client")
	}
	return s.t("where.cluster")
}

func truthClass(t event.Truth) string {
	switch t {
	case event.Inferred:
		return "inferred"
	case event.Sampled:
		return "sampled"
	}
	return "observed"
}

// factOf finds a fact in the transcript, nil where it was dropped or never was.
func (s *stage) factOf(seq int64) *event.Event {
	for i := len(s.m.Lines) - 1; i >= 0; i-- {
		if s.m.Lines[i].Seq == seq {
			return &s.m.Lines[i]
		}
		if s.m.Lines[i].Seq < seq {
			break
		}
	}
	return nil
}

// chain leads from a fact to its root cause: at most eight facts.
func (s *stage) chain(seq int64) []line {
	var list []line
	for e := s.factOf(seq); e != nil && len(list) < 8; e = s.factOf(e.Cause) {
		list = append(list, line{Seq: e.Seq, Cause: e.Cause, At: s.clock(e.AtMs), Where: s.where(*e), What: s.told(e, 160)})
		if e.Cause == 0 || e.Cause >= e.Seq {
			break
		}
	}
	return list
}
