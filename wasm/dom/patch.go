//go:build js

package dom

import (
	"strconv"
	"strings"

	"github.com/hack-pad/safejs"
)

// patch replaces a part's inner HTML and keeps what the viewer has there: focus, selection, scroll positions and what
// was unfolded.
func (p *page) patch(patch Patch) {
	el := byID(patch.ID)
	if el.none() {
		return
	}
	if !p.scrub.none() && el.call("contains", p.scrub.v).truthy() {
		around(el, p.scrub, patch.HTML)
		return
	}
	focus := focusIn(el)
	said := newsIn(el)
	scrolled, unfolded := scrolledIn(el), unfoldedIn(el)
	el.set("innerHTML", patch.HTML)
	for _, s := range scrolled {
		s.restore(el)
	}
	for _, id := range unfolded {
		byID(id).set("open", true)
	}
	if focus != nil {
		focus.restore(el)
	}
	said.follow(el)
	p.animate(el)
}

// news is what a lesson's panel said of a step beside its text.
type news struct {
	step           string
	replies, hints int
}

func newsIn(el ref) news {
	body := el.find(".lesson-body")
	if body.none() {
		return news{}
	}
	return news{body.attr("data-scroll"), len(el.all(".option-why")), len(el.all(".hint"))}
}

// follow scrolls to what the panel says anew: the beginning of another step where the whole page scrolls; of the same step the
// replies to an answer, the first where not all have room, or a hint.
func (n news) follow(el ref) {
	now := newsIn(el)
	show := func(list []ref, at ...int) {
		for _, i := range at {
			list[i].call("scrollIntoView", map[string]any{"block": "nearest"})
		}
	}
	switch {
	case n.step == "" || now.step == "":
	case now.step != n.step:
		show(el.all(".lesson-body > *"), 0)
	case now.replies > n.replies:
		show(el.all(".option-why"), now.replies-1, n.replies)
	case now.hints > n.hints:
		show(el.all(".hint"), now.hints-1)
	}
}

// around replaces everything in a part but one element and those that hold it, so that a drag of that element goes on.
// Where the new HTML has another shape there, nothing is changed until the drag is over.
func around(el, keep ref, html string) {
	template := document().call("createElement", "template")
	template.set("innerHTML", html)
	old, fresh := el, template.get("content")
	for !old.same(keep) {
		olds, freshes := old.get("childNodes").items(), fresh.get("childNodes").items()
		at := 0
		for at < len(olds) && !olds[at].call("contains", keep.v).truthy() {
			at++
		}
		if len(olds) != len(freshes) || at == len(olds) {
			return
		}
		for i := range olds {
			if i != at {
				old.call("replaceChild", freshes[i].v, olds[i].v)
			}
		}
		old, fresh = olds[at], freshes[at]
	}
}

// place finds an element again after its part was rendered anew.
type place struct {
	selector string
	nth      int
	start    int // selection of a text field, -1 none
	end      int
}

// focusIn remembers which element of a part has the focus, nil where none has.
func focusIn(el ref) *place {
	active := document().get("activeElement")
	if active.none() || active.same(el) || !el.call("contains", active.v).truthy() {
		return nil
	}
	f := &place{start: -1}
	if id := active.get("id").text(); id != "" {
		f.selector = "#" + escape(id)
	} else {
		f.selector = strings.ToLower(active.get("tagName").text())
		for _, name := range []string{"data-do", "data-arg", "data-key", "name", "value", "href"} {
			if active.has(name) {
				f.selector += "[" + name + "=" + strconv.Quote(active.attr(name)) + "]"
			}
		}
	}
	for i, other := range el.all(f.selector) {
		if other.same(active) {
			f.nth = i
		}
	}
	if start := active.get("selectionStart"); start.v.Type() == safejs.TypeNumber {
		f.start, f.end = int(start.number()), int(active.get("selectionEnd").number())
	}
	return f
}

func (f *place) restore(el ref) {
	found := el.all(f.selector)
	if len(found) == 0 {
		return
	}
	target := found[min(f.nth, len(found)-1)]
	target.call("focus", map[string]any{"preventScroll": true})
	if f.start >= 0 && target.get("selectionStart").v.Type() == safejs.TypeNumber {
		target.call("setSelectionRange", f.start, f.end)
	}
}

// scrollers are what scrolls inside of parts.
const scrollers = ".scroll, .lesson-body, .groups, .commits, .chart-tall, .transport-more"

// scroll is how far the nth scroller of a part was scrolled, and what it showed: something else begins at its top.
type scroll struct {
	nth       int
	shows     string
	top, left float64
}

func (s scroll) restore(el ref) {
	if found := el.all(scrollers); s.nth < len(found) && found[s.nth].attr("data-scroll") == s.shows {
		found[s.nth].set("scrollTop", s.top)
		found[s.nth].set("scrollLeft", s.left)
	}
}

func scrolledIn(el ref) []scroll {
	var list []scroll
	for i, e := range el.all(scrollers) {
		s := scroll{i, e.attr("data-scroll"), e.get("scrollTop").number(), e.get("scrollLeft").number()}
		if s.top != 0 || s.left != 0 {
			list = append(list, s)
		}
	}
	return list
}

// unfoldedIn lists the details with an id that are open.
func unfoldedIn(el ref) []string {
	var ids []string
	for _, e := range el.all("details[open][id]") {
		ids = append(ids, e.get("id").text())
	}
	return ids
}

// escape makes a text fit for a selector.
func escape(s string) string { return global("CSS").call("escape", s).text() }

// animate moves what is on the wire: an element with data-move-ms is drawn at data-move-from and glides to data-move-to,
// both fractions of the width of the nearest element of the class "wire".
func (p *page) animate(el ref) {
	if p.move.den == 0 {
		return
	}
	for _, e := range el.all("[data-move-ms]") {
		ms, err1 := strconv.ParseFloat(e.attr("data-move-ms"), 64)
		from, err2 := strconv.ParseFloat(e.attr("data-move-from"), 64)
		to, err3 := strconv.ParseFloat(e.attr("data-move-to"), 64)
		wire := e.closest(".wire")
		if err1 != nil || err2 != nil || err3 != nil || wire.none() || ms <= 0 {
			continue
		}
		far := (to - from) * wire.call("getBoundingClientRect").get("width").number()
		e.call("animate", []any{
			map[string]any{"transform": "translateX(0)"},
			map[string]any{"transform": "translateX(" + strconv.FormatFloat(far, 'f', 1, 64) + "px)"},
		}, map[string]any{"duration": ms * float64(p.move.num) / float64(p.move.den), "easing": "linear", "fill": "forwards"})
	}
}
