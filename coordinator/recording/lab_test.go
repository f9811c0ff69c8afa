package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
)

// play runs a script and returns what its brokers, and the cluster, say of it; recorded output is passed over.
func play(file, text string) (events []event.Event, group string, err error) {
	e := script.New(file)
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		c, err := script.ParseLine(file, i+1, line)
		if err == nil && c.Verb != "" {
			err = e.Do(c)
		}
		if err != nil {
			return events, e.Group(), err
		}
		for _, ev := range e.Take() {
			if fromServer(ev) {
				events = append(events, ev)
			}
		}
	}
	return events, e.Group(), nil
}

// fromServer leaves out what only a simulated world tells: beliefs of clients, messages on the wire.
func fromServer(e event.Event) bool {
	kind := e.Body.Kind()
	return !strings.HasPrefix(kind, "Client") && !slices.Contains([]string{"RequestSent", "ReplyOnWire", "ReplyReceived", "RequestFailed", "MessageLost",
		"CoordinatorFound", "CoordinatorLost", "MetadataRefreshed", "InputGiven"}, kind)
}

// turn is a transition of the group, told without ids.
type turn struct {
	atMs int64
	what string
}

// turns are the transitions, the removals and the generations with their members, in the names of clients.
func turns(events []event.Event, group string, shiftMs int64) (list []turn) {
	clients := map[string]string{}
	who := func(id string) string {
		if c := clients[id]; c != "" {
			return c
		}
		return id
	}
	for _, e := range events {
		if e.Group != group {
			continue
		}
		say := func(format string, args ...any) {
			list = append(list, turn{e.AtMs + shiftMs, fmt.Sprintf(format, args...)})
		}
		switch b := e.Body.(type) {
		case event.MemberIDIssued:
			clients[b.Member] = b.ClientID
		case event.MemberAdded:
			clients[b.Member] = b.ClientID
		case event.MemberReplaced:
			clients[b.Member] = b.ClientID
			say("%s replaced", b.ClientID)
		case event.MemberRemoved:
			say("%s removed: %s", who(b.Member), b.Why)
		case event.RebalanceStarted:
			say("rebalance: %s %s", b.Why, who(b.Member))
		case event.StateChanged:
			say("%s -> %s: %s %s", b.From, b.To, b.Why, who(b.Member))
		case event.GenerationStarted:
			var members []string
			for _, m := range b.Members {
				members = append(members, who(m))
			}
			slices.Sort(members)
			say("generation %d: %s", b.Generation, strings.Join(members, " "))
		}
	}
	return list
}

// near is how far apart two times may be for one to stand for the other, in milliseconds.
const near = 250

// TestARecordingRunsAgain records what brokers say in the golden scripts, makes runs of that alone, runs these, and compares
// transitions, causes, generations and members.
func TestARecordingRunsAgain(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	alike := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, group, err := play(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		run, err := Script(events, group, Header{Set: settingsOf(string(text))})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, labGroup, err := play("run", run.Text)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		diff := ""
		if err != nil {
			diff = err.Error()
		} else {
			diff = compare(turns(events, group, run.ShiftMs-events[0].AtMs), turns(again, labGroup, 0))
		}
		if diff == "" {
			alike++
			t.Logf("%-32s alike", name)
			continue
		}
		said := strings.Join(run.Notes, "\n")
		t.Logf("%-32s %s", name, diff)
		if want := mustSay[name]; want == "" || !strings.Contains(said, want) {
			t.Errorf("%s: %s\nand it says only: %s\n%s", name, diff, said, run.Text)
		}
	}
	t.Logf("%d of %d scripts run again alike: the same transitions, causes, generations and members, within %d ms", alike, len(files), near)
}

// mustSay are the scripts that do not run again alike, by what the run says of it: a coordinator's facts do not hold what the
// network lost on the way to a client.
var mustSay = map[string]string{
	"network_loss": "gave up waiting for an answer and asked again: the network had lost one, or was slow",
}

// settingsOf are the settings of a script as a server's header has them.
func settingsOf(text string) (set []string) {
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "set" && slices.Contains(labSettings, f[1]) {
			set = append(set, f[1]+"="+f[2])
		}
	}
	return set
}

// compare says where two runs part, "" where they do not.
func compare(a, b []turn) string {
	for i := range min(len(a), len(b)) {
		if a[i].what != b[i].what {
			return fmt.Sprintf("turn %d of %d was %q at %d ms, is %q at %d ms", i+1, len(a), a[i].what, a[i].atMs, b[i].what, b[i].atMs)
		}
		if d := a[i].atMs - b[i].atMs; d > near || d < -near {
			return fmt.Sprintf("turn %d of %d, %q, was at %d ms, is at %d ms", i+1, len(a), a[i].what, a[i].atMs, b[i].atMs)
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("there were %d turns, there are %d", len(a), len(b))
	}
	return ""
}
