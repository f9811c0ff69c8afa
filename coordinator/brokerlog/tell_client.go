package brokerlog

import (
	"strconv"
	"strings"

	"grouplab/coordinator/event"

	"github.com/twmb/franz-go/pkg/kerr"
)

// client is a consumer that logs.
type client struct {
	name       string
	member     string
	generation int32
	state      event.ClientState
	owned      []event.TopicPartitions
	why        string // of its next join
	lost       bool   // it has no coordinator
}

// clientOf is the client that has a member's id, "" where none told.
func (g *group) clientOf(id string) string {
	for _, c := range g.clients {
		if c.member == id {
			return c.name
		}
	}
	return ""
}

// speaker finds the client that wrote a line, by its client id, else by the member id that it says it has.
func (t *teller) speaker(g *group, s *saying) *client {
	name := s.Client
	if name == "" && s.Member != "" {
		name = clientIDOf(s.Member)
	}
	if name == "" {
		name = "client"
	}
	c := g.clients[name]
	if c == nil && len(g.clients) < maxClients {
		c = &client{name: name, state: event.Unjoined}
		g.clients[name] = c
		t.emit(g, event.ClientStarted{Client: name, InstanceID: s.Instance, Topics: topicsIn(s)})
	}
	return c
}

func topicsIn(s *saying) []string {
	if s.kind != clientSubscribed {
		return nil
	}
	return membersIn(s.Text)
}

// client folds what a consumer says of itself.
func (t *teller) client(g *group, s *saying) {
	s.fill()
	if s.kind == clientJoining && s.Group == g.name && s.Text != "" { // kafka-python writes the group behind it
		s.Text = ""
	}
	c := t.speaker(g, s)
	if c == nil {
		return
	}
	switch s.kind {
	case clientJoining:
		t.clientJoins(g, c)
	case clientWhy:
		c.why = s.Text
	case clientJoined:
		t.clientJoined(g, c, s)
	case clientLeads:
		t.clientLeads(g, c, s)
	case clientSynced, clientEpoch:
		t.clientSynced(g, c, s)
	case clientAssigned, clientAdded:
		t.clientAssigned(g, c, s)
	case clientRevoked, clientLost:
		t.clientRevoked(g, c, s)
	case clientRebalancing:
		t.believes(g, c, event.Rebalancing, "the group is rebalancing")
		t.somebodyRebalances(g, "", "")
	case clientSessionOver:
		t.sessionOver(g, c, s)
	case clientReset:
		t.clientReset(g, c, s)
	case clientPollExpired:
		c.why = "max.poll.interval.ms has passed without a call of poll()"
		t.believes(g, c, c.state, c.why)
	case clientLeaving:
		t.clientLeaves(g, c, s)
	case clientNoCoordinator:
		c.lost = true
		t.emit(g, event.CoordinatorLost{Client: c.name, Reason: s.Text})
	case clientFoundCoordinator:
		c.lost = false
		t.emit(g, event.CoordinatorFound{Client: c.name, ID: coordinatorID(s.N)})
	case clientCommitFailed:
		t.clientCommits(g, c, s)
	case clientFailed:
		t.emit(g, event.ClientFailed{Client: c.name, Code: codeIn(s.Text), Error: s.Text})
	}
}

// fill takes from pairs what the message itself does not hold.
func (s *saying) fill() {
	if len(s.pairs) == 0 {
		return
	}
	if s.Member == "" {
		s.Member = s.pairOf("memberId", "member_id")
	}
	if s.Other == "" {
		s.Other = s.pairOf("leaderId", "leader_id")
	}
	if n, err := strconv.ParseInt(s.pairOf("generation", "generationId"), 10, 32); err == nil && s.N == 0 {
		s.N = n
	}
	if s.Text == "" {
		s.Text = s.pairOf("err", "error", "why")
	}
	if s.pairOf("leader") == "true" || s.pairOf("isLeader") == "true" {
		s.Other = s.Member
	}
}

// coordinatorID is a broker's id: clients number the connection to a coordinator 2147483647 - id.
func coordinatorID(n int64) int32 {
	if n > 1<<30 {
		return int32(1<<31 - 1 - n)
	}
	return int32(n)
}

func (t *teller) believes(g *group, c *client, to event.ClientState, why string) {
	b := event.ClientStateChanged{Client: c.name, From: c.state, To: to, Member: c.member, Generation: c.generation, Reason: why}
	c.state = to
	t.emit(g, b)
}

// somebodyRebalances moves a group of which only clients tell into a rebalance.
func (t *teller) somebodyRebalances(g *group, member, says string) {
	if g.byBroker {
		return
	}
	switch g.state {
	case "":
		t.begin(g, event.Stable, g.generation)
	case event.PreparingRebalance:
		return
	}
	t.rebalance(g, reason{why: event.WhySeen, member: member, says: says})
}

func (t *teller) clientJoins(g *group, c *client) {
	why := c.why
	c.why = ""
	t.believes(g, c, event.Rebalancing, why)
	if g.state == "" && !g.byBroker {
		t.begin(g, event.Empty, g.generation)
	}
	t.somebodyRebalances(g, c.member, why)
	t.park(g, g.members[c.member])
	t.awaits(g)
}

func (t *teller) clientJoined(g *group, c *client, s *saying) {
	c.generation = int32(s.N)
	if s.Member != "" {
		c.member = s.Member
	}
	t.somebodyRebalances(g, "", "")
	m := t.add(g, c.member, s.Instance, false)
	if m != nil {
		t.answer(g, m, c.generation, "")
	}
	t.generation(g, c.generation)
	if s.Other != "" {
		if leader, me := strings.CutSuffix(s.Other, " (me)"); me || g.members[leader] != nil {
			t.lead(g, leader)
		}
	}
	t.believes(g, c, event.Rebalancing, "joined")
}

// sessionOver is all that sarama says of a generation: that it was in it, as which member, until now. Why it ended, a rebalance or the
// consumer's end, it does not say.
func (t *teller) sessionOver(g *group, c *client, s *saying) {
	c.member, c.generation = s.Member, int32(s.N)
	t.add(g, c.member, "", true)
	if !g.byBroker && c.generation > g.generation {
		g.generation = c.generation
	}
	t.believes(g, c, event.Rebalancing, "its session of generation "+strconv.FormatInt(s.N, 10)+" is over")
}

// generation begins one that clients tell of, where no broker does.
func (t *teller) generation(g *group, n int32) {
	if g.byBroker || n <= g.generation && g.state != event.PreparingRebalance {
		return
	}
	g.generation, g.joinedMs, g.size = n, t.now.AtMs, -1
	t.emit(g, event.GenerationStarted{Generation: n, Leader: g.leader, Members: g.ids(), Why: event.WhyAllRejoined, DurationMs: max(t.now.AtMs-g.startMs, 0)})
	t.enter(g, event.CompletingRebalance, event.WhyAllRejoined, "")
}

func (t *teller) clientLeads(g *group, c *client, s *saying) {
	if c.member != "" {
		t.lead(g, c.member)
	}
	list := assignmentsIn(s.Text)
	for _, a := range list {
		t.add(g, a.Member, "", false)
	}
	t.emit(g, event.AssignmentReceived{Member: c.member, Generation: c.generation, Assignments: list})
	if len(list) > 0 {
		t.emit(g, event.AssignmentStored{Generation: c.generation, Assignments: list})
	}
}

// clientSynced: the consumer has its assignment; KIP-848: it has come to another state.
func (t *teller) clientSynced(g *group, c *client, s *saying) {
	if s.Member != "" {
		c.member = s.Member
	}
	if s.kind == clientEpoch {
		t.begin(g, event.Stable, g.generation)
		t.add(g, c.member, s.Instance, false)
		c.generation = int32(s.N)
		t.believes(g, c, modernState(s.State), s.State)
		return
	}
	if s.N > 0 {
		c.generation = int32(s.N)
	}
	known := g.members[c.member] != nil
	t.add(g, c.member, s.Instance, false)
	if !known || g.state == event.PreparingRebalance { // kafkajs says no more than this, and no generation
		if s.N == 0 && c.generation <= g.generation {
			c.generation = g.generation + 1
		}
		t.somebodyRebalances(g, c.member, "")
		if m := g.members[c.member]; m != nil {
			t.answer(g, m, c.generation, "")
		}
		t.generation(g, c.generation)
	}
	if s.Other != "" && g.members[s.Other] != nil {
		t.lead(g, s.Other)
	}
	if text := s.pairOf("memberAssignment", "assigned"); text != "" {
		t.takes(g, c, partitionsIn(text))
	}
	t.believes(g, c, event.Joined, "synced")
	if !g.byBroker && g.state != event.Stable {
		t.enter(g, event.Stable, event.WhyAssignmentWritten, "")
		t.record(g, t.now.AtMs)
	}
}

// modernState is what a state of AbstractMembershipManager is in the words of the classic protocol.
func modernState(name string) event.ClientState {
	switch name {
	case "STABLE":
		return event.Joined
	case "JOINING", "RECONCILING", "ACKNOWLEDGING":
		return event.Rebalancing
	}
	return event.Unjoined
}

func (t *teller) clientAssigned(g *group, c *client, s *saying) {
	topics := partitionsIn(s.Text)
	if added := s.pairOf("added"); added != "" {
		topics = partitionsIn(added)
	}
	if len(topics) == 0 && s.N > 0 { // librdkafka tells how many, and not which
		return
	}
	if s.kind == clientAdded {
		topics = merged(c.owned, topics)
	}
	t.takes(g, c, topics)
}

func (t *teller) takes(g *group, c *client, topics []event.TopicPartitions) {
	c.owned = topics
	t.emit(g, event.ClientAssigned{Client: c.name, Member: c.member, Generation: c.generation, Topics: topics})
	if c.member != "" {
		t.emit(g, event.AssignmentStored{Generation: c.generation, Assignments: []event.Assignment{{Member: c.member, Topics: topics}}})
	}
}

// merged adds partitions to those of a list, each once.
func merged(list, more []event.TopicPartitions) []event.TopicPartitions {
	out := append([]event.TopicPartitions(nil), without(list, more)...)
next:
	for _, tp := range more {
		for i := range out {
			if out[i].Topic == tp.Topic {
				out[i].Partitions = append(append([]int32(nil), out[i].Partitions...), tp.Partitions...)
				continue next
			}
		}
		out = append(out, tp)
	}
	return out
}

// without takes partitions away from a list.
func without(list, gone []event.TopicPartitions) (left []event.TopicPartitions) {
	drop := map[string]map[int32]bool{}
	for _, tp := range gone {
		if drop[tp.Topic] == nil {
			drop[tp.Topic] = map[int32]bool{}
		}
		for _, p := range tp.Partitions {
			drop[tp.Topic][p] = true
		}
	}
	for _, tp := range list {
		kept := event.TopicPartitions{Topic: tp.Topic}
		for _, p := range tp.Partitions {
			if !drop[tp.Topic][p] {
				kept.Partitions = append(kept.Partitions, p)
			}
		}
		if len(kept.Partitions) > 0 {
			left = append(left, kept)
		}
	}
	return left
}

func (t *teller) clientRevoked(g *group, c *client, s *saying) {
	topics := partitionsIn(s.Text)
	if s.N > 0 && len(topics) == 0 || s.kind == clientLost && len(topics) == 0 {
		topics = c.owned
	}
	c.owned = without(c.owned, topics)
	t.emit(g, event.ClientRevoked{Client: c.name, Topics: topics, Lost: s.kind == clientLost})
}

func (t *teller) clientReset(g *group, c *client, s *saying) {
	if codeIn(s.Text) == kerr.RebalanceInProgress.Code {
		t.believes(g, c, event.Rebalancing, s.Text)
		t.somebodyRebalances(g, "", "")
		return
	}
	c.why = s.Text
	t.believes(g, c, event.Unjoined, s.Text)
}

func (t *teller) clientLeaves(g *group, c *client, s *saying) {
	if s.Member != "" {
		c.member = s.Member
	}
	says := s.Text
	if says == "" {
		says = c.why
	}
	gone := c.member
	t.believes(g, c, event.Unjoined, says)
	if gone == "" || g.byBroker {
		return
	}
	t.begin(g, event.Stable, g.generation)
	t.remove(g, gone, event.WhyMemberLeft, says)
	c.member, c.owned = "", nil
	if len(g.members) == 0 {
		t.enter(g, event.Empty, event.WhyNoMembers, "")
	} else if g.state == event.Stable {
		t.rebalance(g, reason{why: event.WhyMemberLeft, member: gone, says: says})
	}
}

func (t *teller) clientCommits(g *group, c *client, s *saying) {
	b := event.OffsetsRefused{Member: c.member, Generation: c.generation, GroupGeneration: g.generation, State: g.state, Code: codeIn(s.Text)}
	offset := int64(-1)
	if s.N > 0 {
		offset = s.N
	}
	for _, tp := range partitionsIn(s.list) {
		for _, p := range tp.Partitions {
			b.Offsets = append(b.Offsets, event.OffsetValue{Topic: tp.Topic, Partition: p, Offset: offset, LeaderEpoch: -1, Code: b.Code})
		}
	}
	t.emit(g, b)
}

// codeIn finds Kafka's error in what clients write of it: its name, its words, or the name of Java's or Python's exception. -1 (unknown) where none is found.
func codeIn(text string) int16 {
	lower := strings.ToLower(text)
	for _, e := range clientErrors {
		for _, w := range e.words {
			if strings.Contains(lower, w) {
				return e.code
			}
		}
	}
	return kerr.UnknownServerError.Code
}

// clientErrors are the errors of the group protocol, by words that only they have.
var clientErrors = []struct {
	code  int16
	words []string
}{
	{27, []string{"rebalance_in_progress", "rebalance in progress", "is rebalancing", "undergoing a rebalance", "executing a rebalance", "rebalanceinprogress"}},
	{22, []string{"illegal_generation", "illegalgeneration", "generation id is not valid", "generation is already stale", "generation id provided in the request is not"}},
	{25, []string{"unknown_member_id", "unknownmemberid", "not aware of this member", "unknown member", "not part of an active group", "kicked out of the group", "already rebalanced"}},
	{82, []string{"fenced_instance_id", "fencedinstanceid", "fenced by", "group.instance.id", "static consumer fenced"}},
	{110, []string{"fenced_member_epoch", "fencedmemberepoch", "is fenced"}},
	{113, []string{"stale_member_epoch", "stalememberepoch", "stale member epoch"}},
	{16, []string{"not_coordinator", "notcoordinator", "not the correct coordinator", "not coordinator"}},
	{14, []string{"coordinator_load_in_progress", "loading", "load in progress"}},
	{15, []string{"coordinator_not_available", "coordinatornotavailable", "coordinator is not available", "coordinator not available"}},
	{79, []string{"member_id_required", "memberidrequired", "valid member id"}},
	{23, []string{"inconsistent_group_protocol", "inconsistentgroupprotocol"}},
	{30, []string{"group_authorization_failed", "groupauthorization", "not authorized to access group"}},
	{7, []string{"request_timed_out", "timed out", "timeout"}},
	{88, []string{"unstable_offset_commit", "unstableoffset"}},
}
