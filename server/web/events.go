package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/live"
)

const (
	eventsChunk   = 1000             // events that are encoded at a time
	eventsAtOnce  = 8                // requests for events that are served at the same time
	eventsTimeout = 20 * time.Second // how long a reader may take for one chunk
)

// events handles GET /api/events: the kept events from a Seq on, as they are at the time of the request, one JSON object
// a line. Where the oldest that were asked for are gone, the first line says so: {"gap":{"from":…,"to":…}}.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	oldest, last := s.cfg.Hub.Window()
	from, ok := parseFrom(w, r, last)
	if !ok {
		return
	}
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d readers are at it already", eventsAtOnce), "try again in a moment")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("GroupLab-Oldest-Seq", strconv.FormatInt(oldest, 10))
	h.Set("GroupLab-Last-Seq", strconv.FormatInt(last, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if from == 0 {
		from = oldest
	}
	if err := s.writeEvents(w, from, last); err != nil {
		s.cfg.Logf("lab: a reader of /api/events was dropped: %v", err)
	}
}

func (s *Server) writeEvents(w http.ResponseWriter, next, last int64) error {
	control := http.NewResponseController(w)
	var text bytes.Buffer
	var chunk []event.Event
	for next <= last {
		text.Reset()
		chunk = s.cfg.Hub.Since(chunk[:0], next, eventsChunk)
		if len(chunk) == 0 || chunk[0].Seq > next { // gone, or went while we were at it
			to := last
			if len(chunk) > 0 {
				to = min(to, chunk[0].Seq-1)
			}
			fmt.Fprintf(&text, "{\"gap\":{\"from\":%d,\"to\":%d}}\n", next, to)
			next = to + 1
		}
		lines := json.NewEncoder(&text)
		for i := 0; i < len(chunk) && chunk[i].Seq <= last; i++ {
			if err := lines.Encode(chunk[i]); err != nil {
				return err
			}
			next = chunk[i].Seq + 1
		}
		// Not every writer has deadlines (a test's has none); then the server's own bounds hold.
		_ = control.SetWriteDeadline(time.Now().Add(eventsTimeout))
		if _, err := w.Write(text.Bytes()); err != nil {
			return err
		}
	}
	err := control.Flush()
	_ = control.SetWriteDeadline(time.Time{}) // it would hold for the connection's next request
	return err
}

// parseFrom reads the parameter from: a Seq, or nothing. It has answered where it returns false.
func parseFrom(w http.ResponseWriter, r *http.Request, last int64) (int64, bool) {
	values := r.URL.Query()["from"]
	if len(values) == 0 {
		return 0, true
	}
	from, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || from < 0 || len(values) > 1 {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("from=%s is no event's number", values[0]),
			"from is the Seq of the first event that is wanted, a number from 1 on; without it, all that are kept are sent")
		return 0, false
	}
	if from > last+1 {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("event %d does not exist yet", from),
			fmt.Sprintf("the last event is %d; a server that was started again counts from 1", last))
		return 0, false
	}
	return from, true
}

// live handles GET /api/live, the websocket.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	if foreign(r) {
		refuse(w, http.StatusForbidden, "another page asked for that", "use the lab's own page")
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		refuse(w, http.StatusUpgradeRequired, "this is a websocket", "GET /api/state and /api/events answer plain requests")
		return
	}
	q := r.URL.Query()
	what := live.Request{World: q.Get("world"), Group: q.Get("group")}
	if text := q.Get("from"); text != "" {
		from, err := strconv.ParseInt(text, 10, 64)
		if err != nil || from < 0 {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("from=%s is no event's number", text), "from is the Seq of the first event that is wanted")
			return
		}
		what.From = from
	}
	switch text := q.Get("overview"); text {
	case "", "0":
	case "1":
		what.Overview = true
	default:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("overview=%s is not possible", cut(text)), "overview=1 is one line for each group, and the group of group= in full")
		return
	}
	switch err := s.cfg.Hub.Serve(w, r, what); {
	case errors.Is(err, live.ErrFull):
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "there are too many viewers", "close a page that shows the cluster, or wait")
	case errors.Is(err, live.ErrClosed):
		refuse(w, http.StatusServiceUnavailable, "the server is shutting down", "start it again")
	case errors.Is(err, live.ErrNoOverview):
		refuse(w, http.StatusNotFound, "this server keeps no overview", "leave overview out")
	case err != nil:
		s.cfg.Logf("lab: a viewer of the running cluster was cut: %v", err)
	}
}

// probe handles GET /api/probe: what each request of a member would get now.
func (s *Server) probe(w http.ResponseWriter, r *http.Request) {
	group := r.URL.Query().Get("group")
	if group == "" {
		refuse(w, http.StatusBadRequest, "the group is missing", "ask /api/probe?group=NAME&member=ID; without member, an unknown one asks")
		return
	}
	if s.cfg.Observes {
		refuse(w, http.StatusForbidden, "this cluster is only observed: what a request would get is known to its brokers alone", "GET /api/state says what is seen")
		return
	}
	answers, err := s.cfg.Control.Probe(r.Context(), group, r.URL.Query().Get("member"))
	if err != nil {
		refuseAction(w, err)
		return
	}
	respond(w, http.StatusOK, list(answers))
}
