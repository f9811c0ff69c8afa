package txn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"grouplab/coordinator/event"
)

// Producers, failures of appends and markers, moves of the partition and copies, at random: every request is answered
// once; what was decided is what the markers say, in every partition (decided); a copy goes on as its original; the log gives back what is live; in the end nothing is left open.
func TestTransactionsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{w: newWorld(t), t: t, producers: map[string]kmsg.InitProducerIDResponse{}}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			m.step()
			m.check()
		}
		m.calm()
	})
}

type model struct {
	w         *world
	t         *rapid.T
	producers map[string]kmsg.InitProducerIDResponse
	asked     []int64
}

var names = []string{"a", "b", "c"}

func (m *model) step() {
	w := m.w
	name := rapid.SampledFrom(names).Draw(m.t, "id")
	p := m.producers[name]
	failure := rapid.SampledFrom([]int16{0, 0, 0, 0, codeNotEnoughReplicas, codeNotLeaderOrFollower}).Draw(m.t, "failure")
	switch rapid.IntRange(0, 11).Draw(m.t, "what") {
	case 0:
		m.ask(initReq(name, rapid.SampledFrom([]int32{1000, 60_000}).Draw(m.t, "timeout")))
	case 1, 2:
		m.ask(addReq(name, p.ProducerID, p.ProducerEpoch, rapid.SampledFrom([]string{"t", "u"}).Draw(m.t, "topic"), rapid.Int32Range(0, 1).Draw(m.t, "partition")))
	case 3:
		m.ask(offsetsReq(name, p.ProducerID, p.ProducerEpoch, "g"))
	case 4:
		m.ask(endReq(name, p.ProducerID, p.ProducerEpoch, rapid.Bool().Draw(m.t, "commit")))
	case 5, 6, 7:
		if len(w.appends) > 0 {
			w.append(failure)
		}
	case 8, 9:
		if len(w.markers) > 0 {
			w.mark(failure)
		}
	case 10:
		w.to(w.nowMs + rapid.Int64Range(0, 20_000).Draw(m.t, "ms"))
	case 11:
		m.compareCopy()
		w.c.Emigrate(w.nowMs, 0, w.epoch+1)
		w.epoch++
		w.take()
		w.lead()
	}
	m.learn()
}

func (m *model) ask(q kmsg.Request) { m.asked = append(m.asked, m.w.ask(q)) }

// learn gives the answers of InitProducerId to the producers.
func (m *model) learn() {
	for _, ticket := range m.asked {
		if r, ok := m.w.replies[ticket]; ok {
			if init, ok := r.Kmsg.(*kmsg.InitProducerIDResponse); ok && init.ErrorCode == 0 {
				for name, t := range m.w.c.txns {
					if t.producerID == init.ProducerID {
						m.producers[name] = *init
					}
				}
			}
		}
	}
}

// check looks at what must hold at every moment.
func (m *model) check() {
	for _, t := range m.w.c.txns {
		if t.state == event.TxnPrepareCommit || t.state == event.TxnPrepareAbort {
			if t.pending == nil || t.pending.state != completed(t.state == event.TxnPrepareCommit) {
				m.t.Fatalf("%s is decided and does not end", t.id)
			}
		}
		if t.state == event.TxnEmpty && len(t.partitions) > 0 || t.state == event.TxnOngoing && len(t.partitions) == 0 {
			m.t.Fatalf("%s is %s with %v", t.id, t.state, t.partitions)
		}
	}
	for _, marker := range m.w.c.markers {
		if t := m.w.c.txns[marker.id]; t == nil || t.state != prepared(marker.commit) {
			m.t.Fatalf("a marker of %s that is not decided so", marker.id)
		}
	}
}

// compareCopy lets a copy and its original take the same way.
func (m *model) compareCopy() {
	numbers := m.w.c.cfg.Numbers.Clone()
	copied := m.w.c.Clone(numbers)
	for i, c := range []*Coordinator{copied, m.w.c.Clone(m.w.c.cfg.Numbers.Clone())} {
		c.Handle(m.w.nowMs, Request{Ticket: 1 << 40, Kmsg: initReq("copy", 1000)})
		c.Advance(m.w.nowMs + 50_000)
		if i == 0 {
			copied = c
			continue
		}
		if a, b := fmt.Sprintf("%+v", copied.Take().Events), fmt.Sprintf("%+v", c.Take().Events); a != b {
			m.t.Fatalf("two copies went different ways:\n%s\n%s", a, b)
		}
	}
	if m.w.c.txns["copy"] != nil {
		m.t.Fatalf("a copy reached its original")
	}
}

// calm lets everything through, and everything end.
func (m *model) calm() {
	w := m.w
	for range 3 {
		w.settle()
		w.to(w.nowMs + 100_000)
	}
	w.settle()
	for _, ticket := range m.asked {
		if _, ok := w.replies[ticket]; !ok {
			m.t.Fatalf("request %d was never answered", ticket)
		}
	}
	for _, t := range w.c.txns {
		if t.pending != nil || !expirable(t.state) {
			m.t.Fatalf("%s is left as %s", t.id, w.state(t.id))
		}
	}
	if len(w.c.appends)+len(w.c.markers)+len(w.c.retries)+len(w.c.batches) != 0 {
		m.t.Fatalf("left: %d appends, %d markers, %d retries, %d batches", len(w.c.appends), len(w.c.markers), len(w.c.retries), len(w.c.batches))
	}
	var live []string
	for _, line := range strings.Split(w.picture(), "\n") {
		if !strings.Contains(line, "/-1 ") { // an id whose first record was never written
			live = append(live, line)
		}
	}
	w.lead()
	if loaded := w.picture(); loaded != strings.Join(live, "\n") {
		m.t.Fatalf("live\n%s\nloaded\n%s", strings.Join(live, "\n"), loaded)
	}
}
