package tab

import (
	"strconv"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

func seqText(n int64) string { return strconv.FormatInt(n, 10) }

// card is the card of the selection.
func (d *desk) card() string {
	d.t.Helper()
	return d.html["selection"]
}

// Everything that can be selected is explained: fields, bytes, the rule with its settings, and the code here and in Kafka.
func TestSelectingAnythingExplainsIt(t *testing.T) {
	d := toGhost(t)
	m := d.lesson.cursor.model
	g := m.Groups["orders-svc"]
	d.do("select", "member:"+g.Present()[0].ID)
	if len(d.asked) != 1 || d.asked[0] != sourcePath {
		t.Fatalf("the table of the code was not asked for: %q", d.asked)
	}
	d.Asked(sourcePath, 200, []byte(`{"kinds":{"MemberAdded":{"kafka":"GroupCoordinator.addMemberAndRebalance","go":["coordinator/join.go:1 addMember"]},`+
		`"OperationWatched":{"kafka":"DelayedOperationPurgatory.tryCompleteElseWatch","go":["coordinator/wait.go:1 watch"]},`+
		`"RecordsAppended":{"kafka":"UnifiedLog.appendAsLeader","go":["coordinator/cluster/append.go:1 append"]}},"guards":{}}`))
	d.frame(16)
	tape := m.Tapes[g.Partition]
	record := tape.Records[len(tape.Records)-1]
	var sent event.Event
	for _, e := range m.Lines {
		if b, ok := e.Body.(event.ReplyParked); ok && b.API == 11 {
			sent = e
		}
	}
	for _, c := range []struct {
		selected string
		want     []string
	}{
		{"member:" + g.Present()[0].ID, []string{"session.timeout.ms", "GroupCoordinator.addMemberAndRebalance", "coordinator/join.go:1 addMember", `data-arg="partition:orders-`}},
		{"op:3:" + seqText(g.Ops[0].Key.Op), []string{"tryCompleteElseWatch", string(g.Ops[0].Type)}},
		{"record:" + seqText(int64(g.Partition)) + ":" + seqText(record.Offset), []string{"key.group", "orders-svc", "UnifiedLog.appendAsLeader", "leader epoch"}},
		{"partition:orders-0", []string{"partition.assignment.strategy"}},
		{"generation:1", []string{"group.initial.rebalance.delay.ms", "range"}},
		{"event:" + seqText(sent.Seq), []string{"ReplyParked", "ticket", "Group", "orders-svc"}},
		{"request:" + seqText(sent.Body.(event.ReplyParked).Ticket), []string{"JoinGroup", "SessionTimeoutMillis", "AppendTo", "max.poll.interval.ms"}},
		{"broker:3", []string{"broker.session.timeout.ms"}},
		{"state:Stable", []string{"heartbeat"}},
	} {
		d.do("dismiss", "")
		d.do("select", c.selected)
		for _, want := range c.want {
			if !strings.Contains(strings.ToLower(d.card()), strings.ToLower(want)) {
				t.Errorf("the card of %s does not say %q:\n%s", c.selected, want, d.card())
			}
		}
	}
	// In the past the bytes are those of then: a request that has been answered since is on its way again.
	parked := "request:" + seqText(sent.Body.(event.ReplyParked).Ticket)
	d.do("end", "")
	d.do("dismiss", "")
	d.lesson.show(sent.Seq)
	d.do("select", parked)
	if !strings.Contains(d.card(), "SessionTimeoutMillis") {
		t.Errorf("the request is not on its way in the past:\n%s", d.card())
	}
}

// A table that does not come leaves the cards without code; nothing is asked twice.
func TestTheCodeMayBeMissing(t *testing.T) {
	d := toGhost(t)
	d.do("select", "state:Stable")
	for _, c := range []struct {
		status int
		body   string
	}{{0, ""}, {404, "no"}, {200, "{"}, {200, "null"}, {200, `{"kinds":null}`}} {
		d.Asked(sourcePath, c.status, []byte(c.body))
		d.do("select", "event:1")
		d.do("dismiss", "")
	}
	if len(d.asked) != 1 {
		t.Errorf("asked %q", d.asked)
	}
	if d.options.Lang != view.English {
		t.Error("the language changed")
	}
}
