package tab

// Key is a key press outside of text fields. Name is the DOM's KeyboardEvent.key.
type Key struct {
	Name             string
	Shift, Ctrl, Alt bool
	// OnControl is set where a button, link or another control has the focus: its own keys are left to it.
	OnControl bool
	// Field names the field in which it was pressed, where that knows keys of its own.
	Field string
}

// keyMap maps single keys to actions; what only letters and digits do can be switched off.
var keyMap = map[string][2]string{
	" ": {"play"}, "ArrowRight": {"step"}, "ArrowLeft": {"back"}, "Home": {"start"}, "End": {"end"},
	"t": {"next-timer"}, "]": {"faster"}, "[": {"slower"}, "b": {"branch"}, "u": {"undo"}, "g": {"goal"}, "h": {"hint"},
	"w": {"waiting"}, "y": {"why"}, "l": {"link"}, "s": {"share"}, "n": {"next"}, "p": {"prev"}, "q": {"question"}, "f": {"freeze"},
	"1": {"pane", "clients"}, "2": {"pane", "shelves"}, "3": {"pane", "machine"}, "4": {"pane", "purgatory"},
	"5": {"pane", "tape"}, "6": {"pane", "timeline"}, "7": {"pane", "transcript"}, "/": {"find"}, "c": {"command"},
}

// Key does what a key stands for and tells whether it stands for anything.
func (t *Tab) Key(k Key) bool {
	if k.Field != "" {
		return t.mode.field(k)
	}
	if k.Name == "?" {
		t.Do("help", "")
		return true
	}
	if k.Name == "Escape" && (t.selected != "" || t.options.Why != 0 || t.mode.compares()) {
		t.Do("dismiss", "")
		return true
	}
	if k.Ctrl || k.Alt {
		if k.Ctrl && !k.Alt && !k.Shift && k.Name == "z" {
			t.Do("undo", "")
			return true
		}
		return false
	}
	if k.OnControl && (k.Name == " " || len(k.Name) > 1 && k.Name != "ArrowRight" && k.Name != "ArrowLeft") {
		return false
	}
	if t.keysOff && len(k.Name) == 1 {
		return false
	}
	do, known := keyMap[k.Name]
	switch {
	case !known:
		return false
	case k.Shift && k.Name == "ArrowRight":
		do = [2]string{"next-state"}
	case k.Shift && k.Name == "ArrowLeft":
		do = [2]string{"prev-state"}
	case k.Shift && k.Name != " ":
		return false
	}
	if !t.offers(do[0]) {
		return false
	}
	t.Do(do[0], do[1])
	return true
}

// offers tells whether an action means anything on this page.
func (t *Tab) offers(action string) bool {
	switch action {
	case "pane", "waiting", "why", "find":
		return true
	}
	return t.mode.offers(action)
}
