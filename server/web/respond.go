package web

import (
	"encoding/json"
	"net/http"
	"strings"
)

// problem is the body of every error of /api: what was wrong, and what would be right.
type problem struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// refuse answers with an error, as JSON.
func refuse(w http.ResponseWriter, status int, what, hint string) {
	respond(w, status, problem{what, hint})
}

// respond answers with JSON. It is escaped for HTML too, so that a name full of markup stays text wherever it is shown.
func respond(w http.ResponseWriter, status int, body any) {
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// only lets requests of one method through, and HEAD where that is GET.
func only(method string, next http.HandlerFunc) http.HandlerFunc {
	allow := method
	if method == http.MethodGet {
		allow = "GET, HEAD"
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", allow)
			refuse(w, http.StatusMethodNotAllowed, r.Method+" is not possible here",
				r.URL.Path+" takes "+strings.ReplaceAll(allow, ", ", " and "))
			return
		}
		next(w, r)
	}
}
