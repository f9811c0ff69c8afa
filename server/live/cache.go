package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"grouplab/coordinator/event"
)

// cacheBytes bounds the encoded events that are kept. When they are more, all are forgotten and encoded again where
// somebody still wants them.
const cacheBytes = 64 << 20

// likelyBytes is how long most encoded events are.
const likelyBytes = 256

// cache holds encoded events, so that each is encoded once however many viewers there are. It is empty while nobody
// watches. Its lock is never taken by Publish.
type cache struct {
	mu    sync.Mutex
	slots []slot
	bytes int
}

type slot struct {
	seq  int64
	json []byte
}

// write appends events to dst, separated by commas, until they are all there or dst is longer than chunkBytes. It says
// how many it appended and how many of these had to be encoded.
func (c *cache) write(dst []byte, events []event.Event, size int) (out []byte, n, encoded int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots == nil || c.bytes > cacheBytes {
		c.slots, c.bytes = make([]slot, size), 0
	}
	for i := range events {
		s := &c.slots[events[i].Seq%int64(len(c.slots))]
		if s.seq != events[i].Seq {
			text, err := events[i].AppendJSON(make([]byte, 0, likelyBytes))
			if err != nil {
				return dst, n, encoded, err
			}
			encoded++
			c.bytes += len(text) - len(s.json)
			*s = slot{events[i].Seq, text}
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, s.json...)
		if n = i + 1; len(dst) > chunkBytes {
			break
		}
	}
	return dst, n, encoded, nil
}

func (c *cache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots, c.bytes = nil, 0
}

// forget drops what only viewers need.
func (h *Hub) forget() {
	h.cache.drop()
	h.facts.mu.Lock()
	h.facts.last = nil
	h.facts.mu.Unlock()
	h.few.drop()
}

// encodedSnapshot is a snapshot with its events' JSON beside it, encoded when the first viewer wants it.
type encodedSnapshot struct {
	Snapshot
	taken time.Time
	once  sync.Once
	json  [][]byte
	err   error
}

func (s *encodedSnapshot) encode(h *Hub) ([][]byte, error) {
	s.once.Do(func() {
		s.json = make([][]byte, len(s.Events))
		for i := range s.Events {
			if s.json[i], s.err = s.Events[i].AppendJSON(make([]byte, 0, likelyBytes)); s.err != nil {
				return
			}
		}
		h.stats.encoded.Add(int64(len(s.Events)))
	})
	return s.json, s.err
}

// sharedFacts lets viewers that come at the same time share one question to the loop.
type sharedFacts struct {
	mu   sync.Mutex
	last *encodedSnapshot
	call *factsCall // nil where no question is under way
}

type factsCall struct {
	done chan struct{}
	snap *encodedSnapshot
	err  error
}

// snapshot returns facts that are not older than FactsInterval. Facts at Seq s and the events after s give the same
// picture as newer facts, so sharing costs no exactness; they only have to reach into the events that are kept.
func (h *Hub) snapshot(ctx context.Context) (*encodedSnapshot, error) {
	return h.share(ctx, &h.facts, h.cfg.Facts, h.cfg.MaxLag/2)
}

// share returns what f has, or asks for it; what was told since may be most events at most.
func (h *Hub) share(ctx context.Context, f *sharedFacts, ask func(context.Context) (Snapshot, error), most int) (*encodedSnapshot, error) {
	if h.ctx.Err() != nil {
		return nil, ErrClosed
	}
	f.mu.Lock()
	if s := f.last; s != nil && time.Since(s.taken) < h.cfg.FactsInterval && h.behind(s.Seq) <= most {
		f.mu.Unlock()
		return s, nil
	}
	f.last = nil
	call := f.call
	if call == nil {
		call = &factsCall{done: make(chan struct{})}
		f.call = call
		go h.ask(f, call, ask)
	}
	f.mu.Unlock()
	select {
	case <-call.done:
		return call.snap, call.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// factsTimeout is how long the loop may take to answer a question for facts.
const factsTimeout = 10 * time.Second

func (h *Hub) ask(f *sharedFacts, call *factsCall, ask func(context.Context) (Snapshot, error)) {
	ctx, cancel := context.WithTimeout(h.ctx, factsTimeout)
	defer cancel()
	s, err := ask(ctx)
	if err != nil {
		call.err = fmt.Errorf("the cluster did not say how it stands: %w", err)
	} else {
		call.snap = &encodedSnapshot{Snapshot: s, taken: time.Now()}
	}
	f.mu.Lock()
	f.call, f.last = nil, call.snap
	f.mu.Unlock()
	close(call.done)
}

// groupFacts are facts of single groups, each shared among those who want it at the same time.
type groupFacts struct {
	mu  sync.Mutex
	all map[string]*sharedFacts
}

// groupsAtOnce bounds how many groups' facts are kept for others to share.
const groupsAtOnce = 64

func (g *groupFacts) of(group string) *sharedFacts {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.all[group]
	if f == nil {
		if g.all == nil || len(g.all) >= groupsAtOnce {
			g.all = map[string]*sharedFacts{}
		}
		f = &sharedFacts{}
		g.all[group] = f
	}
	return f
}

// forget lets the next who asks for a group's facts ask anew, whoever has asked.
func (g *groupFacts) forget(group string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, group)
}

func (g *groupFacts) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = nil
}

// groupSnapshot is snapshot of what an overview shows with one group, "" for none.
func (h *Hub) groupSnapshot(ctx context.Context, group string) (*encodedSnapshot, error) {
	ask := func(ctx context.Context) (Snapshot, error) { return h.cfg.GroupFacts(ctx, group) }
	return h.share(ctx, h.few.of(group), ask, h.cfg.Keep/4)
}
