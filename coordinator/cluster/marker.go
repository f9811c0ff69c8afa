package cluster

import "fmt"

// markerTimeoutMs is request.timeout.ms between brokers, which bounds the wait of a marker for the replicas.
const markerTimeoutMs = 30_000

// markerBytes is about how large a WriteTxnMarkers request or response of one marker is.
const markerBytes = 100

// markerMessage is a WriteTxnMarkers request on its way to a leader, or the answer on its way back.
type markerMessage struct {
	request MarkerRequest
	result  Appended
}

// WriteMarker has the leader of a partition end a transaction there. The request and its answer travel as messages, where
// the leader is another broker than the one that asks. Where nobody leads the partition, the code says so at once.
func (c *Cluster) WriteMarker(nowMs int64, m MarkerRequest) {
	leader, _, _ := c.Leader(m.Topic, m.Partition)
	if leader < 0 || leader == m.From {
		c.WriteMarkerAt(nowMs, leader, m)
		return
	}
	c.at(nowMs)
	c.out.Messages = append(c.out.Messages, Message{From: m.From, To: leader, Bytes: markerBytes,
		body: &messageBody{marker: &markerMessage{request: m}}})
}

// WriteMarkerAt has a broker end a transaction on a partition, which is an error where it does not lead it.
func (c *Cluster) WriteMarkerAt(nowMs int64, leader int32, m MarkerRequest) {
	c.at(nowMs)
	ok := c.find(m.Topic, m.Partition) != nil
	m.Marker.TimestampMs = c.nowMs
	r := AppendRequest{Broker: leader, Topic: m.Topic, Partition: m.Partition, Epoch: -1, Batch: m.Marker.Encode(), Acks: -1, TimeoutMs: markerTimeoutMs,
		Ticket: m.Ticket, Internal: true, Marker: true, Cause: m.Cause, What: "marker"}
	result := m.unanswered(leader)
	if ok && !c.Running(leader) {
		result.Code, result.Message = codeNotLeaderOrFollower, fmt.Sprintf("nobody leads %s-%d", m.Topic, m.Partition)
		c.finish(result)
		return
	}
	c.try(&r, result)
}

func (m *MarkerRequest) unanswered(leader int32) Appended {
	return Appended{Broker: leader, Topic: m.Topic, Partition: m.Partition, Ticket: m.Ticket, Internal: true, Marker: true, From: m.From, Life: m.Life, Cause: m.Cause,
		BaseOffset: -1, LogStartOffset: -1}
}

// markerFinished tells the outcome of a marker at its leader, and sends it back to who asked. The connection of a leader
// that died breaks: who asked sees that at once.
func (c *Cluster) markerFinished(a Appended) {
	remote := a.From > 0 && a.From != a.Broker && c.Running(a.Broker)
	a.Answered = !remote
	c.out.Appended = append(c.out.Appended, a)
	if remote {
		c.out.Messages = append(c.out.Messages, Message{From: a.Broker, To: a.From, Answer: true, Bytes: markerBytes,
			body: &messageBody{marker: &markerMessage{result: a}}})
	}
}

// deliverMarker takes a marker at its leader, or its answer at who asked.
func (c *Cluster) deliverMarker(m Message) {
	k := m.body.marker
	switch {
	case m.Answer:
		a := k.result
		a.Answered = true
		c.out.Appended = append(c.out.Appended, a)
	case !c.Running(m.To):
		c.markerLost(m)
	default:
		c.WriteMarkerAt(c.nowMs, m.To, k.request)
	}
}

// markerLost ends a marker whose request or answer will never arrive. It may be written all the same; written again, it
// ends nothing more.
func (c *Cluster) markerLost(m Message) {
	a := m.body.marker.result
	if !m.Answer {
		a = m.body.marker.request.unanswered(m.To)
	}
	a.Answered, a.BaseOffset = true, -1
	a.Code, a.Message = codeNetworkException, fmt.Sprintf("the connection to broker %d broke", a.Broker)
	c.out.Appended = append(c.out.Appended, a)
}
