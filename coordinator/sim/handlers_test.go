package sim

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// stable is a world in which c1 is the only member of its group and has had its positions for a second.
func stable(t *testing.T) (*World, *consumer) {
	t.Helper()
	w, err := New(Config{Seed: 1, Set: []Setting{{"group.initial.rebalance.delay.ms", "0"}, {"offsets.topic.num.partitions", "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	must(t, w.CreateTopic("orders", 2))
	must(t, w.AddConsumer(ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}}))
	must(t, w.Start("c1"))
	w.AdvanceTo(2000)
	c := w.find("c1")
	if c.state != event.Joined || len(c.assigned) != 2 || !c.consumed() {
		t.Fatalf("c1 did not come up: %+v", c)
	}
	w.Take()
	return w, c
}

// joining is stable, then asked to join again: its JoinGroup is on the wire.
func joining(t *testing.T) (*World, *consumer, *call) {
	t.Helper()
	w, c := stable(t)
	c.requestRejoin(w, "test")
	c.cfg.AutoCommitMs = -1 // no commit in between
	w.run(c)
	if c.state != event.Rebalancing || c.joinCall == 0 {
		t.Fatalf("c1 does not join: %s, %d", c.state, c.joinCall)
	}
	k := w.calls[c.joinCall]
	w.Take()
	return w, c, k
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kinds(events []event.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Body.Kind())
	}
	return list
}

func has(events []event.Event, kind string) bool { return slices.Contains(kinds(events), kind) }

// reaction is what a client is like after an answer.
type reaction struct {
	state       event.ClientState
	member      bool // it still has its member id
	coordinator bool // it still believes in its coordinator
	backoff     bool // it waits for retry.backoff.ms
	joins       bool // it sends JoinGroup at once
	failed      bool // it gives up with an exception
}

// after runs the client on and describes it.
func after(w *World, c *consumer) reaction {
	r := reaction{state: c.state, member: c.memberID != "", coordinator: c.coordinator != 0, backoff: w.nowMs < c.backoffUntilMs}
	w.run(c)
	events := w.Take()
	r.failed = has(events, "ClientFailed")
	for _, e := range events {
		if b, ok := e.Body.(event.RequestSent); ok && b.API == joinGroupKey {
			r.joins = true
		}
	}
	return r
}

// Every branch of JoinGroupResponseHandler.
func TestJoinGroupErrors(t *testing.T) {
	for _, x := range []struct {
		err  *kerr.Error
		want reaction
	}{
		{kerr.CoordinatorLoadInProgress, reaction{state: event.Unjoined, member: true, coordinator: true, backoff: true}},
		{kerr.UnknownMemberID, reaction{state: event.Unjoined, coordinator: true, joins: true}},
		{kerr.CoordinatorNotAvailable, reaction{state: event.Unjoined, member: true, backoff: true}},
		{kerr.NotCoordinator, reaction{state: event.Unjoined, member: true, backoff: true}},
		{kerr.MemberIDRequired, reaction{state: event.Unjoined, member: true, coordinator: true, joins: true}},
		// The fatal ones: the application lets the exception through and closes, which forgets the member id.
		{kerr.FencedInstanceID, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.InconsistentGroupProtocol, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.InvalidSessionTimeout, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.InvalidGroupID, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.GroupAuthorizationFailed, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.GroupMaxSizeReached, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.UnsupportedVersion, reaction{state: event.Unjoined, coordinator: true, failed: true}},
		{kerr.InvalidRequest, reaction{state: event.Unjoined, coordinator: true, failed: true}},
	} {
		t.Run(x.err.Message, func(t *testing.T) {
			w, c, k := joining(t)
			before := c.memberID
			r := kmsg.NewPtrJoinGroupResponse()
			r.ErrorCode, r.MemberID = x.err.Code, "c1-new"
			k.reply, k.code = r, r.ErrorCode
			w.receive(c, k)
			if x.err == kerr.MemberIDRequired && c.memberID != "c1-new" {
				t.Errorf("it goes on as %q, not with the id that it was given", c.memberID)
			}
			if x.want.member && x.err != kerr.MemberIDRequired && c.memberID != before {
				t.Errorf("its member id became %q", c.memberID)
			}
			got := after(w, c)
			if !x.want.failed && got != x.want {
				t.Errorf("got  %+v\nwant %+v", got, x.want)
			}
			if x.want.failed && (!got.failed || c.phase == running || got.joins) {
				t.Errorf("it does not give up: %+v, phase %d", got, c.phase)
			}
		})
	}
}

// Every branch of SyncGroupResponseHandler.
func TestSyncGroupErrors(t *testing.T) {
	for _, x := range []struct {
		err  *kerr.Error
		want reaction
	}{
		{kerr.RebalanceInProgress, reaction{state: event.Unjoined, member: true, coordinator: true, joins: true}},
		{kerr.UnknownMemberID, reaction{state: event.Unjoined, coordinator: true, joins: true}},
		{kerr.IllegalGeneration, reaction{state: event.Unjoined, coordinator: true, joins: true}},
		{kerr.CoordinatorNotAvailable, reaction{state: event.Unjoined, member: true, backoff: true}},
		{kerr.NotCoordinator, reaction{state: event.Unjoined, member: true, backoff: true}},
		{kerr.GroupAuthorizationFailed, reaction{failed: true}},
		{kerr.FencedInstanceID, reaction{failed: true}},
		{kerr.CoordinatorLoadInProgress, reaction{failed: true}},
	} {
		t.Run(x.err.Message, func(t *testing.T) {
			w, c, k := joining(t)
			r := kmsg.NewPtrJoinGroupResponse()
			r.Generation, r.MemberID, r.LeaderID = 9, c.memberID, "c9-0000"
			k.reply = r
			w.receive(c, k)
			sync := w.calls[c.joinCall]
			if q, ok := sync.req.(*kmsg.SyncGroupRequest); !ok || q.Generation != 9 || len(q.GroupAssignment) != 0 {
				t.Fatalf("a follower sends an empty SyncGroup of the new generation, not %+v", sync.req)
			}
			w.Take()
			s := kmsg.NewPtrSyncGroupResponse()
			s.ErrorCode = x.err.Code
			sync.reply, sync.code = s, s.ErrorCode
			w.receive(c, sync)
			if !c.rejoinNeeded {
				t.Error("whatever the error, it must join again")
			}
			got := after(w, c)
			if !x.want.failed && got != x.want {
				t.Errorf("got  %+v\nwant %+v", got, x.want)
			}
			if x.want.failed && (!got.failed || got.joins) {
				t.Errorf("it does not give up: %+v", got)
			}
		})
	}
}

func TestHeartbeatErrors(t *testing.T) {
	for _, x := range []struct {
		err  *kerr.Error
		want reaction
		lost bool // it gives its partitions up as lost, not as revoked
	}{
		{kerr.RebalanceInProgress, reaction{state: event.Joined, member: true, coordinator: true, joins: true}, false},
		{kerr.UnknownMemberID, reaction{state: event.Unjoined, coordinator: true, joins: true}, true},
		{kerr.IllegalGeneration, reaction{state: event.Unjoined, coordinator: true, joins: true}, true},
		{kerr.NotCoordinator, reaction{state: event.Joined, member: true}, false},
		{kerr.CoordinatorNotAvailable, reaction{state: event.Joined, member: true}, false},
		{kerr.FencedInstanceID, reaction{failed: true}, false},
		{kerr.GroupAuthorizationFailed, reaction{failed: true}, false},
	} {
		t.Run(x.err.Message, func(t *testing.T) {
			w, c := stable(t)
			c.cfg.AutoCommitMs = -1
			w.AdvanceTo(c.heartbeat.nextMs)
			var k *call
			for _, each := range w.calls {
				if each.api() == heartbeatKey {
					k = each
				}
			}
			if k == nil {
				t.Fatal("no heartbeat is on the wire")
			}
			w.Take()
			r := kmsg.NewPtrHeartbeatResponse()
			r.ErrorCode = x.err.Code
			k.reply, k.code = r, r.ErrorCode
			w.receive(c, k)
			state, member, coordinator := c.state, c.memberID != "", c.coordinator != 0
			w.run(c)
			events := w.Take()
			got := reaction{state: state, member: member, coordinator: coordinator, failed: has(events, "ClientFailed")}
			lost := false
			for _, e := range events {
				switch b := e.Body.(type) {
				case event.RequestSent:
					got.joins = got.joins || b.API == joinGroupKey
				case event.ClientRevoked:
					lost = b.Lost
				}
			}
			if x.want.failed && got.failed && !got.joins {
				return
			}
			if got != x.want || lost != x.lost {
				t.Errorf("got  %+v, lost %v\nwant %+v, lost %v", got, lost, x.want, x.lost)
			}
		})
	}
}

// A client that was woken up in mid-join and left does not go on to SyncGroup when the answer comes.
func TestWokenUpInMidJoin(t *testing.T) {
	w, c, k := joining(t)
	must(t, w.Stop("c1"))
	if c.state != event.Unjoined || c.memberID != "" {
		t.Fatalf("it left, and believes %s as %q", c.state, c.memberID)
	}
	r := kmsg.NewPtrJoinGroupResponse()
	r.Generation, r.MemberID = 9, "c1-any"
	k.reply = r
	w.receive(c, k)
	events := w.Take()
	if !has(events, "RequestFailed") || c.generation == 9 {
		t.Errorf("UnjoinedGroupException was to be raised: %v", kinds(events))
	}
	for _, e := range events {
		if b, ok := e.Body.(event.RequestSent); ok && b.API == syncGroupKey {
			t.Error("it sends SyncGroup though it has left")
		}
	}
}

// A late heartbeat answer in mid-join throws the client out of its join: it backs off and joins as nobody.
func TestThrownOutInMidJoin(t *testing.T) {
	w, c, k := joining(t)
	c.resetGeneration(w, "a late answer")
	r := kmsg.NewPtrJoinGroupResponse()
	r.Generation, r.MemberID = 9, "c1-any"
	k.reply = r
	w.receive(c, k)
	got := after(w, c)
	if want := (reaction{state: event.Unjoined, coordinator: true, backoff: true}); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What arrives behind a parked JoinGroup on the same connection is not read before that is answered.
func TestAParkedRequestMutesItsConnection(t *testing.T) {
	w, err := New(Config{Seed: 3, Set: []Setting{{"group.initial.rebalance.delay.ms", "5000"}}})
	must(t, err)
	must(t, w.CreateTopic("orders", 2))
	must(t, w.AddConsumer(ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}}))
	must(t, w.Start("c1"))
	w.AdvanceTo(1000)
	parked := false
	for _, e := range w.Take() {
		if b, ok := e.Body.(event.ReplyParked); ok && b.API == joinGroupKey {
			parked = true
		}
	}
	if !parked {
		t.Fatal("the JoinGroup is not parked")
	}
	must(t, w.Stop("c1"))
	w.AdvanceTo(4000)
	for _, e := range w.Take() {
		if b, ok := e.Body.(event.RequestReceived); ok && b.API == leaveGroupKey {
			t.Fatalf("LeaveGroup was read at %d ms, behind a JoinGroup that is parked until about 5 s", e.AtMs)
		}
	}
	w.AdvanceTo(7000)
	order := []int16{}
	for _, e := range w.Take() {
		if b, ok := e.Body.(event.ReplySent); ok {
			order = append(order, b.API)
		}
	}
	if !slices.Equal(order, []int16{joinGroupKey, leaveGroupKey}) {
		t.Errorf("answers in the order %v, want JoinGroup, LeaveGroup", order)
	}
	if c := w.find("c1"); c.phase != off {
		t.Errorf("c1 has not ended: phase %d", c.phase)
	}
}

// The commit before a rejoin has the rebalance timeout; after that the client goes on without it, even where it knows no
// coordinator.
func TestACommitBeforeRejoiningGivesUp(t *testing.T) {
	w, c := stable(t)
	c.cfg.RebalanceTimeoutMs = 3000
	for _, id := range []int32{1, 2, 3} {
		must(t, w.KillBroker(id))
	}
	c.requestRejoin(w, "test")
	w.run(c)
	began := w.NowMs()
	w.AdvanceTo(began + 10_000)
	for _, e := range w.Take() {
		if _, ok := e.Body.(event.ClientRevoked); ok {
			if e.AtMs < began+3000 || e.AtMs > began+3200 {
				t.Errorf("it gave its partitions up at %d ms; the commit may take until %d ms", e.AtMs, began+3000)
			}
			return
		}
	}
	t.Error("it never gave its partitions up")
}
