package sim

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// lookup asks the least loaded node for the coordinator, unless it has asked already (AbstractCoordinator's
// lookupCoordinator).
func (c *consumer) lookup(w *World) {
	if c.findCall != 0 {
		return
	}
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version = c.versions().find
	req.CoordinatorKey, req.CoordinatorKeys = c.cfg.Group, []string{c.cfg.Group}
	c.findCall = w.send(c, c.leastLoaded(w), req, c.cfg.RequestTimeoutMs, plain)
}

// leastLoaded is the connection to the node with the fewest requests in flight (NetworkClient.leastLoadedNode), among
// those that did not just refuse. Chance decides between equals. Before the first metadata the nodes are those of
// bootstrap.servers, which here names every broker.
func (c *consumer) leastLoaded(w *World) *conn {
	nodes := c.meta.brokers
	if len(nodes) == 0 {
		for id := int32(1); id <= w.cfg.Brokers; id++ {
			nodes = append(nodes, id)
		}
	}
	best := c.fewest(w, nodes, w.nowMs)
	if len(best) == 0 {
		// All refused just now. The real client would wait out its reconnect back-off; asking one of them gets the
		// same refusal.
		best = c.fewest(w, nodes, -1)
	}
	return w.connect(c, best[w.chance(len(best))], false)
}

// fewest keeps the nodes that may be asked at nowMs (-1: all of them) and have the fewest requests in flight.
func (c *consumer) fewest(w *World, nodes []int32, nowMs int64) (best []int32) {
	least := 0
	for _, node := range nodes {
		if nowMs >= 0 && nowMs < c.refusedUntilMs[node] {
			continue
		}
		if n := c.inFlight(w, node, false); len(best) == 0 || n < least {
			best, least = []int32{node}, n
		} else if n == least {
			best = append(best, node)
		}
	}
	return best
}

// inFlight counts the requests to a node that wait for an answer.
func (c *consumer) inFlight(w *World, broker int32, coord bool) (count int) {
	for _, id := range c.conns {
		n := w.conns[id]
		if n.broker != broker || n.coordinator != coord {
			continue
		}
		for _, k := range n.calls {
			if w.calls[k].awaited() {
				count++
			}
		}
	}
	return count
}

// onFindCoordinator is FindCoordinatorResponseHandler.
func (c *consumer) onFindCoordinator(w *World, r *kmsg.FindCoordinatorResponse) {
	c.findCall = 0
	code, id := r.ErrorCode, r.NodeID
	if r.Version >= 4 {
		if len(r.Coordinators) != 1 {
			panic(fmt.Sprintf("sim: FindCoordinator for one key was answered with %d coordinators", len(r.Coordinators)))
		}
		code, id = r.Coordinators[0].ErrorCode, r.Coordinators[0].NodeID
	}
	switch code {
	case 0:
		c.coordinator = id
		w.cause = w.emit(0, c.cfg.Group, event.CoordinatorFound{Client: c.cfg.Name, ID: id})
		c.heartbeat.sessionMs = w.nowMs + int64(c.cfg.SessionTimeoutMs)
		w.connect(c, id, true)
	case kerr.GroupAuthorizationFailed.Code, kerr.InvalidGroupID.Code:
		c.fail(w, code, "FindCoordinator: "+event.CodeName(code))
	default:
		// Retriable: ensureCoordinatorReady asks for fresh metadata, backs off and asks again.
		c.meta.needed = true
		c.sleep(w, "retry back-off after FindCoordinator: "+event.CodeName(code))
	}
}

// coordinatorUnknown is markCoordinatorUnknown: what is in flight to the old one fails.
func (c *consumer) coordinatorUnknown(w *World, reason string) {
	if c.coordinator == 0 {
		return
	}
	old := c.coordinator
	c.coordinator = 0
	w.cause = w.emit(0, c.cfg.Group, event.CoordinatorLost{Client: c.cfg.Name, Reason: reason})
	for _, id := range c.conns {
		if n := w.conns[id]; n.coordinator && n.broker == old {
			w.disconnect(c, n, "the client closed the connection: coordinator unknown")
			break
		}
	}
}

// toCoordinator is the connection to the coordinator, which must be known.
func (c *consumer) toCoordinator(w *World) *conn { return w.connect(c, c.coordinator, true) }
