package kafka

import (
	"container/list"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// sessionEvictionMs is how long a fetch session is safe from others (Kafka: MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS).
	sessionEvictionMs = 120_000
	// maxSessionParts bounds the partitions of all sessions together, which Kafka does not: a client that opens sessions
	// and forgets them, or lets one grow, costs no more than this. A name that is longer than a topic's counts for more.
	maxSessionParts = 500_000
)

// sessions are the brokers' caches of fetch sessions (KIP-227). They belong to the loop's goroutine.
type sessions struct {
	byID map[int32]*session
	// slots is max.incremental.fetch.session.cache.slots, for each broker.
	slots int
	parts int
}

func newSessions(slots int32) sessions {
	return sessions{byID: map[int32]*session{}, slots: int(slots)}
}

// session is what a client reads, so that it need not say it each time, and what it was told last, so that it is told only
// of what changed.
type session struct {
	id, epoch         int32
	broker            int32
	topicIDs          bool
	createdMs, usedMs int64
	// order holds *sessionPart; what gave data goes to its end, so that no partition starves the others.
	order *list.List
	parts map[sessionKey]*list.Element
	// weight is what parts count for in sessions.parts.
	weight int
}

type sessionKey struct {
	topic     string
	id        [16]byte
	partition int32
}

// weight is what a partition counts for: 1, and 1 more for every 256 bytes of its name, which may be no topic's.
func (k sessionKey) weight() int { return 1 + len(k.topic)/256 }

type sessionPart struct {
	sessionKey
	asked           kmsg.FetchRequestTopicPartition
	highWatermark   int64
	logStart        int64
	highWatermarkIs bool // false: it must be told again
}

// fetching is one Fetch under way: request has every partition that is read, whether this request named it or the session
// does; session is nil without one; create is set where a session is to begin with the answer.
type fetching struct {
	request *kmsg.FetchRequest
	session *session
	create  bool
}

// begin finds what a Fetch reads (Kafka: FetchManager.newContext), or the error of the whole request.
func (s *sessions) begin(c *call, request *kmsg.FetchRequest, nowMs int64) (f fetching, code int16) {
	f.request = request
	switch {
	case c.version < 7:
		return f, 0
	case request.SessionEpoch == 0 || request.SessionEpoch == -1:
		if old := s.byID[request.SessionID]; old != nil && old.broker == c.conn.broker {
			s.remove(old)
		}
		f.create = request.SessionEpoch == 0
		return f, 0
	}
	known := s.byID[request.SessionID]
	switch {
	case known == nil || known.broker != c.conn.broker:
		return f, kerr.FetchSessionIDNotFound.Code
	case known.epoch != request.SessionEpoch:
		return f, kerr.InvalidFetchSessionEpoch.Code
	case known.topicIDs != (c.version >= 13):
		return f, kerr.FetchSessionTopicIDError.Code
	}
	s.update(known, request)
	if s.parts > maxSessionParts { // as if it had been evicted: the client begins a new one
		s.remove(known)
		return f, kerr.FetchSessionIDNotFound.Code
	}
	if len(known.parts) == 0 {
		s.remove(known)
		return f, 0
	}
	known.usedMs = nowMs
	if known.epoch++; known.epoch < 0 {
		known.epoch = 1
	}
	f.session, f.request = known, known.whole(request)
	return f, 0
}

// update adds, changes and forgets partitions as the request says.
func (s *sessions) update(k *session, request *kmsg.FetchRequest) {
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			s.put(k, sessionKey{t.Topic, t.TopicID, p.Partition}, p)
		}
	}
	for _, t := range request.ForgottenTopics {
		for _, p := range t.Partitions {
			if at := k.parts[sessionKey{t.Topic, t.TopicID, p}]; at != nil {
				key := k.order.Remove(at).(*sessionPart).sessionKey
				delete(k.parts, key)
				k.weight -= key.weight()
				s.parts -= key.weight()
			}
		}
	}
}

func (s *sessions) put(k *session, key sessionKey, p kmsg.FetchRequestTopicPartition) {
	if at := k.parts[key]; at != nil {
		at.Value.(*sessionPart).asked = p
		return
	}
	k.parts[key] = k.order.PushBack(&sessionPart{sessionKey: key, asked: p})
	k.weight += key.weight()
	s.parts += key.weight()
}

// whole is the request with every partition of the session, in its order.
func (k *session) whole(request *kmsg.FetchRequest) *kmsg.FetchRequest {
	r := *request
	r.Topics = make([]kmsg.FetchRequestTopic, 0, 1)
	for at := k.order.Front(); at != nil; at = at.Next() {
		p := at.Value.(*sessionPart)
		if n := len(r.Topics); n == 0 || r.Topics[n-1].Topic != p.topic || r.Topics[n-1].TopicID != p.id {
			r.Topics = append(r.Topics, kmsg.FetchRequestTopic{Topic: p.topic, TopicID: p.id})
		}
		t := &r.Topics[len(r.Topics)-1]
		t.Partitions = append(t.Partitions, p.asked)
	}
	return &r
}

// finish makes the answer that the client gets out of the one that was read: with a new session's id, or with only what
// changed since the session was told.
func (s *sessions) finish(c *call, f fetching, answer *kmsg.FetchResponse, nowMs int64) {
	switch {
	case f.session != nil:
		answer.SessionID = f.session.id
		answer.Topics = f.session.changed(answer.Topics)
	case f.create:
		if k := s.create(c, f.request, nowMs); k != nil {
			answer.SessionID = k.id
			k.changed(answer.Topics)
		}
	}
}

// changed notes what the client is told, and keeps of an answer only what it does not know (Kafka:
// CachedPartition.maybeUpdateResponseData).
func (k *session) changed(topics []kmsg.FetchResponseTopic) (news []kmsg.FetchResponseTopic) {
	for _, t := range topics {
		rows := t.Partitions[:0:0]
		for _, row := range t.Partitions {
			at := k.parts[sessionKey{t.Topic, t.TopicID, row.Partition}]
			if at == nil {
				continue
			}
			p := at.Value.(*sessionPart)
			tell := row.ErrorCode != 0 || len(row.RecordBatches) > 0 || !p.highWatermarkIs || p.highWatermark != row.HighWatermark || p.logStart != row.LogStartOffset
			p.highWatermark, p.logStart, p.highWatermarkIs = row.HighWatermark, row.LogStartOffset, row.ErrorCode == 0
			if len(row.RecordBatches) > 0 {
				k.order.MoveToBack(at)
			}
			if tell {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			t.Partitions = rows
			news = append(news, t)
		}
	}
	return news
}

// create begins a session, if there is room (Kafka: FetchSessionCacheShard.maybeCreateSession).
func (s *sessions) create(c *call, request *kmsg.FetchRequest, nowMs int64) *session {
	size, weight := 0, 0
	for _, t := range request.Topics {
		size += len(t.Partitions)
		weight += len(t.Partitions) * sessionKey{topic: t.Topic}.weight()
	}
	if size == 0 || s.parts+weight > maxSessionParts || !s.room(c.conn.broker, size, nowMs) {
		return nil
	}
	k := &session{broker: c.conn.broker, epoch: 1, topicIDs: c.version >= 13, createdMs: nowMs, usedMs: nowMs, order: list.New(),
		parts: make(map[sessionKey]*list.Element, size)}
	for k.id == 0 || s.byID[k.id] != nil {
		k.id = rand.Int32()
	}
	s.byID[k.id] = k
	s.update(k, &kmsg.FetchRequest{Topics: request.Topics})
	return k
}

// room makes room for a session of a broker: one that was not used for long goes, or a smaller one that has been there
// for long.
func (s *sessions) room(broker int32, size int, nowMs int64) bool {
	count := 0
	var stale, small *session
	for _, k := range s.byID {
		if k.broker != broker {
			continue
		}
		count++
		if nowMs-k.usedMs > sessionEvictionMs && (stale == nil || k.usedMs < stale.usedMs) {
			stale = k
		}
		if nowMs-k.createdMs > sessionEvictionMs && len(k.parts) < size && (small == nil || len(k.parts) < len(small.parts)) {
			small = k
		}
	}
	if count < s.slots {
		return true
	}
	if stale == nil {
		stale = small
	}
	if stale == nil {
		return false
	}
	s.remove(stale)
	return true
}

func (s *sessions) remove(k *session) {
	delete(s.byID, k.id)
	s.parts -= k.weight
}

// stopped forgets the sessions of a broker.
func (s *sessions) stopped(broker int32) {
	for _, k := range s.byID {
		if k.broker == broker {
			s.remove(k)
		}
	}
}
