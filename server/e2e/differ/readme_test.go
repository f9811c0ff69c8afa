//go:build interop

package differ

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// listedElsewhere are the rows of the README's table that no list of answers holds, with what shows them, or with the reason
// why they are outside of the questions.
var listedElsewhere = map[string]string{
	"the last member that was awaited is refused for room":           "the Scala coordinator's mechanism; coordinator/membership_test.go",
	"an issued id expires in the initial delay":                      "likewise; coordinator/delay_test.go",
	"requireStable beside a plain commit in flight":                  "goldensKept: commit_pending_committed",
	"a group's protocol named twice by one member":                   "Kafka does not answer until somebody else joins",
	"the words of FindCoordinator's errors":                          "no question about groups goes to a broker that cannot find them; elsewhere words count as being there",
	"`min.insync.replicas` of `__consumer_offsets` is not reached":   "TestThreeBrokersAnswerAlike, few: the same answers, at other times",
	"records of transactions":                                        "TestFormattersReadOurTopics: canonical leaves their version out",
	"4.3: records of `__consumer_offsets` and `__transaction_state`": "TestFormattersReadOurTopics: likewise",
	"settings of a single broker":                                    "TestDataAndAdminAnswerAlike has one broker; server/e2e/settings_test.go",
	"a group's settings (`--entity-type groups`)":                    "server/e2e/settings_test.go",
	"a topic's `flush.ms`, `flush.messages`":                         "they hang on -flush: server/e2e/settings_effect_test.go",
	"settings about index files, preallocation, delayed deletion":    "the same answers; what they mean is not seen over a wire",
}

// TestREADMEHasTheDifferences: each difference that the lists know stands in the README's table, each row of that in a list,
// and what only newer versions of Kafka answer begins with the version.
func TestREADMEHasTheDifferences(t *testing.T) {
	rows := readmeRows(t)
	named := map[string]bool{}
	for row := range listedElsewhere {
		named[row] = true
	}
	for _, k := range knownOfThree {
		named[k.row] = true
	}
	for _, d := range knownDifferences {
		named[d.row] = true
		if before, _, versioned := strings.Cut(d.row, ": "); d.only != "" && (!versioned || before != d.only) {
			t.Errorf("only Kafka %s answers so, and the row is %q: %s", d.only, d.row, d)
		}
	}
	for _, row := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(rows, row) {
			t.Errorf("the README's table has no row %q", row)
		}
	}
	for _, row := range rows {
		if !named[row] {
			t.Errorf("no list knows the README's row %q", row)
		}
	}
}

// readmeRows are the first columns of the table under "Beside Apache Kafka".
func readmeRows(t *testing.T) (rows []string) {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## Beside Apache Kafka\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for line := range strings.Lines(part) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if first := strings.TrimSpace(strings.TrimPrefix(cells[0], "|")); strings.HasPrefix(line, "| ") && first != "" && !strings.HasPrefix(line, "| |") {
			rows = append(rows, first)
		}
	}
	if len(rows) == 0 {
		t.Fatal("README.md has no table under Beside Apache Kafka")
	}
	return rows
}
