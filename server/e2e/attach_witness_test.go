package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/event"
)

// witness is what the clients of one group noted themselves: each request with its times, and what they were given as which
// member of which generation.
type witness struct {
	mu    sync.Mutex
	owns  map[string][]int32 // by client, of orders
	said  []saying
	asked []request
	lives map[string]*ear // the process that goes by a client's name: what one says after it was killed nobody else knows
}

// saying is one callback of a client.
type saying struct {
	atMs           int64
	client, member string
	generation     int32 // of a KIP-848 group the member's epoch
	what           string
	has            []int32
}

// request is one that a client sent, and had answered. Member and generation are those that it had when the answer came.
type request struct {
	client, member   string
	generation       int32
	key              int16
	sentMs, answerMs int64
}

const keyCommit, keyJoin, keyHeartbeat, keyLeave, keySync, keyModern = 8, 11, 12, 13, 14, 68

func newWitness() *witness { return &witness{owns: map[string][]int32{}, lives: map[string]*ear{}} }

// ear is a client's hook, of one process.
type ear struct {
	w      *witness
	name   string
	client atomic.Pointer[kgo.Client]
}

func (e *ear) OnNewClient(cl *kgo.Client) { e.client.Store(cl) }

func (e *ear) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, took kgo.BrokerE2E) {
	cl := e.client.Load()
	if cl == nil || took.Err() != nil || !slices.Contains([]int16{keyCommit, keyJoin, keyHeartbeat, keyLeave, keySync, keyModern}, key) {
		return
	}
	now := time.Now()
	r := request{client: e.name, key: key, sentMs: now.Add(-took.DurationE2E()).UnixMilli(), answerMs: now.UnixMilli()}
	r.member, r.generation = cl.GroupMetadata()
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	if e.w.lives[e.name] == e {
		e.w.asked = append(e.w.asked, r)
	}
}

// options have a client tell the witness.
func (w *witness) options(client string) []kgo.Opt {
	e := &ear{w: w, name: client}
	w.mu.Lock()
	w.lives[client] = e
	w.mu.Unlock()
	note := func(what string, change func(have []int32, parts []int32) []int32) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, cl *kgo.Client, topics map[string][]int32) {
			member, generation := cl.GroupMetadata()
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.lives[client] != e {
				return
			}
			w.owns[client] = change(w.owns[client], topics["orders"])
			slices.Sort(w.owns[client])
			w.said = append(w.said, saying{time.Now().UnixMilli(), client, member, generation, what, slices.Clone(w.owns[client])})
		}
	}
	without := func(have, parts []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(have), func(p int32) bool { return slices.Contains(parts, p) })
	}
	return []kgo.Opt{kgo.WithHooks(e),
		kgo.OnPartitionsAssigned(note("gets", func(have, parts []int32) []int32 { return append(without(have, parts), parts...) })),
		kgo.OnPartitionsRevoked(note("gives back", without)), kgo.OnPartitionsLost(note("loses", without))}
}

// killed notes that a client says nothing from now on.
func (w *witness) killed(client string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lives, client)
	delete(w.owns, client)
}

// span is a time that is known within bounds.
type span struct{ lo, hi int64 }

// slackMs is how far apart the clocks of one machine may be read for the same moment, tickMs how late an expired timer may run
// and a request that was sent be read, on a busy machine.
const slackMs, tickMs = 25, 400

func (s span) meets(o span) bool { return s.lo-slackMs <= o.hi && o.lo <= s.hi+slackMs }

// requests are those of a client with one of the keys that were sent from a time on, in the order of their answers.
func (w *witness) requests(client string, fromMs int64, keys ...int16) (list []request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if (client == "" || r.client == client) && r.sentMs >= fromMs && slices.Contains(keys, r.key) {
			list = append(list, r)
		}
	}
	return list
}

// of is when the coordinator felt a deed, as the client's own requests bound it: the JoinGroup that made it a member, its
// LeaveGroup, or the end of its session after the last request that renewed it. ok is false where the client said nothing.
func (w *witness) of(d deed, sessionMs int64) (s span, ok bool) {
	switch d.what {
	case "start":
		joins := w.requests(d.client, d.atMs, keyJoin, keyModern)
		if len(joins) == 0 {
			return s, false
		}
		first := joins[0]
		if len(joins) > 1 && first.key == keyJoin && first.member == "" && first.answerMs-first.sentMs < 1000 && joins[1].sentMs-first.answerMs < 1000 {
			return span{first.sentMs, joins[1].sentMs + tickMs}, true // MEMBER_ID_REQUIRED (KIP-394), then the join itself
		}
		return span{first.sentMs, first.sentMs + tickMs}, true
	case "leave":
		for _, r := range w.requests(d.client, d.atMs, keyLeave, keyModern) {
			s = span{cmp.Or(s.lo, r.sentMs), r.answerMs}
		}
		return s, s.lo > 0
	}
	for _, r := range w.requests(d.client, 0, keyCommit, keyJoin, keyHeartbeat, keySync, keyModern) {
		if r.sentMs <= d.atMs && r.answerMs <= d.atMs+tickMs {
			s = span{r.sentMs + sessionMs, d.atMs + sessionMs + tickMs} // a request may have arrived whose answer did not
		}
	}
	return s, s.lo > 0
}

// acts are what was done to the clients, in the order of time.
type acts []deed

type deed struct {
	what, client string
	atMs         int64
}

func (a *acts) did(what, client string) { *a = append(*a, deed{what, client, time.Now().UnixMilli()}) }

// step is a generation or an epoch as it is told.
type step struct {
	number int32
	why    event.Why
	client string
	sure   event.Confidence
	at     span
}

// clientsOf are the client ids of a group's members, as they are told.
func clientsOf(all []event.Event, group string) map[string]string {
	client := map[string]string{}
	for _, e := range all {
		if e.Group == group {
			switch b := e.Body.(type) {
			case event.MemberAdded:
				client[b.Member] = cmp.Or(b.ClientID, client[b.Member])
			case event.MemberReplaced:
				client[b.Member] = cmp.Or(b.ClientID, client[b.Old])
			}
		}
	}
	return client
}

// stepsOf reads them out of what a watcher tells.
func stepsOf(all []event.Event, group string) (list []step) {
	client := clientsOf(all, group)
	for _, e := range all {
		if b, is := e.Body.(event.CauseInferred); is && e.Group == group {
			list = slices.DeleteFunc(list, func(s step) bool { return s.number == b.Generation && b.Generation >= 0 }) // corrected
			list = append(list, step{b.Generation, b.Why, client[b.Member], b.Confidence, span{e.AtMs, max(e.AtMs, e.AtHiMs)}})
		}
	}
	return list
}

// causes are what each act may be told as.
var causes = map[string][]event.Why{
	"start": {event.WhyFirstMember, event.WhyNewMember, event.WhyStaticRestarted},
	"kill":  {event.WhySessionExpired},
	"leave": {event.WhyMemberLeft},
}

// ends are what the end of a member may be taken for.
var ends = []event.Why{event.WhySessionExpired, event.WhyMemberLeft, event.WhyMembersGone}

// tally counts what was held against the clients' own notes, by what it is: right, wrong, and told with doubt or not at all.
type tally map[string]*[3]int

func (y tally) add(what string, verdict int) {
	if y[what] == nil {
		y[what] = &[3]int{}
	}
	y[what][verdict]++
}

const verdictRight, verdictWrong, verdictOpen = 0, 1, 2

func (y tally) String() string {
	var rows []string
	for _, what := range slices.Sorted(maps.Keys(y)) {
		n := y[what]
		rows = append(rows, fmt.Sprintf("%-34s %3d right %3d wrong %3d not told or with doubt", what, n[verdictRight], n[verdictWrong], n[verdictOpen]))
	}
	return strings.Join(rows, "\n")
}

// into adds the counts to others.
func (y tally) into(all tally) {
	for what, n := range y {
		for verdict, count := range n {
			for range count {
				all.add(what, verdict)
			}
		}
	}
}

// causesOf holds each cause that is told against what was done, and prints a table. One that is surely told must be that of an
// act, and its time meet that in which the client's own requests say that the coordinator felt it. Each act must be told, but
// for a kill after which a static member comes back in time, and for what lies between two looks of somebody who may only ask; a
// cause that is told with doubt tells of the end of its member, whatever it takes it for: a leave after a long silence looks like
// a session that ran out.
func (a acts) causesOf(t testing.TB, w *witness, all []event.Event, k play, count tally) {
	t.Helper()
	told := map[int]bool{}
	for _, s := range stepsOf(all, k.group) {
		found, guessed := -1, -1
		var felt span
		for i, x := range a {
			at, ok := w.of(x, k.sessionMs)
			if !ok || x.client != s.client || !at.meets(s.at) {
				continue
			}
			if slices.Contains(causes[x.what], s.why) {
				if found < 0 || told[found] { // of two that it may be, the first that nothing has told yet
					found, felt = i, at
				}
			} else if s.sure != event.High && x.what != "start" && slices.Contains(ends, s.why) {
				guessed, felt = i, at
			}
		}
		verdict, of := "open", "nothing that was done"
		switch {
		case found >= 0:
			told[found], verdict = true, "agrees"
			of = fmt.Sprintf("%s of %s, %+d to %+d ms", a[found].what, a[found].client, s.at.lo-felt.lo, s.at.hi-felt.lo)
			count.add("causes", verdictRight)
		case guessed >= 0:
			told[guessed] = true
			of = fmt.Sprintf("perhaps the %s of %s", a[guessed].what, a[guessed].client)
			count.add("causes", verdictOpen)
		case s.sure == event.High && s.why != event.WhySecondStep:
			verdict = "WRONG"
			count.add("causes", verdictWrong)
			t.Errorf("%s, generation %d: surely %s by %s from %d to %d, and that was not felt then: %v", k.group, s.number, s.why, s.client, s.at.lo, s.at.hi, a)
		default:
			count.add("causes", verdictOpen)
		}
		t.Logf("%-8s generation %2d: %-24s %-3s %-6v %-6s %s", k.group, s.number, s.why, s.client, s.sure, verdict, of)
	}
	for i, x := range a {
		back := slices.ContainsFunc(a[i+1:], func(y deed) bool { return y.client == x.client && y.what == "start" })
		before := slices.ContainsFunc(a[:i], func(y deed) bool { return y.client == x.client && y.what == "kill" })
		switch {
		case told[i] || x.what == "kill" && back || before:
		case k.counted:
			count.add("causes", verdictOpen)
		default:
			t.Errorf("%s: the %s of %s is told by no cause: %v", k.group, x.what, x.client, a)
		}
	}
}

// last are who owns what at the end of the events, by client id; the clients are found by their members.
func last(all []event.Event, group string) string {
	client, owns := clientsOf(all, group), map[string][]int32{}
	var assigned map[string][]int32
	for _, e := range all {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.AssignmentStored:
			assigned = map[string][]int32{}
			for _, a := range b.Assignments {
				assigned[client[a.Member]] = ordersOf(a.Topics)
			}
		case event.MemberReconciled:
			owns[client[b.Member]] = ordersOf(b.Assigned)
		case event.MemberRemoved:
			delete(owns, client[b.Member])
		}
	}
	if len(owns) > 0 {
		assigned = owns
	}
	return fmt.Sprint(assigned)
}

// ordersOf are the partitions of orders.
func ordersOf(list []event.TopicPartitions) (out []int32) {
	for _, t := range list {
		if t.Topic == "orders" {
			out = append(out, t.Partitions...)
		}
	}
	slices.Sort(out)
	return out
}
