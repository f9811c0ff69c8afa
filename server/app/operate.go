package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/demo"
	"grouplab/server/web"
)

// KillBroker ends a broker without a word: its listener and connections close, its machine is gone, its replicas stop.
// The controller notices after broker.session.timeout.ms. A broker that is down, on its way back or does not exist is an
// error.
func (s *Server) KillBroker(id int32) error {
	if err := s.known(id); err != nil {
		return err
	}
	var refused error
	err := s.loop.Do(s.ctx, func(nowMs int64, d *drive.Drive) {
		atMs, returning := d.Cluster().Returning(id)
		switch {
		case returning:
			refused = fmt.Errorf("broker %d does not run yet, so it cannot be killed; %s", id, waits(nowMs, atMs))
		case !d.Cluster().Running(id):
			refused = fmt.Errorf("broker %d does not run, so it cannot be killed", id)
		default:
			s.loop.Tell(nowMs, 0, event.InputGiven{Text: fmt.Sprintf("kill-broker %d", id)})
			d.KillBroker(nowMs, id)
			s.brokers.Drop(id)
		}
	})
	return errors.Join(err, refused)
}

// waits says what keeps a broker that was started again.
func waits(nowMs, atMs int64) string {
	return fmt.Sprintf("it is started again and registers when the controller has noticed that it was gone, in %d ms (broker.session.timeout.ms)", max(0, atMs-nowMs))
}

// RestartBroker starts a killed broker again, on the same port. One that runs, is on its way back already, or does not
// exist, is an error, and so is a port that another program has taken meanwhile. Where the controller has not noticed the
// kill yet, the broker serves, and its port opens, only when it has, as with Apache Kafka: registration is refused until
// the old session is over, and the port opens after it.
func (s *Server) RestartBroker(id int32) error {
	if err := s.known(id); err != nil {
		return err
	}
	var refused error
	err := s.loop.Do(s.ctx, func(nowMs int64, d *drive.Drive) { refused = s.restart(nowMs, d, id) })
	return errors.Join(err, refused)
}

func (s *Server) restart(nowMs int64, d *drive.Drive, id int32) error {
	if atMs, returning := d.Cluster().Returning(id); returning {
		return fmt.Errorf("broker %d is not to be restarted once more; %s", id, waits(nowMs, atMs))
	}
	if d.Cluster().Running(id) {
		return fmt.Errorf("broker %d runs, so there is nothing to restart", id)
	}
	whose := fmt.Sprintf("broker %d", id)
	socket, err := s.kafka[id-1].listen(whose)
	if err != nil {
		return err
	}
	s.loop.Tell(nowMs, 0, event.InputGiven{Text: fmt.Sprintf("restart-broker %d", id)})
	d.StartBroker(nowMs, id)
	running := d.Cluster().Running(id)
	if !running {
		socket.Close()
		socket = &later{listen: func() (net.Listener, error) { return s.kafka[id-1].listen(whose) }, at: socket.Addr()}
	}
	if err := s.brokers.Listen(id, socket); err != nil {
		socket.Close()
		return err
	}
	if running {
		s.brokers.Open(id)
	}
	return nil
}

// later is a port that opens with the first Accept: until then who connects is refused.
type later struct {
	listen func() (net.Listener, error)
	at     net.Addr

	mu     sync.Mutex
	socket net.Listener
	closed bool
}

func (l *later) Accept() (net.Conn, error) {
	l.mu.Lock()
	var err error
	if l.closed {
		err = net.ErrClosed
	} else if l.socket == nil {
		l.socket, err = l.listen()
	}
	socket := l.socket
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return socket.Accept()
}

func (l *later) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.socket == nil {
		return nil
	}
	return l.socket.Close()
}

func (l *later) Addr() net.Addr { return l.at }

func (s *Server) known(id int32) error {
	if id < 1 || id > s.cfg.Brokers {
		return fmt.Errorf("broker %d: %w; there are 1 to %d", id, web.ErrUnknown, s.cfg.Brokers)
	}
	return nil
}

// AddPartitions gives a topic more partitions, up to total.
func (s *Server) AddPartitions(topic string, total int32) error {
	var failed error
	err := s.loop.Do(s.ctx, func(nowMs int64, d *drive.Drive) {
		info, ok := d.Cluster().Topic(topic)
		switch {
		case !ok:
			failed = fmt.Errorf("topic %q: %w", topic, web.ErrUnknown)
		case info.Internal:
			failed = fmt.Errorf("topic %q is internal: groups find their partition by the number of its partitions, so that stays", topic)
		default:
			s.loop.Tell(nowMs, 0, event.InputGiven{Text: fmt.Sprintf("add-partitions %s %d", topic, total)})
			code, message := d.AddPartitions(nowMs, topic, total)
			failed = clusterError(fmt.Sprintf("topic %q, %d partitions", topic, total), code, message)
		}
	})
	return errors.Join(err, failed)
}

// MoveLeader makes another in-sync replica the leader of a partition.
func (s *Server) MoveLeader(topic string, partition, to int32) error {
	if err := s.known(to); err != nil {
		return err
	}
	var failed error
	err := s.loop.Do(s.ctx, func(nowMs int64, d *drive.Drive) {
		if info, ok := d.Cluster().Topic(topic); !ok || partition < 0 || int(partition) >= len(info.Partitions) {
			failed = fmt.Errorf("partition %s-%d: %w", topic, partition, web.ErrUnknown)
			return
		}
		s.loop.Tell(nowMs, 0, event.InputGiven{Text: fmt.Sprintf("move %s-%d to broker %d", topic, partition, to)})
		code, message := d.MoveLeader(nowMs, topic, partition, to)
		failed = clusterError(fmt.Sprintf("%s-%d to broker %d", topic, partition, to), code, message)
	})
	return errors.Join(err, failed)
}

// Demo are the demo clients.
func (s *Server) Demo() *demo.Demo { return s.demo }

// control is what the pages may do.
type control struct{ *Server }

var _ web.Control = control{}

func (c control) StartDemo(n int) ([]string, error) {
	names, err := c.demo.Start(n)
	for _, name := range names {
		c.note("start " + name)
	}
	return names, err
}

func (c control) KillDemo(name string) error { return c.endDemo("kill ", name, c.demo.Kill) }
func (c control) StopDemo(name string) error { return c.endDemo("stop ", name, c.demo.Stop) }

// endDemo notes what the operator did before its consequences show.
func (c control) endDemo(how, name string, end func(string) error) error {
	for _, d := range c.demo.List() {
		if d.Name == name && d.Running {
			c.note(how + name)
		}
	}
	return unknownDemo(end(name))
}

// note tells the event stream what an operator did.
func (s *Server) note(text string) {
	s.loop.Post(func(nowMs int64) { s.loop.Tell(nowMs, 0, event.InputGiven{Text: text}) })
}

func unknownDemo(err error) error {
	if errors.Is(err, demo.ErrUnknown) {
		return fmt.Errorf("%w: %w", web.ErrUnknown, err)
	}
	return err
}

func (c control) Demo() []web.DemoClient {
	list := []web.DemoClient{}
	for _, d := range c.demo.List() {
		list = append(list, web.DemoClient{Name: d.Name, Running: d.Running, Killed: d.Killed})
	}
	return list
}

func (s *Server) figures() web.Figures {
	f := s.brokers.Figures()
	lag, queue := s.loop.Load()
	w := web.Figures{Connections: f.Connections, ConnectionsTotal: f.ConnectionsTotal, BytesIn: f.BytesIn, BytesOut: f.BytesOut, LoopLagMs: lag, LoopQueue: queue}
	for _, a := range f.Answered {
		w.Requests = append(w.Requests, web.Requests{API: a.API, Code: a.Code, Count: a.Count})
	}
	w.Purgatories = s.purgatories()
	return w
}

// purgatories asks the loop; where it does not answer in time there is nothing to tell.
func (s *Server) purgatories() (list []web.Purgatory) {
	ctx, cancel := context.WithTimeout(s.ctx, purgatoriesTimeout)
	defer cancel()
	var found []web.Purgatory
	err := s.loop.Do(ctx, func(_ int64, d *drive.Drive) {
		for id := int32(1); id <= s.cfg.Brokers; id++ {
			sizes, ok := d.Purgatories(id)
			for i := 0; ok && i < len(sizes); i++ {
				found = append(found, web.Purgatory{Broker: id, Name: sizes[i].Name, Size: sizes[i].PurgatorySize, Delayed: sizes[i].NumDelayedOperations})
			}
		}
	})
	if err != nil { // found may still be written to
		return nil
	}
	return found
}

const purgatoriesTimeout = 2 * time.Second

// Probe answers what each request of a member would get now, on a copy of the group.
func (c control) Probe(ctx context.Context, group, member string) (answers []web.Probed, err error) {
	if doErr := c.loop.Do(ctx, func(nowMs int64, d *drive.Drive) { answers, err = probe(nowMs, d, group, member) }); doErr != nil {
		return nil, doErr
	}
	return answers, err
}
