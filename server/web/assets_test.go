package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

func TestFiles(t *testing.T) {
	css := []byte(strings.Repeat("body { color: #16181d }\n", 100))
	wasm := bytes.Repeat([]byte("wasm"), 1000)
	f := newFiles(fstest.MapFS{
		"lab.css": {Data: css}, "lab.wasm": {Data: wasm}, "lab.wasm.br": {Data: packBrotli(wasm)}, "lab.wasm.gz": {Data: packGzip(wasm)},
		"bare.wasm": {Data: wasm}, "tiny.js": {Data: []byte("1")}, "README": {Data: []byte("x")}, "sub/a.svg": {Data: []byte("<svg/>")},
	})
	ask := func(name string, headers ...string) *http.Response {
		r := httptest.NewRequest("GET", "/", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		if !f.serve(w, r, name) {
			w.WriteHeader(http.StatusNotFound)
		}
		return w.Result()
	}
	tags := map[string]string{}
	for _, c := range []struct {
		name, accept, coding, kind string
		want                       []byte
	}{
		{"lab.css", "", "", "text/css; charset=utf-8", css},
		{"lab.css", "gzip, deflate, br, zstd", "br", "text/css; charset=utf-8", css},
		{"lab.css", "gzip;q=1.0, br;q=0", "gzip", "text/css; charset=utf-8", css},
		{"lab.wasm", "", "", "application/wasm", wasm},
		{"lab.wasm", "br;q=0.5,gzip", "br", "application/wasm", wasm},
		{"lab.wasm", "GZIP", "gzip", "application/wasm", wasm},
		{"lab.wasm", "gzip;q=0.0", "", "application/wasm", wasm},
		{"lab.wasm", "gzip;q=x", "", "application/wasm", wasm},
		{"lab.wasm", "brotli", "", "application/wasm", wasm},
		{"lab.wasm.gz", "gzip, br", "", "application/gzip", packGzip(wasm)},
		{"bare.wasm", "gzip, br", "", "application/wasm", wasm},
		{"tiny.js", "gzip, br", "", "text/javascript; charset=utf-8", []byte("1")},
		{"sub/a.svg", "", "", "image/svg+xml", []byte("<svg/>")},
	} {
		r := ask(c.name, "Accept-Encoding", c.accept)
		if r.StatusCode != 200 || r.Header.Get("Content-Encoding") != c.coding || r.Header.Get("Content-Type") != c.kind ||
			r.Header.Get("Vary") != "Accept-Encoding" || r.Header.Get("Cache-Control") != "public, no-cache" {
			t.Errorf("%s for %q: %s %v", c.name, c.accept, r.Status, r.Header)
		}
		if got := unpack(t, r); !bytes.Equal(got, c.want) {
			t.Errorf("%s for %q: %d bytes, want %d", c.name, c.accept, len(got), len(c.want))
		}
		tag := r.Header.Get("ETag")
		if other, taken := tags[c.name+tag]; !strings.HasPrefix(tag, `"`) || taken && other != c.coding {
			t.Errorf("%s as %q has the ETag %s of its form %q", c.name, c.coding, tag, other)
		}
		tags[c.name+tag] = c.coding
		for _, has := range []string{tag, `"other", W/` + tag, "*"} {
			again := ask(c.name, "Accept-Encoding", c.accept, "If-None-Match", has)
			if b, _ := io.ReadAll(again.Body); again.StatusCode != 304 || len(b) != 0 || again.Header.Get("ETag") != tag {
				t.Errorf("%s again with %s: %s, %d bytes", c.name, has, again.Status, len(b))
			}
		}
		if again := ask(c.name, "Accept-Encoding", c.accept, "If-None-Match", `"other"`); again.StatusCode != 200 {
			t.Errorf("%s after a change: %s", c.name, again.Status)
		}
	}
	for _, name := range []string{"", ".", "README", "lab.wasm.br", "nothing.css", "../web.go", "/lab.css", "sub", "sub/", "sub/../lab.css"} {
		if r := ask(name); r.StatusCode != 404 {
			t.Errorf("%q was served", name)
		}
	}
}

func unpack(t *testing.T, r *http.Response) []byte {
	t.Helper()
	var from io.Reader = r.Body
	switch r.Header.Get("Content-Encoding") {
	case "br":
		from = brotli.NewReader(from)
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = z
	}
	b, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
