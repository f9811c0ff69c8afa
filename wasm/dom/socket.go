//go:build js

package dom

import (
	"context"
	"errors"
	"strings"

	"nhooyr.io/websocket"
)

// A Wire opens a websocket and hands on what comes over it until it ends, and says why it ended.
type Wire func(ctx context.Context, address string, opened func(), got func(text []byte)) error

// socket is the one websocket of the page. Without a wire there is none: a program whose page never asks for one does not
// carry the library.
type socket struct {
	wire Wire
	stop context.CancelFunc
}

// connect opens the websocket and closes the one before.
func (p *page) connect(path string) {
	if p.sock.wire == nil {
		complain("this page's program has no websocket for " + path)
		return
	}
	if p.sock.stop != nil {
		p.sock.stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.sock.stop = stop
	go func() {
		err := p.sock.wire(ctx, "ws"+strings.TrimPrefix(p.root, "http")+path,
			func() { p.with(func(a App) { a.Socket(true, "") }) },
			func(text []byte) { p.with(func(a App) { a.Message(text) }) })
		if ctx.Err() == nil { // no other one took its place
			p.with(func(a App) { a.Socket(false, err.Error()) })
		}
	}()
}

// maxMessage bounds a message of the server; it sends at most a little more than 256 KB.
const maxMessage = 8 << 20

// Websocket is the Wire.
func Websocket(ctx context.Context, address string, opened func(), got func(text []byte)) error {
	conn, _, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	// A browser closes with 1000 or a code of one's own only; with any other, which the library has for a context that ends, it
	// throws and goes on reading. It may have ended already.
	go func() {
		select {
		case <-ctx.Done():
		case <-over:
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}()
	conn.SetReadLimit(maxMessage)
	opened()
	for {
		kind, text, err := conn.Read(context.Background())
		if closed, ok := errors.AsType[websocket.CloseError](err); ok && closed.Reason != "" {
			return errors.New(closed.Reason)
		}
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			got(text)
		}
	}
}
