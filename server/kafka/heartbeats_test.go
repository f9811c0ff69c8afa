package kafka

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// frameOf is a request as a client sends it, without its length.
func frameOf(r kmsg.Request, correlation int32) []byte {
	frame := kbin.AppendInt16(kbin.AppendInt16(nil, r.Key()), r.GetVersion())
	frame = kbin.AppendString(kbin.AppendInt32(frame, correlation), "client")
	if r.IsFlexible() {
		frame = append(frame, 0)
	}
	return r.AppendTo(frame)
}

var someNames = rapid.SampledFrom([]string{"", "g", "orders", "orders-dlq", "a-name-that-is-longer-than-the-others"})

func drawBeat(t *rapid.T) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version = rapid.Int16Range(0, 4).Draw(t, "version")
	r.Group, r.MemberID, r.Generation = someNames.Draw(t, "group"), someNames.Draw(t, "member"), rapid.Int32Range(0, 2).Draw(t, "generation")
	if instance := someNames.Draw(t, "instance"); r.Version >= 3 && instance != "" {
		r.InstanceID = &instance
	}
	return r
}

func drawCommit(t *rapid.T) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version = rapid.Int16Range(2, 9).Draw(t, "version")
	r.Group, r.MemberID, r.Generation = someNames.Draw(t, "group"), someNames.Draw(t, "member"), rapid.Int32Range(-1, 2).Draw(t, "generation")
	for range rapid.IntRange(0, 6).Draw(t, "topics") {
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = someNames.Draw(t, "topic")
		for p := range rapid.Int32Range(0, 4).Draw(t, "partitions") {
			partition := kmsg.NewOffsetCommitRequestTopicPartition()
			partition.Partition, partition.Offset = p, rapid.Int64Range(0, 9).Draw(t, "offset")
			if metadata := someNames.Draw(t, "metadata"); metadata != "g" {
				partition.Metadata = &metadata
			}
			topic.Partitions = append(topic.Partitions, partition)
		}
		r.Topics = append(r.Topics, topic)
	}
	return r
}

// TestUsedAgain: however calls, strings and requests are used again, each heartbeat and each commit is read as if it were the
// only one, whatever is written over its frame afterwards.
func TestUsedAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &conn{srv: New(Config{})}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			var batch []*call
			var sent []kmsg.Request
			var frames [][]byte
			for i := range rapid.IntRange(1, 8).Draw(t, "calls") {
				var r kmsg.Request
				switch {
				case i > 0 && rapid.Bool().Draw(t, "the same again"):
					r = sent[i-1]
				case rapid.Bool().Draw(t, "a commit"):
					r = drawCommit(t)
				default:
					r = drawBeat(t)
				}
				frame := frameOf(r, int32(i))
				next := c.again(batch, frame)
				if next == nil {
					var err error
					if next, err = c.parse(frame, true); err != nil {
						t.Fatal(err)
					}
				}
				batch, sent, frames = append(batch, next), append(sent, r), append(frames, frame)
			}
			wanted := make([]kmsg.Request, len(sent))
			for i, r := range sent {
				h, a, err := c.srv.parseHeader(slices.Clone(frames[i]))
				if err == nil {
					wanted[i], err = decode(a, h)
				}
				if err != nil || r.Key() != h.key {
					t.Fatal(err)
				}
			}
			for _, frame := range frames {
				clear(frame)
			}
			for i, got := range batch {
				if got.correlation != int32(i) || got.clientID != "client" || got.api.key != sent[i].Key() || got.version != sent[i].GetVersion() || !sameRequest(got.request, wanted[i]) {
					t.Fatalf("call %d: %+v, want %+v", i, got.request, wanted[i])
				}
			}
			first := rapid.IntRange(0, len(batch)).Draw(t, "answered first")
			c.recycle(batch[:first])
			c.recycle(batch[first:])
		}
	})
}

// sameRequest compares; no topics are no topics, whether there was room for some or not, and so with partitions.
func sameRequest(a, b kmsg.Request) bool {
	x, ok := a.(*kmsg.OffsetCommitRequest)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	copied := *x
	copied.Topics = nil
	for _, t := range x.Topics {
		if len(t.Partitions) == 0 {
			t.Partitions = nil
		}
		copied.Topics = append(copied.Topics, t)
	}
	return reflect.DeepEqual(&copied, b)
}

// TestCutCommits: the commits' own decoder takes what kmsg's takes, tagged fields and all, and refuses what that refuses,
// wherever the bytes are cut and whatever is written over them.
func TestCutCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawCommit(t)
		r.UnknownTags.Set(5, []byte("tag"))
		for i := range r.Topics {
			r.Topics[i].UnknownTags.Set(300, nil)
		}
		frame := frameOf(r, 1)
		if at := rapid.IntRange(0, 3*len(frame)).Draw(t, "at"); at >= 24 && at < len(frame) {
			frame[at] = rapid.Byte().Draw(t, "byte")
		}
		frame = frame[:rapid.IntRange(24, len(frame)).Draw(t, "cut")]
		c := &conn{srv: New(Config{})}
		h, a, err := c.srv.parseHeader(frame)
		if err != nil {
			return
		}
		want, wantErr := decode(a, h)
		got, gotErr := c.parse(slices.Clone(frame), true)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%x: %v, kmsg says %v", frame, gotErr, wantErr)
		}
		if gotErr != nil {
			return
		}
		withoutTags := want.(*kmsg.OffsetCommitRequest)
		withoutTags.UnknownTags = kmsg.Tags{}
		for i := range withoutTags.Topics {
			withoutTags.Topics[i].UnknownTags = kmsg.Tags{}
			for j := range withoutTags.Topics[i].Partitions {
				withoutTags.Topics[i].Partitions[j].UnknownTags = kmsg.Tags{}
			}
		}
		if !sameRequest(got.request, withoutTags) {
			t.Fatalf("%x: %+v, kmsg reads %+v", frame, got.request, withoutTags)
		}
	})
}

// TestSharedBeatsAreNotUsedAgain: a heartbeat's request that a later call of its batch has, too, outlives the first's answer.
func TestSharedBeatsAreNotUsedAgain(t *testing.T) {
	c := &conn{srv: New(Config{})}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID = 4, "g", "m"
	first, err := c.parse(frameOf(beat, 1), true)
	if err != nil {
		t.Fatal(err)
	}
	second := c.again([]*call{first}, frameOf(beat, 2))
	if second == nil || second.request != first.request || second.correlation != 2 {
		t.Fatalf("the second is %+v", second)
	}
	c.recycle([]*call{first})
	beat.Group = "other"
	if _, err := c.parse(frameOf(beat, 3), true); err != nil {
		t.Fatal(err)
	}
	if got := second.request.(*kmsg.HeartbeatRequest).Group; got != "g" {
		t.Errorf("the second, which is not answered yet, is of group %q now", got)
	}
	if short := binary.BigEndian.AppendUint32(nil, 1); c.again(nil, short) != nil {
		t.Error("a frame is the one before the first")
	}
}
