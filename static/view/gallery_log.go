package view

import "grouplab/coordinator/event"

// write appends records to the group's offsets partition at the leader and leaves them in flight.
func (s *story) write(what string, records ...event.LogRecord) int64 {
	s.appends++
	s.here(event.AppendStarted{Append: s.appends, Partition: s.part, Records: len(records), What: what, DeadlineMs: s.nowMs + 5000})
	s.here(event.RecordsAppended{Topic: offsetsTopic, Partition: s.part, BaseOffset: s.endAt, Count: len(records), Bytes: 90 * len(records),
		Records: records, Append: s.appends})
	s.endAt += int64(len(records))
	return s.appends
}

// replicate lets the followers catch up and the high watermark follow.
func (s *story) replicate(append int64) {
	s.nowMs += 3
	for _, id := range others(s.broker)[1:] {
		s.say(id, "", event.ReplicaAdvanced{Topic: offsetsTopic, Partition: s.part, EndOffset: s.endAt})
	}
	s.say(s.broker, "", event.HighWatermarkAdvanced{Topic: offsetsTopic, Partition: s.part, Offset: s.endAt, EndOffset: s.endAt})
	s.here(event.AppendFinished{Append: append, Partition: s.part, BaseOffset: s.endAt - 1})
}

func (s *story) groupRecord() event.LogRecord {
	return event.LogRecord{What: "group", Group: s.group, Generation: s.gen, Members: len(s.members), Protocol: "range"}
}

// synced writes the assignment and answers every parked SyncGroup; the clients take their partitions over.
func (s *story) synced() {
	list := s.assign()
	s.replicate(s.write("group", s.groupRecord()))
	s.here(event.AssignmentStored{Generation: s.gen, Assignments: list})
	s.move(event.Stable, event.WhyAssignmentWritten, "")
	for _, a := range s.members {
		if a.syncAt != 0 {
			s.answer(a, a.syncAt, apiSyncGroup, 0, 5)
			s.beat(a)
		}
	}
	s.here(event.OperationCompleted{Op: s.syncOp, Type: event.DelayedSync, How: "every member has sent SyncGroup"})
	s.nowMs += 2
	for _, a := range s.members {
		if a.syncAt == 0 {
			continue
		}
		s.arrive(a, a.syncAt, apiSyncGroup, 0)
		s.there(event.ClientStateChanged{Client: a.client, From: event.Rebalancing, To: event.Joined, Member: a.id, Generation: s.gen, Reason: "SyncGroup was answered"})
		if t := s.topics(a); t != nil {
			s.there(event.ClientAssigned{Client: a.client, Member: a.id, Generation: s.gen, Topics: t})
		}
		a.syncAt = 0
	}
}

// round is a whole rebalance from the end of the join phase to Stable.
func (s *story) round(why event.Why) {
	s.joined(why)
	for _, a := range s.members {
		s.sync(a)
	}
	s.synced()
}

// commitSent is an OffsetCommit that waits for the log.
func (s *story) commitSent(a *actor, by int64) int64 {
	ticket := s.send(a, 8)
	s.beat(a)
	var values []event.OffsetValue
	var records []event.LogRecord
	for _, p := range a.partitions {
		a.lastOfPartitions[p] += by + int64(p)*7
		values = append(values, event.OffsetValue{Topic: s.topic, Partition: p, Offset: a.lastOfPartitions[p], LeaderEpoch: 0})
		records = append(records, event.LogRecord{What: "offset", Group: s.group, Topic: s.topic, Partition: p, Offset: a.lastOfPartitions[p]})
	}
	s.here(event.OffsetsPending{Member: a.id, Generation: s.gen, Append: s.appends + 1, Offsets: values})
	s.write("offsets", records...)
	return ticket
}

// commit is an OffsetCommit from the request to its answer.
func (s *story) commit(a *actor, by int64) {
	ticket := s.commitSent(a, by)
	s.replicate(s.appends)
	var values []event.OffsetValue
	for _, p := range a.partitions {
		values = append(values, event.OffsetValue{Topic: s.topic, Partition: p, Offset: a.lastOfPartitions[p]})
	}
	s.here(event.OffsetsCommitted{Append: s.appends, BaseOffset: s.endAt - int64(len(values)), Offsets: values})
	s.answer(a, ticket, 8, 0, 0)
	s.nowMs += 2
	s.arrive(a, ticket, 8, 0)
}

// rejoin is how a member learns of a rebalance: a heartbeat is answered REBALANCE_IN_PROGRESS, it gives its partitions
// up and joins again.
func (s *story) rejoin(a *actor) {
	s.heartbeats(27, a)
	if t := s.topics(a); t != nil {
		s.there(event.ClientRevoked{Client: a.client, Topics: t})
	}
	s.join(a, event.WhyNewMember)
}
