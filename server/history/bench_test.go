package history

import (
	"fmt"
	"runtime"
	"testing"

	"grouplab/coordinator/event"
)

// BenchmarkFold prints what a fact costs, of 5 000 groups with 20 partitions each that rebalance now and then while their
// members commit and send heartbeats, and what all that holds once each group has four generations to remember.
func BenchmarkFold(b *testing.B) {
	const groups, members = 5000, 5
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := &teller{h: New(Config{})}
	names := make([]string, groups)
	for i := range names {
		names[i] = fmt.Sprintf("group-%d", i)
	}
	generation := func(ms int64, group string, n int32) {
		a := event.AssignmentStored{Generation: n}
		ids := make([]string, members)
		for m := range ids {
			ids[m] = fmt.Sprintf("%s-consumer-%d-1f0c9a6e-5d3b-4c8e-9b51-%012d", group, m, m)
			s.at(ms, group, event.MemberAdded{Member: ids[m], ClientID: fmt.Sprintf("consumer-%d", m), ClientHost: fmt.Sprintf("/10.0.0.%d", m), Topics: []string{"orders"}})
			a.Assignments = append(a.Assignments, event.Assignment{Member: ids[m], Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{int32(4 * m), int32(4*m + 1), int32(4*m + 2), int32(4*m + 3)}}}})
		}
		s.at(ms, group, event.RebalanceStarted{Why: event.WhyLeaderRejoined, Member: ids[0], ClientReason: "rebalance failed due to DisconnectException", Generation: n - 1},
			event.StateChanged{From: event.Stable, To: event.PreparingRebalance})
		s.at(ms+5, group, event.GenerationStarted{Generation: n, Protocol: "range", Leader: ids[0], Members: ids, Why: event.WhyAllRejoined},
			event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance})
		s.at(ms+9, group, a, event.StateChanged{From: event.CompletingRebalance, To: event.Stable, Why: event.WhyAssignmentWritten})
	}
	var told []event.Event
	for n := range int32(4) {
		for _, name := range names {
			generation(int64(n)*1000, name, n+1)
		}
		told = s.h.Take(told[:0], int64(n)*1000+999)
	}
	told = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	quiet := make([]event.Event, 0, 100)
	offsets := []event.OffsetValue{{Topic: "orders", Offset: 7}}
	for i := range cap(quiet) { // of a hundred facts, ten are commits' outcomes and ninety what leads to these, or heartbeats
		e := event.Event{AtMs: 5000, Broker: 1, Group: names[i*37%groups], Body: event.HeartbeatReceived{Member: "m"}}
		switch i % 10 {
		case 1:
			e.Body = event.OffsetsCommitted{Offsets: offsets}
		case 2, 3:
			e.Body = event.OffsetsPending{Offsets: offsets}
		case 4, 5:
			e.Body = event.AppendStarted{What: "offsets"}
		case 6, 7:
			e.Body = event.ReplySent{API: 8}
		}
		quiet = append(quiet, e)
	}
	n := 0
	for b.Loop() {
		for i := range quiet {
			s.h.Apply(&quiet[i])
		}
		if n++; n%1000 == 0 {
			generation(int64(5000+n), names[n%groups], int32(5+n/1000))
			told = s.h.Take(told[:0], int64(5000+n))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(quiet)), "ns/event")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB/5000groups")
	runtime.KeepAlive(s)
}
