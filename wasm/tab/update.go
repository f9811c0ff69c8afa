package tab

// Update is what the page has to do after a frame.
type Update struct {
	// Patches are the parts whose HTML changed; ID is the id of the element whose inner HTML it is.
	Patches []Patch
	// Announce is one sentence for the live region, "" for none.
	Announce string
	// Hash is the new fragment of the address, without '#'; SetHash tells whether to set it.
	Hash    string
	SetHash bool
	// Copy asks to copy the page's address (with Hash) to the clipboard.
	Copy bool
	// Store are choices to remember; "" forgets one.
	Store []Attr
	// Reveal is the id of an element to scroll into view and give the focus; with Field the first field in it gets that.
	Reveal string
	Field  bool
	// Dialog is the id of a dialog to open.
	Dialog string
	// Help opens or closes the help.
	Help bool
	// Fill gives fields, by their id, another text: fields are not rendered anew while somebody writes in them.
	Fill []Attr
	// CopyText is a text for the clipboard; Download is a file to hand to the viewer.
	CopyText string
	Download *Download
	// NextPart asks for the next part of the file that is being read.
	NextPart bool
	// Posts are requests to the server, live only.
	Posts []Post
	// Ask are questions to the server, answered through Asked.
	Ask []string
	// Connect asks to open the websocket at this path and query now.
	Connect string
	// Motion tells how things that carry data-move-ms travel: wall milliseconds for one of the world's, as a fraction.
	// Zero Den stands still.
	Motion Rate
	// Busy asks for another frame at once; otherwise the next frame is due when something happens or WakeMs have passed
	// (0: never).
	Busy   bool
	WakeMs int64
}

// Patch is one part's new inner HTML.
type Patch struct{ ID, HTML string }

// Download is a file that the page makes. Its kind is said by its name's ending; for a picture.png Text is the SVG to paint.
type Download struct{ Name, Text string }

// Attr is a name and a value.
type Attr struct{ Name, Value string }

// Post is a request that changes something at the server. Body is JSON or empty.
type Post struct{ Path, Body string }

// Rate is a fraction.
type Rate struct{ Num, Den int64 }
