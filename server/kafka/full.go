package kafka

import (
	"io"
	"time"
)

// lookWhenFull is how often a connection that may bring nothing more is looked at: nobody reads it, so nobody else would see that
// its client went, or that it is idle.
const lookWhenFull = time.Second

// waitForRoom waits until answers were written, or the connection ended. c.mu is held.
func (c *conn) waitForRoom() {
	c.full = true
	if c.looks == nil {
		c.looks = time.AfterFunc(lookWhenFull, c.lookAtFull)
	} else {
		c.looks.Reset(lookWhenFull)
	}
	c.room.Wait()
	c.full = false
	c.looks.Stop()
}

// lookAtFull ends a connection whose requests are held, a JoinGroup perhaps for as long as its member said, when its client hung up
// or nothing moved for connections.max.idle.ms.
func (c *conn) lookAtFull() {
	idle := time.Duration(c.srv.cfg.ConnectionsMaxIdleMs) * time.Millisecond
	quiet := time.Since(c.srv.started) - time.Duration(c.lastActive.Load())
	c.mu.Lock()
	full := c.full && c.ended == ""
	if full {
		c.looks.Reset(lookWhenFull)
	}
	c.mu.Unlock()
	switch {
	case full && hungUp(c.socket.Conn):
		c.end(io.EOF)
	case full && quiet >= idle:
		c.end(errIdle)
	}
}
