package sim_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/sim"
)

// place is a partition that a group commits.
type place struct {
	group, topic string
	partition    int32
}

// registers are the registers of all places and the operations on them that have not been looked at yet. Times are twice
// an event's Seq; what probe reads lies between events.
type registers struct {
	lines map[place]*[2]line // for stable reads, for all others
	seq   int64              // of the last event
	full  []*line            // those with enough operations to look at

	// fetches are what probe asks, for so many places.
	fetches []*kmsg.OffsetFetchRequest
	asksFor int

	checked, windows, widest int
}

// line is one register and its operations since it was looked at last.
type line struct {
	of   *registers
	name string
	ops  []porcupine.Operation
	// ends are the states that it may have had before them, at the time cut.
	ends []register
	cut  int64
	// busy counts what has begun and will be told as having happened before that moment: meanwhile there is no cut.
	busy int
	// seen is what probe read last where nothing has happened since.
	seen   value
	unseen bool
	isFull bool
}

// windowOps is how many operations of a register are put into order together, unless it is busy; mostOps is far more than
// can come together before it is not.
const (
	windowOps = 48
	mostOps   = 20_000
)

func newRegisters() registers { return registers{lines: map[place]*[2]line{}} }

func (r *registers) pair(p place) *[2]line {
	pair := r.lines[p]
	if pair == nil {
		pair = &[2]line{}
		for i, kind := range []string{"as stable reads see it", "as other reads see it"} {
			pair[i] = line{of: r, unseen: true, ends: []register{{now: dated{none, 0}}},
				name: fmt.Sprintf("the offset of %s-%d in group %s, %s,", p.topic, p.partition, p.group, kind)}
		}
		r.lines[p] = pair
	}
	return pair
}

func (r *registers) line(p place, stable bool) *line {
	if stable {
		return &r.pair(p)[0]
	}
	return &r.pair(p)[1]
}

// both does something to both registers of a place.
func (r *registers) both(p place, do func(*line)) {
	pair := r.pair(p)
	do(&pair[0])
	do(&pair[1])
}

// add notes an operation that was called at one event and was over at another. Whoever called it earlier than the cut
// cannot have had an effect before it.
func (l *line) add(op operation, call, over int64) { l.put(op, 2*call, 2*over) }

func (l *line) put(op operation, call, over int64) {
	l.ops = append(l.ops, porcupine.Operation{Input: op, Call: max(call, l.cut+1), Return: over})
	l.unseen = true
	if len(l.ops) >= windowOps && !l.isFull {
		l.isFull = true
		l.of.full = append(l.of.full, l)
	}
}

// look puts the operations of those registers into order that have enough of them. It is called between two events.
func (r *registers) look() string {
	waiting := r.full[:0]
	for _, l := range r.full {
		switch {
		case len(l.ops) > mostOps:
			return fmt.Sprintf("%s is never at rest: %d operations wait for the outcome of another", l.name, len(l.ops))
		case l.busy > 0:
			waiting = append(waiting, l)
		default:
			l.isFull = false
			if wrong := r.order(l); wrong != "" {
				return wrong
			}
		}
	}
	r.full = waiting
	return ""
}

// order finds out in which states a register can be after its operations, and forgets them.
func (r *registers) order(l *line) string {
	inTurn(l.ops)
	var ends []register
	for _, from := range l.ends {
		for _, end := range from.outcomes(l.ops) {
			if !slices.ContainsFunc(ends, end.equal) {
				ends = append(ends, end)
			}
		}
	}
	if len(ends) == 0 {
		return explain(l.name, l.ends, l.ops)
	}
	r.checked += len(l.ops)
	r.windows++
	r.widest = max(r.widest, len(l.ops))
	l.ops, l.ends, l.cut = nil, ends, 2*r.seq+1
	return ""
}

// rest looks at everything that is left.
func (r *registers) rest() string {
	for _, p := range sortedPlaces(r.lines) {
		for i := range r.lines[p] {
			if wrong := r.order(&r.lines[p][i]); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// probe asks every coordinator for every offset that was ever committed, as a reader of each kind would.
func (r *registers) probe(w *sim.World) {
	for _, q := range r.questions() {
		for broker := int32(1); broker <= w.Drive().Cluster().Brokers(); broker++ {
			p := w.Drive().Probe(w.NowMs(), broker, coordinator.Request{ClientID: "probe", Kmsg: q})
			reply, ok := p.Reply.(*kmsg.OffsetFetchResponse)
			if !ok || reply.Groups[0].ErrorCode != 0 {
				continue
			}
			for _, t := range reply.Groups[0].Topics {
				for _, o := range t.Partitions {
					if o.ErrorCode == 0 {
						r.line(place{reply.Groups[0].Group, t.Topic, o.Partition}, q.RequireStable).saw(broker, value{o.Offset, o.LeaderEpoch, *o.Metadata})
					}
				}
			}
		}
	}
}

// saw notes what a probe read, unless that is what the one before read and nothing has happened since.
func (l *line) saw(broker int32, v value) {
	if !l.unseen && l.seen == v {
		return
	}
	at := 2*l.of.seq + 1
	l.put(operation{effect: reads, dated: dated{value: v}, who: fmt.Sprintf("a look at broker %d", broker)}, at, at)
	l.seen, l.unseen = v, false
}

// questions are the OffsetFetches that ask for every place, of both kinds.
func (r *registers) questions() []*kmsg.OffsetFetchRequest {
	if r.asksFor == len(r.lines) {
		return r.fetches
	}
	r.asksFor, r.fetches = len(r.lines), nil
	for _, p := range sortedPlaces(r.lines) {
		if n := len(r.fetches); n == 0 || r.fetches[n-1].Groups[0].Group != p.group {
			for _, stable := range []bool{true, false} {
				q := kmsg.NewPtrOffsetFetchRequest()
				q.Version, q.RequireStable = 9, stable
				q.Groups = []kmsg.OffsetFetchRequestGroup{{Group: p.group, MemberEpoch: -1}}
				r.fetches = append(r.fetches, q)
			}
		}
		for _, q := range r.fetches[len(r.fetches)-2:] {
			g := &q.Groups[0]
			if n := len(g.Topics); n == 0 || g.Topics[n-1].Topic != p.topic {
				g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: p.topic})
			}
			t := &g.Topics[len(g.Topics)-1]
			t.Partitions = append(t.Partitions, p.partition)
		}
	}
	return r.fetches
}

func sortedPlaces[V any](m map[place]V) []place {
	return slices.SortedFunc(maps.Keys(m), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
}
