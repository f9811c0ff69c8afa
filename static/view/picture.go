package view

import (
	"html"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// Theme is the colours of a picture that is taken away from the page.
type Theme string

const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// paints are the colours of base.css by their names there; a test compares them.
var paints = map[Theme]map[string]string{
	Light: {"bg": "#f6f7f9", "panel": "#ffffff", "ink": "#16181d", "soft": "#5b6370", "line": "#d9dde3", "fill": "#e4e8ee", "st-empty": "#8690a0",
		"st-prep": "#b28808", "st-comp": "#773fd9", "st-stable": "#04665d", "st-dead": "#131416", "err": "#950107"},
	Dark: {"bg": "#0f1419", "panel": "#171d24", "ink": "#e8eaed", "soft": "#9aa3af", "line": "#2a323b", "fill": "#29323c", "st-empty": "#656e7e",
		"st-prep": "#ed8f00", "st-comp": "#8491f0", "st-stable": "#48f7a8", "st-dead": "#cbcbd4", "err": "#d11627"},
}

// sketch draws SVG as text. Where it has a theme its colours are written out and it stands alone; otherwise they are
// classes of the page: "f-ink" fills and "s-ink" strokes.
type sketch struct {
	strings.Builder
	theme Theme
}

// ink says how a shape is filled and stroked, "" for not at all.
func (k *sketch) ink(fill, stroke string) string {
	if colours, own := paints[k.theme]; own {
		return ` fill="` + or(colours[fill], "none") + `" stroke="` + or(colours[stroke], "none") + `"`
	}
	return ` class="f-` + or(fill, "none") + ` s-` + or(stroke, "none") + `"`
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// put writes a tag with attributes, given in pairs; numbers are rounded to tenths.
func (k *sketch) put(tag, ink string, pairs ...any) {
	k.WriteString("<" + tag + ink)
	for i := 0; i+1 < len(pairs); i += 2 {
		k.WriteString(" " + pairs[i].(string) + `="`)
		switch v := pairs[i+1].(type) {
		case float64:
			k.WriteString(strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64))
		case int:
			k.WriteString(strconv.Itoa(v))
		case string:
			k.WriteString(html.EscapeString(v))
		}
		k.WriteString(`"`)
	}
	k.WriteString("/>")
}

const dashes = "3 2.5"

// box draws a rectangle with round corners; dash makes its line one of something that is not there any more, or not yet.
func (k *sketch) box(x, y, w, h float64, fill, stroke string, dash bool) {
	list := []any{"x", x, "y", y, "width", max(w, 0), "height", h, "rx", min(4, h/3)}
	if dash {
		list = append(list, "stroke-dasharray", dashes)
	}
	k.put("rect", k.ink(fill, stroke), list...)
}

func (k *sketch) rule(x1, y1, x2, y2 float64, stroke string) {
	k.put("path", k.ink("", stroke), "d", "M"+px1(x1)+" "+px1(y1)+"L"+px1(x2)+" "+px1(y2))
}

func px1(v float64) string { return strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64) }

// say writes a text; anchor is "start", "middle" or "end".
func (k *sketch) say(x, y, size float64, colour, anchor, weight, text string) {
	k.WriteString("<text" + k.ink(colour, "") + ` x="` + px1(x) + `" y="` + px1(y) + `" font-size="` + px1(size) + `"`)
	if anchor != "start" {
		k.WriteString(` text-anchor="` + anchor + `"`)
	}
	if weight != "" {
		k.WriteString(` font-weight="` + weight + `"`)
	}
	k.WriteByte('>')
	k.text(text)
	k.WriteString("</text>")
}

// text writes a text so that it is one in XML, whatever it holds: names come from scripts and real clusters.
func (k *sketch) text(text string) {
	k.WriteString(html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xFFFE || r == 0xFFFF || r >= 0xD800 && r < 0xE000 {
			return 0xFFFD
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))))
}

// ring draws what is left of a session timer.
func (k *sketch) ring(x, y, r float64, of ring) {
	k.put("circle", k.ink("", "fill"), "cx", x, "cy", y, "r", r, "stroke-width", r/3)
	switch of.Look {
	case ringHeld, ringExcused:
		k.put("circle", k.ink("", "soft"), "cx", x, "cy", y, "r", r, "stroke-width", r/3)
		k.rule(x-r/4, y-r/3, x-r/4, y+r/3, "ink")
		k.rule(x+r/4, y-r/3, x+r/4, y+r/3, "ink")
	case ringRunning, ringNew, ringPending:
		around := 2 * 3.14159265 * r
		k.put("circle", k.ink("", "ink"), "cx", x, "cy", y, "r", r, "stroke-width", r/3,
			"stroke-dasharray", px1(around*of.Fraction)+" "+px1(around), "transform", "rotate(-90 "+px1(x)+" "+px1(y)+")")
	}
}

// glyph is a state's sign: its shape tells it apart without its colour.
func (k *sketch) glyph(x, y, r float64, st event.State) {
	colour := stateClass(st)
	k.put("circle", k.ink("", colour), "cx", x, "cy", y, "r", r, "stroke-width", 2)
	half := "M" + px1(x) + " " + px1(y-r) + "A" + px1(r) + " " + px1(r) + " 0 0 "
	switch st {
	case event.Stable:
		k.put("circle", k.ink(colour, ""), "cx", x, "cy", y, "r", r)
	case event.PreparingRebalance:
		k.put("path", k.ink(colour, ""), "d", half+"0 "+px1(x)+" "+px1(y+r)+"Z")
	case event.CompletingRebalance:
		k.put("path", k.ink(colour, ""), "d", half+"1 "+px1(x)+" "+px1(y+r)+"Z")
	case event.Dead:
		k.put("path", k.ink("", colour), "stroke-width", 2, "d", "M"+px1(x-r/2)+" "+px1(y-r/2)+"l"+px1(r)+" "+px1(r)+"m0 -"+px1(r)+"l-"+px1(r)+" "+px1(r))
	}
}

// lanes draw the timeline into a frame: the group's states on top, a lane a member below, up to most of them.
func (k *sketch) lanes(s *stage, x, y, w, band, lane float64, most int) (bottom float64) {
	c := s.chart()
	if c == nil {
		return y
	}
	at := func(fraction float64) float64 { return x + w*min(max(fraction, 0), 1) }
	now := c.Axis.X(s.m.NowMs)
	for _, b := range c.Bands {
		if b.X < now {
			k.box(at(b.X), y, w*(min(b.X+b.W, now)-b.X), band, "", stateClass(b.State), b.State == event.PreparingRebalance)
			k.put("rect", k.ink(stateClass(b.State), ""), "x", at(b.X), "y", y, "width", max(w*(min(b.X+b.W, now)-b.X), 0), "height", band/4)
		}
	}
	y += band + lane/2
	rows := c.Rows
	if len(rows) > most {
		rows = rows[:most]
	}
	for _, row := range rows {
		for _, b := range row.Bars {
			if b.X >= now {
				continue
			}
			wide := w * (min(b.X+b.W, now) - b.X)
			switch b.Kind {
			case SpanMember:
				k.box(at(b.X), y, wide, lane*0.55, "fill", "", false)
			case SpanGhost:
				k.put("path", k.ink("", "soft"), "d", "M"+px1(at(b.X))+" "+px1(y+lane*0.27)+"h"+px1(wide), "stroke-dasharray", dashes)
			default:
				k.box(at(b.X), y, wide, lane*0.55, "", "st-prep", false)
				for hatch := at(b.X) + 4; hatch < at(b.X)+wide; hatch += 5 {
					k.rule(hatch-3, y+lane*0.55, hatch, y, "st-prep")
				}
			}
		}
		y += lane
	}
	k.put("path", k.ink("", "ink"), "d", "M"+px1(at(now))+" "+px1(y-lane*float64(len(rows))-band-lane/2-2)+"V"+px1(y+2), "stroke-width", 1.5)
	return y
}
