package tab

import (
	"fmt"
	"strings"
	"testing"
)

// What the bars say is what the run that "show me" opens does, for Kafka's defaults and for others.
func TestExplorerAgreesWithTheRuns(t *testing.T) {
	for _, knobs := range [][]string{nil, {"session.timeout.ms 2", "heartbeat.interval.ms 1", "group.initial.rebalance.delay.ms 0", "poll 7", "max.poll.interval.ms 3"}} {
		d := openSandbox(t)
		d.do("panel", "timeouts")
		for _, k := range knobs {
			d.do("explore", k)
		}
		d.play(50)
		for i, c := range waitCases {
			bar := d.sandbox.explore.page().Bars[i]
			if !bar.Known || bar.Never || bar.Ms < 0 {
				t.Errorf("%v: %s: %+v", knobs, c.id, bar)
				continue
			}
			d.do("show-case", c.id)
			h := d.lesson.head
			if from := d.lesson.cursor.nowMs; h.nowMs()-from != bar.Ms {
				t.Errorf("%v: %s lasts %d ms, the run %d ms", knobs, c.id, bar.Ms, h.nowMs()-from)
			}
			if d.playing() || d.lesson.cursor.atHead() {
				t.Errorf("%s is not shown where the wait begins", c.id)
			}
		}
	}
}

// The waits are those that the timeouts explain.
func TestExplorerWaits(t *testing.T) {
	x := newExplorer()
	for x.work() {
	}
	ms := map[string]int64{}
	for _, b := range x.page().Bars {
		ms[b.ID] = b.Ms
	}
	for id, bounds := range map[string][2]int64{
		"first":   {6000, 6500},                  // the initial delay, and once more since others joined in it
		"killed":  {45_000, 45_000 + 3000 + 500}, // the session, then a heartbeat of the others
		"unclean": {45_000, 45_500},              // the session of the ghost
		"static":  {0, 500},                      // nobody notices
		"slow":    {4000, 5500},                  // until the slow one polls
		"stuck":   {300_000, 304_000},            // max.poll.interval.ms
	} {
		if got := ms[id]; got < bounds[0] || got > bounds[1] {
			t.Errorf("%s: %d ms, want %d to %d", id, got, bounds[0], bounds[1])
		}
	}
}

// Contradictions are said in words, and what does not work says that it does not end.
func TestExplorerWarns(t *testing.T) {
	for knobs, want := range map[string]string{
		"":                                   "",
		"session.timeout.ms 0":               "warn.heartbeat warn.min",
		"session.timeout.ms 1":               "warn.third",
		"session.timeout.ms 13":              "warn.max warn.rebalance",
		"poll 8":                             "warn.work",
		"max.poll.interval.ms 0":             "warn.rebalance",
		"group.initial.rebalance.delay.ms 0": "warn.nodelay",
		"session.timeout.ms 10":              "warn.long",
		"heartbeat.interval.ms 8":            "warn.heartbeat",
		"max.poll.interval.ms 0,group.initial.rebalance.delay.ms 4": "warn.rebalance warn.delay",
	} {
		x := newExplorer()
		for k := range strings.SplitSeq(knobs, ",") {
			x.set(k)
		}
		var got []string
		for _, w := range x.warnings() {
			got = append(got, w.Key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", knobs, got, want)
		}
	}
	d := openSandbox(t)
	d.do("panel", "timeouts")
	d.do("explore", "session.timeout.ms 0")
	d.play(50)
	if !strings.Contains(d.html["sandbox"], "does not end") || !strings.Contains(d.html["sandbox"], "INVALID_SESSION_TIMEOUT") {
		t.Error("nothing is said of a session that brokers refuse")
	}
	d.do("show-case", "killed")
	if d.options.Note == "" {
		t.Error("nothing is said of a case that does not begin")
	}
	d.do("explore", "session.timeout.ms 99")
	d.do("explore", "nonsense")
	d.do("explore", "standard")
	if len(d.sandbox.explore.warnings()) != 0 {
		t.Error("Kafka's defaults contradict each other")
	}
}

func itoa[T int | int64](n T) string { return fmt.Sprint(n) }
