package app

import (
	"crypto/rand"
	"fmt"
	"slices"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/kafka"
	"grouplab/server/loop"
	"grouplab/server/store"
)

// backend shows the drive to the Kafka listeners in their own terms, and hands what comes out of it back to them. All of
// it runs on the loop's goroutine.
type backend struct {
	loop    *loop.Loop
	drive   *drive.Drive
	kafka   *kafka.Server
	started func(broker int32)

	// What look found.
	clusterID  string
	controller int32
	brokers    []kafka.Broker

	produced map[int64]func(nowMs int64, a kafka.Appended)
	held     []heldAppend // in the order in which they came
	live     liveSettings
	flush    store.Flush
	narrator narrator
	data     *data // nil: everything is in memory
}

var _ kafka.Cluster = (*backend)(nil)

// taken sees each output of the drive before the replies in it are handed on.
func (b *backend) taken(nowMs int64, out drive.Output) {
	if out.MetadataChanged {
		b.look()
	}
	if b.data != nil {
		b.data.keepUp(nowMs)
	}
	b.kafka.Saw(out.Events)
	b.narrator.saw(out.Events)
	for i := range out.Events {
		switch body := out.Events[i].Body.(type) {
		case event.LeaderChanged:
			b.kafka.MoreToRead(body.Topic, body.Partition)
		case event.TopicDeleted:
			b.kafka.TopicGone(body.Topic)
		case event.BrokerStarted:
			b.started(body.ID)
		}
	}
	for _, w := range out.Watermarks {
		b.kafka.MoreToRead(w.Topic, w.Partition)
	}
	for _, a := range out.Produced {
		if done, ok := b.produced[a.Ticket]; ok {
			delete(b.produced, a.Ticket)
			done(nowMs, kafka.Appended{BaseOffset: a.BaseOffset, LogStartOffset: a.LogStartOffset, LogAppendTimeMs: a.LogAppendTimeMs, Code: a.Code, Message: a.Message})
		}
	}
}

// look keeps what every Metadata answer needs and what seldom changes.
func (b *backend) look() {
	m := b.drive.Cluster().Metadata()
	b.clusterID, b.controller = m.ClusterID, m.Controller
	b.brokers = make([]kafka.Broker, len(m.Brokers))
	for i, info := range m.Brokers {
		b.brokers[i] = kafka.Broker{ID: info.ID, Host: info.Host, Port: info.Port}
	}
}

func (b *backend) ClusterID() string       { return b.clusterID }
func (b *backend) Controller() int32       { return b.controller }
func (b *backend) Brokers() []kafka.Broker { return b.brokers }

func (b *backend) Running(broker int32) bool { return b.drive.Cluster().Running(broker) }

func (b *backend) TopicNames() []string { return b.drive.Cluster().TopicNames() }

func (b *backend) Topic(name string) (kafka.Topic, bool) {
	info, ok := b.drive.Cluster().Topic(name)
	if !ok {
		return kafka.Topic{}, false
	}
	t := kafka.Topic{Name: info.Name, ID: info.ID, Internal: info.Internal, Partitions: make([]kafka.Partition, len(info.Partitions))}
	for i, p := range info.Partitions {
		t.Partitions[i] = kafka.Partition{Leader: p.Leader, Epoch: p.Epoch, Replicas: p.Replicas, ISR: p.ISR, Offline: p.Offline}
	}
	return t, true
}

func (b *backend) TopicName(id [16]byte) (string, bool) { return b.drive.Cluster().TopicByID(id) }

func (b *backend) CreateTopic(nowMs int64, t kafka.NewTopic) (int16, string) {
	if _, there := b.drive.Cluster().Topic(t.Name); t.Name == cluster.OffsetsTopic && !there && !t.ValidateOnly {
		return b.durable(b.drive.EnsureOffsetsTopic(nowMs))
	}
	spec := cluster.TopicSpec{Name: t.Name, Partitions: t.Partitions, Replicas: t.Replicas, Assignment: t.Assignment, ValidateOnly: t.ValidateOnly}
	for _, c := range t.Configs {
		if why := b.unkept(c.Name, c.Value); why != "" {
			return codeInvalidConfig, why
		}
		spec.Configs = append(spec.Configs, cluster.TopicConfig{Name: c.Name, Value: c.Value})
	}
	code, message := b.drive.CreateTopicWith(nowMs, spec)
	if code != 0 || t.ValidateOnly {
		return code, message
	}
	if code, message = b.durable(0, ""); code != 0 {
		b.drive.DeleteTopic(nowMs, t.Name) // so that the client can try again
	}
	return code, message
}

func (b *backend) Planned(t kafka.NewTopic) (partitions int32, replicas int16, list []kafka.Setting) {
	spec := cluster.TopicSpec{Name: t.Name, Partitions: t.Partitions, Replicas: t.Replicas}
	for _, c := range t.Configs {
		spec.Configs = append(spec.Configs, cluster.TopicConfig{Name: c.Name, Value: c.Value})
	}
	partitions, replicas, settings := b.drive.Cluster().Planned(spec)
	for _, s := range settings {
		list = append(list, b.topicSetting(s))
	}
	return partitions, replicas, list
}

func (b *backend) Group(nowMs int64, broker int32, r coordinator.Request, to kafka.Receiver) int64 {
	return b.loop.Handle(nowMs, broker, r, to)
}

func (b *backend) Forget(ticket int64) { b.loop.Forget(ticket) }

// heldAppend is an append that waits until the disk is not so far behind.
type heldAppend struct {
	ticket int64
	kafka.Append
}

func (b *backend) Append(nowMs int64, a kafka.Append, done func(nowMs int64, a kafka.Appended)) int64 {
	ticket := b.loop.Ticket()
	b.produced[ticket] = done
	if b.data != nil && (len(b.held) > 0 || b.data.disk.Behind()) {
		b.held = append(b.held, heldAppend{ticket, a})
		return ticket
	}
	b.append(nowMs, ticket, &a)
	return ticket
}

func (b *backend) append(nowMs, ticket int64, a *kafka.Append) {
	b.drive.Produce(nowMs, cluster.AppendRequest{Broker: a.Broker, Topic: a.Topic, Partition: a.Partition, Epoch: -1,
		Batch: asTopicWants(b.drive.Cluster(), a.Topic, a.Batch), Acks: a.Acks, TimeoutMs: a.TimeoutMs, Ticket: ticket}, a.TransactionalID, a.Version)
}

// appendHeld appends what was held back, as far as the disk has room again. Who sent it may be gone: it counts all the same, as
// in Kafka.
func (b *backend) appendHeld(nowMs int64) {
	n := 0
	for ; n < len(b.held) && !b.data.disk.Behind(); n++ {
		b.append(nowMs, b.held[n].ticket, &b.held[n].Append)
	}
	b.held = slices.Delete(b.held, 0, n)
}

func (b *backend) Abandon(ticket int64) { delete(b.produced, ticket) }

func (b *backend) Read(r kafka.Read) kafka.ReadResult {
	found := b.drive.Cluster().Read(cluster.ReadRequest{Broker: r.Broker, Topic: r.Topic, Partition: r.Partition, Epoch: r.Epoch,
		Offset: r.Offset, MaxBytes: r.MaxBytes, MinOne: r.MinOne, Committed: r.Committed})
	var aborted []kafka.Aborted
	for _, a := range found.Aborted {
		aborted = append(aborted, kafka.Aborted(a))
	}
	return kafka.ReadResult{Aborted: aborted, Batches: found.Batches, HighWatermark: found.HighWatermark, LastStable: found.LastStable,
		LogStart: found.LogStart, Leader: found.Leader, Epoch: found.Epoch, Code: found.Code}
}

func (b *backend) ListOffset(q kafka.OffsetQuestion) kafka.ListedOffset {
	list := b.drive.Cluster().ListOffset
	if q.Committed {
		list = b.drive.Cluster().ListCommitted
	}
	found := list(q.Broker, q.Topic, q.Partition, q.Epoch, q.TimestampMs)
	return kafka.ListedOffset{Offset: found.Offset, TimestampMs: found.TimestampMs, LeaderEpoch: found.LeaderEpoch, Code: found.Code}
}

func (b *backend) EpochEnd(broker int32, topic string, partition, currentEpoch, epoch int32) (int32, int64, int16) {
	return b.drive.Cluster().EpochEnd(broker, topic, partition, currentEpoch, epoch)
}

func (b *backend) Tell(nowMs int64, broker int32, body event.Body) int64 {
	return b.loop.Tell(nowMs, broker, body)
}

// memberID makes Kafka's shape of a member id: the client's id, or the group instance's, and a random UUID.
func memberID(clientID string, _ int32, _ int64) string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", clientID, u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
