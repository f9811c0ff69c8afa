package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// The order of checks decides what a client is told that has several faults at once.

// The coordinator of Kafka 4.0 looks at the session timeout before it asks whether the partition is loaded or its own.
func TestSessionTimeoutIsCheckedBeforeOwnership(t *testing.T) {
	b := newBench(t)
	wantCode(t, "of a group elsewhere", b.joined(b.direct("c", joinWith{group: otherGroup, session: 9})).ErrorCode, 26)
	b.c.Immigrate(b.now, 1, 5, 10)
	wantCode(t, "of a group that loads", b.joined(b.direct("c", joinWith{group: otherGroup, session: 9})).ErrorCode, 26)
	wantCode(t, "a legal one", b.joined(b.direct("c", joinWith{group: otherGroup})).ErrorCode, 14)
}

func TestSizeIsCheckedBeforeProtocols(t *testing.T) {
	b := newSmall(t, 1)
	b.oneStable(joinWith{})
	w := joinWith{kind: ptr("connect"), protocols: protocolList("roundrobin")}
	wantCode(t, "full", b.joined(b.direct("c", w)).ErrorCode, 81)
	b.c.ConfigChanged(b.now, caseSettings())
	wantCode(t, "with room", b.joined(b.direct("c", w)).ErrorCode, 23)
}

// SyncGroup: membership, generation, protocol type, protocol name, state.
func TestOrderOfChecksOfASync(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	sync := func(id string, generation int32, kind, name *string) int16 {
		q := kmsg.NewPtrSyncGroupRequest()
		q.Version, q.Group, q.MemberID, q.Generation, q.ProtocolType, q.Protocol = 4, groupID, id, generation, kind, name
		return b.synced(b.send("m", q)).ErrorCode
	}
	wantCode(t, "everything wrong", sync("nobody", 7, ptr("connect"), ptr("eager")), 25)
	wantCode(t, "generation and type", sync(m, 7, ptr("connect"), nil), 22)
	wantCode(t, "generation and name", sync(m, 7, nil, ptr("eager")), 22)
	b.direct("c", joinWith{})
	b.inState(event.PreparingRebalance)
	wantCode(t, "type in PreparingRebalance", sync(m, 1, ptr("connect"), nil), 23)
	wantCode(t, "name in PreparingRebalance", sync(m, 1, nil, ptr("eager")), 23)
	wantCode(t, "nothing but the state", sync(m, 1, nil, nil), 27)
}
