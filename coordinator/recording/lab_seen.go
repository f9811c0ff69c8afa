package recording

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

// What a coordinator's facts tell of its clients beside who they are: how they commit, which answers never arrived, which ids
// nobody came back with, how long a log was read.

// load is the reading of a partition of __consumer_offsets.
type load struct{ atMs, reads int64 }

// read takes how long a coordinator reads a partition. The lab takes that long for each piece of it.
func (l *lab) read(e *event.Event) {
	switch b := e.Body.(type) {
	case event.LoadStarted:
		l.loading[b.Partition] = load{atMs: e.AtMs}
	case event.LoadProgressed:
		x := l.loading[b.Partition]
		x.reads++
		l.loading[b.Partition] = x
	case event.LoadFinished:
		if x := l.loading[b.Partition]; x.atMs > 0 && !l.facts {
			l.loadMs = max(l.loadMs, (e.AtMs-x.atMs)/max(x.reads, 1))
		}
		delete(l.loading, b.Partition)
	}
}

// committed notes when a member has committed.
func (l *lab) committed(atMs int64, member string, txn bool) {
	p := l.members[member]
	if p == nil {
		return
	}
	if p.txn = p.txn || txn; len(p.commits) < 100 {
		p.commits = append(p.commits, atMs)
	}
}

// commits are the options of a consumer by how its processes committed: every so often, in transactions.
func (l *lab) commits(name string) (text string) {
	var between []int64
	txn := false
	for _, p := range l.all {
		if p.name != name {
			continue
		}
		txn = txn || p.txn
		for i := 1; i < len(p.commits); i++ {
			between = append(between, p.commits[i]-p.commits[i-1])
		}
	}
	if len(between) > 0 {
		text = fmt.Sprintf(" commit=%dms", rounded(middle(between)))
	}
	if txn {
		text += " transactional=tx-" + name
	}
	return text
}

func middle(list []int64) int64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// rounded is a client's interval as somebody has set it: whole tenths of a second where it is near them.
func rounded(ms int64) int64 {
	if near := (ms + 50) / 100 * 100; near > 0 {
		return near
	}
	return max(ms, 1)
}

// unloaded notes, where a coordinator gives its group up, who is in no record: the next one cannot know them.
func (l *lab) unloaded(why event.Why) {
	if why != event.WhyNotCoordinator {
		return
	}
	for _, p := range l.all {
		if !p.gone && l.members[p.member] == p {
			p.unloaded = true
		}
	}
}

// neverBack is a process to which an id was issued and that was not heard of again: the answer never arrived, and it ended. Until
// the id expires, the group may wait for it.
func (l *lab) neverBack(member string) {
	i := slices.IndexFunc(l.asking, func(a asking) bool { return a.member == member })
	if i < 0 || len(l.all) == 0 {
		l.note("the id %s was issued and nobody came back with it", member)
		return
	}
	a := l.asking[i]
	l.asking = slices.Delete(l.asking, i, i+1)
	like := l.all[0].added
	p := &process{clientID: a.clientID, member: member, version: a.version, gone: true, goneMs: a.atMs,
		added: event.MemberAdded{SessionTimeoutMs: int32(max(a.deadline-a.atMs, 1)), RebalanceTimeoutMs: like.RebalanceTimeoutMs, Protocols: like.Protocols, Topics: like.Topics}}
	p.name = l.nameOf(a.clientID)
	l.all = append(l.all, p)
	l.do(a.atMs-startMs, "drop %s JoinGroup 1 answers", p.name)
	l.do(a.atMs-startMs, "start %s", p.name)
	l.do(a.atMs+latencyMs, "kill %s", p.name)
}

// unanswered are, where the recording ends while the leader's assignment is awaited, those whose SyncGroup never came: the network
// has lost it, or they stand still.
func (l *lab) unanswered() {
	if !l.completing || l.endMs-l.formedMs < 10*latencyMs {
		return
	}
	for _, p := range l.all {
		if !p.gone && p.joinMs <= l.formedMs && p.syncMs < l.formedMs && l.members[p.member] == p {
			l.do(p.joinMs+latencyMs, "drop %s SyncGroup 1", p.name)
			l.note("why no SyncGroup of %s came: the run's network loses one", p.name)
		}
	}
}
