package view

import (
	"strconv"
	"strings"
)

// smallText is the size of a thumbnail's words: 12 pixels in the narrowest card.
const smallText = 14

// Thumbnail draws a moment in small, for the list of contents: clients, coordinator and log from left to right as on the
// stage, the timeline below. It is an SVG of 300 by 170, coloured by the page's stylesheet, and says nothing to those who
// do not see it: its link has a text.
func Thumbnail(m *Model, o Options) string {
	s := newStage(m, o)
	k := &sketch{}
	k.WriteString(`<svg class="thumb" viewBox="0 0 300 170" aria-hidden="true" focusable="false">`)
	k.smallClients(s)
	k.smallBroker(s)
	k.smallTape(s)
	k.put("path", k.ink("", "line"), "d", "M8 124.5H292")
	k.lanes(s, 8, 131, 284, 8, 8, 3)
	k.WriteString("</svg>")
	return k.String()
}

// smallClients draws up to four rows.
func (k *sketch) smallClients(s *stage) {
	rows := s.clientRows()
	y := 10.0
	for i, row := range rows {
		if i == 4 {
			break
		}
		gone := row.Class != "row-member" && row.Ring.Look != ringPending
		k.box(8, y, 76, 23, "panel", "line", gone)
		k.ring(20, y+11.5, 6.5, row.Ring)
		colour := "ink"
		if gone {
			colour = "soft"
		}
		label := cut(row.Label, 4)
		k.say(31, y+16.5, smallText, colour, "start", "600", label)
		x := max(54, 35+wide(label, smallText))
		for j := 0; j < len(row.Chips) && x+6 < 83; j++ {
			k.box(x, y+8.5, 5.5, 6, "fill", "soft", gone)
			x += 7
		}
		if row.Tie {
			k.put("path", k.ink("", "soft"), "d", "M84 "+px1(y+11.5)+"H94", "stroke-dasharray", "1 2.5")
		}
		y += 28
	}
}

// smallBroker draws the state, the shelves and the operations with the longest names left out.
func (k *sketch) smallBroker(s *stage) {
	k.box(94, 10, 132, 107, "panel", "line", false)
	if s.g == nil || !s.known() {
		k.smallBrokers(s)
		return
	}
	colour := stateClass(s.g.State)
	k.box(100, 17, 120, 21, "", colour, s.stale())
	k.glyph(110, 27.5, 4.5, s.g.State)
	k.say(120, 32.4, smallText, "ink", "start", "600", strings.TrimSuffix(string(s.g.State), "Rebalance"))
	x, y := 100.0, 45.0
	for _, sh := range []shelf{s.joinShelf(), s.syncShelf()} {
		for i, sl := range sh.Slots {
			if i == 6 {
				break
			}
			if sl.Missing {
				k.box(x, y, 17, 17, "", "err", true)
			} else {
				k.box(x, y, 17, 17, "ink", "", false)
				k.say(x+8.5, y+13.4, smallText, "panel", "middle", "700", sl.Letter)
			}
			x += 20
		}
		if len(sh.Slots) > 0 {
			x, y = 100, y+20
		}
	}
	cards, rest, _ := s.opCards()
	y = max(y+2, 66)
	for _, c := range append(cards, rest...) {
		if y > 108 {
			break
		}
		k.box(100, y, 120, 6, "fill", "", false)
		k.box(100, y, 120*min(max(c.Done, 0), 1), 6, "soft", "", false)
		if c.Winner {
			k.box(98, y-2, 124, 10, "", "ink", false)
		}
		y += 12
	}
}

// smallBrokers stand where no coordinator knows the group yet.
func (k *sketch) smallBrokers(s *stage) {
	for i, id := range s.m.BrokerIDs() {
		if i == 3 {
			break
		}
		y := 18 + float64(i)*32
		k.box(100, y, 120, 25, "", "soft", !s.m.Brokers[id].Up)
		k.say(110, y+17.5, smallText, "ink", "start", "600", "broker "+strconv.Itoa(int(id)))
	}
}

// smallTape draws the newest records.
func (k *sketch) smallTape(s *stage) {
	t := s.tape()
	k.put("path", k.ink("", "line"), "d", "M234 10V117")
	if t == nil {
		return
	}
	rows := t.Rows
	for len(rows) > 6 {
		rows = rows[1:]
	}
	y := 10.0
	for _, row := range rows {
		if row.Between != "" {
			k.put("path", k.ink("", "soft"), "d", "M250 "+px1(y+3)+"H282", "stroke-dasharray", "1 3")
			y += 8
			continue
		}
		colour := "ink"
		if row.Struck {
			colour = "soft"
		}
		if row.Mark {
			k.put("path", k.ink("", "ink"), "d", "M230 "+px1(y-1.5)+"H292", "stroke-width", 1.2)
		}
		k.box(243, y, 49, 15.5, "panel", map[bool]string{true: "soft", false: "line"}[row.Tombstone], row.InFlight || row.Open)
		letter := row.Letter
		if row.Tombstone {
			letter = "†"
		}
		k.say(252.5, y+12.8, smallText, colour, "middle", "700", letter)
		if !row.Tombstone {
			k.put("path", k.ink("", colour), "d", "M263 "+px1(y+7.7)+"H286", "stroke-width", 2)
		}
		y += 18
	}
}
