package tab

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// cluster is a world whose events are sent as server/live sends them.
type cluster struct {
	t *testing.T
	e *script.Engine
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, e: script.New("live")}
	c.run("topic orders 6", "group shop", "consumer a session=10s", "consumer b session=10s", "start a", "start b", "until state Stable and members == 2")
	return c
}

// run does commands and returns what happened.
func (c *cluster) run(lines ...string) []event.Event {
	c.t.Helper()
	var all []event.Event
	for _, l := range lines {
		command, err := script.ParseLine("live", 1, l)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := c.e.Do(command); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, c.e.Take()...)
	}
	return all
}

func (c *cluster) say(name string, what any) []byte {
	text, err := json.Marshal(map[string]any{name: what})
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// messages are events in messages of at most ten.
func (c *cluster) messages(events []event.Event) [][]byte {
	var list [][]byte
	for len(events) > 0 {
		n := min(10, len(events))
		text, err := json.Marshal(map[string]any{"events": events[:n], "nowMs": c.e.NowMs()})
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, text)
		events = events[n:]
	}
	return list
}

func openLive(t *testing.T, may bool) *desk {
	return &desk{Tab: NewLive(may, Choices{Motion: "full"}), t: t, wall: 1000}
}

func (d *desk) receive(list ...[]byte) {
	for _, text := range list {
		d.Message(text)
	}
	d.frame(16)
}

// connectTo plays the server's part up to the facts.
func (d *desk) connectTo(c *cluster) {
	d.Socket(true, "")
	d.receive(c.say("hello", map[string]any{"version": 1, "world": "w1", "seq": 1, "nowMs": c.e.NowMs()}))
	d.receive(c.messages(c.e.World().Facts())...)
}

func TestLiveShowsFactsThenEvents(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	if u := d.frame(16); u.Connect != "api/live?overview=1" {
		t.Fatalf("connects to %q", u.Connect)
	}
	d.connectTo(c)
	g := d.mode.(*liveMode).model.Groups["shop"]
	if g == nil || g.State != event.Stable || len(g.Present()) != 2 || g.Generation != 1 {
		t.Fatalf("the facts show %+v", g)
	}
	if got := d.options.Live; !got.Connected || got.Bootstrap == "" {
		t.Errorf("the stream is %+v", got)
	}
	d.receive(c.messages(c.run("kill a", "advance 4s"))...)
	w := d.mode.(*liveMode).model.Waiting("shop")
	ghosts := 0
	for _, m := range d.mode.(*liveMode).model.Groups["shop"].Present() {
		if m.Gone && m.ClientID == "a" {
			ghosts++
		}
	}
	if ghosts != 1 || w.Kind != view.WaitNothing {
		t.Errorf("after a kill the picture shows %d ghosts: %+v", ghosts, w)
	}
	d.receive(c.messages(c.run("until members == 1 and state Stable"))...)
	if g := d.mode.(*liveMode).model.Groups["shop"]; len(g.Present()) != 1 || g.State != event.Stable {
		t.Errorf("the end is not shown: %s with %d members", g.State, len(g.Present()))
	}
	d.frame(2 * speakMs)
	d.frame(2 * speakMs)
	if all := strings.Join(d.said, "\n"); !strings.Contains(all, "shop: ") {
		t.Errorf("nobody was told: %q", all)
	}
}

// TestLiveHalfOfTheFactsIsNotShown: a picture appears when it is whole.
func TestLiveHalfOfTheFactsIsNotShown(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.Socket(true, "")
	facts := c.messages(c.e.World().Facts())
	if len(facts) < 2 {
		t.Fatal("the facts fit into one message")
	}
	d.frame(16)
	before := d.drawn
	d.receive(facts[:len(facts)-1]...)
	for range 5 {
		d.frame(300)
	}
	if d.drawn != before || d.last.Busy {
		t.Fatalf("half a picture is drawn: %d parts", d.drawn-before)
	}
	d.Socket(false, "gone") // begin anew
	for d.last.Connect == "" {
		d.frame(50)
	}
	if d.last.Connect != "api/live?overview=1" {
		t.Fatalf("half of the facts are taken for a place to go on from: %q", d.last.Connect)
	}
	d.Socket(true, "")
	d.receive(facts...)
	if d.drawn == before || d.mode.(*liveMode).model.Groups["shop"] == nil {
		t.Fatal("the whole picture is not drawn")
	}
	if want := c.e.World().Facts(); d.mode.(*liveMode).seq != want[len(want)-1].Seq {
		t.Errorf("goes on from %d, the facts are those of %d", d.mode.(*liveMode).seq, want[len(want)-1].Seq)
	}
}

func TestLiveReconnects(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	seq := d.mode.(*liveMode).seq
	d.Socket(false, "the server stops")
	d.frame(16)
	if d.options.Live.Connected || d.options.Live.RetryMs <= 0 {
		t.Fatalf("the stream is %+v", d.options.Live)
	}
	now := d.mode.(*liveMode).model.NowMs
	waits := []int64{}
	for range 8 {
		var waited int64
		for d.last.Connect == "" {
			d.frame(50)
			waited += 50
		}
		waits = append(waits, waited)
		want := "api/live?" + url.Values{"overview": {"1"}, "from": {fmt.Sprint(seq + 1)}, "world": {"w1"}}.Encode()
		if d.last.Connect != want {
			t.Fatalf("connects to %q, not %q", d.last.Connect, want)
		}
		d.Socket(false, "refused")
		d.last.Connect = ""
	}
	if waits[0] > 1000 || waits[3] < 3*waits[0] || waits[7] > maxRetryMs+100 || waits[7] < waits[3] {
		t.Errorf("the attempts come after %v ms", waits)
	}
	if d.mode.(*liveMode).model.NowMs != now {
		t.Error("the clock goes on without a connection: what it says would be a guess")
	}
	d.Socket(true, "")
	d.receive(c.say("hello", map[string]any{"world": "w1", "nowMs": c.e.NowMs()}))
	d.receive(c.messages(c.run("advance 1s"))...)
	if d.mode.(*liveMode).model.Seq != d.mode.(*liveMode).seq || len(d.mode.(*liveMode).model.Gaps) > 0 {
		t.Errorf("at event %d of %d, gaps %v", d.mode.(*liveMode).model.Seq, d.mode.(*liveMode).seq, d.mode.(*liveMode).model.Gaps)
	}
}

func TestLiveGapsAreShown(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	from := d.mode.(*liveMode).seq
	missed := c.run("advance 5s")
	last := missed[len(missed)-1]
	d.receive(c.say("gap", map[string]any{"from": from + 1, "to": last.Seq, "events": last.Seq - from, "fromMs": 0, "toMs": 5000, "reason": "more than 10 events behind"}))
	d.receive(c.messages(c.e.World().Facts())...)
	if gaps := d.mode.(*liveMode).model.Gaps; len(gaps) != 1 || gaps[0].FromSeq != from+1 || gaps[0].ToSeq != last.Seq {
		t.Fatalf("gaps: %+v", gaps)
	}
	if g := d.mode.(*liveMode).model.Groups["shop"]; g.State != event.Stable || len(g.Present()) != 2 {
		t.Errorf("after the gap the picture is %s with %d members", g.State, len(g.Present()))
	}
	d.receive(c.say("gap", map[string]any{"from": 0, "to": 9, "events": 0, "reason": "the server was started again"}))
	if !strings.Contains(d.options.Note, "the server was started again") {
		t.Errorf("said %q", d.options.Note)
	}
}

func TestLiveFreeze(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	d.key("f")
	seq, now := d.mode.(*liveMode).model.Seq, d.mode.(*liveMode).model.NowMs
	events := c.run("advance 5s")
	d.receive(c.messages(events)...)
	d.frame(5000)
	if d.mode.(*liveMode).model.Seq != seq || d.mode.(*liveMode).model.NowMs != now || d.options.Live.Behind != len(events) || !d.options.Live.Frozen {
		t.Fatalf("frozen at %d, shows %d: %+v", seq, d.mode.(*liveMode).model.Seq, d.options.Live)
	}
	d.key("f")
	if d.mode.(*liveMode).model.Seq != events[len(events)-1].Seq || d.options.Live.Behind != 0 {
		t.Fatalf("after the freeze it shows %d of %d", d.mode.(*liveMode).model.Seq, events[len(events)-1].Seq)
	}
}

// TestLiveFreezeOverflows: what is kept is bounded; afterwards the picture begins anew, with a gap.
func TestLiveFreezeOverflows(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	d.do("freeze", "")
	raw, err := json.Marshal(event.Event{Seq: d.mode.(*liveMode).seq + 1, AtMs: 1, Body: event.InputGiven{Text: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]json.RawMessage, 1000)
	for i := range batch {
		batch[i] = raw
	}
	for range maxKept/len(batch) + 1 {
		d.mode.(*liveMode).events(batch)
	}
	if len(d.mode.(*liveMode).kept) > maxKept || !d.mode.(*liveMode).lost || d.mode.(*liveMode).behind != maxKept+len(batch) {
		t.Fatalf("kept %d, behind %d", len(d.mode.(*liveMode).kept), d.mode.(*liveMode).behind)
	}
	if u := d.do("freeze", ""); u.Connect != "api/live?overview=1" || len(d.mode.(*liveMode).model.Gaps) != 1 {
		t.Fatalf("begins anew at %q with gaps %v", u.Connect, d.mode.(*liveMode).model.Gaps)
	}
}

// TestLiveBadMessages: what cannot be read is told; the rest is shown.
func TestLiveBadMessages(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	for text, want := range map[string]string{
		`{`:  "cannot be read",
		`[]`: "cannot be read",
		`{"events":[{"seq":1,"kind":"Nonsense","body":{}}],"nowMs":1}`: `no kind is called "Nonsense"`,
		`{"events":[7],"nowMs":1}`:                                     "an event is a JSON object",
		`{"clock":{"nowMs":5}}`:                                        "",
		`{"surprise":{}}`:                                              "",
	} {
		d.options.Note = ""
		d.receive([]byte(text))
		if !strings.Contains(d.options.Note, want) || want == "" && d.options.Note != "" {
			t.Errorf("%s: said %q", text, d.options.Note)
		}
	}
	if g := d.mode.(*liveMode).model.Groups["shop"]; g.State != event.Stable {
		t.Error("the picture was harmed")
	}
}

// TestLiveClock follows the message that travelled fastest, and never goes back.
func TestLiveClock(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	base := c.e.NowMs()
	at := func(serverMs int64) {
		d.receive(c.say("clock", map[string]any{"nowMs": serverMs}))
	}
	at(base + 10_000)
	fast := d.mode.(*liveMode).aheadMs
	d.frame(1000)
	at(base + 10_500) // half a second late
	if d.mode.(*liveMode).aheadMs != fast {
		t.Errorf("a slow message moved the clock by %d ms", d.mode.(*liveMode).aheadMs-fast)
	}
	at(base + 20_000)
	if d.mode.(*liveMode).aheadMs <= fast {
		t.Error("a faster message does not move the clock")
	}
}

func TestLiveActions(t *testing.T) {
	d := openLive(t, true)
	d.frame(16)
	d.Socket(true, "")
	for _, c := range []struct{ action, arg, path, body string }{
		{"kill-broker", "2", "api/brokers/2/kill", ""},
		{"restart-broker", "2", "api/brokers/2/restart", ""},
		{"add-partitions", "orders 8", "api/topics/orders/partitions", `{"total":8}`},
		{"demo", "2", "api/demo", `{"start":2}`},
		{"demo-kill", "demo-1", "api/demo", `{"kill":"demo-1"}`},
		{"demo-stop", `de"mo`, "api/demo", `{"stop":"de\"mo"}`},
	} {
		u := d.do(c.action, c.arg)
		if len(u.Posts) != 1 || u.Posts[0] != (Post{c.path, c.body}) {
			t.Errorf("%s %s posts %v", c.action, c.arg, u.Posts)
		}
	}
	for _, bad := range [][2]string{{"kill-broker", "x"}, {"add-partitions", "orders"}, {"demo", "many"}, {"demo-kill", ""}, {"take-over", ""}} {
		if u := d.do(bad[0], bad[1]); len(u.Posts) > 0 || !strings.Contains(d.options.Note, "not possible here") {
			t.Errorf("%v: %v %q", bad, u.Posts, d.options.Note)
		}
	}
	d.Posted("api/demo", 429, []byte("16 run already"))
	if u := d.frame(16); !strings.Contains(d.options.Note, "16 run already") || len(u.Ask) != 1 {
		t.Errorf("refused: %q, asks %v", d.options.Note, u.Ask)
	}
	if d.frame(noteMs + 1); d.options.Note != "" {
		t.Errorf("still said: %q", d.options.Note)
	}
	d.Asked("api/demo", 200, []byte(`[{"name":"demo-1","running":true},{"name":"demo-2"},{"name":"demo-producer","running":true}]`))
	if d.frame(16); d.options.Live.Demo != 1 {
		t.Errorf("%d demo consumers", d.options.Live.Demo)
	}
	looker := openLive(t, false)
	looker.frame(16)
	if u := looker.do("kill-broker", "1"); len(u.Posts) > 0 || !strings.Contains(looker.options.Note, "look but not touch") {
		t.Errorf("without the token: %v %q", u.Posts, looker.options.Note)
	}
}

// TestLiveBehaviour: what requests would get is asked when the group's state has changed, once a second at most.
func TestLiveBehaviour(t *testing.T) {
	c, d := newCluster(t), openLive(t, false)
	d.frame(16)
	d.connectTo(c)
	asks := func() (list []string) {
		for range 30 {
			d.frame(100)
		}
		for _, a := range d.asked {
			if strings.HasPrefix(a, "api/probe?") {
				list = append(list, a)
			}
		}
		d.asked = nil
		return list
	}
	first := asks()
	if len(first) != 1 || !strings.Contains(first[0], "group=shop") || !strings.Contains(first[0], "member=") {
		t.Fatalf("asked %v", first)
	}
	d.Asked(first[0], 200, []byte(`[{"api":12,"code":0},{"api":11,"parked":true,"until":"the join phase ends"}]`))
	d.frame(16)
	if got := d.options.Behaviour; len(got) != 2 || got[0].API != 12 || !got[1].Parked || got[1].As != "member" {
		t.Errorf("behaviour %+v", got)
	}
	if again := asks(); len(again) != 0 {
		t.Errorf("asked again though nothing changed: %v", again)
	}
	d.receive(c.messages(c.run("kill a", "until members == 1 and state Stable"))...)
	if later := asks(); len(later) != 1 {
		t.Errorf("asked %v after the group changed", later)
	}
	d.Asked("api/probe?group=other", 200, []byte(`[]`))
	d.Asked(first[0], 500, []byte("no"))
	if d.frame(16); d.options.Behaviour != nil {
		t.Error("an answer that failed leaves the old one")
	}
}
