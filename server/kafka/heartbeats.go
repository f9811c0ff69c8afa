package kafka

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Heartbeats and commits are most of what a coordinator is asked, so they get what nothing else needs: a call is used again
// when its answer was written, and the strings, the same ones each time, are kept instead of copied anew.

const (
	// maxNames bounds the strings that a connection keeps, keptName their length in bytes: as many long ones would be a gigabyte.
	maxNames = 1024
	keptName = 256
	// fewTopics is for how many topics an answered commit keeps room, fewPartitions for how many partitions of each.
	fewTopics, fewPartitions = 4, 32
)

// readerSide is the part of a connection that belongs to the reader's goroutine.
type readerSide struct {
	// bareTokens is set after SaslHandshake v0, until the client is known.
	bareTokens     bool
	readerClientID string
	// lastGroup, lastMember and lastTopic are of the heartbeat or commit before.
	lastGroup, lastMember, lastTopic string
	names                            map[string]string
	spare                            []*call
	// lastBeat is the frame of the call before, where that is a heartbeat that lies in the read buffer.
	lastBeat []byte
}

// again makes a call out of a heartbeat that is, but for its correlation id, the one before it in the same batch: that one's
// frame still lies in the read buffer, since the whole batch came with one read. It returns nil where it is another one.
func (c *conn) again(batch []*call, frame []byte) *call {
	last := c.lastBeat
	c.lastBeat = nil
	if n := len(batch); n == 0 || len(last) != len(frame) || !bytes.Equal(last[8:], frame[8:]) || !bytes.Equal(last[:4], frame[:4]) {
		return nil
	}
	before := batch[len(batch)-1]
	next := c.newCall(before.api, header{version: before.version, correlation: int32(binary.BigEndian.Uint32(frame[4:]))}, len(frame))
	next.clientID, next.request = before.clientID, before.request
	before.shared, next.shared = true, true
	c.lastBeat = frame
	return next
}

// usedAgain tells whose calls are.
func (a *api) usedAgain() bool { return a.key == heartbeatAPI.key || a.key == offsetCommitAPI.key }

// newCall makes a call, for a heartbeat or a commit out of one that was answered.
func (c *conn) newCall(a *api, h header, size int) *call {
	if !a.usedAgain() {
		return &call{conn: c, api: a, version: h.version, correlation: h.correlation, size: size}
	}
	if len(c.spare) == 0 {
		c.mu.Lock()
		c.spare, c.free = c.free, c.spare
		c.mu.Unlock()
	}
	if n := len(c.spare); n > 0 {
		used := c.spare[n-1]
		c.spare[n-1] = nil
		c.spare = c.spare[:n-1]
		request := used.request
		if used.shared { // with calls that may not be answered yet
			request = nil
		}
		*used = call{conn: c, api: a, version: h.version, correlation: h.correlation, size: size, request: request}
		return used
	}
	return &call{conn: c, api: a, version: h.version, correlation: h.correlation, size: size}
}

// recycle lets the reader use encoded heartbeats and commits again. It comes before they are written, since the client's next burst
// may be here before the write has returned.
func (c *conn) recycle(encoded []*call) {
	c.mu.Lock()
	for _, done := range encoded {
		if done.api.usedAgain() && len(c.free) < maxInFlight {
			done.forgetOffsets()
			c.free = append(c.free, done)
		}
	}
	c.mu.Unlock()
}

// forgetOffsets lets go of what a commit said; the room for a few topics is kept.
func (c *call) forgetOffsets() {
	commit, ok := c.request.(*kmsg.OffsetCommitRequest)
	if !ok {
		return
	}
	if cap(commit.Topics) > fewTopics {
		commit.Topics = nil
	}
	for i := range commit.Topics {
		t := &commit.Topics[i]
		room := t.Partitions
		if cap(room) > fewPartitions {
			room = nil
		}
		clear(room)
		*t = kmsg.OffsetCommitRequestTopic{Partitions: room[:0]}
	}
	commit.Topics = commit.Topics[:0]
}

// decodeHeartbeat reads a heartbeat whose strings lie in the frame, and puts kept ones in their place.
func (c *conn) decodeHeartbeat(next *call, a *api, h header) error {
	beat, ok := next.request.(*kmsg.HeartbeatRequest)
	if !ok {
		beat = &kmsg.HeartbeatRequest{}
		next.request = beat
	}
	*beat = kmsg.HeartbeatRequest{Version: h.version} // reading leaves what its version lacks
	body := h.body
	if beat.IsFlexible() {
		var err error
		if body, err = skipTags(a, h); err != nil {
			return err
		}
	}
	if err := beat.UnsafeReadFrom(body); err != nil {
		return cutBody(a, h)
	}
	if err := checkRows(a, h, beat); err != nil {
		return err
	}
	beat.Group, beat.MemberID = c.keep(beat.Group, &c.lastGroup), c.keep(beat.MemberID, &c.lastMember)
	if beat.InstanceID != nil {
		instance := c.keep(*beat.InstanceID, new(string))
		beat.InstanceID = &instance
	}
	return nil
}

// keep returns an equal string that does not lie in the frame. last is the one that was kept in this place before, which
// on a connection of one member is the right one.
func (c *conn) keep(name string, last *string) string {
	if name == *last {
		return *last
	}
	if *last == "" || len(name) > keptName { // the first one, and mostly the only one; or one that nobody but a fuzzer sends
		*last = strings.Clone(name)
		return *last
	}
	if kept, ok := c.names[name]; ok {
		*last = kept
		return kept
	}
	if c.names == nil || len(c.names) >= maxNames {
		c.names = map[string]string{}
	}
	kept := strings.Clone(name)
	c.names[kept], *last = kept, kept
	return kept
}
