package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCreateTopicRefusesWithKafkasCode(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, MaxPartitions: 20})
	w.topic("my.topic", 1, 1)
	w.kill(3)
	w.run(10000)
	with := func(s TopicSpec) TopicSpec {
		if s.Assignment == nil && s.Partitions == 0 {
			s.Partitions, s.Replicas = 1, 1
		}
		return s
	}
	for _, c := range []struct {
		spec TopicSpec
		code int16
		says string
	}{
		{TopicSpec{Name: ""}, codeInvalidTopic, `called ""`},
		{TopicSpec{Name: ".."}, codeInvalidTopic, `called ".."`},
		{TopicSpec{Name: strings.Repeat("a", 250)}, codeInvalidTopic, "at most 249"},
		{TopicSpec{Name: "a b"}, codeInvalidTopic, "not ' '"},
		{TopicSpec{Name: "<script>"}, codeInvalidTopic, "not '<'"},
		{TopicSpec{Name: "größe"}, codeInvalidTopic, "not 'ö'"},
		{TopicSpec{Name: "my.topic"}, codeTopicAlreadyExists, "exists"},
		{TopicSpec{Name: "my_topic"}, codeInvalidTopic, "collides with my.topic"},
		{TopicSpec{Name: "t", Partitions: -2, Replicas: 1}, codeInvalidPartitions, "not -2"},
		{TopicSpec{Name: "t", Partitions: 0, Replicas: 0, Assignment: [][]int32{}}, codeInvalidRequest, "-1 for the numbers"},
		{TopicSpec{Name: "t", Partitions: 1, Replicas: -2}, codeInvalidReplicationFactor, "not -2"},
		{TopicSpec{Name: "t", Partitions: 1, Replicas: 4}, codeInvalidReplicationFactor, "there are 3 brokers"},
		{TopicSpec{Name: "t", Partitions: 21, Replicas: 1}, codePolicyViolation, "at most 20"},
		{TopicSpec{Name: "t", Partitions: 2147483647, Replicas: 1}, codePolicyViolation, "at most 20"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{}}, codeInvalidReplicaAssignment, "no partition"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{1, 2}, {1}}}, codeInvalidReplicaAssignment, "partition 1 has 1 replicas"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{1, 1}}}, codeInvalidReplicaAssignment, "twice"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{3}}}, codeInvalidReplicaAssignment, "none of its brokers is alive"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{4}}}, codeInvalidReplicaAssignment, "broker 4 is not there"},
		{TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{-7}}}, codeInvalidReplicaAssignment, "broker -7"},
		{TopicSpec{Name: "t", Configs: []TopicConfig{{"retention.hours", "1"}}}, codeInvalidConfig, `called "retention.hours"`},
		{TopicSpec{Name: "t", Configs: []TopicConfig{{"min.insync.replicas", "0"}}}, codeInvalidConfig, "at least 1"},
		{TopicSpec{Name: "t", Configs: []TopicConfig{{"retention.ms", "soon"}}}, codeInvalidConfig, `cannot be "soon"`},
		{TopicSpec{Name: "t", Configs: []TopicConfig{{"cleanup.policy", "shred"}}}, codeInvalidConfig, "compact, delete or both"},
	} {
		code, message := w.c.CreateTopicWith(w.nowMs, with(c.spec))
		if code != c.code || !strings.Contains(message, c.says) {
			t.Errorf("%+v: %d %q, want %d saying %q", c.spec, code, message, c.code, c.says)
		}
	}
	if names := w.c.TopicNames(); !slices.Equal(names, []string{"my.topic"}) {
		t.Errorf("topics %q are there", names)
	}
	if code, message := w.c.CreateTopicWith(w.nowMs, TopicSpec{Name: "t", Partitions: 3, Replicas: 2, ValidateOnly: true}); code != 0 || w.c.Partitions("t") != 0 {
		t.Errorf("validate only: %d %s, %d partitions", code, message, w.c.Partitions("t"))
	}
	if code, message := w.c.CreateTopicWith(w.nowMs, TopicSpec{Name: "t", Partitions: -1, Replicas: -1, Assignment: [][]int32{{2, 1}, {1, 2}}}); code != 0 {
		t.Errorf("placed by hand: %d %s", code, message)
	}
	if leader, _, _ := w.c.Leader("t", 0); leader != 2 {
		t.Errorf("broker %d leads t-0, which was placed on 2, 1", leader)
	}
}

func TestAddPartitions(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 2, 2)
	if code, _ := w.c.AddPartitions(w.nowMs, "other", 5); code != codeUnknownTopicOrPartition {
		t.Errorf("an unknown topic: code %d", code)
	}
	if code, message := w.c.AddPartitions(w.nowMs, "orders", 2); code != codeInvalidPartitions || !strings.Contains(message, "2 partitions already") {
		t.Errorf("the same number: %d %s", code, message)
	}
	if code, _ := w.c.AddPartitions(w.nowMs, "orders", 2147483647); code != codePolicyViolation {
		t.Errorf("far too many: code %d", code)
	}
	if code, message := w.c.AddPartitions(w.nowMs, "orders", 5); code != 0 {
		t.Fatalf("%d %s", code, message)
	}
	w.take()
	w.run(1000)
	if w.c.Partitions("orders") != 5 || w.count("PartitionsAdded") != 1 || w.count("LeaderChanged") != 5 {
		t.Errorf("%d partitions:\n%s", w.c.Partitions("orders"), w.text())
	}
	ticket := w.say("orders", 4, -1, 5000, "a")
	w.run(1000)
	w.wantCode(ticket, 0)
}

// Leaders, replicas and the heirs of each broker are spread evenly.
func TestPlacementIsSpread(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != 0 {
		t.Fatal(code, message)
	}
	leads := map[int32]int{}
	heirs := map[[2]int32]int{}
	info, _ := w.c.Topic(OffsetsTopic)
	for _, p := range info.Partitions {
		leads[p.Leader]++
		heirs[[2]int32{p.Replicas[0], p.Replicas[1]}]++
		if len(p.Replicas) != 3 || !slices.Equal(p.Replicas, p.ISR) || p.Leader != p.Replicas[0] || p.Leader != p.Partition%3+1 {
			t.Errorf("partition %d: %+v", p.Partition, p)
		}
	}
	if fmt.Sprint(leads) != "map[1:17 2:17 3:16]" || fmt.Sprint(heirs) != "map[[1 2]:9 [1 3]:8 [2 1]:8 [2 3]:9 [3 1]:8 [3 2]:8]" {
		t.Errorf("leaders %v, heirs %v", leads, heirs)
	}
	if !info.Internal || len(info.Partitions) != 50 {
		t.Errorf("%d partitions, internal %v", len(info.Partitions), info.Internal)
	}
}

// Ids are stable from run to run, of the shape of a UUID, and different for each topic.
func TestTopicIDs(t *testing.T) {
	ids := map[[16]byte]string{}
	for range 2 {
		w := newWorld(t, Config{})
		for i := range 30 {
			name := fmt.Sprintf("topic-%d", i)
			w.topic(name, 1, 1)
			info, _ := w.c.Topic(name)
			if old, ok := ids[info.ID]; info.ID == [16]byte{} || (ok && old != name) {
				t.Fatalf("%s has id %x, and so has %q", name, info.ID, old)
			}
			ids[info.ID] = name
			if got, ok := w.c.TopicByID(info.ID); !ok || got != name {
				t.Fatalf("id %x leads to %q", info.ID, got)
			}
		}
	}
	if len(ids) != 30 {
		t.Errorf("%d ids for 30 topics in two runs", len(ids))
	}
	if _, ok := newWorld(t, Config{}).c.TopicByID([16]byte{}); ok {
		t.Error("the zero id is a topic's")
	}
}

func TestMetadata(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, HostPort: func(id int32) (string, int32) { return "lab", 9090 + id }})
	w.topic("b", 1, 3)
	w.topic("a", 1, 3)
	w.kill(1)
	m := w.c.Metadata()
	// The dead broker is still listed and leads: nobody has noticed.
	if len(m.Brokers) != 3 || m.Brokers[0] != (BrokerInfo{1, "lab", 9091}) || m.Controller != 2 || m.Topics[0].Name != "a" {
		t.Errorf("right after the kill: %+v", m)
	}
	w.run(9000)
	m = w.c.Metadata()
	if len(m.Brokers) != 2 || m.Controller != 2 || !slices.Equal(m.Topics[1].Partitions[0].Offline, []int32{1}) {
		t.Errorf("after it was noticed: %+v", m)
	}
	if m.ClusterID == "" {
		t.Error("the cluster has no id")
	}
}

// The offsets topic is created although a broker is gone: that one follows when it is back. With nobody alive it is not.
func TestOffsetsTopicNeedsABroker(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	for id := int32(1); id <= 3; id++ {
		w.kill(id)
	}
	w.run(10000)
	if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != codeInvalidReplicationFactor || message == "" {
		t.Errorf("without a broker: %d %s", code, message)
	}
	w.start(3)
	for range 2 {
		if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != 0 {
			t.Errorf("with one broker: %d %s", code, message)
		}
	}
	w.take()
	if w.count("TopicCreated") != 1 {
		t.Error("it was created more than once")
	}
}
