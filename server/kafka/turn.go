package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// loopSide is the part of a connection that belongs to the loop's goroutine.
type loopSide struct {
	// queue are calls, those from head on wait for their turn; running is the one under way, or prompts are.
	queue   []*call
	head    int
	running *call
	prompts []*call
	// answeredPrompts of prompts are answered, and their answers are on their way.
	answeredPrompts int
	finished        []*call
	flushing        bool
	// dispatching is set while dispatch runs, which looks for the next call by itself.
	dispatching bool
	// opened is set once ConnectionOpened was told, gone once ConnectionClosed was, or would have been.
	opened, gone bool
	clientID     string
	claims       claims
	// principal is who the client is; exchange is set while it is about to say so.
	principal string
	exchange  exchange
}

// turn sees what the reader brought, or that the connection is over.
func (c *conn) turn(nowMs int64) {
	c.mu.Lock()
	c.posted = false
	c.queue = slices.Delete(c.queue, 0, c.head)
	c.queue, c.head = append(c.queue, c.inbox...), 0
	clear(c.inbox)
	c.inbox = c.inbox[:0]
	ended, byClient := c.ended, c.byClient
	c.mu.Unlock()
	if ended != "" {
		c.leave(nowMs, ended, byClient)
		return
	}
	c.dispatch(nowMs)
}

// dispatch runs calls one after the other, as long as each is answered at once.
func (c *conn) dispatch(nowMs int64) {
	if c.head < len(c.queue) && !c.srv.cluster.Running(c.broker) { // no request stops a broker
		c.end(refusef("broker %d does not run", c.broker))
		return
	}
	c.dispatching = true
	for c.running == nil && c.head < len(c.queue) && !c.gone {
		next := c.queue[c.head]
		if len(c.prompts) > 0 && !next.api.prompt || c.choked() {
			break
		}
		c.queue[c.head] = nil
		c.head++
		if err := c.mayAsk(next.api); err != nil {
			c.end(err)
			break
		}
		c.introduce(nowMs, next)
		if next.api.prompt {
			c.prompts = append(c.prompts, next)
		} else {
			c.running = next
		}
		next.api.run(c.srv, next, nowMs)
	}
	c.dispatching = false
}

// choked tells whether the client takes its answers too slowly to get more. The writer posts the connection again.
func (c *conn) choked() bool {
	if c.unwritten.Load() <= maxUnwrittenBytes {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = c.unwritten.Load() > maxUnwrittenBytes
	return c.stalled
}

// introduce tells of the connection once its client has said who it is.
func (c *conn) introduce(nowMs int64, first *call) {
	if c.opened {
		return
	}
	c.opened, c.clientID = true, first.clientID
	software := ""
	if v, ok := first.request.(*kmsg.ApiVersionsRequest); ok && v.ClientSoftwareName != "" && validSoftware(v) {
		software = v.ClientSoftwareName + " " + v.ClientSoftwareVersion
	}
	opened := event.ConnectionOpened{Connection: c.id, ClientID: c.clientID, ClientHost: c.host, Software: software}
	c.srv.open[c.id] = introduced{opened, c.broker, nowMs}
	c.srv.cluster.Tell(nowMs, c.broker, opened)
}

// completed takes an answered call; the answers of one turn go to the writer in one piece.
func (c *conn) completed(done *call) {
	if c.gone {
		return
	}
	if done == c.running {
		c.running = nil
		c.finish(done)
	} else {
		done.answered = true
		c.finishPrompts()
	}
	if !c.flushing && len(c.finished) > 0 {
		c.flushing = true
		c.srv.loop.AtTurnEnd(c.flushFn)
	}
	if !c.dispatching && c.head < len(c.queue) && len(c.prompts) == 0 {
		c.srv.loop.Soon(c.dispatchFn)
	}
}

// finishPrompts takes the answers of prompt calls in the order in which these were given, up to the first that is not
// answered.
func (c *conn) finishPrompts() {
	for c.answeredPrompts < len(c.prompts) && c.prompts[c.answeredPrompts].answered {
		c.finish(c.prompts[c.answeredPrompts])
		c.prompts[c.answeredPrompts] = nil
		c.answeredPrompts++
	}
	if c.answeredPrompts == len(c.prompts) || c.answeredPrompts > maxInFlight {
		left := copy(c.prompts, c.prompts[c.answeredPrompts:])
		clear(c.prompts[left:])
		c.prompts, c.answeredPrompts = c.prompts[:left], 0
	}
}

// finish has an answer written with the others of this turn.
func (c *conn) finish(done *call) {
	c.srv.counters.answered(done.api.key, done.code)
	if done.weight > 0 {
		c.unwritten.Add(int64(done.weight))
		c.waiting.answered(int64(done.weight))
	}
	if done.held != nil {
		c.releaseMemory(done.held)
		done.held, done.request = nil, nil
	}
	c.finished = append(c.finished, done)
}

// flush gives the turn's answers to the writer, and starts one where there is none. It never waits for it.
func (c *conn) flush(int64) {
	c.flushing = false
	c.mu.Lock()
	c.out = append(c.out, c.finished...)
	if !c.writing && c.ended == "" {
		c.writing = true
		c.writers.Go(c.write)
	} else {
		c.more.Signal()
	}
	c.mu.Unlock()
	clear(c.finished)
	c.finished = c.finished[:0]
}

// leave forgets the connection: what waits for it, and whose members it carried.
func (c *conn) leave(nowMs int64, why string, byClient bool) {
	if c.gone {
		return
	}
	c.gone = true // what is drained is answered to nobody
	if byClient {
		c.drain(nowMs)
	}
	if c.running != nil {
		c.running.giveUp()
	}
	ghosts := c.srv.members.left(nowMs, c, why)
	for _, p := range c.prompts[c.answeredPrompts:] {
		p.giveUp()
	}
	c.running, c.prompts, c.queue, c.finished, c.head = nil, nil, nil, nil, 0
	delete(c.srv.open, c.id)
	if c.opened {
		c.srv.cluster.Tell(nowMs, c.broker, event.ConnectionClosed{Connection: c.id, ClientID: c.clientID, Members: ghosts, Reason: why})
	}
}

// drain runs what a client sent without waiting for an answer before it closed (Kafka: Selector's closing channels).
func (c *conn) drain(nowMs int64) {
	for c.running == nil && c.head < len(c.queue) && c.srv.cluster.Running(c.broker) && c.queue[c.head].noAnswer {
		last := c.queue[c.head]
		c.head++
		last.api.run(c.srv, last, nowMs)
	}
}
