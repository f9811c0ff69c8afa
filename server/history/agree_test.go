package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// scripts returns the golden scripts' events by name: each is a story that the coordinator itself told.
func scripts(t testing.TB) map[string][]event.Event {
	t.Helper()
	files, err := filepath.Glob("../../coordinator/testdata/*.txt")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	found := map[string][]event.Event{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var commands []string
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "  ") { // that is what they printed
				commands = append(commands, line)
			}
		}
		events, _, err := script.Run(file, strings.Join(commands, ""))
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(file), ".txt")] = events
	}
	return found
}

// TestAwaitedAsThePictureSays asks, after each moment of each golden script, the fold and the page's picture who is awaited and
// until when: they say the same.
func TestAwaitedAsThePictureSays(t *testing.T) {
	compared := 0
	for name, events := range scripts(t) {
		h, m := New(Config{}), view.NewModel()
		for i := range events {
			m.Apply(events[i])
			h.Apply(&events[i])
			if i+1 < len(events) && events[i+1].AtMs == events[i].AtMs {
				continue // the picture keeps removed members as rows, and says so until the state has changed
			}
			if wrong := disagree(h, m, &compared); wrong != "" {
				t.Errorf("%s, after %v %s: %s", name, events[i].Seq, events[i].Text(), wrong)
				break
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d were awaited", compared)
	}
}

// TestNothingIsLostBeforeTheFirstOwner plays each golden script: while nobody has owned a partition since the group was Empty,
// neither the fold nor the page's picture counts any as lost.
func TestNothingIsLostBeforeTheFirstOwner(t *testing.T) {
	unowned := 0
	for name, events := range scripts(t) {
		h, m := New(Config{}), view.NewModel()
		was := map[string][2]int64{}
		for i := range events {
			m.Apply(events[i])
			h.Apply(&events[i])
			for group, g := range h.groups {
				_, day := g.day(h.nowMs)
				lost := [2]int64{day, m.Groups[group].PausedPartitionMs}
				if !g.everOwned && len(g.owners) == 0 {
					if unowned++; lost != was[group] {
						t.Fatalf("%s, after %v %s: nobody owns a partition of %s, and what is lost grows from %v to %v", name, events[i].Seq,
							events[i].Text(), group, was[group], lost)
					}
				}
				was[group] = lost
			}
		}
	}
	if unowned < 100 {
		t.Errorf("only %d moments had groups without owners", unowned)
	}
}

func disagree(h *History, m *view.Model, compared *int) string {
	for _, name := range m.GroupNames() {
		g, w := h.groups[name], m.Waiting(name)
		if g == nil || m.Groups[name].Gone {
			continue
		}
		var want []string
		for _, miss := range w.Missing {
			want = append(want, miss.Member)
		}
		*compared += len(want)
		got := h.waiting(g)
		if !slices.Equal(got.members, want) || got.deadlineMs != w.HardMs || got.waits != (w.Kind != view.WaitNothing) {
			return fmt.Sprintf("%v until %d, the picture waits for %q: %v until %d", got.members, got.deadlineMs, w.Kind, want, w.HardMs)
		}
		if g.state != m.Groups[name].State || g.generation != m.Groups[name].Generation || g.coordinator != m.Groups[name].Broker {
			return fmt.Sprintf("%s %d at %d, in the picture %s %d at %d", g.state, g.generation, g.coordinator, m.Groups[name].State, m.Groups[name].Generation, m.Groups[name].Broker)
		}
	}
	return ""
}
