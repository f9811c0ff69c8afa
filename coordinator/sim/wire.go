package sim

import (
	"cmp"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// tell says of a request what it wants: the offsets that it writes, and the transaction that it is part of. Whoever
// follows the events can so compare what a client asked for with what others read.
func tell(b *event.RequestSent, req kmsg.Request) {
	switch q := req.(type) {
	case *kmsg.OffsetCommitRequest:
		for _, t := range q.Topics {
			for _, p := range t.Partitions {
				b.Offsets = append(b.Offsets, offsetValue(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata))
			}
		}
	case *kmsg.TxnOffsetCommitRequest:
		b.ProducerID, b.ProducerEpoch = q.ProducerID, q.ProducerEpoch
		for _, t := range q.Topics {
			for _, p := range t.Partitions {
				b.Offsets = append(b.Offsets, offsetValue(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata))
			}
		}
	case *kmsg.OffsetFetchRequest:
		b.RequireStable = q.RequireStable && q.Version >= 7
	case *kmsg.EndTxnRequest:
		b.ProducerID, b.ProducerEpoch, b.Commit = q.ProducerID, q.ProducerEpoch, q.Commit
	}
}

// told lists what an OffsetFetch read of one group, nil for every other answer.
func told(reply kmsg.Response) (list []event.OffsetValue) {
	r, ok := reply.(*kmsg.OffsetFetchResponse)
	if !ok || len(r.Groups) > 1 {
		return nil
	}
	for _, g := range fetchedGroups(r) {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				o := offsetValue(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata)
				o.Code = cmp.Or(p.ErrorCode, g.ErrorCode)
				list = append(list, o)
			}
		}
	}
	return list
}

func offsetValue(topic string, partition int32, offset int64, leaderEpoch int32, metadata *string) event.OffsetValue {
	o := event.OffsetValue{Topic: topic, Partition: partition, Offset: offset, LeaderEpoch: leaderEpoch}
	if metadata != nil {
		o.Metadata = *metadata
	}
	return o
}
