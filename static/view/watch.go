package view

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// Watch is what only the page of a running cluster folds: lists of groups, generations of a day, what an observer sees and
// what that costs, consumer groups (KIP-848). A lesson's model has none, and a lesson's program does not carry it.
type Watch struct {
	// Cluster is the cluster that is observed; nil where the brokers themselves tell.
	Cluster *event.ClusterAttached
	// Cost is what observing costs, measured at CostMs; nil before it was measured.
	Cost   *event.CostMeasured
	CostMs int64
	// Sights are what is not seen now, by source.
	Sights []Sight
	// Groups are all that were told of, by name.
	Groups map[string]*Watched

	names []string   // of Groups, sorted
	lines []listLine // those of the last list, to be written over
	// version rises with what the list shows; list is what was listed last, for what.
	version int
	list    *listed
	listKey listKey
}

// Sight is something that is not seen, since when and why.
type Sight struct {
	event.SightChanged
	AtMs int64
}

// Watched is what is told of one group beside the facts of its coordinator.
type Watched struct {
	Name string
	// Summary is its line in the list, told at SummaryMs; nil where none was told.
	Summary   *event.GroupSummarized
	SummaryMs int64
	Listed    event.GroupListed
	// Records are its generations, oldest first, at most maxRecords; Causes what was concluded, by generation.
	Records []Record
	Causes  map[int32]event.CauseInferred
	// Awaited is whom the rebalance under way waits for, as far as that is known from outside; nil where nothing was said.
	Awaited   *event.AwaitedSeen
	AwaitedMs int64
	// Lags by topic.
	Lags map[string]*Lag
	// Modern is set for a consumer group (KIP-848).
	Modern *Modern

	hay string // what the search looks through
}

// Record is one generation, or epoch, and how it is known.
type Record struct {
	event.GenerationRecorded
	Seq   int64
	Truth event.Truth
}

// Lag is how far a group is behind in one topic, measured at AtMs.
type Lag struct {
	event.LagMeasured
	AtMs  int64
	Truth event.Truth
}

// Modern is a consumer group's reconciliation (KIP-848).
type Modern struct {
	// Epoch is the group's, Target that of the target assignment; Moved is how many partitions got another target with it.
	Epoch, Target int32
	Moved         int
	Bumped        event.EpochBumped
	BumpedMs      int64
	TargetMs      int64
	Targets       []event.Assignment
	Members       map[string]event.MemberReconciled
}

// maxRecords bounds a group's generations.
const maxRecords = 2000

// watcher is Watch to the fold, so that a lesson's program need not carry it.
type watcher interface {
	apply(m *Model, e event.Event)
	begin()
	clone() watcher
}

// NewLiveModel returns the picture of a running cluster of which nothing is known yet.
func NewLiveModel() *Model {
	m := NewModel()
	m.watcher = &Watch{Groups: map[string]*Watched{}}
	return m
}

// Watch is what only a running cluster's page folds, nil for a lesson's model.
func (m *Model) Watch() *Watch {
	w, _ := m.watcher.(*Watch)
	return w
}

// begin forgets what facts say anew. Generations stay: what is told again replaces them.
func (w *Watch) begin() {
	w.Cluster, w.Sights = nil, nil
	for _, g := range w.Groups {
		g.Summary, g.Modern, g.Lags, g.Awaited = nil, nil, nil, nil
	}
	w.version++
}

func (w *Watch) clone() watcher {
	c := *w
	c.Sights, c.names, c.lines, c.list = copied(w.Sights), copied(w.names), nil, nil
	c.Groups = make(map[string]*Watched, len(w.Groups))
	for name, g := range w.Groups {
		c.Groups[name] = g.clone()
	}
	return &c
}

func (g *Watched) clone() *Watched {
	c := *g
	c.Records = copied(g.Records)
	c.Causes, c.Lags = map[int32]event.CauseInferred{}, map[string]*Lag{}
	for k, v := range g.Causes {
		c.Causes[k] = v
	}
	for k, v := range g.Lags {
		c.Lags[k] = v
	}
	if g.Modern != nil {
		c.Modern = g.Modern.clone()
	}
	return &c
}

func (m *Modern) clone() *Modern {
	c := *m
	c.Members = make(map[string]event.MemberReconciled, len(m.Members))
	for id, r := range m.Members {
		c.Members[id] = r
	}
	return &c
}

// watched finds or makes the group of a name.
func (w *Watch) watched(name string) *Watched {
	g := w.Groups[name]
	if g == nil {
		g = &Watched{Name: name}
		w.Groups[name] = g
		at, _ := slices.BinarySearch(w.names, name)
		w.names = slices.Insert(w.names, at, name)
		g.search()
	}
	return g
}

// search gathers what the search looks through.
func (g *Watched) search() {
	var b strings.Builder
	b.WriteString(g.Name)
	if s := g.Summary; s != nil {
		for _, list := range [][]string{s.Topics, s.Clients, s.Awaited} {
			for _, text := range list {
				b.WriteByte('\n')
				b.WriteString(text)
			}
		}
		b.WriteString("\n" + s.Member)
	}
	g.hay = strings.ToLower(b.String())
}

// apply folds one fact.
func (w *Watch) apply(m *Model, e event.Event) {
	switch b := e.Body.(type) {
	case event.ClusterAttached:
		w.Cluster = &b
	case event.SightChanged:
		w.see(e, b)
	case event.CostMeasured:
		w.Cost, w.CostMs = &b, e.AtMs
	default:
		if e.Group == "" {
			return
		}
		w.applyGroup(m, w.watched(e.Group), e)
	}
}

func (w *Watch) see(e event.Event, b event.SightChanged) {
	w.Sights = without(w.Sights, func(s Sight) bool { return s.Source == b.Source })
	if b.Lost {
		if b.SinceMs == 0 {
			b.SinceMs = e.AtMs
		}
		w.Sights = append(w.Sights, Sight{b, e.AtMs})
	}
}

func (w *Watch) applyGroup(m *Model, g *Watched, e event.Event) {
	w.version++
	switch b := e.Body.(type) {
	case event.GroupSummarized:
		g.Summary, g.SummaryMs = &b, e.AtMs
		g.search()
	case event.GroupListed:
		g.Listed = b
	case event.GenerationRecorded:
		g.record(Record{b, e.Seq, e.Truth})
	case event.CauseInferred:
		if g.Causes == nil {
			g.Causes = map[int32]event.CauseInferred{}
		}
		g.Causes[b.Generation] = b
	case event.AwaitedSeen:
		g.Awaited, g.AwaitedMs = &b, e.AtMs
	case event.LagMeasured:
		if g.Lags == nil {
			g.Lags = map[string]*Lag{}
		}
		g.Lags[b.Topic] = &Lag{b, e.AtMs, e.Truth}
	default:
		g.reconcile(m, e)
	}
}

// record takes a generation in; one that is told again replaces what was known of it.
func (g *Watched) record(r Record) {
	for i := len(g.Records) - 1; i >= 0; i-- {
		old := &g.Records[i]
		if old.Generation == r.Generation && old.StartedMs == r.StartedMs {
			*old = r
			return
		}
		if old.StartedMs <= r.StartedMs {
			g.Records = slices.Insert(g.Records, i+1, r)
			g.Records = keep(g.Records, maxRecords)
			return
		}
	}
	g.Records = slices.Insert(g.Records, 0, r)
}
