package view

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// Listing is what is asked of the list of groups. The zero value shows all, those in motion first.
type Listing struct {
	// State, Type and Coordinator are what a group must have to be shown; "" shows all. Type is "classic" or "consumer".
	State, Type, Coordinator string
	// Sort is one of Sorts.
	Sort string
	// TopPx is how far the list is scrolled, HighPx how high its window is; 0 where that is not known.
	TopPx, HighPx int
	// Long asks for more rows of the group's history.
	Long bool
	// Commits shows all commits, not only those that were refused.
	Commits bool
}

// Sorts are the orders of the list.
var Sorts = []string{"", "name", "since", "rebalances", "lost", "loops", "members", "expiry"}

const (
	// listRowPx is a row's height: it does not depend on what is in it, so that a place in the list is known without drawing it.
	listRowPx = 62
	// listSpare is how many rows are drawn above and below the window.
	listSpare = 6
	// listUnknownPx stands for the window's height until that is known.
	listUnknownPx = 900
)

// listLine is what the list is sorted and filtered by.
type listLine struct {
	name  string
	group *Group   // nil where only its line was told
	told  *Watched // nil where only its facts were told
	state event.State
	// moving is set while it rebalances, gone where it is no more.
	moving, gone bool
	// haunted is set where a member's process is gone and its session runs.
	haunted     bool
	typ         string
	coordinator int32
	sinceMs     int64
	members     int
}

// listed is the list as it was asked for: all that fit, in order.
type listed struct {
	lines []listLine
	// of is how many groups there are; states, types and coordinators are those that occur among them.
	of           int
	states       []event.State
	types        []string
	coordinators []int32
}

// listKey is what a list depends on.
type listKey struct {
	asked   Listing
	search  string
	version int
	groups  int
	facts   uint64
}

// listing is the list for what is asked. It is kept until something changes that it shows.
func (s *stage) listing() *listed {
	w := s.m.Watch()
	if w == nil {
		w = &Watch{}
	}
	key := listKey{s.o.Listing, s.o.Search, w.version, len(s.m.Groups), s.m.groupFacts()}
	key.asked.TopPx, key.asked.HighPx, key.asked.Long, key.asked.Commits = 0, 0, false, false
	if w.list == nil || w.listKey != key {
		w.list, w.listKey = s.listAnew(w), key
	}
	return w.list
}

// groupFacts changes when something of a group does that the list shows.
func (m *Model) groupFacts() (sum uint64) {
	for _, g := range m.Groups {
		x := uint64(g.SinceMs)*31 + uint64(g.LastSeq)
		x = x*31 + uint64(len(g.Members))
		x = x*31 + uint64(g.Generation)
		x = x*31 + uint64(g.Broker)
		if g.Gone {
			x = ^x
		}
		sum += x * 0x9e3779b97f4a7c15
	}
	return sum
}

func (s *stage) listAnew(w *Watch) *listed {
	l := &listed{lines: w.lines[:0]}
	want := strings.ToLower(s.o.Search)
	states, types, coordinators := map[event.State]bool{}, map[string]bool{}, map[int32]bool{}
	last := listLine{state: "?"}
	for _, n := range w.allNames(s.m) {
		line := s.lineOf(w, n)
		if line.group == nil && line.told.Summary == nil && line.told.Listed == (event.GroupListed{}) {
			continue // only parts of it were told
		}
		l.of++
		if line.state != last.state || line.typ != last.typ || line.coordinator != last.coordinator {
			states[line.state], types[line.typ], coordinators[line.coordinator] = true, true, true
			last = line
		}
		if s.listedHere(&line) && (want == "" || s.found(&line, want)) {
			l.lines = append(l.lines, line)
		}
	}
	l.states, l.types, l.coordinators = sortedKeys(states), sortedKeys(types), sortedKeys(coordinators)
	s.sortLines(l.lines)
	w.lines = l.lines
	return l
}

// allNames are the groups of which anything is known, sorted.
func (w *Watch) allNames(m *Model) []string {
	var more []string
	for n, g := range m.Groups {
		if w.Groups[n] == nil && !(g.Gone && len(g.States) == 0) {
			more = append(more, n)
		}
	}
	if len(more) == 0 {
		return w.names
	}
	all := append(more, w.names...)
	slices.Sort(all)
	return all
}

// lineOf is a group's line: by the facts of its coordinator where these are told, else by what was summed up.
func (s *stage) lineOf(w *Watch, n string) listLine {
	line := listLine{name: n, told: w.Groups[n]}
	g, only := s.m.Groups[n], line.told != nil && line.told.Summary != nil // a group that is no longer followed has a line only
	if g != nil && (len(g.States) > 0 || g.Broker != 0) && !(g.Gone && only) {
		line.group, line.state, line.sinceMs, line.coordinator, line.gone, line.members = g, g.State, g.SinceMs, g.Broker, g.Gone, len(g.Present())
	}
	if t := line.told; t != nil {
		line.typ = t.Listed.Type
		if sum := t.Summary; sum != nil {
			if sum.Type != "" {
				line.typ = sum.Type
			}
			if line.group == nil {
				line.state, line.sinceMs, line.coordinator, line.gone, line.members = sum.State, sum.SinceMs, sum.Coordinator, sum.Gone, sum.Members
			}
		} else if line.group == nil {
			line.state = t.Listed.State
		}
		if t.Modern != nil {
			line.typ = typeConsumer
		}
	}
	if line.typ == "" && line.group != nil && line.group.ProtocolType != "" {
		line.typ = typeClassic
	}
	line.moving = !line.gone && inMotion(line.state)
	line.haunted = !line.gone && line.told != nil && line.told.Summary != nil && line.told.Summary.Dead > 0
	return line
}

// inMotion tells whether a state is one of a rebalance under way.
func inMotion(st event.State) bool {
	switch st {
	case event.PreparingRebalance, event.CompletingRebalance, event.Assigning, event.Reconciling:
		return true
	}
	return false
}

func (s *stage) listedHere(line *listLine) bool {
	q := &s.o.Listing
	return (q.State == "" || string(line.state) == q.State) && (q.Type == "" || line.typ == q.Type) &&
		(q.Coordinator == "" || num(line.coordinator) == q.Coordinator)
}

// found tells whether a group's name, or that of a topic, member or client of it, holds what is looked for.
func (s *stage) found(line *listLine, want string) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), want) }
	if line.told != nil && strings.Contains(line.told.hay, want) || line.told == nil && has(line.name) {
		return true
	}
	if line.group == nil {
		return false
	}
	for _, mb := range line.group.Members {
		if has(mb.ID) || has(mb.ClientID) || has(mb.InstanceID) || slices.ContainsFunc(mb.Topics, has) {
			return true
		}
	}
	return false
}

// sortLines puts lines, which are sorted by name, in the order that is asked for.
func (s *stage) sortLines(list []listLine) {
	type place struct {
		key int64
		at  int
	}
	key := s.sortKey()
	if key == nil {
		return
	}
	places := make([]place, len(list))
	for i := range list {
		places[i] = place{key(&list[i]), i}
	}
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.key > b.key:
			return -1
		case a.key < b.key:
			return 1
		}
		return a.at - b.at
	})
	unsorted := slices.Clone(list)
	for i, p := range places {
		list[i] = unsorted[p.at]
	}
}

// sortKey is what the list is sorted by, the largest first; nil for the order of names.
func (s *stage) sortKey() func(*listLine) int64 {
	sum := func(l *listLine) *event.GroupSummarized {
		if l.told != nil && l.told.Summary != nil {
			return l.told.Summary
		}
		return &event.GroupSummarized{}
	}
	switch s.o.Listing.Sort {
	case "name":
		return nil
	case "since":
		return func(l *listLine) int64 { return l.sinceMs }
	case "rebalances":
		return func(l *listLine) int64 { return int64(sum(l).Rebalances) }
	case "lost":
		return func(l *listLine) int64 { return sum(l).LostPartitionMs }
	case "loops":
		return func(l *listLine) int64 { return int64(sum(l).Loops) }
	case "members":
		return func(l *listLine) int64 { return int64(l.members) }
	case "expiry":
		return func(l *listLine) int64 {
			if at := sum(l).ExpiresMs; at > 0 {
				return -at
			}
			return -1 << 62
		}
	}
	return func(l *listLine) int64 {
		switch {
		case l.moving:
			return 3
		case l.haunted:
			return 2
		case l.gone:
			return 0
		}
		return 1
	}
}

// listWindow is the piece of the list that is drawn: rows from, to, and the heights of what is left out above and below.
type listWindow struct {
	From, To     int
	Above, Below int
}

// window finds the rows that are on screen, and some more.
func (s *stage) window(rows int) listWindow {
	q := s.o.Listing
	high := q.HighPx
	if high <= 0 {
		high = listUnknownPx
	}
	from := min(max(q.TopPx/listRowPx-listSpare, 0), max(rows-1, 0))
	to := min(from+high/listRowPx+2*listSpare+1, rows)
	return listWindow{from, to, from * listRowPx, (rows - to) * listRowPx}
}

// FirstListed is the first group of the list, "" where it is empty.
func FirstListed(m *Model, o Options) string {
	if l := newStage(m, Watching(o)).listing(); len(l.lines) > 0 {
		return l.lines[0].name
	}
	return ""
}

// OtherRows tells whether other rows are to be drawn after the list was scrolled.
func OtherRows(before, after Listing) bool {
	if before.HighPx != after.HighPx {
		return true
	}
	return before.TopPx/listRowPx/(listSpare/2) != after.TopPx/listRowPx/(listSpare/2)
}

// Told tells whether the facts of a group are told, not only its line.
func (m *Model) Told(group string) bool {
	g := m.Groups[group]
	return g != nil && !g.Gone && len(g.States) > 0
}
