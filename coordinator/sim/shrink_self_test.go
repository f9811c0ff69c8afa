package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// forgetful spoils what a coordinator answers after a failover: the offsets that it has found are those of the commit
// before the last. So would a coordinator answer that lost an acknowledged commit.
func forgetful(r *trial) {
	before, last := map[string]event.OffsetValue{}, map[string]event.OffsetValue{}
	loaded := map[int32]bool{}
	r.spoil = func(e event.Event) event.Event {
		name := func(o event.OffsetValue) string { return fmt.Sprintf("%s-%d", o.Topic, o.Partition) }
		switch b := e.Body.(type) {
		case event.OffsetsCommitted:
			for _, o := range b.Offsets {
				if !b.Loaded {
					before[name(o)], last[name(o)] = last[name(o)], o
					delete(loaded, e.Broker)
				}
				loaded[e.Broker] = loaded[e.Broker] || b.Loaded
			}
		case event.ReplyOnWire:
			if loaded[e.Broker] && len(b.Offsets) > 0 {
				b.Offsets = slices.Clone(b.Offsets)
				for i, o := range b.Offsets {
					if old, was := before[name(o)]; was && o.Code == 0 && old.Topic != "" {
						b.Offsets[i] = old
					}
				}
				e.Body = b
			}
		}
		return e
	}
}

// randomLife is a script of at least so many lines in which much happens that has nothing to do with anything.
func randomLife(t *testing.T, seed uint64, lines int) []string {
	prng := rand.New(rand.NewPCG(seed, 7))
	r := newTrial()
	r.forgiving = true
	do := func(format string, args ...any) {
		if f := r.do(fmt.Sprintf(format, args...)); f != nil {
			t.Fatal(f)
		}
	}
	do("seed %d", seed)
	do("set group.initial.rebalance.delay.ms 0")
	do("set offsets.topic.num.partitions 1")
	do("topic orders 4")
	do("group g")
	for i := range 4 {
		do("consumer c%d session=6s rebalance=8s commit=1s metadata=c%d request-timeout=3s", i+1, i+1)
	}
	for len(r.lines) < lines {
		name := fmt.Sprintf("c%d", 1+prng.IntN(4))
		switch prng.IntN(9) {
		case 0, 1, 2:
			do("start %s", name)
		case 3:
			do("restart %s", name)
		case 4:
			do("kill %s", name)
		case 5:
			do("pause %s", name)
			do("resume %s", name)
		case 6:
			do("drop %s OffsetCommit 1", name)
		case 7:
			do("kill-broker %d", 1+prng.IntN(3))
		case 8:
			for b := range 3 {
				do("restart-broker %d", b+1)
			}
		}
		do("advance %dms", 50+prng.IntN(2000))
	}
	return r.lines
}

// A fault that is seeded deliberately is found, and a script of 300 lines that shows it becomes one that a person can
// read: no line of it can be left out.
func TestAFailingScriptShrinks(t *testing.T) {
	lines := randomLife(t, 11, 300)
	found := newTrial()
	forgetful(found)
	f := found.run(lines)
	if f == nil || f.check != "history" {
		t.Fatalf("the coordinator loses commits, and the checks say %v", f)
	}
	s := &shrinker{kind: f.kind(), fails: repeat(forgetful), tell: t.Logf}
	if !s.shrink(lines) {
		t.Fatal("the script does not fail again")
	}
	short := slices.Concat(s.setup, s.rest)
	t.Logf("%d lines of %d in %d runs:\n%s", len(short), len(lines), s.runs, strings.Join(short, "\n"))
	if len(short) >= 15 {
		t.Errorf("%d lines are left", len(short))
	}
	again := newTrial() // strictly, as the lab would read it
	forgetful(again)
	if g := again.run(short); g == nil || g.kind() != f.kind() {
		t.Errorf("the short script fails with %v, the long one with %v", g, f)
	}
	for i := range short {
		r := newTrial()
		forgetful(r)
		if g := r.run(slices.Delete(slices.Clone(short), i, i+1)); g != nil && g.kind() == f.kind() {
			t.Errorf("the short script still fails without its line %d: %s", i+1, short[i])
		}
	}
	if g := newTrial().run(short); g != nil {
		t.Errorf("without the fault it fails, too: %v", g)
	}
}
