package view

import (
	"strings"
	"testing"
)

// TestWhatIsOverIsCounted: an operation whose time is up lies in its watch list until somebody knocks there, and the stage says
// how many do and when the purge comes; each heartbeat ends one more.
func TestWhatIsOverIsCounted(t *testing.T) {
	const begin = "seed 3\nbrokers 3\ntopic orders 2\ngroup g\nconsumer c1 session=10s\nstart c1\n"
	for _, at := range []struct{ script, row string }{
		{"until state PreparingRebalance\n", "0 over · purge 1/1000"},
		{"until state Stable\n", "1 over · purge 3/1000"},
		{"until state Stable\nadvance 31s\n", "1 over · purge 17/1000"},
		{"until state Stable\nkill c1\nuntil event MemberRemoved\n", "2 over"},
	} {
		m := folded(t, begin+at.script)
		if text := render(t, purgatory(newStage(m, Options{Group: "g"}))); !strings.Contains(text, at.row) {
			t.Errorf("%q: the purgatory does not say %q: %s", at.script, at.row, text[strings.LastIndex(text, "op-over"):])
		}
		c := newStage(m, Options{Group: "g", Selected: "purge:"}).selected()
		if c == nil || c.Missing || len(c.Fields) < 3 {
			t.Errorf("%q: the card of what is over: %+v", at.script, c)
		}
	}
}

// TestAPartitionIsTraced: who selects a partition finds it in every pane: with its member, its offset, and each of its records.
func TestAPartitionIsTraced(t *testing.T) {
	m := folded(t, "seed 3\nbrokers 3\ntopic orders 2\ngroup g\nconsumer c1 commit=5s\nstart c1\nuntil committed orders-1 >= 12\n")
	lit := func(selected string) (chips, records, rows int) {
		s := newStage(m, Options{Group: "g", Mode: ModeLesson, Selected: selected})
		return strings.Count(render(t, clients(s)), `aria-pressed="true"`), strings.Count(render(t, tape(s)), " traced"), strings.Count(render(t, offsets(s)), `aria-pressed="true"`)
	}
	if chips, records, rows := lit("partition:orders-1"); chips != 1 || records < 2 || rows != 1 {
		t.Errorf("orders-1 is lit %d times with its members, %d times on the tape and %d times with the offsets", chips, records, rows)
	}
	if chips, records, rows := lit(""); chips+records+rows != 0 {
		t.Errorf("nothing is selected, and lit are %d, %d and %d", chips, records, rows)
	}
}
