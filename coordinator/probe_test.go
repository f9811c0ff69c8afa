package coordinator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"grouplab/coordinator/event"
)

// Whatever state the machine is in, whatever is asked, in any version, now or when timers are due by then: Probe says what
// Handle would, and changes nothing.
func TestProbeIsHandleOnACopy(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWalk(t, rapid.Uint64Range(0, 1<<40).Draw(r, "walk"))
		s := w.b.c.cfg.Settings
		s.OffsetsRetentionCheckIntervalMs = 0 // a probe does not run the clean-up job
		w.b.c.ConfigChanged(w.b.now, s)
		for range rapid.IntRange(0, 150).Draw(r, "steps") {
			w.step()
		}
		a := absurd{rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "requests"), 4))}
		for range 12 {
			q, ok := onWire(w.ordinaryOr(a))
			if !ok {
				continue
			}
			later := rapid.SampledFrom([]int64{0, 0, 1, 90, 700}).Draw(r, "later")
			if _, lists := q.(*kmsg.ListGroupsRequest); lists {
				later = 0 // and not the timers of groups that a request does not name
			}
			w.compareProbe(r, Request{Ticket: 5, ClientID: "p", ClientHost: "/127.0.0.1", Kmsg: q}, w.b.now+later)
			w.step()
		}
	})
}

// ordinaryOr is a request that makes sense, or one that need not.
func (w *walk) ordinaryOr(a absurd) kmsg.Request {
	if w.r.IntN(3) == 0 {
		return a.request()
	}
	q := w.anyRequest()
	q.SetVersion(min(q.MaxVersion(), int16(w.r.IntN(10))))
	if _, commits := q.(*kmsg.OffsetCommitRequest); commits {
		q.SetVersion(1 + int16(w.r.IntN(9)))
	}
	return q
}

func (w *walk) compareProbe(r *rapid.T, q Request, nowMs int64) {
	w.b.take()
	before := snapshot(w.b.c)
	got := w.b.c.Probe(nowMs, q)
	if after := snapshot(w.b.c); after != before {
		r.Fatalf("Probe of %T changed\n%s\nto\n%s", q.Kmsg, before, after)
	}
	k := w.copyOf(9).b
	k.hold = true
	q.Ticket = 1 << 40
	k.c.Handle(nowMs, q)
	k.take()
	reply := k.replies[q.Ticket]
	switch {
	case got.Parked != (reply == nil):
		r.Fatalf("%T %+v: probed %+v, answered %+v", q.Kmsg, q.Kmsg, got, reply)
	case got.Parked && got.Until == "":
		r.Fatalf("%T is parked until nothing", q.Kmsg)
	case !got.Parked && fmt.Sprint(got.Reply.AppendTo(nil)) != fmt.Sprint(reply.AppendTo(nil)):
		r.Fatalf("%T %+v: probed %+v, answered %+v", q.Kmsg, q.Kmsg, got.Reply, reply)
	case got.Code != 0 && got.Guard == "":
		r.Fatalf("%T is refused with %d by nobody", q.Kmsg, got.Code)
	}
	for _, e := range k.events[len(w.b.events):] {
		if told, ok := e.Body.(event.ReplySent); ok && told.Ticket == q.Ticket && (told.Code != got.Code || told.Guard != got.Guard) {
			r.Fatalf("%T: probed %d because %s, told %d because %s", q.Kmsg, got.Code, got.Guard, told.Code, told.Guard)
		}
	}
}

// A member whose session is over by then is described without it.
func TestProbeOfLaterLooks(t *testing.T) {
	b := newBench(t)
	b.oneStable(joinWith{})
	q := kmsg.NewPtrDescribeGroupsRequest()
	q.Version, q.Groups = 5, []string{groupID}
	for ms, want := range map[int64]string{0: "Stable", 499: "Stable", 500: "Empty"} {
		p := b.c.Probe(b.now+ms, Request{Kmsg: q})
		if d := p.Reply.(*kmsg.DescribeGroupsResponse).Groups[0]; d.State != want || (len(d.Members) == 0) != (want == "Empty") {
			t.Fatalf("%d ms later: %+v", ms, d)
		}
	}
	b.members(1)
}

// The session of a static member and the wait for it end in one millisecond. The session was armed first: the member is
// removed; had the wait ended first, it would have stayed. rapid found that Probe armed them in another order.
func TestProbeKeepsTheOrderOfTimers(t *testing.T) {
	b := newBench(t)
	member := joinWith{version: 9, instance: ptr("i")}
	ticket := b.join("m", member)
	b.advance(51)
	id := b.joined(ticket).MemberID
	b.synced(b.sync(id, 1, map[string]string{id: "0"}))
	b.inState(event.Stable)
	wantCode(t, "heartbeat", b.heartbeat(id, 1), 0)
	b.twoStep("second", joinWith{})
	q := kmsg.NewPtrDescribeGroupsRequest()
	q.Version, q.Groups = 5, []string{groupID}
	probed := b.c.Probe(b.now+500, Request{Kmsg: q}).Reply.(*kmsg.DescribeGroupsResponse).Groups[0].Members
	b.now += 500
	answered := b.describe(groupID, 5).Members
	if len(answered) != 1 || len(probed) != 1 || probed[0].MemberID != answered[0].MemberID {
		t.Fatalf("probed %+v, answered %+v", probed, answered)
	}
}
