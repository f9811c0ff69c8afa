package site

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"grouplab/lessons/render"
	"grouplab/server/web/pages"
	"grouplab/static"
)

var (
	link  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	asset = regexp.MustCompile(`assets/([a-z0-9.-]+)`)
)

func book() *pages.Book {
	said := render.Text{En: "<b>", Zh: "中文"}
	var all []render.Lesson
	for i, id := range []string{"first-member", "unclean-restart"} {
		all = append(all, render.Lesson{ID: id, Number: i + 1, Script: "setup\n", Title: said, Summary: said,
			Steps: []render.Step{{Name: "look", Title: said, HTML: said}}, Goals: []render.Named{{Name: "stable", HTML: said}}})
	}
	return pages.Of(all)
}

// written writes a site whose assets are placeholders with the names that its pages use.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	assets := fstest.MapFS{"sw.js": {Data: []byte(`const version = "grouplab-unversioned"; const files = [];`)}}
	w := &writer{dir: dir, sums: map[string][sha256.Size]byte{}}
	for _, p := range list(book()) {
		if w.page(p, book()); w.err != nil {
			t.Fatal(w.err)
		}
		html, err := os.ReadFile(filepath.Join(dir, p.at))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asset.FindAllSubmatch(html, -1) {
			assets[string(m[1])] = &fstest.MapFile{Data: m[1]}
		}
	}
	dist := fstest.MapFS{"lab.wasm": {Data: []byte("w")}, "lab.wasm.gz": {Data: []byte("g")}, "lab.wasm.br": {Data: []byte("b")}, "live.wasm": {Data: []byte("W")}, "live.wasm.gz": {Data: []byte("G")}, "wasm_exec.js": {Data: []byte("j")}}
	dir = filepath.Join(t.TempDir(), "not", "there", "yet")
	for range 2 { // the second time over the first
		if err := write(dir, assets, dist, book()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A plain file host under a path of its own serves every page, and every link of every page leads somewhere.
func TestSiteUnderAnyPath(t *testing.T) {
	dir := written(t)
	host := httptest.NewServer(http.StripPrefix("/some/where", http.FileServer(http.Dir(dir))))
	defer host.Close()
	seen := 0
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		seen++
		rel, _ := filepath.Rel(dir, name)
		at, _ := url.Parse(host.URL + "/some/where/" + strings.TrimSuffix(filepath.ToSlash(rel), "index.html"))
		html := get(t, at.String(), 200)
		for _, m := range link.FindAllStringSubmatch(html, -1) {
			to, err := url.Parse(m[1])
			if err != nil || to.IsAbs() && (to.Host != "" || to.Scheme == "mailto") {
				continue
			}
			there := at.ResolveReference(to)
			if there.Fragment = ""; !strings.HasPrefix(there.Path, "/some/where/") {
				t.Errorf("%s links to %s, out of the site", rel, m[1])
				continue
			}
			get(t, there.String(), 200)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 5 {
		t.Errorf("the site has %d pages", seen)
	}
	for name, want := range map[string]string{"dist/lab.wasm": "w", "dist/lab.wasm.gz": "g", "dist/lab.wasm.br": "b", "dist/live.wasm": "W", "dist/wasm_exec.js": "j"} {
		if got := get(t, host.URL+"/some/where/"+name, 200); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// The worker keeps every page and asset of its version, under a number that changes with any of them.
func TestWorkerKnowsItsVersion(t *testing.T) {
	read := func(dir string) (version, files string) {
		text, err := os.ReadFile(filepath.Join(dir, "sw.js"))
		m := regexp.MustCompile(`version = "(grouplab-[0-9a-f]{12})"; const files = (\[.*\]);`).FindSubmatch(text)
		if err != nil || m == nil {
			t.Fatalf("%s: %v", text, err)
		}
		return string(m[1]), string(m[2])
	}
	dir := written(t)
	version, files := read(dir)
	for _, want := range []string{`"./"`, `"./lab/first-member/"`, `"./glossary/"`, `"dist/lab.wasm.gz"`, `"dist/live.wasm.gz"`, `"search.zh.json"`, `"assets/boot.js"`} {
		if !strings.Contains(files, want) {
			t.Errorf("%s is not kept: %s", want, files)
		}
	}
	if strings.Contains(files, `lab.wasm"`) || strings.Contains(files, "404") {
		t.Errorf("kept without need: %s", files)
	}
	assets := fstest.MapFS{"sw.js": {Data: []byte(`const version = "grouplab-unversioned"; const files = [];`)}, "x.css": {Data: []byte("x")}}
	if err := write(dir, assets, fstest.MapFS{}, book()); err != nil {
		t.Fatal(err)
	}
	if other, _ := read(dir); other == version {
		t.Error("another site has the same version")
	}
}

func get(t *testing.T, address string, status int) string {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		t.Errorf("%s: %s, %v", address, r.Status, err)
	}
	return string(b)
}

func TestPagesOfTheSite(t *testing.T) {
	dir := written(t)
	for _, name := range []string{"index.html", "404.html", "gallery/index.html", "lab/first-member/index.html", "lab/unclean-restart/index.html"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		html := string(raw)
		head := strings.Index(html, "<head>")
		if head < 0 || !strings.HasPrefix(html[head:], `<head><meta http-equiv="Content-Security-Policy" content="default-src 'none';`) {
			t.Errorf("%s does not begin with its policy", name)
		}
		if strings.Contains(html, "grouplab-token") || strings.Contains(html, "/api/") {
			t.Errorf("%s speaks of a server", name)
		}
	}
}

func TestWithoutTheBuild(t *testing.T) {
	err := Write(t.TempDir(), "")
	if static.Built() {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "run make build first") {
		t.Errorf("got %v", err)
	}
}

func TestWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(file, fstest.MapFS{"sw.js": {}}, fstest.MapFS{}, book()); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("got %v", err)
	}
}
