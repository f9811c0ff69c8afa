package view

import "maps"

// Clone copies the picture: what happens to the one afterwards does not touch the other. Facts, names and the lists
// inside facts are never changed, so they are shared.
func (m *Model) Clone() *Model {
	c := *m
	c.Brokers = cloneMap(m.Brokers)
	c.Topics = cloneMap(m.Topics)
	c.Flights = cloneMap(m.Flights)
	c.Clients = cloneMap(m.Clients)
	c.Txns = cloneMap(m.Txns)
	c.Tapes = make(map[int32]*Tape, len(m.Tapes))
	for k, t := range m.Tapes {
		c.Tapes[k] = t.clone()
	}
	c.still = maps.Clone(m.still)
	c.Groups = make(map[string]*Group, len(m.Groups))
	for k, g := range m.Groups {
		c.Groups[k] = g.clone()
	}
	c.Lines, c.Inputs, c.Gaps = capped(m.Lines), capped(m.Inputs), capped(m.Gaps)
	if m.watcher != nil {
		c.watcher = m.watcher.clone()
	}
	if m.knock != nil {
		knock := *m.knock
		c.knock = &knock
	}
	return &c
}

func (t *Tape) clone() *Tape {
	c := *t
	c.Records = copied(t.Records)
	c.Ends, c.latest, c.alive = maps.Clone(t.Ends), maps.Clone(t.latest), maps.Clone(t.alive)
	c.Loads = cloneMap(t.Loads)
	for _, l := range c.Loads {
		l.Answers = copied(l.Answers)
	}
	return &c
}

func (g *Group) clone() *Group {
	c := *g
	c.Members, c.Pending, c.Join, c.Sync = clonePointers(g.Members), clonePointers(g.Pending), clonePointers(g.Join), clonePointers(g.Sync)
	c.Ops, c.Offsets, c.Appends = clonePointers(g.Ops), clonePointers(g.Offsets), clonePointers(g.Appends)
	for _, row := range c.Offsets {
		row.Pending, row.Txn = copied(row.Pending), copied(row.Txn)
	}
	c.Sidings = clonePointers(g.Sidings)
	for _, s := range c.Sidings {
		s.Offsets = copied(s.Offsets)
	}
	for _, mb := range c.Members {
		mb.Earlier = copied(mb.Earlier)
	}
	if g.Failed != nil {
		failed := *g.Failed
		failed.Answers = copied(failed.Answers)
		c.Failed = &failed
	}
	c.Ledger, c.Generations, c.States = copied(g.Ledger), copied(g.Generations), copied(g.States)
	c.Marks, c.Messages, c.Pauses = capped(g.Marks), capped(g.Messages), capped(g.Pauses)
	c.Lanes, c.names = clonePointers(g.Lanes), nil
	for _, l := range c.Lanes {
		l.Spans = copied(l.Spans)
	}
	return &c
}

// capped shares a list whose elements never change; growing the copy makes a new one.
func capped[T any](list []T) []T { return list[:len(list):len(list)] }

func copied[T any](list []T) []T { return append([]T(nil), list...) }

func clonePointers[T any](list []*T) []*T {
	if list == nil {
		return nil
	}
	c := make([]*T, len(list))
	values := make([]T, len(list))
	for i, p := range list {
		values[i] = *p
		c[i] = &values[i]
	}
	return c
}

func cloneMap[K comparable, V any](m map[K]*V) map[K]*V {
	c := make(map[K]*V, len(m))
	for k, p := range m {
		v := *p
		c[k] = &v
	}
	return c
}
