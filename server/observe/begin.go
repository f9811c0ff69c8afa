package observe

import (
	"context"
	"fmt"

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
		o.cutOff(ctx, w.partition, start.known, end.known)
		o.saw(ctx, timeline.ReadFrom{Partition: w.partition, Start: from, End: end.known, Tail: from > start.known, Why: o.reader.why(w.partition)})
		if o.reader.begun(w.partition, from); from > start.known {
			o.reader.tail()
			o.lose(ctx, timeline.SourceFailed{Source: beginning, Reason: fmt.Sprintf("it is long, and only the newest %d MB are read (-attach-read)", max(o.cfg.ReadBytes>>20, 1)),
				Hides: "generations that lie there; groups whose records do are asked for instead"})
		}
		o.back(ctx, partitionName(w.partition), 0)
	}
}

// cutOff says what is missing for good in a partition that is read anew: what was deleted before it was read, and what had been
// read and is no longer in the log.
func (o *Observer) cutOff(ctx context.Context, partition int32, start, end int64) {
	was := o.reader.had(partition)
	if was < 0 || start <= was && was <= end {
		return
	}
	f := timeline.SourceFailed{Source: partitionName(partition) + ", cut", Reason: fmt.Sprintf("its log was at the offset %d and begins at %d now", was, start),
		Hides: "what was written between the two; generations of its groups may be missing"}
	if end < was {
		f.Reason = fmt.Sprintf("its log was at the offset %d and ends at %d now: an unclean leader has lost what came after", was, end)
		f.Hides = "nothing, but what was told of those offsets is no longer so"
	}
	o.lose(ctx, f)
}

// known is an offset that was asked for, -1 where there is none, and the timestamp of what lies there.
type known struct {
	known int64
	atMs  int64
	Code  int16
}

// listOffsets asks the leader of partitions of one topic for the offsets at a timestamp: -1 the end, -2 the beginning, -3 the
// largest timestamp (KIP-734).
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
			found[p.Partition] = known{offset, p.Timestamp, p.ErrorCode}
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
				o.anew(ctx, p.Partition, "its log was cut when the leader changed")
			default:
				o.reader.checked(p.Partition)
			}
		}
	}
}
