package view

import (
	"strings"
	"testing"
)

// TestVotesAreDrawnWhereThereIsAChoice: what each member can do stands in its row, with its vote and with what not all can do;
// where all name the same single assignor there is nothing to vote on.
func TestVotesAreDrawnWhereThereIsAChoice(t *testing.T) {
	m := &Model{Groups: map[string]*Group{"g": {Name: "g", Members: []*Member{
		{ID: "a", Label: "a", Protocols: []string{"cooperative-sticky", "range", "roundrobin"}}, {ID: "b", Label: "b", Protocols: []string{"roundrobin", "range"}},
		{ID: "gone", Label: "gone", Removed: true, Protocols: []string{"sticky"}},
	}}}}
	s := newStage(m, Options{Group: "g"})
	rows := strings.Split(render(t, clients(s)), `class="row `)
	if len(rows) < 3 {
		t.Fatalf("%d rows", len(rows)-1)
	}
	if r := rows[1]; !strings.Contains(r, "<del>cooperative-sticky</del>") || !strings.Contains(r, "<b>range</b>") || !strings.Contains(r, "<span>roundrobin</span>") {
		t.Errorf("a votes so: %s", r)
	}
	if r := rows[2]; !strings.Contains(r, "<b>roundrobin</b>") || !strings.Contains(r, "<span>range</span>") {
		t.Errorf("b votes so: %s", r)
	}
	m.Groups["g"].Members = m.Groups["g"].Members[1:2]
	m.Groups["g"].Members[0].Protocols = []string{"range"}
	if html := render(t, clients(newStage(m, Options{Group: "g"}))); strings.Contains(html, "row-votes") {
		t.Errorf("there is nothing to vote on: %s", html)
	}
}
