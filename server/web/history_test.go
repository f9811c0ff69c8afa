package web

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/live"
)

// newRemembering is newLab with a history that has seen a group rebalance and another that waits.
func newRemembering(t testing.TB, watched ...string) *lab {
	h := history.New(history.Config{})
	l := newLab(t, live.Config{Fold: h})
	l.metrics.history, l.metrics.watched = h, watched
	l.metrics.alerts = func() Alerts { return Alerts{Sent: 3, Failed: 1, Retried: 2} }
	l.metrics.figures = func() Figures {
		return Figures{Purgatories: []Purgatory{{2, "Heartbeat", 7, 5}}, Requests: []Requests{{API: 3, Count: 4}}}
	}
	l.publish("pay/ments", event.GroupCreated{}, event.MemberAdded{Member: "a-1", ClientID: "a"}, event.MemberAdded{Member: "b-1", ClientID: "b"},
		event.RebalanceStarted{Why: event.WhyNewMember, Member: "a-1"}, event.StateChanged{From: event.Empty, To: event.PreparingRebalance},
		event.GenerationStarted{Generation: 1, Members: []string{"a-1", "b-1"}, Leader: "a-1"}, event.StateChanged{To: event.CompletingRebalance},
		event.AssignmentStored{Generation: 1, Assignments: []event.Assignment{{Member: "a-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1}}}}}},
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	l.publish(nasty, event.GroupCreated{}, event.RebalanceStarted{Why: event.WhyFirstMember}, event.StateChanged{From: event.Empty, To: event.PreparingRebalance},
		event.ReplySent{API: 11}, event.MemberRemoved{Member: "x", Why: event.WhySessionExpired}, event.OffsetsRefused{Code: 25})
	return l
}

// lastTold is a line that is there when all is known that newRemembering tells.
const lastTold = `grouplab_group_wait_seconds{group="<script>alert(1)</script>\"'&` + "\u2028" + `"} 1`

// scrape asks for the metrics until a line is among them.
func (l *lab) scrape(t *testing.T, line string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all := text(t, l.ask("GET", "/metrics"))
		if strings.Contains(all, "\n"+line) {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("there is no line %s in\n%s", line, all)
		}
	}
}

func TestHistoryMetrics(t *testing.T) {
	l := newRemembering(t, "pay*", "*alert*")
	all := l.scrape(t, lastTold)
	for _, line := range []string{
		`grouplab_groups{state="PreparingRebalance"} 1`, `grouplab_groups{state="Stable"} 1`, `grouplab_groups{state="Empty"} 0`,
		`grouplab_groups{state="Reconciling"} 0`, `grouplab_group_state_seconds_total{state="PreparingRebalance"} 1`, `grouplab_oldest_wait_seconds 1`,
		`grouplab_stuck_groups{longer_than="1m"} 0`, `grouplab_stuck_groups{longer_than="5m"} 0`, `grouplab_looping_groups 0`,
		`grouplab_remembered_generations 1`, `grouplab_untracked_facts_total 0`, `grouplab_alerts_sent_total 3`, `grouplab_alerts_failed_total 1`,
		`grouplab_group_members{group="pay/ments"} 2`, `grouplab_group_idle_members{group="pay/ments"} 1`, `grouplab_group_wait_seconds{group="pay/ments"} 0`,
		`grouplab_group_rebalances_day{group="pay/ments"} 1`, `grouplab_rebalances_total{why="new member"} 1`,
	} {
		if !strings.Contains(all, "\n"+line) {
			t.Errorf("there is no line %s", line)
		}
	}
	if l := newRemembering(t); strings.Contains(l.scrape(t, `grouplab_groups{state="Stable"} 1`), "pay/ments") {
		t.Error("a group's name became a label that nobody asked for")
	}
}

// TestMetricsLint: our names and help texts are as Prometheus wants them.
func TestMetricsLint(t *testing.T) {
	l := newRemembering(t, "*")
	l.scrape(t, `grouplab_rebalances_total{why="new member"} 1`)
	r := prometheus.NewRegistry()
	r.MustRegister(l.metrics)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	ours := families[:0]
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "grouplab_") { // the others have Kafka's own names
			ours = append(ours, f)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(ours).Lint()
	if err != nil || len(ours) < 45 {
		t.Errorf("%d families, %v", len(ours), err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestDashboard: it is JSON that Grafana imports, each metric that it names exists with the labels that it asks for, and it
// needs no panel that Grafana does not come with.
func TestDashboard(t *testing.T) {
	l := newRemembering(t, "*")
	all := l.scrape(t, lastTold)
	answer := l.ask("GET", "/grafana.json")
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("answered %s %v", answer.Status, answer.Header)
	}
	var d struct {
		Title, UID string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(text(t, answer)), &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || len(d.Panels) < 15 || len(d.Templating.List) != 3 {
		t.Errorf("%q %q, %d panels, %d variables", d.Title, d.UID, len(d.Panels), len(d.Templating.List))
	}
	metric := regexp.MustCompile(`grouplab_[a-z0-9_]+`)
	by := regexp.MustCompile(`by \(([a-z]+)\)`)
	ids, row := map[int]bool{}, map[int]int{}
	for _, p := range d.Panels {
		if p.Type != "stat" && p.Type != "timeseries" || p.Title == "" || ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q of type %s", p.ID, p.Title, p.Type)
		}
		ids[p.ID] = true
		row[p.GridPos.Y] += p.GridPos.W
		for _, target := range p.Targets {
			names := metric.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s asks for nothing of ours: %s", p.Title, target.Expr)
			}
			for _, name := range names {
				if !strings.Contains(all, "\n# TYPE "+name+" ") {
					t.Errorf("%s asks for %s, which there is not", p.Title, name)
				}
			}
			if label := by.FindStringSubmatch(target.Expr); label != nil && !regexp.MustCompile(names[0]+`\{[^}]*`+label[1]+`="`).MatchString(all) {
				t.Errorf("%s asks for %s by %s, which is no label of it", p.Title, names[0], label[1])
			}
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") {
				t.Errorf("%s: %s", p.Title, target.Expr)
			}
		}
	}
	for y, w := range row {
		if w != 24 {
			t.Errorf("the row at %d is %d wide", y, w)
		}
	}
}

// TestStateOfManyGroups: where the facts of all groups are too many, /api/state looks at the groups one by one: those in motion
// first, a page of them, or one.
func TestStateOfManyGroups(t *testing.T) {
	l := newRemembering(t)
	l.cfg.History = l.metrics.history
	l.many = true
	l.scrape(t, `grouplab_groups{state="PreparingRebalance"} 1`)
	for _, c := range []struct {
		query, first string
		groups, more int
	}{{"", nasty, 2, 0}, {"?limit=1", nasty, 1, 1}, {"?after=%3Czzz", "pay/ments", 1, 0}, {"?group=orders-svc", "orders-svc", 1, 0}} {
		var got stateJSON
		answer := l.ask("GET", "/api/state"+c.query)
		if err := json.Unmarshal([]byte(text(t, answer)), &got); err != nil || answer.StatusCode != 200 {
			t.Fatalf("%s: %s, %v", c.query, answer.Status, err)
		}
		more := 0
		if got.LeftOut != nil {
			more = got.LeftOut.Groups
		}
		if len(got.Brokers) != 3 || more != c.more || len(got.Groups) != c.groups || got.Groups[0].Name != c.first {
			t.Errorf("%s: %d brokers, %d groups, %d more: %+v", c.query, len(got.Brokers), len(got.Groups), more, got.Groups)
		}
	}
	if answer := l.ask("GET", "/api/state?group=nobody"); answer.StatusCode != 404 {
		t.Errorf("a group that there is not is answered %s", answer.Status)
	}
}
