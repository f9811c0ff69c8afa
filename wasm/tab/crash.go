package tab

// Crashed is called after a panic in any other method: it says what happened and goes back to the last moment that stood,
// in a new run; where that breaks again, to the lesson's start. What it makes of it is shown by the next Frame.
func (t *Tab) Crashed(what string) {
	link := t.linked
	again := t.brokenAt != nil && *t.brokenAt == link
	t.brokenAt = &link
	t.out, t.dirty, t.selected = Update{}, true, ""
	if t.breaks == "twice" {
		t.breaks = ""
		panic(what)
	}
	t.mode.crashed(link, again)
	if again || link == "" {
		t.say("crashed-start", what)
		return
	}
	t.say("crashed", what)
}

// crash breaks on purpose, so that one can try what the page does then: "now", in the next "frame", or "twice", when even
// going back does not help.
func (t *Tab) crash(how string) {
	t.breaks = how
	if how != "frame" {
		panic("the lab was asked to break")
	}
}
