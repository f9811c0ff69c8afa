package view

import (
	"sort"
	"strings"
)

// Member finds a member, also a removed one whose row still stands; nil where there is none. The newest wins.
func (g *Group) Member(id string) *Member {
	if id == "" {
		return nil
	}
	for i := len(g.Members) - 1; i >= 0; i-- {
		if g.Members[i].ID == id {
			return g.Members[i]
		}
	}
	return nil
}

// Present are the members that the coordinator counts, in the order of joining.
func (g *Group) Present() []*Member {
	list := make([]*Member, 0, len(g.Members))
	for _, mb := range g.Members {
		if !mb.Removed {
			list = append(list, mb)
		}
	}
	return list
}

// Label is the short name of a member or a pending id; the id itself, folded, where it is not known.
func (g *Group) Label(id string) string {
	if mb := g.Member(id); mb != nil {
		return mb.Label
	}
	for _, p := range g.Pending {
		if p.ID == id {
			return p.Label
		}
	}
	return Fold(id)
}

// present tells whether the coordinator counts somebody of that id.
func (g *Group) present(id string) bool {
	mb := g.Member(id)
	return mb != nil && !mb.Removed
}

// names are the labels of a group: gathered when one is looked for, then kept. Looking through 50 000 ids for each of them took minutes.
type names struct {
	labels  map[string]string // of pending ids and members, removed ones included, by id
	carried map[string]int    // by how many whom the coordinator counts
}

func (g *Group) named() *names {
	if g.names == nil {
		g.names = &names{map[string]string{}, map[string]int{}}
		for _, mb := range g.Members {
			g.names.add(mb.ID, mb.Label)
			if mb.Removed {
				g.names.free(mb.Label)
			}
		}
		for _, p := range g.Pending {
			g.names.add(p.ID, p.Label)
		}
	}
	return g.names
}

func (n *names) add(id, label string) {
	if n != nil {
		n.labels[id] = label
		n.carried[label]++
	}
}

// free notes that somebody is no longer counted; forget, that the row is gone.
func (n *names) free(label string) {
	if n != nil {
		n.carried[label]--
	}
}

func (n *names) forget(id string) {
	if n != nil {
		delete(n.labels, id)
	}
}

// newLabel makes a short name that nobody else carries whom the coordinator counts. Simulated clients have plain names, so a second id
// of the same client is c3′, a third c3″. Real client ids are often alike, so the end of the member id is added.
func (g *Group) newLabel(m *Model, id, clientID string) string {
	n := g.named()
	if label := n.labels[id]; label != "" {
		return label
	}
	taken := func(label string) bool { return n.carried[label] > 0 }
	if c := m.Clients[clientID]; c != nil && !c.Real {
		for label := clientID; ; label += "′" {
			if !taken(label) {
				return label
			}
		}
	}
	base := clientID
	if base == "" {
		base = "member"
	}
	tail := strings.TrimPrefix(id, clientID+"-")
	if len(tail) > 4 {
		tail = tail[len(tail)-4:]
	}
	label := Fold(base + "·" + tail)
	for taken(label) {
		label += "′"
	}
	return label
}

// Fold shortens a long name in the middle, keeping both ends, to at most 28 characters.
func Fold(name string) string {
	r := []rune(name)
	if len(r) <= 28 {
		return name
	}
	return string(r[:16]) + "…" + string(r[len(r)-11:])
}

// GroupNames are all groups that are there, sorted: those in motion first, then by name.
func (m *Model) GroupNames() []string {
	var list []string
	for name, g := range m.Groups {
		if !g.Gone {
			list = append(list, name)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := m.Groups[list[i]].moving(), m.Groups[list[j]].moving()
		if a != b {
			return a
		}
		return list[i] < list[j]
	})
	return list
}

func (g *Group) moving() bool {
	return inMotion(g.State)
}

// BrokerIDs are all brokers, ascending.
func (m *Model) BrokerIDs() []int32 {
	list := make([]int32, 0, len(m.Brokers))
	for id := range m.Brokers {
		list = append(list, id)
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}

// ClientNames are the clients of a group, sorted; of all groups where group is "".
func (m *Model) ClientNames(group string) []string {
	var list []string
	for name, c := range m.Clients {
		if group == "" || c.Group == group {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	return list
}
