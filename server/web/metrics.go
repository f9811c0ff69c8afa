package web

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/live"
	"grouplab/static/view"
)

// metrics collects what /metrics says. What can be read off the picture is read at a scrape; what only passes by is
// counted as the events pass. No metric has a label whose values clients choose: their number would have no bound.
type metrics struct {
	hub     *live.Hub
	keeper  *keeper
	figures func() Figures
	// recordings are the recorder's metrics.
	recordings *recordings
	// history is the hub's fold, nil where there is none; watched are the groups that have metrics of their own.
	history *history.History
	watched watchedGroups
	// alerts may be nil.
	alerts func() Alerts

	mu      sync.Mutex
	removed map[event.Why]int64
	replies replies
	refused map[int16]int64 // commits, by code
	commits int64
	fenced  int64
	kafka   meters
}

type reply struct{ api, code int16 }

// replies counts answers. Under load one is mostly like the one before it.
type replies struct {
	of   map[reply]*int64
	last reply
	n    *int64 // of last
}

func (r *replies) add(api, code int16, n int64) {
	if is := (reply{api, code}); r.n == nil || is != r.last {
		if r.of == nil {
			r.of = map[reply]*int64{}
		}
		if r.of[is] == nil {
			r.of[is] = new(int64)
		}
		r.last, r.n = is, r.of[is]
	}
	*r.n += n
}

func newMetrics(hub *live.Hub, k *keeper, figures func() Figures) *metrics {
	return &metrics{hub: hub, keeper: k, figures: figures, removed: map[event.Why]int64{},
		refused: map[int16]int64{}, kafka: meters{}}
}

// observe counts. It is called by the loop with what it publishes.
func (m *metrics) observe(batch []event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for i := range batch {
		m.kafka.observe(&batch[i], now)
		switch b := batch[i].Body.(type) {
		case event.HeartbeatReceived:
			if b.Code == 0 { // quiet ones have no ReplySent
				m.replies.add(12, 0, 1+int64(b.Merged))
			} else if b.Merged > 0 {
				m.replies.add(12, b.Code, int64(b.Merged))
			}
		case event.ReplySent:
			m.replies.add(b.API, b.Code, 1)
		case event.MemberRemoved:
			m.removed[b.Why]++
		case event.OffsetsCommitted:
			if !b.Loaded {
				m.commits++
			}
		case event.OffsetsRefused:
			m.refused[b.Code]++
		case event.BrokerFenced:
			m.fenced++
		}
	}
}

func (m *metrics) handler() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(m, m.recordings, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
}

func desc(name, unit, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("grouplab_"+name, withUnit(help, unit), labels, nil)
}

var (
	descMembers     = desc("members", "members", "Members of all groups.")
	descGhosts      = desc("ghost_members", "members", "Members whose process is known to be dead and whose session still runs.")
	descParked      = desc("parked_replies", "replies", "Answers that are held back, by API.", "api")
	descWaiting     = desc("waiting_groups", "groups", "Groups that wait for somebody, by what they wait for.", "for")
	descOperations  = desc("delayed_operations", "operations", "Operations in purgatory, by type.", "type")
	descPurgatory   = desc("purgatory_size", "entries", "Entries in the watch lists of a purgatory, those of operations that are over included.", "broker", "purgatory")
	descDelayed     = desc("purgatory_delayed_operations", "operations", "Operations of a purgatory that have a timer.", "broker", "purgatory")
	descBrokers     = desc("brokers", "brokers", "Brokers by whether they run.", "up")
	descRemoved     = desc("members_removed_total", "members", "Members removed, by reason.", "reason")
	descReplies     = desc("coordinator_replies_total", "replies", "Answers of the group coordinators, by API and error code.", "api", "code")
	descCommits     = desc("offset_commits_total", "commits", "Commits that were written.")
	descRefused     = desc("offset_commits_refused_total", "commits", "Commits that were refused, by error code.", "code")
	descFenced      = desc("brokers_fenced_total", "brokers", "Brokers that the controller found dead.")
	descRequests    = desc("requests_total", "requests", "Requests over Kafka connections, by API and error code.", "api", "code")
	descConnections = desc("connections", "connections", "Kafka connections.")
	descOpened      = desc("connections_opened_total", "connections", "Kafka connections opened.")
	descIn          = desc("received_bytes_total", "bytes", "Bytes received over Kafka connections.")
	descOut         = desc("sent_bytes_total", "bytes", "Bytes sent over Kafka connections.")
	descLag         = desc("loop_lag_seconds", "seconds", "How late the loop woke up for its last deadline.")
	descQueue       = desc("loop_queue", "requests", "Requests that wait for the loop.")
	descViewers     = desc("viewers", "viewers", "Pages that watch the running cluster.")
	descViewersCut  = desc("viewers_cut_total", "viewers", "Viewers that were cut: they did not read, did not answer or spoke.")
	descViewersFull = desc("viewers_refused_total", "viewers", "Viewers for whom there was no place.")
	descPublished   = desc("events_total", "events", "Events of the cluster.")
	descEncoded     = desc("events_encoded_total", "events", "Events written as JSON for viewers, facts included.")
	descSent        = desc("events_sent_total", "events", "Events sent, summed over the viewers.")
	descSkipped     = desc("events_skipped_total", "events", "Events that viewers were not sent because they were too far behind.")
	descLeftOut     = desc("events_left_out_total", "events", "Events that were not kept for viewers: more than 100 000 in a second.")
	descGaps        = desc("viewer_gaps_total", "gaps", "Gaps that viewers were told of.")
	descSeq         = desc("event_seq", "sequence number", "Number of the last event.")
)

// Describe sends nothing: what is collected depends on what happens, which makes the collector an unchecked one.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads everything for one scrape.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	m.collectHistory(gauge, func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	})
	m.collectAlerts(gauge, count)
	m.collectPicture(gauge)
	m.collectCounted(gauge, count)
	s := m.hub.Stats()
	gauge(descViewers, float64(s.Viewers))
	count(descViewersCut, s.Cut)
	count(descViewersFull, s.Refused)
	count(descPublished, s.Published)
	count(descEncoded, s.Encoded)
	count(descSent, s.Sent)
	count(descSkipped, s.Skipped)
	count(descLeftOut, s.LeftOut)
	count(descGaps, s.Gaps)
	_, last := m.hub.Window()
	gauge(descSeq, float64(last))
	if m.figures == nil {
		return
	}
	f := m.figures()
	gauge(descConnections, float64(f.Connections))
	count(descOpened, f.ConnectionsTotal)
	count(descIn, f.BytesIn)
	count(descOut, f.BytesOut)
	gauge(descLag, f.LoopLagMs/1000)
	gauge(descQueue, float64(f.LoopQueue))
	for _, p := range f.Purgatories {
		gauge(descPurgatory, float64(p.Size), strconv.Itoa(int(p.Broker)), p.Name)
		gauge(descDelayed, float64(p.Delayed), strconv.Itoa(int(p.Broker)), p.Name)
	}
	for _, r := range f.Requests {
		count(descRequests, r.Count, event.APIName(r.API), event.CodeName(r.Code))
	}
}

// collectTimeout is how long a scrape waits for the loop. Without the loop the other figures are still told.
const collectTimeout = 5 * time.Second

func (m *metrics) collectPicture(gauge func(*prometheus.Desc, float64, ...string)) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	_ = m.keeper.now(ctx, func(model *view.Model) {
		waits, ops := map[view.WaitKind]float64{}, map[event.OpKind]float64{}
		var members, ghosts, joins, syncs float64
		for _, name := range model.GroupNames() {
			g := model.Groups[name]
			if w := model.Waiting(name); w.Kind != view.WaitNothing {
				waits[w.Kind]++
			}
			for _, mb := range g.Present() {
				members++
				if mb.Gone {
					ghosts++
				}
			}
			joins, syncs = joins+float64(len(g.Join)), syncs+float64(len(g.Sync))
			for _, op := range g.Ops {
				ops[op.Type]++
			}
		}
		for kind, n := range waits {
			gauge(descWaiting, n, string(kind))
		}
		for kind, n := range ops {
			gauge(descOperations, n, string(kind))
		}
		gauge(descMembers, members)
		gauge(descGhosts, ghosts)
		gauge(descParked, joins, "JoinGroup")
		gauge(descParked, syncs, "SyncGroup")
		up := map[bool]float64{true: 0, false: 0}
		for _, b := range model.Brokers {
			up[b.Up]++
		}
		for is, n := range up {
			gauge(descBrokers, n, strconv.FormatBool(is))
		}
		collectGroups(model, gauge)
	})
}

func (m *metrics) collectCounted(gauge func(*prometheus.Desc, float64, ...string), count func(*prometheus.Desc, int64, ...string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kafka.collect(gauge, count, time.Now())
	for why, n := range m.removed {
		count(descRemoved, n, string(why))
	}
	for r, n := range m.replies.of {
		count(descReplies, *n, event.APIName(r.api), event.CodeName(r.code))
	}
	for code, n := range m.refused {
		count(descRefused, n, event.CodeName(code))
	}
	count(descCommits, m.commits)
	count(descFenced, m.fenced)
}
