package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// topicCount is how many partitions a topic has, as far as a client knows.
type topicCount struct {
	name       string
	partitions int32
}

// metadata is what a client knows of the cluster (Kafka: Metadata). Brokers tell nobody about changes: a client learns
// of them when it asks, every metadata.max.age.ms.
type metadata struct {
	topics  []topicCount // by name
	asked   []string     // the topics that it asked for last; never changed in place
	brokers []int32
	call    int64
	// lastMs is the last attempt and successMs the last success, -1 for none.
	lastMs, successMs int64
	// needed is set where it should not wait for the age.
	needed bool
}

// metadataDueMs is Metadata.timeToNextUpdate: by age or by need, but not within the back-off.
func (c *consumer) metadataDueMs() int64 {
	due := int64(0)
	if !c.meta.needed {
		due = c.meta.successMs + c.cfg.MetadataMaxAgeMs
	}
	if c.meta.lastMs >= 0 {
		due = max(due, c.meta.lastMs+c.cfg.RetryBackoffMs)
	}
	return due
}

// refreshMetadata asks the least loaded node when it is time (NetworkClient's DefaultMetadataUpdater).
func (c *consumer) refreshMetadata(w *World) {
	if c.phase == off || c.meta.call != 0 || w.nowMs < c.metadataDueMs() {
		return
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 12
	c.meta.asked = c.wanted()
	for _, t := range c.meta.asked {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &t
		req.Topics = append(req.Topics, topic)
	}
	c.meta.lastMs = w.nowMs
	c.meta.call = w.send(c, c.leastLoaded(w), req, c.cfg.RequestTimeoutMs, plain)
}

// wanted are its own topics and, where it leads the group, those of the others.
func (c *consumer) wanted() []string {
	topics := append(slices.Clone(c.cfg.Topics), c.groupTopics...)
	slices.Sort(topics)
	return slices.Compact(topics)
}

// metadata answers a Metadata request as every broker would: they all know the same (KRaft).
func (w *World) metadata(req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	all := w.drive.Cluster().MetadataOf(nil)
	r := kmsg.NewPtrMetadataResponse()
	r.Version = req.Version
	r.ClusterID, r.ControllerID = &all.ClusterID, all.Controller
	for _, b := range all.Brokers {
		r.Brokers = append(r.Brokers, kmsg.MetadataResponseBroker{NodeID: b.ID, Host: b.Host, Port: b.Port})
	}
	for _, want := range req.Topics {
		t := kmsg.NewMetadataResponseTopic()
		t.Topic, t.ErrorCode = want.Topic, kerr.UnknownTopicOrPartition.Code
		if info, ok := w.drive.Cluster().Topic(*want.Topic); ok {
			t.ErrorCode, t.TopicID, t.IsInternal = 0, info.ID, info.Internal
			t.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(info.Partitions))
			for i, p := range info.Partitions {
				t.Partitions[i] = kmsg.MetadataResponseTopicPartition{
					Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.Epoch, Replicas: p.Replicas, ISR: p.ISR,
					OfflineReplicas: p.Offline,
				}
			}
		}
		r.Topics = append(r.Topics, t)
	}
	return r
}

// onMetadata takes the answer over.
func (c *consumer) onMetadata(w *World, r *kmsg.MetadataResponse) {
	first := c.meta.successMs < 0
	before := c.counts(c.cfg.Topics)
	c.meta.call, c.meta.needed, c.meta.successMs = 0, false, w.nowMs
	c.meta.brokers, c.meta.topics = nil, nil
	for _, b := range r.Brokers {
		c.meta.brokers = append(c.meta.brokers, b.NodeID)
	}
	var told []event.TopicPartitions
	for _, t := range r.Topics {
		if t.ErrorCode != 0 {
			continue
		}
		c.meta.topics = append(c.meta.topics, topicCount{*t.Topic, int32(len(t.Partitions))})
		ids := make([]int32, len(t.Partitions))
		for i := range ids {
			ids[i] = int32(i)
		}
		told = append(told, event.TopicPartitions{Topic: *t.Topic, Partitions: ids})
	}
	w.cause = w.emit(0, c.cfg.Group, event.MetadataRefreshed{
		Client: c.cfg.Name, Changed: !first && !slices.Equal(before, c.counts(c.cfg.Topics)), Topics: told,
	})
	if c.assigning == nil {
		return
	}
	for _, t := range c.groupTopics {
		if !slices.Contains(c.meta.asked, t) {
			c.meta.needed = true // it was asked before the group's topics were known
			return
		}
	}
	c.assign(w)
}

// counts are the known sizes of topics, in the order of topics.
func (c *consumer) counts(topics []string) []topicCount {
	counts := make([]topicCount, 0, len(topics))
	for _, name := range topics {
		for _, t := range c.meta.topics {
			if t.name == name {
				counts = append(counts, t)
			}
		}
	}
	return counts
}

// metadataChanged tells whether a leader assigned by other sizes than it knows now (assignmentSnapshot).
func (c *consumer) metadataChanged() (was, is string, changed bool) {
	if c.snapshot == nil || !c.isLeader {
		return "", "", false
	}
	now := c.counts(c.groupTopics)
	if slices.Equal(c.snapshot, now) {
		return "", "", false
	}
	return sizes(c.snapshot), sizes(now), true
}

func sizes(counts []topicCount) string {
	parts := make([]string, len(counts))
	for i, t := range counts {
		parts[i] = fmt.Sprintf("%s: %d", t.name, t.partitions)
	}
	return strings.Join(parts, ", ")
}
