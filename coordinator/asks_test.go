package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// TestAsks: what a member would send again is what it sent, so a probe of it tells the truth.
func TestAsks(t *testing.T) {
	mine := &member{id: "m", clientID: "c", clientHost: "/h", sessionTimeoutMs: 1, rebalanceTimeoutMs: 2, protocols: []protocol{{"range", []byte{7}}, {"sticky", []byte{8}}}}
	waits := &member{id: "p", clientID: "d", clientHost: "/h", pending: true}
	g := newGroup("g", 3, 0)
	g.members, g.byID["m"], g.pending = []*member{mine}, mine, []*member{waits}
	g.generation, g.protocol, g.protocolType, g.subscribed = 4, "range", "consumer", []string{"orders"}
	c := &Coordinator{cfg: Config{Numbers: &event.Numbers{}}, groups: map[string]*group{"g": g}}
	for _, q := range []struct {
		group, member, client string
		known                 bool
		protocols             int
	}{{"g", "m", "c", true, 2}, {"g", "p", "d", true, 1}, {"g", "", "", true, 1}, {"g", "stranger", "", false, 1}, {"none", "", "", true, 1}, {"none", "m", "", false, 1}} {
		requests, client, _, known := c.Asks(q.group, q.member)
		join := requests[0].(*kmsg.JoinGroupRequest)
		if client != q.client || known != q.known || len(join.Protocols) != q.protocols || join.MemberID != q.member || join.Group != q.group {
			t.Errorf("%q in %q: client %q, known %v, %+v", q.member, q.group, client, known, join)
		}
	}
	requests, _, _, _ := c.Asks("g", "m")
	join, commit := requests[0].(*kmsg.JoinGroupRequest), requests[4].(*kmsg.OffsetCommitRequest)
	if string(join.Protocols[1].Metadata) != "\x08" || join.RebalanceTimeoutMillis != 2 || commit.Generation != 4 || commit.Topics[0].Topic != "orders" {
		t.Errorf("%+v\n%+v", join, commit)
	}
}
