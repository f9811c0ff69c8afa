package assign

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

type plan map[string]map[string][]int32 // by member, by topic

func byTopic(given map[string][]TopicPartitions) plan {
	p := plan{}
	for id, list := range given {
		p[id] = map[string][]int32{}
		for _, tp := range list {
			p[id][tp.Topic] = tp.Partitions
		}
	}
	return p
}

// franz asks one of franz-go's balancers, with all that members of its protocol send.
func franz(t *rapid.T, balancer kgo.GroupBalancer, members []Member, partitions map[string]int32) plan {
	var joined []kmsg.JoinGroupResponseMember
	members = slices.Clone(members)
	slices.SortFunc(members, compare) // as its client does before it asks the balancer
	for i, m := range members {
		meta := kmsg.ConsumerMemberMetadata{Version: 3, Topics: m.Topics, Generation: m.Generation}
		sticky := kmsg.StickyMemberMetadata{Generation: m.Generation}
		for _, o := range m.Owned {
			meta.OwnedPartitions = append(meta.OwnedPartitions, kmsg.ConsumerMemberMetadataOwnedPartition(o))
			sticky.CurrentAssignment = append(sticky.CurrentAssignment, kmsg.StickyMemberMetadataCurrentAssignment(o))
		}
		meta.UserData = sticky.AppendTo(nil)
		j := kmsg.JoinGroupResponseMember{MemberID: m.ID, ProtocolMetadata: meta.AppendTo(nil)}
		if m.InstanceID != "" {
			j.InstanceID = &members[i].InstanceID
		}
		joined = append(joined, j)
	}
	b, _, err := balancer.MemberBalancer(joined)
	if err != nil {
		t.Fatal(err)
	}
	var into kgo.IntoSyncAssignment
	if e, ok := b.(kgo.GroupMemberBalancerOrError); ok {
		into, err = e.BalanceOrError(partitions)
	} else {
		into = b.Balance(partitions)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := plan{}
	for _, a := range into.IntoSyncAssignment() {
		p, err := kgo.ParseConsumerSyncAssignment(a.MemberAssignment)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range p {
			slices.Sort(list)
		}
		got[a.MemberID] = p
	}
	return got
}

// loads are the numbers of partitions of the members, ascending.
func (p plan) loads() []int {
	var all []int
	for _, topics := range p {
		n := 0
		for _, list := range topics {
			n += len(list)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// kept is how many partitions the members have of those that they owned.
func (p plan) kept(members []Member) (n int) {
	for _, m := range members {
		for _, o := range m.Owned {
			for _, number := range o.Partitions {
				if slices.Contains(p[m.ID][o.Topic], number) {
					n++
				}
			}
		}
	}
	return n
}

// once checks that each partition of a subscribed topic has exactly one owner, who subscribed to it, and returns those
// that have none where some may be withheld.
func (p plan) once(t *rapid.T, members []Member, partitions map[string]int32) (withheld []string) {
	if len(p) != len(members) {
		t.Fatalf("%d entries for %d members", len(p), len(members))
	}
	for topic, count := range partitions {
		for number := range count {
			owners, wanted := 0, false
			for _, m := range members {
				subscribed := slices.Contains(m.Topics, topic)
				wanted = wanted || subscribed
				if slices.Contains(p[m.ID][topic], number) {
					owners++
					if !subscribed {
						t.Fatalf("%s was given %s-%d, to which it did not subscribe", m.ID, topic, number)
					}
				}
			}
			if owners > 1 {
				t.Fatalf("%s-%d was given to %d members", topic, number, owners)
			}
			if wanted && owners == 0 {
				withheld = append(withheld, fmt.Sprintf("%s-%d", topic, number))
			}
		}
	}
	slices.Sort(withheld)
	return withheld
}

// history gives the members what they could have from before: some partitions to each, some to nobody, some of topics
// that they no longer subscribe to or that no longer exist. All say the same generation unless stale, when some say an
// earlier one and claim what others have.
func history(t *rapid.T, members []Member, partitions map[string]int32, stale bool) {
	for i := range members {
		members[i].Generation = 7
	}
	claim := func(m int, topic string, number int32) {
		owned := &members[m].Owned
		for i := range *owned {
			if (*owned)[i].Topic == topic {
				(*owned)[i].Partitions = append((*owned)[i].Partitions, number)
				return
			}
		}
		*owned = append(*owned, TopicPartitions{topic, []int32{number}})
	}
	for _, topic := range []string{"t", "u", "v", "w", "gone"} {
		for number := range partitions[topic] + 1 {
			m := rapid.IntRange(-1, len(members)-1).Draw(t, "owner")
			if m < 0 {
				continue
			}
			claim(m, topic, number)
			if other := rapid.IntRange(0, len(members)-1).Draw(t, "stale"); stale && other != m && members[m].Generation == 7 {
				claim(other, topic, number)
				members[other].Generation = 6
			}
		}
	}
}

// subscribers are members, with equal subscriptions where alike.
func subscribers(t *rapid.T, most int, alike bool) []Member {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]{1,2}"), 1, most, rapid.ID[string]).Draw(t, "ids")
	topics := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"t", "u", "v", "w"}), 1, 4, rapid.ID[string])
	same := topics.Draw(t, "topics")
	members := make([]Member, len(ids))
	for i, id := range ids {
		members[i] = member(id, same...)
		if !alike {
			members[i].Topics = topics.Draw(t, "topics")
		}
	}
	return members
}

func sizes(t *rapid.T, most int32) map[string]int32 {
	size := rapid.Int32Range(1, most)
	return map[string]int32{"t": size.Draw(t, "t"), "u": size.Draw(t, "u"), "v": size.Draw(t, "v"), "w": size.Draw(t, "w")}
}

// RoundRobin leaves nothing open: franz-go's gives the very same.
func TestRoundRobinAgreesWithFranzGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := groups().Draw(t, "members"), topics().Draw(t, "partitions")
		got, want := byTopic(RoundRobin(members, partitions)), franz(t, kgo.RoundRobinBalancer(), members, partitions)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
		got.once(t, members, partitions)
	})
}

// Among members with the same subscriptions the loads and the number of kept partitions are determined; which of
// several partitions moves, and which of several members gets one more, is not.
func TestStickyAgreesWithFranzGoAmongEqualSubscriptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := subscribers(t, 9, true), sizes(t, 12)
		history(t, members, partitions, false)
		before := fmt.Sprint(members)
		got, want := byTopic(Sticky(members, partitions)), franz(t, kgo.StickyBalancer(), members, partitions)
		if fmt.Sprint(members) != before {
			t.Fatal("the members were changed")
		}
		if free := got.once(t, members, partitions); free != nil {
			t.Fatalf("without an owner: %v", free)
		}
		if !slices.Equal(got.loads(), want.loads()) || got.kept(members) != want.kept(members) {
			t.Fatalf("got  %v, kept %d\nwant %v, kept %d", got, got.kept(members), want, want.kept(members))
		}
	})
}

// With different subscriptions the loads are determined too. Kept are at least as many partitions as franz-go keeps,
// which looks for short ways, not for the best of all.
func TestStickyIsAsEvenAndAsStickyAsFranzGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := subscribers(t, 7, false), sizes(t, 9)
		history(t, members, partitions, false)
		got, want := byTopic(Sticky(members, partitions)), franz(t, kgo.StickyBalancer(), members, partitions)
		if free := got.once(t, members, partitions); free != nil {
			t.Fatalf("without an owner: %v", free)
		}
		if !slices.Equal(got.loads(), want.loads()) || got.kept(members) < want.kept(members) {
			t.Fatalf("got  %v, kept %d\nwant %v, kept %d", got, got.kept(members), want, want.kept(members))
		}
	})
}

// What is assigned stays: a second assignment of the same members gives the first one again, and so does franz-go's.
func TestStickyStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := subscribers(t, 7, rapid.Bool().Draw(t, "alike")), sizes(t, 9)
		history(t, members, partitions, false)
		first := Sticky(members, partitions)
		for i, m := range members {
			members[i].Owned = first[m.ID]
		}
		again, want := byTopic(Sticky(members, partitions)), franz(t, kgo.StickyBalancer(), members, partitions)
		if fmt.Sprint(again) != fmt.Sprint(byTopic(first)) || fmt.Sprint(again) != fmt.Sprint(want) {
			t.Fatalf("first %v\nagain %v\nfranz-go %v", first, again, want)
		}
		cooperative := byTopic(CooperativeSticky(members, partitions))
		if fmt.Sprint(cooperative) != fmt.Sprint(want) {
			t.Fatalf("cooperative %v\nwant %v", cooperative, want)
		}
	})
}

// However members come and go, cooperative-sticky is through after a second round, ends as even as franz-go's, and never
// gives a partition away that another member may still read.
func TestCooperativeStickyAgreesWithFranzGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := subscribers(t, 7, rapid.Bool().Draw(t, "alike")), sizes(t, 9)
		history(t, members, partitions, rapid.Bool().Draw(t, "stale"))
		theirs := slices.Clone(members)
		var got, want plan
		for round := 1; ; round++ {
			got, want = byTopic(CooperativeSticky(members, partitions)), franz(t, kgo.CooperativeStickyBalancer(), theirs, partitions)
			withheld := got.once(t, members, partitions)
			unclaimed(t, got, members)
			if withheld == nil && want.once(t, theirs, partitions) == nil {
				break
			}
			if round == 2 {
				t.Fatalf("withheld in the second round: %v; franz-go %v", withheld, want.once(t, theirs, partitions))
			}
			members, theirs = synced(members, got), synced(theirs, want)
		}
		if !slices.Equal(got.loads(), want.loads()) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// unclaimed checks that what a member gets and does not have is claimed by nobody else, and that what it has by a claim
// is claimed later by nobody else.
func unclaimed(t *rapid.T, p plan, members []Member) {
	claims := func(m Member, topic string, number int32) bool {
		return slices.ContainsFunc(m.Owned, func(o TopicPartitions) bool { return o.Topic == topic && slices.Contains(o.Partitions, number) })
	}
	for _, m := range members {
		for topic, list := range p[m.ID] {
			for _, number := range list {
				for _, other := range members {
					if other.ID != m.ID && claims(other, topic, number) && (!claims(m, topic, number) || other.Generation > m.Generation) {
						t.Fatalf("%s-%d goes to %s while %s claims it", topic, number, m.ID, other.ID)
					}
				}
			}
		}
	}
}

// synced are the members after they took an assignment: they have it, and of it only.
func synced(members []Member, p plan) []Member {
	next := slices.Clone(members)
	for i := range next {
		next[i].Owned, next[i].Generation = nil, 8
		for _, topic := range []string{"t", "u", "v", "w"} {
			if list := p[next[i].ID][topic]; len(list) > 0 {
				next[i].Owned = append(next[i].Owned, TopicPartitions{topic, list})
			}
		}
	}
	return next
}

// The order in which the members come makes no difference.
func TestStickyDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := subscribers(t, 7, rapid.Bool().Draw(t, "alike")), sizes(t, 9)
		history(t, members, partitions, true)
		shuffled := rapid.Permutation(members).Draw(t, "shuffled")
		for name, f := range map[string]func([]Member, map[string]int32) map[string][]TopicPartitions{
			"roundrobin": RoundRobin, "sticky": Sticky, "cooperative-sticky": CooperativeSticky,
		} {
			if a, b := fmt.Sprint(f(members, partitions)), fmt.Sprint(f(shuffled, partitions)); a != b {
				t.Fatalf("%s: %s, then %s", name, a, b)
			}
		}
	})
}

// The best of all assignments, found by trying each one, is no better.
func TestStickyIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := subscribers(t, 3, false)
		partitions := sizes(t, 2)
		history(t, members, partitions, false)
		g := newGroup(members, partitions)
		home := g.homes()
		best := far
		var try func(p int)
		try = func(p int) {
			if p == len(g.owner) {
				best = min(best, score(g, home))
				return
			}
			for _, m := range g.topicOf(p).subscribers {
				g.give(p, m)
				try(p + 1)
				g.take(p)
			}
		}
		try(0)
		g = newGroup(members, partitions)
		g.sticky()
		if got := score(g, home); got != best {
			t.Fatalf("score %d of %v, want %d", got, g.result(), best)
		}
	})
}

// score is less for what is more even, and then for what moves less.
func score(g *group, home []int) (n int) {
	for _, load := range g.load {
		n += 1000 * load * load
	}
	for p, h := range home {
		if h != nobody && g.owner[p] != h {
			n++
		}
	}
	return n
}
