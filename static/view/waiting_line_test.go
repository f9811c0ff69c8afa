package view

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// "Who are we waiting for?" has an answer of one line in every state, in both languages.
func TestTheWaitLineAnswersInEveryState(t *testing.T) {
	group := func(facts ...event.Body) *Model {
		m := NewModel()
		for i, b := range append([]event.Body{event.BrokerStarted{ID: 1}}, facts...) {
			m.Apply(event.Event{Seq: int64(i + 1), AtMs: int64(100 * i), Broker: 1, Group: "g", Body: b})
		}
		m.SetNow(5000)
		return m
	}
	member := event.MemberAdded{Member: "c1-1", ClientID: "c1", SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000}
	to := func(s event.State) event.StateChanged { return event.StateChanged{To: s, Why: event.WhyFirstMember} }
	txn := event.TxnOffsetsWritten{ProducerID: 7, Offsets: []event.OffsetValue{{Topic: "orders", Offset: 5}}}
	for name, c := range map[string]struct {
		m      *Model
		en, zh string
	}{
		"nothing":       {NewModel(), "No group", "组"},
		"empty":         {group(event.GroupCreated{}), "", ""},
		"initial delay": {group(event.GroupCreated{}, member, to(event.PreparingRebalance), event.OperationWatched{Op: 1, Type: event.InitialDelayedJoin, DeadlineMs: 8000}), "time", "时间"},
		"joining":       {group(event.GroupCreated{}, member, to(event.PreparingRebalance), event.OperationWatched{Op: 1, Type: event.DelayedJoin, DeadlineMs: 60000}), "c1", "c1"},
		"completing":    {group(event.GroupCreated{}, member, event.GenerationStarted{Generation: 1, Leader: "c1-1", Members: []string{"c1-1"}}, to(event.CompletingRebalance)), "c1", "c1"},
		"append": {group(event.GroupCreated{}, member, event.GenerationStarted{Generation: 1, Leader: "c1-1", Members: []string{"c1-1"}}, to(event.CompletingRebalance),
			event.AppendStarted{Append: 1, What: "group", Records: 1, DeadlineMs: 9000}), "log", "日志"},
		"sync": {group(event.GroupCreated{}, member, event.GenerationStarted{Generation: 1, Leader: "c1-1", Members: []string{"c1-1"}}, to(event.CompletingRebalance), to(event.Stable),
			event.OperationWatched{Op: 2, Type: event.DelayedSync, Generation: 1, DeadlineMs: 60000}), "c1", "c1"},
		"stable":      {group(event.GroupCreated{}, member, to(event.Stable)), "nobody", ""},
		"transaction": {group(event.GroupCreated{}, member, to(event.Stable), txn), "producer 7", "生产者 7"},
		"dead":        {group(event.GroupCreated{}, to(event.Dead), event.GroupRemoved{Why: event.WhyNothingLeft}), "", ""},
	} {
		for lang, want := range map[Lang]string{English: c.en, Chinese: c.zh} {
			o := Options{Lang: lang, Mode: ModeLesson, Group: "g"}
			if name == "nothing" {
				o.Group = ""
			}
			got := Headline(c.m, o)
			if got == "" || strings.ContainsAny(got, "\n{}?") || !strings.Contains(got, want) {
				t.Errorf("%s, %s: %q does not name %q in one line", name, lang, got, want)
			}
		}
	}
}
