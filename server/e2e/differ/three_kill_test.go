//go:build interop

package differ

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// killed is what is on broker 1 when it is killed: groups in every state, an open transaction, an idempotent producer.
type killed struct {
	groups      map[string]situation // by state
	transaction producer
	plain       producer
}

func groupOf(state string) string {
	return keysAt(1, threePartitions[offsetsTopic], "killed-"+state+"-", 1)[0]
}

// before brings groups into every state at broker 1, begins a transaction there, and writes to a partition that it leads.
func (k *killed) before(t *trio) {
	k.groups = map[string]situation{}
	at1 := t.sides[1]
	for state, reach := range map[string]func(*side) situation{
		"stable": func(s *side) situation { return s.stable(false) }, "static": func(s *side) situation { return s.stable(true) },
		"preparing": func(s *side) situation { return s.preparing(false) }, "completing": func(s *side) situation { return s.joined(false) },
		"again": (*side).again, "pending": func(s *side) situation { return s.withPending(s.stable(false)) }, "empty": (*side).empty, "simple": (*side).simple,
	} {
		t.called(groupOf(state))
		for _, s := range t.sides { // each group has members of its own
			t.forgetConnections(s)
		}
		k.groups[state] = reach(at1)
		if state == "stable" {
			at := k.groups[state]
			a := t.ask(1, "leader", commit(7, t.group, at.leader, nil, at.generation, dataTopic, 0, 1)).(*kmsg.OffsetCommitResponse)
			if a.Topics[0].Partitions[0].ErrorCode != 0 {
				t.stop("the commit: error %d", a.Topics[0].Partitions[0].ErrorCode)
			}
		}
	}
	t.nameInOrder(k.groups)
	k.transact(t)
	k.plain = at1.newProducer("")
	for sequence := range int32(3) {
		a := t.ask(1, "producer", produceTo(9, dataTopic, -1, 0, batchOf("kept", k.plain.pid, k.plain.epoch, sequence))).(*kmsg.ProduceResponse)
		if code := a.Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.stop("producing: error %d", code)
		}
	}
}

func (t *trio) forgetConnections(s *side) {
	s.close()
	clear(s.conns)
}

// nameInOrder names the members anew: the groups were made in no order.
func (t *trio) nameInOrder(groups map[string]situation) {
	names := t.sides[1].names
	clear(names)
	for _, state := range sortedKeys(groups) {
		for _, id := range []string{groups[state].leader, groups[state].follower, groups[state].newcomer, groups[state].pending} {
			if id != "" {
				names[id] = fmt.Sprintf("m%d", len(names)+1)
			}
		}
	}
}

// transact commits offsets and a record in a transaction that stays open.
func (k *killed) transact(t *trio) {
	t.called(groupOf("transaction"))
	s := t.sides[1]
	id := keysAt(1, threePartitions[txnTopic], "killed-tx", 1)[0]
	k.transaction = s.newProducer(id)
	p := k.transaction
	t.until("part of the transaction", func() bool {
		return t.ask(1, "tx", p.addOffsets(3, t.group)).(*kmsg.AddOffsetsToTxnResponse).ErrorCode == 0
	})
	t.until("part of the transaction", func() bool {
		return t.ask(1, "tx", p.addPartitions(3, dataTopic, 3)).(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode == 0
	})
	if a := t.ask(1, "tx", p.commit(3, t.group, "", nil, -1, 0)).(*kmsg.TxnOffsetCommitResponse); a.Topics[0].Partitions[0].ErrorCode != 0 {
		t.stop("TxnOffsetCommit: error %d", a.Topics[0].Partitions[0].ErrorCode)
	}
	r := produceTo(9, dataTopic, -1, 3, transactional(batchOf("in a transaction", p.pid, p.epoch, 0)))
	r.TransactionID = &p.id
	if a := t.ask(1, "tx", r).(*kmsg.ProduceResponse); a.Topics[0].Partitions[0].ErrorCode != 0 {
		t.stop("producing in the transaction: error %d", a.Topics[0].Partitions[0].ErrorCode)
	}
}

// kill ends broker 1 and looks at what clients see until broker 2 serves what it served, and at what is there then.
func (k *killed) kill(t *trio) {
	t.hangUp()
	if err := t.kill(1); err != nil {
		t.stop("killing: %v", err)
	}
	t.called(groupOf("stable"))
	find := findCoordinator(t.group)
	for id := int32(2); id <= 3; id++ {
		t.sequence(id, "FindCoordinator until another is told", []int16{0, 15}, find, func(a kmsg.Response) (int16, bool) {
			f := a.(*kmsg.FindCoordinatorResponse)
			return f.ErrorCode, f.ErrorCode == 0 && f.NodeID != 1
		})
	}
	t.tell(2, "finder", "after the kill", find)
	t.tell(3, "finder", "after the kill", find)
	for _, state := range sortedKeys(k.groups) {
		t.called(groupOf(state))
		t.sequence(2, "DescribeGroups until it is served", []int16{0, 14, 15, 16}, describe(5, t.group), func(a kmsg.Response) (int16, bool) {
			code := a.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode
			return code, code == 0
		})
	}
	t.until("fenced", func() bool {
		return len(t.topic(2, dataTopic).Partitions[0].ISR) < 3 && len(t.topic(3, dataTopic).Partitions[0].ISR) < 3
	})
	for id := int32(2); id <= 3; id++ {
		for _, name := range sortedKeys(threePartitions) {
			t.until("without the broker that was killed", func() bool {
				return !slices.ContainsFunc(t.topic(id, name).Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.Leader == 1 || len(p.ISR) != 2 })
			})
			t.tellTopic(id, name+" after the kill", name)
		}
		t.tell(id, "metadata", "what brokers there are", &kmsg.DescribeClusterRequest{Version: 0, EndpointType: 1})
	}
	k.groupsAfter(t)
	k.transactionAfter(t)
	k.dataAfter(t)
}

// sequence repeats a request until done, and keeps that only the given codes were seen: which of them, and how often, hangs
// on the moment. It notes what was seen.
func (t *trio) sequence(broker int32, about string, allowed []int16, r kmsg.Request, done func(kmsg.Response) (int16, bool)) {
	var seen []int16
	ended := false
	for deadline := time.Now().Add(90 * time.Second); !ended && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var code int16
		code, ended = done(t.ask(broker, "sequence", r))
		if len(seen) == 0 || seen[len(seen)-1] != code {
			seen = append(seen, code)
		}
	}
	t.seen = append(t.seen, fmt.Sprintf("%s of broker %d: %s", about, broker, errorSet(seen)))
	foreign := slices.DeleteFunc(slices.Clone(seen), func(c int16) bool { return slices.Contains(allowed, c) })
	t.note(fmt.Sprintf("%s of broker %d: %s", kmsg.NameForKey(r.Key()), broker, about), fmt.Sprintf("  ended well: %v; other codes than %v: %v", ended, allowed, foreign))
}

// groupsAfter asks the new coordinator about every group, as its members would.
func (k *killed) groupsAfter(t *trio) {
	for _, state := range sortedKeys(k.groups) {
		at := k.groups[state]
		t.called(groupOf(state))
		for _, s := range t.sides {
			t.forgetConnections(s)
		}
		t.tell(2, "looker", state+", after the kill", describe(5, t.group))
		t.tell(2, "looker", state+", its offsets", fetch(8, t.group, true, nil))
		for _, w := range members {
			if w.name == "a pending id" && at.pending == "" || w.name == "the follower without its instance id" && !at.static {
				continue
			}
			for _, q := range []question{w.heartbeat(), w.commits()} {
				t.tell(2, w.name, state+", "+q.name, q.build(t.group, at, 8-4*(q.api/12)))
			}
		}
		assign := map[string][]byte{at.leader: assignment(dataTopic, 0)}
		t.tell(2, "follower", state+", the follower's sync", syncGroup(5, t.group, at.follower, at.instance("follower"), at.generation, nil))
		t.tell(2, "leader", state+", the leader's sync", syncGroup(5, t.group, at.leader, at.instance("leader"), at.generation, assign, at.leader))
		if at.pending != "" {
			t.tell(2, "pending", state+", the id that was given out", join(9, t.group, at.pending, nil, both...))
		}
		if state == "stable" {
			k.goesOn(t, at)
		}
	}
	for id := int32(2); id <= 3; id++ {
		r := kmsg.NewPtrListGroupsRequest()
		r.Version = 4
		t.tell(id, "looker", "after the kill", r)
	}
}

// goesOn lets a third member join the group that moved: the next generation follows the last one.
func (k *killed) goesOn(t *trio, at situation) {
	s := t.sides[2]
	third := join(3, t.group, "", nil, both...)
	s.send("third", third)
	s.awaitState("PreparingRebalance")
	again := join(3, t.group, at.follower, nil, both...)
	s.send("follower", again)
	t.tell(2, "leader", "the leader joins again at the new coordinator", join(3, t.group, at.leader, nil, both...))
	s.told = nil
	s.tellNext("follower", again, parkedAfter)
	s.tellNext("third", third, parkedAfter)
	t.note("JoinGroup of broker 2: the follower and a third", s.told...)
}

// transactionAfter ends the transaction at its new coordinator.
func (k *killed) transactionAfter(t *trio) {
	p := k.transaction
	t.called(groupOf("transaction"))
	t.tell(2, "reader", "stable offsets before the transaction ends", fetch(8, t.group, true, []int32{0}, dataTopic))
	t.tell(2, "reader", "offsets before the transaction ends", fetch(8, t.group, false, []int32{0}, dataTopic))
	t.sequence(2, "EndTxn until it is taken", []int16{0, 14, 15, 16, 51}, p.end(3, true), func(a kmsg.Response) (int16, bool) {
		code := a.(*kmsg.EndTxnResponse).ErrorCode
		return code, code == 0
	})
	t.until("ended", func() bool {
		row := t.ask(2, "reader", fetch(8, t.group, true, []int32{0}, dataTopic)).(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0]
		return row.ErrorCode == 0 && row.Offset >= 0
	})
	t.tell(2, "reader", "stable offsets after the transaction", fetch(8, t.group, true, []int32{0}, dataTopic))
	t.sequence(2, "AddOffsetsToTxn, the next transaction", []int16{0, 51}, p.addOffsets(3, t.group), func(a kmsg.Response) (int16, bool) {
		code := a.(*kmsg.AddOffsetsToTxnResponse).ErrorCode
		return code, code == 0
	})
	t.tell(2, "tx", "the next transaction is given up", p.end(3, false))
	t.sequence(2, "InitProducerId, another process", []int16{0, 51}, initProducer(4, p.id, 60_000), func(a kmsg.Response) (int16, bool) {
		code := a.(*kmsg.InitProducerIDResponse).ErrorCode
		return code, code == 0
	})
	t.tell(2, "tx", "the epoch of the process before", p.addOffsets(3, t.group))
}

// dataAfter reads and writes the partition that moved.
func (k *killed) dataAfter(t *trio) {
	epoch := t.epochs[dataTopic+"-0"]
	for _, sequence := range []int32{2, 3, 5} { // one that was written, the next, one too far
		t.tell(2, "producer", fmt.Sprintf("sequence %d at the new leader", sequence), produceTo(9, dataTopic, -1, 0, batchOf("kept", k.plain.pid, k.plain.epoch, sequence)))
	}
	t.tell(2, "reader", "where the partition ends", offsetsOf(5, dataTopic, 0, -1))
	for name, claimed := range map[string]int32{"the old epoch": epoch, "the new epoch": epoch + 1} {
		t.tellEpoch(2, "the old epoch's end, with "+name, 4, claimed, epoch)
		t.tellEpoch(2, "the new epoch's end, with "+name, 4, claimed, epoch+1)
	}
	t.tell(2, "reader", "of the old epoch", offsetsOf(5, dataTopic, 0, epoch))
	t.tell(3, "asker", "of the other follower", offsetsOf(5, dataTopic, 0, -1))
	for v := int16(0); v <= 1; v++ {
		acks := 1 - 2*v
		t.tell(3, "producer", fmt.Sprintf("min.insync.replicas is not reached, acks %d", acks), produceTo(7, strictTopic, acks, 2, batchOf("few", -1, -1, -1)))
	}
}

// transactional sets a batch's transactional bit.
func transactional(batch []byte) []byte {
	batch[22] |= 0x10
	return withCRC(batch)
}
