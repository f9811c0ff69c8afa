package observe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

const (
	// describeAtOnce is how many groups one request describes.
	describeAtOnce = 100
	// lookedEvery is how often a group is described that somebody looks at and that rests.
	lookedEvery = 5 * time.Second
	// sweepEvery is how often all groups are described at least where their log is not read: a rebalance that is over between two
	// looks shows in nothing else. They are more often where they are few, sweepEach for each group apart.
	sweepEvery = time.Minute
	sweepEach  = 50 * time.Millisecond
)

// describe describes the groups that move, those that somebody looks at, and those that wait for it: one request of each kind
// in a turn at most, so that the next look at the list is not late.
func (p *poller) describe(ctx context.Context) {
	var moving, looked, classic, modern []string
	asked := p.o.cfg.Looked()
	kind := map[string]string{}
	err := p.o.do(ctx, func(t *timeline.Timeline) {
		for _, name := range t.InMotion() {
			if t.Coordinator(name) == p.broker || t.Coordinator(name) == 0 && slices.Contains(p.was, name) {
				moving = append(moving, name)
			}
		}
		for _, name := range asked {
			if t.Coordinator(name) == p.broker {
				looked = append(looked, name)
			}
		}
		for _, list := range [][]string{moving, looked, p.waiting} {
			for _, name := range list {
				kind[name] = t.TypeOf(name)
			}
		}
	})
	if err != nil {
		return
	}
	now := time.Now()
	looked = slices.DeleteFunc(looked, func(name string) bool { return now.Sub(p.described[name]) < lookedEvery })
	for _, name := range looked {
		p.described[name] = now
	}
	if len(p.described) > 4*len(asked)+64 {
		clear(p.described)
	}
	if n := len(moving); n > describeAtOnce { // all of them, one part after the other
		at := p.turns * describeAtOnce % n
		moving = append(slices.Clone(moving[at:]), moving[:at]...)
	}
	took := 0
	for i, name := range slices.Concat(moving, looked, p.waiting) {
		list := &classic
		if kind[name] == "consumer" && !p.noModern {
			list = &modern
		}
		if kind[name] == "share" || kind[name] == "streams" || slices.Contains(*list, name) {
			// not described, or already
		} else if len(*list) < describeAtOnce {
			*list = append(*list, name)
		} else {
			break
		}
		took = max(took, i+1-len(moving)-len(looked))
	}
	p.waiting = p.waiting[min(took, len(p.waiting)):]
	if len(classic) > 0 {
		p.classic(ctx, classic)
	}
	if len(modern) > 0 {
		p.modern(ctx, modern)
	}
}

// classic asks DescribeGroups.
func (p *poller) classic(ctx context.Context, names []string) {
	o := p.o
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = names
	if o.limits.wait(ctx, p.broker) != nil {
		return
	}
	asked := o.NowMs()
	answer, err := o.askNow(ctx, p.broker, r)
	if err != nil {
		return
	}
	for _, g := range answer.(*kmsg.DescribeGroupsResponse).Groups {
		seen := timeline.Described{Broker: p.broker, AskedMs: asked, AnsweredMs: o.NowMs(), Group: g.Group, Type: "classic", Code: g.ErrorCode,
			State: event.State(g.State), ProtocolType: g.ProtocolType, Protocol: g.Protocol}
		if g.ErrorMessage != nil {
			seen.Reason = *g.ErrorMessage
		}
		for _, m := range g.Members {
			seen.Members = append(seen.Members, timeline.DescribedMember{Member: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID,
				ClientHost: m.ClientHost, Subscription: m.ProtocolMetadata, Assignment: m.MemberAssignment})
		}
		o.saw(ctx, seen)
	}
}

// modern asks ConsumerGroupDescribe (KIP-848).
func (p *poller) modern(ctx context.Context, names []string) {
	o := p.o
	r := kmsg.NewPtrConsumerGroupDescribeRequest()
	r.Groups = names
	if o.limits.wait(ctx, p.broker) != nil {
		return
	}
	asked := o.NowMs()
	answer, err := o.askNow(ctx, p.broker, r)
	if err != nil {
		p.noModern = errors.Is(err, errUnsupported)
		return
	}
	for _, g := range answer.(*kmsg.ConsumerGroupDescribeResponse).Groups {
		seen := timeline.Described{Broker: p.broker, AskedMs: asked, AnsweredMs: o.NowMs(), Group: g.Group, Type: "consumer", Code: g.ErrorCode,
			State: event.State(g.State), Protocol: g.AssignorName, Epoch: g.Epoch, TargetEpoch: g.AssignmentEpoch, Reason: text(g.ErrorMessage)}
		for _, m := range g.Members {
			d := timeline.DescribedMember{Member: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, ClientHost: m.ClientHost,
				Epoch: m.MemberEpoch, Topics: m.SubscribedTopics}
			for _, t := range m.Assignment.TopicPartitions {
				d.Assigned = append(d.Assigned, event.TopicPartitions{Topic: t.Topic, Partitions: t.Partitions})
			}
			for _, t := range m.TargetAssignment.TopicPartitions {
				d.Target = append(d.Target, event.TopicPartitions{Topic: t.Topic, Partitions: t.Partitions})
			}
			seen.Members = append(seen.Members, d)
		}
		o.saw(ctx, seen)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
