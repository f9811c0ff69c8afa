package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// Every kind of fact has its counterpart in Kafka and a line of Go that emits it, and that line does.
func TestEveryKindHasAKafkaNameAndALineOfGo(t *testing.T) {
	got, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[string]bool{"ConnectionOpened": true, "ConnectionClosed": true} // told by a server's loop
	for _, k := range event.Kinds() {
		entry := got.Kinds[k]
		if entry.Kafka == "" {
			t.Errorf("%s: no class and method of Kafka", k)
		}
		if len(entry.Go) == 0 && !elsewhere[k] && k != "FactsBegan" && k != "FactsEnded" {
			t.Errorf("%s: nothing emits it", k)
		}
		for _, place := range entry.Go {
			at, fn, _ := strings.Cut(place, " ")
			file, number, _ := strings.Cut(at, ":")
			text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(number)
			if err != nil || fn == "" || !strings.Contains(strings.Split(string(text), "\n")[n-1], "event."+k) {
				t.Errorf("%s: %q is not where it is emitted", k, place)
			}
		}
	}
	for k := range kafka {
		if len(event.Kinds()) == 0 || !contains(event.Kinds(), k) {
			t.Errorf("no kind of fact is called %q", k)
		}
	}
	if len(got.kindNames()) != len(event.Kinds()) {
		t.Errorf("%d kinds in the table, %d in the vocabulary", len(got.kindNames()), len(event.Kinds()))
	}
	for _, guard := range []string{"the group is rebalancing", "the group does not exist here", "the id is not a member of the group"} {
		if place := got.Guards[guard]; !strings.HasPrefix(place, "coordinator/") {
			t.Errorf("the guard %q stands at %q", guard, place)
		}
	}
}

func contains(list []string, want string) bool {
	for _, s := range list {
		if s == want {
			return true
		}
	}
	return false
}

func TestTheFileIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.json")
	if err := write("../..", file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), `"GroupCoordinator.prepareRebalance"`) {
		t.Errorf("%v, %d bytes", err, len(data))
	}
	t.Logf("%d bytes", len(data))
	if err := write("../..", filepath.Join(file, "no", "folder")); err == nil {
		t.Error("a file that cannot be written went well")
	}
}
