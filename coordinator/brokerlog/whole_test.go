package brokerlog_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/brokerlog"
	"grouplab/coordinator/event"
)

// whole reads a log file as its program wrote it.
func whole(t *testing.T, name string) (string, brokerlog.Result) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), read(string(text))
}

// client is the client id within a member's id.
func clientIn(member string) string { name, _, _ := strings.Cut(member, "-"); return name }

// TestAWholeBrokersLog: the log of a broker of Apache Kafka 4.0.2 (a KRaft node, controller too) from its start on, as it wrote it: of each
// line it is known whether it tells of groups; the rebalances that it tells are those that were brought about while it was written.
func TestAWholeBrokersLog(t *testing.T) {
	text, r := whole(t, "kafka-4.0.2")
	if c := r.Counts; c.Lines != strings.Count(text, "\n") || c.Unknown != 0 || c.Understood != 93 {
		t.Errorf("%+v of %d lines; not understood: %v", c, strings.Count(text, "\n"), r.Unknown)
	}
	told := map[string][]string{}
	for _, e := range r.Events {
		switch b := e.Body.(type) {
		case event.RebalanceStarted:
			told[e.Group] = append(told[e.Group], fmt.Sprint(b.Generation+1, " ", b.Why, " ", clientIn(b.Member)))
		case event.EpochBumped:
			told[e.Group] = append(told[e.Group], fmt.Sprint(b.Epoch, " ", b.Why))
		}
	}
	for group, want := range map[string][]string{
		"range": {"1 first member a", "2 new member b", "3 session expired b", "4 new member c", "5 member left c", "6 new member s"},
		"coop": {"1 first member a", "2 new member b", "3 leader rejoined a", "4 session expired b", "5 new member c", "6 leader rejoined a", "7 member left c",
			"8 new member s", "9 leader rejoined a"},
		"modern": {"1 first member", "2 new member", "3 session expired", "4 new member", "5 member left", "6 new member", "7 session expired", "8 new member"},
	} {
		if !slices.Equal(told[group], want) {
			t.Errorf("%s: told are %q, there were %q", group, told[group], want)
		}
	}
}

// TestAWholeSaramaLog: sarama's log of one consumer says only, when a session is over, of which generation it was which member. That, its
// coordinator, and no more is told, and no line is left over.
func TestAWholeSaramaLog(t *testing.T) {
	text, r := whole(t, "sarama-1")
	if c := r.Counts; c.Lines != strings.Count(text, "\n") || c.Unknown != 0 || c.Understood != 11 {
		t.Errorf("%+v of %d lines; not understood: %v", c, strings.Count(text, "\n"), r.Unknown)
	}
	var over []string
	found := 0
	for _, e := range r.Events {
		switch b := e.Body.(type) {
		case event.ClientStateChanged:
			over = append(over, b.Reason)
		case event.CoordinatorFound:
			found++
		case event.GenerationStarted, event.RebalanceStarted, event.AssignmentStored:
			t.Errorf("sarama does not say that: %s", e.Text())
		}
		if e.Group != "sarama-app" {
			t.Errorf("the group is %q: %s", e.Group, e.Text())
		}
	}
	if len(over) == 0 || !strings.Contains(over[0], "session of generation 1 is over") || found != 6 {
		t.Errorf("%q, and the coordinator was found %d times", over, found)
	}
}
