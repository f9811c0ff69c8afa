package web

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync/atomic"
)

// Progress is how far the start of a server is.
type Progress struct {
	// Phase is what it does: "reading the logs".
	Phase string `json:"phase"`
	// Done of Total, in Unit; Total is 0 where nobody knows.
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Unit  string `json:"unit,omitempty"`
	// SinceMs is how long the start has lasted.
	SinceMs int64 `json:"sinceMs"`
}

// Percent is 0 to 100, -1 where nobody knows.
func (p Progress) Percent() int {
	if p.Total <= 0 {
		return -1
	}
	return int(min(100, p.Done*100/p.Total))
}

func (p Progress) String() string {
	if p.Percent() < 0 {
		return p.Phase
	}
	return fmt.Sprintf("%s: %d %% (%d of %d %s)", p.Phase, p.Percent(), p.Done, p.Total, p.Unit)
}

// Front answers from the first moment: until Ready with how far the start is, then with the lab.
type Front struct {
	lab      atomic.Pointer[Server]
	progress func() Progress
}

// NewFront returns a front that has no lab yet.
func NewFront(progress func() Progress) *Front { return &Front{progress: progress} }

// Ready shows the lab from now on.
func (f *Front) Ready(lab *Server) { f.lab.Store(lab) }

// ServeHTTP answers one request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if lab := f.lab.Load(); lab != nil {
		lab.ServeHTTP(w, r)
		return
	}
	harden(w.Header())
	only(http.MethodGet, f.starting)(w, r)
}

// startingPage asks again by itself: there is no script before there is a lab.
const startingPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>GroupLab starts</title></head>
<body><h1>GroupLab starts</h1><p>%s</p><progress max="100" value="%d"></progress>
<p lang="zh">正在启动，请稍候。</p></body></html>
`

// starting says 503 to everybody: not ready, and how far it is.
func (f *Front) starting(w http.ResponseWriter, r *http.Request) {
	p := f.progress()
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		respond(w, http.StatusServiceUnavailable, struct {
			problem
			Starting Progress `json:"starting"`
		}{problem{"the server is starting: " + p.String(), "ask again; /healthz says when it is ready"}, p})
	case r.URL.Path == "/healthz" || r.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready: "+p.String())
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, startingPage, html.EscapeString(p.String()), max(0, p.Percent()))
	}
}
