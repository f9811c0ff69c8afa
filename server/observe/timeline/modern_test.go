package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// named tells the timeline what the topic of these tests is called.
func (l *offsetsLog) named() {
	l.see(timeline.Metadata{Topics: []timeline.Topic{{Name: "orders", ID: ordersID, Partitions: []timeline.Partition{{Number: 0, Leader: 1}, {Number: 1, Leader: 1}}}}})
}

// A group of one member that has both partitions.
func modernGroup(t *testing.T) *offsetsLog {
	l := live(t)
	l.named()
	l.all = nil
	l.after(1_000).write(epoch("g", 1, 9), modernMember("g", "m1", "", "orders"), targetEpoch("g", 1), target("g", "m1", 0, 1), current("g", "m1", 1, 0, 0, []int32{0, 1}, nil))
	return l
}

func TestModernJoin(t *testing.T) {
	l := modernGroup(t)
	const want = "GroupCreated GroupListed EpochBumped CauseInferred MemberAdded StateChanged TargetAssigned MemberReconciled StateChanged"
	if kinds(l.all) != want {
		t.Fatalf("got\n%s", lines(l.all))
	}
	if e := one[event.EpochBumped](t, l.all); e.Why != event.WhyFirstMember || e.Member != "m1" || e.Confidence != event.High || e.Epoch != 1 {
		t.Errorf("%+v", e)
	}
	if l.tl.TypeOf("g") != "consumer" {
		t.Error("it is a consumer group")
	}
	s := of[event.StateChanged](l.all)
	if s[0].To != event.Assigning || s[1].To != event.Stable || s[1].Why != event.WhyTargetReached {
		t.Errorf("%+v", s)
	}
}

// A second member waits for the first to give a partition up: blocked-by edges, and each step on the way.
func TestModernReconciliation(t *testing.T) {
	l := modernGroup(t)
	got := l.after(1_000).write(epoch("g", 2, 9), modernMember("g", "m2", "", "orders"), targetEpoch("g", 2), target("g", "m1", 0), target("g", "m2", 1),
		current("g", "m2", 2, 0, 2, nil, nil))
	if e := one[event.EpochBumped](t, got); e.Why != event.WhyNewMember || e.Member != "m2" {
		t.Errorf("%+v", e)
	}
	if a := one[event.TargetAssigned](t, got); a.Moved != 1 || a.Epoch != 2 || len(a.Assignments) != 2 {
		t.Errorf("%+v", a)
	}
	r := one[event.MemberReconciled](t, got)
	if r.Member != "m2" || strings.Join(r.WaitsFor, " ") != "m1" || r.State != "unreleased_partitions" {
		t.Errorf("%+v", r)
	}
	if s := of[event.StateChanged](got); s[len(s)-1].To != event.Reconciling {
		t.Errorf("%+v", s)
	}
	got = l.after(500).write(current("g", "m1", 1, 1, 1, []int32{0}, []int32{1}))
	if r := one[event.MemberReconciled](t, got); r.State != "unrevoked_partitions" || event.Partitions(r.Revoking) != "orders-1" {
		t.Errorf("%+v", r)
	}
	got = l.after(500).write(current("g", "m1", 2, 1, 0, []int32{0}, nil))
	list := of[event.MemberReconciled](got)
	if len(list) != 2 || list[1].Member != "m2" || len(list[1].WaitsFor) != 0 || got[1].Truth != event.Inferred {
		t.Errorf("m2 waits for nobody any more: %s", lines(got))
	}
	got = l.after(500).write(current("g", "m2", 2, 2, 0, []int32{1}, nil))
	if s := one[event.StateChanged](t, got); s.To != event.Stable || s.From != event.Reconciling {
		t.Errorf("%+v", s)
	}
}

// modernStory are the appends of a group that a second member joins and leaves, each at its time.
func modernStory(atMs int64) (records []timeline.Record) {
	at := func(ms int64, list ...timeline.Record) {
		for _, r := range list {
			r.TimestampMs = atMs + ms
			records = append(records, r)
		}
	}
	at(0, epoch("g", 1, 9), modernMember("g", "m1", "", "orders"), targetEpoch("g", 1), target("g", "m1", 0, 1), current("g", "m1", 1, 0, 0, []int32{0, 1}, nil))
	at(5_000, epoch("g", 2, 9), modernMember("g", "m2", "", "orders"), targetEpoch("g", 2), target("g", "m1", 0), target("g", "m2", 1), current("g", "m2", 2, 0, 2, nil, nil))
	at(5_500, current("g", "m1", 2, 1, 0, []int32{0}, nil))
	at(6_000, current("g", "m2", 2, 2, 0, []int32{1}, nil))
	at(9_000, tombstone(modernKey(8, "g", "m2")), tombstone(modernKey(7, "g", "m2")), tombstone(modernKey(5, "g", "m2")), epoch("g", 3, 9))
	at(9_100, targetEpoch("g", 3), target("g", "m1", 0, 1), current("g", "m1", 3, 2, 0, []int32{0, 1}, nil))
	return records
}

// What a KIP-848 group did before the attach is told with its own times, in the same words as to somebody who was there.
func TestModernHistory(t *testing.T) {
	was := live(t)
	was.named()
	was.all = nil
	story := modernStory(was.now + 1_000)
	for i := 0; i < len(story); {
		n := i + 1
		for n < len(story) && story[n].TimestampMs == story[i].TimestampMs {
			n++
		}
		was.now = story[i].TimestampMs
		was.write(story[i:n]...)
		i = n
	}
	said := func(all []event.Event, fromMs int64) (list []string) {
		for _, e := range all {
			if e.Group == "g" {
				list = append(list, fmt.Sprint(e.AtMs-fromMs, " ", e.Text()))
			}
		}
		return list
	}
	l := attach(t)
	l.named()
	story = modernStory(begun - 60_000)
	l.see(timeline.ReadFrom{Partition: 0, End: int64(len(story))})
	l.all = nil
	l.write(story...)
	there, later := said(was.all, begun+1_000), said(l.all, begun-60_000)
	if len(there) < 20 || !slices.Equal(there, later) {
		t.Errorf("whoever was there was told\n%s\nand who came later\n%s", strings.Join(there, "\n"), strings.Join(later, "\n"))
	}
	if s := of[event.StateChanged](l.all); s[len(s)-1].To != event.Stable {
		t.Errorf("%s", lines(l.all))
	}
	if !l.tl.Ready() || one[event.LoadFinished](t, l.all).Groups != 1 {
		t.Error("not ready")
	}
}

// Of what lies before a hole that compaction has left, and of what is older than a day, only the end is told; what follows is whole.
func TestModernHistoryBehindAHole(t *testing.T) {
	for name, c := range map[string]struct {
		older int64 // how much older the story is
		hole  int   // before this record of it
	}{"a hole before the first move": {0, 11}, "all of it is old": {2 * 24 * 60 * 60 * 1000, 0}} {
		l := attach(t)
		l.named()
		story := modernStory(begun - 60_000 - c.older)
		for i := range story {
			if story[i].Offset = int64(i); i >= c.hole && c.hole > 0 {
				story[i].Offset += 7
			}
		}
		end := story[len(story)-1].Offset + 1
		l.see(timeline.ReadFrom{Partition: 0, End: end})
		l.all = nil
		l.see(timeline.Records{Partition: 0, Next: end, Records: story})
		if n := len(of[event.GroupLoaded](l.all)); n != 1 || len(of[event.GroupCreated](l.all)) != 0 {
			t.Errorf("%s: %s", name, lines(l.all))
		}
		bumps := of[event.EpochBumped](l.all)
		if c.hole > 0 && (len(bumps) != 1 || bumps[0].Epoch != 3 || bumps[0].Member != "m2") || c.hole == 0 && len(bumps) != 0 {
			t.Errorf("%s: %s", name, lines(l.all))
		}
		if f := l.tl.GroupFacts(l.now, "g"); one[event.GroupLoaded](t, f).Generation != 3 || one[event.GroupLoaded](t, f).State != event.Stable {
			t.Errorf("%s: %s", name, lines(f))
		}
	}
}

func TestModernMemberGoes(t *testing.T) {
	leave := []timeline.Record{tombstone(modernKey(8, "g", "m1")), tombstone(modernKey(7, "g", "m1")), tombstone(modernKey(5, "g", "m1"))}
	for _, c := range []struct {
		name    string
		silent  int64
		between []timeline.Record
		why     event.Why
	}{
		{name: "left", silent: 3_000, why: event.WhyMemberLeft},
		{name: "fenced", silent: 46_000, why: event.WhySessionExpired},
		{name: "did not revoke", silent: 61_000, between: []timeline.Record{current("g", "m1", 1, 1, 1, []int32{0}, []int32{1})}, why: event.WhyNotRevoked},
		{name: "static away", silent: 3_000, between: []timeline.Record{current("g", "m1", -2, 1, 0, []int32{0, 1}, nil)}, why: event.WhySessionExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := modernGroup(t)
			if c.between != nil {
				l.after(1_000).write(c.between...)
			}
			got := l.after(c.silent).write(append([]timeline.Record{epoch("g", 2, 9)}, leave...)...)
			removed, bump := one[event.MemberRemoved](t, got), one[event.EpochBumped](t, got)
			if removed.Why != c.why || bump.Why != c.why || bump.Member != "m1" || bump.Confidence != event.Medium {
				t.Errorf("%+v %+v", removed, bump)
			}
			if s := of[event.StateChanged](got); s[len(s)-1].To != event.Empty {
				t.Errorf("%s", lines(got))
			}
			got = l.after(1_000).write(tombstone(modernKey(6, "g")), tombstone(modernKey(3, "g")))
			if kinds(got) != "GroupRemoved" {
				t.Errorf("%s", lines(got))
			}
		})
	}
}

func TestModernStaticMember(t *testing.T) {
	l := live(t)
	l.named()
	l.after(1_000).write(epoch("g", 1, 9), modernMember("g", "m1", "i1", "orders"), targetEpoch("g", 1), target("g", "m1", 0, 1), current("g", "m1", 1, 0, 0, []int32{0, 1}, nil))
	got := l.after(1_000).write(current("g", "m1", -2, 1, 0, []int32{0, 1}, nil))
	if r := one[event.MemberReconciled](t, got); r.Epoch != -2 {
		t.Errorf("%+v", r)
	}
	got = l.after(1_000).write(tombstone(modernKey(8, "g", "m1")), tombstone(modernKey(7, "g", "m1")), tombstone(modernKey(5, "g", "m1")),
		modernMember("g", "m2", "i1", "orders"), target("g", "m2", 0, 1), current("g", "m2", 1, 0, 0, []int32{0, 1}, nil))
	if m := one[event.MemberReplaced](t, got); m.Old != "m1" || m.Member != "m2" || len(of[event.MemberRemoved](got)) != 0 {
		t.Errorf("%s", lines(got))
	}
}

func TestModernCauses(t *testing.T) {
	l := modernGroup(t)
	got := l.after(1_000).write(epoch("g", 2, 10))
	if e := one[event.EpochBumped](t, got); e.Why != event.WhyTopicsChanged || e.Confidence != event.High {
		t.Errorf("%+v", e)
	}
	if s := one[event.StateChanged](t, got); s.To != event.Assigning {
		t.Errorf("the epoch is ahead of the target: %+v", s)
	}
	got = l.after(1_000).write(epoch("g", 3, 10), modernMember("g", "m1", "", "pay"))
	if e := one[event.EpochBumped](t, got); e.Why != event.WhyMetadataChanged || e.Member != "m1" || one[event.MemberUpdated](t, got).Topics[0] != "pay" {
		t.Errorf("%+v", e)
	}
}

// The online migration of KIP-848, both ways.
func TestUpgradeAndDowngrade(t *testing.T) {
	l := live(t)
	l.named()
	l.after(1_000).write(generation("g", 4, l.now, who{id: "m1", has: []int32{0, 1}}))
	got := l.after(1_000).write(groupGone("g"), epoch("g", 5, 9), modernMember("g", "m1", "", "orders"), targetEpoch("g", 5), target("g", "m1", 0, 1),
		current("g", "m1", 5, 4, 0, []int32{0, 1}, nil))
	if e := one[event.EpochBumped](t, got); e.Why != event.WhyBecameConsumer || e.Epoch != 5 || l.tl.TypeOf("g") != "consumer" || len(of[event.GroupRemoved](got)) != 0 {
		t.Errorf("%s", lines(got))
	}
	got = l.after(1_000).write(tombstone(modernKey(8, "g", "m1")), tombstone(modernKey(7, "g", "m1")), tombstone(modernKey(6, "g")), tombstone(modernKey(5, "g", "m1")),
		tombstone(modernKey(3, "g")), generation("g", 6, l.now, who{id: "m1", has: []int32{0, 1}}))
	if c := one[event.CauseInferred](t, got); c.Why != event.WhyBecameClassic || c.Generation != 6 || l.tl.TypeOf("g") != "classic" || len(of[event.GroupRemoved](got)) != 0 {
		t.Errorf("%s", lines(got))
	}
}

// A topic whose name is not known yet is called by its id, and told again when Metadata names it.
func TestTopicIDs(t *testing.T) {
	l := live(t)
	got := l.after(1_000).write(epoch("g", 1, 9), modernMember("g", "m1", "", "orders"), targetEpoch("g", 1), target("g", "m1", 0), current("g", "m1", 1, 0, 0, []int32{0}, nil))
	if r := one[event.MemberReconciled](t, got); r.Assigned[0].Topic != "AQAAAAAAAAAAAAAAAAAABw" {
		t.Errorf("%+v", r)
	}
	if u := l.tl.UnknownTopics(); len(u) != 1 || u[0] != ordersID {
		t.Errorf("%v", u)
	}
	l.all = nil
	l.named()
	if r := one[event.MemberReconciled](t, l.all); r.Assigned[0].Topic != "orders" || len(l.tl.UnknownTopics()) != 0 {
		t.Errorf("%+v", r)
	}
}

// What compaction has left of a consumer group is gathered, whatever its order, and told once.
func TestModernBaseline(t *testing.T) {
	l := attach(t)
	l.named()
	l.see(timeline.ReadFrom{Partition: 0, End: 6})
	l.all = nil
	l.write(current("g", "m1", 3, 2, 0, []int32{0, 1}, nil), target("g", "m1", 0, 1), tombstone(modernKey(5, "g", "m0")), modernMember("g", "m1", "", "orders"), targetEpoch("g", 3), epoch("g", 3, 9))
	if b := one[event.GroupLoaded](t, l.all); b.State != event.Stable || b.Generation != 3 || len(of[event.EpochBumped](l.all)) != 0 {
		t.Errorf("%s", lines(l.all))
	}
	if s := of[event.GroupListed](l.all); len(s) != 1 || s[0].Type != "consumer" {
		t.Errorf("%+v", s)
	}
}
