//go:build js

// Package dom puts an App into the page it runs in: it patches parts, hands on what the viewer does, draws frames and
// speaks to the server. It decides nothing. It is the only package that touches JavaScript, through safejs, where every
// throw becomes an error; errors that nobody waits for go to the browser's console.
package dom

// App is the program behind the page. Its methods are never called at the same time.
type App interface {
	// Frame lets the time since the last frame pass. nowMs is a clock that never goes back.
	Frame(nowMs int64) Update
	// Do does what an element with data-do asks for.
	Do(action, arg string)
	// Key does what a key stands for, and tells whether it stands for anything.
	Key(k Key) bool
	// Socket tells that the websocket was opened, or that it ended and why.
	Socket(open bool, reason string)
	// Message brings a text message of the websocket.
	Message(text []byte)
	// Crashed is called when another method has panicked, with what it said.
	Crashed(what string)
	// Asked and Posted bring the server's answers. Status is 0 where it could not be reached; body says why.
	Asked(path string, status int, body []byte)
	Posted(path string, status int, body []byte)
}

// Update is what a frame changes in the page.
type Update struct {
	Patches  []Patch
	Announce string // a sentence for the live region
	Hash     string // the address's fragment, set where SetHash is
	SetHash  bool
	Copy     bool   // copy the address to the clipboard
	Store    []Attr // of localStorage; "" removes
	Reveal   string // an element's id, to scroll to and give the focus
	Field    bool   // give the focus to the first field in it
	Dialog   string // the id of a dialog to open
	Help     bool   // open or close the help
	Fill     []Attr // texts of fields, by id
	CopyText string // for the clipboard
	File     string // the name of a file to hand to the viewer, "" for none; FileText is what is in it
	FileText string
	Posts    []Post
	Asks     []string // paths to get
	Connect  string   // path of the websocket to open now
	NextPart bool     // read the next part of the file
	// MoveNum and MoveDen are wall milliseconds for one of the world's, for what carries data-move-ms; MoveDen 0 stands.
	MoveNum, MoveDen int64
	// Busy asks for a frame at once; otherwise the next comes after WakeMs, or with the next thing done where that is 0.
	Busy   bool
	WakeMs int64
}

// Patch is an element's id and its new inner HTML.
type Patch struct{ ID, HTML string }

// Attr is a name and a value.
type Attr struct{ Name, Value string }

// Post is a request that changes something at the server.
type Post struct{ Path, Body string }

// Key is a key press outside of text fields.
type Key struct {
	Name             string
	Shift, Ctrl, Alt bool
	// OnControl is set where a button or another control has the focus.
	OnControl bool
	// Field is the data-keys of the field in which it was pressed, "" elsewhere.
	Field string
}
