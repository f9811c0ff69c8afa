package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// timersOnly is a loop of which only the timers are used.
type timersOnly struct {
	Loop
	due map[int64]func(nowMs int64)
	at  int64
}

func (l *timersOnly) At(deadlineMs int64, work func(nowMs int64)) int64 {
	l.at++
	l.due[l.at] = work
	return l.at
}

func (l *timersOnly) Cancel(timer int64) { delete(l.due, timer) }

// turn runs what is due and returns how much that was.
func (l *timersOnly) turn(nowMs int64) (n int) {
	due := l.due
	l.due = map[int64]func(int64){}
	for _, work := range due {
		n++
		work(nowMs)
	}
	return n
}

// TestLongRequestsLetOthersIn: a request that changes the cluster again and again gives the loop back between a few changes, does
// everything once and in order, and ends with its connection.
func TestLongRequestsLetOthersIn(t *testing.T) {
	l := &timersOnly{due: map[int64]func(int64){}}
	s, c, did, done := &Server{loop: l}, &call{}, 0, false
	step := func(cost int) func(int64, int) int {
		return func(_ int64, i int) int {
			if i != did {
				t.Fatalf("row %d came after %d others", i, did)
			}
			did++
			return cost
		}
	}
	s.inTurns(c, 1, 100, step(costChange), func() { done = true })
	if did != costPerTurn/costChange || done {
		t.Fatalf("%d changes in the first turn, not %d; done: %v", did, costPerTurn/costChange, done)
	}
	turns := 1
	for ; l.turn(2) > 0; turns++ {
	}
	if want := (100*costChange + costPerTurn - 1) / costPerTurn; did != 100 || !done || turns != want {
		t.Errorf("%d of 100 changes in %d turns, not %d; done: %v", did, turns, want, done)
	}

	did, done = 0, false
	s.inTurns(c, 1, 100, step(costChange), func() { done = true })
	c.abandon()
	if l.turn(2) > 0 || done {
		t.Errorf("a request went on after its connection was over")
	}

	did, done = 0, false
	s.inTurns(c, 1, costPerTurn, step(1), func() { done = true })
	if did != costPerTurn || !done {
		t.Errorf("%d of %d cheap rows at once; done: %v", did, costPerTurn, done)
	}
}

// settingsOnly is a cluster that is asked for settings, and counts how often.
type settingsOnly struct {
	Cluster
	asked int
}

func (c *settingsOnly) Settings(int32, Resource) ([]Setting, int16, string) {
	c.asked++
	return make([]Setting, 30), 0, ""
}

// TestDescribeConfigsLetsOthersIn: the settings of very many topics are not gathered in one go.
func TestDescribeConfigsLetsOthersIn(t *testing.T) {
	l, asked := &timersOnly{due: map[int64]func(int64){}}, &settingsOnly{}
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = make([]kmsg.DescribeConfigsRequestResource, 10_000)
	c := &call{request: request, conn: &conn{}}
	describeConfigs(&Server{loop: l, cluster: asked}, c, 1)
	if asked.asked == 0 || asked.asked > costPerTurn/30+1 || len(l.due) != 1 {
		t.Errorf("the first turn gathered the settings of %d topics; %d turns are to come", asked.asked, len(l.due))
	}
	if c.abandon(); len(l.due) != 0 {
		t.Error("it goes on without its connection")
	}
}
