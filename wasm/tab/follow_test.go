package tab

import (
	"strconv"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// A timer that is followed stays selected; each step goes to its next hop, its way is drawn, and where a heartbeat puts
// another timer in its place that one is followed.
func TestATimerIsFollowedThroughTheWheels(t *testing.T) {
	d := toGhost(t)
	g := d.lesson.cursor.model.Groups["orders-svc"]
	ghost := ""
	for _, mb := range g.Present() {
		if mb.Gone {
			ghost = mb.ID
		}
	}
	op := g.SessionOp(ghost)
	key := opName(op)
	d.do("select", key)
	if !strings.Contains(d.card(), "follow this timer") || !strings.Contains(d.html["wheels"], `class="trail`) {
		t.Fatalf("the card offers no following, or no way is drawn:\n%s", d.card())
	}
	d.do("follow-timer", strings.TrimPrefix(key, "op:"))
	levels := []int{op.Level}
	for range 10 {
		d.key("ArrowRight")
		e := d.lesson.head.at(d.seq())
		if b, ok := e.Body.(event.OperationCompleted); ok {
			if b.Op != op.Key.Op || !b.Expired {
				t.Fatalf("the way ends with %s", e)
			}
			break
		}
		b, ok := e.Body.(event.TimerCascaded)
		if !ok || b.Op != op.Key.Op || d.selected != key {
			t.Fatalf("a step led to %s, with %q selected", e, d.selected)
		}
		levels = append(levels, b.Level)
	}
	if len(levels) < 2 || levels[len(levels)-1] != 0 {
		t.Errorf("the timer went through the wheels %v", levels)
	}
	d.do("dismiss", "")
	if d.lesson.followed != nil {
		t.Error("Escape does not end the following")
	}
	// A living member's timer is replaced with each heartbeat: the one in its place is followed.
	living := g.Present()[0]
	first := g.SessionOp(living.ID)
	d.do("select", opName(first))
	d.do("follow-timer", strings.TrimPrefix(opName(first), "op:"))
	for range 12 {
		d.key("ArrowRight")
	}
	if d.selected == opName(first) || !strings.HasPrefix(d.selected, "op:") {
		t.Errorf("still at %q", d.selected)
	}
}

// Every key of C14 means what the help says of it.
func TestTheKeysOfTheHelp(t *testing.T) {
	d := onOwn(t)
	for name, want := range map[string]string{"1": "part-clients", "2": "part-shelves", "3": "part-machine", "4": "part-purgatory", "5": "part-tape",
		"6": "part-timeline", "7": "part-transcript", "w": "part-headline", "g": "part-lesson"} {
		if u := d.key(name); u.Reveal != want {
			t.Errorf("%s leads to %q, want %q", name, u.Reveal, want)
		}
	}
	if u := d.key("/"); u.Reveal != "part-transcript" || !u.Field {
		t.Errorf("/ leads to %q, field %v", u.Reveal, u.Field)
	}
	d.do("find-text", "GenerationStarted 2")
	if rows := strings.Count(d.html["transcript"], "<tr"); rows != 2 { // the head, and one fact
		t.Errorf("%d rows are found:\n%s", rows, d.html["transcript"])
	}
	d.do("find-text", "no such fact")
	if !strings.Contains(d.html["transcript"], "No fact holds") {
		t.Error("nothing is said where nothing is found")
	}
	d.do("find-text", "")
	kind := func() string { return d.lesson.head.at(d.seq()).Body.Kind() }
	d.Key(Key{Name: "ArrowLeft", Shift: true})
	d.frame(16)
	if kind() != "StateChanged" {
		t.Errorf("Shift+← leads to %s", kind())
	}
	at := d.seq()
	d.Key(Key{Name: "ArrowLeft", Shift: true})
	d.Key(Key{Name: "ArrowRight", Shift: true})
	d.frame(16)
	if d.seq() != at || kind() != "StateChanged" {
		t.Errorf("Shift+→ leads to %s at %d, not back to %d", kind(), d.seq(), at)
	}
	d.do("end", "")
	d.do("kill", "c2")
	d.key("t")
	if b, ok := d.lesson.head.at(d.seq()).Body.(event.OperationCompleted); !ok || !b.Expired {
		t.Errorf("T leads to %s", kind())
	}
}

// Each grain stops at its own facts, forwards and backwards, and every speed of the transport can be chosen.
func TestGrainsAndSpeeds(t *testing.T) {
	d := onOwn(t)
	d.do("kill", "c2")
	d.advance(20_000)
	end := d.seq()
	for grain, fits := range map[string]func(event.Body) bool{
		"request": func(b event.Body) bool {
			switch b.(type) {
			case event.RequestReceived, event.HeartbeatReceived, event.ReplySent:
				return true
			}
			return false
		},
		"state": func(b event.Body) bool { _, ok := b.(event.StateChanged); return ok },
		"timer": func(b event.Body) bool { x, ok := b.(event.OperationCompleted); return ok && x.Expired },
		"event": func(event.Body) bool { return true },
	} {
		d.do("grain", grain)
		d.do("back", "")
		back := d.seq()
		if back >= end || !fits(d.lesson.head.at(back).Body) {
			t.Errorf("back by %s leads to %s", grain, d.lesson.head.at(back))
		}
		d.do("back", "")
		d.do("step", "")
		if d.seq() != back {
			t.Errorf("back and forth by %s leads to %d, not %d", grain, d.seq(), back)
		}
		d.do("end", "")
	}
	for _, s := range speeds() {
		arg := map[bool]string{true: "0", false: ""}[s.Den == 0]
		if arg == "" {
			arg = strconv.FormatFloat(float(s), 'f', -1, 64)
		}
		d.do("speed", arg)
		if d.lesson.pace.speed != s {
			t.Errorf("speed %s is %v", arg, d.lesson.pace.speed)
		}
	}
}
