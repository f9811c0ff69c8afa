package timeline

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

// measured compares what groups have committed with the ends of a topic's logs. A row is there for each partition that has
// a commit or an owner.
func (t *Timeline) measured(o LogEnds) {
	ends := slices.Clone(o.Partitions)
	slices.SortFunc(ends, func(a, b LogEnd) int { return cmp.Compare(a.Partition, b.Partition) })
	list := t.sorted()
	if o.Groups != nil {
		list = nil
		for _, name := range o.Groups {
			if g := t.groups[name]; g != nil {
				list = append(list, g)
			}
		}
	}
	for _, g := range list {
		if rows := t.lagOf(g, &o, ends); len(rows) > 0 {
			t.emit(g, when{o.AskedMs, o.AnsweredMs, event.Sampled}, 0, event.LagMeasured{Topic: o.Topic, Partitions: rows})
		}
	}
}

// OneShort are the partitions of which one of the groups has committed all but the last position, ascending: a host finds out
// whether a transaction's marker lies there (LogEnd.Marker).
func (t *Timeline) OneShort(o LogEnds) (list []int32) {
	for _, end := range o.Partitions {
		if slices.ContainsFunc(o.Groups, func(name string) bool {
			g := t.groups[name]
			if g == nil || end.Code != 0 {
				return false
			}
			c := g.committed(o.Topic, end.Partition)
			return c != nil && c.value == end.End-1
		}) {
			list = append(list, end.Partition)
		}
	}
	slices.Sort(list)
	return list
}

func (t *Timeline) lagOf(g *group, o *LogEnds, ends []LogEnd) []event.PartitionLag {
	numbers := map[int32]bool{}
	if x := g.topicOffsets(o.Topic); x != nil {
		for i := range x.list {
			numbers[x.list[i].partition] = true
		}
	}
	for _, m := range g.members {
		for _, x := range m.assigned {
			if x.Topic == o.Topic {
				for _, number := range x.Partitions {
					numbers[number] = true
				}
			}
		}
	}
	rows := make([]event.PartitionLag, 0, len(numbers))
	for number := range numbers {
		rows = append(rows, t.lagRow(g, o, ends, number))
	}
	slices.SortFunc(rows, func(a, b event.PartitionLag) int { return cmp.Compare(a.Partition, b.Partition) })
	return rows
}

// lagRow compares one partition. The end is asked for after the commit was read, so the end is behind it only where the
// commit came meanwhile, or where the log is another one than the commit was for.
func (t *Timeline) lagRow(g *group, o *LogEnds, ends []LogEnd, number int32) event.PartitionLag {
	const unknownTopic = 3 // UNKNOWN_TOPIC_OR_PARTITION
	row := event.PartitionLag{Partition: number, Committed: -1, End: -1}
	c := g.committed(o.Topic, number)
	if c != nil {
		row.Committed = c.value
	}
	i, found := slices.BinarySearchFunc(ends, number, func(e LogEnd, number int32) int { return cmp.Compare(e.Partition, number) })
	var end LogEnd
	if found {
		end = ends[i]
	}
	known := t.topics[o.Topic]
	switch {
	case known != nil && known.gone, found && end.Code == unknownTopic:
		row.Words = "the topic was deleted"
	case !found:
		row.Words = "the log's end is not known"
	case end.Code != 0:
		row.Words = "the log's end is not known: " + event.CodeName(end.Code)
	case c == nil:
		row.End, row.Words = end.End, "no commit"
	case c.value > end.End && c.commitMs >= o.AskedMs-readOrderMs:
		row.End, row.Words = c.value, "just caught up"
	case c.value > end.End:
		row.End, row.Words = end.End, "committed beyond the log's end: the topic was made anew, or its log was cut"
	case end.Start >= 0 && c.value < end.Start:
		row.End, row.Words = end.End, "behind the log's start"
	case end.Marker && end.End-c.value == 1:
		row.End, row.Words = end.End, "only markers are left"
	default:
		row.End = end.End
	}
	return row
}

// readOrderMs is how far the clocks of brokers and of the observer may differ where a commit is compared with an end.
const readOrderMs = 2000
