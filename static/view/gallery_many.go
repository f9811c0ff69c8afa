package view

import (
	"fmt"

	"grouplab/coordinator/event"
)

// manyMembers is a Stable group of twelve on ten partitions: two have nothing to do.
func manyMembers() *Model {
	s := newStory("payments-reconciliation", "payments", 10)
	s.at(1000)
	s.here(event.GroupCreated{})
	var all []*actor
	for i := 1; i <= 12; i++ {
		name := fmt.Sprintf("worker-%d", i)
		a := s.consumer(name, fmt.Sprintf("%s-%08x", name, 0x5b7e0c1d*i), int32(10000+i*100))
		all = append(all, a)
		s.at(1000 + int64(i)*180)
		why := event.WhyNewMember
		if i == 1 {
			why = event.WhyFirstMember
		}
		s.join(a, why)
	}
	s.at(4002)
	s.round(event.WhyInitialDelayOver)
	for at := int64(6000); at <= 15000; at += 3000 {
		for i, a := range all {
			s.at(at + int64(i)*170)
			s.heartbeats(0, a)
		}
	}
	s.commit(all[0], 4000)
	s.commit(all[5], 120)
	s.m.SetNow(18400)
	return s.m
}

const hostile = `<img src=x onerror=alert(1)>"'&amp; ` + "\u202e" + `evil\group` + "\n" + `;DROP-TABLE-groups-with-a-name-that-does-not-end-before-it-has-reached-one-hundred`

// hostileNames is what a group looks like whose every name tries to break the page.
func hostileNames() *Model {
	s := newStory(hostile, `<b>topic</b>-with.a_very-long-name-that-nobody-would-choose-but-somebody-did`, 4)
	s.at(1000)
	a := s.consumer(`</div><script>alert("client")</script>`, `</div><script>alert("client")</script>-0d0e2c7a-6d0f-4b2b-9b8d-ee47f1b8ab10`, 10000)
	b := s.consumer(`consumer-orders-eu-central-1-production-worker-deployment-6c9f7d8b5d-xk2lp`, `consumer-orders-eu-central-1-production-worker-deployment-6c9f7d8b5d-xk2lp-8d1f7d52-22f5-49dd-bb0e-0a4e19a2e7ac`, 10000)
	s.here(event.GroupCreated{})
	s.join(a, event.WhyFirstMember)
	s.at(1400)
	s.join(b, event.WhyNewMember)
	s.at(4002)
	s.round(event.WhyInitialDelayOver)
	s.at(6000)
	s.heartbeats(0, a, b)
	s.commit(a, 9007199254740993)
	s.at(7400)
	s.there(event.ClientStopped{Client: b.client, Killed: true})
	s.at(7700)
	s.there(event.ClientRevoked{Client: a.client, Topics: s.topics(a)})
	s.join(a, event.WhyLeaderRejoined)
	s.m.SetNow(9100)
	return s.m
}

// manyGroups is a live cluster: the ghost group on stage, and many more beside it.
func manyGroups() *Model {
	s, _ := ghost()
	s.m.watcher = &Watch{Groups: map[string]*Watched{}}
	states := []event.State{event.Stable, event.Stable, event.Empty, event.Stable, event.CompletingRebalance, event.Stable, event.Stable}
	services := []string{"billing", "search-index", "mailer", "fraud", "audit", "thumbnails", "loyalty", "warehouse"}
	for i := 0; i < 39; i++ {
		name := fmt.Sprintf("%s-%s", services[i%len(services)], []string{"eu", "us", "ap", "sa", "staging"}[i/len(services)])
		part := partitionOf(name, 50)
		state := states[i%len(states)]
		if i == 9 {
			state = event.PreparingRebalance
		}
		s.say(storyLeader(part), name, event.GroupLoaded{State: state, SinceMs: int64(1000 + i*900), Generation: int32(1 + i*i%31), ProtocolType: "consumer",
			Protocol: "range", Partition: part, Began: event.WhyNewMember, BeganMs: int64(1000 + i*900)})
		for k := 0; k < i%5 && state != event.Empty; k++ {
			id := fmt.Sprintf("%s-%d-%08x", name, k, (i+1)*(k+1)*0x1f3d5)
			s.say(storyLeader(part), name, event.MemberAdded{Member: id, ClientID: name, ClientHost: "/10.0.0.7", SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000,
				Protocols: []string{"range"}, Loaded: true})
		}
	}
	s.m.SetNow(78204)
	s.m.Missed(Gap{FromSeq: 300, ToSeq: 514, FromMs: 40000, ToMs: 43100})
	return s.m
}

func liveOptions() Options {
	return Options{Lang: English, Mode: ModeLive, Group: ordersGroup, Speed: 1, Grain: GrainEvent, Playing: true,
		Live: &LiveState{Connected: true, May: true, Demo: 2, Bootstrap: "127.0.0.1:9092"}}
}
