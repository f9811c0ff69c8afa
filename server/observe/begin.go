package observe

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/observe/timeline"
)

// begin notes where partitions begin and end, decides from where they are read, and tells it.
func (o *Observer) begin(ctx context.Context, broker int32, fresh []wish) {
	starts, err := o.listOffsets(ctx, broker, offsetsTopic, fresh, -2)
	if err != nil {
		return
	}
	ends, err := o.listOffsets(ctx, broker, offsetsTopic, fresh, -1)
	if err != nil {
		return
	}
	for _, w := range fresh {
		start, end := starts[w.partition], ends[w.partition]
		if code := max(start.Code, end.Code); code != 0 || start.known < 0 || end.known < 0 {
			o.failed(ctx, w.partition, code)
			continue
		}
		from := o.reader.from(w.partition, start.known, end.known)
		o.saw(ctx, timeline.ReadFrom{Partition: w.partition, Start: from, End: end.known, Tail: from > start.known, Why: o.reader.why(w.partition)})
		o.reader.begun(w.partition, from)
		o.back(ctx, partitionName(w.partition), 0)
	}
}

// known is an offset that was asked for, -1 where there is none.
type known struct {
	known int64
	Code  int16
}

// listOffsets asks the leader of partitions of one topic for the offsets at a timestamp: -1 the end, -2 the beginning.
func (o *Observer) listOffsets(ctx context.Context, broker int32, name string, wishes []wish, at int64) (map[int32]known, error) {
	r := kmsg.NewPtrListOffsetsRequest()
	r.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = name
	for _, w := range wishes {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.Timestamp = w.partition, w.epoch, at
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	answer, err := o.ask(ctx, broker, r)
	if err != nil {
		return nil, err
	}
	found := map[int32]known{}
	for _, w := range wishes {
		found[w.partition] = known{known: -1}
	}
	for _, t := range answer.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			offset := p.Offset
			if len(p.OldStyleOffsets) > 0 {
				offset = p.OldStyleOffsets[0]
			}
			if p.ErrorCode != 0 {
				offset = -1
			}
			found[p.Partition] = known{offset, p.ErrorCode}
		}
	}
	return found, nil
}

// checkEpochs asks a new leader where the epoch ended in which we read last (KIP-320): a log that ends before our position
// was cut, and the partition is read anew.
func (o *Observer) checkEpochs(ctx context.Context, broker int32, moved []wish) {
	r := kmsg.NewPtrOffsetForLeaderEpochRequest()
	r.ReplicaID = -1
	t := kmsg.NewOffsetForLeaderEpochRequestTopic()
	t.Topic = offsetsTopic
	for _, w := range moved {
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = w.partition, w.epoch, w.read
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	answer, err := o.ask(ctx, broker, r)
	if err != nil {
		return
	}
	for _, t := range answer.(*kmsg.OffsetForLeaderEpochResponse).Topics {
		for _, p := range t.Partitions {
			position, reading := o.reader.position(p.Partition)
			switch {
			case !reading:
			case p.ErrorCode != 0:
				o.failed(ctx, p.Partition, p.ErrorCode)
			case p.EndOffset >= 0 && p.EndOffset < position:
				o.reader.restart(p.Partition, "its log was cut when the leader changed")
			default:
				o.reader.checked(p.Partition)
			}
		}
	}
}
