package assign

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"
)

func member(id string, topics ...string) Member { return Member{ID: id, Topics: topics} }

func static(id, instance string, topics ...string) Member {
	return Member{ID: id, InstanceID: instance, Topics: topics}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		name       string
		members    []Member
		partitions map[string]int32
		want       string
	}{
		{"nobody", nil, map[string]int32{"t": 3}, "map[]"},
		{"one for all", []Member{member("a", "t")}, map[string]int32{"t": 3}, "map[a:[{t [0 1 2]}]]"},
		{"six by two", []Member{member("a", "t"), member("b", "t")}, map[string]int32{"t": 6}, "map[a:[{t [0 1 2]}] b:[{t [3 4 5]}]]"},
		{"the first get one more", []Member{member("c", "t"), member("a", "t"), member("b", "t")}, map[string]int32{"t": 5},
			"map[a:[{t [0 1]}] b:[{t [2 3]}] c:[{t [4]}]]"},
		{"more members than partitions", []Member{member("a", "t"), member("b", "t"), member("c", "t")}, map[string]int32{"t": 2},
			"map[a:[{t [0]}] b:[{t [1]}] c:[]]"},
		{"each topic begins with the first member", []Member{member("a", "x", "y"), member("b", "y", "x")}, map[string]int32{"x": 3, "y": 3},
			"map[a:[{x [0 1]} {y [0 1]}] b:[{x [2]} {y [2]}]]"},
		{"subscriptions differ", []Member{member("a", "x"), member("b", "x", "y"), member("c", "z")}, map[string]int32{"x": 2, "y": 2},
			"map[a:[{x [0]}] b:[{x [1]} {y [0 1]}] c:[]]"},
		{"a topic that does not exist", []Member{member("a", "gone", "t")}, map[string]int32{"t": 1, "other": 4}, "map[a:[{t [0]}]]"},
		{"a topic named twice", []Member{member("a", "t", "u", "t"), member("b", "t")}, map[string]int32{"t": 3, "u": 1},
			"map[a:[{t [0 1]} {u [0]}] b:[{t [2]}]]"},
		{"static members come first, by instance", []Member{member("a", "t"), static("z1", "i2", "t"), static("z2", "i1", "t")}, map[string]int32{"t": 5},
			"map[a:[{t [4]}] z1:[{t [2 3]}] z2:[{t [0 1]}]]"},
	} {
		if got := fmt.Sprint(Range(c.members, c.partitions)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func groups() *rapid.Generator[[]Member] {
	return rapid.Custom(func(t *rapid.T) []Member {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching("[a-e]{1,3}"), 1, 9, rapid.ID[string]).Draw(t, "ids")
		members := make([]Member, len(ids))
		for i, id := range ids {
			members[i] = member(id, rapid.SliceOfN(rapid.SampledFrom([]string{"t", "u", "v", "gone"}), 0, 5).Draw(t, "topics")...)
			if rapid.IntRange(0, 2).Draw(t, "static") == 0 {
				members[i].InstanceID = fmt.Sprintf("i-%d", (i*7)%10)
			}
		}
		return members
	})
}

func topics() *rapid.Generator[map[string]int32] {
	return rapid.Custom(func(t *rapid.T) map[string]int32 {
		return map[string]int32{"t": rapid.Int32Range(0, 20).Draw(t, "t"), "u": rapid.Int32Range(1, 60).Draw(t, "u"), "v": 1}
	})
}

// Every partition of a subscribed topic goes to exactly one of its subscribers, in runs, evenly within one.
func TestRangeIsWholeAndEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := groups().Draw(t, "members"), topics().Draw(t, "partitions")
		before := fmt.Sprint(members)
		given := Range(members, partitions)
		if fmt.Sprint(members) != before {
			t.Fatal("the members were changed")
		}
		if len(given) != len(members) {
			t.Fatalf("%d entries for %d members", len(given), len(members))
		}
		for topic, n := range partitions {
			var all []int32
			least, most := n+1, int32(0)
			for _, m := range members {
				var got []int32
				for _, tp := range given[m.ID] {
					if tp.Topic == topic {
						got = append(got, tp.Partitions...)
					}
				}
				if !slices.Contains(m.Topics, topic) {
					if len(got) > 0 {
						t.Fatalf("%s was given %s, to which it did not subscribe", m.ID, topic)
					}
					continue
				}
				for i := range got {
					if got[i] != got[0]+int32(i) {
						t.Fatalf("%s was given %v of %s, which is no run", m.ID, got, topic)
					}
				}
				all = append(all, got...)
				least, most = min(least, int32(len(got))), max(most, int32(len(got)))
			}
			if least > n {
				continue // nobody subscribed
			}
			slices.Sort(all)
			if !slices.Equal(all, run(0, n)) || most-least > 1 {
				t.Fatalf("%s: %v of %d partitions, %d to %d a member", topic, all, n, least, most)
			}
		}
		for id, list := range given {
			if !slices.IsSortedFunc(list, func(a, b TopicPartitions) int {
				if a.Topic < b.Topic {
					return -1
				}
				return 1
			}) {
				t.Fatalf("the topics of %s are not in order: %v", id, list)
			}
		}
		shuffled := slices.Clone(members)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := Range(shuffled, partitions); !reflect.DeepEqual(again, given) {
			t.Fatalf("the order of members matters: %v, then %v", given, again)
		}
	})
}

// franz-go's range balancer, whose author holds it equal to Kafka's, gives the same.
func TestRangeAgreesWithFranzGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, partitions := groups().Draw(t, "members"), topics().Draw(t, "partitions")
		for i, m := range members {
			slices.Sort(m.Topics) // the balancer counts a topic named twice twice
			members[i].Topics = slices.Compact(m.Topics)
		}
		want := franz(t, kgo.RangeBalancer(), members, partitions)
		got := byTopic(Range(members, partitions))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}
