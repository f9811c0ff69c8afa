package timeline

import (
	"bytes"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// What a KIP-848 group did before somebody looked stands in the log, record by record, as far as compaction has left it alone:
// from the last hole on each append is there as it was written. It is kept while a partition is read for the first time, and told
// at the end, when it is known that no hole follows.

// mostRecent bounds how many records of one partition are kept for that.
const mostRecent = 50_000

// recentRecord is a record of a KIP-848 group that is young, and behind which no hole has been seen.
type recentRecord struct {
	modernRecord
	group string
	atMs  int64
}

// keepRecent keeps a record of the first reading, if it is young enough to be told. What lies before a hole is no history.
func (t *Timeline) keepRecent(p *partition, name string, m modernRecord, atMs int64) bool {
	if p.hole > p.recentHole || len(p.recent) >= mostRecent {
		t.settleRecent(p)
		p.recentHole = p.hole
	}
	if p.tail || atMs < t.nowMs-t.cfg.HistoryMs {
		t.settleRecent(p) // what comes later is later
		return false
	}
	m.value = bytes.Clone(m.value)
	p.recent = append(p.recent, recentRecord{m, name, atMs})
	return true
}

// settleRecent makes what was kept a part of the groups, without a word.
func (t *Timeline) settleRecent(p *partition) {
	for _, r := range p.recent {
		t.loadModern(p, t.of(p, r.group), r.modernRecord, &Record{TimestampMs: r.atMs})
	}
	p.recent = nil
}

// tellRecent tells of what was kept, append by append: of a group that was made since then at once, of another one from the
// moment on at which all of it is known.
func (t *Timeline) tellRecent(p *partition) {
	list := p.recent
	p.recent = nil
	for i := 0; i < len(list); {
		n := i + 1
		for n < len(list) && list[n].group == list[i].group && list[n].atMs == list[i].atMs {
			n++
		}
		t.tellRecentStep(p, list[i:n])
		i = n
	}
}

func (t *Timeline) tellRecentStep(p *partition, list []recentRecord) {
	g, atMs := t.of(p, list[0].group), list[0].atMs
	step := make([]modernRecord, len(list))
	for i := range list {
		step[i] = list[i].modernRecord
	}
	if !g.told && g.modern != nil && g.modern.whole() {
		t.tellModernBaseline(g, p.seq)
	}
	if g.told && g.modern != nil || !g.told && g.modern == nil && !g.hasRecord && begins(step) {
		t.modernStep(g, step, atMs, "")
		t.forgetIfNothing(p, g, when{atMs, atMs, event.Inferred}, event.WhyNothingLeft, 0)
		return
	}
	for _, r := range step {
		t.loadModern(p, g, r, &Record{TimestampMs: atMs})
	}
}

// begins tells whether an append makes a group: its first epoch is in it.
func begins(step []modernRecord) bool {
	for _, r := range step {
		if r.key.Kind == record.ConsumerGroupMetadata && r.value != nil {
			v, err := record.DecodeModernGroup(r.value)
			return err == nil && v.Epoch == 1
		}
	}
	return false
}

// whole tells whether all of a group is known: compaction has taken no part of it away.
func (x *modern) whole() bool {
	if x.epoch < 1 || x.target < 1 {
		return false
	}
	for _, m := range x.members {
		if !m.known || m.current.Epoch == -1 {
			return false
		}
	}
	return true
}
