package sim_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

// reread loads a partition of __consumer_offsets into a coordinator that has seen nothing, as a new leader would, and
// returns the pictures of both; none where nobody leads the partition, or it is loading.
func (r *trial) reread(partition int32) (live, read *machinePicture, wrong string) {
	d := r.e.World().Drive()
	leader, epoch, _ := d.Cluster().Leader(cluster.OffsetsTopic, partition)
	m := d.Machine(leader)
	if m == nil || r.check.scene.loading[partitionAt{leader, partition}] {
		return nil, nil, ""
	}
	fresh := coordinator.New(r.e.NowMs(), coordinator.Config{Broker: leader, Numbers: &event.Numbers{}, Settings: coordinator.DefaultSettings(),
		MemberID: func(string, int32, int64) string { panic("a load makes no member ids") }})
	leaders := make([]int32, r.check.commits.n)
	fresh.MetadataChanged(r.e.NowMs(), coordinator.Metadata{OffsetsLeaders: leaders})
	end := int64(0)
	for _, copied := range d.Cluster().Replicas(cluster.OffsetsTopic, partition) {
		if copied.Leader {
			end = copied.EndOffset
		}
	}
	fresh.Immigrate(r.e.NowMs(), partition, epoch, end)
	for next := int64(0); next < end; {
		chunk, _, ok := d.Cluster().ReadLog(leader, cluster.OffsetsTopic, partition, next, 1<<20)
		if !ok {
			return nil, nil, fmt.Sprintf("the log of partition %d cannot be read at %d", partition, next)
		}
		if len(chunk) == 0 {
			break
		}
		for len(chunk) > 0 {
			b, rest, err := log.Parse(chunk)
			if err == nil && next < b.NextOffset() {
				err = give(r.e.NowMs(), fresh, partition, epoch, b)
			}
			if err != nil {
				return nil, nil, err.Error()
			}
			next, chunk = max(next, b.NextOffset()), rest
		}
	}
	fresh.Loaded(r.e.NowMs(), partition, epoch, "")
	return pictureOf(m.Facts(r.e.NowMs()), leader), pictureOf(fresh.Facts(r.e.NowMs()), leader), ""
}

// give gives a batch to a coordinator that loads it.
func give(nowMs int64, fresh *coordinator.Coordinator, partition, epoch int32, b log.Batch) error {
	var records []record.Record
	err := b.Each(nil, func(r log.Record) bool {
		records = append(records, record.Record{Key: r.Key, Value: r.Value, TimestampMs: r.TimestampMs})
		return true
	})
	fresh.Load(nowMs, partition, epoch, coordinator.LoadedBatch{BaseOffset: b.BaseOffset, ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch,
		Transactional: b.Transactional(), Control: b.Control(), Records: records, NextOffset: b.NextOffset()})
	return err
}

func pictureOf(facts []event.Event, broker int32) *machinePicture {
	p := newPicture()
	for _, e := range facts {
		p.apply(e)
	}
	return p.machine(broker)
}

// compareReplay: what a new coordinator reads from the log of a partition is what the live one has, up to what is in
// flight. Exactly:
//
//   - An offset is the live one, or that of a commit after it whose outcome nobody was told, or was told as an error.
//   - A group that is Stable, or Empty after a generation, comes back so with the same generation, leader, protocol,
//     members, timeouts and assignment, unless a record of it is being written or the last one failed.
//   - A group that rebalances comes back in no later generation than it has.
func (r *trial) compareReplay() string {
	for partition := range r.check.commits.n {
		live, read, wrong := r.reread(partition)
		if wrong != "" {
			return wrong
		}
		if live == nil {
			continue
		}
		r.check.marks.hit(markReplayed, len(live.groups) > 0)
		maps.DeleteFunc(live.groups, func(group string, _ *groupPicture) bool {
			return record.Partition(group, r.check.commits.n) != partition
		})
		if wrong := r.sameOffsets(partition, live, read); wrong != "" {
			return wrong
		}
		for _, group := range slices.Sorted(maps.Keys(live.groups)) {
			if wrong := r.sameGroup(group, live.groups[group], read.groups[group]); wrong != "" {
				return fmt.Sprintf("group %s %s", group, wrong)
			}
		}
		for _, group := range slices.Sorted(maps.Keys(read.groups)) {
			if live.groups[group] == nil && !r.inFlight(group) && len(read.groups[group].offsets) == 0 {
				return fmt.Sprintf("group %s is in the log, and was deleted", group)
			}
		}
	}
	return ""
}

// inFlight tells whether a record about a group is being written, or the last one failed.
func (r *trial) inFlight(group string) bool {
	for _, u := range r.check.appends {
		if u.group == group && u.ofGroup {
			return true
		}
	}
	return r.check.commits.unsure[group] != 0
}

// sameOffsets compares committed offsets, read and live, with what was acknowledged.
func (r *trial) sameOffsets(partition int32, live, read *machinePicture) string {
	for key, p := range r.check.commits.keys {
		if record.Partition(key.group, r.check.commits.n) != partition {
			continue
		}
		name := fmt.Sprintf("%s-%d", key.topic, key.partition)
		inMemory, inLog := noOffset, noOffset
		if g := live.groups[key.group]; g != nil {
			inMemory = g.offsets[name]
		}
		if g := read.groups[key.group]; g != nil {
			inLog = g.offsets[name]
		}
		if inMemory != p.live {
			return fmt.Sprintf("%s is %q; by what was acknowledged it is %q", key, inMemory, p.live)
		}
		if list := p.possible(); !slices.ContainsFunc(list, func(w logged) bool { return w.value == inLog }) {
			return fmt.Sprintf("%s is %q, and is read as %q; in the log may be %s", key, inMemory, inLog, values(list))
		}
	}
	return ""
}

func (r *trial) sameGroup(group string, live, read *groupPicture) string {
	if r.inFlight(group) {
		return ""
	}
	switch {
	case live.state == string(event.Stable):
	case live.state == string(event.Empty) && live.generation > 0:
	case read != nil && read.generation > live.generation:
		return fmt.Sprintf("is in generation %d, and is read in %d", live.generation, read.generation)
	default:
		return ""
	}
	if read == nil {
		return fmt.Sprintf("is %s in generation %d, and is not in the log", live.state, live.generation)
	}
	shape := func(g *groupPicture) (list []string) {
		list = append(list, fmt.Sprintf("%s in generation %d, led by %q", g.state, g.generation, g.leader))
		for _, m := range g.members {
			m.Protocols = []string{g.protocol} // a record has only the elected one
			list = append(list, fmt.Sprintf("%+v assigned %s", m, g.assignment[m.Member]))
		}
		slices.Sort(list)
		return list
	}
	if diff := differences(shape(live), shape(read), 6); diff != nil {
		return fmt.Sprintf("differs, live and read:\n%v", diff)
	}
	return ""
}

// compareFetch asks every coordinator for all offsets of every group, on copies: what was acknowledged is found, and
// nothing else.
func (r *trial) compareFetch() string {
	d := r.e.World().Drive()
	for at := range r.check.scene.groups {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version = 5
		req.Group = at.group
		p := d.Probe(r.e.NowMs(), at.broker, coordinator.Request{ClientID: "check", Kmsg: req})
		resp, ok := p.Reply.(*kmsg.OffsetFetchResponse)
		if !ok || resp.ErrorCode != 0 {
			return fmt.Sprintf("OffsetFetch of group %s at broker %d is answered %+v", at.group, at.broker, p)
		}
		got := map[commitKey]string{}
		for _, t := range resp.Topics {
			for _, o := range t.Partitions {
				got[commitKey{at.group, t.Topic, o.Partition}] = offsetText(event.OffsetValue{Offset: o.Offset, Metadata: *o.Metadata, LeaderEpoch: o.LeaderEpoch})
			}
		}
		for key, p := range r.check.commits.keys {
			if key.group == at.group && p.live != got[key] {
				return fmt.Sprintf("%s is fetched as %q; by what was acknowledged it is %q", key, got[key], p.live)
			}
			delete(got, key)
		}
		if len(got) > 0 {
			return fmt.Sprintf("nobody committed what is fetched: %v", got)
		}
	}
	return ""
}

// compareFacts: a viewer that comes now and gets Facts sees what one sees that has been there from the beginning.
func (r *trial) compareFacts() string {
	late := newPicture()
	for _, e := range r.e.World().Facts() {
		late.apply(e)
	}
	if diff := differences(r.check.picture.lines(), late.lines(), 12); diff != nil {
		return fmt.Sprintf("Facts (+) tell another picture than all events since the beginning (-): %q", diff)
	}
	return ""
}

// agrees looks at the world as a whole: its log, what can be fetched of it, its facts.
func (r *trial) agrees() *failure {
	for _, one := range []struct {
		check string
		look  func() string
	}{{"facts", r.compareFacts}, {"replay", r.compareReplay}, {"fetch", r.compareFetch}} {
		if wrong := one.look(); wrong != "" {
			return &failure{check: one.check, what: wrong}
		}
	}
	return nil
}
