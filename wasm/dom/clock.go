//go:build js

package dom

import "github.com/hack-pad/safejs"

// clock draws frames when one is due and rests otherwise. It is the one place where the page reads the time.
type clock struct {
	draw    func(nowMs int64)
	onFrame safejs.Func
	onTimer safejs.Func
	pending bool // a frame is requested
	timer   ref  // a timer is set, undefined otherwise
}

func newClock(draw func(nowMs int64)) *clock {
	c := &clock{draw: draw, timer: ref{safejs.Undefined()}}
	c.onFrame = function(func() {
		c.pending = false
		c.stopTimer()
		c.draw(nowMs())
	})
	c.onTimer = function(func() {
		c.timer = ref{safejs.Undefined()}
		c.soon()
	})
	return c
}

// soon asks for the next animation frame.
func (c *clock) soon() {
	if !c.pending {
		c.pending = true
		ref{safejs.Global()}.call("requestAnimationFrame", c.onFrame.Value())
	}
}

// after asks for a frame in ms from now at the latest.
func (c *clock) after(ms int64) {
	if !c.pending && c.timer.none() {
		c.timer = ref{safejs.Global()}.call("setTimeout", c.onTimer.Value(), ms)
	}
}

func (c *clock) stopTimer() {
	if !c.timer.none() {
		ref{safejs.Global()}.call("clearTimeout", c.timer.v)
		c.timer = ref{safejs.Undefined()}
	}
}

// nowMs is the time since the page was opened.
func nowMs() int64 { return int64(global("performance").call("now").number()) }

// function makes a JavaScript function of a Go function without arguments.
func function(fn func()) safejs.Func {
	f, err := safejs.FuncOf(func(safejs.Value, []safejs.Value) any {
		fn()
		return nil
	})
	if err != nil {
		complain(err.Error())
	}
	return f
}

// later calls fn once, when what happens now is over.
func later(fn func()) {
	var f safejs.Func
	f = function(func() {
		f.Release()
		fn()
	})
	ref{safejs.Global()}.call("setTimeout", f.Value(), 0)
}
