package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// Limits bound what a file, which may come from anybody, can cost its reader. Zero values are replaced by defaults.
type Limits struct {
	// Bytes is how much it may hold when it is unpacked (256 MB), LineBytes how much a line (4 MB).
	Bytes, LineBytes int64
	// Events is how many are read (300 000).
	Events int
}

// Reader reads a recording piece by piece. What it has read so far is in its fields.
type Reader struct {
	Header Header
	Events []event.Event
	Gaps   []Gap
	// Unknown counts events of kinds that are not known here, by kind; Unreadable lines that are none of ours.
	Unknown    map[string]int
	Unreadable int
	// Whole is set once the last line was read and is true; Stopped says why reading ended before it, "" otherwise.
	Whole   bool
	Stopped string
	// Words is what is wrong with the first unreadable line.
	Words string

	in     *bufio.Reader
	limits Limits
	read   int64
	line   int
	hash   hash.Hash64
	taken  int // events that were forgotten
}

// Open reads the header. data may be compressed or not. The error says what the file is instead of a recording, or that a newer
// program has to read it.
func Open(data io.Reader, limits Limits) (*Reader, error) {
	if limits.Bytes <= 0 {
		limits.Bytes = 256 << 20
	}
	if limits.LineBytes <= 0 {
		limits.LineBytes = 4 << 20
	}
	if limits.Events <= 0 {
		limits.Events = 300_000
	}
	r := &Reader{limits: limits, hash: fnv.New64a(), Unknown: map[string]int{}}
	r.in = bufio.NewReaderSize(data, 64<<10)
	if start, _ := r.in.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(r.in)
		if err != nil {
			return nil, fmt.Errorf("it begins like a compressed file and is none: %w", err)
		}
		r.in = bufio.NewReaderSize(packed, 64<<10)
	}
	line, err := r.next()
	if len(line) == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, err
	}
	if json.Unmarshal(line, &r.Header) != nil || r.Header.GroupLab != magic {
		return nil, errors.New(`its first line does not say {"grouplab":"recording",…}: a recording is a .grouplab file that GroupLab has cut`)
	}
	if r.Header.Version > Version || r.Header.Version < 1 {
		return nil, fmt.Errorf("it is of version %d of the format; this page reads up to version %d: open it in a newer GroupLab", r.Header.Version, Version)
	}
	return r, nil
}

// errTooMuch ends reading at a limit.
var errTooMuch = errors.New("too much")

// next reads a line without its end.
func (r *Reader) next() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		r.read += int64(len(piece))
		if r.read > r.limits.Bytes {
			return nil, fmt.Errorf("%w: unpacked it holds more than %d MB", errTooMuch, r.limits.Bytes>>20)
		}
		if int64(len(line)+len(piece)) > r.limits.LineBytes {
			return nil, fmt.Errorf("%w: line %d is longer than %d MB", errTooMuch, r.line+1, r.limits.LineBytes>>20)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			line = append(line, piece...)
			continue
		}
		if line != nil {
			piece = append(line, piece...)
		}
		r.line++
		if err != nil {
			return piece, err
		}
		return piece, nil
	}
}

// Next reads up to n lines more and tells whether there may be further ones.
func (r *Reader) Next(n int) (more bool) {
	for ; n > 0; n-- {
		if r.Whole || r.Stopped != "" {
			return false
		}
		line, err := r.next()
		switch {
		case err != nil && errors.Is(err, errTooMuch):
			r.stop(err.Error())
		case err != nil && len(bytes.TrimSpace(line)) > 0:
			r.stop("the file was cut in the middle of a line")
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			r.stop("the file was cut: its last line is missing")
		case err != nil:
			r.stop("it is damaged: " + err.Error())
		default:
			r.take(line)
		}
	}
	return !r.Whole && r.Stopped == ""
}

func (r *Reader) stop(why string) {
	r.Stopped = fmt.Sprintf("%s; %d events up to line %d could be read", why, r.taken+len(r.Events), r.line)
}

// Forget drops the events read so far, for whoever has taken them.
func (r *Reader) Forget() {
	r.taken += len(r.Events)
	clear(r.Events)
	r.Events = r.Events[:0]
}

// take reads one line.
func (r *Reader) take(line []byte) {
	if bytes.HasPrefix(line, []byte(`{"end":`)) {
		r.end(line)
		return
	}
	_, _ = r.hash.Write(line) // never fails
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if bytes.HasPrefix(line, []byte(`{"gap":`)) {
		var g struct{ Gap Gap }
		if err := json.Unmarshal(line, &g); err != nil {
			r.bad(err)
		} else {
			g.Gap.After = r.taken + len(r.Events)
			r.Gaps = append(r.Gaps, g.Gap)
		}
		return
	}
	if r.taken+len(r.Events) == r.limits.Events {
		r.stop(fmt.Sprintf("it holds more than %d events", r.limits.Events))
		return
	}
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		var of struct{ Kind string }
		if json.Unmarshal(line, &of) == nil && of.Kind != "" && event.Zero(of.Kind) == nil {
			if len(r.Unknown) < 100 || r.Unknown[of.Kind] > 0 {
				r.Unknown[of.Kind]++
			}
			return
		}
		r.bad(err)
		return
	}
	r.Events = append(r.Events, e)
}

func (r *Reader) bad(err error) {
	if r.Unreadable++; r.Words == "" {
		r.Words = fmt.Sprintf("line %d: %s", r.line, err)
	}
}

func (r *Reader) end(line []byte) {
	var e struct{ End End }
	if err := json.Unmarshal(line, &e); err != nil {
		r.bad(err)
		return
	}
	if e.End.Hash != r.Hash() {
		r.stop("the check sum in its last line is not that of its lines: somebody, or something, has changed it")
		return
	}
	r.Whole = true
}

// Hash is that of the lines read so far, the first and the last left out: it names the recording in links.
func (r *Reader) Hash() string { return fmt.Sprintf("%016x", r.hash.Sum64()) }

// UnknownKinds lists the kinds that were skipped, by name, with how many there were.
func (r *Reader) UnknownKinds() string {
	var list []string
	for kind, n := range r.Unknown {
		if len(kind) > 40 {
			kind = kind[:40] + "…"
		}
		list = append(list, fmt.Sprintf("%s (%d)", kind, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
