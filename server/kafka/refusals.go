package kafka

import (
	"net"
	"strconv"
	"sync"
	"time"
)

// refusals keep clients that are wrong again and again from filling the log. In each window a peer's first line with some
// words is told, and how often the same came again when the window is over; so many lines a peer, and so many in all.
type refusals struct {
	mu     sync.Mutex
	window time.Time
	// again counts the lines of this window that were not told, by what they said; peers counts those that were.
	again  map[refused]int
	peers  map[string]int
	told   int
	untold int
}

// refused is who was refused and why.
type refused struct{ peer, why string }

const (
	refusalWindow    = 10 * time.Second
	linesPerPeer     = 20
	linesPerWindow   = 100
	repeatsPerWindow = 10
)

// take reports whether a refusal is to be told now, and what is to be told of the window that ended with it.
func (r *refusals) take(now time.Time, who refused) (tell bool, over map[refused]int, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.window) > refusalWindow {
		over, more = r.again, r.untold
		r.window, r.told, r.untold = now, 0, 0
		r.again, r.peers = map[refused]int{}, map[string]int{}
	}
	if _, same := r.again[who]; same {
		r.again[who]++
		return false, over, more
	}
	if r.peers[who.peer] >= linesPerPeer || r.told >= linesPerWindow {
		r.untold++
		return false, over, more
	}
	r.told++
	r.peers[who.peer]++
	r.again[who] = 0
	return true, over, more
}

// refused logs that a connection was refused, and why.
func (s *Server) refused(broker int32, from net.Addr, why string) {
	who := refused{addressOf(from), why}
	tell, over, more := s.refusals.take(time.Now(), who)
	lines := 0
	for again, n := range over {
		switch {
		case n == 0:
		case lines < repeatsPerWindow:
			lines++
			s.log.Warn("refused "+again.peer+" again: "+again.why, "peer", again.peer, "times", n)
		default:
			more += n
		}
	}
	if more > 0 {
		s.log.Warn("more connections were refused than are told one by one", "times", more)
	}
	if tell {
		s.log.Warn("refused "+from.String()+" to broker "+strconv.Itoa(int(broker))+": "+why, "peer", who.peer, "broker", broker)
	}
}
