package observe

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

const (
	// pollFastest is how far apart two looks at the groups in motion are at least; a broker that answers slowly is asked more
	// seldom: pollTrips round trips lie between two looks.
	pollFastest = 250 * time.Millisecond
	pollTrips   = 20
	pollSlowest = 10 * time.Second
	// idleAfter is how long nothing has moved until the looks are pollIdle apart.
	idleAfter = time.Minute
	pollIdle  = time.Second
	// listEvery is how often all groups are listed; a broker that cannot list those in motion (before ListGroups v4, Kafka
	// 2.6) lists all each listOld.
	listEvery = 30 * time.Second
	listOld   = 5 * time.Second
	// listAsking is how often all groups are listed where only asking tells what there is, listEach how much farther apart the
	// lists are for each group that they hold.
	listAsking = 2 * time.Second
	listEach   = 5 * time.Millisecond
)

// inMotion are the states in which somebody is awaited, of classic and of KIP-848 groups.
var inMotion = []string{string(event.PreparingRebalance), string(event.CompletingRebalance), string(event.Assigning), string(event.Reconciling)}

// polls looks at the groups of one broker until ctx ends.
func (o *Observer) polls(ctx context.Context, broker int32) {
	p := poller{o: o, broker: broker, moved: time.Now(), described: map[string]time.Time{}}
	for ctx.Err() == nil {
		began := time.Now()
		p.turn(ctx)
		_ = pause(ctx, p.interval()-time.Since(began))
	}
}

// poller looks at the groups that one broker coordinates.
type poller struct {
	o      *Observer
	broker int32
	listed time.Time     // when all groups were listed last
	trip   time.Duration // of the last look
	moved  time.Time     // when a group was last seen in motion
	old    bool          // the broker cannot list only those in motion
	failed bool

	// waiting are groups that are to be described once, in order; described is when each was that was looked at.
	waiting   []string
	was       []string
	described map[string]time.Time
	swept     time.Time
	states    map[string]event.State // what the last list of all said
	noModern  bool                   // the broker does not know ConsumerGroupDescribe
	turns     int
}

func (p *poller) interval() time.Duration {
	every := min(max(pollFastest, pollTrips*p.trip), pollSlowest)
	quiet := min(time.Since(p.moved), p.o.reader.quiet())
	switch {
	case p.failed:
		return time.Second
	case p.old:
		return max(every, listOld)
	case quiet > idleAfter:
		return max(every, pollIdle)
	}
	return every
}

// turn is one look: at the groups in motion, now and then at all, then at what they do.
func (p *poller) turn(ctx context.Context) {
	if !p.old {
		p.failed = p.list(ctx, true) != nil
	}
	if !p.failed && (p.old || time.Since(p.listed) >= p.listEvery()) {
		p.listed = time.Now()
		p.failed = p.list(ctx, false) != nil
	}
	if !p.failed && ctx.Err() == nil {
		p.describe(ctx)
	}
	p.turns++
}

// list asks for the groups of the broker, or for those in motion.
func (p *poller) list(ctx context.Context, moving bool) error {
	o := p.o
	r := kmsg.NewPtrListGroupsRequest()
	if moving {
		r.StatesFilter = inMotion
	}
	if err := o.limits.wait(ctx, p.broker); err != nil {
		return err
	}
	asked, began := o.NowMs(), time.Now()
	answer, err := o.askNow(ctx, p.broker, r)
	if err != nil {
		return err
	}
	said := answer.(*kmsg.ListGroupsResponse)
	if moving {
		p.trip = time.Since(began)
		if said.Version < 4 {
			p.old, p.listed = true, time.Now()
		}
	}
	seen := timeline.PollList{Broker: p.broker, AskedMs: asked, AnsweredMs: o.NowMs(), Filtered: moving && !p.old, Code: said.ErrorCode}
	for _, g := range said.Groups {
		seen.Groups = append(seen.Groups, timeline.ListedGroup{Group: g.Group, State: event.State(g.GroupState), Type: g.GroupType, ProtocolType: g.ProtocolType})
	}
	if seen.Filtered && len(seen.Groups) > 0 {
		p.moved = time.Now()
	}
	o.saw(ctx, seen)
	p.plan(seen)
	return nil
}

// asking tells whether the groups' state has to be asked for, since the log does not say all of it.
func (p *poller) asking() bool { return p.o.cluster.modeNow() == modePoll || p.o.reader.tailed() }

// listEvery is how far apart two lists of all groups are. Where only asking tells what there is, they are nearer together, as
// far as their length allows.
func (p *poller) listEvery() time.Duration {
	if p.asking() {
		return min(listAsking+time.Duration(len(p.states))*listEach, listEvery)
	}
	return listEvery
}

// sweepEvery is how far apart two descriptions of all groups are: they are as large as the groups are many.
func (p *poller) sweepEvery() time.Duration {
	return min(time.Duration(len(p.states))*sweepEach, sweepEvery)
}

// plan notes which groups are to be described. Where the log is read from its beginning, it says all that is lasting, and
// only what moves is described; otherwise each group is now and then, what is new or has changed at once, and what has come to
// rest first.
func (p *poller) plan(seen timeline.PollList) {
	if seen.Code != 0 || !p.asking() {
		return
	}
	if seen.Filtered {
		now := make([]string, len(seen.Groups))
		for i, g := range seen.Groups {
			now[i] = g.Group
		}
		for _, name := range p.was {
			if !slices.Contains(now, name) {
				p.waiting = append([]string{name}, p.waiting...)
			}
		}
		p.was = now
		return
	}
	all := time.Since(p.swept) >= p.sweepEvery()
	if all {
		p.swept, p.waiting = time.Now(), nil
	}
	states := make(map[string]event.State, len(seen.Groups))
	for _, g := range seen.Groups {
		states[g.Group] = g.State
		if before, known := p.states[g.Group]; all || !known || before != g.State {
			p.waiting = append(p.waiting, g.Group)
		}
	}
	p.states = states
}
