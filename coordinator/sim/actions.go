package sim

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// AddConsumer describes a consumer; it does not run until Start. Its topics must exist.
func (w *World) AddConsumer(cfg ConsumerConfig) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	if w.find(cfg.Name) != nil {
		return fmt.Errorf("there is a consumer called %s already", cfg.Name)
	}
	for _, t := range cfg.Topics {
		if _, ok := w.drive.Cluster().Topic(t); !ok {
			return fmt.Errorf("consumer %s subscribes to %q, which does not exist: create the topic first", cfg.Name, t)
		}
	}
	cfg.Topics = slices.Clone(cfg.Topics)
	slices.Sort(cfg.Topics)
	cfg.Topics = slices.Compact(cfg.Topics)
	index := len(w.consumers)
	w.consumers = append(w.consumers, newConsumer(cfg, index, hostOf(index)))
	return nil
}

// Consumers names the consumers in the order they were added.
func (w *World) Consumers() []string {
	names := make([]string, 0, len(w.consumers))
	for _, c := range w.consumers {
		if c.phase != asking {
			names = append(names, c.cfg.Name)
		}
	}
	return names
}

// Consumer tells what a consumer was described as, defaults filled in.
func (w *World) Consumer(name string) (ConsumerConfig, bool) {
	if c := w.find(name); c != nil {
		return c.cfg, true
	}
	return ConsumerConfig{}, false
}

func (w *World) find(name string) *consumer {
	for _, c := range w.consumers {
		if c.cfg.Name == name && c.phase != asking {
			return c
		}
	}
	return nil
}

// named finds a consumer, or says which there are.
func (w *World) named(name string) (*consumer, error) {
	if c := w.find(name); c != nil {
		return c, nil
	}
	if len(w.Consumers()) == 0 {
		return nil, fmt.Errorf("there is no consumer %q; there is none at all yet", name)
	}
	return nil, fmt.Errorf("there is no consumer %q; there are %s", name, strings.Join(w.Consumers(), ", "))
}

// alive finds a consumer that runs.
func (w *World) alive(name string) (*consumer, error) {
	c, err := w.named(name)
	if err == nil && c.phase == off {
		err = fmt.Errorf("%s does not run: start it first", name)
	}
	return c, err
}

// Start starts a consumer that does not run.
func (w *World) Start(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	if c.phase != off {
		return fmt.Errorf("%s runs already", name)
	}
	c.phase = running
	c.lastPollMs = w.nowMs
	w.cause = w.emit(0, c.cfg.Group, c.started())
	w.run(c)
	return nil
}

// Stop closes a consumer cleanly: it commits, gives its partitions up, sends LeaveGroup, and ends when what it sent is
// answered, after 30 s at the latest.
func (w *World) Stop(name string) error {
	c, err := w.alive(name)
	switch {
	case err != nil:
		return err
	case c.paused:
		return fmt.Errorf("%s is paused: a frozen process cannot close; resume it, or kill it", name)
	case c.phase == closing:
		return fmt.Errorf("%s is closing already", name)
	}
	c.close(w)
	w.arm(c)
	return nil
}

// Kill ends a process at once; nothing is sent. What is on the wire still arrives.
func (w *World) Kill(name string) error {
	c, err := w.alive(name)
	if err != nil {
		return err
	}
	w.end(c, true)
	return nil
}

// end forgets a process.
func (w *World) end(c *consumer, killed bool) {
	w.hangUp(c)
	c.reset()
	w.cause = w.emit(0, c.cfg.Group, event.ClientStopped{Client: c.cfg.Name, Killed: killed})
	w.arm(c)
}

// fail is an exception that the application does not catch: it closes the consumer on its way out.
func (c *consumer) fail(w *World, code int16, what string) {
	w.cause = w.emit(0, c.cfg.Group, event.ClientFailed{Client: c.cfg.Name, Code: code, Error: what})
	if c.phase == running {
		c.close(w)
	}
}

// Restart kills a process if it runs, and starts a new one with the same client.id and no member id.
func (w *World) Restart(name string) error {
	c, err := w.named(name)
	if err != nil {
		return err
	}
	if c.phase != off {
		w.end(c, true)
	}
	return w.Start(name)
}

// Pause freezes a process with all its threads; answers queue in its kernel.
func (w *World) Pause(name string) error {
	c, err := w.alive(name)
	if err != nil {
		return err
	}
	if c.paused {
		return fmt.Errorf("%s is paused already", name)
	}
	c.paused = true
	c.halt(w.nowMs)
	w.cause = w.emit(0, c.cfg.Group, event.ClientPaused{Client: name})
	w.arm(c)
	return nil
}

// Resume lets a frozen process go on: first it reads what came in meanwhile, then it sees what time it is.
func (w *World) Resume(name string) error {
	c, err := w.alive(name)
	if err != nil {
		return err
	}
	if !c.paused {
		return fmt.Errorf("%s is not paused", name)
	}
	c.paused = false
	w.cause = w.emit(0, c.cfg.Group, event.ClientResumed{Client: name})
	if w.nowMs >= c.busyUntilMs {
		c.flow(w.nowMs)
	}
	resumed := w.cause
	inbox := c.inbox
	c.inbox = nil
	for _, a := range inbox {
		if k := w.calls[a.call]; k != nil && !k.clientDone {
			w.receive(c, k)
		}
		if n := w.conns[a.conn]; n != nil && n.open {
			w.lose(c, n)
		}
	}
	w.cause = resumed
	w.run(c)
	return nil
}

// Busy lets the application work on its records for ms milliseconds without calling poll. Heartbeats go on; after
// max.poll.interval.ms (RebalanceTimeoutMs) the client leaves the group by itself.
func (w *World) Busy(name string, ms int64) error {
	c, err := w.alive(name)
	switch {
	case err != nil:
		return err
	case c.paused:
		return fmt.Errorf("%s is paused: resume it first", name)
	case c.state != event.Joined || c.phase != running || c.rejoinNeeded && w.nowMs >= c.busyUntilMs:
		return fmt.Errorf("%s has no records to work on: it is %s", name, c.state)
	}
	c.busyUntilMs = max(c.busyUntilMs, w.nowMs+ms)
	c.halt(w.nowMs)
	c.busySeq = w.emit(0, c.cfg.Group, event.ClientWaiting{Client: name, For: "its application, which works on records without calling poll", DeadlineMs: c.busyUntilMs})
	w.cause = c.busySeq
	w.arm(c)
	return nil
}

// Commit sends an OffsetCommit of one partition, as an application does by commitAsync. It carries what the client
// believes of itself. The Java client refuses to commit while it is not STABLE; this does not, as librdkafka.
func (w *World) Commit(name, topic string, partition int32, offset int64) error {
	c, err := w.alive(name)
	switch {
	case err != nil:
		return err
	case c.paused:
		return fmt.Errorf("%s is paused: resume it first", name)
	case c.coordinator == 0:
		return fmt.Errorf("%s knows no coordinator yet", name)
	}
	req := c.newCommit()
	addOffset(req, topic, partition, offset, c.commitMetadata(w))
	w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, manualCommit)
	w.arm(c)
	return nil
}

// CreateTopic makes a topic with replicas on up to three brokers.
func (w *World) CreateTopic(name string, partitions int32) error {
	defer w.because()()
	code, message := w.drive.CreateTopic(w.nowMs, name, partitions, -1, nil)
	w.take()
	return refused(code, message)
}

// AddPartitions brings a topic to total partitions.
func (w *World) AddPartitions(topic string, total int32) error {
	defer w.because()()
	code, message := w.drive.AddPartitions(w.nowMs, topic, total)
	w.take()
	return refused(code, message)
}

func refused(code int16, message string) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", event.CodeName(code), message)
}

func (w *World) checkBroker(id int32) error {
	if id < 1 || id > w.cfg.Brokers {
		return fmt.Errorf("there is no broker %d; there are 1 to %d", id, w.cfg.Brokers)
	}
	return nil
}

// KillBroker ends a broker's process at once. Clients notice when their connections break, the controller after
// broker.session.timeout.ms.
func (w *World) KillBroker(id int32) error { return w.endBroker(id, w.drive.KillBroker) }

// StopBroker stops a broker cleanly (controlled shutdown): its leaderships move first, what is parked is answered, then
// its connections break.
func (w *World) StopBroker(id int32) error { return w.endBroker(id, w.drive.StopBroker) }

func (w *World) endBroker(id int32, end func(nowMs int64, id int32) bool) error {
	if err := w.checkBroker(id); err != nil {
		return err
	}
	defer w.because()()
	before := len(w.events)
	if !end(w.nowMs, id) {
		return fmt.Errorf("broker %d does not run", id)
	}
	w.take()
	cause := w.cause
	for _, e := range w.events[before:] {
		if b, ok := e.Body.(event.BrokerStopped); ok && b.ID == id {
			cause = e.Seq
		}
	}
	w.goneSeq[id-1] = cause
	w.breakAll(id, cause)
	return nil
}

// RestartBroker starts a broker that does not run. Where the controller has not noticed its death yet, it serves only
// when it has.
func (w *World) RestartBroker(id int32) error {
	if err := w.checkBroker(id); err != nil {
		return err
	}
	defer w.because()()
	if !w.drive.StartBroker(w.nowMs, id) {
		return fmt.Errorf("broker %d runs, or is starting already", id)
	}
	w.take()
	return nil
}

// SetLatency changes how long a message takes, in milliseconds, 1 to 60 000. Messages under way are not changed.
func (w *World) SetLatency(ms int64) error {
	if err := checkLatency(ms); err != nil {
		return err
	}
	w.cfg.LatencyMs = ms
	return nil
}

// SetLoss changes how many of a million messages between clients and brokers are lost. A lost message is never sent
// again (TCP would, for a while): the client finds out when its request times out.
func (w *World) SetLoss(ppm int32) error {
	if err := checkLoss(ppm); err != nil {
		return err
	}
	w.cfg.LossPPM = ppm
	return nil
}
