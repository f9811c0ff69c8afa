package view

import (
	"strings"
	"testing"
)

// TestInvariantsAreOnTheStage: where they were asked for, the page says that all hold; one that does not is an alarm at the
// coordinator itself.
func TestInvariantsAreOnTheStage(t *testing.T) {
	m := folded(t, killed)
	text := func(checked bool, broken string) (card, head string) {
		s := newStage(m, Options{Group: "g", Mode: ModeLesson, Checked: checked, Broken: broken})
		return render(t, behaviour(s)), render(t, shelves(s))
	}
	if card, head := text(true, ""); !strings.Contains(card, "All invariants hold") || strings.Contains(head, "alarm") {
		t.Errorf("all hold: %s %s", card, head)
	}
	if card, _ := text(false, ""); strings.Contains(card, "invariant") {
		t.Errorf("nobody asked: %s", card)
	}
	if card, head := text(true, "broker 1: 2 timers for <1>"); !strings.Contains(card, "does not hold") || !strings.Contains(head, "2 timers for &lt;1&gt;") {
		t.Errorf("one does not hold: %s %s", card, head)
	}
}
