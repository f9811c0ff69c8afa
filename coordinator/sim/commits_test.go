package sim_test

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// commits knows what every group has committed of every partition, by what was acknowledged: an acknowledged commit is
// found until it is overwritten, expires, is deleted, or its topic is. It follows requests, appends and transactions, not
// what the coordinator says about its tables, and compares the two.
type commits struct {
	c     *checks
	keys  map[commitKey]*committed
	order int64 // counts writes, as they reach the log
	// writes are the keys that an append is about; removing are those whose tombstones come next.
	writes   map[opID][]commitKey
	removing map[groupAt][]commitKey
	// decided is what was decided of the open transaction of a producer.
	decided map[int64]event.TxnState
	loaded  map[string]map[commitKey]string
	// unsure is since which event the newest record of a group in the log may not say what the group is.
	unsure map[string]int64
	n      int32 // partitions of __consumer_offsets
	// retentionMs is the retention by which the clean-up job works.
	retentionMs int64
}

type commitKey struct {
	group, topic string
	partition    int32
}

func (k commitKey) String() string { return fmt.Sprintf("%s of %s-%d", k.group, k.topic, k.partition) }

// noOffset stands for a partition of which nothing is committed.
const noOffset = ""

// committed is one partition of one group.
type committed struct {
	// live is what a fetch must answer, liveOrder the write that made it so; removed is the newest write that a removal
	// came after.
	live               string
	liveOrder, removed int64
	// base is the newest write that is known to be in the log for good; maybe are later ones that may be.
	base      string
	baseOrder int64
	maybe     []logged
}

// logged is a value, or a tombstone (noOffset), on its way into the log.
type logged struct {
	ticket   opID
	order    int64
	value    string
	producer int64 // -1 outside of transactions
	decided  event.TxnState
	refused  bool
}

func newCommits(c *checks) *commits {
	return &commits{c: c, keys: map[commitKey]*committed{}, writes: map[opID][]commitKey{}, removing: map[groupAt][]commitKey{},
		decided: map[int64]event.TxnState{}, loaded: map[string]map[commitKey]string{}, unsure: map[string]int64{}}
}

// offsetText puts an offset into words that can be compared.
func offsetText(o event.OffsetValue) string {
	return fmt.Sprintf("%d %s (epoch %d)", o.Offset, o.Metadata, o.LeaderEpoch)
}

func (k *commits) at(key commitKey) *committed {
	p := k.keys[key]
	if p == nil {
		p = &committed{}
		k.keys[key] = p
	}
	return p
}

// apply looks at one event.
func (k *commits) apply(e event.Event) string {
	switch b := e.Body.(type) {
	case event.TopicCreated:
		if b.Topic == "__consumer_offsets" {
			k.n = b.Partitions
		}
	case event.CleanupRan:
		k.retentionMs = b.RetentionMs
	case event.OffsetsPending:
		k.pending(e, b.Append, -1, b.Offsets)
	case event.TxnOffsetsPending:
		k.pending(e, b.Append, b.ProducerID, b.Offsets)
	case event.OffsetsRemoved:
		return k.remove(e, b)
	case event.AppendStarted:
		if at := (groupAt{e.Broker, e.Group}); b.What == "tombstones" && k.removing[at] != nil {
			for _, key := range k.removing[at] {
				k.add(key, logged{ticket: opID{e.Broker, b.Append}, value: noOffset, producer: -1})
			}
			delete(k.removing, at)
		}
	case event.RecordsAppended:
		id := opID{e.Broker, b.Append}
		if u, waits := k.c.appends[id]; waits && b.Append != 0 && b.Topic == "__consumer_offsets" {
			u.written = true
			k.c.appends[id] = u
		}
	case event.OffsetsCommitted:
		return k.visible(e, b)
	case event.TxnStateChanged:
		k.decide(b)
	case event.TxnOffsetsEnded:
		return k.ended(e, b)
	}
	return k.applyLoads(e)
}

// applyLoads follows what becomes of groups, and of their records.
func (k *commits) applyLoads(e event.Event) string {
	switch b := e.Body.(type) {
	case event.GroupLoaded:
		k.loaded[e.Group] = map[commitKey]string{}
	case event.LoadFinished:
		if b.Failed != "" {
			return "a load failed: " + b.Failed
		}
		return k.found(b.Partition)
	case event.BrokerStopped:
		for id := range k.writes {
			if id.broker == b.ID {
				delete(k.writes, id)
			}
		}
		for at := range k.removing {
			if at.broker == b.ID {
				delete(k.removing, at)
			}
		}
	}
	return ""
}

// finished looks at the outcome of an append, while checks still has it under way.
func (k *commits) finished(e event.Event, b event.AppendFinished, u underway) {
	id := opID{e.Broker, b.Append}
	if u.ofGroup {
		// It was to say what is the case now. Where it failed, who knows whether it does; nor does a record that was made
		// before that, with a static member's new id, of which the member knows nothing. And where the group had gone on, a
		// leader has synced twice with two assignments: the first took effect, the second is the newest in the log.
		if b.Code != 0 || b.Ignored {
			k.unsure[e.Group] = e.Seq
		} else if u.seq > k.unsure[e.Group] {
			delete(k.unsure, e.Group)
		}
	}
	for _, key := range k.writes[id] {
		k.settle(key, id, b.Code == 0, u.written)
	}
	delete(k.writes, id)
}

func (k *commits) add(key commitKey, w logged) {
	k.order++
	w.order = k.order
	p := k.at(key)
	p.maybe = append(p.maybe, w)
	k.writes[w.ticket] = append(k.writes[w.ticket], key)
}

func (k *commits) pending(e event.Event, ticket, producer int64, offsets []event.OffsetValue) {
	for _, o := range offsets {
		w := logged{ticket: opID{e.Broker, ticket}, value: offsetText(o), producer: producer}
		if producer >= 0 {
			w.decided = k.decided[producer]
		}
		k.add(commitKey{e.Group, o.Topic, o.Partition}, w)
	}
}

// settle takes the outcome of a write.
func (k *commits) settle(key commitKey, id opID, done, written bool) {
	p := k.at(key)
	i := slices.IndexFunc(p.maybe, func(w logged) bool { return w.ticket == id })
	if i < 0 {
		return // something later is in the log for good
	}
	w := &p.maybe[i]
	switch {
	case !done && written:
		w.refused = true
	case !done:
		p.maybe = slices.Delete(p.maybe, i, i+1)
	case w.producer >= 0:
		// it waits for its marker
	default:
		if w.value != noOffset && w.order > p.removed && w.order > p.liveOrder {
			p.live, p.liveOrder = w.value, w.order
		}
		p.base, p.baseOrder = w.value, w.order
		p.maybe = slices.Delete(p.maybe, 0, i+1)
	}
}

// decide notes what a transaction coordinator has written about a transaction.
func (k *commits) decide(b event.TxnStateChanged) {
	switch b.To {
	case event.TxnPrepareCommit, event.TxnPrepareAbort:
		k.decided[b.ProducerID] = b.To
		for _, p := range k.keys {
			for i := range p.maybe {
				if w := &p.maybe[i]; w.producer == b.ProducerID && w.decided != event.TxnPrepareAbort {
					w.decided = b.To
				}
			}
		}
	default:
		delete(k.decided, b.ProducerID)
	}
}

// ended: a marker makes the values of a transaction visible, or none of them, as was decided.
func (k *commits) ended(e event.Event, b event.TxnOffsetsEnded) string {
	for _, o := range b.Offsets {
		key := commitKey{e.Group, o.Topic, o.Partition}
		p := k.at(key)
		for i := len(p.maybe) - 1; i >= 0; i-- {
			w := p.maybe[i]
			if w.producer != b.ProducerID || w.value != offsetText(o) {
				continue
			}
			if want := w.decided == event.TxnPrepareCommit; want != b.Commit && w.decided != "" {
				return fmt.Sprintf("%s: the transaction of producer %d was decided as %s, and its marker says commit: %t", key, b.ProducerID, w.decided, b.Commit)
			}
			if b.Commit && w.order > p.liveOrder && w.order > p.removed {
				p.live, p.liveOrder = w.value, w.order
				p.base, p.baseOrder = w.value, w.order
			}
			break
		}
		k.forget(p, b.ProducerID, b.Commit)
	}
	return ""
}

// forget drops what a producer has written, since its marker has come. What was refused and yet written may come back with
// a commit.
func (k *commits) forget(p *committed, producer int64, commit bool) {
	p.maybe = slices.DeleteFunc(p.maybe, func(w logged) bool {
		return w.producer == producer && !(commit && w.refused && w.order > p.baseOrder) || w.order <= p.baseOrder && w.producer < 0
	})
}

// remove: nothing is removed but for a reason that holds.
func (k *commits) remove(e event.Event, b event.OffsetsRemoved) string {
	at := groupAt{e.Broker, e.Group}
	for _, o := range b.Offsets {
		key := commitKey{e.Group, o.Topic, o.Partition}
		p := k.at(key)
		if wrong := k.mayExpire(e, b, o, key); wrong != "" {
			return wrong
		}
		p.live, p.liveOrder, p.removed = noOffset, 0, k.order
		k.removing[at] = append(k.removing[at], key)
		if b.Why == event.WhyTopicDeleted && k.c.scene.topics[o.Topic] > o.Partition {
			return fmt.Sprintf("%s was removed with its topic, which is there", key)
		}
	}
	return ""
}

// mayExpire: an offset expires when its retention is over, counted from its commit, or from when the group became Empty.
func (k *commits) mayExpire(e event.Event, b event.OffsetsRemoved, o event.OffsetValue, key commitKey) string {
	if b.Why != event.WhyOffsetsExpired {
		return ""
	}
	g := k.c.scene.at(e.Broker, e.Group)
	switch {
	case g == nil:
		return fmt.Sprintf("%s expired, and broker %d does not have the group", key, e.Broker)
	case o.ExpireMs > 0 && e.AtMs >= o.ExpireMs:
		return ""
	case o.ExpireMs > 0:
		return fmt.Sprintf("%s expired, and was to stay until %d ms", key, o.ExpireMs)
	case e.AtMs-o.CommitMs >= k.retentionMs || g.state == event.Empty && g.generation > 0:
		return ""
	}
	return fmt.Sprintf("%s expired %d ms after its commit at %d ms; its retention is %d ms", key, e.AtMs-o.CommitMs, o.CommitMs, k.retentionMs)
}

// visible compares what the coordinator makes visible with what was acknowledged.
func (k *commits) visible(e event.Event, b event.OffsetsCommitted) string {
	for _, o := range b.Offsets {
		key := commitKey{e.Group, o.Topic, o.Partition}
		if b.Loaded {
			if k.loaded[e.Group] != nil {
				k.loaded[e.Group][key] = offsetText(o)
			}
			continue
		}
		if p := k.at(key); p.live != offsetText(o) {
			return fmt.Sprintf("%s became visible as %q; by what was acknowledged it is %q", key, offsetText(o), p.live)
		}
	}
	return ""
}

// possible are the values that a partition may have when its log is read: the newest one that is known to be in the log,
// or a later one whose outcome nobody was told. Of a transaction only what was decided to be committed counts.
func (p *committed) possible() []logged {
	list := []logged{{value: p.base, order: p.baseOrder, producer: -1}}
	for _, w := range p.maybe {
		if w.producer < 0 || w.decided == event.TxnPrepareCommit {
			list = append(list, w)
		}
	}
	return list
}

func values(list []logged) string {
	var texts []string
	for _, w := range list {
		texts = append(texts, fmt.Sprintf("%q", w.value))
	}
	return strings.Join(texts, ", ")
}

// found compares what a load of a partition brought back with what may be in its log, and goes on from there.
func (k *commits) found(partition int32) string {
	for key, p := range k.keys {
		if record.Partition(key.group, k.n) != partition {
			continue
		}
		got := k.loaded[key.group][key]
		list := p.possible()
		i := len(list) - 1
		for i >= 0 && list[i].value != got {
			i--
		}
		if i < 0 {
			return fmt.Sprintf("%s is loaded as %q; in the log may be %s", key, got, values(list))
		}
		k.c.marks.hit(markCommitSurvived, got != noOffset)
		k.c.marks.hit(markRefusedReturned, i > 0 && list[i].refused)
		p.live, p.liveOrder, p.base, p.baseOrder, p.removed = got, list[i].order, got, list[i].order, 0
		p.maybe = slices.DeleteFunc(p.maybe, func(w logged) bool { return w.producer < 0 || w.decided == event.TxnPrepareAbort })
		if got == noOffset && len(p.maybe) == 0 {
			delete(k.keys, key)
		}
	}
	for group := range k.loaded {
		if record.Partition(group, k.n) == partition {
			delete(k.loaded, group)
			delete(k.unsure, group)
		}
	}
	return ""
}
