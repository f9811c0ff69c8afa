package view

import (
	"bytes"
	"context"
	"testing"

	"grouplab/coordinator/event"
)

// fifty is a group of fifty members that rebalances, with more than two thousand facts behind it.
func fifty() *Model {
	s := newStory("payments-reconciliation", "payments", 60)
	s.at(1000)
	s.here(event.GroupCreated{})
	var all []*actor
	for i := range 50 {
		a := s.consumer("worker-"+num(i), "worker-"+num(i)+"-5b7e0c1d", 10000)
		all = append(all, a)
		s.at(1000 + int64(i)*40)
		why := event.WhyNewMember
		if i == 0 {
			why = event.WhyFirstMember
		}
		s.join(a, why)
	}
	s.at(4002)
	s.round(event.WhyInitialDelayOver)
	for at := int64(6000); at <= 30000; at += 3000 {
		s.at(at)
		s.heartbeats(0, all...)
		s.commit(all[at/3000], 10)
	}
	s.at(33000)
	s.join(all[0], event.WhyLeaderRejoined)
	for _, a := range all[1:30] {
		s.at(s.nowMs + 20)
		s.rejoin(a)
	}
	return s.m
}

// BenchmarkParts renders the whole stage of fifty members: what the tab does for a frame before it patches.
func BenchmarkParts(b *testing.B) {
	m, o := fifty(), galleryOptions("")
	o.Layout = LayoutWide
	if len(m.Lines) < 2000 {
		b.Fatalf("only %d facts", len(m.Lines))
	}
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		for _, p := range Parts(m, o) {
			if err := p.Component.Render(context.Background(), &out); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(out.Len()), "bytes")
}

// BenchmarkPart renders the parts of the same stage one by one.
func BenchmarkPart(b *testing.B) {
	m, o := fifty(), galleryOptions("")
	o.Layout = LayoutWide
	for i, p := range Parts(m, o) {
		b.Run(p.ID, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := Parts(m, o)[i].Component.Render(context.Background(), &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}

// BenchmarkClock renders the same stage again when only the clock has moved on.
func BenchmarkClock(b *testing.B) {
	m, o := fifty(), galleryOptions("")
	o.Layout, o.Memo = LayoutWide, NewMemo()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		m.SetNow(m.NowMs + 100)
		for _, p := range Parts(m, o) {
			if err := p.Component.Render(context.Background(), &out); err != nil {
				b.Fatal(err)
			}
		}
	}
}
