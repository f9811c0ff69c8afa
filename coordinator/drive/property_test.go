package drive

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"grouplab/coordinator/cluster"
)

// commits sends offset commits of a client without membership, while brokers die and come back.
type commits struct {
	*world
	last  int64           // the offset sent last
	sent  map[int64]int64 // ticket to offset
	acked int64           // the largest offset that was acknowledged, -1 for none
}

func (c *commits) send() {
	q := kmsg.NewPtrFindCoordinatorRequest()
	q.Version, q.CoordinatorKey = 3, group
	for broker := int32(1); broker <= 3; broker++ {
		if !c.d.Cluster().Running(broker) {
			continue
		}
		r := ask[*kmsg.FindCoordinatorResponse](c.world, broker, "c1", q)
		if r.ErrorCode == 0 && c.d.Cluster().Running(r.NodeID) {
			c.last++
			c.sent[c.world.send(r.NodeID, "c1", commitRequest(member{"", -1}, c.last))] = c.last
		}
		return
	}
}

func (c *commits) look() {
	for ticket, offset := range c.sent {
		if r, ok := c.replies[ticket]; ok {
			delete(c.sent, ticket)
			if r.Code == 0 {
				c.acked = max(c.acked, offset)
			}
		}
	}
}

// An acknowledged commit is there at whichever broker coordinates the group next, whatever happened in between.
func TestAcknowledgedCommitsAreNeverLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &commits{world: newWorld(t, Config{Cluster: cluster.Config{Brokers: 3, OffsetsPartitions: 4}, LoadDelayMs: rapid.Int64Range(0, 300).Draw(rt, "load delay"),
			LoadChunkBytes: 400, DeliverAtOnce: rapid.Bool().Draw(rt, "at once")}), sent: map[int64]int64{}, acked: -1}
		c.latencyMs = rapid.Int64Range(0, 400).Draw(rt, "latency")
		c.topic()
		c.coordinator()
		broker := func() int32 { return rapid.Int32Range(1, 3).Draw(rt, "broker") }
		rt.Repeat(map[string]func(*rapid.T){
			"commit":  func(*rapid.T) { c.send() },
			"commit2": func(*rapid.T) { c.send() },
			"kill":    func(*rapid.T) { c.d.KillBroker(c.nowMs, broker()); c.take() },
			"stop":    func(*rapid.T) { c.d.StopBroker(c.nowMs, broker()); c.take() },
			"start":   func(*rapid.T) { c.d.StartBroker(c.nowMs, broker()); c.take() },
			"soon":    func(rt *rapid.T) { c.run(rapid.Int64Range(1, 1000).Draw(rt, "ms")) },
			"later":   func(rt *rapid.T) { c.run(rapid.Int64Range(1000, 20000).Draw(rt, "ms")) },
			"copy": func(*rapid.T) {
				k := *c.world
				k.d = c.d.Clone(c.d.cfg.Numbers.Clone())
				c.world = &k
			},
			"": func(*rapid.T) { c.look() },
		})
		for id := int32(1); id <= 3; id++ {
			c.d.StartBroker(c.nowMs, id)
			c.take()
		}
		c.run(60000)
		c.look()
		if got := c.committed(c.coordinator()); got < c.acked || got > c.last {
			rt.Fatalf("committed offset %d; %d was acknowledged, %d was sent", got, c.acked, c.last)
		}
	})
}
