package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// WriteTxnMarkers (27), v0 and v1: ends transactions on partitions that this broker leads. Transaction coordinators do so
// inside of this process; over the wire it is an operator's tool for a transaction that hangs (KIP-664).
//
//   - v1: flexible (KIP-482)
var writeTxnMarkersAPI = api{key: 27, name: "WriteTxnMarkers", min: 0, max: 1, run: writeTxnMarkers}

func writeTxnMarkers(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.WriteTxnMarkersRequest)
	answer := request.ResponseKind().(*kmsg.WriteTxnMarkersResponse)
	left := 1
	oneLess := func() {
		if left--; left == 0 && !c.conn.gone {
			c.complete(answer)
		}
	}
	answer.Markers = make([]kmsg.WriteTxnMarkersResponseMarker, len(request.Markers))
	for i, m := range request.Markers {
		row := &answer.Markers[i]
		row.ProducerID, row.Topics = m.ProducerID, make([]kmsg.WriteTxnMarkersResponseMarkerTopic, len(m.Topics))
		for j, t := range m.Topics {
			topic := &row.Topics[j]
			topic.Topic, topic.Partitions = t.Topic, make([]kmsg.WriteTxnMarkersResponseMarkerTopicPartition, len(t.Partitions))
			for k, p := range t.Partitions {
				at := &topic.Partitions[k]
				at.Partition = p
				left++
				s.cluster.WriteMarker(nowMs, Marker{Broker: c.conn.broker, Topic: t.Topic, Partition: p, ProducerID: m.ProducerID,
					ProducerEpoch: m.ProducerEpoch, CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Committed}, func(code int16) {
					at.ErrorCode = code
					c.note(code)
					oneLess()
				})
			}
		}
	}
	oneLess()
}
