package web

import (
	_ "embed"
	"net/http"
	"strconv"
)

// dashboard is a dashboard for Grafana 10 and newer that shows what /metrics says, with panels of its own only.
//
//go:embed grafana.json
var dashboard []byte

// grafana handles GET /grafana.json.
func (s *Server) grafana(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="grouplab-grafana.json"`)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(dashboard)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(dashboard)
	}
}
