package kafka

import (
	"iter"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/event"
)

// maxClaims bounds how many member ids one connection is remembered for, maxClaimedBytes how long they are together with
// their groups: a client may make up any.
const (
	maxClaims       = 4096
	maxClaimedBytes = 2 << 20
)

type memberKey struct{ group, member string }

func (k memberKey) bytes() int { return len(k.group) + len(k.member) }

// owner is the connection over which a member's last group request came, nil where it is gone, and whether the
// coordinator takes the id for a member. closed is what is left of the connection of a ghost.
type owner struct {
	conn   *conn
	member bool
	closed *closedConn
}

// claims are a connection's member ids: few of most connections, so a map is made only for more. last is the one that
// spoke last.
type claims struct {
	last  memberKey
	few   []memberKey
	many  map[memberKey]struct{}
	bytes int
}

const fewClaims = 8

// add reports whether the id is among them now: there may be maxClaims of maxClaimedBytes.
func (c *claims) add(k memberKey) bool {
	if c.has(k) {
		return true
	}
	switch {
	case c.bytes+k.bytes() > maxClaimedBytes:
		return false
	case len(c.few) < fewClaims:
		c.few = append(c.few, k)
	case len(c.few)+len(c.many) >= maxClaims:
		return false
	default:
		if c.many == nil {
			c.many = map[memberKey]struct{}{}
		}
		c.many[k] = struct{}{}
	}
	c.bytes += k.bytes()
	return true
}

func (c *claims) has(k memberKey) bool {
	_, among := c.many[k]
	return among || slices.Contains(c.few, k)
}

func (c *claims) remove(k memberKey) {
	if c.has(k) {
		c.bytes -= k.bytes()
	}
	c.few = slices.DeleteFunc(c.few, func(o memberKey) bool { return o == k })
	delete(c.many, k)
}

// all visits them, in no order.
func (c *claims) all() iter.Seq[memberKey] {
	return func(visit func(memberKey) bool) {
		for _, k := range c.few {
			if !visit(k) {
				return
			}
		}
		for k := range c.many {
			if !visit(k) {
				return
			}
		}
	}
}

// members knows which connection carries which member, so that a closed one can be said to leave ghosts behind. It
// learns who is a member from the event stream and who speaks for whom from the requests.
type members struct {
	owners map[memberKey]*owner
	// joins are calls whose member has no id yet, by ticket (JoinGroup below v4). joinSeq and joinTicket name the one that
	// entered the coordinator last.
	joins               map[int64]*call
	joinSeq, joinTicket int64
}

func newMembers() members {
	return members{owners: map[memberKey]*owner{}, joins: map[int64]*call{}}
}

// asked notes who speaks in a group request, before the coordinator sees it.
func (m *members) asked(c *call) {
	var k memberKey
	switch r := c.request.(type) {
	case *kmsg.HeartbeatRequest:
		k = memberKey{r.Group, r.MemberID}
	case *kmsg.OffsetCommitRequest:
		k = memberKey{r.Group, r.MemberID}
	case *kmsg.SyncGroupRequest:
		k = memberKey{r.Group, r.MemberID}
	case *kmsg.JoinGroupRequest:
		k = memberKey{r.Group, r.MemberID}
	default:
		return
	}
	if k.member != "" {
		m.claim(c.conn, k)
	}
}

func (m *members) claim(c *conn, k memberKey) {
	if c.claims.last == k {
		return
	}
	if !c.claims.add(k) {
		return
	}
	c.claims.last = k
	o := m.owners[k]
	if o == nil {
		o = &owner{}
		m.owners[k] = o
	}
	if o.conn != nil && o.conn != c {
		o.conn.claims.remove(k)
		o.conn.claims.last = memberKey{}
	}
	o.conn, o.closed = c, nil
}

// joining notes a first join that waits for its member id.
func (m *members) joining(c *call) {
	if r, ok := c.request.(*kmsg.JoinGroupRequest); ok && r.MemberID == "" && c.ticket != 0 {
		m.joins[c.ticket] = c
	}
}

// replied learns the id that a first join was given.
func (m *members) replied(c *call, r coordinator.Reply) {
	asked, ok := c.request.(*kmsg.JoinGroupRequest)
	if !ok {
		return
	}
	delete(m.joins, r.Ticket)
	if got, ok := r.Kmsg.(*kmsg.JoinGroupResponse); ok && asked.MemberID == "" && got.MemberID != "" {
		m.claim(c.conn, memberKey{asked.Group, got.MemberID})
	}
}

// saw follows who is a member.
func (m *members) saw(e *event.Event) {
	switch b := e.Body.(type) {
	case event.RequestReceived:
		if _, waits := m.joins[b.Ticket]; waits {
			m.joinSeq, m.joinTicket = e.Seq, b.Ticket
		}
	case event.MemberAdded:
		k := memberKey{e.Group, b.Member}
		if m.owners[k] == nil {
			m.owners[k] = &owner{}
		}
		m.owners[k].member = true
		if c := m.joins[m.joinTicket]; c != nil && e.Cause == m.joinSeq && !c.conn.gone {
			m.claim(c.conn, k)
		}
	case event.MemberRemoved:
		k := memberKey{e.Group, b.Member}
		if o := m.owners[k]; o != nil {
			if o.conn != nil {
				o.conn.claims.remove(k)
				o.conn.claims.last = memberKey{}
			}
			delete(m.owners, k)
		}
	case event.BrokerStopped:
		// Its groups come back with the next coordinator's MemberAdded, if they were written.
		for k, o := range m.owners {
			if o.conn == nil {
				delete(m.owners, k)
			}
		}
	}
}

// left forgets a closed connection and returns the members that nobody speaks for now, sorted.
func (m *members) left(nowMs int64, c *conn, why string) []string {
	rest := &closedConn{c.id, c.clientID, c.broker, nowMs, why}
	var ghosts []string
	for k := range c.claims.all() {
		o := m.owners[k]
		if o == nil || o.conn != c {
			continue
		}
		o.conn, o.closed = nil, rest
		if o.member {
			ghosts = append(ghosts, k.member)
		} else {
			delete(m.owners, k)
		}
	}
	c.claims = claims{}
	if r := c.running; r != nil {
		delete(m.joins, r.ticket)
	}
	slices.Sort(ghosts)
	return ghosts
}
