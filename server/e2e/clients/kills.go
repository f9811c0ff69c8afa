package main

import (
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// upFor is how long all brokers run before the next one is killed, downFor how long it is gone. franz-go's tests give
	// a JoinGroup, with all its retries, 20 s, and fail where that was too little: in between a rebalance must have time to
	// come to its end.
	upFor, downFor = 12 * time.Second, 500 * time.Millisecond
)

// dying is a cluster of which one broker dies every few seconds, and comes back. A dead broker is noticed after a second, so
// that whoever is patient for as long as franz-go is by default finds the next leader.
type dying struct {
	*cluster
	ending  chan struct{}
	killing sync.WaitGroup
	kills   int
	failed  error
}

// serveDying starts a cluster and begins to kill its brokers.
func serveDying(binary, log string) (*dying, error) {
	c, err := serve(binary, log, "-set", "broker.session.timeout.ms=1000", "-set", "replica.fetch.backoff.ms=100")
	if err != nil {
		return nil, err
	}
	d := &dying{cluster: c, ending: make(chan struct{})}
	d.killing.Go(func() { d.failed = d.killAlong() })
	return d, nil
}

// killAlong kills one broker after the other until the end.
func (d *dying) killAlong() error {
	addresses := strings.Split(d.bootstrap, ",")
	for n := 0; d.wait(upFor); n++ {
		id := n%brokers + 1
		if err := d.order(int32(id), "kill"); err != nil {
			return err
		}
		d.kills++
		if !d.wait(downFor) {
			return nil
		}
		if err := d.order(int32(id), "restart"); err != nil {
			return err
		}
		for d.wait(20 * time.Millisecond) { // it serves when its old session is over
			if c, err := net.Dial("tcp", addresses[id-1]); err == nil {
				c.Close()
				break
			}
		}
	}
	return nil
}

// wait reports false once the end has come.
func (d *dying) wait(howLong time.Duration) bool {
	select {
	case <-d.ending:
		return false
	case <-time.After(howLong):
		return true
	}
}

// end ends the kills and the server. It tells how many kills there were.
func (d *dying) end() (kills int, err error) {
	close(d.ending)
	d.killing.Wait()
	d.stop()
	return d.kills, d.failed
}
