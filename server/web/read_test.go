package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"nhooyr.io/websocket"

	"grouplab/coordinator/event"
	"grouplab/server/live"
	"grouplab/static/view"
)

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

func stateFrom(t *testing.T, l *lab, target string) stateJSON {
	t.Helper()
	r := l.ask("GET", target)
	raw := text(t, r)
	if r.StatusCode != 200 || strings.ContainsAny(raw, "<>\u2028") {
		t.Fatalf("%s: %d, %s", target, r.StatusCode, raw)
	}
	var s stateJSON
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStateSaysWhoIsAwaited(t *testing.T) {
	l := newLab(t, live.Config{})
	s := stateFrom(t, l, "/api/state")
	if len(s.Brokers) != 3 || !s.Brokers[1].Up || s.Brokers[1].Port != 9093 || s.NowMs != nowMs || s.World != l.hub.World() {
		t.Errorf("brokers %+v at %d", s.Brokers, s.NowMs)
	}
	if len(s.Topics) != 1 || s.Topics[0] != (topicJSON{"orders", 6, false}) {
		t.Errorf("topics %+v", s.Topics)
	}
	if len(s.Offsets) != 1 || s.Offsets[0].Leader != 1 || s.Offsets[0].EndOffset != 117 || s.Offsets[0].HighWatermark != 116 {
		t.Errorf("partitions of __consumer_offsets: %+v", s.Offsets)
	}
	if len(s.Groups) != 2 || s.Groups[0].Name != "orders-svc" || s.Groups[1].Name != nasty {
		t.Fatalf("groups %+v", s.Groups)
	}
	g := s.Groups[0]
	if g.State != event.PreparingRebalance || g.Generation != 4 || g.Leader != "c1-a" || g.Coordinator != 1 || g.Partition != 26 || len(g.Members) != 2 {
		t.Errorf("group %+v", g)
	}
	if g.Members[0].Parked != "JoinGroup" || g.Members[1].Parked != "" || g.Members[1].SessionEndsMs != nowMs+5100 {
		t.Errorf("members %+v", g.Members)
	}
	w := g.Waiting
	if w == nil || w.For != view.WaitJoin || w.Here != 1 || w.Of != 2 || len(w.Missing) != 1 || w.Missing[0].Member != "c3-a" || w.HardMs != nowMs+57000 {
		t.Errorf("waiting %+v", w)
	}
	if g.Began == nil || g.Began.Why != event.WhyNewMember || g.Began.Member != "c1-a" {
		t.Errorf("began %+v", g.Began)
	}
	if len(g.Offsets) != 1 || g.Offsets[0].Committed == nil || *g.Offsets[0].Committed != 3448 {
		t.Errorf("offsets %+v", g.Offsets)
	}
	if s.Groups[1].Waiting != nil || len(s.Groups[1].Members) != 0 {
		t.Errorf("the empty group %+v", s.Groups[1])
	}
}

func TestStateFollowsEvents(t *testing.T) {
	l := newLab(t, live.Config{Keep: 10_000})
	stateFrom(t, l, "/api/state")
	l.publish("orders-svc", event.MemberRemoved{Member: "c3-a", Why: event.WhySessionExpired},
		event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance, Why: event.WhyAllRejoined},
		event.GenerationStarted{Generation: 5, Leader: "c1-a", Members: []string{"c1-a"}, Why: event.WhyAllRejoined})
	s := stateFrom(t, l, "/api/state?group=orders-svc")
	if len(s.Groups) != 1 || s.Groups[0].Generation != 5 || s.Groups[0].State != event.CompletingRebalance || len(s.Groups[0].Members) != 1 || s.Seq != 3 {
		t.Errorf("after three events: %+v", s)
	}
	if l.asked != 1 {
		t.Errorf("the loop was asked %d times for facts", l.asked)
	}
	for range 6 { // further behind than is worth following
		l.publish("orders-svc", make([]event.Body, 0)...)
		var many []event.Body
		for range 1000 {
			many = append(many, event.HeartbeatReceived{Member: "c1-a"})
		}
		l.publish("orders-svc", many...)
	}
	if s := stateFrom(t, l, "/api/state"); l.asked != 2 || s.Groups[0].Generation != 4 || s.Seq != 6003 {
		t.Errorf("far behind, facts were asked %d times; seq %d", l.asked, s.Seq)
	}
}

func TestStateOfOneGroup(t *testing.T) {
	l := newLab(t, live.Config{})
	if s := stateFrom(t, l, "/api/state?group="+url.QueryEscape(nasty)); len(s.Groups) != 1 || s.Groups[0].Name != nasty {
		t.Errorf("groups %+v", s.Groups)
	}
	refused(t, l.ask("GET", "/api/state?group=%3Cb%3E"), 404, `no group is called "<b>"`)
}

func TestStateWithoutTheLoop(t *testing.T) {
	l := newLab(t, live.Config{})
	l.hub.Close()
	refused(t, l.ask("GET", "/api/state"), 503, "the hub is closed")
}

func TestEvents(t *testing.T) {
	l := newLab(t, live.Config{Keep: 2500})
	if r := l.ask("GET", "/api/events"); r.StatusCode != 200 || text(t, r) != "" {
		t.Errorf("no events: %s", r.Status)
	}
	for i := range 30 {
		var bodies []event.Body
		for range 100 {
			bodies = append(bodies, event.GroupRemoved{Why: event.Why(fmt.Sprint(nasty, i))})
		}
		l.publish(nasty, bodies...)
	}
	for _, c := range []struct {
		query               string
		gapTo, first, count int64
	}{
		{"", 0, 501, 2500}, {"?from=0", 0, 501, 2500}, {"?from=501", 0, 501, 2500}, {"?from=1", 500, 501, 2500}, {"?from=2000", 0, 2000, 1001},
		{"?from=3000", 0, 3000, 1}, {"?from=3001", 0, 0, 0},
	} {
		r := l.ask("GET", "/api/events"+c.query)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/x-ndjson; charset=utf-8" ||
			r.Header.Get("GroupLab-Oldest-Seq") != "501" || r.Header.Get("GroupLab-Last-Seq") != "3000" {
			t.Errorf("%s: %s, %v", c.query, r.Status, r.Header)
		}
		lines := bufio.NewScanner(r.Body)
		if c.gapTo > 0 {
			if want := fmt.Sprintf(`{"gap":{"from":1,"to":%d}}`, c.gapTo); !lines.Scan() || lines.Text() != want {
				t.Errorf("%s begins with %s, want %s", c.query, lines.Text(), want)
			}
		}
		n := int64(0)
		for ; lines.Scan(); n++ {
			var e event.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Seq != c.first+n || e.Group != nasty {
				t.Fatalf("%s, line %d: %v, %+v", c.query, n, err, e)
			}
			if bytes.ContainsAny(lines.Bytes(), "<>") {
				t.Fatalf("markup went through: %s", lines.Bytes())
			}
		}
		if n != c.count {
			t.Errorf("%s gave %d events, want %d", c.query, n, c.count)
		}
	}
	for query, words := range map[string]string{
		"?from=abc": "from=abc is no event's number", "?from=-1": "from=-1 is no event's number", "?from=": "from= is no event's number",
		"?from=1&from=2": "is no event's number", "?from=99999999999999999999": "is no event's number", "?from=1.5": "is no event's number",
		"?from=%3Cscript%3E": "from=<script> is no event's number", "?from=3002": "event 3002 does not exist yet",
	} {
		refused(t, l.ask("GET", "/api/events"+query), 400, words)
	}
}

func TestTooManyReaders(t *testing.T) {
	l := newLab(t, live.Config{})
	for range eventsAtOnce {
		l.readers <- struct{}{}
	}
	r := l.ask("GET", "/api/events")
	refused(t, r, 503, "readers are at it already")
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// A reader that does not read holds neither the loop nor the hub.
func TestEventsReaderThatStops(t *testing.T) {
	l := newLab(t, live.Config{})
	var bodies []event.Body
	for range 50_000 {
		bodies = append(bodies, event.InputGiven{Text: strings.Repeat("x", 200)})
	}
	l.publish("", bodies...)
	s := httptest.NewUnstartedServer(nil)
	s.Config = HTTPServer(l)
	s.Start()
	defer s.Close()
	r, err := http.Get(s.URL + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	began := time.Now()
	l.publish("", event.InputGiven{Text: "goes on"})
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("publishing took %v", d)
	}
	_ = r.Body.Close()
	for end := time.Now().Add(time.Minute); len(l.readers) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the reader's place is not free again")
		}
	}
}

func TestProbe(t *testing.T) {
	l := newLab(t, live.Config{})
	got := strings.NewReplacer(" ", "", "\n", "").Replace(text(t, l.ask("GET", "/api/probe?group=orders-svc&member=c1-a")))
	want := `[{"api":12,"code":27,"guard":"stateisPreparingRebalance"},{"api":11,"parked":true,"until":"c1-a","code":0}]`
	if got != want {
		t.Errorf("got %s", got)
	}
	refused(t, l.ask("GET", "/api/probe"), 400, "the group is missing")
	refused(t, l.ask("GET", "/api/probe?group="+url.QueryEscape(nasty)), 404, "unknown group")
}

func TestLive(t *testing.T) {
	l := newLab(t, live.Config{})
	s := httptest.NewServer(l)
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	defer l.hub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, _, err := websocket.Dial(ctx, s.URL+"/api/live", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {s.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	var got []string
	for len(got) < 2 {
		_, message, err := c.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(message, "<>") {
			t.Errorf("markup went through: %s", message)
		}
		got = append(got, string(message))
	}
	if !strings.HasPrefix(got[0], `{"hello":{"version":1,"world":"`+l.hub.World()) || !strings.HasPrefix(got[1], `{"events":[{"seq":0,"atMs"`) ||
		!strings.Contains(got[1], "orders-svc") {
		t.Errorf("it said %s", got)
	}
	for _, c := range []struct {
		query   string
		headers http.Header
		status  int
	}{
		{"", http.Header{"Origin": {"http://evil.example"}}, 403},
		{"", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"?from=x", nil, 400},
		{"?from=-1", nil, 400},
	} {
		_, r, err := websocket.Dial(ctx, s.URL+"/api/live"+c.query, &websocket.DialOptions{HTTPHeader: c.headers})
		if err == nil || r == nil || r.StatusCode != c.status {
			t.Errorf("%s %v: %v, %v", c.query, c.headers, r, err)
		}
	}
	refused(t, l.ask("GET", "/api/live"), 426, "this is a websocket")
}

func TestLiveHasNoPlace(t *testing.T) {
	l := newLab(t, live.Config{MaxViewers: 1})
	s := httptest.NewServer(l)
	defer s.Close()
	defer http.DefaultClient.CloseIdleConnections()
	defer l.hub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, _, err := websocket.Dial(ctx, s.URL+"/api/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if _, r, err := websocket.Dial(ctx, s.URL+"/api/live", nil); err == nil || r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("the second viewer: %v, %v", r, err)
	}
}

func TestMetrics(t *testing.T) {
	l := newLab(t, live.Config{})
	l.metrics.figures = func() Figures {
		return Figures{Connections: 3, ConnectionsTotal: 5, LoopLagMs: 1.5, LoopQueue: 2, BytesIn: 10, BytesOut: 20,
			Purgatories: []Purgatory{{2, "Heartbeat", 7, 5}},
			Requests:    []Requests{{API: 3, Count: 4}, {API: 0, Code: 6, Count: 1}}}
	}
	l.publish("orders-svc", event.RebalanceStarted{Why: event.WhyNewMember}, event.RebalanceStarted{Why: event.WhyNewMember},
		event.MemberRemoved{Member: "x", Why: event.WhySessionExpired}, event.HeartbeatReceived{Member: "c1-a", Merged: 4},
		event.HeartbeatReceived{Member: "c1-a", Code: 27}, event.ReplySent{API: 12, Code: 27}, event.ReplySent{API: 11, Code: 79},
		event.OffsetsRefused{Code: 25}, event.OffsetsCommitted{}, event.OffsetsCommitted{Loaded: true}, event.BrokerFenced{ID: 2})
	r := l.ask("GET", "/metrics")
	all := text(t, r)
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%s %v", r.Status, r.Header)
	}
	for _, line := range []string{
		`grouplab_members 2`, `grouplab_waiting_groups{for="join"} 1`, `grouplab_parked_replies{api="JoinGroup"} 1`,
		`grouplab_delayed_operations{type="DelayedHeartbeat"} 2`, `grouplab_brokers{up="true"} 3`,
		`grouplab_members_removed_total{reason="session expired"} 1`,
		`grouplab_coordinator_replies_total{api="Heartbeat",code="NONE"} 5`, `grouplab_coordinator_replies_total{api="Heartbeat",code="REBALANCE_IN_PROGRESS"} 1`,
		`grouplab_coordinator_replies_total{api="JoinGroup",code="MEMBER_ID_REQUIRED"} 1`,
		`grouplab_offset_commits_total 1`, `grouplab_offset_commits_refused_total{code="UNKNOWN_MEMBER_ID"} 1`, `grouplab_brokers_fenced_total 1`,
		`grouplab_purgatory_size{broker="2",purgatory="Heartbeat"} 7`, `grouplab_purgatory_delayed_operations{broker="2",purgatory="Heartbeat"} 5`,
		`grouplab_connections 3`, `grouplab_connections_opened_total 5`, `grouplab_loop_lag_seconds 0.0015`, `grouplab_loop_queue 2`,
		`grouplab_requests_total{api="Metadata",code="NONE"} 4`, `grouplab_requests_total{api="Produce",code="NOT_LEADER_FOR_PARTITION"} 1`,
		`grouplab_viewers 0`, `grouplab_events_total 11`, `grouplab_events_skipped_total 0`, `grouplab_event_seq 11`, `go_goroutines `,
	} {
		if !strings.Contains(all, "\n"+line) {
			t.Errorf("there is no line %s", line)
		}
	}
	if strings.Contains(all, "alert(1)") || strings.Contains(all, "orders-svc") {
		t.Error("a group's name became a label")
	}
	l.hub.Close() // without the loop the rest is still told
	if all := text(t, l.ask("GET", "/metrics")); !strings.Contains(all, "\ngrouplab_events_total 11") {
		t.Error("no metrics without the loop")
	}
}

// TestStateOfManyGroupsIsBounded: what would be told of many groups, of a group with many ids and of long names is cut, and the
// answer says so and how to get the rest.
func TestStateOfManyGroupsIsBounded(t *testing.T) {
	l := newLab(t, live.Config{})
	long := strings.Repeat("界", 10_000)
	stateFrom(t, l, "/api/state") // what comes from here on is told by events
	for i := range 250 {
		l.publish(fmt.Sprintf("g-%03d", i), event.GroupLoaded{State: event.Empty})
		l.publish("g-007", event.MemberIDIssued{Member: fmt.Sprint(long, i), ClientID: long})
	}
	s := stateFrom(t, l, "/api/state")
	if len(s.Groups) != usualLimit || s.LeftOut == nil || s.LeftOut.Groups != 252-usualLimit || !strings.Contains(s.LeftOut.Says, "?after=NAME") {
		t.Errorf("%d groups; left out: %+v", len(s.Groups), s.LeftOut)
	}
	var names []string
	for after := ""; ; {
		s := stateFrom(t, l, "/api/state?limit=70&after="+url.QueryEscape(after))
		for _, g := range s.Groups {
			names = append(names, g.Name)
		}
		if s.LeftOut == nil || s.LeftOut.Groups == 0 {
			break
		}
		after = s.Groups[len(s.Groups)-1].Name
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) != 252 {
		t.Errorf("by pages, %d groups: %q", len(names), names)
	}
	s = stateFrom(t, l, "/api/state?group=g-007&limit=3")
	g := s.Groups[0]
	if len(g.Pending) != 3 || g.LeftOut < 247 || s.LeftOut.Rows != g.LeftOut {
		t.Errorf("%d ids, %d rows left out; %+v", len(g.Pending), g.LeftOut, s.LeftOut)
	}
	if id := g.Pending[0].Member; len(id) > nameBytes+3 || !strings.HasPrefix(id, "界界") || !strings.HasSuffix(id, "界0") || !strings.Contains(id, "…") {
		t.Errorf("a long id is told as %q", id)
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=1001", "limit=x", "limit=1&limit=2", "after=a&after=b", "after=a&group=b"} {
		if r := l.ask("GET", "/api/state?"+query); r.StatusCode != 400 {
			t.Errorf("%s: %s", query, r.Status)
		}
	}
}

// TestStateWaitsItsTurn: one answer at a time is gathered, and who goes away no longer waits.
func TestStateWaitsItsTurn(t *testing.T) {
	l := newLab(t, live.Config{})
	l.keeper.turn <- struct{}{}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	refused(t, l.ask("GET", "/api/state", func(r *http.Request) { *r = *r.WithContext(gone) }), 503, "others are asking for the picture")
	<-l.keeper.turn
	stateFrom(t, l, "/api/state")
}
