package view

import (
	"bytes"
	"context"
	"io"

	"grouplab/coordinator/event"

	"github.com/a-h/templ"
)

// Memo remembers the HTML of parts that only a fact can change, so that a clock that moves on does not render them again.
// One viewer owns it.
type Memo struct{ parts map[string]memoized }

type memoized struct {
	key  memoKey
	html []byte
}

// memoKey names everything that such a part depends on. The newest fact is named by its place in memory: two branches of
// a history never share it, and as long as the key is kept the place is not used again.
type memoKey struct {
	seq             int64
	last            *event.Event
	lines, gaps     int
	group, selected string
	search, find    string
	lang            Lang
	mode            Mode
	layout          Layout
	px              int
	head            *Model
	headSeq         int64
	axis            string
	focused         bool
}

// NewMemo returns a memory of nothing.
func NewMemo() *Memo { return &Memo{parts: map[string]memoized{}} }

// still is the key of a part that only facts and choices change.
func (s *stage) still(id string) memoKey {
	k := memoKey{seq: s.m.Seq, lines: len(s.m.Lines), gaps: len(s.m.Gaps), selected: s.o.Selected, search: s.o.Search, find: s.o.Find, lang: s.o.Lang, mode: s.o.Mode,
		layout: s.o.Layout, px: s.o.ChartPx, head: s.o.Head, focused: s.o.Focus == id}
	if n := len(s.m.Lines); n > 0 {
		k.last = &s.m.Lines[n-1]
	}
	if s.g != nil {
		k.group = s.g.Name
	}
	if s.o.Head != nil {
		k.headSeq = s.o.Head.Seq
	}
	return k
}

// remembered renders a component once for a key.
func (s *stage) remembered(id string, of func() memoKey, c templ.Component) templ.Component {
	memo := s.o.Memo
	if memo == nil {
		return c
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		key := of()
		if old, ok := memo.parts[id]; ok && old.key == key {
			_, err := w.Write(old.html)
			return err
		}
		var b bytes.Buffer
		if err := c.Render(ctx, &b); err != nil {
			return err
		}
		memo.parts[id] = memoized{key, b.Bytes()}
		_, err := w.Write(b.Bytes())
		return err
	})
}
