package tab

import (
	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// mode is what a page is about: a lesson, free play, a running cluster. A Tab does by itself what all pages can, and asks its
// mode for the rest. A program carries only the modes that it makes: what a
// Tab itself points to has no method of these names, since the linker would keep it, and all that it calls.
type mode interface {
	// tick lets wall time pass: it is wallMs now, passedMs after the last time. more asks for another frame at once.
	tick(wallMs, passedMs int64) (more bool)
	// half tells that the picture is not whole now, and is not to be drawn.
	half() bool
	// playing tells whether the world's time passes by itself, moving whether what is drawn depends on the time of now.
	playing() bool
	moving() bool
	// wakeMs is when the next frame is due though nothing happens, 0 for never.
	wakeMs() int64
	// rate is how things on the wire travel now.
	rate() Rate
	// interrupted is called before anything else is done: what goes on by itself ends.
	interrupted()
	// act does what the viewer asks for.
	act(action, arg string) bool
	// offers tells whether an action means anything on this page; field does what a key stands for in a field.
	offers(action string) bool
	field(k Key) bool
	// compares tells whether Escape has something to close; dismiss closes it.
	compares() bool
	dismiss()
	unfollow()
	// findIn is the part in which one looks for something.
	findIn() string
	// picture is the fold; filled brings the options up to date, and returns it; parts are the page's.
	picture() *view.Model
	filled(o *view.Options) *view.Model
	parts(m *view.Model, o view.Options) []view.Part
	// told puts what the cursor passed into words for the screen reader.
	told()
	// address keeps the page's address at the moment that is shown.
	address()
	// jumpTo shows the moment of a fact; factAt finds one that is kept.
	jumpTo(seq int64)
	factAt(seq int64) *event.Event
	// raw are the bytes of a request, or of a record "PARTITION:OFFSET" where request is 0.
	raw(request int64, record string) *view.Raw
	// crashed goes back to the last moment that stood, and further where that is the one that broke again.
	crashed(link string, again bool)
}

// scroller is a mode with a list of which only the rows on screen are drawn. scrolled takes "TOP HIGH" in pixels, and tells
// whether other rows are to be drawn; listed are the parts that hold them.
type scroller interface {
	scrolled(place string) bool
	listed(m *view.Model, o view.Options) []view.Part
}

// wired is a mode that speaks with the server.
type wired interface {
	socket(open bool, reason string)
	message(text []byte)
	asked(path string, status int, body []byte)
	posted(path string, status int, body []byte)
}

// Socket tells how the websocket fares: it was opened, or it ended for a reason.
func (t *Tab) Socket(open bool, reason string) {
	if w, ok := t.mode.(wired); ok {
		w.socket(open, reason)
	}
}

// Message takes one message of the websocket. What cannot be read is told and skipped; the connection goes on.
func (t *Tab) Message(text []byte) {
	if w, ok := t.mode.(wired); ok {
		w.message(text)
	}
}

// Asked brings the server's answer to a question, or to a request that changes something. Status is 0 where it could
// not be reached.
func (t *Tab) Asked(path string, status int, body []byte) {
	if path == sourcePath {
		t.gotSource(status, body)
	} else if w, ok := t.mode.(wired); ok {
		w.asked(path, status, body)
	}
}

// Posted brings the server's answer to a request that changed something.
func (t *Tab) Posted(path string, status int, body []byte) {
	if w, ok := t.mode.(wired); ok {
		w.posted(path, status, body)
	}
}
