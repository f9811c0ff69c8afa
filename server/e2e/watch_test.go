package e2e

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"context"
	"sync"
	"testing"

	"nhooyr.io/websocket"
)

// watch is a page that looks on until the test ends: it reads everything and says nothing.
func watch(t testing.TB, address string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c, _, err := websocket.Dial(ctx, "ws://"+address+"/api/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(-1)
	var reading sync.WaitGroup
	reading.Go(func() {
		for err == nil {
			_, _, err = c.Read(ctx)
		}
	})
	t.Cleanup(func() { stop(); reading.Wait(); c.CloseNow() })
}
