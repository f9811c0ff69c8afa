//go:build interop

package differ

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/sim"
	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
)

// move is a request as a simulated client sent it, when its broker began with it; or, with a reply, its answer.
type move struct {
	atMs    int64
	call    int64
	actor   string // the client and its connection
	request kmsg.Request
	reply   kmsg.Response
}

// trace runs a script and keeps what its clients sent and were answered.
type trace struct {
	name    string
	moves   []move
	members map[string]bool // the ids that the coordinator gave out
	moving  map[int64]bool  // the requests that a coordinator refused because it did not serve yet
	// partitions are how many each topic must have.
	partitions map[string]int32
	leaders    elections
}

// mostMs is how much of a script is sent.
const mostMs = 60_000

func newTrace(name string) *trace {
	return &trace{name: name, members: map[string]bool{}, moving: map[int64]bool{}, partitions: map[string]int32{}}
}

// codeOf is an answer's own error code.
func codeOf(r kmsg.Response) int16 {
	if f := reflect.ValueOf(r).Elem().FieldByName("ErrorCode"); f.IsValid() {
		return int16(f.Int())
	}
	return 0
}

// topics notes which partitions a request names.
func (t *trace) topics(r kmsg.Request) {
	note := func(topic string, partition int32) { t.partitions[topic] = max(t.partitions[topic], partition+1) }
	switch q := r.(type) {
	case *kmsg.OffsetCommitRequest:
		for _, topic := range q.Topics {
			for _, p := range topic.Partitions {
				note(topic.Topic, p.Partition)
			}
		}
	case *kmsg.TxnOffsetCommitRequest:
		for _, topic := range q.Topics {
			for _, p := range topic.Partitions {
				note(topic.Topic, p.Partition)
			}
		}
	}
}

func (t *trace) watch(e *script.Engine) {
	for _, fact := range e.Take() {
		t.leaders.apply(fact)
	}
	if e.World() == nil || e.World().Tap != nil {
		return
	}
	e.World().Tap = func(x sim.Exchange) {
		if e.NowMs() > mostMs {
			return
		}
		m := move{atMs: e.NowMs(), call: x.Call, actor: fmt.Sprintf("%s/%d", x.Client, x.Conn), request: copied(x.Request)}
		t.topics(x.Request)
		if x.Reply != nil {
			t.moving[x.Call] = slices.Contains([]int16{14, 15, 16}, codeOf(x.Reply))
			m.reply = copiedReply(x.Reply, x.Request.GetVersion())
			if j, ok := x.Reply.(*kmsg.JoinGroupResponse); ok && j.MemberID != "" {
				t.members[j.MemberID] = true
			}
		}
		t.moves = append(t.moves, m)
	}
}

func copied(r kmsg.Request) kmsg.Request {
	c := kmsg.RequestForKey(r.Key())
	c.SetVersion(r.GetVersion())
	if err := c.ReadFrom(r.AppendTo(nil)); err != nil {
		panic(fmt.Sprintf("%s v%d cannot be read back: %v", kmsg.NameForKey(r.Key()), r.GetVersion(), err))
	}
	return c
}

func copiedReply(r kmsg.Response, version int16) kmsg.Response {
	c := kmsg.ResponseForKey(r.Key())
	c.SetVersion(version)
	r.SetVersion(version)
	if err := c.ReadFrom(r.AppendTo(nil)); err != nil {
		panic(fmt.Sprintf("the answer to %s v%d cannot be read back: %v", kmsg.NameForKey(r.Key()), version, err))
	}
	return c
}

// goldenTrace runs the commands of a golden transcript.
func goldenTrace(name, text string) (*trace, error) {
	t := newTrace(name)
	e := script.New(name)
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // what it printed
		}
		c, err := script.ParseLine(name, i+1, line)
		if err != nil {
			return nil, err
		}
		if c.Verb == "" {
			continue
		}
		if err := e.Do(c); err != nil {
			return nil, err
		}
		t.watch(e)
	}
	return t, t.leaders.comparable(name)
}

// lessonTrace plays a lesson's steps as far as they go by themselves, and a challenge by its first win.
func lessonTrace(name, text string) (*trace, error) {
	l, err := lessons.Load(name[strings.Index(name, "-")+1:], text)
	if err != nil {
		return nil, err
	}
	t := newTrace(name)
	e := script.New(name)
	do := func(commands []script.Command) error {
		for _, c := range commands {
			if err := e.Do(c); err != nil {
				return err
			}
			t.watch(e)
		}
		return nil
	}
	if err := do(l.Setup); err != nil {
		return nil, err
	}
	for i, s := range l.Steps {
		if i > 0 {
			e.Mark()
		}
		if err := do(s.Commands); err != nil {
			return nil, err
		}
		before := len(t.moves)
		if !t.pass(e, s, l.Wins, do) { // the learner has to do something first
			t.moves = t.moves[:before]
			break
		}
	}
	t.watch(e)
	return t, t.leaders.comparable(name)
}

// pass goes to the end of a step, a challenge's by its win, if it comes within a minute.
func (t *trace) pass(e *script.Engine, s lessons.Step, wins []lessons.Solution, do func([]script.Command) error) bool {
	for _, win := range wins {
		if s.Par > 0 && win.Name == s.Name {
			return do(win.Commands) == nil
		}
	}
	for limit := e.NowMs() + 60_000; s.Wait != nil && !s.Wait.Holds(e); {
		if !e.Step(limit) {
			return false
		}
	}
	return true
}

// lastMs is when the last request was sent or answered.
func (t *trace) lastMs() int64 {
	if len(t.moves) == 0 {
		return 0
	}
	return t.moves[len(t.moves)-1].atMs
}
