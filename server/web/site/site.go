// Package site writes the lessons as a folder of static files that any file host can serve, under any path: every link
// is relative, nothing asks a server, and the program of the tab lies there in three forms (plain, gzip, brotli), of
// which boot.js takes the gzip one by itself where a host sets no encoding.
package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grouplab/server/web/pages"
	"grouplab/static"
	"grouplab/static/view"
)

// policy is the content security policy of a page that no server sends a header with. What only a header can say is
// left out.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'"

// Write writes the site into dir, which is made where it is missing. Files of an older site are replaced; whatever else
// lies there stays. feedback is what pages.Feedback made, "" for a letter without an address.
func Write(dir, feedback string) error {
	if !static.Built() {
		return errors.New("site: lab.wasm has not been built; run make build first, or make site, which does both")
	}
	book, err := pages.New()
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	book.TakesFeedback(feedback)
	return write(dir, static.Assets(), static.Dist(), book)
}

func write(dir string, assets, dist fs.FS, book *pages.Book) error {
	w := &writer{dir: dir, sums: map[string][sha256.Size]byte{}}
	w.tree("assets", assets)
	w.tree("dist", dist)
	for _, p := range list(book) {
		w.page(p, book)
	}
	for _, lang := range []view.Lang{view.English, view.Chinese} {
		w.put("search."+string(lang)+".json", book.Index(lang))
		for _, id := range book.IDs() {
			if steps, there := book.Steps(id, lang); there {
				w.put(path.Join("lab", id, "steps."+string(lang)+".json"), steps)
			}
		}
	}
	w.worker(assets)
	if w.err != nil {
		return fmt.Errorf("site: %w", w.err)
	}
	return nil
}

// writer writes files and remembers what was in them. The first error stays.
type writer struct {
	dir  string
	sums map[string][sha256.Size]byte
	err  error
}

func (w *writer) put(name string, body []byte) {
	if w.err == nil {
		w.err = put(filepath.Join(w.dir, filepath.FromSlash(name)), body)
		w.sums[name] = sha256.Sum256(body)
	}
}

func (w *writer) tree(under string, tree fs.FS) {
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "README" || name == "sw.js" {
			return err
		}
		body, err := fs.ReadFile(tree, name)
		w.put(path.Join(under, name), body)
		return err
	})
	if w.err == nil {
		w.err = err
	}
}

// worker writes sw.js at the root, since a worker serves no page above its own address, with what it is to keep: all but
// the forms of the program that it does without, and what plays only until the program is there.
func (w *writer) worker(assets fs.FS) {
	source, err := fs.ReadFile(assets, "sw.js")
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	all := sha256.New()
	keep := []string{}
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		sum := w.sums[name]
		all.Write([]byte(name))
		all.Write(sum[:])
		switch base := path.Base(name); {
		case strings.HasSuffix(base, ".wasm") || strings.HasSuffix(base, ".wasm.br") || strings.HasPrefix(base, "steps.") || base == "404.html":
		case base == "index.html":
			keep = append(keep, "./"+strings.TrimSuffix(name, "index.html"))
		default:
			keep = append(keep, name)
		}
	}
	list, err := json.Marshal(keep)
	w.err = cmp.Or(w.err, err)
	text := strings.Replace(string(source), "grouplab-unversioned", "grouplab-"+hex.EncodeToString(all.Sum(nil)[:6]), 1)
	w.put("sw.js", []byte(strings.Replace(text, "const files = [];", "const files = "+string(list)+";", 1)))
}

// page is one document and where it lies.
type page struct {
	at   string // "lab/first-member/index.html"
	data view.PageData
}

func list(book *pages.Book) []page {
	all := []page{{"index.html", book.Contents()}}
	for _, id := range book.IDs() {
		d, _ := book.Lesson(id)
		all = append(all, page{path.Join("lab", id, "index.html"), d})
	}
	all = append(all, page{"sandbox/index.html", book.Sandbox()}, page{"paste/index.html", book.Paste()}, page{"recordings/index.html", book.Recordings()}, page{"glossary/index.html", book.Glossary()})
	d, _ := book.Gallery("")
	all = append(all, page{"gallery/index.html", d})
	for _, name := range book.Pictures() {
		d, _ := book.Gallery(name)
		all = append(all, page{path.Join("gallery", name, "index.html"), d})
	}
	// Hosts show this one for whatever is not there, under the address that was asked for: its links work at the root only.
	notFound := book.Error(404, view.Text{En: "There is no such page.", Zh: "没有这个页面。"})
	return append(all, page{"404.html", notFound})
}

// page writes one document, with its policy: no server sends one.
func (w *writer) page(p page, book *pages.Book) {
	p.data.Static = true
	p.data.Lang = view.English
	p.data.Base = strings.Repeat("../", strings.Count(p.at, "/"))
	book.Prepare(&p.data)
	var text bytes.Buffer
	if err := view.Page(p.data).Render(context.Background(), &text); err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	const head = "<head>"
	if n := strings.Count(text.String(), head); n != 1 {
		w.err = cmp.Or(w.err, fmt.Errorf("%s has %d heads", p.at, n))
		return
	}
	w.put(p.at, []byte(strings.Replace(text.String(), head,
		head+`<meta http-equiv="Content-Security-Policy" content="`+policy+`">`, 1)))
}

// put replaces a file in one step, so that a host that serves the folder meanwhile never shows half of one.
func put(name string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	half := name + ".half"
	if err := os.WriteFile(half, body, 0o644); err != nil {
		return err
	}
	return os.Rename(half, name)
}
