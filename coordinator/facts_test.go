package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// picture is a small fold, as a page would do it: what it shows must not depend on whether it saw everything or began
// with Facts.
type picture struct {
	lines map[string]string // what there is, by a name
	ops   map[int64]event.OperationWatched
	// instances are those of members, by group and member.
	instances map[string]string
}

func newPicture() *picture {
	return &picture{map[string]string{}, map[int64]event.OperationWatched{}, map[string]string{}}
}

func (p *picture) drop(prefix string) {
	maps.DeleteFunc(p.lines, func(k, _ string) bool { return strings.HasPrefix(k, prefix) })
}

func (p *picture) apply(e event.Event) {
	g := e.Group + " "
	switch b := e.Body.(type) {
	case event.GroupCreated:
		p.lines[g+"state"] = "Empty"
		p.lines[g+"generation"] = "0"
	case event.GroupLoaded:
		p.lines[g+"state"], p.lines[g+"generation"] = string(b.State), fmt.Sprint(b.Generation)
		if b.Leader != "" {
			p.lines[g+"leader"] = b.Leader
		}
		if b.Began != "" && b.State == event.PreparingRebalance {
			p.lines[g+"began"] = fmt.Sprint(b.Began, b.BeganMember, b.BeganMs)
		}
	case event.GroupRemoved:
		p.drop(g)
	case event.StateChanged:
		p.lines[g+"state"] = string(b.To)
		if b.To != event.PreparingRebalance {
			delete(p.lines, g+"began")
		}
		if b.To != event.Stable {
			delete(p.lines, g+"assignment")
		}
	case event.RebalanceStarted:
		p.lines[g+"began"] = fmt.Sprint(b.Why, b.Member, e.AtMs)
	case event.GenerationStarted:
		p.lines[g+"generation"] = fmt.Sprint(b.Generation)
	case event.MemberIDIssued:
		p.lines[g+"pending "+b.Member] = fmt.Sprint(b.ClientID, b.ClientHost, b.DeadlineMs)
	case event.PendingForgotten:
		delete(p.lines, g+"pending "+b.Member)
	case event.MemberAdded:
		p.instances[g+b.Member] = b.InstanceID
		p.lines[g+"member "+b.Member] = fmt.Sprint(b.ClientID, b.ClientHost, b.SessionTimeoutMs, b.RebalanceTimeoutMs, b.Protocols)
	case event.MemberUpdated:
		old := p.lines[g+"member "+b.Member]
		client := old[:strings.Index(old, "/127.0.0.1")]
		p.lines[g+"member "+b.Member] = fmt.Sprint(client, "/127.0.0.1", b.SessionTimeoutMs, b.RebalanceTimeoutMs, b.Protocols)
	case event.MemberReplaced:
		p.lines[g+"member "+b.Member] = p.lines[g+"member "+b.Old]
		delete(p.lines, g+"member "+b.Old)
		p.instances[g+b.Member] = b.InstanceID
		p.lines[g+"assignment"] = strings.ReplaceAll(p.lines[g+"assignment"], "{"+b.Old+" ", "{"+b.Member+" ")
		if p.lines[g+"assignment"] == "" {
			delete(p.lines, g+"assignment")
		}
	case event.MemberRemoved:
		delete(p.lines, g+"member "+b.Member)
		if p.lines[g+"leader"] == b.Member {
			delete(p.lines, g+"leader")
		}
	case event.LeaderElected:
		p.lines[g+"leader"] = b.Member
	case event.AssignmentStored:
		p.lines[g+"assignment"] = fmt.Sprint(b.Assignments)
	default:
		p.applyWaits(e)
	}
}

func (p *picture) applyWaits(e event.Event) {
	g := e.Group + " "
	switch b := e.Body.(type) {
	case event.ReplyParked:
		p.lines[fmt.Sprint("parked ", b.Ticket)] = fmt.Sprint(b.API, b.Member, b.SinceMs, b.Until)
	case event.ReplySent:
		delete(p.lines, fmt.Sprint("parked ", b.Ticket))
	case event.ReplyDropped:
		delete(p.lines, fmt.Sprint("parked ", b.Ticket))
	case event.OperationWatched:
		p.ops[b.Op] = b
	case event.OperationCompleted:
		delete(p.ops, b.Op)
	case event.OffsetsPending:
		p.lines[fmt.Sprint("append ", b.Append)] = fmt.Sprint(b.Offsets)
	case event.AppendStarted:
		p.lines[fmt.Sprint("append ", b.Append)] += fmt.Sprint(b.Partition, b.What, b.Records, b.DeadlineMs)
	case event.AppendFinished:
		delete(p.lines, fmt.Sprint("append ", b.Append))
	case event.OffsetsCommitted:
		for _, o := range b.Offsets {
			p.lines[fmt.Sprint(g, "offset ", o.Topic, o.Partition)] = fmt.Sprint(o.Offset, o.Metadata, o.LeaderEpoch)
		}
	case event.OffsetsRemoved:
		for _, o := range b.Offsets {
			delete(p.lines, fmt.Sprint(g, "offset ", o.Topic, o.Partition))
			maps.DeleteFunc(p.lines, func(k, _ string) bool {
				return strings.HasPrefix(k, g+"txn ") && strings.HasSuffix(k, fmt.Sprint(" ", o.Topic, o.Partition))
			})
		}
	case event.TxnVerificationStarted:
		p.lines[fmt.Sprint("verification ", b.Verification)] = fmt.Sprint(b.TransactionalID, b.ProducerID, b.ProducerEpoch, b.Partition)
	case event.TxnVerificationFinished:
		delete(p.lines, fmt.Sprint("verification ", b.Verification))
	case event.TxnOffsetsPending:
		p.lines[fmt.Sprint("append ", b.Append)] = fmt.Sprint(b.ProducerID, b.Offsets)
	case event.TxnOffsetsWritten:
		for _, o := range b.Offsets {
			p.lines[fmt.Sprint(g, "txn ", b.ProducerID, " ", o.Topic, o.Partition)] = fmt.Sprint(o.Offset, o.Metadata, o.LeaderEpoch)
		}
	case event.TxnOffsetsEnded:
		p.drop(fmt.Sprint(g, "txn ", b.ProducerID, " "))
	case event.LoadFinished:
		p.lines[fmt.Sprint("owned ", b.Partition)] = ""
	case event.PartitionUnloaded:
		delete(p.lines, fmt.Sprint("owned ", b.Partition))
	}
}

func (p *picture) String() string {
	var s strings.Builder
	for _, k := range slices.Sorted(maps.Keys(p.lines)) {
		if !strings.HasPrefix(k, "owned") { // Facts tell of an owned partition only where it has groups
			fmt.Fprintf(&s, "%s: %s %s\n", k, p.lines[k], p.instances[strings.Replace(k, " member ", " ", 1)])
		}
	}
	return s.String()
}

// A fold that begins with Facts shows what a fold over everything shows.
func TestFactsRebuildThePicture(t *testing.T) {
	for seed := range uint64(40) {
		w := newWalk(t, seed)
		whole, seen := newPicture(), 0
		for range 300 {
			w.step()
			for _, e := range w.b.events[seen:] {
				whole.apply(e)
			}
			seen = len(w.b.events)
			if w.r.IntN(5) > 0 {
				continue
			}
			before := snapshot(w.b.c)
			late := newPicture()
			for _, e := range w.b.c.Facts(w.b.now) {
				if e.Seq != int64(seen) || e.AtMs != w.b.now || e.Broker != 1 {
					t.Fatalf("%+v", e)
				}
				late.apply(e)
			}
			if snapshot(w.b.c) != before {
				t.Fatal("Facts changed the machine")
			}
			if whole.String() != late.String() {
				t.Fatalf("seed %d: everything gives\n%s\nFacts give\n%s\nafter %v", seed, whole, late, w.b.events[seen-1])
			}
			compareOps(t, whole.ops, late.ops)
		}
	}
}

// compareOps compares waiting operations. A session timer that coalesced heartbeats have moved is later in Facts.
func compareOps(t *testing.T, whole, late map[int64]event.OperationWatched) {
	for n, a := range whole {
		b, ok := late[n]
		if !ok {
			t.Fatalf("Facts lack %+v", a)
		}
		if a.Type == event.DelayedHeartbeat && b.DeadlineMs >= a.DeadlineMs && b.DeadlineMs-a.DeadlineMs <= beatEveryMs {
			continue
		}
		a.Level, a.CellMs = b.Level, b.CellMs // cascades are told by events of their own
		a.Unswept, a.Over = b.Unswept, b.Over // the purgatory's, at another time
		if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			t.Fatalf("everything gives %+v, Facts give %+v", a, b)
		}
	}
	for n, b := range late {
		if _, ok := whole[n]; !ok {
			t.Fatalf("Facts tell of %+v, which does not wait", b)
		}
	}
}

// A partition that is loading is told as such.
func TestFactsOfALoad(t *testing.T) {
	b := unloaded(t)
	b.c.Immigrate(b.now, 0, 7, 30)
	b.c.Load(b.now, 0, 7, batchAt(10, offsetRecord("foo", 0, 1), offsetRecord("foo", 1, 2)))
	b.take()
	var kinds []string
	for _, e := range b.c.Facts(b.now) {
		kinds = append(kinds, e.Text())
	}
	want := "[LoadStarted __consumer_offsets-0 epoch 7 to 30"
	if got := fmt.Sprint(kinds); !strings.HasPrefix(got, want) || len(kinds) != 2 {
		t.Fatal(got)
	}
}
