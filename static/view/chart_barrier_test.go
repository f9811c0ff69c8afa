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

// TestWhatStandsStillIsAnArea: the area under the steps is the time that was lost, as the transport prints it.
func TestWhatStandsStillIsAnArea(t *testing.T) {
	m := folded(t, killed+"until event MemberRemoved\nuntil state Stable\nadvance 5s\n")
	g := m.Groups["g"]
	area := int64(0)
	for i, p := range g.Pauses {
		until := m.NowMs
		if i+1 < len(g.Pauses) {
			until = g.Pauses[i+1].AtMs
		}
		area += int64(p.Count) * (until - p.AtMs)
	}
	if area != g.PausedPartitionMs || area == 0 {
		t.Errorf("the steps are %d partition-milliseconds, counted are %d", area, g.PausedPartitionMs)
	}
	c := newStage(m, Options{Group: "g", Mode: ModeLesson}).chart()
	if len(c.Still) == 0 || len(g.Pauses) == 0 || g.Pauses[len(g.Pauses)-1].Count != 0 {
		t.Fatalf("steps %+v, drawn %+v", g.Pauses, c.Still)
	}
	for i, v := range c.Still {
		if v.High < 2 || v.High > c.LaneH-5 || v.W <= 0 || v.X < 0 || i > 0 && v.X < c.Still[i-1].X {
			t.Errorf("step %d is drawn as %+v in a lane of %d", i, v, c.LaneH)
		}
	}
}
