//go:build interop

package differ

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// few asks what is refused while a third replica is missing: min.insync.replicas=3 is set on the coordinators' own topic.
func (k *killed) few(t *trio) {
	t.setMinInsync("3")
	at := k.groups["static"]
	t.called(groupOf("static"))
	t.until("refused", func() bool {
		a := t.ask(2, "committer", commit(7, t.group, at.leader, at.instance("leader"), at.generation, dataTopic, 0)).(*kmsg.OffsetCommitResponse)
		return a.Topics[0].Partitions[0].ErrorCode != 0
	})
	few := func(actor, about string, r kmsg.Request) { // Kafka appends, and waits offsets.commit.timeout.ms for the third replica
		t.tellWithin(2, actor, "min.insync.replicas is not reached: "+about, r, 15*time.Second)
	}
	few("committer", "a member's commit", commit(7, t.group, at.leader, at.instance("leader"), at.generation, dataTopic, 0))
	few("committer", "what is stored", fetch(8, t.group, false, nil))
	t.called(keysAt(2, threePartitions[offsetsTopic], "few", 1)[0])
	few("committer", "a simple commit", commit(9, t.group, "", nil, -1, dataTopic, 0))
	t.setMinInsync("1")
	t.until("stored", func() bool {
		a := t.ask(2, "committer", commit(9, t.group, "", nil, -1, dataTopic, 1)).(*kmsg.OffsetCommitResponse)
		return a.Topics[0].Partitions[0].ErrorCode == 0
	})
	t.tell(2, "committer", "min.insync.replicas is reached again: what is stored", fetch(8, t.group, false, []int32{1}, dataTopic))
}

func heartbeatOf(group, member string, instance *string, generation int32) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID, r.Generation = 4, group, member, instance, generation
	return r
}

// setMinInsync changes the topic of offsets and waits until the brokers that run say so.
func (t *trio) setMinInsync(value string) {
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r.Version = 1
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, offsetsTopic
	res.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "min.insync.replicas", Op: kmsg.IncrementalAlterConfigOpSet, Value: &value}}
	r.Resources = append(r.Resources, res)
	if a := t.ask(2, "admin", r).(*kmsg.IncrementalAlterConfigsResponse); a.Resources[0].ErrorCode != 0 {
		t.stop("setting min.insync.replicas: error %d", a.Resources[0].ErrorCode)
	}
	d := kmsg.NewPtrDescribeConfigsRequest()
	d.Version = 4
	d.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: offsetsTopic, ConfigNames: []string{"min.insync.replicas"}}}
	for id := int32(2); id <= 3; id++ {
		t.until("set", func() bool {
			a := t.ask(id, "admin", d).(*kmsg.DescribeConfigsResponse).Resources[0]
			return len(a.Configs) == 1 && a.Configs[0].Value != nil && *a.Configs[0].Value == value
		})
	}
}

// restart brings broker 1 back: it follows, and leads again when it is elected.
func (k *killed) restart(t *trio) {
	if err := t.restart(1); err != nil {
		t.stop("restarting: %v", err)
	}
	t.forget(1)
	all := func(holds func(kmsg.MetadataResponseTopicPartition) bool) func() bool {
		return func() bool {
			for id := int32(1); id <= 3; id++ {
				for name := range threePartitions {
					for _, row := range t.topic(id, name).Partitions {
						if !holds(row) {
							return false
						}
					}
				}
			}
			return true
		}
	}
	t.until("in sync again", all(func(p kmsg.MetadataResponseTopicPartition) bool {
		return len(p.ISR) == 3 && len(p.OfflineReplicas) == 0
	}))
	for _, name := range sortedKeys(threePartitions) {
		t.tellTopic(1, name+" after the restart", name)
	}
	some := func(v int16, kind int8, partitions ...int32) *kmsg.ElectLeadersRequest {
		r := kmsg.NewPtrElectLeadersRequest()
		r.Version, r.ElectionType, r.TimeoutMillis = v, kind, 30_000
		r.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: dataTopic, Partitions: partitions}, {Topic: "absent", Partitions: []int32{0}}}
		return r
	}
	t.tell(1, "admin", "unclean, of those that have a leader", some(2, 1, 0, 1, 99))
	t.tell(1, "admin", "v0, preferred, one that moved, one that did not, one that is not there", some(0, 0, 0, 1, 99))
	t.tell(1, "admin", "v1, preferred", some(1, 0, 3, 1))
	t.tell(1, "admin", "v2, preferred, once more", some(2, 0, 0, 3))
	r := kmsg.NewPtrElectLeadersRequest()
	r.Version, r.TimeoutMillis = 2, 30_000
	t.tell(1, "admin", "v2, preferred, every partition", r)
	t.until("led by the first replica", all(func(p kmsg.MetadataResponseTopicPartition) bool { return p.Leader == p.Replicas[0] }))
	for id := int32(1); id <= 3; id++ {
		for _, name := range sortedKeys(threePartitions) {
			t.tellTopic(id, name+" after the election", name)
		}
	}
	t.called(groupOf("static"))
	at := k.groups["static"]
	t.sequence(1, "DescribeGroups until it is served", []int16{0, 14, 15, 16}, describe(5, t.group), func(a kmsg.Response) (int16, bool) {
		code := a.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode
		return code, code == 0
	})
	t.tell(1, "looker", "back at the first coordinator", describe(5, t.group))
	t.tell(1, "follower", "back at the first coordinator", heartbeatOf(t.group, at.follower, at.instance("follower"), at.generation))
	t.tell(2, "follower", "at the coordinator in between", heartbeatOf(t.group, at.follower, at.instance("follower"), at.generation))
	t.tell(1, "reader", "offsets, back at the first coordinator", fetch(8, t.group, true, nil))
	t.tell(1, "reader", "where the partition ends", offsetsOf(5, dataTopic, 0, -1))
}

// move reassigns partitions as an operator would.
func (k *killed) move(t *trio) {
	assign := func(about string, topics ...kmsg.AlterPartitionAssignmentsRequestTopic) {
		r := kmsg.NewPtrAlterPartitionAssignmentsRequest()
		r.TimeoutMillis, r.Topics = 30_000, topics
		t.tell(1, "admin", about, r)
	}
	one := func(topic string, partition int32, replicas ...int32) kmsg.AlterPartitionAssignmentsRequestTopic {
		return kmsg.AlterPartitionAssignmentsRequestTopic{Topic: topic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: partition, Replicas: replicas}}}
	}
	assign("a broker that is not there", one(dataTopic, 0, 1, 9))
	assign("a broker twice", one(dataTopic, 0, 1, 1))
	assign("no broker", one(dataTopic, 0, []int32{}...), kmsg.AlterPartitionAssignmentsRequestTopic{Topic: dataTopic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: 1, Replicas: []int32{}}}})
	assign("a broker of negative id", one(dataTopic, 0, -1))
	assign("a partition that is not there", one(dataTopic, 99, 1))
	assign("a topic that is not there", one("absent", 0, 1))
	assign("giving up what does not go on", kmsg.AlterPartitionAssignmentsRequestTopic{Topic: dataTopic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: 0}}})
	assign("nothing")
	assign("where it is", one(dataTopic, 2, layout(2)...))
	group := keysAt(3, threePartitions[offsetsTopic], "moved", 1)[0]
	partition := hashed(group, threePartitions[offsetsTopic])
	t.called(group)
	at := t.sides[3].stable(false)
	t.ask(3, "leader", commit(7, t.group, at.leader, nil, at.generation, dataTopic, 5))
	assign("two that can be done and one that cannot", one(dataTopic, 0, 2, 3), one(offsetsTopic, partition, 2, 1), one("absent", 0, 1))
	t.until("moved", func() bool {
		for id := int32(1); id <= 3; id++ {
			p, q := t.partition(id, dataTopic, 0), t.partition(id, offsetsTopic, partition)
			if !slices.Equal(p.Replicas, []int32{2, 3}) || len(p.ISR) != 2 || !slices.Equal(q.Replicas, []int32{2, 1}) || len(q.ISR) != 2 || q.Leader == 3 || p.Leader == 1 {
				return false
			}
		}
		return true
	})
	t.tell(1, "admin", "when all have moved", kmsg.NewPtrListPartitionReassignmentsRequest())
	t.tellTopic(3, "after the move", dataTopic)
	t.tellTopic(3, "after the move", offsetsTopic)
	t.sequence(2, "DescribeGroups until it is served", []int16{0, 14, 15, 16}, describe(5, t.group), func(a kmsg.Response) (int16, bool) {
		code := a.(*kmsg.DescribeGroupsResponse).Groups[0].ErrorCode
		return code, code == 0
	})
	for id := int32(1); id <= 3; id++ {
		t.tell(id, "finder", "after the move", findCoordinator(t.group))
		t.tell(id, "looker", "after the move", describe(5, t.group))
		t.tell(id, "leader", "after the move", heartbeatOf(t.group, at.leader, nil, at.generation))
		t.tell(id, "reader", "after the move", fetch(8, t.group, true, nil))
		t.tell(id, "writer", "after the move", produceTo(7, dataTopic, -1, 0, batchOf("moved", -1, -1, -1)))
		t.tell(id, "ends", "after the move", offsetsOf(5, dataTopic, 0, -1))
	}
}

// add gives a topic partitions, placed by hand.
func (k *killed) add(t *trio) {
	for v := int16(0); v <= 3; v++ {
		r := kmsg.NewPtrCreatePartitionsRequest()
		r.Version, r.TimeoutMillis = v, 30_000
		r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: dataTopic, Count: 7 + int32(v), Assignment: []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: layout(int32(v))}}}}
		t.tell(1, "admin", fmt.Sprintf("v%d, a partition placed by hand", v), r)
		r.Topics[0].Assignment[0].Replicas = []int32{1, 9, 2}
		r.Topics[0].Count++
		t.tell(1, "admin", fmt.Sprintf("v%d, a partition at a broker that is not there", v), r)
	}
	for _, name := range sortedKeys(threePartitions) {
		partitions := 0
		t.until("known to all", func() bool {
			partitions = len(t.topic(1, name).Partitions)
			return partitions == len(t.topic(2, name).Partitions) && (name != dataTopic || partitions == 10)
		})
	}
	t.tellTopic(1, "after partitions were added", dataTopic)
}
