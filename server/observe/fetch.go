package observe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/record"
	"grouplab/server/observe/timeline"
)

const (
	// fetchWait is how long a broker holds a Fetch back while there is nothing new; fetchBytes is how much one answer holds.
	fetchWait      = 500 * time.Millisecond
	fetchBytes     = 4 << 20
	partitionBytes = 1 << 20
	// fetchAgain is how long a partition is left alone after an error, graceOf how long an error may last until it is told:
	// a leader that moves is none.
	fetchAgain = 300 * time.Millisecond
	graceOf    = 3 * time.Second
)

// fetches reads the partitions of __consumer_offsets that a broker leads, until ctx ends. No group, no fetch session (a place
// in the broker's cache belongs to consumers), read_uncommitted: transactions are resolved by the timeline, since a reader
// that waits for the last stable offset stands still while any transaction is open.
func (o *Observer) fetches(ctx context.Context, broker int32) {
	for ctx.Err() == nil {
		began := time.Now()
		wishes := o.reader.claim(broker)
		if len(wishes) == 0 {
			_ = pause(ctx, fetchPace)
			continue
		}
		o.fetchOnce(ctx, broker, wishes)
		o.reader.release(broker)
		_ = pause(ctx, fetchPace-time.Since(began))
	}
}

// fetchOnce begins what is to begin, checks what has a new leader and reads once.
func (o *Observer) fetchOnce(ctx context.Context, broker int32, wishes []wish) {
	var fresh, moved, ready []wish
	for _, w := range wishes {
		switch {
		case w.next < 0:
			fresh = append(fresh, w)
		case w.moved:
			moved = append(moved, w)
		default:
			ready = append(ready, w)
		}
	}
	if len(fresh) > 0 {
		o.begin(ctx, broker, fresh)
	}
	if len(moved) > 0 {
		o.checkEpochs(ctx, broker, moved)
	}
	if len(ready) == 0 || ctx.Err() != nil {
		return
	}
	answer, err := o.ask(ctx, broker, fetchRequest(o.cluster.topicID, ready))
	if err != nil {
		_ = pause(ctx, fetchAgain)
		return
	}
	said := answer.(*kmsg.FetchResponse)
	if said.ErrorCode != 0 {
		for _, w := range ready {
			o.failed(ctx, w.partition, said.ErrorCode)
		}
	}
	for _, t := range said.Topics {
		for i := range t.Partitions {
			o.fetched(ctx, &t.Partitions[i])
		}
	}
}

func fetchRequest(id record.TopicID, wishes []wish) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes = -1, int32(fetchWait.Milliseconds()), 1, fetchBytes
	r.SessionID, r.SessionEpoch = 0, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = offsetsTopic, id
	for _, w := range wishes {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.CurrentLeaderEpoch, p.PartitionMaxBytes = w.partition, max(w.next, 0), w.epoch, partitionBytes
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	return r
}

// fetched takes what came of one partition.
func (o *Observer) fetched(ctx context.Context, p *kmsg.FetchResponseTopicPartition) {
	from, reading := o.reader.position(p.Partition)
	if !reading || from < 0 {
		return
	}
	if p.ErrorCode != 0 {
		o.failed(ctx, p.Partition, p.ErrorCode)
		return
	}
	read, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true, Offset: from, Topic: offsetsTopic, Partition: p.Partition},
		p, kgo.DefaultDecompressor(), nil)
	seen := timeline.Records{Partition: p.Partition, Next: next}
	var epoch int32 = -1
	for _, r := range read.Records {
		seen.Records = append(seen.Records, timeline.Record{Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), ProducerID: r.ProducerID,
			ProducerEpoch: r.ProducerEpoch, Transactional: r.Attrs.IsTransactional(), Control: r.Attrs.IsControl(), Key: r.Key, Value: r.Value})
		epoch = max(epoch, r.LeaderEpoch)
	}
	bad := read.Err
	if bad == nil {
		bad = unread(p.RecordBatches, next)
	}
	if bad != nil {
		next = o.damaged(ctx, p, next, bad)
		seen.Next = next
	}
	switch {
	case len(seen.Records) > 0:
		if motion(seen.Records) {
			o.reader.stir()
		}
		o.saw(ctx, seen)
	case next > from:
		o.saw(ctx, timeline.Position{Partition: p.Partition, Next: next})
	}
	o.reader.advance(p.Partition, next, epoch)
	o.back(ctx, partitionName(p.Partition), 0)
}

// motion tells whether a record is there that is no commit: a group's own.
func motion(records []timeline.Record) bool {
	return slices.ContainsFunc(records, func(r timeline.Record) bool { return !r.Control && len(r.Key) >= 2 && r.Key[1] >= 2 })
}

// batchHead is as much of a batch as tells which offsets it holds: base offset, length and, at 23, the last one's delta.
const batchHead = 27

// headOf reads the head of the batch with which b begins; length is that of the whole batch.
func headOf(b []byte) (base, last, length int64) {
	base = int64(binary.BigEndian.Uint64(b))
	return base, base + int64(int32(binary.BigEndian.Uint32(b[23:]))), 12 + int64(int32(binary.BigEndian.Uint32(b[8:])))
}

// unread is what is wrong with an answer of which less could be read than it holds, nil for nothing. The client stops without
// a word at a record that is cut short, and asks for it for ever. A last batch that is not whole is none of it: an answer ends
// where its bytes do.
func unread(b []byte, next int64) error {
	for first := true; len(b) >= batchHead; first = false {
		_, last, length := headOf(b)
		switch {
		case length > int64(len(b)) && first, length < batchHead:
			return fmt.Errorf("a batch says that it is %d bytes long, and %d came", length, len(b))
		case length > int64(len(b)):
			return nil
		case last >= next:
			return errors.New("a record in it is cut short")
		}
		b = b[length:]
	}
	return nil
}

// damaged says that a batch cannot be read, and steps over it: one bad batch must not end what is seen of its partition. All
// that is damaged in a partition is one entry of what is not seen.
func (o *Observer) damaged(ctx context.Context, p *kmsg.FetchResponseTopicPartition, next int64, why error) int64 {
	behind := next + 1 // where not even its head is right
	for b := p.RecordBatches; len(b) >= batchHead; {
		base, last, length := headOf(b)
		if last >= next && base < next+1<<31 {
			behind = last + 1
			break
		}
		if length < batchHead || length > int64(len(b)) {
			break
		}
		b = b[length:]
	}
	n, missing := o.reader.damage(p.Partition, behind-next)
	reason := fmt.Sprintf("the batch at the offsets %d to %d cannot be read: %v", next, behind-1, why)
	if n > 1 {
		reason = fmt.Sprintf("%d batches cannot be read, the last at the offsets %d to %d: %v", n, next, behind-1, why)
	}
	o.lose(ctx, timeline.SourceFailed{Source: partitionName(p.Partition) + ", damaged", Reason: reason,
		Hides: fmt.Sprintf("what was written there, %d records at most; generations of its groups may be missing", missing)})
	return behind
}

// anew has a partition read anew, and says so until it is.
func (o *Observer) anew(ctx context.Context, partition int32, why string) {
	o.reader.restart(partition, why)
	o.lose(ctx, timeline.SourceFailed{Source: partitionName(partition), Code: codeOutOfRange, Reason: why + "; it is read anew", Hides: "its groups until then"})
}

// failed takes a partition's error: most mean that the leader has moved.
func (o *Observer) failed(ctx context.Context, partition int32, code int16) {
	name := partitionName(partition)
	lasting := o.reader.fail(partition, code)
	switch code {
	case codeOutOfRange:
		o.anew(ctx, partition, "its log was cut or deleted where we had been reading")
		return
	case codeTopicDenied:
		o.cluster.look() // all of it is forbidden: polling is left
	default:
		o.cluster.look()
	}
	if lasting || code == codeTopicDenied {
		f := timeline.SourceFailed{Source: name, Code: code, Reason: nameOf(code), Hides: "what its groups do, but for what ListGroups says"}
		if code == codeTopicDenied {
			f.Right = "Read on Topic " + offsetsTopic
		}
		o.lose(ctx, f)
	}
}
