package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/app"
	"grouplab/server/history"
)

// One script is done to real consumers, of Apache Kafka and of our own brokers, and what a watcher tells of it is held against
// what the clients noted themselves.

// play is a group of the script.
type play struct {
	group     string
	options   []kgo.Opt
	sessionMs int64
	modern    bool // KIP-848
	counted   bool // the watcher counts generations itself: it cannot read their numbers
}

// settledAt is who owned what when all was at rest.
type settledAt struct {
	step    string
	owner   map[int32]string
	records int // of rebalances, until then
}

// play does the script and returns what agreed.
func (k play) act(t testing.TB, addresses []string, watcher *app.Server) tally {
	t.Helper()
	w, acts, count := newWitness(), &acts{}, tally{}
	var rests []settledAt
	start := func(id string, more ...kgo.Opt) *mortal {
		acts.did("start", id)
		return live(t, addresses, id, k.group, slices.Concat([]kgo.Opt{kgo.ConsumeTopics("orders")}, k.options, w.options(id), more)...)
	}
	kill := func(id string, m *mortal) {
		acts.did("kill", id)
		m.kill()
		w.killed(id)
	}
	rest := func(step string, clients ...string) {
		t.Helper()
		eventually(t, time.Minute, func() error {
			truth, fair := w.now(clients)
			if told := last(events(t, watcher), k.group); !fair || told != fmt.Sprint(truth) {
				return fmt.Errorf("%s, %s: the clients have %v, the watcher says %s", k.group, step, truth, told)
			}
			return nil
		})
		count.add("who owns what at rest", verdictRight)
		all := events(t, watcher)
		r := settledAt{step: step, owner: map[int32]string{}, records: len(recordsOf(all, k.group))}
		truth, _ := w.now(clients)
		for client, parts := range truth {
			for _, p := range parts {
				r.owner[p] = client
			}
		}
		rests = append(rests, r)
		t.Logf("%-8s %-16s %s", k.group, step, last(all, k.group))
	}
	start("a")
	rest("first join", "a")
	b := start("b")
	rest("second join", "a", "b")
	kill("b", b)
	rest("kill", "a")
	c := start("c")
	rest("another join", "a", "c")
	acts.did("leave", "c")
	c.leave()
	rest("leave", "a")
	static := start("s", kgo.InstanceID("s"))
	rest("static join", "a", "s")
	kill("s", static)
	if k.modern { // its instance id is not released before its session is over
		rest("static kill", "a")
	}
	start("s", kgo.InstanceID("s"))
	rest("static restart", "a", "s")

	all := events(t, watcher)
	acts.causesOf(t, w, all, k, count)
	switch {
	case k.modern:
		w.epochs(t, all, k.group, count)
	case !k.counted:
		w.generations(t, all, k.group, *acts, k.sessionMs, count)
	}
	moves(t, all, k.group, rests, count)
	return count
}

// now are what clients own, and whether it is divided evenly.
func (w *witness) now(clients []string) (truth map[string][]int32, fair bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	truth, fair = map[string][]int32{}, true
	for _, id := range clients {
		truth[id] = slices.Clone(w.owns[id])
		fair = fair && len(w.owns[id]) == 6/len(clients)
	}
	return truth, fair
}

// recordsOf are the rebalances of a group as the page's strip has them.
func recordsOf(all []event.Event, group string) (list []event.GenerationRecorded) {
	h := history.New(history.Config{})
	for i := range all {
		h.Apply(&all[i])
	}
	for _, e := range h.Records(nil, group) {
		list = append(list, e.Body.(event.GenerationRecorded))
	}
	return list
}

// moves compares, from one rest to the next, how many partitions are told to have moved with how many got another client.
func moves(t testing.TB, all []event.Event, group string, rests []settledAt, count tally) {
	t.Helper()
	records := recordsOf(all, group)
	for i := 1; i < len(rests); i++ {
		truth, told := 0, 0
		for p, client := range rests[i].owner {
			if before := rests[i-1].owner[p]; before != "" && before != client {
				truth++
			}
		}
		for _, r := range records[rests[i-1].records:rests[i].records] {
			told += r.Moved
		}
		if told != truth {
			count.add("partitions moved", verdictWrong)
			t.Errorf("%s, %s: %d partitions have another client, %d are told to have moved", group, rests[i].step, truth, told)
			continue
		}
		count.add("partitions moved", verdictRight)
	}
}

// toldGeneration is one generation of a classic group as a watcher tells it.
type toldGeneration struct {
	owns                  map[string][]int32 // by client
	start, joined, stable span
}

// toldGenerations reads them out of events.
func toldGenerations(all []event.Event, group string) map[int32]*toldGeneration {
	client, list := clientsOf(all, group), map[int32]*toldGeneration{}
	at := func(n int32) *toldGeneration {
		if list[n] == nil {
			list[n] = &toldGeneration{}
		}
		return list[n]
	}
	for _, e := range all {
		when := span{e.AtMs, max(e.AtMs, e.AtHiMs)}
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.RebalanceStarted:
			at(b.Generation + 1).start = when
		case event.GenerationStarted:
			at(b.Generation).joined = when
		case event.AssignmentStored:
			g := at(b.Generation)
			if g.owns == nil { // a static member that is replaced stores it again
				g.stable = when
			}
			g.owns = map[string][]int32{}
			for _, a := range b.Assignments {
				g.owns[client[a.Member]] = ordersOf(a.Topics)
			}
		}
	}
	return list
}

// round is what the clients' requests say of one generation.
type round struct {
	joins, syncs []request
	owns         map[string][]int32 // what the callbacks said
}

// rounds are the generations as the clients were in them.
func (w *witness) rounds(a acts) map[int32]*round {
	list := map[int32]*round{}
	for _, sync := range w.requests("", 0, keySync) {
		g := list[sync.generation]
		if g == nil {
			g = &round{owns: map[string][]int32{}}
			list[sync.generation] = g
		}
		g.syncs = append(g.syncs, sync)
		var mine []request
		for _, join := range w.requests(sync.client, 0, keyJoin) {
			if join.answerMs <= sync.sentMs+1 {
				mine = append(mine, join)
			}
		}
		if len(mine) > 0 {
			g.joins = append(g.joins, mine[len(mine)-1])
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.said {
		g := list[s.generation]
		gone := slices.ContainsFunc(a, func(d deed) bool {
			return d.client == s.client && d.what != "start" && s.atMs >= d.atMs && d.atMs >= startedMs(a, s)
		})
		if g == nil || gone || s.what == "loses" || s.what == "gives back" && len(s.has) == 0 {
			continue
		}
		g.owns[s.client] = s.has
	}
	return list
}

// startedMs is when the client that says something was started last.
func startedMs(a acts, s saying) (ms int64) {
	for _, d := range a {
		if d.client == s.client && d.what == "start" && d.atMs <= s.atMs {
			ms = d.atMs
		}
	}
	return ms
}

// generations compares each generation that clients were in with what is told of it: its members, what each of them was given,
// and when its rebalance began, its join phase ended and its assignment was there.
func (w *witness) generations(t testing.TB, all []event.Event, group string, a acts, sessionMs int64, count tally) {
	t.Helper()
	told, truth := toldGenerations(all, group), w.rounds(a)
	verdict := func(what string, ok bool, format string, args ...any) {
		t.Helper()
		if ok {
			count.add(what, verdictRight)
			return
		}
		count.add(what, verdictWrong)
		t.Errorf("%s, %s: "+format, slices.Concat([]any{group, what}, args)...)
	}
	var before int64
	var were []string // the members of the generation before
	for _, n := range slices.Sorted(maps.Keys(truth)) {
		g, s := truth[n], told[n]
		if s == nil || s.owns == nil {
			verdict("generations", false, "generation %d is not told; the clients were in it: %+v", n, g.syncs)
			continue
		}
		count.add("generations", verdictRight)
		var members, names []string
		for _, r := range g.syncs {
			members = append(members, r.client)
		}
		slices.Sort(members)
		members = slices.Compact(members)
		names = slices.Sorted(maps.Keys(s.owns))
		verdict("members", slices.Equal(members, names), "generation %d has %v, told are %v", n, members, names)
		for client, has := range g.owns {
			verdict("assignments", slices.Equal(has, s.owns[client]), "generation %d gave %s %v, told are %v", n, client, has, s.owns[client])
		}
		joined, stable := span{0, g.joins[0].answerMs}, span{g.syncs[0].sentMs, g.syncs[0].answerMs}
		for _, r := range g.joins {
			joined.hi = min(joined.hi, r.answerMs)
		}
		for _, r := range g.joins {
			if r.sentMs <= joined.hi {
				joined.lo = max(joined.lo, r.sentMs)
			}
		}
		for _, r := range g.syncs {
			stable = span{min(stable.lo, r.sentMs), min(stable.hi, r.answerMs)}
		}
		verdict("ends of join phases, inside", joined.meets(s.joined), "generation %d: %v, told is %v", n, joined, s.joined)
		verdict("ends of rebalances, inside", stable.meets(s.stable), "generation %d: %v, told is %v", n, stable, s.stable)
		if began, ok := w.began(g, a, were, span{before, joined.hi}, sessionMs); ok {
			verdict("starts of rebalances, inside", began.meets(s.start), "generation %d: %v, told is %v", n, began, s.start)
			t.Logf("%-8s generation %2d: began %+d to %+d ms of what its clients felt, joined %+d, stable %+d", group, n, s.start.lo-began.lo, s.start.hi-began.lo, s.joined.lo-joined.lo, s.stable.lo-stable.lo)
		}
		before, were = stable.hi, members
	}
	for n, s := range told {
		if truth[n] == nil && len(s.owns) > 0 {
			verdict("generations", false, "generation %d is told, and no client was in it: %v", n, s.owns)
		}
	}
}

// began is the first thing that somebody did which starts a rebalance, after the generation before had settled: a join, or the end of
// one of its members.
func (w *witness) began(g *round, a acts, members []string, within span, sessionMs int64) (first span, ok bool) {
	afterMs, beforeMs := within.lo, within.hi
	var all []span
	for _, r := range g.joins {
		if r.sentMs >= afterMs {
			all = append(all, span{r.sentMs, r.sentMs + tickMs})
		}
	}
	for _, d := range a {
		back := slices.ContainsFunc(a, func(y deed) bool { return y.client == d.client && y.what == "start" && y.atMs > d.atMs })
		if d.what == "start" || d.what == "kill" && back || !slices.Contains(members, d.client) {
			continue
		}
		if s, known := w.of(d, sessionMs); known && (d.what == "kill" || s.lo >= afterMs) {
			all = append(all, s)
		}
	}
	for _, s := range all {
		if s.hi >= afterMs && s.lo <= beforeMs && (!ok || s.lo < first.lo) {
			first, ok = s, true
		}
	}
	return first, ok
}

// epochs compares each epoch that a member of a KIP-848 group was in, and each assignment that it was given, with what is told.
func (w *witness) epochs(t testing.TB, all []event.Event, group string, count tally) {
	t.Helper()
	type told struct {
		span
		body event.MemberReconciled
	}
	steps, known := map[string][]told{}, map[string]bool{}
	for _, e := range all {
		if b, is := e.Body.(event.MemberReconciled); is && e.Group == group {
			steps[b.Member] = append(steps[b.Member], told{span{e.AtMs, max(e.AtMs, e.AtHiMs)}, b})
		}
	}
	for _, r := range w.requests("", 0, keyModern) {
		id := fmt.Sprint(r.member, " ", r.generation)
		if r.generation < 1 || known[id] {
			continue
		}
		known[id] = true
		if !slices.ContainsFunc(steps[r.member], func(s told) bool { return s.body.Epoch == r.generation }) {
			count.add("members in epochs", verdictWrong)
			t.Errorf("%s: %s was member %s of epoch %d, told are %+v", group, r.client, r.member, r.generation, steps[r.member])
			continue
		}
		count.add("members in epochs", verdictRight)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.said {
		if s.what != "gets" {
			continue
		}
		if slices.ContainsFunc(steps[s.member], func(x told) bool { return x.lo <= s.atMs+slackMs && slices.Equal(ordersOf(x.body.Assigned), s.has) }) {
			count.add("assignments", verdictRight)
			continue
		}
		count.add("assignments", verdictWrong)
		t.Errorf("%s: %s was given %v as %s; told before are %+v", group, s.client, s.has, s.member, steps[s.member])
	}
}

// plays are the groups of the script for brokers with classic groups.
func plays(counted bool) []play {
	return []play{
		{group: "range", options: []kgo.Opt{kgo.Balancers(kgo.RangeBalancer())}, sessionMs: 2000, counted: counted},
		{group: "coop", options: []kgo.Opt{kgo.Balancers(kgo.CooperativeStickyBalancer())}, sessionMs: 2000, counted: counted},
	}
}

// TestAttachAgreesInBothModes: on our own brokers, whoever reads __consumer_offsets and whoever may only ask tell of the same script
// what the clients noted themselves; who reads tells the machine's own generations, too.
func TestAttachAgreesInBothModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"log", "poll"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, p := behindTap(t)
			if mode == "poll" {
				p.inject(deny)
			}
			watcher := attachTo(t, p.first, nil)
			if mode == "log" {
				read(t, watcher, 50)
			} else {
				lost(t, watcher, "__consumer_offsets", "")
			}
			sum := tally{}
			for _, k := range plays(mode == "poll") {
				k.act(t, s.KafkaAddrs(), watcher).into(sum)
				if mode == "log" {
					agree(t, s, watcher, k.group)
				}
			}
			t.Logf("our own brokers, %s:\n%v", mode, sum)
			p.check(t)
		})
	}
}

// deny has the brokers refuse to let __consumer_offsets be read.
func deny(_ int, answer kmsg.Response) bool {
	if r, is := answer.(*kmsg.FetchResponse); is {
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				r.Topics[i].Partitions[j].ErrorCode, r.Topics[i].Partitions[j].RecordBatches = kerr.TopicAuthorizationFailed.Code, nil
			}
		}
	}
	return true
}
