package view

import "testing"

// TestTheBarrierOfARebalance: where a join phase ends everybody's wait does, at the lane of who was waited for; each generation
// bears its number, and while the wait lasts its expected end goes across the lanes.
func TestTheBarrierOfARebalance(t *testing.T) {
	at := func(script string) (*chart, *now) {
		s := newStage(folded(t, killed+script), Options{Group: "g", Mode: ModeLesson})
		return s.chart(), s.now()
	}
	lane := func(c *chart, label string) int {
		for _, r := range c.Rows {
			if r.Label == label {
				return r.Y
			}
		}
		t.Fatalf("no lane of %s", label)
		return 0
	}
	c, n := at("")
	if got := len(c.Barriers); got != 1 || c.Barriers[0].LastY != 0 {
		t.Fatalf("before the second rebalance ends: %+v; want that of the first, which only time ended", c.Barriers)
	}
	if k := len(n.Diamonds); k == 0 || !n.Diamonds[k-1].Winner {
		t.Errorf("no end is expected: %+v", n.Diamonds)
	}
	c, _ = at("until event MemberRemoved\nuntil state Stable\n")
	if len(c.Barriers) != 2 {
		t.Fatalf("%d barriers after two rebalances", len(c.Barriers))
	}
	b := c.Barriers[1]
	if b.LastY != lane(c, "c2") || b.Top > lane(c, "c1") || b.Bottom < lane(c, "c2′") || b.Bottom < lane(c, "c2") {
		t.Errorf("%+v; the session of c2 ended the wait of c1 and c2′: %+v", b, c.Rows)
	}
	var numbers []string
	for _, l := range c.Lines {
		if l.Kind == "generation" {
			numbers = append(numbers, l.Text)
		}
	}
	if len(numbers) < 2 || numbers[0] != "1" || numbers[len(numbers)-1] != "2" {
		t.Errorf("the generations are called %q", numbers)
	}
}
