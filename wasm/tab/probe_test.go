package tab

import "testing"

// TestBehaviourIsAskedOfTheMachine: at the head of a run that stands the machine tells what a member's requests would get;
// where the viewer went back, or while time runs, it is not asked.
func TestBehaviourIsAskedOfTheMachine(t *testing.T) {
	d := toGhost(t)
	d.fill()
	got := d.options.Behaviour
	if len(got) != 6 || got[0].API != 11 || got[2].API != 12 || got[0].As != "member" {
		t.Fatalf("the machine answers %+v", got)
	}
	if got[2].Parked || got[2].Code != 27 || got[2].Guard == "" { // the group rebalances
		t.Errorf("a heartbeat would get %+v, want REBALANCE_IN_PROGRESS and why", got[2])
	}
	if !d.options.Checked || d.options.Broken != "" {
		t.Errorf("the machine's invariants: asked %v, broken %q", d.options.Checked, d.options.Broken)
	}
	head := d.lesson.head.hash(d.seq())
	d.do("back", "")
	if d.fill(); d.options.Behaviour != nil || d.options.Checked {
		t.Errorf("behind the head there are answers: %+v", d.options.Behaviour)
	}
	d.do("end", "")
	if d.fill(); len(d.options.Behaviour) != 6 || d.lesson.head.hash(d.seq()) != head {
		t.Errorf("asking has changed the run, or nothing is asked: %+v", d.options.Behaviour)
	}
}
