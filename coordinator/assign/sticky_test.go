package assign

import (
	"fmt"
	"testing"
)

func owning(m Member, generation int32, owned ...TopicPartitions) Member {
	m.Owned, m.Generation = owned, generation
	return m
}

func of(topic string, partitions ...int32) TopicPartitions { return TopicPartitions{topic, partitions} }

func TestAssignors(t *testing.T) {
	type assignor func([]Member, map[string]int32) map[string][]TopicPartitions
	a, b, c := member("a", "t"), member("b", "t"), member("c", "t")
	for _, tc := range []struct {
		name       string
		assign     assignor
		members    []Member
		partitions map[string]int32
		want       string
	}{
		{"round robin: nobody", RoundRobin, nil, map[string]int32{"t": 3}, "map[]"},
		{"round robin goes on over topics", RoundRobin, []Member{member("b", "t", "u"), member("a", "u", "t")}, map[string]int32{"t": 3, "u": 3},
			"map[a:[{t [0 2]} {u [1]}] b:[{t [1]} {u [0 2]}]]"},
		{"round robin passes over who did not subscribe", RoundRobin, []Member{a, member("b", "t", "u"), member("c", "t", "u")},
			map[string]int32{"t": 1, "u": 3}, "map[a:[{t [0]}] b:[{u [0 2]}] c:[{u [1]}]]"},
		{"round robin: static members first", RoundRobin, []Member{a, static("z", "i1", "t")}, map[string]int32{"t": 3}, "map[a:[{t [1]}] z:[{t [0 2]}]]"},
		{"sticky from nothing deals in turn", Sticky, []Member{b, a}, map[string]int32{"t": 5}, "map[a:[{t [0 2 4]}] b:[{t [1 3]}]]"},
		{"sticky: nobody", Sticky, nil, map[string]int32{"t": 3}, "map[]"},
		{"sticky: one comes", Sticky, []Member{owning(a, 1, of("t", 0, 2, 4)), owning(b, 1, of("t", 1, 3, 5)), c}, map[string]int32{"t": 6},
			"map[a:[{t [0 2]}] b:[{t [1 3]}] c:[{t [4 5]}]]"},
		{"sticky: one goes", Sticky, []Member{owning(a, 1, of("t", 0, 3)), owning(b, 1, of("t", 1, 4))}, map[string]int32{"t": 6},
			"map[a:[{t [0 2 3]}] b:[{t [1 4 5]}]]"},
		{"sticky: the later generation is believed", Sticky, []Member{owning(a, 3, of("t", 0)), owning(b, 4, of("t", 0))}, map[string]int32{"t": 2},
			"map[a:[{t [1]}] b:[{t [0]}]]"},
		{"sticky: what is not there is no claim", Sticky, []Member{owning(a, 3, of("t", -1, 9), of("gone", 0)), b}, map[string]int32{"t": 2},
			"map[a:[{t [0]}] b:[{t [1]}]]"},
		{"sticky along a chain: b hands u to c so that it can take from a", Sticky,
			[]Member{owning(a, 1, of("t", 0, 1, 2)), owning(member("b", "t", "u"), 1, of("u", 0, 1)), member("c", "u")}, map[string]int32{"t": 3, "u": 2},
			"map[a:[{t [1 2]}] b:[{t [0]} {u [1]}] c:[{u [0]}]]"},
		{"cooperative: what moves is withheld", CooperativeSticky,
			[]Member{owning(a, 1, of("t", 0, 2, 4)), owning(b, 1, of("t", 1, 3, 5)), owning(c, -1)}, map[string]int32{"t": 6},
			"map[a:[{t [0 2]}] b:[{t [1 3]}] c:[]]"},
		{"cooperative: what nobody has is given at once", CooperativeSticky,
			[]Member{owning(a, 1, of("t", 0, 2)), owning(b, 1, of("t", 1, 3)), owning(c, -1)}, map[string]int32{"t": 6},
			"map[a:[{t [0 2]}] b:[{t [1 3]}] c:[{t [4 5]}]]"},
		{"cooperative: a stale claim does not hide a later one", CooperativeSticky,
			[]Member{owning(a, 3, of("t", 0)), owning(member("b", "u"), 4, of("t", 0))}, map[string]int32{"t": 1, "u": 1},
			"map[a:[] b:[{u [0]}]]"},
	} {
		if got := fmt.Sprint(tc.assign(tc.members, tc.partitions)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
