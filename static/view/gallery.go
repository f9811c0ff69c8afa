package view

import (
	"fmt"

	"grouplab/coordinator/event"
)

// picture makes one picture of the gallery.
type picture struct {
	Name    string
	Title   Text
	Model   func() *Model
	Options func() Options
}

func still() Options { return galleryOptions("") }

// galleryNames are the pictures in the order of the list. It is a function, so that a program without a gallery does not carry
// what makes them.
func galleryNames() []picture {
	return []picture{
		{"unclean-restart", Text{"Everybody waits for a ghost", "所有人都在等一个幽灵"}, uncleanRestart, still},
		{"empty", Text{"An empty lab", "空实验室"}, NewModel, still},
		{"first-member", Text{"The first member, in the initial delay", "第一个成员：初始延迟中"}, firstMember, still},
		{"joining", Text{"Two of three have rejoined", "三个成员中已有两个重新加入"}, joining, still},
		{"held-long", Text{"Held for longer than its session, beside an id that was never used", "被搁置的时间超过会话，旁边是从未使用的 id"}, heldLong, still},
		{"completing", Text{"The leader must send the assignment", "leader 须提交分配方案"}, completing, still},
		{"append", Text{"The assignment is being written", "分配方案正在写入日志"}, appending, still},
		{"stable", Text{"Stable, with a commit in flight", "Stable，有一个提交在途"}, stable, still},
		{"refused", Text{"A commit is refused", "提交被拒绝"}, refused, still},
		{"broker-killed", Text{"The coordinator is dead and nobody has noticed", "coordinator 已死，无人察觉"}, brokerKilled, still},
		{"loading", Text{"The next coordinator reads the log", "下一任 coordinator 正在读取日志"}, loading, still},
		{"many-members", Text{"Twelve members, ten partitions", "十二个成员，十个分区"}, manyMembers, still},
		{"hostile-names", Text{"Names full of markup", "充满标记的名字"}, hostileNames, still},
		{"rewound", Text{"Stepped back from a known future", "从已知的未来退回"}, rewound, rewoundOptions},
		{"live", Text{"A live cluster with forty groups", "四十个组的实时集群"}, manyGroups, liveOptions},
		{"incident", Text{"An incident: a loop, and a ghost that everybody waits for", "事故：一个循环，以及所有人都在等的幽灵"}, incident, watchOptions("payments", "rebalance:408")},
		{"attached", Text{"An existing cluster, seen from outside", "从外面看一个现有集群"}, attachedCluster, attachedOptions},
		{"kip-848", Text{"A consumer group (KIP-848) reconciles", "新协议（KIP-848）的消费组正在协调"}, reconciling, watchOptions("shipping", "")},
	}
}

// Gallery are pictures of the stage in its named states, each made by the fold from facts.
func Gallery() []Named {
	var list []Named
	for _, p := range galleryNames() {
		list = append(list, Named{p.Name, p.Title, p.Model(), p.Options()})
	}
	return list
}

// galleryNamed makes one picture, nil where no picture has the name.
func galleryNamed(name string) *Named {
	for _, p := range galleryNames() {
		if p.Name == name {
			return &Named{p.Name, p.Title, p.Model(), p.Options()}
		}
	}
	return nil
}

func galleryOptions(selected string) Options {
	return Options{Lang: English, Mode: ModeGallery, Speed: 1, Grain: GrainEvent, Selected: selected}
}

const ordersGroup = "orders-svc"

// trio is a Stable group of three in generation 3, at 20 s, with two rounds of commits behind it.
func trio() (*story, []*actor) {
	s := newStory(ordersGroup, "orders", 6)
	s.at(1000).input("start c1")
	c1 := s.consumer("c1", "c1-5b7e0c1d", 10000)
	s.here(event.GroupCreated{})
	s.join(c1, event.WhyFirstMember)
	s.at(4002)
	s.round(event.WhyInitialDelayOver)
	s.commit(c1, 900)
	s.at(7000).input("start c2")
	c2 := s.consumer("c2", "c2-90ab3f77", 10000)
	s.join(c2, event.WhyNewMember)
	s.at(8300)
	s.rejoin(c1)
	s.round(event.WhyAllRejoined)
	s.at(12000).input("start c3")
	c3 := s.consumer("c3", "c3-4e1f82aa", 10000)
	s.join(c3, event.WhyNewMember)
	s.at(13100)
	s.rejoin(c1)
	s.at(13600)
	s.rejoin(c2)
	s.round(event.WhyAllRejoined)
	all := []*actor{c1, c2, c3}
	for at := int64(15000); at <= 20000; at += 2500 {
		s.at(at)
		s.heartbeats(0, all...)
	}
	s.at(18200)
	s.commit(c1, 37)
	s.commit(c2, 41)
	return s, all
}

// ghost is the lab's own moment: c3 was killed and started again; its old id keeps everybody waiting.
func ghost() (*story, []*actor) {
	s, all := trio()
	c1, c2, c3 := all[0], all[1], all[2]
	for at := int64(23000); at <= 71000; at += 3000 {
		s.at(at)
		s.heartbeats(0, all...)
	}
	s.at(70200)
	s.commit(c3, 12)
	s.at(71700)
	s.commit(c1, 48)
	s.at(73300)
	s.heartbeats(0, all...)
	s.at(74400).input("kill c3")
	s.there(event.ClientStopped{Client: "c3", Killed: true})
	s.at(75000).input("start c3")
	again := s.consumer("c3", "c3-d07735f9", 10000)
	s.at(75102)
	s.join(again, event.WhyNewMember)
	s.at(76000)
	s.rejoin(c1)
	s.at(76300)
	s.rejoin(c2)
	return s, []*actor{c1, c2, c3, again}
}

func uncleanRestart() *Model {
	s, _ := ghost()
	s.at(78204)
	s.m.SetNow(78204)
	return s.m
}

func firstMember() *Model {
	s := newStory(ordersGroup, "orders", 6)
	s.at(1000).input("start c1")
	c1 := s.consumer("c1", "c1-5b7e0c1d", 10000)
	s.here(event.GroupCreated{})
	s.here(event.MemberIDIssued{Member: c1.id, ClientID: "c1", ClientHost: "/127.0.0.1", DeadlineMs: s.nowMs + 10000})
	s.here(event.PendingForgotten{Member: c1.id, Why: event.WhyPendingJoined})
	s.join(c1, event.WhyFirstMember)
	s.m.SetNow(2300)
	return s.m
}

func joining() *Model {
	s, all := trio()
	s.at(24000).input("add partitions to orders: 8")
	s.say(0, "", event.PartitionsAdded{Topic: "orders", From: 6, To: 8})
	s.width = 8
	s.at(24100)
	s.there(event.MetadataRefreshed{Client: "c1", Changed: true})
	s.there(event.ClientRevoked{Client: "c1", Topics: s.topics(all[0])})
	s.join(all[0], event.WhyLeaderRejoined)
	s.at(25900)
	s.rejoin(all[1])
	s.there(event.RequestSent{Client: "c3", Request: 999, API: 12, To: s.broker, ArrivesMs: s.nowMs + 2, DeadlineMs: s.nowMs + 9000, Member: all[2].id})
	s.m.SetNow(s.nowMs + 1)
	return s.m
}

// heldLong shows a session timer that fired while its member's answer was held, which changes nothing, and an id that was
// given out and never came back.
func heldLong() *Model {
	s := newStory(ordersGroup, "orders", 4)
	s.at(1000).input("start c1")
	c1 := s.consumer("c1", "c1-5b7e0c1d", 10000)
	s.here(event.GroupCreated{})
	s.join(c1, event.WhyFirstMember)
	s.at(1400).input("start c2")
	c2 := s.consumer("c2", "c2-90ab3f77", 45000)
	s.join(c2, event.WhyNewMember)
	s.at(4002)
	s.round(event.WhyInitialDelayOver)
	s.at(7000)
	s.heartbeats(0, c1, c2)
	s.at(7600).input("pause c2")
	s.there(event.ClientPaused{Client: "c2"})
	s.at(8000)
	s.there(event.ClientRevoked{Client: "c1", Topics: s.topics(c1)})
	s.join(c1, event.WhyLeaderRejoined)
	s.at(17000)
	s.here(event.OperationCompleted{Op: c1.heartbeat, Type: event.DelayedHeartbeat, Member: c1.id, Expired: true, Excused: true, How: "time is up"})
	s.at(18000).input("start c3")
	c3 := s.consumer("c3", "c3-4e1f82aa", 30000)
	s.here(event.MemberIDIssued{Member: c3.id, ClientID: "c3", ClientHost: "/127.0.0.1", DeadlineMs: s.nowMs + 30000})
	s.watch(event.OperationWatched{Type: event.DelayedHeartbeat, Keys: []string{s.group + "-" + c3.id}, Member: c3.id, Pending: true,
		DeadlineMs: s.nowMs + 30000, Until: "it joins"})
	s.there(event.ClientStopped{Client: "c3", Killed: true})
	s.m.SetNow(19500)
	return s.m
}

func completing() *Model {
	s, all := trio()
	s.at(24000)
	s.join(all[0], event.WhyLeaderRejoined)
	s.at(25000)
	s.rejoin(all[1])
	s.rejoin(all[2])
	s.joined(event.WhyAllRejoined)
	s.sync(all[1])
	s.sync(all[2])
	s.at(26100)
	s.there(event.ClientPaused{Client: "c1"})
	s.m.SetNow(27400)
	return s.m
}

func appending() *Model {
	s, all := trio()
	s.at(24000)
	s.join(all[0], event.WhyLeaderRejoined)
	s.at(25000)
	s.rejoin(all[1])
	s.rejoin(all[2])
	s.joined(event.WhyAllRejoined)
	for _, a := range all {
		s.sync(a)
	}
	s.assign()
	s.write("group", s.groupRecord())
	s.m.SetNow(s.nowMs + 1)
	return s.m
}

func stable() *Model {
	s, all := trio()
	s.at(23000)
	s.heartbeats(0, all...)
	s.commit(all[0], 5)
	s.at(24400)
	s.heartbeats(0, all[0])
	s.at(25200)
	s.commitSent(all[2], 3300)
	s.say(2, "", event.ReplicaAdvanced{Topic: offsetsTopic, Partition: s.part, EndOffset: s.endAt})
	s.there(event.RequestSent{Client: "c2", Request: 998, API: 12, To: s.broker, ArrivesMs: s.nowMs + 2, DeadlineMs: s.nowMs + 9000, Member: all[1].id})
	s.m.SetNow(s.nowMs + 1)
	return s.m
}

func refused() *Model {
	s, all := trio()
	s.at(22000)
	s.heartbeats(0, all[0], all[1])
	s.there(event.ClientPaused{Client: "c3"})
	s.at(30000)
	s.here(event.OperationCompleted{Op: all[2].heartbeat, Type: event.DelayedHeartbeat, Member: all[2].id, Expired: true, How: "time is up"})
	s.here(event.MemberRemoved{Member: all[2].id, Why: event.WhySessionExpired})
	s.members = all[:2]
	s.here(event.RebalanceStarted{Why: event.WhySessionExpired, Member: all[2].id, Generation: s.gen, RebalanceTimeoutMs: 60000})
	s.move(event.PreparingRebalance, event.WhySessionExpired, all[2].id)
	s.rejoin(all[0])
	s.rejoin(all[1])
	s.round(event.WhyAllRejoined)
	s.at(33000)
	s.heartbeats(0, all[:2]...)
	s.there(event.ClientResumed{Client: "c3"})
	ticket := s.send(all[2], 8)
	s.here(event.OffsetsRefused{Member: all[2].id, Generation: s.gen - 1, GroupGeneration: s.gen, State: event.Stable, Code: 25,
		Offsets: []event.OffsetValue{{Topic: "orders", Partition: 4, Offset: 1201}, {Topic: "orders", Partition: 5, Offset: 1187}}})
	s.here(event.ReplySent{Ticket: ticket, API: 8, Code: 25, Member: all[2].id, Generation: s.gen, Guard: "the member id is not known"})
	s.there(event.ReplyOnWire{Client: "c3", Request: ticket, API: 8, From: s.broker, Code: 25, ArrivesMs: s.nowMs + 2})
	s.m.SetNow(s.nowMs + 1)
	return s.m
}

// killCoordinator leaves a ghost group whose coordinator went away in the middle of a rebalance.
func killCoordinator() (*story, []*actor) {
	s, all := ghost()
	s.at(78000).input(fmt.Sprintf("kill-broker %d", s.broker))
	s.say(0, "", event.BrokerStopped{ID: s.broker, Killed: true, NoticedByMs: s.nowMs + 9000})
	for _, a := range all[:2] {
		s.there(event.CoordinatorLost{Client: a.client, Reason: "the connection broke"})
	}
	s.there(event.CoordinatorLost{Client: "c3", Reason: "the connection broke"})
	return s, all
}

func brokerKilled() *Model {
	s, _ := killCoordinator()
	s.m.SetNow(81300)
	return s.m
}

func loading() *Model {
	s, _ := killCoordinator()
	s.at(87000)
	old := s.broker
	s.say(0, "", event.BrokerFenced{ID: old})
	next := old%storyBrokers + 1
	s.say(0, "", event.LeaderChanged{Topic: offsetsTopic, Partition: s.part, Leader: next, Epoch: 2, Replicas: others(old), ISR: others(old)[1:]})
	s.say(next, "", event.LoadStarted{Partition: s.part, Epoch: 2, EndOffset: s.endAt})
	s.at(87012)
	s.say(next, "", event.LoadProgressed{Partition: s.part, Offset: s.endAt * 2 / 3, EndOffset: s.endAt, Records: s.endAt * 2 / 3})
	s.m.SetNow(87020)
	return s.m
}

func rewound() *Model {
	s, _ := trio()
	s.m.SetNow(20500)
	return s.m
}

func rewoundOptions() Options {
	o := galleryOptions("")
	o.Head = uncleanRestart()
	return o
}
