package kafka

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowReader: a client that takes nothing of an answer is given up after writeTimeout; one that takes a little now and then is
// served to the end.
func TestSlowReader(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		ends  bool
	}{{"takes nothing", 0, false}, {"takes a little", writeTimeout - time.Second, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				conn := newConn(New(Config{Settings: DefaultSettings()}), 1, ours, 1)
				wrote := make(chan error, 1)
				began := time.Now()
				go func() {
					_, err := conn.stream.Write(make([]byte, 100))
					wrote <- err
				}()
				for i := 0; c.every > 0 && i < 10; i++ {
					time.Sleep(c.every)
					io.ReadFull(theirs, make([]byte, 10))
				}
				err := <-wrote
				switch {
				case c.ends && err != nil:
					t.Errorf("a slow client is not served: %v", err)
				case !c.ends && !errors.As(err, new(refusal)):
					t.Errorf("the write ends with %v", err)
				case !c.ends && (time.Since(began) < writeTimeout || time.Since(began) > writeTimeout+time.Second):
					t.Errorf("it is given up after %v", time.Since(began))
				}
				ours.Close()
			})
		})
	}
}

// TestRefusalsAreCounted: the same words of the same peer are told once a window, and how often they came again after it.
func TestRefusalsAreCounted(t *testing.T) {
	var r refusals
	at := time.Unix(1000, 0)
	who := refused{"10.0.0.1", "wrong"}
	for i := range 50 {
		if tell, _, _ := r.take(at, who); tell != (i == 0) {
			t.Errorf("time %d: told %v", i, tell)
		}
	}
	if tell, _, _ := r.take(at, refused{"10.0.0.2", "wrong"}); !tell {
		t.Error("somebody else's line is not told")
	}
	told := 0
	for i := range 100 {
		if tell, _, _ := r.take(at, refused{"10.0.0.1", string(rune('a' + i))}); tell {
			told++
		}
	}
	if told != linesPerPeer-1 {
		t.Errorf("one peer has %d lines with ever other words", told)
	}
	tell, over, more := r.take(at.Add(refusalWindow+1), who)
	if !tell || over[who] != 49 || more != 100-told {
		t.Errorf("after the window: told %v, %d times again, %d more; want true, 49, %d", tell, over[who], more, 100-told)
	}
}
