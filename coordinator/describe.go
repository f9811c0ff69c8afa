package coordinator

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// describeGroups shows groups as they are. Metadata is only shown in Stable, where a protocol is elected for good; the
// assignments are those that were stored last, also while the group rebalances (Kafka 4.0: ClassicGroup.describe).
func (c *Coordinator) describeGroups(r *Request, q *kmsg.DescribeGroupsRequest) {
	resp := kmsg.NewPtrDescribeGroupsResponse()
	resp.Version = q.Version
	sent := event.ReplySent{Ticket: r.Ticket, API: apiDescribeGroups}
	for _, id := range q.Groups {
		d, guard := c.describe(id, q.Version)
		if q.IncludeAuthorizedOperations && q.Version >= 3 && d.ErrorCode == codeNone {
			d.AuthorizedOperations = groupOperations
		}
		if sent.Code == codeNone {
			sent.Code, sent.Guard = d.ErrorCode, guard
		}
		resp.Groups = append(resp.Groups, d)
	}
	c.send(only(q.Groups), resp, sent)
}

// groupOperations are the bits of all that may be done with a group (KIP-430): Read, Delete, Describe, DescribeConfigs
// and AlterConfigs. A host that restricts anybody changes them.
const groupOperations int32 = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11

func (c *Coordinator) describe(id string, version int16) (d kmsg.DescribeGroupsResponseGroup, guard string) {
	d = kmsg.NewDescribeGroupsResponseGroup()
	d.Group = id
	if _, d.ErrorCode, guard = c.gate(id, true); d.ErrorCode != codeNone {
		return d, guard
	}
	g := c.groups[id]
	switch {
	case g != nil:
	case version >= 6: // KIP-1043
		message := fmt.Sprintf("Group %s not found.", id)
		d.ErrorCode, d.ErrorMessage, d.State = codeGroupIDNotFound, &message, string(event.Dead)
		return d, guardNoGroup
	default:
		d.State = string(event.Dead)
		return d, ""
	}
	stable := g.state == event.Stable
	d.State, d.ProtocolType = string(g.state), g.protocolType
	if stable {
		d.Protocol = g.protocol
	}
	for _, m := range g.members {
		one := kmsg.DescribeGroupsResponseGroupMember{MemberID: m.id, InstanceID: m.instanceID, ClientID: m.clientID,
			ClientHost: m.clientHost, MemberAssignment: m.assignment}
		if stable {
			one.ProtocolMetadata = m.metadata(g.protocol)
		}
		d.Members = append(d.Members, one)
	}
	return d, ""
}

// listGroups lists the groups of this broker, by id. While a partition is loading the list would not be whole: Kafka 4.0
// then answers with the code alone, where the Scala coordinator sent what it had. Filters apply from the versions on that
// have them: states without regard to case and spaces around, types without regard to case (KIP-518, KIP-848); all groups
// here are of type "classic".
func (c *Coordinator) listGroups(r *Request, q *kmsg.ListGroupsRequest) {
	resp := kmsg.NewPtrListGroupsResponse()
	resp.Version = q.Version
	sent := event.ReplySent{Ticket: r.Ticket, API: apiListGroups}
	if c.loading > 0 {
		sent.Code, sent.Guard = codeLoadInProgress, fmt.Sprintf("%d partitions of __consumer_offsets are loading", c.loading)
		resp.ErrorCode = sent.Code
		c.send("", resp, sent)
		return
	}
	states := trimmed(q.StatesFilter)
	for _, g := range c.sortedGroups() {
		if !passes(states, string(g.state), q.Version >= 4) || !passes(q.TypesFilter, "classic", q.Version >= 5) {
			continue
		}
		resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{Group: g.id, ProtocolType: g.protocolType,
			GroupState: string(g.state), GroupType: "classic"})
	}
	c.send("", resp, sent)
}

// trimmed takes the spaces around the words of a filter away, as Java's String.trim does.
func trimmed(filter []string) []string {
	list := make([]string, len(filter))
	for i, f := range filter {
		list[i] = strings.TrimFunc(f, func(r rune) bool { return r <= ' ' })
	}
	return list
}

// passes tells whether a filter lets a value through; an empty one lets all.
func passes(filter []string, value string, has bool) bool {
	if !has || len(filter) == 0 {
		return true
	}
	for _, f := range filter {
		if strings.EqualFold(f, value) {
			return true
		}
	}
	return false
}
