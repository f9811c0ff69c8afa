//go:build interop

package differ

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// who is one way to name oneself in a request, right or wrong.
type who struct {
	name       string
	member     func(situation) string
	instance   func(situation) *string
	generation func(situation) int32
}

func fixed(id string) func(situation) string { return func(situation) string { return id } }

func noInstance(situation) *string { return nil }

func named(id string) func(situation) *string { return func(situation) *string { return &id } }

func current(at situation) int32 { return at.generation }

func shifted(by int32) func(situation) int32 {
	return func(at situation) int32 { return at.generation + by }
}

func always(g int32) func(situation) int32 { return func(situation) int32 { return g } }

func leader(at situation) string   { return at.leader }
func follower(at situation) string { return at.follower }

func instanceOf(role string) func(situation) *string {
	return func(at situation) *string { return at.instance(role) }
}

// members are asked about by every request of a member of a group.
var members = []who{
	{"the leader", leader, instanceOf("leader"), current},
	{"the follower", follower, instanceOf("follower"), current},
	{"the follower of the generation before", follower, instanceOf("follower"), shifted(-1)},
	{"the follower of the generation to come", follower, instanceOf("follower"), shifted(1)},
	{"the follower without a generation", follower, instanceOf("follower"), always(-1)},
	{"an unknown id", fixed("nobody"), noInstance, current},
	{"an unknown id of a wrong generation", fixed("nobody"), noInstance, shifted(3)},
	{"an unknown id without a generation", fixed("nobody"), noInstance, always(-1)},
	{"no id", fixed(""), noInstance, current},
	{"no id and no generation", fixed(""), noInstance, always(-1)},
	{"a pending id", func(at situation) string { return at.pending }, noInstance, current},
	{"the follower under the leader's instance id", follower, named("one"), current},
	{"the follower under an unknown instance id", follower, named("three"), current},
	{"the follower without its instance id", follower, noInstance, current},
	{"no id under the leader's instance id", fixed(""), named("one"), current},
	{"no id under an unknown instance id", fixed(""), named("three"), current},
	{"an unknown id under the leader's instance id", fixed("nobody"), named("one"), current},
}

// fits leaves out what asks the same again: pending ids where there is none, instance ids before they exist.
func (w who) fits(at situation, instanceSince, version int16) bool {
	if w.name == "a pending id" && at.pending == "" {
		return false
	}
	if w.name == "the follower without its instance id" && !at.static {
		return false
	}
	return w.instance(at) == nil || version >= instanceSince
}

// question is a request in some version, of somebody, in a situation.
type question struct {
	name  string
	api   int16
	since int16 // the first version for which it is put, 0 for all
	fits  func(at situation, version int16) bool
	build func(group string, at situation, version int16) kmsg.Request
	// ask takes the place of build where one request is not enough.
	ask func(s *side, at situation, version int16)
}

func always2(situation, int16) bool { return true }

// questions are all that is asked in every situation and version.
func questions() (all []question) {
	for _, w := range members {
		all = append(all, w.joins()...)
		all = append(all, w.syncs()...)
		all = append(all, w.heartbeat(), w.leaves(), w.commits())
	}
	return append(append(all, txnCommits()...), others()...)
}

func (w who) joins() (all []question) {
	if w.generation(situation{generation: 5}) != 5 {
		return nil // a JoinGroup has no generation
	}
	kinds := []struct {
		name      string
		protocols []string
		typ       string
		sessionMs int32
	}{
		{"", both, "consumer", sessionMs},
		{", its list of protocols cut", rangeOnly, "consumer", sessionMs},
		{", no protocol in common", []string{"exotic"}, "consumer", sessionMs},
		{", no protocol", nil, "consumer", sessionMs},
		{", another protocol type", both, "connect", sessionMs},
		{", no protocol type", both, "", sessionMs},
		{", a session that is too short", both, "consumer", 5},
		{", a session that is too long", both, "consumer", 1_800_001},
	}
	for i, k := range kinds {
		if i > 1 && w.name != "the follower" && w.name != "no id" && w.name != "an unknown id" && w.name != "no id under an unknown instance id" {
			continue
		}
		all = append(all, question{name: "JoinGroup of " + w.name + k.name, api: 11,
			fits: func(at situation, v int16) bool { return w.fits(at, 5, v) },
			build: func(group string, at situation, v int16) kmsg.Request {
				r := join(v, group, w.member(at), w.instance(at), k.protocols...)
				r.ProtocolType, r.SessionTimeoutMillis = k.typ, k.sessionMs
				r.Reason = kmsg.StringPtr("asked")
				return r
			}})
	}
	return all
}

func (w who) syncs() (all []question) {
	kinds := []struct {
		name         string
		typ, name_   *string
		sinceVersion int16
		assign       bool
	}{
		{"", kmsg.StringPtr("consumer"), kmsg.StringPtr("range"), 0, true},
		{" without assignments", kmsg.StringPtr("consumer"), kmsg.StringPtr("range"), 0, false},
		{", another protocol type", kmsg.StringPtr("connect"), kmsg.StringPtr("range"), 5, true},
		{", another protocol", kmsg.StringPtr("consumer"), kmsg.StringPtr("roundrobin"), 5, true},
		{", no protocol type", nil, kmsg.StringPtr("range"), 5, true},
		{", no protocol", kmsg.StringPtr("consumer"), nil, 5, true},
	}
	for i, k := range kinds {
		if i > 0 && w.name != "the leader" && w.name != "the follower" && w.name != "an unknown id" {
			continue
		}
		all = append(all, question{name: "SyncGroup of " + w.name + k.name, api: 14, since: k.sinceVersion,
			fits: func(at situation, v int16) bool { return w.fits(at, 3, v) },
			build: func(group string, at situation, v int16) kmsg.Request {
				assign, order := map[string][]byte{at.leader: assignment("orders", 0), at.follower: assignment("orders", 1), "stranger": assignment("orders", 2)}, []string{at.leader, at.follower, "stranger"}
				if !k.assign {
					order = nil
				}
				r := syncGroup(v, group, w.member(at), w.instance(at), w.generation(at), assign, order...)
				if v >= 5 {
					r.ProtocolType, r.Protocol = k.typ, k.name_
				}
				return r
			}})
	}
	return all
}

func (w who) heartbeat() question {
	return question{name: "Heartbeat of " + w.name, api: 12, fits: func(at situation, v int16) bool { return w.fits(at, 3, v) },
		build: func(group string, at situation, v int16) kmsg.Request {
			r := kmsg.NewPtrHeartbeatRequest()
			r.Version, r.Group, r.MemberID, r.InstanceID, r.Generation = v, group, w.member(at), w.instance(at), w.generation(at)
			return r
		}}
}

func (w who) leaves() question {
	return question{name: "LeaveGroup of " + w.name, api: 13,
		fits: func(at situation, v int16) bool {
			return w.generation(situation{generation: 5}) == 5 && w.fits(at, 3, v)
		},
		build: func(group string, at situation, v int16) kmsg.Request {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Version, r.Group, r.MemberID = v, group, w.member(at)
			if v >= 3 {
				r.MemberID = ""
				m := kmsg.NewLeaveGroupRequestMember()
				m.MemberID, m.InstanceID, m.Reason = w.member(at), w.instance(at), kmsg.StringPtr("asked")
				r.Members = append(r.Members, m)
			}
			return r
		}}
}

func (w who) commits() question {
	return question{name: "OffsetCommit of " + w.name, api: 8, fits: func(at situation, v int16) bool { return w.fits(at, 7, v) },
		build: func(group string, at situation, v int16) kmsg.Request {
			r := commit(v, group, w.member(at), w.instance(at), w.generation(at), "orders", 0, 1, 99)
			long := kmsg.NewOffsetCommitRequestTopicPartition()
			long.Partition, long.Offset, long.Metadata = 2, 7, kmsg.StringPtr(string(make([]byte, 5000)))
			null := kmsg.NewOffsetCommitRequestTopicPartition()
			null.Partition, null.Offset, null.Metadata = 3, 8, nil
			r.Topics[0].Partitions = append(r.Topics[0].Partitions, long, null)
			absent := kmsg.NewOffsetCommitRequestTopic()
			absent.Topic, absent.Partitions = "absent", []kmsg.OffsetCommitRequestTopicPartition{kmsg.NewOffsetCommitRequestTopicPartition()}
			r.Topics = append(r.Topics, absent)
			return r
		}}
}

// others are asked by nobody in particular.
func others() (all []question) {
	add := func(api, since int16, name string, build func(group string, at situation, v int16) kmsg.Request) {
		all = append(all, question{name: name, api: api, since: since, fits: always2, build: build})
	}
	for _, batch := range []string{"both members", "a member twice and a stranger", "nobody"} {
		add(13, 3, "LeaveGroup of "+batch, func(group string, at situation, v int16) kmsg.Request {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Version, r.Group = v, group
			ids := map[string][]string{"both members": {at.leader, at.follower}, "a member twice and a stranger": {at.follower, "stranger", at.follower}}[batch]
			for _, id := range ids {
				m := kmsg.NewLeaveGroupRequestMember()
				m.MemberID = id
				r.Members = append(r.Members, m)
			}
			return r
		})
	}
	add(9, 0, "OffsetFetch of some partitions", func(group string, _ situation, v int16) kmsg.Request {
		return fetch(v, group, false, []int32{0, 1, 99}, "orders", "absent")
	})
	add(9, 2, "OffsetFetch of everything", func(group string, _ situation, v int16) kmsg.Request { return fetch(v, group, false, nil) })
	add(9, 7, "OffsetFetch of stable offsets", func(group string, _ situation, v int16) kmsg.Request {
		return fetch(v, group, true, []int32{0, 1}, "orders")
	})
	add(15, 0, "DescribeGroups", func(group string, _ situation, v int16) kmsg.Request { return describe(v, group) })
	add(15, 3, "DescribeGroups with what is allowed", func(group string, _ situation, v int16) kmsg.Request {
		r := describe(v, group, group+"-absent")
		r.IncludeAuthorizedOperations = true
		return r
	})
	add(42, 0, "DeleteGroups", func(group string, _ situation, v int16) kmsg.Request {
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Version, r.Groups = v, []string{group, group + "-absent", group}
		return r
	})
	add(47, 0, "OffsetDelete", func(group string, _ situation, v int16) kmsg.Request {
		r := kmsg.NewPtrOffsetDeleteRequest()
		r.Version, r.Group = v, group
		for _, topic := range []string{"orders", "other", "absent"} {
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = topic
			for _, p := range []int32{0, 99} {
				t.Partitions = append(t.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
			}
			r.Topics = append(r.Topics, t)
		}
		return r
	})
	add(28, 0, "TxnOffsetCommit without a transaction", func(group string, at situation, v int16) kmsg.Request {
		r := kmsg.NewPtrTxnOffsetCommitRequest()
		r.Version, r.Group, r.TransactionalID, r.ProducerID, r.ProducerEpoch = v, group, "absent-"+group, 4711, 0
		t := kmsg.NewTxnOffsetCommitRequestTopic()
		t.Topic, t.Partitions = "orders", []kmsg.TxnOffsetCommitRequestTopicPartition{kmsg.NewTxnOffsetCommitRequestTopicPartition()}
		r.Topics = append(r.Topics, t)
		return r
	})
	return all
}

func fetch(v int16, group string, stable bool, partitions []int32, topics ...string) *kmsg.OffsetFetchRequest {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Version, r.Group, r.RequireStable = v, group, stable
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	for _, topic := range topics {
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		r.Topics = append(r.Topics, t)
		gt := kmsg.NewOffsetFetchRequestGroupTopic()
		gt.Topic, gt.Partitions = topic, partitions
		g.Topics = append(g.Topics, gt)
	}
	r.Groups = append(r.Groups, g)
	return r
}

func (q question) title(situation string, v int16) string {
	return fmt.Sprintf("%s v%d | %s", q.name, v, situation)
}
