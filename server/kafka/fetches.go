package kafka

type place struct {
	topic     string
	partition int32
}

// fetches are the long polls that wait for more to read: Kafka's purgatory of DelayedFetch. Each is watched under all of
// its partitions; a partition whose high watermark rose makes its fetches look again, once a round, however many of
// their partitions moved.
type fetches struct {
	watched map[place]map[*parkedFetch]struct{}
}

type parkedFetch struct {
	call *call
	fetching
	places []place
	timer  int64
	// looking is set while a second look is on its way; done once it was answered or abandoned.
	looking, done bool
}

func newFetches() fetches { return fetches{map[place]map[*parkedFetch]struct{}{}} }

// park lets a fetch wait until there is enough, or until its time is up.
func (f *fetches) park(s *Server, c *call, what fetching, deadlineMs int64) {
	p := &parkedFetch{call: c, fetching: what}
	for _, t := range p.request.Topics {
		name := t.Topic
		if c.version >= 13 {
			name, _ = s.cluster.TopicName(t.TopicID)
		}
		for _, part := range t.Partitions {
			at := place{name, part.Partition}
			if f.watched[at] == nil {
				f.watched[at] = map[*parkedFetch]struct{}{}
			}
			f.watched[at][p] = struct{}{}
			p.places = append(p.places, at)
		}
	}
	p.timer = s.loop.At(deadlineMs, func(nowMs int64) { f.answer(nowMs, s, p) })
	c.abandon = func() { f.forget(s, p) }
}

// touched makes the fetches of a partition look again. It may be called while the cluster's output is handed on, so the
// look itself comes a little later.
func (f *fetches) touched(s *Server, topic string, partition int32) {
	for p := range f.watched[place{topic, partition}] {
		if !p.looking {
			p.looking = true
			s.loop.Soon(func(nowMs int64) { f.look(nowMs, s, p) })
		}
	}
}

// gone makes all fetches of a topic look again.
func (f *fetches) gone(s *Server, topic string) {
	for at := range f.watched {
		if at.topic == topic {
			f.touched(s, at.topic, at.partition)
		}
	}
}

func (f *fetches) look(nowMs int64, s *Server, p *parkedFetch) {
	p.looking = false
	if p.done {
		return
	}
	answer, found := s.read(p.call, p.request)
	if found.failed || found.bytes >= int(p.request.MinBytes) {
		f.forget(s, p)
		s.answerFetch(nowMs, p.call, p.fetching, answer, found)
	}
}

// answer gives what there is: the time is up.
func (f *fetches) answer(nowMs int64, s *Server, p *parkedFetch) {
	if p.done {
		return
	}
	f.forget(s, p)
	answer, found := s.read(p.call, p.request)
	s.answerFetch(nowMs, p.call, p.fetching, answer, found)
}

func (f *fetches) forget(s *Server, p *parkedFetch) {
	if p.done {
		return
	}
	p.done = true
	s.loop.Cancel(p.timer)
	for _, at := range p.places {
		delete(f.watched[at], p)
		if len(f.watched[at]) == 0 {
			delete(f.watched, at)
		}
	}
}
