package tab

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// liveMode shows a running cluster. Package server/live says what comes over the wire.
type liveMode struct {
	t     *Tab
	model *view.Model
	may   bool

	// world and seq are what was seen last, to go on from after the connection broke.
	world string
	seq   int64
	// arriving is set while facts come in, frozen or not.
	arriving bool
	// facts is set between FactsBegan and FactsEnded: the picture is not whole then, and is not shown.
	facts bool

	connected, ended bool
	attempts         int
	retryAtMs        int64 // wall time of the next attempt; 0 while one is under way or the connection stands

	// aheadMs is how far the server's clock is ahead of the page's, by the message that travelled fastest.
	aheadMs   int64
	haveClock bool

	// frozen stops the picture; kept is what came meanwhile, lost is set where that became too much.
	frozen bool
	kept   []event.Event
	lines  map[string]int // where in kept a group's line is: a newer one takes its place
	behind int
	lost   bool

	// following is the group whose facts the connection tells.
	following string

	demo  int
	probe probe
}

const (
	// liveClockMs is how often countdowns are rendered while no fact comes.
	liveClockMs = 250
	// noteMs is how long a sentence stays: nothing that a viewer does would take it away.
	noteMs = 12_000
	// maxKept bounds what is kept while the picture is frozen.
	maxKept = 50_000
	// retryMs is the wait before the second attempt to connect; it doubles up to maxRetryMs.
	retryMs, maxRetryMs = 500, 15_000
)

// NewLive makes the page of the running cluster. may is set where the page carries the token.
func NewLive(may bool, c Choices) *Tab {
	t := newTab(c)
	m := &liveMode{t: t, model: view.NewLiveModel(), may: may, demo: -1}
	t.options = view.Watching(t.options)
	t.mode, t.options.Mode = m, view.ModeLive
	if c.Hash == "" { // an alert's link and a dashboard's have the group in the query
		c.Hash = c.Query
	}
	m.open(c.Hash)
	m.connect()
	return t
}

// connect asks for a connection that goes on where the last one ended: all groups in a line each, and one with its facts.
func (m *liveMode) connect() {
	m.retryAtMs = 0
	query := url.Values{"overview": {"1"}}
	if m.following != "" {
		query.Set("group", m.following)
	}
	if m.seq > 0 {
		query.Set("from", strconv.FormatInt(m.seq+1, 10))
		query.Set("world", m.world)
	}
	m.t.out.Connect = "api/live?" + query.Encode()
}

// socket tells how the websocket fares: it was opened, or it ended for a reason.
func (m *liveMode) socket(open bool, reason string) {
	t := m.t
	t.dirty = true
	was := m.connected
	if m.connected = open; open {
		m.attempts, m.retryAtMs = 0, 0
		if m.ended {
			t.say("connected")
		}
		t.out.Ask = append(t.out.Ask, "api/demo")
		return
	}
	if was {
		t.say("disconnected")
	}
	m.arriving = false // half of the facts are no place to go on from; seq is 0 then
	m.ended = true
	wait := min(int64(retryMs)<<min(m.attempts, 10), maxRetryMs)
	m.attempts++
	m.retryAtMs = t.wallMs + wait
}

// message is what the server sends, one member at a time.
type message struct {
	Hello *struct {
		Version int    `json:"version"`
		World   string `json:"world"`
		NowMs   int64  `json:"nowMs"`
	} `json:"hello"`
	Gap *struct {
		From, To, Events int64
		FromMs, ToMs     int64
		Reason           string
	} `json:"gap"`
	Events []json.RawMessage `json:"events"`
	NowMs  int64             `json:"nowMs"`
	Clock  *struct {
		NowMs int64 `json:"nowMs"`
	} `json:"clock"`
}

// message takes one message of the websocket. What cannot be read is told and skipped; the connection goes on.
func (m *liveMode) message(text []byte) {
	t := m.t
	var msg message
	if err := json.Unmarshal(text, &msg); err != nil {
		t.fail(fmt.Errorf("a message of the server cannot be read: %w", err))
		return
	}
	switch {
	case msg.Hello != nil:
		if m.world != msg.Hello.World {
			m.world, m.haveClock = msg.Hello.World, false
		}
		m.clock(msg.Hello.NowMs)
	case msg.Gap != nil:
		g := msg.Gap
		m.model.Missed(view.Gap{FromSeq: g.From, ToSeq: g.To, FromMs: g.FromMs, ToMs: g.ToMs})
		if g.Events > 0 {
			t.say("gap", strconv.FormatInt(g.Events, 10), event.Duration(max(g.ToMs-g.FromMs, 0)))
		} else {
			t.say("gap-unknown", g.Reason)
		}
	case msg.Clock != nil:
		m.clock(msg.Clock.NowMs)
	default:
		m.clock(msg.NowMs)
		m.events(msg.Events)
	}
}

// events takes over facts; one that cannot be read is told and skipped.
func (m *liveMode) events(raw []json.RawMessage) {
	for _, r := range raw {
		var e event.Event
		if err := json.Unmarshal(r, &e); err != nil {
			m.t.fail(err)
			continue
		}
		m.seen(e)
		if !m.frozen {
			m.apply(e)
			continue
		}
		m.keep(e)
	}
	m.t.dirty = true
}

// seen moves the place to go on from after a break. Between FactsBegan and FactsEnded there is none: half a picture
// cannot be gone on from, and the facts may be of another world, with smaller numbers.
func (m *liveMode) seen(e event.Event) {
	switch e.Body.(type) {
	case event.FactsBegan:
		m.seq, m.arriving = 0, true
	case event.FactsEnded:
		m.seq, m.arriving = e.Seq, false
	case event.GroupSummarized, event.GenerationRecorded: // they have the number of the last event that they hold
		if !m.arriving {
			m.seq = max(m.seq, e.Seq)
		}
	default:
		if !m.arriving {
			m.seq = e.Seq
		}
	}
}

func (m *liveMode) apply(e event.Event) {
	switch e.Body.(type) {
	case event.FactsBegan:
		m.facts = true
	case event.FactsEnded:
		m.facts = false
	case event.StateChanged, event.MemberRemoved:
		if !m.facts {
			m.t.announce = append(m.t.announce, event.Name(e.Group)+": "+e.Text())
		}
	}
	m.model.Apply(e)
}

// clock learns what time it is at the server.
func (m *liveMode) clock(serverMs int64) {
	if serverMs <= 0 {
		return
	}
	if ahead := serverMs - m.t.wallMs; !m.haveClock || ahead > m.aheadMs {
		m.aheadMs, m.haveClock = ahead, true
	}
}

// tick lets wall time pass. Without a connection the clock stands: what the picture says would be a guess.
func (m *liveMode) tick(wallMs, _ int64) (more bool) {
	if m.retryAtMs > 0 && wallMs >= m.retryAtMs {
		m.connect()
		m.t.dirty = true
	}
	if m.connected && m.haveClock && !m.frozen && !m.facts {
		m.model.SetNow(wallMs + m.aheadMs)
	}
	if m.t.options.Note != "" && wallMs-m.t.notedMs > noteMs {
		m.t.options.Note, m.t.dirty = "", true
	}
	m.follow()
	m.ask(wallMs)
	return false
}

// freeze stops the picture or lets it catch up.
func (m *liveMode) freeze() {
	if m.frozen = !m.frozen; m.frozen {
		m.t.say("frozen")
		return
	}
	kept := m.kept
	m.kept, m.lines = nil, nil
	if m.lost {
		m.model.Missed(view.Gap{FromSeq: m.model.Seq + 1, ToSeq: m.seq, FromMs: m.model.NowMs, ToMs: m.t.wallMs + m.aheadMs})
		m.seq = 0 // begin with facts
		m.connect()
	}
	for _, e := range kept {
		m.apply(e)
	}
	m.behind, m.lost = 0, false
	m.t.say("thawed")
}

// do does what only the page of the cluster can.
func (m *liveMode) act(action, arg string) bool {
	switch action {
	case "freeze", "play", "pause":
		m.freeze()
	case "link":
		m.t.say("link-live")
	case "list":
		what, value, _ := strings.Cut(arg, " ")
		return m.list(what, value)
	case "hash":
		if arg != m.t.linked {
			m.open(arg)
		}
	case "kill-broker", "restart-broker":
		id, ok := number(arg)
		if !ok {
			return false
		}
		m.post(action+" "+arg, fmt.Sprintf("api/brokers/%d/%s", id, strings.TrimSuffix(action, "-broker")), "")
	case "add-partitions":
		topic, count, _ := strings.Cut(arg, " ")
		total, ok := number(count)
		if !ok {
			return false
		}
		m.post(action+" "+arg, "api/topics/"+url.PathEscape(topic)+"/partitions", fmt.Sprintf(`{"total":%d}`, total))
	case "demo", "demo-kill", "demo-stop", "kill", "stop":
		return m.demoDo(strings.TrimPrefix(action, "demo-"), arg)
	default:
		return false
	}
	return true
}

// demoDo starts, kills or stops demo consumers.
func (m *liveMode) demoDo(action, arg string) bool {
	body := ""
	switch action {
	case "demo":
		n, ok := number(arg)
		if !ok {
			return false
		}
		body = fmt.Sprintf(`{"start":%d}`, n)
	default:
		name, err := json.Marshal(arg)
		if err != nil || arg == "" {
			return false
		}
		body = fmt.Sprintf(`{"%s":%s}`, action, name)
	}
	m.post(action+" "+arg, "api/demo", body)
	return true
}

func (m *liveMode) post(what, path, body string) {
	if !m.may {
		m.t.say("needs-token")
		return
	}
	m.t.out.Posts = append(m.t.out.Posts, Post{Path: path, Body: body})
	m.t.tell("asked-server", what)
}

// fill puts the stream's state into the options and returns the picture.
func (m *liveMode) filled(o *view.Options) *view.Model {
	live := &view.LiveState{Connected: m.connected, Ended: m.ended, Frozen: m.frozen, Behind: m.behind, May: m.may,
		Demo: m.demo, Bootstrap: m.bootstrap()}
	if m.retryAtMs > 0 {
		live.RetryMs = max(m.retryAtMs-m.t.wallMs, 1)
	}
	if g := m.t.group(m.model); g != nil {
		live.Past = "../recordings/?" + url.Values{"last": {"10"}, "group": {g.Name}}.Encode()
	}
	if w := m.model.Watch(); w != nil && m.t.options.Group != "" {
		live.Coming = w.Groups[m.t.options.Group] != nil && m.connected
	}
	o.Live, o.Playing = live, !m.frozen
	o.Behaviour = m.probe.answers
	return m.model
}

// bootstrap is the address for Kafka clients: that of the first broker that runs, "" where none is known.
func (m *liveMode) bootstrap() string {
	for _, id := range m.model.BrokerIDs() {
		if b := m.model.Brokers[id]; b.Up && b.Port > 0 {
			return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		}
	}
	return ""
}
