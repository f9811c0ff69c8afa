// Package tab decides everything that happens in the page. It is pure Go without IO: tested natively, run in the
// browser by wasm/main.go over wasm/dom.
//
// # Use
//
//	t, first := tab.NewLesson(...)   or tab.NewLive(...)
//	u := t.Frame(wallMs)             once an animation frame while u.Busy, else when something was done
//	t.Do(action, arg)                a button, a form, a pointer on the timeline
//	t.Key(key)                       a key press outside of inputs
//	t.Message(text), t.Socket(…)     live: what the websocket brought, and how it fares
//
// Nothing but Frame returns anything for the page: an Update holds the parts whose HTML changed and a few commands.
//
// # Time
//
// A lesson has two ends. The head is where the engine is; it only ever goes forward, stopped by the lesson's gates. The
// cursor is what the page shows. Rewinding moves the cursor: to the nearest save (a copy of the picture, the engine and
// the player, made every few hundred events) and forward from there by applying events that are kept. Whoever acts while
// the cursor is behind the head forks: the engine is brought back to the cursor, and what came later is dropped. What a
// learner did is a list of inputs with their lab times; seed, script and inputs are the whole truth about a run, which is
// why a link can carry one.
package tab
