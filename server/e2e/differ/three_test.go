//go:build interop

package differ

import (
	"regexp"
	"slices"
	"testing"
)

// TestThreeBrokersAnswerAlike asks three brokers of each what only a cluster can be asked: where coordinators are, what a
// broker answers that is not the right one, what clients see when a broker is killed, and what operators can move.
func TestThreeBrokersAnswerAlike(t *testing.T) {
	t.Parallel()
	theirs, ours := startThree(t, threeConfiguration)
	results := both3(theirs, ours, (*trio).lay)
	versions := knows(t, theirs, ours)
	for _, stage := range []func(*trio){whereCoordinatorsLive(versions), wrongBroker(versions)} {
		results = append(results, both3(theirs, ours, stage)...)
	}
	was := map[*trio]*killed{theirs: {}, ours: {}}
	for _, stage := range []func(*killed, *trio){(*killed).before, (*killed).kill, (*killed).few, (*killed).restart, (*killed).add, (*killed).move} {
		results = append(results, both3(theirs, ours, func(c *trio) { stage(was[c], c) })...)
	}
	for _, c := range []*trio{theirs, ours} {
		for _, line := range c.seen {
			t.Logf("%s, %s", c.name, line)
		}
	}
	report(t, exceptKnown(t, results))
}

type knownDifference struct {
	row    string // the first column of its row in the README
	titles *regexp.Regexp
	why    string
}

// knownOfThree are what is answered differently on purpose; the README's table has them, too.
var knownOfThree = []knownDifference{
	{"a consumer's Fetch of a follower, from version 11 on", regexp.MustCompile(`^Fetch of broker 2: v1[1-7] with (no epoch|the epoch before|the epoch)$`), "followers serve no consumers here (KIP-392)"},
	{"a group that had no generation yet, when its coordinator moves", regexp.MustCompile(`^(DescribeGroups|OffsetCommit) of broker 2: completing,`), "Kafka 4 writes a record when a group comes to be, the Scala coordinator when it has a generation"},
}

// exceptKnown takes out what is known to differ, and demands that it still does.
func exceptKnown(t *testing.T, results []result) (others []result) {
	t.Helper()
	differ := make([]int, len(knownOfThree))
	for _, r := range results {
		at := slices.IndexFunc(knownOfThree, func(k knownDifference) bool { return k.titles.MatchString(r.title) })
		if at < 0 || difference(r.theirs, r.ours) == "" {
			others = append(others, r)
			continue
		}
		differ[at]++
	}
	for i, k := range knownOfThree {
		t.Logf("%d questions are answered differently, as known: %s", differ[i], k.why)
		if differ[i] == 0 {
			t.Errorf("no longer answered differently: %s; take it out of the list and of the README", k.why)
		}
	}
	return others
}
