package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/klauspost/compress/gzip"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/server/history"
)

// Piece says what to cut out.
type Piece struct {
	// FromMs to ToMs; 0 is the beginning, or the end, of what is kept.
	FromMs, ToMs int64
	// Group is the one group to tell of, "" for all.
	Group string
	// Mask puts pseudonyms in the place of group ids, client ids, hosts, member ids and instance ids; Topics of topics, too.
	Mask, Topics bool
}

// ErrNothing is wrapped where nothing is kept of what was asked for.
var ErrNothing = errors.New("nothing is kept of that time")

// Kept lists the segments, the oldest first.
func (r *Recorder) Kept() []Segment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}

// Groups are the groups of segments, sorted.
func Groups(kept []Segment) []string {
	all := map[string]bool{}
	for _, s := range kept {
		for g := range s.Groups {
			all[g] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// pick finds the segments of a piece, and clamps its times to what they tell of.
func (r *Recorder) pick(p Piece) (Piece, []Segment, error) {
	kept := r.Kept()
	if len(kept) == 0 {
		return p, nil, fmt.Errorf("%w: nothing was recorded yet", ErrNothing)
	}
	first, last := kept[0].FromMs, kept[len(kept)-1].ToMs
	if p.ToMs == 0 {
		p.ToMs = last
	}
	if p.ToMs < first || p.FromMs > last || p.ToMs < p.FromMs {
		return p, nil, fmt.Errorf("%w: what is kept goes from %d to %d", ErrNothing, first, last)
	}
	p.FromMs = max(p.FromMs, first)
	from := 0
	for i := range kept {
		if kept[i].FromMs <= p.FromMs {
			from = i
		}
	}
	to := from + 1
	for to < len(kept) && kept[to].FromMs <= p.ToMs {
		to++
	}
	kept = kept[from:to]
	if p.Group != "" && !slices.Contains(Groups(kept), p.Group) {
		return p, nil, fmt.Errorf("%w: there is no group %q in it", ErrNothing, p.Group)
	}
	return p, kept, nil
}

// Check tells whether there is something to cut.
func (r *Recorder) Check(p Piece) error {
	_, _, err := r.pick(p)
	return err
}

// Cut writes a piece as a recording, compressed. Its memory does not grow with the piece, but for the names where they are
// masked. It begins with the facts of the segment in which the piece begins, and what lies between: a picture is built from there.
func (r *Recorder) Cut(ctx context.Context, to io.Writer, p Piece) error {
	p, kept, err := r.pick(p)
	if err != nil {
		return err
	}
	c := &cutter{piece: p, ctx: ctx}
	h := r.cfg.Header
	h.World, h.FromMs, h.ToMs, h.Group, h.Masked = r.cfg.Hub.World(), p.FromMs, p.ToMs, p.Group, p.Mask
	if p.Mask {
		if err := c.learn(kept, &h); err != nil {
			return err
		}
	}
	pack := gzip.NewWriter(to)
	if c.out, err = recording.NewWriter(pack, h); err != nil {
		return err
	}
	c.past = history.New(history.Config{})
	if err := c.through(kept, c.write); err != nil {
		return err
	}
	c.tell(c.lastMs + 2000) // whatever waits to be told
	return errors.Join(c.err, c.out.End(), pack.Close())
}

type cutter struct {
	piece  Piece
	ctx    context.Context
	out    *recording.Writer
	mask   *masker
	past   *history.History
	told   []event.Event
	toldMs int64
	lastMs int64
	// most is how many events there were when the names were learned, 0 where nothing is masked: of later ones they were not.
	most, n int
	inFacts bool
	seq     int64 // the last event that went by
	err     error // the first of tell
}

// learn reads everything once for the names.
func (c *cutter) learn(kept []Segment, h *recording.Header) error {
	c.mask = newMasker(c.piece.Topics)
	err := c.through(kept, func(e *event.Event) error {
		c.mask.learn(e)
		return nil
	})
	c.mask.learned()
	c.most, c.n, c.seq, c.lastMs = c.n, 0, 0, 0
	h.Cluster, h.World = c.mask.pseudonym("cluster", h.Cluster), ""
	if h.Group != "" {
		h.Group = c.mask.pseudonym(nameGroup, h.Group)
	}
	return err
}

// through hands on the events of the piece, in their order. Facts in the middle are left out where nothing is missing before
// them.
func (c *cutter) through(kept []Segment, take func(*event.Event) error) error {
	lost := ""
	for i, s := range kept {
		file, err := os.Open(s.path)
		if errors.Is(err, fs.ErrNotExist) {
			lost = "the oldest part was given up while it was cut"
			continue
		}
		if err != nil {
			return err
		}
		err = c.segment(file, s, i == 0, &lost, take)
		file.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// errOver ends reading where the piece ends.
var errOver = errors.New("over")

func (c *cutter) segment(file io.Reader, s Segment, first bool, lost *string, take func(*event.Event) error) error {
	rec, err := recording.Open(bufio.NewReader(file), segmentLimits)
	if err != nil {
		*lost = "a segment cannot be read: " + err.Error()
		return nil
	}
	var begun, skip bool
	err = each(rec, func(events []event.Event) error {
		if !begun && len(events) > 0 {
			begun = true
			if skip, err = c.join(rec, events[0], s, first, lost); err != nil {
				return err
			}
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		for i := range events {
			e := &events[i]
			if skip {
				_, over := e.Body.(event.FactsEnded)
				skip = !over
				continue
			}
			if e.AtMs > c.piece.ToMs || c.most > 0 && c.n == c.most {
				return errOver
			}
			c.n++
			c.seq, c.lastMs = max(c.seq, e.Seq), max(c.lastMs, e.AtMs)
			if e := c.follows(e); e != nil {
				if err := take(e); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// join tells how a segment goes on from the one before: where nothing is missing its facts are left out, else a gap is noted.
func (c *cutter) join(rec *recording.Reader, begins event.Event, s Segment, first bool, lost *string) (skip bool, err error) {
	if first && *lost == "" {
		return false, nil
	}
	gap := recording.Gap{To: begins.Seq, FromMs: c.lastMs, ToMs: s.FromMs, Reason: *lost}
	if c.seq > 0 {
		gap.From = c.seq + 1
	}
	*lost = ""
	if len(rec.Gaps) > 0 {
		gap = rec.Gaps[0]
	} else if gap.Reason == "" && c.seq > 0 && begins.Seq < c.seq {
		gap.From, gap.Reason = 0, "the server was started again"
	}
	if gap.Reason == "" {
		return true, nil
	}
	if c.out == nil {
		return false, nil
	}
	if c.mask != nil {
		gap.Reason = c.mask.sentence(gap.Reason)
	}
	c.seq = 0 // another run counts from 1
	return false, c.out.Gap(gap)
}

// follows returns what of an event belongs to the piece, nil for nothing.
func (c *cutter) follows(e *event.Event) *event.Event {
	g := c.piece.Group
	if g == "" || e.Group == g {
		return e
	}
	if e.Group != "" {
		return nil
	}
	if b, ok := e.Body.(event.RecordsAppended); ok { // a batch of its partition may be another group's
		b.Records = slices.DeleteFunc(slices.Clone(b.Told()), func(r event.LogRecord) bool { return r.Group != "" && r.Group != g })
		b.Commits("", nil)
		c := *e
		c.Body = b
		return &c
	}
	return e
}

// write writes an event, and what came of it for the generations.
func (c *cutter) write(e *event.Event) error {
	if err := c.put(*e); err != nil {
		return err
	}
	c.past.Apply(e)
	switch e.Body.(type) {
	case event.FactsBegan:
		c.inFacts = true
	case event.FactsEnded:
		c.inFacts = false
		c.tell(e.AtMs)
	default:
		if !c.inFacts && e.AtMs >= c.toldMs+1000 {
			c.tell(e.AtMs)
		}
	}
	return c.err
}

// tell writes the generations and summaries that are to be told.
func (c *cutter) tell(nowMs int64) {
	c.toldMs = nowMs
	c.told = c.past.Take(c.told[:0], nowMs)
	for i := range c.told {
		if c.err == nil {
			c.err = c.put(c.told[i])
		}
	}
}

func (c *cutter) put(e event.Event) (err error) {
	if c.mask != nil {
		if e, err = c.mask.mask(e); err != nil {
			return err
		}
	}
	return c.out.Event(&e)
}
