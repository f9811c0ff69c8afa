package kafka

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Answered counts the requests of one API that were answered with one code.
type Answered struct {
	API, Code int16
	Count     int64
}

// Figures are what the listeners count.
type Figures struct {
	// Connections are those open now; ConnectionsTotal all since the start.
	Connections, ConnectionsTotal int64
	Answered                      []Answered
	BytesIn, BytesOut             int64
}

// counters are written by many goroutines and read at each scrape. Successes, which are nearly all, cost one atomic add.
type counters struct {
	in, out atomic.Int64
	good    [highestKey + 1]atomic.Int64
	mu      sync.Mutex
	bad     map[[2]int16]int64
}

func (n *counters) answered(api, code int16) {
	if code == 0 {
		n.good[api].Add(1)
		return
	}
	n.mu.Lock()
	if n.bad == nil {
		n.bad = map[[2]int16]int64{}
	}
	n.bad[[2]int16{api, code}]++
	n.mu.Unlock()
}

// Figures may be asked for from any goroutine.
func (s *Server) Figures() Figures {
	f := Figures{Connections: int64(s.Connections()), ConnectionsTotal: s.lastID.Load(), BytesIn: s.counters.in.Load(), BytesOut: s.counters.out.Load()}
	for key := range s.counters.good {
		if n := s.counters.good[key].Load(); n > 0 {
			f.Answered = append(f.Answered, Answered{int16(key), 0, n})
		}
	}
	s.counters.mu.Lock()
	for k, n := range s.counters.bad {
		f.Answered = append(f.Answered, Answered{k[0], k[1], n})
	}
	s.counters.mu.Unlock()
	slices.SortFunc(f.Answered, func(a, b Answered) int {
		if a.API != b.API {
			return int(a.API) - int(b.API)
		}
		return int(a.Code) - int(b.Code)
	})
	return f
}
