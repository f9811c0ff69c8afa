package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/app"
)

// Faults between clients and brokers that other projects had in public, each under its id: over TCP, with raw requests, and
// with franz-go where it takes a client.

// second is another connection to the same broker.
func (w *wire) second() *wire { return dial(w.t, w.RemoteAddr().String()) }

// rebalancing waits until a member is told to join again.
func rebalancing(w *wire, generation int32, member string) {
	w.t.Helper()
	eventually(w.t, 5*time.Second, func() error {
		if code := beatCode(w, generation, member); code != kerr.RebalanceInProgress.Code {
			return fmt.Errorf("no rebalance: %s", name(code))
		}
		return nil
	})
}

func TestB39_OnlyNewClientsAreSentBackForAnID(t *testing.T) {
	s, _ := groupServer(t)
	for version := int16(0); version <= 9; version++ {
		w := dial(t, s.KafkaAddrs()[0])
		r := joinAs(version, "", "")
		r.Group = fmt.Sprintf("g%d", version)
		got := ask[*kmsg.JoinGroupResponse](w, r)
		if version < 4 && (got.ErrorCode != 0 || got.MemberID == "" || got.Generation != 1) || version >= 4 && (got.ErrorCode != kerr.MemberIDRequired.Code || got.MemberID == "") {
			t.Errorf("v%d: %s, id %q", version, name(got.ErrorCode), got.MemberID)
		}
		if version < 5 {
			continue
		}
		r = joinAs(version, "", "anchor")
		r.Group = fmt.Sprintf("s%d", version)
		if got := ask[*kmsg.JoinGroupResponse](w, r); got.ErrorCode != 0 {
			t.Errorf("v%d of a static member: %s", version, name(got.ErrorCode))
		}
	}
}

func TestB41_ALateCommitRemovesNobody(t *testing.T) {
	_, w := groupServer(t)
	one := enter(w, 9, "")
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, one, nil))
	late := commitOf("g", one.Generation, one.MemberID, 8)
	other := w.second()
	waiting := other.send(joinAs(3, "", ""))
	rebalancing(w, one.Generation, one.MemberID)
	again := ask[*kmsg.JoinGroupResponse](w, joinAs(9, one.MemberID, ""))
	two := receive[*kmsg.JoinGroupResponse](other, waiting, joinAs(3, "", ""))
	if code := commitCode(w, late); code != kerr.IllegalGeneration.Code {
		t.Errorf("in CompletingRebalance: %s", name(code))
	}
	leader, follower := syncAs(5, again, nil), syncAs(3, two, nil)
	if again.LeaderID != again.MemberID {
		t.Fatalf("the leader is %s", again.LeaderID)
	}
	if got := ask[*kmsg.SyncGroupResponse](w, leader); got.ErrorCode != 0 {
		t.Errorf("syncing: %s", name(got.ErrorCode))
	}
	ask[*kmsg.SyncGroupResponse](other, follower)
	if code := commitCode(w, late); code != kerr.IllegalGeneration.Code {
		t.Errorf("in Stable: %s", name(code))
	}
	if code := beatCode(w, again.Generation, again.MemberID); code != 0 {
		t.Errorf("it is still a member: %s", name(code))
	}
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Version, r.Group, r.Topics = 7, "g", []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
	if got := ask[*kmsg.OffsetFetchResponse](w, r).Topics[0].Partitions[0].Offset; got != -1 {
		t.Errorf("%d was stored", got)
	}
}

func TestB43_AStaticMemberDoesNotFenceItself(t *testing.T) {
	_, w := groupServer(t)
	first := ask[*kmsg.JoinGroupResponse](w, joinAs(9, "", "a"))
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, first, nil))
	if same := ask[*kmsg.JoinGroupResponse](w, joinAs(9, first.MemberID, "a")); same.MemberID != first.MemberID || same.ErrorCode != 0 {
		t.Fatalf("with its known id it stays %s: %+v", first.MemberID, same)
	} else {
		first = same
		ask[*kmsg.SyncGroupResponse](w, syncAs(5, first, nil))
	}
	again := ask[*kmsg.JoinGroupResponse](w, joinAs(9, "", "a"))
	if again.ErrorCode != 0 || again.MemberID == first.MemberID || again.Generation != first.Generation {
		t.Fatalf("as new: %+v", again)
	}
	instance := "a"
	for with, want := range map[bool]int16{true: kerr.FencedInstanceID.Code, false: kerr.UnknownMemberID.Code} {
		beat, commit, sync := beatAs(4, first.Generation, first.MemberID), commitOf("g", first.Generation, first.MemberID, 8), syncAs(5, first, nil)
		if with {
			beat.InstanceID, commit.InstanceID, sync.InstanceID = &instance, &instance, &instance
		}
		if code := ask[*kmsg.HeartbeatResponse](w, beat).ErrorCode; code != want {
			t.Errorf("a late heartbeat, instance %v: %s, want %s", with, name(code), name(want))
		}
		if code := commitCode(w, commit); code != want {
			t.Errorf("a late commit, instance %v: %s, want %s", with, name(code), name(want))
		}
		if code := ask[*kmsg.SyncGroupResponse](w, sync).ErrorCode; code != want {
			t.Errorf("a late sync, instance %v: %s, want %s", with, name(code), name(want))
		}
	}
	if code := beatCode(w, again.Generation, again.MemberID); code != 0 {
		t.Errorf("the new one: %s", name(code))
	}
}

func TestB45_TheFirstCoordinatorHasANumber(t *testing.T) {
	for version := int16(0); version <= 4; version++ {
		s := kafkaServer(t, 3, quick...)
		w := dial(t, s.KafkaAddrs()[1])
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.Version, r.CoordinatorKey, r.CoordinatorKeys = version, "g", []string{"g"}
		eventually(t, 5*time.Second, func() error {
			got := ask[*kmsg.FindCoordinatorResponse](w, r)
			code, node := got.ErrorCode, got.NodeID
			if version >= 4 {
				code, node = got.Coordinators[0].ErrorCode, got.Coordinators[0].NodeID
			}
			if code == 0 && (node < 1 || node > 3) || code != 0 && (node != -1 || code != kerr.CoordinatorNotAvailable.Code) {
				t.Fatalf("v%d: %s with broker %d", version, name(code), node)
			}
			return kerr.ErrorForCode(code)
		})
	}
	s := kafkaServer(t, 3, quick...)
	into := newSink()
	consume(t, s, "first", into)
	fill(t, client(t, s, byHand()), "orders", 1)
	eventually(t, 10*time.Second, func() error {
		if !into.has("5-0") {
			return fmt.Errorf("franz-go reads nothing")
		}
		return nil
	})
}

func TestB46_AMemberWithoutPartitionsStays(t *testing.T) {
	_, w := groupServer(t)
	one := enter(w, 9, "")
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, one, nil))
	other := w.second()
	waiting := other.send(joinAs(3, "", ""))
	rebalancing(w, one.Generation, one.MemberID)
	one = ask[*kmsg.JoinGroupResponse](w, joinAs(9, one.MemberID, ""))
	two := receive[*kmsg.JoinGroupResponse](other, waiting, joinAs(3, "", ""))
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, one, map[string]string{one.MemberID: "all of it"}))
	if got := ask[*kmsg.SyncGroupResponse](other, syncAs(3, two, nil)); got.ErrorCode != 0 || len(got.MemberAssignment) != 0 {
		t.Errorf("left out: %s, %q", name(got.ErrorCode), got.MemberAssignment)
	}
	for range 20 {
		if a, b := beatCode(w, one.Generation, one.MemberID), beatCode(other, one.Generation, two.MemberID); a != 0 || b != 0 {
			t.Fatalf("heartbeats: %s, %s", name(a), name(b))
		}
	}
}

// TestB49_TheSecondConsumerGetsItsShare with franz-go's default, cooperative-sticky, and with an eager one: how many
// generations it takes, and that nobody is called unknown.
func TestB49_TheSecondConsumerGetsItsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		balancer    kgo.GroupBalancer
		generations int32
	}{{kgo.CooperativeStickyBalancer(), 3}, {kgo.RangeBalancer(), 2}} {
		s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 3}}, Set: quick})
		var mu sync.Mutex
		owned := map[string]map[int32]bool{}
		start := func(id string) {
			mu.Lock()
			owned[id] = map[int32]bool{}
			mu.Unlock()
			note := func(has bool) func(context.Context, *kgo.Client, map[string][]int32) {
				return func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
					mu.Lock()
					defer mu.Unlock()
					for _, p := range parts["orders"] {
						if owned[id][p] = has; !has {
							delete(owned[id], p)
						}
					}
				}
			}
			consume(t, s, "g", newSink(), kgo.Balancers(c.balancer), kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(2*time.Minute),
				kgo.OnPartitionsAssigned(note(true)), kgo.OnPartitionsRevoked(note(false)), kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
					t.Errorf("%s lost %v", id, parts)
				}))
		}
		sizes := func() string {
			mu.Lock()
			defer mu.Unlock()
			list := []int{}
			for _, parts := range owned {
				list = append(list, len(parts))
			}
			slices.Sort(list)
			return fmt.Sprint(list)
		}
		until := func(want string) {
			eventually(t, 15*time.Second, func() error {
				if got := sizes(); got != want {
					return fmt.Errorf("%s: shares %s, want %s", c.balancer.ProtocolName(), got, want)
				}
				return nil
			})
		}
		start("a")
		until("[3]")
		start("b")
		until("[1 2]")
		w := dial(t, s.KafkaAddrs()[0])
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Version, r.Groups = 5, []string{"g"}
		eventually(t, 5*time.Second, func() error {
			if got := ask[*kmsg.DescribeGroupsResponse](w, r).Groups[0]; got.State != "Stable" || len(got.Members) != 2 {
				return fmt.Errorf("%s with %d members", got.State, len(got.Members))
			}
			return nil
		})
		if n := generationOf(t, s, "g"); n != c.generations {
			t.Errorf("%s: generation %d, want %d", c.balancer.ProtocolName(), n, c.generations)
		}
	}
}

// generationOf is a group's generation, as a new viewer of the page is told.
func generationOf(t testing.TB, s *app.Server, group string) (generation int32) {
	t.Helper()
	for _, e := range facts(t, s) {
		if b, ok := e.Body.(event.GroupLoaded); ok && e.Group == group {
			generation = b.Generation
		}
	}
	return generation
}

func TestB51_ManySessionsCostLittle(t *testing.T) {
	s := kafkaServer(t, 1, "max.incremental.fetch.session.cache.slots=100")
	good, bad := dial(t, s.KafkaAddrs()[0]), dial(t, s.KafkaAddrs()[0])
	mine := ask[*kmsg.FetchResponse](good, in(0, 0, map[int32]int64{0: 0})).SessionID
	if mine == 0 {
		t.Fatal("the first client got no session")
	}
	before := heap()
	sessions, epoch := 0, int32(1)
	for i := range 5000 {
		got := ask[*kmsg.FetchResponse](bad, in(0, 0, map[int32]int64{0: 0, 1: 0}))
		if got.ErrorCode != 0 || told(got) != "[0 1]" {
			t.Fatalf("fetch %d: %s, %s", i, name(got.ErrorCode), told(got))
		}
		if got.SessionID != 0 {
			sessions++
		}
		if i%500 == 0 {
			if got := ask[*kmsg.FetchResponse](good, in(mine, epoch, nil)); got.ErrorCode != 0 {
				t.Fatalf("the session that is used: %s after %d others", name(got.ErrorCode), sessions)
			}
			epoch++
		}
	}
	if sessions != 99 {
		t.Errorf("%d of 5000 fetches got a session; there is room for 99", sessions)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("5000 sessions that nobody uses cost %d bytes", grown)
	}
	if got := ask[*kmsg.FetchResponse](good, in(mine+1, 1, nil)); got.ErrorCode != kerr.FetchSessionIDNotFound.Code {
		t.Errorf("a session that is gone: %s", name(got.ErrorCode))
	}
	if got := ask[*kmsg.FetchResponse](good, in(0, -1, map[int32]int64{0: 0})); got.SessionID != 0 {
		t.Errorf("(0, -1) made session %d", got.SessionID)
	}
}

func TestB53_ANewerApiVersionsIsSentBack(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	most := advertised(t, s)[18].MaxVersion
	for _, version := range []int16{most + 1, 99} {
		frame := append(headerOf(18, version), 0, 3, 'a', 'b', 2, '1', 0) // flexible header, names, tags
		w.raw(frameOf(frame))
		got := receive[*kmsg.ApiVersionsResponse](w, 1, kmsg.NewPtrApiVersionsRequest())
		if got.ErrorCode != kerr.UnsupportedVersion.Code || len(got.ApiKeys) != 1 || got.ApiKeys[0].ApiKey != 18 || got.ApiKeys[0].MaxVersion != most {
			t.Errorf("v%d: %+v", version, got)
		}
	}
	w.alive()
	if err := client(t, s).Ping(t.Context()); err != nil { // begins with a version that is too new
		t.Errorf("franz-go: %v", err)
	}
}

func TestB56_CommitsByNameAreNotPromisedByID(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	at := advertised(t, s)
	if at[8].MaxVersion != 9 || at[9].MaxVersion != 9 {
		t.Errorf("OffsetCommit up to v%d, OffsetFetch up to v%d; from v10 on topics go by id", at[8].MaxVersion, at[9].MaxVersion)
	}
	admin := kadm.NewClient(client(t, s))
	if got, err := admin.CommitOffsets(t.Context(), "g", offsetsOf("orders", 0, 42)); err != nil || got.Error() != nil {
		t.Fatal(err, got.Error())
	}
	got, err := admin.FetchOffsets(t.Context(), "g")
	if o, ok := got.Lookup("orders", 0); err != nil || !ok || o.At != 42 {
		t.Errorf("fetched %+v (%v)", o, err)
	}
}

func TestB58_NewPartitionsWaitForTheLeader(t *testing.T) {
	s, w := groupServer(t)
	for _, topic := range []string{"t1", "t2"} {
		ensureTopic(t, client(t, s), topic, 1)
	}
	one := enter(w, 9, "")
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, one, nil))
	other := w.second()
	waiting := other.send(joinAs(3, "", ""))
	rebalancing(w, one.Generation, one.MemberID)
	one = ask[*kmsg.JoinGroupResponse](w, joinAs(9, one.MemberID, ""))
	two := receive[*kmsg.JoinGroupResponse](other, waiting, joinAs(3, "", ""))
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, one, nil))
	ask[*kmsg.SyncGroupResponse](other, syncAs(3, two, nil))
	if err := s.AddPartitions("t2", 5); err != nil {
		t.Fatal(err)
	}
	if a, b := beatCode(w, one.Generation, one.MemberID), beatCode(other, one.Generation, two.MemberID); a != 0 || b != 0 {
		t.Errorf("more partitions start no rebalance: %s, %s", name(a), name(b))
	}
	if again := ask[*kmsg.JoinGroupResponse](other, joinAs(3, two.MemberID, "")); again.ErrorCode != 0 || again.Generation != one.Generation {
		t.Errorf("a follower that joins as it was: %s in generation %d, it was %d", name(again.ErrorCode), again.Generation, one.Generation)
	}
	leading := w.send(joinAs(9, one.MemberID, ""))
	rebalancing(other, one.Generation, two.MemberID)
	ask[*kmsg.JoinGroupResponse](other, joinAs(3, two.MemberID, ""))
	if again := receive[*kmsg.JoinGroupResponse](w, leading, joinAs(9, one.MemberID, "")); again.Generation != one.Generation+1 {
		t.Errorf("the leader joins: generation %d, it was %d", again.Generation, one.Generation)
	}
}

func TestB60_TypeAndNameAreTold(t *testing.T) {
	_, w := groupServer(t)
	for version := int16(7); version <= 9; version++ {
		r := joinAs(version, "", fmt.Sprintf("s%d", version))
		r.Group = fmt.Sprintf("g%d", version)
		joined := ask[*kmsg.JoinGroupResponse](w, r)
		if joined.ErrorCode != 0 || joined.Protocol == nil || *joined.Protocol != "range" || joined.ProtocolType == nil || *joined.ProtocolType != "consumer" {
			t.Errorf("JoinGroup v%d: %s, %v, %v", version, name(joined.ErrorCode), joined.Protocol, joined.ProtocolType)
		}
		wrong := "other"
		for _, change := range []func(*kmsg.SyncGroupRequest){
			func(r *kmsg.SyncGroupRequest) { r.Protocol = &wrong },
			func(r *kmsg.SyncGroupRequest) { r.ProtocolType = &wrong },
			func(r *kmsg.SyncGroupRequest) { r.Protocol = nil },
			func(r *kmsg.SyncGroupRequest) { r.ProtocolType = nil },
		} {
			sync := syncAs(5, joined, nil)
			sync.Group = r.Group
			change(sync)
			if got := ask[*kmsg.SyncGroupResponse](w, sync); got.ErrorCode != kerr.InconsistentGroupProtocol.Code {
				t.Errorf("SyncGroup with %v of %v: %s", sync.Protocol, sync.ProtocolType, name(got.ErrorCode))
			}
		}
		sync := syncAs(5, joined, nil)
		sync.Group = r.Group
		if got := ask[*kmsg.SyncGroupResponse](w, sync); got.ErrorCode != 0 || *got.Protocol != "range" || *got.ProtocolType != "consumer" {
			t.Errorf("SyncGroup: %+v", got)
		}
	}
}

func TestB62_TheWrongBrokerSaysSo(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	if code := commitCodeOf(t, s, "g"); code != 0 {
		t.Fatal(name(code))
	}
	_, right := coordinatorOf(t, s, "g")
	for id := int32(1); id <= 3; id++ {
		w := dial(t, s.KafkaAddrs()[id-1])
		want := kerr.NotCoordinator.Code
		if id == right {
			want = 0
		}
		fetch := kmsg.NewPtrOffsetFetchRequest()
		fetch.Version, fetch.Group = 7, "g"
		if code := ask[*kmsg.OffsetFetchResponse](w, fetch).ErrorCode; code != want {
			t.Errorf("OffsetFetch v7 at broker %d: %s, want %s", id, name(code), name(want))
		}
		fetch.Version, fetch.Groups = 8, []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
		if code := ask[*kmsg.OffsetFetchResponse](w, fetch).Groups[0].ErrorCode; code != want {
			t.Errorf("OffsetFetch v8 at broker %d: %s, want %s", id, name(code), name(want))
		}
		fetch.Version, fetch.Groups, fetch.Topics = 1, nil, []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
		if code := ask[*kmsg.OffsetFetchResponse](w, fetch).Topics[0].Partitions[0].ErrorCode; code != want {
			t.Errorf("OffsetFetch v1 at broker %d: %s, want %s", id, name(code), name(want))
		}
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Version, describe.Groups = 5, []string{"g"}
		if code := ask[*kmsg.DescribeGroupsResponse](w, describe).Groups[0].ErrorCode; code != want {
			t.Errorf("DescribeGroups at broker %d: %s, want %s", id, name(code), name(want))
		}
		list := kmsg.NewPtrListGroupsRequest()
		list.Version = 4
		if n := len(ask[*kmsg.ListGroupsResponse](w, list).Groups); (n == 1) != (id == right) {
			t.Errorf("broker %d lists %d groups", id, n)
		}
		if id == right {
			continue
		}
		if code := commitCode(w, commitOf("g", -1, "", 8)); code != want {
			t.Errorf("OffsetCommit at broker %d: %s, want %s", id, name(code), name(want))
		}
		if code := beatCode(w, 1, "m"); code != want {
			t.Errorf("Heartbeat at broker %d: %s, want %s", id, name(code), name(want))
		}
		remove := kmsg.NewPtrDeleteGroupsRequest()
		remove.Version, remove.Groups = 2, []string{"g"}
		if code := ask[*kmsg.DeleteGroupsResponse](w, remove).Groups[0].ErrorCode; code != want {
			t.Errorf("DeleteGroups at broker %d: %s, want %s", id, name(code), name(want))
		}
	}
}
