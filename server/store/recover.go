package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/log"
)

// Open gives the log of a replica as its folder has it, and the high watermark that was noted last. A torn end is cut, and
// so is everything behind damage, as Kafka's LogLoader does after an unclean end; what can still be read there is kept
// beside the log. A folder of another topic with that name is set aside.
func (d *Disk) Open(at log.Replica, cfg log.Config) (l *log.Log, highWatermark int64, err error) {
	p := d.partition(at)
	found, err := p.find()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", p.dir, cause(err))
	}
	b := d.broker(at.Broker)
	found.Notes.Start, found.Notes.Cleaned = b.starts[placeOf(at)], b.cleaned[placeOf(at)]
	p.notes = log.Notes{Start: found.Notes.Start, Cleaned: found.Notes.Cleaned, Epochs: slices.Clone(found.Notes.Epochs)}
	if l, err = log.Open(d.logStore(p), cfg, found, p.damaged); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", p.dir, err)
	}
	return l, b.watermarks[placeOf(at)], nil
}

// find lists what is in the folder, after it ended what a crash left half done.
func (p *partition) find() (found log.Found, err error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	if id, known := readTopicID(p.dir); known && id != p.at.TopicID {
		p.d.cfg.Logf("%s: its folder is of topic id %s, not %s", p.name, FormatID(id), FormatID(p.at.TopicID))
		return found, p.d.stray(p.dir)
	}
	p.made = true
	if entries, err = p.finishSwaps(entries); err != nil {
		return found, err
	}
	for _, e := range entries {
		base, ok := baseOf(e.Name(), ".log")
		if !ok {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return found, err
		}
		p.segments = append(p.segments, p.newSegment(base, int(info.Size())))
		found.Segments = append(found.Segments, log.FoundSegment{Base: base, Size: int(info.Size())})
	}
	if found.Notes.Epochs, err = readEpochs(p.dir); err != nil {
		p.d.cfg.Logf("%s: %v; it is made anew from the batches", p.name, cause(err))
		found.Notes.Epochs = nil
	}
	return found, nil
}

// baseOf reads the name of a segment: 20 digits.
func baseOf(name, suffix string) (base int64, ok bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0
}

// damaged tells of damage before it is cut off.
func (p *partition) damaged(d log.Damage) error {
	at := fmt.Sprintf("%s: %s at %d", p.name, segmentName(d.Segment), d.Position)
	if d.Torn {
		p.d.cfg.Logf("%s: the last write was torn off by a crash: %d bytes are cut, from offset %d on (%s)", at, d.Bytes, d.Offset, d.Reason)
		return nil
	}
	kept, err := p.keep(d)
	if err != nil {
		return fmt.Errorf("what lies behind the damage at %s cannot be kept: %w", at, cause(err))
	}
	p.d.cfg.Logf("%s: damaged: %d bytes and %d more segments are cut, from offset %d on, and kept as %s (%s)", at, d.Bytes, d.Segments, d.Offset, kept, d.Reason)
	return nil
}

// keep puts what is cut off because of damage beside the log.
func (p *partition) keep(d log.Damage) (names string, err error) {
	s := p.segment(d.Segment)
	from, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	first := aside(s.path)
	to, err := p.d.io.create(first)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, io.NewSectionReader(from, int64(d.Position), int64(s.size-d.Position)))
	if err = errors.Join(err, to.Close()); err != nil {
		return "", err
	}
	for _, later := range p.segments {
		if later.base > d.Segment {
			if err := os.Rename(later.path, aside(later.path)); err != nil {
				return "", err
			}
		}
	}
	return filepath.Base(first), nil
}

// aside is a name for damaged bytes that nothing has yet.
func aside(path string) string {
	for n := 0; ; n++ {
		name := path + ".damaged"
		if n > 0 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// finishSwaps ends the swaps that had begun, and removes what had not.
func (p *partition) finishSwaps(entries []fs.DirEntry) ([]fs.DirEntry, error) {
	changed := false
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, cleanedSuffix) {
			if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
				return nil, err
			}
		}
		from, to, found := strings.Cut(name, "-")
		first, ok := baseOf(from, "")
		last, ok2 := baseOf(to, ".swap")
		if !found || !ok || !ok2 {
			continue
		}
		for _, o := range entries {
			if base, ok := baseOf(o.Name(), ".log"); ok && base > first && base <= last {
				if err := os.Remove(filepath.Join(p.dir, o.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
			}
		}
		if err := os.Rename(filepath.Join(p.dir, name), filepath.Join(p.dir, segmentName(first))); err != nil {
			return nil, err
		}
		p.d.cfg.Logf("%s: a compaction that a crash broke off was ended: one segment takes the place of those from %d to %d", p.name, first, last)
		changed = true
	}
	if !changed {
		return entries, nil
	}
	return os.ReadDir(p.dir)
}

// stray sets a folder aside that nobody knows (Kafka: the suffix -stray). One that is not there needs nothing.
func (d *Disk) stray(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	shelf := filepath.Join(filepath.Dir(dir), strayFolder)
	if err := os.MkdirAll(shelf, 0o755); err != nil {
		return err
	}
	for n := 0; ; n++ {
		to := filepath.Join(shelf, fmt.Sprintf("%s.%d", filepath.Base(dir), n))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(dir, to); err != nil {
				return err
			}
			d.cfg.Logf("%s belongs to no topic that is there; it is now %s", dir, to)
			return nil
		}
	}
}

const strayFolder = "stray"

// Sweep ends what a crash left of deletions, and sets aside the folders of which nobody has opened the log. The host calls
// it when all logs are open.
func (d *Disk) Sweep() error {
	brokers, err := os.ReadDir(filepath.Join(d.cfg.Dir, "brokers"))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, p := range d.parts {
		known[p.dir] = true
	}
	for _, b := range brokers {
		dir := filepath.Join(d.cfg.Dir, "brokers", b.Name())
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case !e.IsDir() || e.Name() == strayFolder || known[path]:
			case strings.HasSuffix(e.Name(), "-delete"):
				err = os.RemoveAll(path)
			default:
				err = d.stray(path)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
