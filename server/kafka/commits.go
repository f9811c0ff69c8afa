package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// decodeCommit reads a commit, in the room of one that was answered where there is one. kmsg's decoder would make each list
// of partitions anew, and a string for each partition's metadata: a good part of what a commit costs.
func (c *conn) decodeCommit(next *call, a *api, h header) error {
	commit, ok := next.request.(*kmsg.OffsetCommitRequest)
	if !ok {
		commit = &kmsg.OffsetCommitRequest{}
		next.request = commit
	}
	*commit = kmsg.OffsetCommitRequest{Version: h.version, Topics: commit.Topics[:0]} // reading leaves what its version lacks
	commit.Default()
	body := h.body
	if commit.IsFlexible() {
		var err error
		if body, err = skipTags(a, h); err != nil {
			return err
		}
	}
	from := commitReader{kbin.Reader{Src: body}, commit.IsFlexible()}
	c.readCommit(commit, &from)
	if !from.Ok() {
		return cutBody(a, h)
	}
	return checkRows(a, h, commit)
}

func (c *conn) readCommit(commit *kmsg.OffsetCommitRequest, from *commitReader) {
	commit.Group = c.keep(from.string(), &c.lastGroup)
	commit.Generation = from.Int32()
	commit.MemberID = c.keep(from.string(), &c.lastMember)
	if commit.Version >= 7 {
		commit.InstanceID = from.nullable()
	}
	if commit.Version <= 4 {
		commit.RetentionTimeMillis = from.Int64()
	}
	const leastTopic = 2
	n := from.list(leastTopic)
	commit.Topics = slices.Grow(commit.Topics, n)[:n]
	for i := range commit.Topics {
		t := &commit.Topics[i]
		*t = kmsg.OffsetCommitRequestTopic{Topic: c.keep(from.string(), &c.lastTopic), Partitions: t.Partitions}
		from.partitions(commit.Version, t)
		from.tags()
	}
	from.tags()
}

// commitReader reads what an OffsetCommit consists of. Once something is cut it reads nothing more.
type commitReader struct {
	kbin.Reader
	flexible bool
}

// partitions reads a topic's partitions, in the room of the list that lies there.
func (r *commitReader) partitions(version int16, t *kmsg.OffsetCommitRequestTopic) {
	const leastPartition = 14
	n := r.list(leastPartition)
	t.Partitions = slices.Grow(t.Partitions[:0], n)[:n]
	for i := range t.Partitions {
		p := &t.Partitions[i]
		*p = kmsg.OffsetCommitRequestTopicPartition{Partition: r.Int32(), Offset: r.Int64()}
		p.Timestamp, p.LeaderEpoch = -1, -1
		if version >= 6 {
			p.LeaderEpoch = r.Int32()
		}
		p.Metadata = r.nullable()
		r.tags()
	}
}

// list reads the length of a list whose items have so many bytes at least: what a length alone says reserves nothing.
func (r *commitReader) list(least int) int {
	var n int32
	if r.flexible {
		n = r.CompactArrayLen()
	} else {
		n = r.ArrayLen()
	}
	if n > 0 && int(n) > len(r.Src)/least {
		r.Span(-1) // it is cut
		return 0
	}
	return int(max(n, 0))
}

func (r *commitReader) length() int {
	if r.flexible {
		return int(r.Uvarint()) - 1
	}
	return int(r.Int16())
}

// string returns a string that lies in the frame: for conn.keep alone.
func (r *commitReader) string() string { return kbin.UnsafeString(r.Span(r.length())) }

// empty is the metadata of nearly all commits. Nobody changes what a request points to.
var empty string

// nullable returns a string of its own, nil for null.
func (r *commitReader) nullable() *string {
	n := r.length()
	switch {
	case n < 0:
		return nil
	case n == 0:
		return &empty
	}
	text := string(r.Span(n))
	return &text
}

// tags passes over tagged fields: none is known in any of these versions.
func (r *commitReader) tags() {
	if !r.flexible {
		return
	}
	for n := r.Uvarint(); n > 0 && r.Ok(); n-- {
		r.Uvarint()
		r.Span(int(r.Uvarint()))
	}
}
