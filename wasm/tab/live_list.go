package tab

import (
	"net/url"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// follow connects anew where another group is wanted than the one whose facts are told. Where none was chosen, it is the
// first of the list: one in motion, if there is any.
func (m *liveMode) follow() {
	if m.facts || m.arriving || !m.connected {
		return
	}
	if m.t.options.Group == "" {
		if m.t.options.Group = view.FirstListed(m.model, m.t.options); m.t.options.Group == "" {
			return
		}
		m.t.dirty = true
	}
	want := m.t.options.Group
	if want == m.following || m.following == "" && m.model.Told(want) {
		return
	}
	if m.frozen {
		m.freeze() // another group cannot be looked at while the picture stands still
	}
	m.following, m.seq = want, 0
	m.probe = probe{}
	m.connect()
}

// keep holds a fact back while the picture is frozen. Of a group's lines only the newest counts.
func (m *liveMode) keep(e event.Event) {
	if _, line := e.Body.(event.GroupSummarized); line && !m.lost {
		if at, known := m.lines[e.Group]; known {
			m.kept[at] = e
			return
		}
		if m.lines == nil {
			m.lines = map[string]int{}
		}
		m.lines[e.Group] = len(m.kept)
	}
	m.behind++
	if m.lost || len(m.kept) == maxKept {
		m.kept, m.lines, m.lost = nil, nil, true
		return
	}
	m.kept = append(m.kept, e)
	if _, began := e.Body.(event.FactsBegan); began {
		m.lines = nil // what comes now is told anew
	}
}

// list changes what is asked of the list of groups, and of the group's history.
func (m *liveMode) list(what, value string) bool {
	q := &m.t.options.Listing
	switch what {
	case "state":
		q.State = value
	case "type":
		q.Type = value
	case "coordinator":
		q.Coordinator = value
	case "sort":
		q.Sort = value
	case "clear":
		q.State, q.Type, q.Coordinator = "", "", ""
		m.t.options.Search = ""
		m.t.out.Fill = append(m.t.out.Fill, Attr{"group-search", ""})
	case "long":
		q.Long = !q.Long
		return true
	case "commits":
		q.Commits = !q.Commits
		return true
	default:
		return false
	}
	q.TopPx = 0
	return true
}

// scrolled notes which piece of the list is on screen.
func (m *liveMode) scrolled(place string) bool {
	top, high, _ := strings.Cut(place, " ")
	topPx, ok1 := number(top)
	highPx, ok2 := number(high)
	q := &m.t.options.Listing
	if !ok1 || !ok2 || topPx < 0 || highPx <= 0 {
		return false
	}
	before := *q
	q.TopPx, q.HighPx = int(topPx), int(highPx)
	return view.OtherRows(before, *q)
}

func (m *liveMode) listed(model *view.Model, o view.Options) []view.Part {
	return view.ListParts(model, o)
}

// field does what a key stands for in the field that looks for a group: down goes to the list, Enter to its first group.
func (m *liveMode) field(k Key) bool {
	if k.Field != "groups" || k.Ctrl || k.Alt {
		return false
	}
	switch k.Name {
	case "ArrowDown":
		m.t.out.Reveal = "group-list"
	case "Enter":
		first := view.FirstListed(m.model, m.t.options)
		if first == "" {
			return false
		}
		m.t.Do("group", first)
	case "Escape":
		if m.t.options.Search == "" {
			return false
		}
		m.t.options.Search = ""
		m.t.out.Fill = append(m.t.out.Fill, Attr{"group-search", ""})
	default:
		return false
	}
	m.t.dirty = true
	return true
}

// address keeps the group on stage and what is asked of the list in the address, so that it can be given to others.
func (m *liveMode) address() {
	q, v := m.t.options.Listing, url.Values{}
	for name, value := range map[string]string{"group": m.t.options.Group, "find": m.t.options.Search, "state": q.State, "type": q.Type, "coordinator": q.Coordinator, "sort": q.Sort} {
		if value != "" && len(value) < 300 {
			v.Set(name, value)
		}
	}
	if now := v.Encode(); now != m.t.linked {
		m.t.linked = now
		m.t.out.Hash, m.t.out.SetHash = now, true
	}
}

// open does what an address says. What is not one of ours is left: anchors of the page lead elsewhere.
func (m *liveMode) open(fragment string) {
	v, err := url.ParseQuery(fragment)
	if err != nil || !strings.Contains(fragment, "=") {
		return
	}
	q := &m.t.options.Listing
	m.t.options.Group, m.t.options.Search = v.Get("group"), v.Get("find")
	q.State, q.Type, q.Coordinator, q.Sort = v.Get("state"), v.Get("type"), v.Get("coordinator"), v.Get("sort")
	m.t.linked, m.t.dirty = fragment, true
	if !m.connected {
		m.following = m.t.options.Group
	}
}
