package timeline_test

import (
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

func TestTransactions(t *testing.T) {
	l := live(t)
	l.write(commit("g", "orders", 0, 1, l.now))
	got := l.write(within(commit("g", "orders", 0, 10, l.now), 7, 0), within(commit("g", "orders", 1, 11, l.now), 7, 0))
	if w := one[event.TxnOffsetsWritten](t, got); w.ProducerID != 7 || len(w.Offsets) != 2 || len(of[event.OffsetsCommitted](got)) != 0 {
		t.Errorf("%s", lines(got))
	}
	l.write(commit("g", "orders", 1, 12, l.now)) // lies later in the log than what the transaction wrote
	got = l.write(marker(7, 0, true))
	if e, c := one[event.TxnOffsetsEnded](t, got), one[event.OffsetsCommitted](t, got); !e.Commit || len(c.Offsets) != 1 || c.Offsets[0].Offset != 10 || got[1].Cause != got[0].Seq {
		t.Errorf("%s", lines(got))
	}
	l.write(within(commit("g", "orders", 0, 99, l.now), 7, 0))
	got = l.write(marker(7, 1, false)) // the coordinator's own epoch is higher
	if kinds(got) != "TxnOffsetsEnded" || one[event.TxnOffsetsEnded](t, got).Commit {
		t.Errorf("%s", lines(got))
	}
	if o := one[event.OffsetsCommitted](t, l.tl.GroupFacts(l.now, "g")).Offsets; o[0].Offset != 10 || o[1].Offset != 12 {
		t.Errorf("what was aborted is not there: %+v", o)
	}
}

func TestNewerEpochFences(t *testing.T) {
	l := live(t)
	l.write(within(commit("g", "orders", 0, 10, l.now), 7, 0))
	got := l.write(within(commit("g", "orders", 0, 20, l.now), 7, 1))
	if kinds(got) != "TxnOffsetsEnded TxnOffsetsWritten" {
		t.Errorf("%s", lines(got))
	}
	got = l.write(marker(7, 1, true))
	if c := one[event.OffsetsCommitted](t, got); len(c.Offsets) != 1 || c.Offsets[0].Offset != 20 {
		t.Errorf("%s", lines(got))
	}
}

// An aborted transaction in a log that is read for the first time leaves nothing; one that is open is told.
func TestTransactionsInTheFirstReading(t *testing.T) {
	l := attach(t)
	l.see(timeline.ReadFrom{Partition: 0, End: 4})
	l.all = nil
	l.write(within(commit("gone", "orders", 0, 10, l.now), 7, 0), marker(7, 0, false), within(commit("open", "orders", 0, 20, l.now), 8, 3), commit("plain", "orders", 0, 30, l.now))
	if w := one[event.TxnOffsetsWritten](t, l.all); w.ProducerID != 8 || !w.Loaded {
		t.Errorf("%s", lines(l.all))
	}
	if g := l.tl.Groups(); len(g) != 2 || g[0] != "open" || g[1] != "plain" {
		t.Errorf("%v", g)
	}
}

// What a coordinator appended as one is told as one; another group's, or another moment's, is another.
func TestOneAppendIsOneStep(t *testing.T) {
	l := live(t)
	got := l.write(commit("a", "orders", 0, 1, l.now), commit("a", "orders", 1, 2, l.now), commit("b", "orders", 0, 3, l.now), commit("a", "orders", 0, 4, l.now+1))
	list := of[event.OffsetsCommitted](got)
	if len(list) != 3 || len(list[0].Offsets) != 2 || list[0].BaseOffset != 0 || list[2].BaseOffset != 3 {
		t.Errorf("%s", lines(got))
	}
}

func TestExpiredOffsets(t *testing.T) {
	l := live(t)
	l.write(commit("g", "orders", 0, 1, l.now))
	got := l.after(8*24*3_600_000).write(uncommit("g", "orders", 0), groupGone("g"))
	if r := one[event.OffsetsRemoved](t, got); r.Why != event.WhyOffsetsExpired || one[event.GroupRemoved](t, got).Why != event.WhyNothingLeft {
		t.Errorf("%s", lines(got))
	}
}

// A partition whose log was cut is read anew: its groups are forgotten and told again. Another topic id forgets all.
func TestTruncatedAndRecreated(t *testing.T) {
	l := live(t)
	l.write(commit("g", "orders", 0, 1, l.now))
	got := l.see(timeline.ReadFrom{Partition: 0, Start: 0, End: 1, Why: "OFFSET_OUT_OF_RANGE"})
	if kinds(got) != "PartitionUnloaded LoadSkipped LoadStarted" || len(l.tl.Groups()) != 0 || l.tl.Ready() {
		t.Errorf("%s", lines(got))
	}
	l.next = 0
	got = l.write(commit("g", "orders", 0, 2, l.now))
	if o := one[event.OffsetsCommitted](t, got); !o.Loaded || o.Offsets[0].Offset != 2 {
		t.Errorf("%s", lines(got))
	}
	l.see(timeline.Recreated{Partitions: 2})
	if len(l.tl.Groups()) != 0 {
		t.Errorf("%v", l.tl.Groups())
	}
}

// What is denied or away is said with the right that is missing, once, and taken back.
func TestSight(t *testing.T) {
	l := live(t)
	l.write(commit("g", "orders", 0, 1, l.now))
	denied := timeline.Described{Broker: 1, Group: "g", Type: "classic", Code: 30, AskedMs: l.now, AnsweredMs: l.now}
	got := l.see(denied)
	if s := one[event.SightChanged](t, got); !s.Lost || s.Right != "Describe on Group g" || s.Code != 30 || s.Hides == "" {
		t.Errorf("%+v", s)
	}
	if got := l.see(denied); len(got) != 0 {
		t.Errorf("told again: %s", lines(got))
	}
	if got := l.see(timeline.PollList{Broker: 1, Code: 14}); len(of[event.SightChanged](got)) != 1 {
		t.Errorf("%s", lines(got))
	}
	if n := len(of[event.SightChanged](l.tl.ClusterFacts(l.now))); n != 2 {
		t.Errorf("%d lost sources in the facts", n)
	}
	denied.Code, denied.State = 0, event.Empty
	if s := of[event.SightChanged](l.see(denied)); len(s) != 1 || s[0].Lost {
		t.Errorf("%+v", s)
	}
	// A broker that is away takes nothing with it but what only it says.
	l.see(timeline.SourceFailed{Source: "broker 1", Broker: 1, Reason: "connection refused"})
	if g := l.tl.Groups(); len(g) != 1 {
		t.Errorf("%v", g)
	}
}
