package web

import (
	"path"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"grouplab/coordinator/event"
	"grouplab/server/history"
)

// What the history of the groups says. The only labels whose values clients choose are those of watchedGroups, of which there
// are mostWatched at most.
var (
	descGroups      = desc("groups", "groups", "Groups by state.", "state")
	descStateTime   = desc("group_state_seconds_total", "seconds", "Time that groups were in a state, summed over the groups.", "state")
	descRebalances  = desc("rebalances_total", "rebalances", "Rebalances that are over, settled or not, by what began them.", "why")
	descLost        = desc("partition_seconds_lost_total", "partition seconds", "Time that partitions stood still in rebalances, by the part of a rebalance.", "why")
	descOldestWait  = desc("oldest_wait_seconds", "seconds", "For how long the group has not served that has not for the longest: it rebalances, or has no coordinator. 0 where all serve.")
	descStuck       = desc("stuck_groups", "groups", "Groups that have not served for longer than that.", "longer_than")
	descLoops       = desc("looping_groups", "groups", "Groups in which one client brings about rebalance after rebalance, and all partitions lie where they lay.")
	descGenerations = desc("remembered_generations", "generations", "Generations of the last 24 hours that are remembered.")
	descUntracked   = desc("untracked_facts_total", "events", "Events of groups beyond those that are followed.")

	descAlertsSent    = desc("alerts_sent_total", "alerts", "Messages about stuck groups that -alert-url has taken.")
	descAlertsFailed  = desc("alerts_failed_total", "alerts", "Messages about stuck groups that were given up.")
	descAlertsRetried = desc("alerts_retried_total", "tries", "Tries to send a message about a stuck group after the first.")
	descAlertsQueued  = desc("alerts_queued", "alerts", "Messages about stuck groups that wait to be sent.")

	descGroupWaits      = desc("group_wait_seconds", "seconds", "For how long a group has not served; 0 where it serves. Only groups of -metrics-groups.", "group")
	descGroupMembers    = desc("group_members", "members", "Members of a group. Only groups of -metrics-groups.", "group")
	descGroupBench      = desc("group_idle_members", "members", "Members of a group that have nothing assigned. Only groups of -metrics-groups.", "group")
	descGroupRebalances = desc("group_rebalances_day", "rebalances", "Rebalances of a group that began in the last 24 hours. Only groups of -metrics-groups.", "group")
	descGroupLost       = desc("group_partition_seconds_lost_day", "partition seconds", "Time that partitions of a group stood still in the last 24 hours. Only groups of -metrics-groups.", "group")
	descGroupLoops      = desc("group_loops", "rounds", "How often in a row one client brought about a rebalance that changed nothing. Only groups of -metrics-groups.", "group")
)

// mostWatched bounds the groups that have metrics of their own.
const mostWatched = 100

// stuckAfter are the bounds of stuck_groups.
var stuckAfter = []struct {
	label string
	ms    int64
}{{"1m", 60_000}, {"5m", 300_000}}

// watchedGroups are patterns of names, as path.Match has them: "orders-*".
type watchedGroups []string

func (w watchedGroups) match(name string) bool {
	for _, pattern := range w {
		// A name may hold slashes, which path.Match does not let a star stand for.
		if ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00")); ok {
			return true
		}
	}
	return false
}

// remembered is what one scrape reads of the history.
type remembered struct {
	totals history.Totals
	waits  []history.Wait
	groups []event.Event // GroupSummarized of those that are watched
	nowMs  int64
}

func (m *metrics) remembered() (r remembered, ok bool) {
	if m.history == nil {
		return r, false
	}
	r.nowMs = m.hub.NowMs()
	err := m.hub.Fold(func() {
		r.totals, r.waits = m.history.Totals(r.nowMs), m.history.Waits()
		if len(m.watched) > 0 {
			r.groups = m.history.Matching(nil, m.watched.match, mostWatched)
		}
	})
	return r, err == nil
}

func (m *metrics) collectHistory(gauge func(*prometheus.Desc, float64, ...string), add func(*prometheus.Desc, float64, ...string)) {
	r, ok := m.remembered()
	if !ok {
		return
	}
	for _, s := range []event.State{event.Empty, event.PreparingRebalance, event.CompletingRebalance, event.Stable, event.Assigning, event.Reconciling} {
		of := r.totals.States[s]
		gauge(descGroups, float64(of.Groups), string(s))
		add(descStateTime, float64(of.Ms)/1000, string(s))
	}
	for why, n := range withZeros(r.totals.Rebalances, usualCauses) {
		add(descRebalances, float64(n), whyLabel(why))
	}
	for why, ms := range withZeros(r.totals.LostMs, usualParts) {
		add(descLost, float64(ms)/1000, whyLabel(why))
	}
	oldest := 0.0
	if len(r.waits) > 0 {
		oldest = seconds(r.nowMs, r.waits[0].SinceMs)
	}
	gauge(descOldestWait, oldest)
	for _, bound := range stuckAfter {
		n := 0
		for _, w := range r.waits {
			if r.nowMs-w.SinceMs >= bound.ms {
				n++
			}
		}
		gauge(descStuck, float64(n), bound.label)
	}
	gauge(descLoops, float64(r.totals.Loops))
	gauge(descGenerations, float64(r.totals.Records))
	add(descUntracked, float64(r.totals.Untracked))
	m.collectWatched(r, gauge)
}

func (m *metrics) collectWatched(r remembered, gauge func(*prometheus.Desc, float64, ...string)) {
	waits := map[string]float64{}
	for _, w := range r.waits {
		waits[w.Group] = seconds(r.nowMs, w.SinceMs)
	}
	for _, e := range r.groups {
		g, name := e.Body.(event.GroupSummarized), strings.ToValidUTF8(e.Group, "\uFFFD")
		gauge(descGroupWaits, waits[e.Group], name)
		gauge(descGroupMembers, float64(g.Members), name)
		gauge(descGroupBench, float64(g.Bench), name)
		gauge(descGroupRebalances, float64(g.Rebalances), name)
		gauge(descGroupLost, float64(g.LostPartitionMs)/1000, name)
		gauge(descGroupLoops, float64(g.Loops), name)
	}
}

// What is counted from the start, so that the first one is an increase.
var (
	usualCauses = []event.Why{event.WhyFirstMember, event.WhyNewMember, event.WhyLeaderRejoined, event.WhyMetadataChanged, event.WhyMemberLeft,
		event.WhySessionExpired, event.WhyNotSynced, event.WhyStaticRestarted}
	usualParts = []event.Why{event.WhyAllRejoined, event.WhySessionExpired, event.WhyMemberLeft, event.WhyRebalanceTimeout,
		event.WhyLeaderAssigned, event.WhyNotSynced, event.WhyAssignmentWritten, event.WhyGroupLoaded, event.WhyReconciled}
)

// withZeros adds to counts those that are to be there from the start.
func withZeros(counts map[event.Why]int64, usual []event.Why) map[event.Why]int64 {
	for _, why := range usual {
		counts[why] += 0
	}
	return counts
}

func seconds(nowMs, sinceMs int64) float64 { return float64(max(nowMs-sinceMs, 0)) / 1000 }

// whyLabel is a cause as a label; an unknown one has a name, too.
func whyLabel(why event.Why) string {
	if why == "" {
		return "unknown"
	}
	return string(why)
}

func (m *metrics) collectAlerts(gauge func(*prometheus.Desc, float64, ...string), count func(*prometheus.Desc, int64, ...string)) {
	if m.alerts == nil {
		return
	}
	a := m.alerts()
	count(descAlertsSent, a.Sent)
	count(descAlertsFailed, a.Failed)
	count(descAlertsRetried, a.Retried)
	gauge(descAlertsQueued, float64(a.Queued))
}
