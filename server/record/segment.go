package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/server/live"
)

// Segment is one file of the folder.
type Segment struct {
	// FromMs to ToMs is what it tells of.
	FromMs, ToMs int64
	Bytes        int64
	Events       int
	// Groups are the groups that it tells of.
	Groups map[string]bool

	path string
}

const suffix = ".grouplab"

// writer writes a segment. What was flushed is whole: whoever opens the file reads up to there.
type writer struct {
	Segment
	file *os.File
	size *counter
	pack *gzip.Writer
	rec  *recording.Writer
}

// counter counts what reaches the file.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// newSegment begins a file with a gap, if its reason is set, and with facts.
func (r *Recorder) newSegment(snap live.Snapshot, gap recording.Gap) (*writer, error) {
	at := snap.NowMs
	var file *os.File
	for {
		var err error
		file, err = os.OpenFile(filepath.Join(r.cfg.Dir, strconv.FormatInt(at, 10)+suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) { // two within a millisecond
			at++
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	w := &writer{Segment: Segment{FromMs: snap.NowMs, ToMs: snap.NowMs, Groups: map[string]bool{}, path: file.Name()}, file: file, size: &counter{to: file}}
	w.pack = gzip.NewWriter(w.size)
	h := r.cfg.Header
	h.FromMs, h.World = snap.NowMs, r.cfg.Hub.World()
	var err error
	if w.rec, err = recording.NewWriter(w.pack, h); err == nil && gap.Reason != "" {
		err = w.rec.Gap(gap)
	}
	for i := range snap.Events {
		if err != nil {
			break
		}
		if tells(&snap.Events[i]) {
			err = w.event(&snap.Events[i])
		}
	}
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		file.Close()
		_ = os.Remove(file.Name()) // half of the facts are of no use
		return nil, err
	}
	w.ToMs = snap.NowMs
	return w, nil
}

func (w *writer) event(e *event.Event) error {
	w.Events++
	w.ToMs = max(w.ToMs, e.AtMs)
	if e.Group != "" {
		w.Groups[e.Group] = true
	}
	return w.rec.Event(e)
}

// flush makes what was written readable.
func (w *writer) flush() error {
	err := w.pack.Flush()
	w.Bytes = w.size.n
	return err
}

// end writes the last line and closes the file.
func (w *writer) end() error {
	err := w.rec.End()
	err = errors.Join(err, w.pack.Close(), w.file.Close())
	w.Bytes = w.size.n
	if err == nil {
		w.Segment.writeIndex()
	}
	return err
}

// abandon closes a file that takes no more.
func (w *writer) abandon() {
	_ = w.file.Close()
	w.Bytes = w.size.n
}

// grew tells how large the newest segment is, or that there is another one.
func (r *Recorder) grew(s Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Groups = maps.Clone(s.Groups)
	for i := range r.kept {
		if r.kept[i].path == s.path {
			r.kept[i] = s
			return
		}
	}
	r.kept = append(r.kept, s)
}

// forget drops the oldest segments until the bounds are met, with room for the next. The newest stays.
func (r *Recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.cfg.SegmentBytes
	for _, s := range r.kept {
		total += s.Bytes
	}
	tooOld := r.cfg.Hub.NowMs() - r.cfg.Age.Milliseconds()
	for len(r.kept) > 1 && (total > r.cfg.Bytes || r.kept[0].ToMs < tooOld) {
		s := r.kept[0]
		_ = os.Remove(s.path + indexSuffix)
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.cfg.Log.Error("an old segment of the recording cannot be removed: "+cause(err).Error(), "file", s.path)
			return
		}
		total -= s.Bytes
		r.kept = slices.Delete(r.kept, 0, 1)
		r.stats.dropped.Add(1)
	}
}

// recoverAll looks at the segments of a folder, oldest first, and finishes those that were not.
func recoverAll(dir string, log *slog.Logger) (kept []Segment, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".tmp") && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(dir, name))
		}
		at, isNumber := strings.CutSuffix(name, suffix)
		if _, err := strconv.ParseInt(at, 10, 64); !isNumber || err != nil || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, name)
		s, known := readIndex(path)
		if !known {
			s, err = look(path, log)
		}
		if err != nil && !known {
			log.Warn("a file among the recordings is left alone: "+cause(err).Error(), "file", path)
			continue
		}
		kept = append(kept, s)
	}
	slices.SortFunc(kept, func(a, b Segment) int { return int(a.FromMs - b.FromMs) })
	return kept, nil
}

// look reads a segment through. One that breaks off is cut there.
func look(path string, log *slog.Logger) (s Segment, err error) {
	file, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return s, err
	}
	s = Segment{path: path, Bytes: info.Size(), Groups: map[string]bool{}}
	rec, err := recording.Open(bufio.NewReader(file), segmentLimits)
	if err != nil {
		return s, err
	}
	s.FromMs, s.ToMs = rec.Header.FromMs, rec.Header.FromMs
	each(rec, func(events []event.Event) error {
		for i := range events {
			s.Events++
			s.ToMs = max(s.ToMs, events[i].AtMs)
			if g := events[i].Group; g != "" {
				s.Groups[g] = true
			}
		}
		return nil
	})
	if rec.Whole {
		s.writeIndex()
		return s, nil
	}
	s.Bytes, err = mend(path)
	if err != nil {
		return s, fmt.Errorf("it breaks off (%s) and cannot be finished: %w", rec.Stopped, err)
	}
	s.writeIndex()
	log.Warn("a segment of the recording was not finished and is cut where it breaks off: "+rec.Stopped, "file", path)
	return s, nil
}

// segmentLimits are those of files that we wrote ourselves. Events are taken out as they are read.
var segmentLimits = recording.Limits{Bytes: 8 << 30, LineBytes: 64 << 20, Events: 1 << 30}

// each hands the events of a recording on as they are read, piece by piece.
func each(rec *recording.Reader, take func([]event.Event) error) error {
	for more := true; more; {
		more = rec.Next(1000)
		err := take(rec.Events)
		rec.Forget()
		if err != nil {
			return err
		}
	}
	return nil
}

// mend writes the readable part of a segment anew, with its last line, in the place of the old one.
func mend(path string) (bytes int64, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	rec, err := recording.Open(bufio.NewReader(in), segmentLimits)
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	size := &counter{to: out}
	pack := gzip.NewWriter(size)
	w, err := recording.NewWriter(pack, rec.Header)
	if err != nil {
		return 0, err
	}
	gaps := 0
	err = each(rec, func(events []event.Event) error {
		for ; gaps < len(rec.Gaps); gaps++ { // a segment has one at most, before its facts
			if err := w.Gap(rec.Gaps[gaps]); err != nil {
				return err
			}
		}
		for i := range events {
			if err := w.Event(&events[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, w.End(), pack.Close(), out.Close()); err != nil {
		_ = os.Remove(path + ".tmp")
		return 0, err
	}
	return size.n, os.Rename(path+".tmp", path)
}
