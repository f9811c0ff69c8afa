package tab

import (
	"bytes"
	"html"
	"os"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// recorded is a recording of a golden script's group.
func recorded(t *testing.T, name string) (file string) {
	t.Helper()
	text, err := os.ReadFile("../../coordinator/testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "  ") {
			commands = append(commands, line)
		}
	}
	events, _, err := script.Run(name, strings.Join(commands, ""))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := recording.NewWriter(&b, recording.Header{Cluster: name})
	for i := range events {
		if err == nil {
			err = w.Event(&events[i])
		}
	}
	if err == nil {
		err = w.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// opened opens a file on the page of recordings.
func opened(t *testing.T, page *Tab, name, data string) *recordingMode {
	t.Helper()
	page.Do("rec-file", name+"\n"+data)
	settle(t, page)
	m := page.mode.(*recordingMode)
	if m.phase != recordingShown {
		t.Fatalf("%s is not shown: %s", name, m.says)
	}
	return m
}

// TestTwoMomentsAreCompared: a moment is kept, another one of the same recording, or of another, lies beside it on one axis from both
// moments on, and the table says how much longer which wait was.
func TestTwoMomentsAreCompared(t *testing.T) {
	page := NewRecordings(Choices{})
	m := opened(t, page, "unclean", recorded(t, "unclean_restart"))
	page.Do("rec-compare", "")
	if m.beside != nil {
		t.Fatal("nothing was kept")
	}
	seek := func(why event.Why) int64 {
		t.Helper()
		for i := range m.play.events {
			if b, is := m.play.events[i].Body.(event.RebalanceStarted); is && b.Why == why {
				m.play.show(i + 1)
				return m.play.nowMs
			}
		}
		t.Fatalf("no rebalance because of %s", why)
		return 0
	}
	first := seek(event.WhyFirstMember) // its initial delay is 6 s, and 14 s of the second rebalance lie within the time that is compared
	page.Do("rec-hold", "")
	second := seek(event.WhyNewMember) // a ghost is waited for: 30 s
	was := m.play.at
	page.Do("rec-compare", "")
	x := m.beside
	if x == nil || m.play.at != was || first == second {
		t.Fatalf("%+v, the stage is at %d, was at %d", x, m.play.at, was)
	}
	says := spaced(view.RecordingCompareSays(m.picture(), page.options))
	if !strings.Contains(says, "30.0 s of rebalancing (10.0 s more)") {
		t.Errorf("%s", says)
	}
	for _, list := range [][]view.Mark{x.ThisOnly, x.OtherOnly} {
		if len(list) == 0 || list[0].AtMs != 0 {
			t.Errorf("both begin with their rebalance at 0: %+v", list)
		}
	}
	drawn := drawnPart(t, page, "compare")
	for _, want := range []string{"PreparingRebalance 30.0 s", "PreparingRebalance 6.0 s", "10.0 s more", "Two moments on one axis", "Kept: "} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	page.Do("end", "")
	page.Do("rec-compare", "")
	if m.beside != nil || !strings.Contains(page.options.Note, "at the end of its recording") {
		t.Errorf("nothing follows the end: %q", page.options.Note)
	}
	// Another recording is opened: the kept moment stays.
	m = opened(t, page, "static", recorded(t, "first_member"))
	if m.beside != nil || m.held == nil {
		t.Fatalf("%+v %+v", m.beside, m.held)
	}
	seek(event.WhyFirstMember)
	page.Do("rec-compare-span", "30000")
	page.Do("rec-compare", "")
	if says := spaced(view.RecordingCompareSays(m.picture(), page.options)); !strings.Contains(says, "3.0 s of rebalancing (3.0 s less)") {
		t.Errorf("%s", says)
	}
	page.Do("compare", "")
	if m.beside != nil {
		t.Error("it was closed")
	}
	page.Do("rec-let-go", "")
	if m.held != nil {
		t.Error("it was let go")
	}
}

// TestTheLabsRunSaysWhatItLacks: the page lists what the run that it makes of a recording does not do again.
func TestTheLabsRunSaysWhatItLacks(t *testing.T) {
	page := NewRecordings(Choices{})
	m := opened(t, page, "kept", recorded(t, "poll_interval_expired"))
	page.Do("rec-lab", "")
	if u := page.Frame(1 << 40); u.Download == nil || !strings.Contains(u.Download.Text, "consumer ") {
		t.Fatal("no run was made")
	}
	if strings.ContainsAny(page.options.Note, "{}|") {
		t.Errorf("%s", page.options.Note)
	}
	drawn := drawnPart(t, page, "recording")
	if len(m.lab.Notes) == 0 {
		t.Fatal("it reproduces everything?")
	}
	for _, note := range m.lab.Notes {
		if !strings.Contains(drawn, strings.Fields(note)[0]) || !strings.Contains(drawn, "<li>") {
			t.Errorf("the page does not list %q", note)
		}
	}
}

// TestAFactIsFoundByItsNumber, as a walk through all would find it: the last that has it, and not what retells others.
func TestAFactIsFoundByItsNumber(t *testing.T) {
	page := NewRecordings(Choices{})
	p := opened(t, page, "found", recorded(t, "unclean_restart")).play
	list := append(slices.Clone(p.events[:40]), p.events[10:30]...) // told again, as after a gap
	list = append(list, event.Event{Seq: 7, Body: event.GroupSummarized{}})
	p = newReplay(list, nil)
	walk := func(seq int64) int {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Seq == seq && !retold(list[i].Body) {
				return i
			}
		}
		return -1
	}
	for seq := int64(-1); seq < 60; seq++ {
		if got, want := p.find(seq), walk(seq); got != want {
			t.Errorf("fact %d is found at %d, it is at %d", seq, got, want)
		}
	}
}

// drawnPart is a part of the page as it stands.
func drawnPart(t *testing.T, page *Tab, id string) string {
	t.Helper()
	model := page.fill()
	for _, p := range page.mode.parts(model, page.options) {
		if p.ID == id {
			var b strings.Builder
			if err := p.Component.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			return spaced(b.String())
		}
	}
	t.Fatalf("there is no part %s", id)
	return ""
}

// spaced are those of a text, with plain spaces between them.
func spaced(text string) string { return strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ") }
