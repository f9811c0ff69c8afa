package coordinator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// walk drives a machine with requests and time as a seed says: joins, syncs, heartbeats, commits, leaves, appends that
// succeed late or fail, a partition that is lost and loaded. It keeps what the clients know.
type walk struct {
	b     *bench
	r     *rand.Rand
	ids   []string
	epoch int32
	log   []LoadedBatch
}

func newWalk(t testing.TB, seed uint64) *walk {
	w := &walk{b: newBench(t), r: rand.New(rand.NewPCG(seed, 1)), epoch: 1}
	w.b.hold = true
	s := caseSettings()
	s.OffsetsRetentionCheckIntervalMs = 1500
	if seed%2 == 1 {
		s.GroupMaxSize = 4
	}
	w.b.c.ConfigChanged(w.b.now, s)
	return w
}

// instance is mostly none.
func (w *walk) instance() *string {
	if n := w.r.IntN(9); n < 3 {
		return ptr(fmt.Sprint("i", n))
	}
	return nil
}

func (w *walk) generation() int32 {
	g := w.b.c.groups[groupID]
	if g == nil || w.r.IntN(10) == 0 {
		return int32(w.r.IntN(4))
	}
	return g.generation
}

func (w *walk) id() string {
	if len(w.ids) == 0 || w.r.IntN(12) == 0 {
		return []string{"", "stranger"}[w.r.IntN(2)]
	}
	return w.ids[w.r.IntN(len(w.ids))]
}

// step does one thing.
func (w *walk) step() {
	b, r := w.b, w.r
	switch n := r.IntN(100); {
	case n < 14:
		lists := [][]kmsg.JoinGroupRequestProtocol{protocolList("range"), protocolList("range", "x"), protocolList("x", "range")}
		j := joinWith{version: int16(r.IntN(10)), id: w.id(), protocols: lists[r.IntN(3)],
			session: int32(100 + r.IntN(900)), rebalance: int32(100 + r.IntN(900)), instance: w.instance()}
		if j.instance != nil && r.IntN(2) == 0 {
			j.id = ""
		}
		ticket := b.join("m", j)
		if resp, ok := b.replies[ticket].(*kmsg.JoinGroupResponse); ok && resp.MemberID != "" {
			w.ids = append(w.ids, resp.MemberID)
		}
	case n < 26:
		b.sync(w.id(), w.generation(), map[string]string{w.id(): "0", w.id(): "1"})
	case n < 46:
		b.heartbeat(w.id(), w.generation())
	case n < 57:
		id := w.id()
		c := commitWith{version: int16(2 + r.IntN(8)), id: &id, generation: w.generation(), offsets: map[int32]int64{int32(r.IntN(10)): int64(r.IntN(99))}}
		if r.IntN(3) == 0 {
			c.retention = int64(r.IntN(900))
		}
		if r.IntN(8) == 0 {
			c.id, c.generation = ptr(""), -1
		}
		b.commit(c)
	case n < 63:
		w.rare()
	case n < 66:
		if i := w.instance(); i != nil {
			b.leaveEntries(groupID, leaver{[]string{"", w.id()}[r.IntN(2)], i}, leaver{w.id(), nil})
		} else {
			b.leave(groupID, int16(r.IntN(6)), w.id())
		}
	case n < 78:
		w.finish()
	case n < 80:
		w.fail()
	case n < 98:
		b.advance(int64(r.IntN(120)))
	case n < 99 && r.IntN(4) == 0:
		w.reload()
	default:
		b.describe(groupID, 5)
		b.fetchGroup(groupID, true, "topic", 0, 1)
	}
	for _, g := range b.c.groups { // ids that were given with a direct join
		for _, m := range g.members {
			if len(w.ids) < 8 {
				w.ids = append(w.ids, m.id)
			}
		}
	}
	if len(w.ids) > 8 {
		w.ids = w.ids[len(w.ids)-8:]
	}
}

// rare does what happens seldom: transactions, their markers, deletions.
func (w *walk) rare() {
	b, r := w.b, w.r
	switch n := r.IntN(16); {
	case n < 6:
		t := txnWith{producer: w.producer(), epoch: int16(r.IntN(2)), topic: []string{"topic", "foo"}[r.IntN(2)],
			offsets: map[int32]int64{int32(r.IntN(3)): int64(r.IntN(99)), int32(3 + r.IntN(3)): int64(r.IntN(99))}}
		if r.IntN(2) == 0 {
			t.id, t.generation, t.instance = w.id(), ptr(w.generation()), w.instance()
		}
		b.send("p", t.request())
	case n < 9:
		for _, ticket := range slices.Sorted(maps.Keys(b.c.verifications)) {
			b.c.Verified(b.now, ticket, []int16{0, 0, 0, 48}[r.IntN(4)])
			b.take()
		}
	case n < 13:
		producer, commit := w.producer(), r.IntN(2) == 0
		if slices.ContainsFunc(b.held, func(a Append) bool { return a.ProducerID == producer }) {
			return
		}
		kind := byte(0)
		if commit {
			kind = 1
		}
		w.log = append(w.log, markerBatch(b.offset, producer, kind))
		b.offset++
		b.c.TxnMarker(b.now, Marker{ProducerID: producer, Commit: commit})
		b.take()
	case n < 14:
		b.askDeleteOffsets(groupID, at{"topic", int32(r.IntN(10))}, at{"foo", int32(r.IntN(6))})
	case n < 15:
		b.askDeleteGroups(groupID, "missing")
	default:
		b.c.TopicsDeleted(b.now, []string{"foo"})
		b.take()
	}
}

func (w *walk) producer() int64 { return 1000 + int64(w.r.IntN(2)) }

func (w *walk) finish() {
	if len(w.b.held) == 0 {
		return
	}
	a := w.b.held[0]
	w.b.held = w.b.held[1:]
	batch := batchAt(w.b.offset, a.Records...)
	batch.Transactional, batch.ProducerID, batch.ProducerEpoch = a.Transactional, a.ProducerID, a.ProducerEpoch
	w.log = append(w.log, batch)
	w.b.acknowledge(a, 0)
	w.b.take()
}

func (w *walk) fail() {
	if len(w.b.held) == 0 {
		return
	}
	a := w.b.held[0]
	w.b.held = w.b.held[1:]
	w.b.acknowledge(a, []int16{7, 3, 6, 10}[w.r.IntN(4)])
	w.b.take()
}

func (w *walk) reload() {
	w.epoch++
	w.b.c.Emigrate(w.b.now, 0, w.epoch)
	w.b.take()
	w.epoch++
	w.b.load(0, w.epoch, w.log...)
}

// checkInvariants are what must hold between any two inputs.
func (w *walk) checkInvariants() {
	c, t := w.b.c, w.b.t
	live := map[int32]bool{}
	for id, g := range c.groups {
		awaiting, pendingSync, instances := 0, 0, 0
		if c.groupSlots[g.slot] != g || g.id != id || g.state == event.Dead {
			t.Fatalf("%s is not where it should be", id)
		}
		for _, m := range g.members {
			live[m.slot] = true
			if m.join.waits {
				awaiting++
			}
			if m.pendingSync {
				pendingSync++
			}
			for _, p := range m.protocols {
				if n := supporters(g, p.name); g.supporters[p.name] != n {
					t.Fatalf("%d know %s, %d said", n, p.name, g.supporters[p.name])
				}
			}
			if g.byID[m.id] != m || c.memberSlots[m.slot] != m || m.gone || m.pending {
				t.Fatalf("%s is not where it should be", m.id)
			}
			if m.session.op.Number == 0 && !m.join.waits && !m.sync.waits {
				t.Fatalf("%s has no timer and waits for nothing", m.id)
			}
			if m.instanceID != nil && g.byInstance[*m.instanceID] != m {
				t.Fatalf("%s is not the instance %s", m.id, *m.instanceID)
			}
			if m.instanceID != nil {
				instances++
			}
			if m.join.waits && g.state != event.PreparingRebalance && !(g.state == event.Stable && w.isBeingReplaced(m)) || m.sync.waits && g.state != event.CompletingRebalance {
				t.Fatalf("%s waits in %s", m.id, g.state)
			}
		}
		for _, m := range g.pending {
			live[m.slot] = true
			if m.session.op.Number == 0 || !m.pending || g.findPending(m.id) != m || len(g.pendingByID) != len(g.pending) {
				t.Fatalf("pending %s has no timer", m.id)
			}
		}
		if awaiting != g.awaiting || pendingSync != g.pendingSync || len(g.byID) != len(g.members) || len(g.byInstance) != instances {
			t.Fatalf("counters: %d awaiting, %d said; %d pending syncs, %d said", awaiting, g.awaiting, pendingSync, g.pendingSync)
		}
		if (len(g.members) == 0) != (g.state == event.Empty) && g.state != event.PreparingRebalance {
			t.Fatalf("%d members in %s", len(g.members), g.state)
		}
		if len(g.members) > 0 && g.byID[g.leader] == nil {
			t.Fatalf("the leader %q is no member", g.leader)
		}
		if joining := g.joinOp.op.Number != 0; joining != (g.state == event.PreparingRebalance) {
			t.Fatalf("a join operation in %s: %v", g.state, joining)
		}
		if g.state == event.CompletingRebalance && g.syncOp.op.Number == 0 && g.pendingSync > 0 {
			t.Fatalf("nobody watches %d members that have not synced", g.pendingSync)
		}
	}
	for slot, m := range c.memberSlots {
		if m != nil && !live[int32(slot)] && (!m.gone || m.session.op.Number == 0) {
			t.Fatalf("%s is in no group and still has a slot", m.id)
		}
	}
	if got := c.sessions.Delayed() + c.rebalances.Delayed(); got != waiting(c) || (c.cleanup != purgatory.None) != (len(c.groups) > 0) {
		t.Fatalf("%d operations, %d timers", got, waiting(c))
	}
}

func supporters(g *group, protocol string) (n int) {
	for _, m := range g.members {
		if m.protocolIndex(protocol) >= 0 {
			n++
		}
	}
	return n
}

func (w *walk) isBeingReplaced(m *member) bool {
	for _, a := range w.b.c.appends {
		if a.kind == storesReplacement && a.replacement.awaited(w.b.c.groups[m.groupID]) == m {
			return true
		}
	}
	return false
}

func TestInvariantsHoldOnRandomWalks(t *testing.T) {
	for seed := range uint64(60) {
		w := newWalk(t, seed)
		for range 400 {
			w.step()
			w.checkInvariants()
		}
		for len(w.b.held) > 0 {
			w.finish()
		}
		w.b.advance(400000)
		for len(w.b.held) > 0 {
			w.finish()
		}
		if len(w.b.c.deletions) != 0 || len(w.b.c.appends) != 0 {
			t.Fatalf("seed %d: %d deletions wait", seed, len(w.b.c.deletions))
		}
		w.checkInvariants()
		for _, g := range w.b.c.groups {
			if len(g.members) != 0 || !g.hasOffsets() || g.state != event.Empty || len(g.pending) != 0 {
				t.Fatalf("seed %d: long after the last request: %+v", seed, g)
			}
		}
		if waiting(w.b.c) != 0 {
			t.Fatalf("seed %d: %d timers are left", seed, waiting(w.b.c))
		}
		w.checkEvents()
	}
}

// checkEvents checks what holds of all events of a walk: numbers without holes, causes that came before, time that does
// not fall, every reply told once, and every rebalance told of by whoever must know of it.
func (w *walk) checkEvents() {
	t, last := w.b.t, int64(0)
	var at int64
	for i, e := range w.b.events {
		if e.Seq != int64(i)+1 || e.Cause >= e.Seq || e.AtMs < at {
			t.Fatalf("event %d: %+v after %d at %d", i, e, last, at)
		}
		last, at = e.Seq, e.AtMs
		switch b := e.Body.(type) {
		case event.StateChanged:
			if b.To == event.PreparingRebalance {
				if _, ok := w.b.events[e.Cause-1].Body.(event.RebalanceStarted); !ok {
					t.Fatalf("%v was not caused by a rebalance", e)
				}
			}
		case event.MemberRemoved:
			if e.Cause == 0 {
				t.Fatalf("%v has no cause", e)
			}
		}
	}
}

// The same seed gives the same events, byte for byte.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(5) {
		var first string
		for range 3 {
			w := newWalk(t, seed)
			for range 300 {
				w.step()
			}
			var s strings.Builder
			for _, e := range w.b.events {
				data, err := e.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				s.Write(data)
				s.WriteString(e.String())
			}
			if first == "" {
				first = s.String()
			} else if first != s.String() {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
	}
}

// copyOf is a walk that goes on alone with a copy of the machine.
func (w *walk) copyOf(seed uint64) *walk {
	k, b := *w, *w.b
	b.c = w.b.c.Clone(w.b.c.cfg.Numbers.Clone())
	b.events = append([]event.Event(nil), w.b.events...)
	b.held = append([]Append(nil), w.b.held...)
	b.replies, b.asked = map[Ticket]kmsg.Response{}, maps.Clone(w.b.asked)
	for ticket, resp := range w.b.replies {
		b.replies[ticket] = resp
	}
	k.b, k.r = &b, rand.New(rand.NewPCG(seed, 2))
	k.ids, k.log = append([]string(nil), w.ids...), append([]LoadedBatch(nil), w.log...)
	return &k
}

// A copy and its original, told the same, say the same; told other things, they do not touch each other.
func TestCloneGoesItsOwnWay(t *testing.T) {
	for seed := range uint64(25) {
		w := newWalk(t, seed)
		for range 150 {
			w.step()
		}
		one, two, stray := w.copyOf(7), w.copyOf(7), w.copyOf(8)
		for range 150 {
			stray.step()
		}
		stray.checkInvariants()
		for range 150 {
			one.step()
		}
		w.r = rand.New(rand.NewPCG(7, 2))
		for range 150 {
			w.step()
		}
		for range 150 {
			two.step()
		}
		for name, k := range map[string]*walk{"before the original": one, "after it": two} {
			if len(k.b.events) != len(w.b.events) {
				t.Fatalf("seed %d: the copy that went %s tells %d events, the original %d", seed, name, len(k.b.events), len(w.b.events))
			}
			for i, e := range k.b.events {
				if fmt.Sprintf("%+v", e) != fmt.Sprintf("%+v", w.b.events[i]) {
					t.Fatalf("seed %d, the copy that went %s:\n%v\nthe original:\n%v", seed, name, e, w.b.events[i])
				}
			}
			k.checkInvariants()
		}
	}
}

// snapshot prints everything that a machine holds, as far as Probe and Facts must not change it.
func snapshot(c *Coordinator) string {
	var s strings.Builder
	for _, g := range c.sortedGroups() {
		fmt.Fprintf(&s, "%+v\n", *g)
		for _, m := range append(append([]*member(nil), g.members...), g.pending...) {
			fmt.Fprintf(&s, "%+v\n", *m)
		}
	}
	fmt.Fprintf(&s, "%v %v %d %d %v\n", c.openTxns, c.deletions, len(c.verifications), c.verifyTickets, c.cleanup)
	fmt.Fprintf(&s, "%d %d %d %d %d %d %d", c.nowMs, c.issued, c.appendTickets, c.wheel.Size(), c.wheel.NextMs(),
		c.cfg.Numbers.Last(), len(c.out.Events))
	return s.String()
}

// Probe says what Handle then does, and changes nothing.
func TestProbeTellsWhatHandleDoes(t *testing.T) {
	for seed := range uint64(40) {
		w := newWalk(t, seed)
		for range 100 {
			w.step()
		}
		for range 60 {
			w.step()
			q := w.anyRequest()
			w.b.take()
			before := snapshot(w.b.c)
			got := w.b.c.Probe(w.b.now, Request{Ticket: 5, ClientID: "p", ClientHost: "/p", Kmsg: q})
			if after := snapshot(w.b.c); after != before {
				t.Fatalf("seed %d: Probe of %T changed\n%s\nto\n%s", seed, q, before, after)
			}
			k := w.copyOf(9)
			k.b.hold = true
			ticket := k.b.send("p", q)
			reply := k.b.replies[ticket]
			if got.Parked != (reply == nil) {
				t.Fatalf("seed %d: %T %+v: probed %+v, answered %+v", seed, q, q, got, reply)
			}
			if got.Parked && got.Until == "" {
				t.Fatalf("seed %d: %T is parked until nothing", seed, q)
			}
			if !got.Parked && fmt.Sprintf("%#v", got.Reply.AppendTo(nil)) != fmt.Sprintf("%#v", reply.AppendTo(nil)) {
				t.Fatalf("seed %d: probed %+v, answered %+v", seed, got.Reply, reply)
			}
			if got.Code != 0 && got.Guard == "" {
				t.Fatalf("seed %d: %T is refused with %d by nobody", seed, q, got.Code)
			}
		}
	}
}

// anyRequest is a request of some kind about the group.
func (w *walk) anyRequest() kmsg.Request {
	id, generation := w.id(), w.generation()
	switch w.r.IntN(10) {
	case 7:
		return txnWith{producer: w.producer(), id: id, generation: &generation, offsets: one(1)}.request()
	case 8:
		q := kmsg.NewPtrOffsetDeleteRequest()
		q.Group = groupID
		q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "topic", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 1}, {Partition: 2}}}}
		return q
	case 9:
		q := kmsg.NewPtrDeleteGroupsRequest()
		q.Version, q.Groups = 2, []string{groupID, "missing"}
		return q
	case 0:
		q := kmsg.NewPtrJoinGroupRequest()
		q.Version, q.Group, q.MemberID, q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = 9, groupID, id, 300, 300
		q.ProtocolType, q.Protocols, q.InstanceID = "consumer", protocolList("range"), w.instance()
		if q.InstanceID != nil && w.r.IntN(2) == 0 {
			q.MemberID = ""
		}
		return q
	case 1:
		q := kmsg.NewPtrSyncGroupRequest()
		q.Version, q.Group, q.MemberID, q.Generation = 4, groupID, id, generation
		return q
	case 2:
		q := kmsg.NewPtrLeaveGroupRequest()
		q.Version, q.Group, q.Members = 5, groupID, []kmsg.LeaveGroupRequestMember{{MemberID: id, InstanceID: w.instance()}}
		return q
	case 3:
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Version, q.Group, q.MemberID, q.Generation = 8, groupID, id, generation
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = "topic"
		t.Partitions = append(t.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
		q.Topics = append(q.Topics, t)
		return q
	case 4:
		q := kmsg.NewPtrDescribeGroupsRequest()
		q.Version, q.Groups = 5, []string{groupID}
		return q
	case 5:
		q := kmsg.NewPtrListGroupsRequest()
		q.Version = 4
		return q
	}
	q := kmsg.NewPtrHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 4, groupID, id, generation
	return q
}
