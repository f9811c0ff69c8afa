//go:build js

package dom

import (
	"context"
	"errors"
	"strings"

	"github.com/hack-pad/safejs"
	"nhooyr.io/websocket"
)

// tokenHeader carries the token of requests that change something.
const tokenHeader = "X-GroupLab-Token"

// get asks the server.
func (p *page) get(path string) {
	p.fetch(path, map[string]any{"cache": "no-store"}, App.Asked)
}

// post asks the server to change something.
func (p *page) post(post Post) {
	p.fetch(post.Path, map[string]any{"method": "POST", "body": post.Body, "headers": map[string]any{
		tokenHeader: p.token, "Content-Type": "application/json"}}, App.Posted)
}

// fetch sends a request and hands its answer on.
func (p *page) fetch(path string, options map[string]any, done func(a App, path string, status int, body []byte)) {
	fail := func(reason ref) {
		text := reason.get("message").text()
		p.with(func(a App) { done(a, path, 0, []byte(text)) })
	}
	then(ref{safejs.Global()}.call("fetch", p.root+path, options), func(answer ref) {
		status := int(answer.get("status").number())
		then(answer.call("text"), func(body ref) {
			p.with(func(a App) { done(a, path, status, []byte(body.text())) })
		}, fail)
	}, fail)
}

// then calls one of the two once, when a promise is settled.
func then(promise ref, ok, fail func(ref)) {
	var good, bad safejs.Func
	once := func(fn func(ref)) func(safejs.Value, []safejs.Value) any {
		return func(_ safejs.Value, args []safejs.Value) any {
			good.Release()
			bad.Release()
			fn(ref{args[0]})
			return nil
		}
	}
	var err error
	if good, err = safejs.FuncOf(once(ok)); err == nil {
		bad, err = safejs.FuncOf(once(fail))
	}
	if err != nil {
		complain(err.Error())
		return
	}
	promise.call("then", good.Value(), bad.Value())
}

// socket is the one websocket of the page.
type socket struct{ stop context.CancelFunc }

// maxMessage bounds a message of the server; it sends at most a little more than 256 KB.
const maxMessage = 8 << 20

// connect opens the websocket and closes the one before.
func (p *page) connect(path string) {
	if p.sock.stop != nil {
		p.sock.stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	p.sock.stop = stop
	go p.read(ctx, "ws"+strings.TrimPrefix(p.root, "http")+path)
}

// read hands on what the server sends until the connection ends.
func (p *page) read(ctx context.Context, address string) {
	conn, _, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		p.ended(ctx, err)
		return
	}
	defer func() { _ = conn.CloseNow() }() // it may have ended already
	conn.SetReadLimit(maxMessage)
	p.with(func(a App) { a.Socket(true, "") })
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil {
			p.ended(ctx, err)
			return
		}
		if kind == websocket.MessageText {
			p.with(func(a App) { a.Message(text) })
		}
	}
}

// ended tells why a connection is over, unless another one took its place.
func (p *page) ended(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	reason := err.Error()
	if closed, ok := errors.AsType[websocket.CloseError](err); ok && closed.Reason != "" {
		reason = closed.Reason
	}
	p.with(func(a App) { a.Socket(false, reason) })
}
