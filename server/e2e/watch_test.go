package e2e

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"context"
	"sync"
	"testing"
	"time"

	"nhooyr.io/websocket"
)

// watch is a page that looks on until stop: it reads everything and says nothing.
func watch(t testing.TB, address string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var c *websocket.Conn
	var err error
	eventually(t, 30*time.Second, func() error { // the brokers' port may be there before the page is
		c, _, err = websocket.Dial(ctx, "ws://"+address+"/api/live", nil)
		return err
	})
	c.SetReadLimit(-1)
	var reading sync.WaitGroup
	reading.Go(func() {
		for err == nil {
			_, _, err = c.Read(ctx)
		}
	})
	return func() { cancel(); reading.Wait(); c.CloseNow() }
}
