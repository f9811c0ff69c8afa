package kafka

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// writeTimeout is how long a client may take no byte at all of an answer that waits for it, or up to a second longer.
const writeTimeout = 30 * time.Second

// socket is a connection's TCP socket with its deadlines: it ends what is idle for connections.max.idle.ms, and who takes
// nothing of an answer. TLS lies over it: a deadline that passed within a record would break that.
type socket struct {
	net.Conn
	c *conn
	// armed is when the read deadline was set last, writeArmed the one for writing.
	armed, writeArmed time.Time
}

func (s *socket) Read(p []byte) (int, error) {
	idle := time.Duration(s.c.srv.cfg.ConnectionsMaxIdleMs) * time.Millisecond
	for {
		if now := time.Now(); now.Sub(s.armed) > min(time.Second, idle/4) {
			s.armed = now
			quiet := time.Since(s.c.srv.started) - time.Duration(s.c.lastActive.Load())
			if quiet >= idle {
				return 0, errIdle
			}
			if err := s.Conn.SetReadDeadline(now.Add(idle - quiet + time.Millisecond)); err != nil {
				return 0, err
			}
		}
		n, err := s.Conn.Read(p)
		if n > 0 {
			s.c.srv.counters.in.Add(int64(n))
			s.c.touch()
			return n, err
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		s.armed = time.Time{}
	}
}

func (s *socket) Write(buf []byte) (done int, err error) {
	for done < len(buf) {
		if now := time.Now(); now.Sub(s.writeArmed) > time.Second { // it costs as much as encoding the answers
			s.writeArmed = now
			if err := s.Conn.SetWriteDeadline(now.Add(writeTimeout + time.Second)); err != nil {
				return done, err
			}
		}
		n, err := s.Conn.Write(buf[done:min(len(buf), done+writePiece)])
		if n > 0 {
			s.c.srv.counters.out.Add(int64(n))
			s.c.touch()
			if s.c.unwritten.Load() > 0 {
				s.c.waiting.move()
			}
		}
		done += n
		if err != nil {
			s.writeArmed = time.Time{}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && n == 0 {
			return done, refusal(fmt.Sprintf("the client took no answer for %v", writeTimeout))
		} else if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
	}
	return done, nil
}

var (
	errIdle    = errors.New("it was idle for longer than connections.max.idle.ms")
	errDropped = errors.New("the broker went away")
)
