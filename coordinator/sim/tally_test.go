package sim_test

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// mark is something that must happen in a campaign now and then, else it does not test what it should.
type mark struct {
	// section is that of the specification of Kafka's coordinator which the rule is in; text says what happens.
	section, text string
	// kind is the kind of event at which it shows, "" where the campaign itself notes it. when tells whether it does: the
	// scene is as it was before the event.
	kind string
	when func(s *scene, e event.Event) bool
}

// at is a mark that shows in one kind of event.
func at[B event.Body](section, text string, when func(s *scene, e event.Event, b B) bool) mark {
	var body B
	return mark{section: section, text: text, kind: body.Kind(), when: func(s *scene, e event.Event) bool {
		b, is := e.Body.(B)
		return is && when(s, e, b)
	}}
}

// noted is a mark that the campaign notes by itself.
func noted(section, text string) mark { return mark{section: section, text: text} }

// reply is an answer with a code; the guard that decided has these words in it.
func reply(section, text string, api, code int16, guard ...string) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.ReplySent) bool {
		return b.API == api && b.Code == code && containsAll(b.Guard, guard)
	})
}

func containsAll(s string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) })
}

// answered is an answer to a request that met a group in a state ("" where there was none), sent by who ("" for anybody).
func answered(section, text string, api int16, state event.State, who string, code int16) mark {
	return at(section, text, func(s *scene, _ event.Event, b event.ReplySent) bool {
		m, known := s.asked[b.Ticket]
		return known && b.API == api && b.Code == code && m.state == state && !m.parked && (who == "" || m.who == who)
	})
}

// parkedIn is a request that was parked where it met a group in a state.
func parkedIn(section, text string, api int16, state event.State, who string) mark {
	return at(section, text, func(s *scene, _ event.Event, b event.ReplyParked) bool {
		m, known := s.asked[b.Ticket]
		return known && b.API == api && m.state == state && !m.parked && (who == "" || m.who == who)
	})
}

func removedFor(section, text string, why event.Why, state event.State) mark {
	return at(section, text, func(s *scene, e event.Event, b event.MemberRemoved) bool {
		g := s.at(e.Broker, e.Group)
		return b.Why == why && g != nil && (state == "" || g.state == state)
	})
}

func rebalances(section, text string, why event.Why) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.RebalanceStarted) bool { return b.Why == why })
}

func moves(section, text string, from, to event.State) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.StateChanged) bool { return b.From == from && b.To == to })
}

func leads(section, text string, why event.Why) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.LeaderElected) bool { return b.Why == why })
}

func forgotten(section, text string, why event.Why) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.PendingForgotten) bool { return b.Why == why })
}

func gone(section, text string, why event.Why) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.GroupRemoved) bool { return b.Why == why })
}

func lost(section, text string, why event.Why) mark {
	return at(section, text, func(_ *scene, _ event.Event, b event.OffsetsRemoved) bool { return b.Why == why })
}

// outcome is that of an append of one kind.
func outcome(section, text, what string, codes ...int16) mark {
	return at(section, text, func(s *scene, e event.Event, b event.AppendFinished) bool {
		return s.appends[opID{e.Broker, b.Append}].what == what && slices.Contains(codes, b.Code)
	})
}

// tally counts how often each mark was hit.
type tally struct{ counts []int }

// byKind are the marks that show in a kind of event; byText finds one that is noted.
var byKind, byText = func() (map[string][]int, map[string]int) {
	kinds, texts := map[string][]int{}, map[string]int{}
	for i, m := range marks {
		if _, twice := texts[m.text]; twice {
			panic("two marks say " + m.text)
		}
		texts[m.text] = i
		if m.kind != "" {
			kinds[m.kind] = append(kinds[m.kind], i)
		}
	}
	for _, text := range rare {
		if _, known := texts[text]; !known {
			panic("no mark says " + text)
		}
	}
	return kinds, texts
}()

func newTally() *tally { return &tally{make([]int, len(marks))} }

// note looks at an event.
func (t *tally) note(s *scene, e event.Event) {
	for _, i := range byKind[e.Body.Kind()] {
		if marks[i].when(s, e) {
			t.counts[i]++
		}
	}
}

// hit notes a mark by its text.
func (t *tally) hit(text string, yes bool) {
	i, known := byText[text]
	if !known {
		panic("no mark says " + text)
	}
	if yes {
		t.counts[i]++
	}
}

func (t *tally) add(o *tally) {
	for i, n := range o.counts {
		t.counts[i] += n
	}
}

func (t *tally) reached() (n int) {
	for _, c := range t.counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// missing are the marks that were never hit, the rare ones only in a long campaign.
func (t *tally) missing(long bool) (list []string) {
	for i, n := range t.counts {
		if n == 0 && (long || !slices.Contains(rare, marks[i].text)) {
			list = append(list, marks[i].section+" "+marks[i].text)
		}
	}
	return list
}

func (t *tally) String() string {
	var b strings.Builder
	for i, m := range marks {
		fmt.Fprintf(&b, "%9d  %-7s %s\n", t.counts[i], m.section, m.text)
	}
	return b.String()
}
