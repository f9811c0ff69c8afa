package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// files serves a folder of an embedded file system, compressed where the browser takes that and it helps: lab.wasm in
// the forms that make has built, text compressed once, when it is first asked for. Every form has an ETag of its own;
// browsers keep what they have and ask whether it is still right, since addresses stay the same from build to build.
type files struct {
	fs fs.FS
	mu sync.Mutex
	// forms by file name.
	forms map[string]*forms
}

type forms struct {
	once          sync.Once
	plain, br, gz form
	err           error
}

type form struct {
	body []byte
	etag string
}

// contentTypes are the kinds of files there are; whatever else lies in a folder is not served.
var contentTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".json":  "application/json",
	".js":    "text/javascript; charset=utf-8",
	".wasm":  "application/wasm",
	".gz":    "application/gzip",
	".svg":   "image/svg+xml",
	".png":   "image/png",
	".woff2": "font/woff2",
	".txt":   "text/plain; charset=utf-8",
}

func newFiles(f fs.FS) *files { return &files{fs: f, forms: map[string]*forms{}} }

// serve answers with the file of that name; false where there is none.
func (f *files) serve(w http.ResponseWriter, r *http.Request, name string) bool {
	kind, known := contentTypes[path.Ext(name)]
	if !known || !fs.ValidPath(name) {
		return false
	}
	f.mu.Lock()
	all := f.forms[name]
	if all == nil {
		if info, err := fs.Stat(f.fs, name); err != nil || info.IsDir() {
			f.mu.Unlock()
			return false
		}
		all = &forms{}
		f.forms[name] = all
	}
	f.mu.Unlock()
	all.once.Do(func() { all.load(f.fs, name) })
	if all.err != nil {
		refuse(w, http.StatusInternalServerError, all.err.Error(), "build the program anew: make build")
		return true
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, no-cache")
	h.Set("Vary", "Accept-Encoding")
	chosen := all.plain
	switch accepted := r.Header.Values("Accept-Encoding"); {
	case all.br.body != nil && accepts(accepted, "br"):
		chosen = all.br
		h.Set("Content-Encoding", "br")
	case all.gz.body != nil && accepts(accepted, "gzip"):
		chosen = all.gz
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", chosen.etag)
	if sameTag(r.Header.Get("If-None-Match"), chosen.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	h.Set("Content-Length", strconv.Itoa(len(chosen.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(chosen.body)
	}
	return true
}

func (f *forms) load(dir fs.FS, name string) {
	body, err := fs.ReadFile(dir, name)
	if err != nil {
		f.err = err
		return
	}
	f.plain = newForm(body)
	for _, c := range []struct {
		form   *form
		ending string
		pack   func([]byte) []byte
	}{{&f.br, ".br", packBrotli}, {&f.gz, ".gz", packGzip}} {
		packed, err := fs.ReadFile(dir, name+c.ending)
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			f.err = err
			return
		case strings.HasPrefix(contentTypes[path.Ext(name)], "text/") || strings.HasSuffix(name, ".svg"):
			packed = c.pack(body)
		default:
			continue
		}
		if len(packed) < len(body) {
			*c.form = newForm(packed)
		}
	}
}

func newForm(body []byte) form {
	sum := sha256.Sum256(body)
	return form{body, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

func packBrotli(body []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, 9)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func packGzip(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}

// accepts reads Accept-Encoding: whether a coding is named there and not with q=0.
func accepts(headers []string, coding string) bool {
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		name, rest, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		q, isQ := strings.CutPrefix(strings.ReplaceAll(rest, " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !isQ || err == nil && weight > 0
	}
	return false
}

// sameTag reads If-None-Match.
func sameTag(header, etag string) bool {
	for _, tag := range strings.Split(header, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
