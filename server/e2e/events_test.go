package e2e

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"nhooyr.io/websocket"

	"grouplab/coordinator/event"
	"grouplab/server/app"
)

// events reads everything that the server has told so far.
func events(t testing.TB, s *app.Server) (all []event.Event) {
	t.Helper()
	answer, err := http.Get("http://" + s.HTTPAddr() + "/api/events?from=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		all = append(all, e)
	}
	return all
}

// TestEventsNameTheGhost: when a client dies, the stream says at once which member nobody speaks for any more, long
// before its session is over; and it goes without holes.
func TestEventsNameTheGhost(t *testing.T) {
	t.Parallel()
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Set: quick})
	a := joinKcat(t, s.KafkaAddrs(), "haunted", "orders", "session.timeout.ms=8000", "client.id=victim")
	b := joinKcat(t, s.KafkaAddrs(), "haunted", "orders", "session.timeout.ms=8000", "client.id=survivor")
	eventually(t, 20*time.Second, func() error {
		if len(a.assignment()) != 3 || len(b.assignment()) != 3 {
			return fmt.Errorf("a has %v, b has %v", a.assignment(), b.assignment())
		}
		return nil
	})
	a.cmd.Process.Kill()
	eventually(t, 20*time.Second, func() error {
		if len(b.assignment()) != 6 {
			return fmt.Errorf("the survivor has %v", b.assignment())
		}
		return nil
	})
	all := events(t, s)
	victim, closedMs, removedMs := "", int64(0), int64(0)
	software := map[string]string{}
	for i, e := range all {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has Seq %d", i+1, e.Seq)
		}
		switch body := e.Body.(type) {
		case event.ConnectionOpened:
			software[body.ClientID] = body.Software
		case event.MemberAdded:
			if body.ClientID == "victim" {
				victim = body.Member
			}
		case event.ConnectionClosed:
			if victim != "" && slices.Contains(body.Members, victim) {
				closedMs = e.AtMs
			}
			if body.ClientID == "survivor" && len(body.Members) > 0 {
				t.Errorf("the survivor is told to be a ghost: %v", e)
			}
		case event.MemberRemoved:
			if body.Member == victim {
				removedMs = e.AtMs
			}
		}
	}
	if closedMs == 0 || removedMs-closedMs < 4000 {
		t.Errorf("ghost %q: its connection closed at %d, it was removed at %d", victim, closedMs, removedMs)
	}
	if software["victim"] == "" {
		t.Errorf("the clients' software is not known: %v", software)
	}
}

// TestGhostsOfDirectJoins: a client that speaks JoinGroup below v4 has no member id while it waits for its first answer,
// and is named all the same.
func TestGhostsOfDirectJoins(t *testing.T) {
	t.Parallel()
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 1, Set: []string{"group.initial.rebalance.delay.ms=60000"}})
	w := dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, "old")
	w.send(joinOf("old"))
	eventually(t, 5*time.Second, func() error {
		for _, e := range events(t, s) {
			if _, ok := e.Body.(event.ReplyParked); ok {
				return nil
			}
		}
		return fmt.Errorf("the join is not parked")
	})
	w.Close()
	eventually(t, 5*time.Second, func() error {
		added := ""
		for _, e := range events(t, s) {
			switch body := e.Body.(type) {
			case event.MemberAdded:
				added = body.Member
			case event.ConnectionClosed:
				if len(body.Members) == 1 && body.Members[0] == added {
					return nil
				}
			}
		}
		return fmt.Errorf("the ghost of %q is not named", added)
	})
}

// TestProbe: what each request would get now, of a member and of a newcomer.
func TestProbe(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Set: quick})
	consumer := consume(t, s, "asked", newSink())
	var member string
	eventually(t, 20*time.Second, func() error {
		id, generation := consumer.GroupMetadata()
		if member = id; generation < 1 {
			return fmt.Errorf("not a member yet")
		}
		return nil
	})
	probed := func(member string) map[int16]string {
		answer, err := http.Get("http://" + s.HTTPAddr() + "/api/probe?group=asked&member=" + member)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var list []struct {
			API    int16
			Parked bool
			Code   int16
		}
		if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v", answer.Status, err)
		}
		said := map[int16]string{}
		for _, p := range list {
			said[p.API] = fmt.Sprint(p.Parked, " ", p.Code)
		}
		return said
	}
	// A leader that joins again with what it joined with starts a rebalance; alone, it is answered at once.
	eventually(t, 10*time.Second, func() error {
		got := probed(member)
		if got[11] != "false 0" || got[14] != "false 0" || got[12] != "false 0" || got[13] != "false 0" || got[8] != "true 0" || got[9] != "false 0" {
			return fmt.Errorf("the member would get %v", got)
		}
		return nil
	})
	if got := probed(""); got[11] != "false 79" || got[12] != "false 25" {
		t.Errorf("a newcomer would get %v", got)
	}
}

// TestLateViewerSeesTheGhost: who opens the page after the kill learns from the facts alone who is connected and who is
// not.
func TestLateViewerSeesTheGhost(t *testing.T) {
	t.Parallel()
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Set: quick})
	a := joinKcat(t, s.KafkaAddrs(), "haunted", "orders", "session.timeout.ms=240000", "client.id=victim")
	b := joinKcat(t, s.KafkaAddrs(), "haunted", "orders", "session.timeout.ms=240000", "client.id=survivor")
	eventually(t, 20*time.Second, func() error {
		if len(a.assignment()) != 3 || len(b.assignment()) != 3 {
			return fmt.Errorf("a has %v, b has %v", a.assignment(), b.assignment())
		}
		return nil
	})
	a.cmd.Process.Kill()
	eventually(t, 10*time.Second, func() error {
		connected, ghosts, members := map[string]bool{}, map[string]bool{}, map[string]string{}
		for _, e := range facts(t, s) {
			switch body := e.Body.(type) {
			case event.ConnectionOpened:
				connected[body.ClientID] = true
			case event.ConnectionClosed:
				for _, m := range body.Members {
					ghosts[m] = true
				}
			case event.MemberAdded:
				members[body.ClientID] = body.Member
			}
		}
		if !connected["survivor"] || connected["victim"] || !ghosts[members["victim"]] || ghosts[members["survivor"]] {
			return fmt.Errorf("connected %v, ghosts %v, members %v", connected, ghosts, members)
		}
		return nil
	})
}

// facts opens the live stream as a new viewer and reads what it is told first.
func facts(t testing.TB, s *app.Server) (all []event.Event) {
	t.Helper()
	viewed(t, s, "", func(e event.Event) bool {
		all = append(all, e)
		return e.Body.Kind() != "FactsEnded"
	})
	return all
}

// viewed opens the page's own stream, with this query, and gives each event to f until f wants no more.
func viewed(t testing.TB, s *app.Server, query string, f func(event.Event) bool) {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), "ws://"+s.HTTPAddr()+"/api/live"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	for {
		_, text, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var message struct{ Events []event.Event }
		if err := json.Unmarshal(text, &message); err != nil {
			t.Fatal(err)
		}
		for _, e := range message.Events {
			if !f(e) {
				return
			}
		}
	}
}
