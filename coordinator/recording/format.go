package recording

import (
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"io"

	"grouplab/coordinator/event"
)

// Version is that of the files which are written, and the highest that is read.
const Version = 1

// magic tells a recording from other JSON.
const magic = "recording"

// Header is the first line.
type Header struct {
	GroupLab string `json:"grouplab"`
	Version  int    `json:"version"`
	// Cluster names the cluster, World the run of the server that recorded it.
	Cluster string `json:"cluster,omitempty"`
	World   string `json:"world,omitempty"`
	// FromMs to ToMs is what was asked for, in milliseconds since 1970. In a segment that is being written ToMs is 0.
	FromMs int64 `json:"fromMs"`
	ToMs   int64 `json:"toMs,omitempty"`
	// Group is the one group that it tells of, "" for all.
	Group string `json:"group,omitempty"`
	// Masked is set where pseudonyms stand for names.
	Masked bool `json:"masked,omitempty"`
	// Observed is set where the cluster is somebody else's: what its coordinator does is then known from outside only.
	Observed bool `json:"observed,omitempty"`
	// Set are the brokers' settings that are not the default, NAME=VALUE, as far as a group feels them.
	Set []string `json:"set,omitempty"`
}

// Gap tells of events From to To that nobody has; From is 0 where it is not known which.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	FromMs int64  `json:"fromMs"`
	ToMs   int64  `json:"toMs"`
	Reason string `json:"reason"`
	// After is how many events were read before it.
	After int `json:"-"`
}

// End is the last line. Hash is that of all lines between the first and the last, 16 hexadecimal digits.
type End struct {
	Events int    `json:"events"`
	Hash   string `json:"hash"`
}

// Writer writes the lines of a recording. It does not compress them.
type Writer struct {
	to     io.Writer
	hash   hash.Hash64
	line   []byte
	events int
}

// NewWriter begins a recording with its header, of which GroupLab and Version are filled in.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	h.GroupLab, h.Version = magic, Version
	w := &Writer{to: to, hash: fnv.New64a()}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	_, err = to.Write(append(text, '\n'))
	return w, err
}

// Event writes one event.
func (w *Writer) Event(e *event.Event) (err error) {
	if w.line, err = e.AppendJSON(w.line[:0]); err != nil {
		return err
	}
	w.events++
	return w.write()
}

// Gap tells of events that are missing.
func (w *Writer) Gap(g Gap) (err error) {
	text, err := json.Marshal(map[string]Gap{"gap": g})
	w.line = append(w.line[:0], text...)
	if err != nil {
		return err
	}
	return w.write()
}

func (w *Writer) write() error {
	w.line = append(w.line, '\n')
	_, _ = w.hash.Write(w.line) // never fails
	_, err := w.to.Write(w.line)
	return err
}

// End writes the last line.
func (w *Writer) End() error {
	_, err := fmt.Fprintf(w.to, "{\"end\":{\"events\":%d,\"hash\":\"%016x\"}}\n", w.events, w.hash.Sum64())
	return err
}
