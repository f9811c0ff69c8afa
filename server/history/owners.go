package history

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// place is a partition.
type place struct {
	topic     string
	partition int32
}

// owned is who has a partition, or had it last.
type owned struct {
	place
	member string
	// gone is set where the last assignment gave it to nobody.
	gone bool
}

func byPlace(a, b owned) int {
	return cmp.Or(strings.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

func count(list []event.Assignment) (n int) {
	for i := range list {
		n += countOf(list[i].Topics)
	}
	return n
}

func countOf(topics []event.TopicPartitions) (n int) {
	for i := range topics {
		n += len(topics[i].Partitions)
	}
	return n
}

// own takes an assignment and says how many partitions have another owner than before. Of a cooperative group, what the
// assignment takes away stays until the next one, as nobody's.
func (h *History) own(g *group, list []event.Assignment) (moved int) {
	now := make([]owned, 0, count(list))
	have := make(map[string]int, len(list))
	for i := range list {
		have[list[i].Member] = countOf(list[i].Topics)
		for _, t := range list[i].Topics {
			for _, p := range t.Partitions {
				now = append(now, owned{place: place{t.Topic, p}, member: list[i].Member})
			}
		}
	}
	slices.SortFunc(now, byPlace)
	for _, m := range g.members {
		m.partitions, m.served = have[m.id], true
	}
	g.owners, moved = merge(g.owners, now, g.cooperative())
	return moved
}

// merge compares two sorted lists.
func merge(before, now []owned, keep bool) (list []owned, moved int) {
	i := 0
	var kept []owned
	for _, o := range now {
		for i < len(before) && byPlace(before[i], o) < 0 {
			if keep && !before[i].gone {
				kept = append(kept, owned{before[i].place, before[i].member, true})
			}
			i++
		}
		if i < len(before) && before[i].place == o.place {
			if before[i].member != o.member {
				moved++
			}
			i++
		}
	}
	for ; keep && i < len(before); i++ {
		if !before[i].gone {
			kept = append(kept, owned{before[i].place, before[i].member, true})
		}
	}
	if len(kept) > 0 {
		now = append(now, kept...)
		slices.SortFunc(now, byPlace)
	}
	return now, moved
}

// unowned counts the partitions of a cooperative group that nobody has: the last assignment took them away, or their member
// is gone.
func (h *History) unowned(g *group) (n int) {
	present := make(map[string]bool, len(g.members))
	for _, m := range g.members {
		present[m.id] = true
	}
	for i := range g.owners {
		if g.owners[i].gone || !present[g.owners[i].member] {
			n++
		}
	}
	return n
}

// loop finds a client that leaves and comes back again and again while nothing changes.
type loop struct {
	key    string // of the client that brought the last rebalances about
	home   uint64 // where the partitions lay before the first of these
	last   uint64
	rounds int
}

// settled takes the next rebalance: who brought it about, and where the partitions lie now.
func (l *loop) settled(key string, now uint64) {
	if key == "" || key != l.key {
		l.key, l.home, l.rounds = key, l.last, 0
	}
	if l.home != 0 && now == l.home && key != "" {
		l.rounds++
	}
	l.last = now
}

var seed = maphash.MakeSeed()

// signature stands for where the partitions of a group lie, by the processes that have them.
func signature(g *group) uint64 {
	keys := make(map[string]string, len(g.members))
	for _, m := range g.members {
		keys[m.id] = m.key()
	}
	var hash maphash.Hash
	hash.SetSeed(seed)
	for i := range g.owners {
		o := &g.owners[i]
		if o.gone {
			continue
		}
		_, _ = hash.WriteString(o.topic)
		_, _ = hash.Write([]byte{byte(o.partition >> 24), byte(o.partition >> 16), byte(o.partition >> 8), byte(o.partition), 0})
		_, _ = hash.WriteString(keys[o.member])
		_ = hash.WriteByte(0)
	}
	return hash.Sum64()
}
