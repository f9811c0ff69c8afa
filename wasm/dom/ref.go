//go:build js

package dom

import (
	"github.com/hack-pad/safejs"
)

// ref is a JavaScript value whose mistakes are reported instead of returned: for handlers and patches, where nobody waits
// for an error. What fails is undefined.
type ref struct{ v safejs.Value }

func global(name string) ref { return ref{safejs.Global()}.get(name) }

func document() ref { return global("document") }

func (r ref) get(name string) ref {
	if r.none() {
		return ref{safejs.Undefined()}
	}
	v, err := r.v.Get(name)
	return ref{report(v, err)}
}

func (r ref) set(name string, value any) {
	if !r.none() {
		if err := r.v.Set(name, value); err != nil {
			complain(err.Error())
		}
	}
}

func (r ref) call(name string, args ...any) ref {
	if r.none() {
		return ref{safejs.Undefined()}
	}
	v, err := r.v.Call(name, args...)
	return ref{report(v, err)}
}

// none tells whether it is null or undefined.
func (r ref) none() bool { return r.v.IsNull() || r.v.IsUndefined() }

func (r ref) text() string {
	if r.v.Type() != safejs.TypeString {
		return ""
	}
	s, err := r.v.String()
	if err != nil {
		complain(err.Error())
	}
	return s
}

func (r ref) number() float64 {
	if r.v.Type() != safejs.TypeNumber {
		return 0
	}
	f, err := r.v.Float()
	if err != nil {
		complain(err.Error())
	}
	return f
}

func (r ref) truthy() bool {
	t, err := r.v.Truthy()
	return err == nil && t
}

func (r ref) same(other ref) bool { return r.v.Equal(other.v) }

// items are the elements of a list.
func (r ref) items() []ref {
	if r.none() {
		return nil
	}
	n, err := r.v.Length()
	if err != nil {
		complain(err.Error())
		return nil
	}
	list := make([]ref, n)
	for i := range list {
		v, err := r.v.Index(i)
		list[i] = ref{report(v, err)}
	}
	return list
}

// attr is an attribute of an element, "" where it has none.
func (r ref) attr(name string) string { return r.call("getAttribute", name).text() }

func (r ref) has(name string) bool { return r.call("hasAttribute", name).truthy() }

func (r ref) closest(selector string) ref {
	if r.get("closest").none() { // a text node, the document
		return ref{safejs.Null()}
	}
	return r.call("closest", selector)
}

func (r ref) find(selector string) ref { return r.call("querySelector", selector) }

func (r ref) all(selector string) []ref { return r.call("querySelectorAll", selector).items() }

func byID(id string) ref { return document().call("getElementById", id) }

func report(v safejs.Value, err error) safejs.Value {
	if err != nil {
		complain(err.Error())
		return safejs.Undefined()
	}
	return v
}

// complain tells the browser's console.
func complain(text string) {
	console, err := safejs.Global().Get("console")
	if err != nil {
		return
	}
	_, _ = console.Call("error", "GroupLab: "+text) // there is nowhere else to tell
}

// listen calls fn for every event of a kind, as long as the page lives.
func listen(target ref, kind string, fn func(event ref)) { listenTo(target, kind, false, fn) }

// listenDown hears what does not rise from the element where it happens.
func listenDown(target ref, kind string, fn func(event ref)) { listenTo(target, kind, true, fn) }

func listenTo(target ref, kind string, capture bool, fn func(event ref)) {
	f, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
		if len(args) > 0 {
			fn(ref{args[0]})
		} else {
			fn(ref{safejs.Undefined()})
		}
		return nil
	})
	if err != nil {
		complain(err.Error())
		return
	}
	target.call("addEventListener", kind, f.Value(), capture)
}
