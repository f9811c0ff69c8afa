// Package site writes the lessons as a folder of static files that any file host can serve, under any path: every link
// is relative, nothing asks a server, and the program of the tab lies there in three forms (plain, gzip, brotli), of
// which boot.js takes the gzip one by itself where a host sets no encoding.
package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
// lies there stays.
func Write(dir string) error {
	if !static.Built() {
		return errors.New("site: lab.wasm has not been built; run make build first, or make site, which does both")
	}
	book, err := pages.New()
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	return write(dir, static.Assets(), static.Dist(), book)
}

func write(dir string, assets, dist fs.FS, book *pages.Book) error {
	if err := copyTree(filepath.Join(dir, "assets"), assets); err != nil {
		return fmt.Errorf("site: %w", err)
	}
	if err := copyTree(filepath.Join(dir, "dist"), dist); err != nil {
		return fmt.Errorf("site: %w", err)
	}
	// A worker serves no page above its own address, so it lies at the root.
	worker, err := fs.ReadFile(assets, "sw.js")
	if err == nil {
		err = put(filepath.Join(dir, "sw.js"), worker)
	}
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	for _, p := range list(book) {
		if err := p.write(dir, book); err != nil {
			return fmt.Errorf("site: %s: %w", p.at, err)
		}
	}
	for _, lang := range []view.Lang{view.English, view.Chinese} {
		if err := put(filepath.Join(dir, "search."+string(lang)+".json"), book.Index(lang)); err != nil {
			return fmt.Errorf("site: %w", err)
		}
		for _, id := range book.IDs() {
			steps, there := book.Steps(id, lang)
			if !there {
				continue
			}
			if err := put(filepath.Join(dir, "lab", id, "steps."+string(lang)+".json"), steps); err != nil {
				return fmt.Errorf("site: %w", err)
			}
		}
	}
	return nil
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
	all = append(all, page{"glossary/index.html", book.Glossary()})
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

func (p page) write(dir string, book *pages.Book) error {
	p.data.Static = true
	p.data.Lang = view.English
	p.data.Base = strings.Repeat("../", strings.Count(p.at, "/"))
	book.Prepare(&p.data)
	var text bytes.Buffer
	if err := view.Page(p.data).Render(context.Background(), &text); err != nil {
		return err
	}
	const head = "<head>"
	if n := strings.Count(text.String(), head); n != 1 {
		return fmt.Errorf("the page has %d heads", n)
	}
	withPolicy := strings.Replace(text.String(), head,
		head+`<meta http-equiv="Content-Security-Policy" content="`+policy+`">`, 1)
	return put(filepath.Join(dir, filepath.FromSlash(p.at)), []byte(withPolicy))
}

func copyTree(dir string, tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "README" {
			return err
		}
		body, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return put(filepath.Join(dir, filepath.FromSlash(name)), body)
	})
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
