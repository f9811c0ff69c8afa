package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"grouplab/static/view"
)

func (s *Server) contents(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Contents())
}

// lesson handles /lab/ID and /lab/ID/. Links between lessons are relative and the same on a static site, where a lesson
// is a folder; so a browser is led to the address with the slash.
func (s *Server) lesson(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	d, found := s.book.Lesson(id)
	switch {
	case !found:
		s.pageError(w, r, http.StatusNotFound, view.Text{
			En: fmt.Sprintf("There is no lesson %q.", id),
			Zh: fmt.Sprintf("没有名为“%s”的课程。", id),
		})
	case !strings.HasSuffix(r.URL.Path, "/") && strings.Contains(r.Header.Get("Accept"), "text/html"):
		to := url.URL{Path: "./" + id + "/", RawQuery: r.URL.RawQuery}
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusPermanentRedirect)
	default:
		s.page(w, r, http.StatusOK, d)
	}
}

func (s *Server) glossary(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Glossary())
}

// steps handles /lab/ID/steps.LANG.json: what plays before the program is there.
func (s *Server) steps(w http.ResponseWriter, r *http.Request) {
	lang, ok := langOf(r.PathValue("file"), "steps.")
	data, found := s.book.Steps(r.PathValue("id"), lang)
	if !ok || !found {
		s.notFound(w, r)
		return
	}
	s.data(w, r, data)
}

// searched handles /search.LANG.json: what the contents page searches.
func (s *Server) searched(lang view.Lang) http.HandlerFunc {
	index := sync.OnceValue(func() []byte { return s.book.Index(lang) })
	return func(w http.ResponseWriter, r *http.Request) { s.data(w, r, index()) }
}

// langOf reads the language out of a file's name: "steps.zh.json".
func langOf(file, before string) (view.Lang, bool) {
	name, isJSON := strings.CutSuffix(strings.TrimPrefix(file, before), ".json")
	lang := view.Lang(name)
	return lang, isJSON && strings.HasPrefix(file, before) && (lang == view.English || lang == view.Chinese)
}

// data answers with JSON that is part of the pages, compressed where the browser takes that.
func (s *Server) data(w http.ResponseWriter, r *http.Request, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	if accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		body = packGzip(body)
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

func (s *Server) sandbox(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Sandbox())
}

func (s *Server) pastePage(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Paste())
}

func (s *Server) livePage(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusOK, s.book.Live())
}

func (s *Server) gallery(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	d, found := s.book.Gallery(name)
	if !found {
		s.pageError(w, r, http.StatusNotFound, view.Text{
			En: fmt.Sprintf("The gallery has no picture %q.", name),
			Zh: fmt.Sprintf("图库中没有名为“%s”的图。", name),
		})
		return
	}
	s.page(w, r, http.StatusOK, d)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.pageError(w, r, http.StatusNotFound, view.Text{
		En: fmt.Sprintf("There is nothing at %s.", r.URL.Path),
		Zh: fmt.Sprintf("%s 处没有内容。", r.URL.Path),
	})
}

func (s *Server) pageError(w http.ResponseWriter, r *http.Request, status int, said view.Text) {
	s.page(w, r, status, s.book.Error(status, said))
}

// page writes a whole document. The token goes only to this machine: nobody else could use it.
func (s *Server) page(w http.ResponseWriter, r *http.Request, status int, d view.PageData) {
	d.Base = strings.Repeat("../", strings.Count(r.URL.EscapedPath(), "/")-1)
	d.Lang = language(r)
	if len(s.cfg.Kafka) > 0 {
		d.Bootstrap = s.cfg.Kafka[0]
	}
	if fromHere(r) && !s.cfg.Observes {
		d.Token = s.cfg.Token
	}
	if embedded(r, d.Kind) {
		d.Token = ""
		allowFraming(w.Header())
	}
	s.book.Prepare(&d)
	var text bytes.Buffer
	if err := view.Page(d).Render(r.Context(), &text); err != nil {
		refuse(w, http.StatusInternalServerError, "the page cannot be shown: "+err.Error(), "this is a mistake in the program")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(d.Lang))
	h.Set("Cache-Control", "no-store") // it carries the token
	h.Set("Vary", "Accept-Language")
	h.Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text.Bytes())
	}
}

// embedded tells whether a page is asked for in the form that other sites may show: a lesson or the sandbox, whose stage
// stands still and which can do nothing to a cluster. Never the live page.
func embedded(r *http.Request, kind view.PageKind) bool {
	return r.URL.Query().Has("embed") && (kind == view.PageLesson || kind == view.PageSandbox)
}

// language is the one that was asked for (?lang=zh), else the browser's, else English.
func language(r *http.Request) view.Lang {
	switch lang := view.Lang(r.URL.Query().Get("lang")); lang {
	case view.English, view.Chinese:
		return lang
	}
	best, weight := view.English, 0.0
	for _, part := range strings.Split(r.Header.Get("Accept-Language"), ",") {
		name, rest, _ := strings.Cut(part, ";")
		name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), "-")
		q := 1.0
		if text, found := strings.CutPrefix(strings.ReplaceAll(rest, " ", ""), "q="); found {
			q, _ = strconv.ParseFloat(text, 64) // what is no number counts as 0
		}
		if lang := view.Lang(name); q > weight && (lang == view.English || lang == view.Chinese) {
			best, weight = lang, q
		}
	}
	return best
}

func (s *Server) file(f *files) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !f.serve(w, r, r.PathValue("name")) {
			s.notFound(w, r)
		}
	}
}

// serviceWorker serves sw.js at the root, since a worker serves no page above its own address.
func (s *Server) serviceWorker(w http.ResponseWriter, r *http.Request) {
	if !s.assets.serve(w, r, "sw.js") {
		s.notFound(w, r)
	}
}

func (s *Server) icon(w http.ResponseWriter, r *http.Request) {
	if !s.assets.serve(w, r, "icon.svg") {
		s.notFound(w, r)
	}
}
