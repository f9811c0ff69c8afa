package view

import (
	"strings"

	"grouplab/coordinator/event"
)

// Watching gives a page's options what the stage of a running cluster can.
func Watching(o Options) Options {
	o.ext = watching{}
	return o
}

// watching is the extension of a running cluster's stage.
type watching struct{}

func (watching) word(key string) (Text, bool) {
	t, ok := wordsOfWatch[key]
	return t, ok
}

func (watching) says(s *stage, e *event.Event) (key string, args []string) {
	key = e.Body.Kind()
	switch b := e.Body.(type) {
	case event.GroupSummarized:
		return key, []string{string(b.State), num(b.Members)}
	case event.GenerationRecorded:
		return key, []string{num(b.Generation), s.because(e, b.Why, b.Member), num(b.Moved), num(b.Partitions)}
	case event.ClusterAttached:
		return key, []string{name(b.ClusterID), s.t("watch.mode." + modeWord(b.Mode))}
	case event.SightChanged:
		if b.Lost {
			return "blind", []string{b.Source, b.Reason}
		}
		return key, []string{b.Source}
	case event.CostMeasured:
		requests, bytes := perSecond(&b)
		return key, []string{requests, bytes}
	case event.CauseInferred:
		return key, []string{num(b.Generation), s.because(e, b.Why, b.Member), s.sure(b.Confidence), b.Evidence}
	case event.GroupListed:
		return key, []string{s.typeWord(b.Type), string(b.State)}
	case event.AwaitedSeen:
		var who []string
		for _, a := range b.Awaited {
			who = append(who, s.memberOf(e, a.Member, ""))
		}
		if len(who) == 0 {
			return "nobody", nil
		}
		return key, []string{strings.Join(who, s.t("comma"))}
	case event.LagMeasured:
		return key, []string{name(b.Topic), num(len(b.Partitions))}
	case event.EpochBumped:
		return key, []string{num(b.Epoch), s.because(e, b.Why, b.Member)}
	case event.TargetAssigned:
		return key, []string{num(b.Epoch), num(b.Moved)}
	case event.MemberReconciled:
		return s.reconciled(e, b)
	}
	return "", nil
}

// reconciled is the sentence of a step of a member towards its target.
func (s *stage) reconciled(e *event.Event, b event.MemberReconciled) (key string, args []string) {
	who := s.memberOf(e, b.Member, "")
	switch {
	case b.Epoch == epochAway:
		return "away", []string{who}
	case b.State == stateUnrevoked:
		return "revoking", []string{who, event.Partitions(b.Revoking)}
	case b.State == stateUnreleased:
		var of []string
		for _, m := range b.WaitsFor {
			of = append(of, s.memberOf(e, m, ""))
		}
		if len(of) == 0 {
			of = []string{s.t("watch.others")}
		}
		return "unreleased", []string{who, strings.Join(of, s.t("comma"))}
	}
	return e.Body.Kind(), []string{who, num(b.Epoch), event.Partitions(b.Assigned)}
}

// States of a member of a consumer group, and the epoch of a static member that is away.
const (
	stateUnrevoked        = "unrevoked_partitions"
	stateUnreleased       = "unreleased_partitions"
	epochAway       int32 = -2
)

func modeWord(mode string) string {
	if mode == "poll" {
		return "poll"
	}
	return "log"
}

// sure says how sure a cause is.
func (s *stage) sure(c event.Confidence) string {
	switch c {
	case event.High, event.Medium, event.Low:
		return s.t("watch.sure." + string(c))
	}
	return s.t("watch.observed")
}

// typeWord is a group's type, — where it is not known.
func (s *stage) typeWord(t string) string {
	switch t {
	case "":
		return "—"
	case typeClassic, typeConsumer:
		return s.t("watch.type." + t)
	}
	return plainText(t, 16)
}

// Types of groups.
const (
	typeClassic  = "classic"
	typeConsumer = "consumer"
)

// perSecond is a cost as requests and bytes a second.
func perSecond(c *event.CostMeasured) (requests, bytes string) {
	var n, size int64
	for _, b := range c.Brokers {
		n, size = n+b.Requests, size+b.Bytes
	}
	ms := max(c.IntervalMs, 1)
	return tenthsOf(n * 10000 / ms), sizeWord(size * 1000 / ms)
}

// tenthsOf writes a number that is given in tenths.
func tenthsOf(n int64) string { return num(n/10) + "." + num(n%10) }

// sizeWord writes bytes: "12 KB".
func sizeWord(n int64) string {
	switch {
	case n < 1000:
		return num(n) + " B"
	case n < 1000000:
		return tenthsOf(n/100) + " KB"
	}
	return tenthsOf(n/100000) + " MB"
}

func (watching) amend(s *stage, h sentence) sentence { return s.observed(h) }

func (watching) era(s *stage) string {
	if s.modern() != nil {
		return "watch.epoch.is"
	}
	return "generation.is"
}

func (watching) card(s *stage, kind, rest string) *card {
	if kind == "rebalance" {
		return s.rebalanceCard(rest)
	}
	return nil
}
