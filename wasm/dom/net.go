//go:build js

package dom

import "github.com/hack-pad/safejs"

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
