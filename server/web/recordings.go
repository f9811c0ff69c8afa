package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"grouplab/server/record"
)

// cutsAtOnce is how many pieces are cut at the same time, each of which reads and writes compressed files.
const cutsAtOnce = 2

// recordings is what the server has of the recorder.
type recordings struct {
	recorder atomic.Pointer[record.Recorder] // nil where nothing is recorded
	cutters  chan struct{}
}

// Record shows what a recorder keeps.
func (s *Server) Record(r *record.Recorder) { s.recordings.recorder.Store(r) }

func (s *Server) recordingRoutes(get func(string, http.HandlerFunc)) {
	s.recordings.cutters = make(chan struct{}, cutsAtOnce)
	get("/recordings", s.recordingsPage)
	get("/recordings/{$}", s.recordingsPage)
	get("/api/recordings", s.kept)
	get("/api/recordings/cut", s.cut)
}

func (s *Server) recordingsPage(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Recordings())
}

// keptSegment is a segment in the answer of /api/recordings.
type keptSegment struct {
	FromMs int64 `json:"fromMs"`
	ToMs   int64 `json:"toMs"`
	Bytes  int64 `json:"bytes"`
	Events int   `json:"events"`
}

// keptGroups is how many groups are told of.
const keptGroups = 1000

// kept handles GET /api/recordings.
func (s *Server) kept(w http.ResponseWriter, r *http.Request) {
	if foreign(r) {
		refuse(w, http.StatusForbidden, "another page asked for that", "use the lab's own page")
		return
	}
	rec := s.recordings.recorder.Load()
	if rec == nil {
		respond(w, http.StatusOK, map[string]any{"recording": false, "hint": "start the server with -record DIR to keep the last hours"})
		return
	}
	segments, stats := rec.Kept(), rec.Stats()
	groups := record.Groups(segments)
	answer := map[string]any{"recording": true, "failing": stats.Failing, "bytes": stats.Bytes, "gaps": stats.Gaps, "missed": stats.Missed,
		"groups": list(groups[:min(len(groups), keptGroups)]), "moreGroups": max(len(groups)-keptGroups, 0)}
	told := make([]keptSegment, len(segments))
	for i, k := range segments {
		told[i] = keptSegment{k.FromMs, k.ToMs, k.Bytes, k.Events}
	}
	if n := len(told); n > 0 {
		answer["fromMs"], answer["toMs"] = told[0].FromMs, told[n-1].ToMs
	}
	answer["segments"] = told
	respond(w, http.StatusOK, answer)
}

// cut handles GET /api/recordings/cut: a piece as a file. With plain=1 it is sent for a page, which unpacks it by itself.
func (s *Server) cut(w http.ResponseWriter, r *http.Request) {
	rec := s.recordings.recorder.Load()
	piece, wrong := readPiece(r)
	switch {
	case foreign(r):
		refuse(w, http.StatusForbidden, "another page asked for that", "use the lab's own page")
		return
	case rec == nil:
		refuse(w, http.StatusNotFound, "nothing is recorded here", "start the server with -record DIR")
		return
	case wrong != "":
		refuse(w, http.StatusBadRequest, wrong, "ask /api/recordings/cut?from=MS&to=MS, milliseconds since 1970; GET /api/recordings says what is kept")
		return
	}
	if err := rec.Check(piece); err != nil {
		refuse(w, http.StatusNotFound, err.Error(), "GET /api/recordings says what is kept")
		return
	}
	select {
	case s.recordings.cutters <- struct{}{}:
		defer func() { <-s.recordings.cutters }()
	default:
		w.Header().Set("Retry-After", "2")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pieces are being cut already", cutsAtOnce), "try again in a moment")
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if r.URL.Query().Get("plain") == "1" && accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		h.Set("Content-Type", "application/x-ndjson; charset=utf-8")
		h.Set("Content-Encoding", "gzip")
	} else {
		h.Set("Content-Type", "application/gzip")
		h.Set("Content-Disposition", `attachment; filename="`+pieceName(piece)+`"`)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if err := rec.Cut(r.Context(), &patient{w, http.NewResponseController(w)}, piece); err != nil && !errors.Is(err, r.Context().Err()) {
		s.cfg.Logf("lab: a piece of the recording was not cut to its end: %v", err)
	}
}

// pieceName is the name of the file: when it begins, in UTC.
func pieceName(p record.Piece) string {
	name := "recording"
	if p.FromMs > 0 {
		name = time.UnixMilli(p.FromMs).UTC().Format("2006-01-02T15-04-05Z")
	}
	return name + ".grouplab"
}

// readPiece reads the parameters; wrong says what is wrong with them.
func readPiece(r *http.Request) (p record.Piece, wrong string) {
	q := r.URL.Query()
	for _, x := range []struct {
		name string
		to   *int64
	}{{"from", &p.FromMs}, {"to", &p.ToMs}} {
		text := q.Get(x.name)
		if text == "" {
			continue
		}
		var err error
		if *x.to, err = strconv.ParseInt(text, 10, 64); err != nil || *x.to < 0 {
			return p, fmt.Sprintf("%s=%s is no time in milliseconds", x.name, text)
		}
	}
	if p.ToMs > 0 && p.ToMs < p.FromMs {
		return p, "to is before from"
	}
	p.Group, p.Mask, p.Topics = q.Get("group"), q.Get("mask") == "1", q.Get("topics") == "1"
	if !utf8Valid(p.Group) {
		return p, "group is no text"
	}
	return p, ""
}

func utf8Valid(text string) bool { return strings.ToValidUTF8(text, "") == text }

// patient gives whoever reads a large file time for each piece of it.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(data []byte) (int, error) {
	// Not every writer has deadlines (a test's has none); then the server's own bounds hold.
	_ = p.control.SetWriteDeadline(time.Now().Add(eventsTimeout))
	return p.ResponseWriter.Write(data)
}

var (
	descKeptBytes    = desc("recording_bytes", "bytes", "What the recorder keeps on disk.")
	descKeptSegments = desc("recording_segments", "segments", "Segments that the recorder keeps.")
	descKeptFailing  = desc("recording_failing", "flag", "1 while the disk takes nothing.")
	descKeptEvents   = desc("recording_events_total", "events", "Events that were recorded.")
	descKeptMissed   = desc("recording_missed_events_total", "events", "Events that were not recorded, in gaps.")
	descKeptFailures = desc("recording_failures_total", "failures", "Times that the disk did not take what was to be recorded.")
)

// Describe and Collect are the recorder's metrics. There are none where nothing is recorded.
func (r *recordings) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descKeptBytes, descKeptSegments, descKeptFailing, descKeptEvents, descKeptMissed, descKeptFailures} {
		out <- d
	}
}

// Collect reads the figures.
func (r *recordings) Collect(out chan<- prometheus.Metric) {
	rec := r.recorder.Load()
	if rec == nil {
		return
	}
	s := rec.Stats()
	for d, v := range map[*prometheus.Desc]float64{descKeptBytes: float64(s.Bytes), descKeptSegments: float64(s.Segments), descKeptFailing: map[bool]float64{true: 1}[s.Failing]} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	for d, v := range map[*prometheus.Desc]int64{descKeptEvents: s.Events, descKeptMissed: s.Missed, descKeptFailures: s.Failures} {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
}
