package view

import "strings"

// Picture draws a moment as an SVG that stands alone, for documents and slides: the headline, clients, coordinator and log
// from left to right, the timeline, and a caption below. Its colours are written out, its fonts named by family; nothing
// in it refers to anything outside. width and height are its size in pixels.
func Picture(m *Model, o Options, theme Theme, caption string) (svg string, width, height int) {
	s := newStage(m, o)
	k := &sketch{theme: theme}
	y := k.largeHead(s)
	bottom := max(k.largeClients(s, 28, y), k.largeBroker(s, 330, y, 500), k.largeTape(s, 866, y, 306)) + 14
	k.rule(28, bottom, 1172, bottom, "line")
	bottom = k.largeTimeline(s, bottom+12) + 14
	k.rule(28, bottom, 1172, bottom, "line")
	k.say(28, bottom+24, 13, "soft", "start", "", caption)
	k.say(1172, bottom+24, 13, "soft", "end", "600", "GroupLab")
	height = int(bottom) + 40
	colours := paints[theme]
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="` + num(height) + `" viewBox="0 0 1200 ` + num(height) +
		`" font-family="Inter, 'Source Sans 3', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'DejaVu Sans', sans-serif" role="img" aria-labelledby="t">`)
	title := &sketch{theme: theme}
	title.text(Headline(m, o))
	b.WriteString(`<title id="t">` + title.String() + `</title><rect width="1200" height="` + num(height) + `" fill="` + colours["bg"] + `"/>`)
	b.WriteString(k.String() + "</svg>")
	return b.String(), 1200, height
}

// largeHead writes the group, its state and what it waits for.
func (k *sketch) largeHead(s *stage) (bottom float64) {
	x := 28.0
	if s.g != nil {
		name := short(s.g.Name, 28)
		k.say(x, 42, 19, "ink", "start", "700", name)
		x += wide(name, 19) + 18
		if s.known() {
			state := string(s.g.State)
			w := wide(state, 15) + 40
			k.box(x, 23, w, 27, "panel", stateClass(s.g.State), s.stale())
			k.glyph(x+16, 36.5, 5.5, s.g.State)
			k.say(x+29, 41.5, 15, "ink", "start", "600", state)
			x += w + 18
			k.say(x, 42, 15, "ink", "start", "", s.generation())
		}
	}
	h := s.sentence()
	k.say(28, 78, 18, "ink", "start", "700", cut(h.Title, 110))
	var clauses []string
	for _, c := range h.Clauses {
		text := ""
		for _, r := range c {
			text += r.Text
		}
		clauses = append(clauses, text)
	}
	k.say(28, 101, 14, "soft", "start", "", cut(strings.Join(clauses, " · "), 160))
	k.rule(28, 116, 1172, 116, "line")
	return 132
}

// wide is about how wide a text is.
func wide(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 0x2E80:
			w += size
		case r >= 'A' && r <= 'Z':
			w += size * 0.68
		default:
			w += size * 0.56
		}
	}
	return w
}

func (k *sketch) cap(x, y float64, text string) float64 {
	k.say(x, y+8, 12, "soft", "start", "600", text)
	return y + 18
}

// largeRows is how many clients, and lanes, are drawn.
const largeRows = 8

func (k *sketch) largeClients(s *stage, x, y float64) float64 {
	y = k.cap(x, y, s.t("cap.clients"))
	rows := s.clientRows()
	for i, row := range rows {
		if i == largeRows {
			k.say(x, y+12, 12, "soft", "start", "", "+ "+num(len(rows)-i))
			return y + 20
		}
		gone := row.Class != "row-member" && row.Ring.Look != ringPending
		k.box(x, y, 270, 50, "panel", "line", gone)
		k.ring(x+24, y+25, 13, row.Ring)
		k.say(x+24, y+29, 11, "ink", "middle", "600", row.Ring.Text)
		label := cut(row.Label, 16)
		k.say(x+48, y+20, 14, "ink", "start", "700", label)
		if row.Leader {
			k.say(x+54+wide(label, 14), y+20, 12, "soft", "start", "", s.t("tag.leader"))
		}
		k.say(x+262, y+20, 12, "ink", "end", "", cut(row.Thinks, 22))
		cx := x + 48
		for _, c := range row.Chips {
			w := wide(c.Text, 12) + 10
			if cx+w > x+262 {
				break
			}
			k.box(cx, y+28, w, 16, "fill", "", gone)
			k.say(cx+5, y+40, 12, "ink", "start", "", c.Text)
			cx += w + 4
		}
		if len(row.Chips) == 0 {
			k.say(x+48, y+40, 12, "soft", "start", "", cut(row.Knows, 34))
		}
		if row.Tie {
			k.put("path", k.ink("", "soft"), "d", "M"+px1(x+270)+" "+px1(y+25)+"H330", "stroke-dasharray", "1 4", "stroke-width", 2)
		}
		y += 58
	}
	return y
}

func (k *sketch) largeBroker(s *stage, x, y, w float64) float64 {
	title := s.t("cap.coordinator")
	if s.g != nil && s.g.Broker != 0 {
		title += " · broker " + num(s.g.Broker)
	}
	y = k.cap(x, y, title)
	for _, sh := range []shelf{s.joinShelf(), s.syncShelf()} {
		k.say(x, y+16, 13, "ink", "start", "600", sh.Title)
		k.say(x+w, y+16, 12, "soft", "end", "", cut(sh.Note, 40))
		y += 24
		cx := x
		for _, sl := range sh.Slots {
			label := cut(sl.Label, 8)
			bw := wide(label, 12) + 36
			if cx+bw > x+w {
				break
			}
			if sl.Missing {
				k.box(cx, y, bw, 24, "", "err", true)
				k.say(cx+bw/2, y+16, 12, "ink", "middle", "", label+" ?")
			} else {
				k.box(cx, y, bw, 24, "fill", "", false)
				k.box(cx, y, 24, 24, "ink", "", false)
				k.say(cx+12, y+16.5, 12, "panel", "middle", "700", sl.Letter)
				k.say(cx+30, y+16, 12, "ink", "start", "", label)
			}
			cx += bw + 8
		}
		if len(sh.Slots) > 0 {
			y += 32
		}
	}
	cards, rest, _ := s.opCards()
	for i, c := range append(cards, rest...) {
		if i == largeRows {
			break
		}
		stroke := "line"
		if c.Winner {
			stroke = "ink"
		}
		k.box(x, y, w, 40, "panel", stroke, false)
		k.say(x+12, y+17, 13, "ink", "start", "600", c.Type)
		k.say(x+18+wide(c.Type, 13), y+17, 12, "soft", "start", "", cut(c.Under, 24))
		k.say(x+12, y+32, 12, "soft", "start", "", cut(c.Condition, 44))
		k.say(x+w-12, y+32, 12, "ink", "end", "", c.Left)
		k.box(x+w-172, y+10, 160, 6, "fill", "", false)
		k.box(x+w-172, y+10, 160*min(max(c.Done, 0), 1), 6, "soft", "", false)
		y += 46
	}
	return y
}

func (k *sketch) largeTape(s *stage, x, y, w float64) float64 {
	t := s.tape()
	if t == nil {
		return k.cap(x, y, s.t("cap.log"))
	}
	y = k.cap(x, y, t.Name)
	for _, row := range t.Rows {
		if row.Between != "" {
			k.say(x+44, y+12, 12, "soft", "start", "", cut(row.Between, 40))
			y += 20
			continue
		}
		if row.Mark {
			k.put("path", k.ink("", "ink"), "d", "M"+px1(x)+" "+px1(y-1)+"h"+px1(w), "stroke-width", 1.5)
			k.say(x, y-4, 12, "soft", "start", "", "hw")
			y += 4
		}
		colour := "ink"
		if row.Struck {
			colour = "soft"
		}
		k.say(x+34, y+17, 12, "soft", "end", "", num(row.Offset))
		k.box(x+44, y, w-44, 25, "panel", "line", row.InFlight || row.Open)
		k.say(x+58, y+17, 13, colour, "middle", "700", row.Letter)
		k.say(x+74, y+17, 12, colour, "start", "", cut(row.Key, 20))
		k.say(x+w-10, y+17, 12, colour, "end", "", cut(row.Value, 24))
		if row.Tombstone {
			k.rule(x+72, y+13, x+78+wide(cut(row.Key, 20), 12), y+13, colour)
		}
		y += 30
	}
	return y
}

// largeTimeline draws the lanes with their names, and the clock below the cursor.
func (k *sketch) largeTimeline(s *stage, y float64) float64 {
	c := s.chart()
	if c == nil {
		return y
	}
	k.say(28, y+12, 12, "soft", "start", "", s.t("lane.group"))
	for i, row := range c.Rows {
		if i == largeRows {
			break
		}
		k.say(28, y+16+10+float64(i)*20+8, 12, "ink", "start", "", cut(row.Label, 14))
	}
	bottom := k.lanes(s, 140, y, 1032, 16, 20, largeRows)
	k.say(140+1032*min(max(c.Axis.X(s.m.NowMs), 0), 1), bottom+14, 12, "ink", "middle", "600", s.axisClock(s.m.NowMs, s.m.NowMs%1000 != 0))
	return bottom + 18
}
