package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// EnsureOffsetsTopic creates __consumer_offsets if it is not there. Its code is not 0 where too few brokers are alive.
func (c *Cluster) EnsureOffsetsTopic(nowMs int64) (code int16, message string) {
	if c.byName[OffsetsTopic] != nil {
		return codeNone, ""
	}
	return c.CreateTopicWith(nowMs, TopicSpec{Name: OffsetsTopic, Partitions: c.cfg.OffsetsPartitions, Replicas: c.cfg.OffsetsReplicas})
}

// EnsureTransactionTopic creates __transaction_state if it is not there.
func (c *Cluster) EnsureTransactionTopic(nowMs int64) (code int16, message string) {
	if c.byName[TransactionTopic] != nil {
		return codeNone, ""
	}
	return c.CreateTopicWith(nowMs, TopicSpec{Name: TransactionTopic, Partitions: c.cfg.TransactionPartitions, Replicas: c.cfg.TransactionReplicas})
}

// transactionConfigs are the settings of __transaction_state (Kafka: TransactionStateManager.transactionTopicConfigs).
func (c *Cluster) transactionConfigs() []TopicConfig {
	return []TopicConfig{{"cleanup.policy", "compact"}, {"compression.type", "uncompressed"}, {"segment.bytes", strconv.Itoa(c.cfg.OffsetsSegmentBytes)},
		{"min.insync.replicas", strconv.Itoa(int(c.cfg.TransactionMinInsync))}, {"unclean.leader.election.enable", "false"}}
}

// offsetsConfigs are the settings of __consumer_offsets (Kafka: GroupCoordinator.groupMetadataTopicConfigs).
var offsetsConfigs = []TopicConfig{{"cleanup.policy", "compact"}, {"compression.type", "producer"}}

// CreateTopic creates a topic, its partitions spread over the live brokers. -1 stands for the default number. The code
// is Kafka's, with words to it: 17 for a name, 36 where it exists, 37 and 38 for the numbers, 40 for a setting.
func (c *Cluster) CreateTopic(nowMs int64, name string, partitions int32, replicas int16, configs []TopicConfig) (code int16, message string) {
	return c.CreateTopicWith(nowMs, TopicSpec{Name: name, Partitions: partitions, Replicas: replicas, Configs: configs})
}

// CreateTopicWith creates a topic with everything that CreateTopics can say. __consumer_offsets and __transaction_state
// are internal and have their own settings, whoever creates them.
func (c *Cluster) CreateTopicWith(nowMs int64, spec TopicSpec) (code int16, message string) {
	internal := spec.Name == OffsetsTopic || spec.Name == TransactionTopic
	switch spec.Name {
	case TransactionTopic:
		spec.Configs = append(c.transactionConfigs(), spec.Configs...)
	case OffsetsTopic:
		size := TopicConfig{"segment.bytes", strconv.Itoa(c.cfg.OffsetsSegmentBytes)}
		spec.Configs = append(append(slices.Clone(offsetsConfigs), size), spec.Configs...)
	}
	return c.create(nowMs, spec, internal)
}

func (c *Cluster) create(nowMs int64, spec TopicSpec, internal bool) (code int16, message string) {
	c.at(nowMs)
	t := &topic{number: c.topicNumbers, name: spec.Name, internal: internal, configs: slices.Clone(spec.Configs)}
	t.id = c.topicID(t)
	if code, message = c.checkName(spec.Name); code == codeNone {
		code, message = c.configureNew(t)
	}
	if code != codeNone {
		return code, message
	}
	places, code, message := c.place(t, spec)
	if code != codeNone || spec.ValidateOnly {
		return code, message
	}
	c.topicNumbers++
	c.topics = append(c.topics, t)
	c.byName[t.name] = t
	c.out.MetadataChanged = true
	c.setRetainTick()
	seq := c.emit(0, "", 0, event.TopicCreated{Topic: t.name, Partitions: int32(len(places)), Replicas: int16(len(places[0])), Internal: internal})
	c.add(t, places, seq)
	return codeNone, ""
}

// AddPartitions makes a topic's partitions total in number. The code is Kafka's: 3 where there is no such topic, 37 where
// total is not more than there are.
func (c *Cluster) AddPartitions(nowMs int64, name string, total int32) (code int16, message string) {
	c.at(nowMs)
	t := c.byName[name]
	if t == nil {
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no topic %q", name)
	}
	have := int32(len(t.partitions))
	if total <= have {
		return codeInvalidPartitions, fmt.Sprintf("%s has %d partitions already; the new number must be larger than that, not %d", name, have, total)
	}
	if code, message = c.checkPartitions(total - have); code != codeNone {
		return code, message
	}
	replicas := int16(len(c.partitions[t.partitions[0]].replicas))
	places, code, message := c.spread(t, have, total-have, replicas)
	if code != codeNone {
		return code, message
	}
	c.out.MetadataChanged = true
	c.add(t, places, c.emit(0, "", 0, event.PartitionsAdded{Topic: name, From: have, To: total}))
	return codeNone, ""
}

// add makes partitions with the given replicas, the first of which leads.
func (c *Cluster) add(t *topic, places [][]int32, cause int64) {
	for _, place := range places {
		p := &partition{topic: t, number: int32(len(t.partitions)), index: int32(len(c.partitions)), leader: -1, epoch: -1, firstDeadlineMs: -1}
		for _, id := range place {
			p.replicas = append(p.replicas, replica{broker: id, log: c.newLog(t, id, p.number)})
		}
		c.partitions = append(c.partitions, p)
		t.partitions = append(t.partitions, p.index)
		isr := slices.DeleteFunc(slices.Clone(place), func(id int32) bool { return !c.broker(id).listed() })
		c.lead(p, isr[0], isr, cause)
	}
}

// checkName is Kafka's Topic.validate and its rule against names that differ only in '.' and '_', which metrics merge.
func (c *Cluster) checkName(name string) (code int16, message string) {
	switch {
	case name == "" || name == "." || name == "..":
		return codeInvalidTopic, fmt.Sprintf("a topic cannot be called %q", name)
	case len(name) > 249:
		return codeInvalidTopic, fmt.Sprintf("a topic's name has at most 249 characters, this one has %d", len(name))
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r) {
			return codeInvalidTopic, fmt.Sprintf("a topic's name has only letters a to z, digits, '.', '_' and '-', not %q", r)
		}
	}
	if c.byName[name] != nil {
		return codeTopicAlreadyExists, fmt.Sprintf("topic %s exists already", name)
	}
	if !strings.ContainsAny(name, "._") {
		return codeNone, ""
	}
	plain := strings.ReplaceAll(name, ".", "_")
	for _, t := range c.topics {
		if len(t.name) == len(name) && strings.ReplaceAll(t.name, ".", "_") == plain {
			return codeInvalidTopic, fmt.Sprintf("topic %s collides with %s: '.' and '_' count as the same", name, t.name)
		}
	}
	return codeNone, ""
}

func (c *Cluster) checkPartitions(more int32) (code int16, message string) {
	there := 0
	for _, t := range c.topics {
		there += len(t.partitions)
	}
	if there+int(more) > c.cfg.MaxPartitions {
		return codePolicyViolation, fmt.Sprintf("this cluster has at most %d partitions: %d are there, %d more were asked for", c.cfg.MaxPartitions, there, more)
	}
	return codeNone, ""
}

// place finds brokers for a new topic's partitions.
func (c *Cluster) place(t *topic, spec TopicSpec) (places [][]int32, code int16, message string) {
	if spec.Assignment != nil {
		return c.placed(spec)
	}
	partitions, replicas := spec.Partitions, spec.Replicas
	if partitions == -1 {
		partitions = c.cfg.DefaultPartitions
	}
	if replicas == -1 {
		replicas = c.cfg.DefaultReplicas
	}
	if replicas <= 0 { // this before the number of partitions, as ReplicationControlManager does
		return nil, codeInvalidReplicationFactor, fmt.Sprintf("a partition has at least 1 replica, not %d", replicas)
	}
	if partitions <= 0 {
		return nil, codeInvalidPartitions, fmt.Sprintf("a topic has at least 1 partition, not %d", partitions)
	}
	if code, message = c.checkPartitions(partitions); code != codeNone {
		return nil, code, message
	}
	return c.spread(t, 0, partitions, replicas)
}

// placed checks a placement by hand.
func (c *Cluster) placed(spec TopicSpec) (places [][]int32, code int16, message string) {
	if spec.Partitions != -1 || spec.Replicas != -1 {
		return nil, codeInvalidRequest, "a topic with a placement by hand has -1 for the numbers of partitions and replicas"
	}
	if len(spec.Assignment) == 0 {
		return nil, codeInvalidReplicaAssignment, "the placement by hand names no partition"
	}
	if code, message = c.checkPartitions(int32(min(len(spec.Assignment), 1<<30))); code != codeNone {
		return nil, code, message
	}
	for number, place := range spec.Assignment {
		if len(place) == 0 || len(place) != len(spec.Assignment[0]) {
			return nil, codeInvalidReplicaAssignment, fmt.Sprintf("partition %d has %d replicas, partition 0 has %d", number, len(place), len(spec.Assignment[0]))
		}
		for i, id := range place {
			if id < 1 || id > c.cfg.Brokers {
				return nil, codeInvalidReplicaAssignment, fmt.Sprintf("partition %d: broker %d is not there", number, id)
			}
			if slices.Contains(place[:i], id) {
				return nil, codeInvalidReplicaAssignment, fmt.Sprintf("partition %d names broker %d twice", number, id)
			}
		}
		if !slices.ContainsFunc(place, func(id int32) bool { return c.broker(id).listed() }) {
			return nil, codeInvalidReplicaAssignment, fmt.Sprintf("partition %d: none of its brokers is alive", number)
		}
		places = append(places, slices.Clone(place))
	}
	return places, codeNone, ""
}

// spread places partitions so that each broker leads about as many, and that what a broker leads goes to different
// brokers when it dies (Kafka's AdminUtils: the first replicas go round, the others follow with a growing shift; with a
// start of its own for each topic instead of a random one). Brokers that are gone get replicas only where the others are
// too few, and are not in sync until they are back (StripedReplicaPlacer).
func (c *Cluster) spread(t *topic, from, partitions int32, replicas int16) (places [][]int32, code int16, message string) {
	var alive, gone []int32
	for i := range c.brokers {
		if c.brokers[i].listed() {
			alive = append(alive, c.brokers[i].id)
		} else {
			gone = append(gone, c.brokers[i].id)
		}
	}
	n := len(alive)
	switch {
	case replicas <= 0:
		return nil, codeInvalidReplicationFactor, fmt.Sprintf("a partition has at least 1 replica, not %d", replicas)
	case int(replicas) > n+len(gone):
		return nil, codeInvalidReplicationFactor, fmt.Sprintf("%d replicas were asked for, there are %d brokers", replicas, n+len(gone))
	case n == 0:
		return nil, codeInvalidReplicationFactor, "no broker is alive"
	}
	start := t.number
	if t.internal {
		start = 0
	}
	for k := int(from); k < int(from+partitions); k++ {
		first, shift := (start+k)%n, k/n
		place := []int32{alive[first]}
		for j := 0; j < min(int(replicas), n)-1; j++ {
			place = append(place, alive[(first+1+(shift+j)%(n-1))%n])
		}
		for j := range int(replicas) - len(place) {
			place = append(place, gone[(start+k+j)%len(gone)])
		}
		places = append(places, place)
	}
	return places, codeNone, ""
}

// topicID makes a topic's id: the same in every run, different for each topic, never zero.
func (c *Cluster) topicID(t *topic) (id [16]byte) {
	for half := range 2 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d %s %s", half, t.number, c.cfg.ClusterID, t.name)
		binary.BigEndian.PutUint64(id[8*half:], h.Sum64())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a UUID of version 4, by its looks
	return id
}

// configureNew reads settings that a topic is to have, and refuses some that are right only one by one.
func (c *Cluster) configureNew(t *topic) (code int16, message string) {
	if code, message = c.configure(t); code == codeNone && t.maxLagMs < t.minLagMs {
		return codeInvalidConfig, fmt.Sprintf("max.compaction.lag.ms, %d, is less than min.compaction.lag.ms, %d", t.maxLagMs, t.minLagMs)
	}
	return code, message
}

// configure reads a topic's settings.
func (c *Cluster) configure(t *topic) (code int16, message string) {
	t.minInsync, t.maxMessageBytes, t.segmentBytes = c.cfg.MinInsyncReplicas, c.cfg.MaxMessageBytes, c.cfg.SegmentBytes
	t.retentionMs, t.retentionBytes, t.timestampAfterMs = c.cfg.RetentionMs, c.cfg.RetentionBytes, 3600000
	t.timestampBeforeMs = math.MaxInt64
	t.segmentMs = 7 * 24 * 3600 * 1000
	t.compacted, t.deletes, t.stamps, t.unclean = false, true, false, false
	t.minDirtyRatio, t.deleteRetentionMs = c.cfg.MinCleanableRatio, c.cfg.DeleteRetentionMs
	t.minLagMs, t.maxLagMs = c.cfg.MinCompactionLagMs, c.cfg.MaxCompactionLagMs
	for _, s := range t.configs {
		known := settingOf(s.Name)
		if known == nil {
			return codeInvalidConfig, fmt.Sprintf("no topic setting is called %q", s.Name)
		}
		value := known.tidy(s.Value)
		err := known.fits(value)
		if err == nil {
			err = known.put(t, &c.cfg, value)
		}
		if err != nil {
			return codeInvalidConfig, fmt.Sprintf("%s cannot be %q: %v", s.Name, s.Value, err)
		}
	}
	return codeNone, ""
}
