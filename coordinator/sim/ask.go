package sim

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/record"
)

// AdminName is the client.id of the tool that Ask sends requests with.
const AdminName = "admin"

// adminTimeoutMs is how long the tool waits for an answer.
const adminTimeoutMs = 30_000

// admin finds the tool, which is made when it is first used.
func (w *World) admin() *consumer {
	for _, c := range w.consumers {
		if c.phase == asking {
			return c
		}
	}
	index := len(w.consumers)
	c := newConsumer(ConsumerConfig{Name: AdminName}, index, hostOf(index))
	c.phase = asking
	w.consumers = append(w.consumers, c)
	return c
}

// Ask sends one request that was made by hand, as a tool does: on a connection of its own, without a second try. What
// comes of it is told as for any client. broker 0 stands for the coordinator of the group, or for any broker that runs
// where there is none. The request must have its Version set.
func (w *World) Ask(broker int32, group string, req kmsg.Request) error {
	if broker == 0 {
		broker = w.coordinatorOf(group)
	} else if err := w.checkBroker(broker); err != nil {
		return err
	}
	if broker == 0 {
		return fmt.Errorf("there is no broker to ask: none runs")
	}
	c := w.admin()
	c.cfg.Group = group
	timeoutMs := int64(adminTimeoutMs)
	if q, ok := req.(*kmsg.JoinGroupRequest); ok {
		timeoutMs = int64(q.RebalanceTimeoutMillis) + 5000
	}
	w.send(c, w.open(c, broker, false), req, timeoutMs, plain)
	w.arm(c)
	return nil
}

// coordinatorOf is the broker that coordinates a group by what brokers know, else the first that runs, 0 for none.
func (w *World) coordinatorOf(group string) int32 {
	all := w.drive.Cluster()
	if n := all.Partitions(cluster.OffsetsTopic); n > 0 {
		if leader, _, _ := all.Leader(cluster.OffsetsTopic, record.Partition(group, n)); leader > 0 {
			return leader
		}
	}
	for id := int32(1); id <= w.cfg.Brokers; id++ {
		if all.Running(id) {
			return id
		}
	}
	return 0
}

// Identity is what a client would say of itself in a request.
type Identity struct {
	MemberID   string
	InstanceID string // "" for a dynamic member
	Generation int32  // -1 where it is no member
	// TransactionalID, ProducerID and ProducerEpoch are its producer's; "" where it has none.
	TransactionalID string
	ProducerID      int64
	ProducerEpoch   int16
}

// Identity tells what a client believes of itself. AdminName stands for the tool: the id and generation that its last
// JoinGroup was answered with.
func (w *World) Identity(client string) (Identity, bool) {
	c := w.find(client)
	if c == nil && client == AdminName {
		c = w.admin()
	}
	if c == nil {
		return Identity{}, false
	}
	return Identity{c.memberID, c.cfg.InstanceID, c.generation, c.cfg.TransactionalID, c.producer.id, c.producer.epoch}, true
}

// asked is an answer to the tool. It keeps what a JoinGroup gave it, and closes the connection.
func (c *consumer) asked(w *World, k *call) {
	if r, ok := k.reply.(*kmsg.JoinGroupResponse); ok && r.MemberID != "" {
		c.memberID, c.generation = r.MemberID, r.Generation
	}
	if n := w.conns[k.conn]; n != nil {
		w.disconnect(c, n, "the tool has its answer")
	}
}

// hostOf is the address of the process with a number.
func hostOf(index int) string { return fmt.Sprintf("/10.0.%d.%d", index/250, index%250+1) }

// old are the versions of the requests that a client of JoinGroup's version sends besides it (Kafka 0.10.1 to 3.2, by
// the release that was the first to send that JoinGroup).
type old struct{ sync, heartbeat, leave, commit, fetch, find int16 }

var oldVersions = map[int16]old{
	1: {0, 0, 0, 2, 1, 0}, // 0.10.1
	2: {1, 1, 1, 3, 3, 1}, // 0.11
	3: {2, 2, 2, 4, 4, 2}, // 2.0
	4: {2, 2, 2, 6, 5, 2}, // 2.2
	5: {3, 3, 2, 7, 5, 2}, // 2.3
	6: {4, 4, 4, 8, 6, 3}, // 2.4
	7: {5, 4, 4, 8, 7, 3}, // 2.5
	8: {5, 4, 5, 8, 8, 4}, // 3.2
}

// newest are the versions that this client sends where it does not pose as an old one.
var newest = old{5, 4, 5, 9, 9, 4}

// versions are those of all requests but JoinGroup.
func (c *consumer) versions() old {
	if v, ok := oldVersions[c.cfg.JoinVersion]; ok && c.cfg.OldRequests {
		return v
	}
	return newest
}
