//go:build interop

package differ

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// dataConfiguration is what both are started with for questions about topics and records.
var dataConfiguration = map[string]string{
	"offsets.topic.num.partitions":         "4",
	"transaction.state.log.num.partitions": "4",
	"auto.create.topics.enable":            "true",
	"num.partitions":                       "2",
	"message.max.bytes":                    "20000",
}

// dataQuestion is put in every version that both know, each time about topics of its own, or about the shared ones.
type dataQuestion struct {
	api          int16
	name         string
	since, until int16 // the versions for which it is put; until 0 stands for all
	// only are the versions for which it is put beside the last; nil stands for what newIn says.
	only []int16
	ask  func(s *side, v int16)
}

// newIn are, for requests whose questions take their time, the versions that say something new: another layout, or other errors.
// Those between are as the one before. The last is always put.
var newIn = map[int16][]int16{
	0:  {0, 3, 5, 7, 8, 9, 11},                        // v0 to v2 are advertised and refused; v4 is as v3, v6 as v5, v10 as v9 but for errors of leaders
	19: {2, 4, 5, 7},                                  // defaults from v4 on, flexible and settings from v5, ids from v7
	22: {0, 2, 3, 4},                                  // flexible from v2 on, a producer's id and epoch from v3, PRODUCER_FENCED from v4
	24: {0, 2, 3}, 25: {0, 2, 3, 4}, 26: {0, 2, 3, 4}, // PRODUCER_FENCED from v2 on, flexible from v3, TRANSACTION_ABORTABLE from v4
	32: {1, 3, 4}, // types and documentation from v3 on, flexible from v4
	33: {0, 2},    // flexible from v2 on
}

// TestDataAndAdminAnswerAlike puts what producers, consumers and operators ask, right and wrong, in every version.
func TestDataAndAdminAnswerAlike(t *testing.T) {
	theirs, ours := startBoth(t, dataConfiguration)
	for _, address := range []string{theirs, ours} {
		if told := put(address, sharedGroup, prepareData); len(told) > 0 {
			t.Fatalf("%s: %v", address, told)
		}
	}
	ranges := commonVersions(t, theirs, ours)
	list := listing{asked: make([]bool, len(knownDifferences)), used: make([]bool, len(knownDifferences))}
	areas, ran := []struct {
		name      string
		questions []dataQuestion
	}{
		{"produce", produceQuestions()}, {"fetch", fetchQuestions()}, {"offsets", offsetQuestions()}, {"metadata", metadataQuestions()}, {"topics", topicQuestions()},
		{"configs", configQuestions()}, {"placement", placementQuestions()}, {"transactions", transactionQuestions()}, {"cluster", clusterQuestions()},
	}, 0
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			ran++
			report(t, list.leaveOut(t, askAll(t, theirs, ours, dataJobs(t, ranges, area.questions))))
		})
	}
	for k, d := range knownDifferences {
		if ran == len(areas) && d.of(version()) && list.asked[k] && !list.used[k] {
			t.Errorf("this is no difference any more, take it out of the list: %s", d)
		}
	}
}

// dataJobs puts each question in each version that both know.
func dataJobs(t *testing.T, ranges map[int16][2]int16, questions []dataQuestion) (jobs []job) {
	t.Helper()
	for _, q := range questions {
		span, common := ranges[q.api]
		if !common {
			t.Errorf("%s: not both serve it", kmsg.NameForKey(q.api))
			continue
		}
		last := span[1]
		if q.until > 0 {
			last = min(last, q.until)
		}
		only := q.only
		if only == nil {
			only = newIn[q.api]
		}
		for v := max(span[0], q.since); v <= last; v++ {
			if only != nil && v < last && !slices.Contains(only, v) {
				continue
			}
			jobs = append(jobs, job{fmt.Sprintf("%s v%d: %s", kmsg.NameForKey(q.api), v, q.name), func(s *side) {
				s.wordless = true
				q.ask(s, v)
			}})
		}
	}
	return jobs
}

// listing notes which rows of the list of known differences could cover something, and which did.
type listing struct{ asked, used []bool }

// leaveOut takes what is known to differ out of the results.
func (l *listing) leaveOut(t *testing.T, results []result) []result {
	t.Helper()
	some := 0
	for i, r := range results {
		for k, d := range knownDifferences {
			l.asked[k] = l.asked[k] || d.about.MatchString(r.title)
		}
		rest, rows := unlisted(r)
		some += min(1, len(rows))
		for _, k := range rows {
			l.used[k] = true
		}
		results[i] = rest
	}
	t.Logf("%d questions differ in what is listed", some)
	return results
}

// unlisted is a result without what is known to differ in it, and the rows of the list that say so.
func unlisted(r result) (rest result, rows []int) {
	if difference(r.theirs, r.ours) == "" {
		return r, nil
	}
	rest = r
	for k, d := range knownDifferences {
		if !d.of(version()) || !d.about.MatchString(r.title) {
			continue
		}
		theirs, ours := d.cover(rest.theirs, rest.ours)
		if len(theirs) != len(rest.theirs) || len(ours) != len(rest.ours) {
			rows = append(rows, k)
			rest.theirs, rest.ours = theirs, ours
		}
	}
	if len(rows) > 0 && len(beyond(rest.theirs, rest.ours))+len(beyond(rest.ours, rest.theirs)) == 0 {
		rest.theirs = rest.ours // entries are sorted by all of their fields, those that differ too
	}
	return rest, rows
}

// known is a difference that is meant: its lines on both sides, and why. What it covers is taken out of both.
type known struct {
	row          string // the first column of its row in the README
	about        *regexp.Regexp
	theirs, ours *regexp.Regexp // the lines; nil where that side has none
	// versions of Apache Kafka where it is so, "" for all.
	only string
	why  string
}

func differs(row, about, theirs, ours, why string) known {
	return differsIn("", row, about, theirs, ours, why)
}

func differsIn(only, row, about, theirs, ours, why string) known {
	line := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	return known{row, regexp.MustCompile(about), line(theirs), line(ours), only, why}
}

func (d known) String() string {
	return fmt.Sprintf("%s: Kafka %v, here %v: %s", d.about, d.theirs, d.ours, d.why)
}

func (d known) of(version string) bool { return d.only == "" || strings.HasPrefix(version, d.only) }

// cover takes the lines out that only one side has and that are the difference.
func (d known) cover(theirs, ours []string) (a, b []string) {
	return without(theirs, matching(d.theirs, beyond(theirs, ours))), without(ours, matching(d.ours, beyond(ours, theirs)))
}

func matching(pattern *regexp.Regexp, lines []string) (found []string) {
	for _, l := range lines {
		if pattern != nil && pattern.MatchString(l) {
			found = append(found, l)
		}
	}
	return found
}

// without takes some lines out, each as often as it is there, from the end.
func without(lines, some []string) []string {
	kept := slices.Clone(lines)
	for _, l := range some {
		for i := len(kept) - 1; i >= 0; i-- {
			if kept[i] == l {
				kept = slices.Delete(kept, i, i+1)
				break
			}
		}
	}
	return kept
}
