package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim"
)

// questionKind is an API that ask can send: its newest version here, and how its request is made.
type questionKind struct {
	key    int16
	newest int16
	make   func(q question, version int16) kmsg.Request
}

var questions = []questionKind{
	{kmsg.OffsetCommit.Int16(), 9, question.offsetCommit},
	{kmsg.OffsetFetch.Int16(), 9, question.offsetFetch},
	{kmsg.FindCoordinator.Int16(), 4, question.findCoordinator},
	{kmsg.JoinGroup.Int16(), 9, question.joinGroup},
	{kmsg.Heartbeat.Int16(), 4, question.heartbeat},
	{kmsg.LeaveGroup.Int16(), 5, question.leaveGroup},
	{kmsg.SyncGroup.Int16(), 5, question.syncGroup},
	{kmsg.DescribeGroups.Int16(), 5, question.describeGroups},
	{kmsg.ListGroups.Int16(), 5, question.listGroups},
	{kmsg.TxnOffsetCommit.Int16(), 3, question.txnOffsetCommit},
	{kmsg.DeleteGroups.Int16(), 2, question.deleteGroups},
	{kmsg.OffsetDelete.Int16(), 0, question.offsetDelete},
}

// question is an ask under way: what its options say.
type question struct {
	e     *Engine
	c     Command
	group string
	who   sim.Identity
}

// request makes the request of an ask.
func (q question) request(api string) (kmsg.Request, error) {
	kind, _ := askedKey(api)
	q.who = sim.Identity{Generation: -1}
	if name, _ := q.c.option("member"); name != "" {
		known := false
		if q.who, known = q.e.world.Identity(name); !known {
			q.who = sim.Identity{MemberID: name, Generation: -1}
		}
	}
	if name, given := q.c.option("producer"); given {
		p, known := q.e.world.Identity(name)
		if !known {
			return nil, fmt.Errorf("there is no consumer %q whose producer that could be", name)
		}
		q.who.TransactionalID, q.who.ProducerID, q.who.ProducerEpoch = p.TransactionalID, p.ProducerID, p.ProducerEpoch
	}
	version := kind.newest
	if v, given := q.c.option("v"); given {
		n, _ := strconv.ParseInt(v, 10, 16)
		if version = int16(n); version > kind.newest {
			return nil, fmt.Errorf("there is no v=%d of %s here: 0 to %d", n, event.APIName(kind.key), kind.newest)
		}
	}
	if instance, given := q.c.option("instance"); given {
		q.who.InstanceID = strings.TrimPrefix(instance, "none")
	}
	if _, given := q.c.option("generation"); given {
		q.who.Generation = int32(q.c.numberOption("generation"))
	}
	if id, given := q.c.option("transactional"); given {
		q.who.TransactionalID = id
	}
	req := kind.make(q, version)
	req.SetVersion(version)
	return req, nil
}

func (q question) instance() *string {
	if q.who.InstanceID == "" {
		return nil
	}
	return &q.who.InstanceID
}

// text is an option's value, or what stands for it.
func (q question) text(key, otherwise string) string {
	if v, given := q.c.option(key); given {
		return v
	}
	return otherwise
}

// nullable is an option's value, nil for none.
func (q question) nullable(key, otherwise string) *string {
	v := q.text(key, otherwise)
	if v == "none" {
		return nil
	}
	return &v
}

func (q question) ms(key string, otherwise int32) int32 {
	if _, given := q.c.option(key); given {
		return int32(min(q.c.durationOption(key), 1<<31-1-5000))
	}
	return otherwise
}

// topics are the partitions option by topic, in the order in which they are named.
func (q question) topics() (list []event.TopicPartitions) {
	named, given := q.c.option("partitions")
	if !given {
		return nil
	}
	for _, p := range strings.Split(named, ",") {
		topic, number, _ := parsePartition(p)
		i := slices.IndexFunc(list, func(t event.TopicPartitions) bool { return t.Topic == topic })
		if i < 0 {
			i, list = len(list), append(list, event.TopicPartitions{Topic: topic})
		}
		list[i].Partitions = append(list[i].Partitions, number)
	}
	return list
}

func (q question) metadata() *string {
	s := strings.Repeat("x", int(q.c.numberOption("metadata")))
	return &s
}

func (q question) joinGroup(int16) kmsg.Request {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.InstanceID = q.group, q.who.MemberID, q.instance()
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = q.ms("session", 10_000), q.ms("rebalance", 60_000)
	req.ProtocolType = q.text("type", "consumer")
	topics := q.e.topics
	if t, given := q.c.option("topics"); given {
		topics = strings.Split(t, ",")
	}
	if names := q.text("protocols", "range"); names != "" {
		for _, name := range strings.Split(names, ",") {
			req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: sim.Subscription(topics)})
		}
	}
	return req
}

func (q question) syncGroup(version int16) kmsg.Request {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = q.group, q.who.MemberID, q.instance(), q.who.Generation
	if version >= 5 {
		req.ProtocolType, req.Protocol = q.nullable("type", "consumer"), q.nullable("protocols", "range")
	}
	return req
}

func (q question) heartbeat(int16) kmsg.Request {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = q.group, q.who.MemberID, q.instance(), q.who.Generation
	return req
}

func (q question) leaveGroup(int16) kmsg.Request {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = q.group, q.who.MemberID
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID, m.InstanceID = q.who.MemberID, q.instance()
	reason := "removed by a tool"
	m.Reason = &reason
	req.Members = append(req.Members, m)
	return req
}

func (q question) offsetCommit(version int16) kmsg.Request {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = q.group, q.who.MemberID, q.instance(), q.who.Generation
	if _, given := q.c.option("retention"); given {
		req.RetentionTimeMillis = q.c.durationOption("retention")
	}
	for _, t := range q.topics() {
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			one := kmsg.NewOffsetCommitRequestTopicPartition()
			one.Partition, one.Offset, one.Metadata = p, q.c.numberOption("offset"), q.metadata()
			topic.Partitions = append(topic.Partitions, one)
		}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

func (q question) txnOffsetCommit(int16) kmsg.Request {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = q.group, q.who.MemberID, q.instance(), q.who.Generation
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = q.who.TransactionalID, q.who.ProducerID, q.who.ProducerEpoch
	for _, t := range q.topics() {
		topic := kmsg.NewTxnOffsetCommitRequestTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			one := kmsg.NewTxnOffsetCommitRequestTopicPartition()
			one.Partition, one.Offset, one.Metadata = p, q.c.numberOption("offset"), q.metadata()
			topic.Partitions = append(topic.Partitions, one)
		}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// offsetFetch asks for everything where no partitions are named.
func (q question) offsetFetch(version int16) kmsg.Request {
	req := kmsg.NewPtrOffsetFetchRequest()
	stable := q.text("stable", "no") == "yes"
	req.Group, req.RequireStable = q.group, stable
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = q.group
	for _, t := range q.topics() {
		req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: t.Topic, Partitions: t.Partitions})
		g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	if version >= 8 {
		req.Groups = append(req.Groups, g)
	}
	return req
}

func (q question) offsetDelete(int16) kmsg.Request {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = q.group
	for _, t := range q.topics() {
		topic := kmsg.NewOffsetDeleteRequestTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
		}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

func (q question) deleteGroups(int16) kmsg.Request {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{q.group}
	return req
}

func (q question) describeGroups(int16) kmsg.Request {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{q.group}
	return req
}

func (q question) listGroups(int16) kmsg.Request { return kmsg.NewPtrListGroupsRequest() }

func (q question) findCoordinator(int16) kmsg.Request {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = q.group, []string{q.group}
	return req
}
