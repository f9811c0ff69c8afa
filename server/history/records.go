package history

import (
	"container/list"

	"grouplab/coordinator/event"
)

// record is a remembered generation.
type record struct {
	group *group
	body  event.GenerationRecorded
	atMs  int64
	at    *list.Element // in History.all
	told  bool          // it is in History.told
	// counted is set once it is among the totals: a cause that is corrected later moves no count, which only rise.
	counted bool
}

// hour counts what happened in one hour.
type hour struct {
	number     int64
	rebalances int
	lostMs     int64
}

// hour finds the count of the hour of a moment.
func (g *group) hour(atMs int64) *hour {
	n := max(atMs, 0) / hourMs
	h := &g.hours[n%int64(len(g.hours))]
	if h.number < n {
		*h = hour{number: n}
	}
	return h
}

// day sums the last 24 hours, those begun included.
func (g *group) day(nowMs int64) (rebalances int, lostMs int64) {
	oldest := nowMs/hourMs - 24
	for i := range g.hours {
		if g.hours[i].number > oldest {
			rebalances, lostMs = rebalances+g.hours[i].rebalances, lostMs+g.hours[i].lostMs
		}
	}
	return rebalances, lostMs
}

// remember keeps a generation, and forgets the oldest where there are too many.
func (h *History) remember(g *group, body event.GenerationRecorded) {
	r := &record{group: g, body: body, atMs: max(body.SettledMs, body.JoinedMs, body.StartedMs)}
	for _, l := range body.Lost {
		h.totals.LostMs[l.Why] += l.PartitionMs
		g.hour(r.atMs).lostMs += l.PartitionMs
	}
	g.records = append(g.records, r)
	r.at = h.all.PushBack(r)
	if len(g.records) > h.cfg.GroupGenerations {
		h.drop(g.records[0])
	}
	if h.all.Len() > h.cfg.Generations {
		h.drop(h.all.Front().Value.(*record))
	}
	h.tell(r)
	h.touch(g, false)
}

func (h *History) tell(r *record) {
	if !r.told {
		r.told = true
		h.told = append(h.told, r)
	}
}

// drop forgets a record: it is the oldest of its group.
func (h *History) drop(r *record) {
	g := r.group
	h.all.Remove(r.at)
	if g.records[0] = nil; len(g.records) == 1 {
		g.records = nil
	} else {
		g.records = g.records[1:]
	}
	h.dropGroup(g)
}

// dropGroup forgets a group that is gone, was told to be, and of which nothing is remembered.
func (h *History) dropGroup(g *group) {
	if g.gone && !g.listed && len(g.records) == 0 && h.groups[g.name] == g {
		delete(h.groups, g.name)
	}
}

// age forgets what is too old.
func (h *History) age() {
	for front := h.all.Front(); front != nil; front = h.all.Front() {
		r := front.Value.(*record)
		if h.nowMs-r.atMs <= h.cfg.KeepMs {
			return
		}
		h.drop(r)
	}
}
