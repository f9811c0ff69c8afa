package view

import (
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// owner is what one broker has to do with the group's offsets partition.
type owner struct {
	ID        int32
	Sign      string
	Text      string
	Log       string
	Class     string
	Bar       float64 // how far a load is, -1 where none runs
	Notes     []string
	Says, Key string
}

// sum is the arithmetic that finds a group's partition.
type sum struct {
	Hash     string
	Of       int32
	Result   string
	Negative bool // then the arithmetic goes over the absolute value
}

func (s *stage) sum() sum {
	of := int32(50)
	if t := s.m.Topics[offsetsTopic]; t != nil && t.Partitions > 0 {
		of = t.Partitions
	}
	h := javaHash(s.g.Name)
	return sum{Hash: group3(int64(h)), Of: of, Result: num(partitionOf(s.g.Name, of)), Negative: h < 0}
}

// owners are the brokers that hold the group's partition, its leader among them.
func (s *stage) owners() []owner {
	if s.g == nil {
		return nil
	}
	t := s.m.Tapes[s.partition()]
	var list []owner
	for _, id := range s.m.BrokerIDs() {
		if t != nil && len(t.Replicas) > 0 && !slices.Contains(t.Replicas, id) {
			continue
		}
		list = append(list, s.owner(t, s.m.Brokers[id]))
	}
	return list
}

func (s *stage) owner(t *Tape, b *Broker) owner {
	o := owner{ID: b.ID, Bar: -1, Key: "broker:" + num(b.ID)}
	if t != nil {
		o.Log = num(t.Ends[b.ID]) + " / " + num(t.EndOffset)
	}
	switch {
	case !b.Up && b.Killed && !b.Fenced && b.NoticedByMs > s.m.NowMs:
		o.Sign, o.Class, o.Text = "down", "owner-down", s.t("owner.unnoticed", s.left(b.NoticedByMs))
	case !b.Up:
		o.Sign, o.Class, o.Text = "down", "owner-down", s.t("owner.down")
	case t == nil:
		o.Sign, o.Text = "none", s.t("owner.nothing")
	default:
		s.ownerUp(t, b, &o)
	}
	o.Says = s.t("broker", num(b.ID)) + ": " + o.Text
	return o
}

func (s *stage) ownerUp(t *Tape, b *Broker, o *owner) {
	load := t.Loads[b.ID]
	switch {
	case t.Leader == b.ID && load != nil && load.State == Loading:
		o.Sign, o.Class, o.Text = "loading", "owner-loading", s.t("owner.loading", num(load.Records))
		o.Notes = s.meanwhile(load)
		o.Log, o.Bar = num(load.Offset)+" / "+num(load.End), 1
		if load.End > 0 {
			o.Bar = float64(load.Offset) / float64(load.End)
		}
	case t.Leader == b.ID && load != nil && load.State == Owned:
		o.Sign, o.Class, o.Text = "owned", "owner-owned", s.t("owner.owned", num(t.Epoch))
		switch {
		case load.Failed != "":
			o.Notes = []string{s.t("owner.failed", plainText(load.Failed, 120))}
		case load.TookMs > 0:
			o.Notes = s.meanwhile(load)
			if t.Failover.LostMs == 0 {
				o.Notes = append([]string{s.loaded(load)}, o.Notes...)
			} else if s.failover() == nil {
				o.Notes = nil // long ago
			}
		}
	case t.Leader == b.ID:
		o.Sign, o.Class, o.Text = "leader", "owner-leader", s.t("owner.leader")
	case load != nil && load.State == Unloaded:
		o.Sign, o.Text = "unloaded", s.t("owner.unloaded")
	case len(t.ISR) > 0 && !slices.Contains(t.ISR, b.ID):
		o.Sign, o.Class, o.Text = "replica", "owner-behind", s.t("owner.behind")
	default:
		o.Sign, o.Text = "replica", s.t("owner.replica")
	}
}

// loaded says what was read.
func (s *stage) loaded(l *Load) string {
	return s.t("owner.loaded", num(l.Records), s.dur(l.TookMs), num(l.Groups), num(l.Offsets))
}

// meanwhile is what was answered while the log was read.
func (s *stage) meanwhile(l *Load) []string {
	var list []string
	told := map[int16]bool{}
	for _, a := range l.Answers {
		if told[a.Code] {
			continue
		}
		told[a.Code] = true
		var who []string
		for _, b := range l.Answers {
			if b.Code == a.Code {
				who = append(who, event.APIName(b.API)+" ×"+num(b.Count))
			}
		}
		list = append(list, s.t("owner.answered", event.CodeName(a.Code), strings.Join(who, s.t("comma"))))
	}
	return list
}

// loader is the broker that reads the group's partition at the moment, 0 where none does.
func (s *stage) loader() int32 {
	if s.g == nil {
		return 0
	}
	if t := s.m.Tapes[s.partition()]; t != nil && t.Leader > 0 && t.Loads[t.Leader] != nil && t.Loads[t.Leader].State == Loading {
		return t.Leader
	}
	return 0
}

// matrixRows is the most partitions that the matrix of ownership has.
const matrixRows = 8

// matrixRow is one offsets partition that has a group.
type matrixRow struct {
	Partition int32
	Cells     []owner
	Epoch     string
	Groups    string
	Here      bool // the group on stage lives here
}

// matrix are the offsets partitions that have groups, and how many more there are.
func (s *stage) matrix() (rows []matrixRow, more int) {
	groups := map[int32][]string{}
	for _, name := range s.m.GroupNames() {
		if g := s.m.Groups[name]; s.m.Tapes[g.Partition] != nil && (g.Broker != 0 || len(g.States) > 0) {
			groups[g.Partition] = append(groups[g.Partition], name)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(groups)) {
		if len(rows) == matrixRows && p != s.partition() {
			more++
			continue
		}
		t := s.m.Tapes[p]
		row := matrixRow{Partition: p, Epoch: num(t.Epoch), Groups: short(groups[p][0], 12), Here: p == s.partition()}
		if n := len(groups[p]) - 1; n > 0 {
			row.Groups += " +" + num(n)
		}
		for _, id := range s.m.BrokerIDs() {
			c := owner{ID: id}
			if len(t.Replicas) == 0 || slices.Contains(t.Replicas, id) {
				c = s.owner(t, s.m.Brokers[id])
			}
			row.Cells = append(row.Cells, c)
		}
		rows = append(rows, row)
	}
	return rows, more
}
