package view

import (
	"sort"
	"strings"

	"grouplab/coordinator/event"
)

// ringLook is how a session timer is drawn.
type ringLook string

const (
	ringNone    ringLook = "none"    // no timer runs
	ringRunning ringLook = "running" // the arc shrinks
	ringHeld    ringLook = "held"    // its reply is parked: the timer may fire, nothing would happen
	ringNew     ringLook = "new"     // the five-minute rule of a first join
	ringExcused ringLook = "excused" // the timer fired while the reply was parked
	ringPending ringLook = "pending" // of an id that is no member
)

// ring is a member's session timer.
type ring struct {
	Look     ringLook
	Fraction float64 // what is left
	Text     string  // whole seconds, or a mark
	Says     string  // for those who do not see it
}

// clientRow is one row of the clients' column: a member, a pending id, a process without one, or a ghost.
type clientRow struct {
	Key    string // for data-arg: "member:ID" or "client:NAME"
	Label  string
	Tags   []string
	Class  string
	Ring   ring
	Thinks string // the client's belief
	Knows  string // the coordinator's
	Differ bool
	Chips  []chip
	Note   string // where there are no chips
	// Answers are errors on their way to the client.
	Answers []string
	Tie     bool // a reply is parked: the line to the broker stays
	Moving  []moving
	Client  string
	Focus   bool
	Leader  bool
	// Instance is a static member's group.instance.id, IDs its member ids where it has had several, the one it has last.
	Instance string
	IDs      []noted
	// Votes are the assignors that the member can do, as it prefers them, where not all members say the same one.
	Votes []noted
	// member and process are who the row is of, for what only drawn rows say.
	member  *Member
	process *Client
}

// noted is a name with a word to it: one of the ids of a static member, or an assignor. Old ones are struck through.
type noted struct {
	Text, Says string
	Old        bool
}

// chip is one partition of a row.
type chip struct {
	Text, Class, Says string
	topic             string
	partition         int32
}

func (c chip) key() string { return "partition:" + c.topic + "-" + num(c.partition) }

// moving is a message on a row's wire.
type moving struct {
	Letter, Text    string
	Reply, Lost     bool
	From, To        float64
	LeftMs          int64
	Key             string
	Code            int16
	Says            string
	Count           int
	arrives, number int64
}

// clientRows are the members in the order of joining, then pending ids, then processes that have no id.
func (s *stage) clientRows() []clientRow { return s.whole(s.rowHeads()) }

// rowHeads are the same rows, with no more of members than what tells whether they differ from the crowd.
func (s *stage) rowHeads() []clientRow {
	if s.g == nil {
		return s.lonelyClients(nil)
	}
	var rows []clientRow
	seen := map[string]bool{}
	for _, mb := range s.g.Members {
		c := s.m.clientOf(s.g, mb)
		if c != nil && (c.Member == mb.ID || c.Member == "" && !mb.Removed) {
			seen[c.Name] = true
		} else if c != nil && c.Member != mb.ID {
			c = nil
		}
		rows = append(rows, s.memberHead(mb, c))
	}
	for _, p := range s.g.Pending {
		rows = append(rows, s.pendingRow(p))
	}
	return append(rows, s.lonelyClients(seen)...)
}

func (s *stage) memberHead(mb *Member, c *Client) clientRow {
	row := clientRow{Key: "member:" + mb.ID, Label: mb.Label, Client: mb.process(), member: mb, process: c}
	row.Tags, row.Class = s.memberTags(mb)
	row.Differ = s.differ(mb, c)
	row.Leader = s.g.Leader == mb.ID
	row.Focus = s.o.Focus == "client" && s.o.FocusClient == mb.process()
	return row
}

// whole says of rows all that is drawn.
func (s *stage) whole(rows []clientRow) []clientRow {
	for i := range rows {
		if rows[i].member != nil {
			s.memberRow(&rows[i], rows[i].member, rows[i].process)
		}
	}
	return rows
}

func (s *stage) memberRow(row *clientRow, mb *Member, c *Client) {
	row.Ring, row.Instance, row.IDs, row.Votes = s.ringOf(mb), plainText(mb.InstanceID, 24), s.idMarks(mb), s.votes(mb)
	row.Thinks = s.clientThinks(mb, c)
	row.Knows = s.brokerKnows(mb)
	row.Tie = !mb.Removed && (s.g.ParkedJoin(mb.ID) != nil || s.g.ParkedSync(mb.ID) != nil)
	row.Chips = s.chips(mb, c)
	if len(row.Chips) == 0 && !mb.Removed {
		row.Note = s.t("row.nothing")
	}
	if c != nil {
		row.Moving = s.moving(c.Name)
		row.Answers = answers(row.Moving)
	}
}

func (s *stage) memberTags(mb *Member) (tags []string, class string) {
	class = "row-member"
	if s.g.Leader == mb.ID && !mb.Removed {
		tags = append(tags, s.t("tag.leader"))
	}
	switch {
	case mb.Removed:
		return append(tags, s.t("tag.removed")), "row-removed"
	case mb.Gone:
		return append(tags, s.t("tag.ghost")), "row-ghost"
	case mb.New:
		tags = append(tags, s.t("tag.new"))
	}
	return tags, class
}

// ringOf finds the look of a member's session timer.
func (s *stage) ringOf(mb *Member) ring {
	op := s.g.SessionOp(mb.ID)
	held := s.g.ParkedJoin(mb.ID) != nil || s.g.ParkedSync(mb.ID) != nil
	switch {
	case mb.Removed || op == nil && !held:
		return ring{Look: ringNone, Text: "—", Says: s.t("ring.none")}
	case op == nil:
		return ring{Look: ringExcused, Says: s.t("ring.excused")}
	}
	left := max(op.DeadlineMs-s.m.NowMs, 0)
	fraction := 1.0
	if whole := op.DeadlineMs - op.StartMs; whole > 0 {
		fraction = float64(left) / float64(whole)
	}
	switch {
	case op.New:
		return ring{Look: ringNew, Fraction: fraction, Text: s.t("op.new"), Says: s.t("ring.new", s.dur(left))}
	case held:
		return ring{Look: ringHeld, Fraction: fraction, Says: s.t("ring.held")}
	}
	return ring{Look: ringRunning, Fraction: fraction, Text: num((left + 999) / 1000), Says: s.t("ring.running", s.dur(left))}
}

// clientThinks is what the process believes of itself.
func (s *stage) clientThinks(mb *Member, c *Client) string {
	switch {
	case mb.Removed && c == nil:
		return "—"
	case mb.Gone:
		return s.t("thinks.killed", s.ago(mb.GoneMs))
	case c == nil || c.Real:
		return s.t("thinks.unknown")
	}
	return s.processThinks(c)
}

func (s *stage) processThinks(c *Client) string {
	switch {
	case c.Failed != "":
		return s.t("thinks.failed", plainText(c.Failed, 60))
	case !c.Alive && c.Killed:
		return s.t("thinks.killed", s.ago(c.SinceMs))
	case !c.Alive:
		return s.t("thinks.stopped", s.ago(c.SinceMs))
	case c.Paused:
		return s.t("thinks.paused")
	case c.WaitingFor != "" && c.WaitingUntilMs > s.m.NowMs:
		return s.thinksOfWaiting(c)
	case c.Coordinator == 0 && c.Started:
		return s.t("thinks.nocoordinator")
	case c.State == event.Joined:
		return s.t("thinks.joined", string(c.State), num(c.Generation))
	}
	return string(c.State)
}

// thinksOfWaiting says shortly what a process waits for; why is in the transcript.
func (s *stage) thinksOfWaiting(c *Client) string {
	what, _, _ := strings.Cut(c.WaitingFor, " after ")
	what, _, _ = strings.Cut(what, ",")
	switch what {
	case "its application":
		return s.t("thinks.busy", string(c.State), s.left(c.WaitingUntilMs))
	case "retry back-off":
		return s.t("thinks.backoff", string(c.State), s.left(c.WaitingUntilMs))
	}
	return s.t("thinks.waiting", string(c.State), plainText(what, 28), s.left(c.WaitingUntilMs))
}

// brokerKnows is what the coordinator believes of a member.
func (s *stage) brokerKnows(mb *Member) string {
	g := s.g
	switch {
	case mb.Removed:
		return s.t("knows.removed", s.why(mb.RemovedWhy, mb.Label), s.ago(mb.RemovedMs))
	case s.o.Live != nil && s.o.Live.Outside:
		return s.t("knows.outside")
	case g.Broker == 0:
		return s.t("knows.nobody")
	}
	if p := g.ParkedJoin(mb.ID); p != nil {
		if mb.New {
			return s.t("knows.firstjoin", s.ago(p.SinceMs))
		}
		return s.t("knows.rejoined", s.ago(p.SinceMs))
	}
	if p := g.ParkedSync(mb.ID); p != nil {
		return s.t("knows.syncing", s.ago(p.SinceMs))
	}
	switch {
	case mb.AwaitsSync && g.Leader == mb.ID && g.State == event.CompletingRebalance:
		return s.t("knows.mustassign")
	case mb.AwaitsSync:
		return s.t("knows.mustsync")
	case g.State == event.PreparingRebalance:
		return s.t("knows.mustjoin", s.ago(mb.LastHeardMs))
	}
	return s.t("knows.member", s.ago(mb.LastHeardMs))
}

// differ tells whether the two beliefs contradict each other.
func (s *stage) differ(mb *Member, c *Client) bool {
	if mb.Removed {
		return c != nil && !c.Real && c.Alive && c.Member == mb.ID && c.State == event.Joined
	}
	switch {
	case mb.Gone:
		return true
	case s.g.Broker == 0:
		return false
	case c == nil || c.Real:
		return false
	case c.Paused:
		return true
	case c.State == event.Joined:
		return s.g.State != event.Stable || c.Generation != s.g.Generation
	}
	return false
}

// chips are a row's partitions: worked on, assigned and standing still, or on their way to their new owner.
func (s *stage) chips(mb *Member, c *Client) []chip {
	if mb.Removed {
		return nil
	}
	owned := map[string]bool{}
	if c != nil {
		for _, t := range c.Owned {
			for _, p := range t.Partitions {
				owned[partitionName(t.Topic, p)] = true
			}
		}
	}
	// Of a process that tells nothing, the assignment is all that is known.
	real := c == nil || c.Real
	var list []chip
	for _, t := range mb.Assigned {
		for _, p := range t.Partitions {
			n := partitionName(t.Topic, p)
			switch {
			case mb.Gone || c != nil && c.Paused:
				list = append(list, chip{n, "chip-stuck", s.t("chip.stuck"), t.Topic, p})
			case owned[n] || real && s.g.State == event.Stable:
				list = append(list, chip{n, "chip-owned", s.t("chip.owned"), t.Topic, p})
			default:
				list = append(list, chip{n, "chip-held", s.t("chip.held"), t.Topic, p})
			}
			delete(owned, n)
		}
	}
	var rest []string
	for n := range owned {
		rest = append(rest, n)
	}
	sort.Strings(rest)
	for _, n := range rest {
		list = append(list, chip{n, "chip-owned", s.t("chip.owned"), n, 0})
	}
	return list
}

// merged joins the chips of a row that look alike into one each: "orders-0,1".
func merged(list []chip) []chip {
	var out []chip
	for _, c := range list {
		if k := len(out); k > 0 && out[k-1].Class == c.Class && out[k-1].topic == c.topic {
			out[k-1].Text += "," + num(c.partition)
			continue
		}
		out = append(out, c)
	}
	return out
}

func (s *stage) pendingRow(p *PendingID) clientRow {
	row := clientRow{Key: "member:" + p.ID, Label: p.Label, Class: "row-pending", Tags: []string{s.t("tag.pending")}, Client: p.ClientID,
		Thinks: s.t("thinks.unknown"), Knows: s.t("knows.pending", s.left(p.DeadlineMs)), Note: s.t("row.notmember")}
	whole := max(p.DeadlineMs-p.SinceMs, 1)
	left := max(p.DeadlineMs-s.m.NowMs, 0)
	row.Ring = ring{Look: ringPending, Fraction: float64(left) / float64(whole), Text: num((left + 999) / 1000), Says: s.t("ring.pending", s.dur(left))}
	if c := s.m.Clients[p.ClientID]; c != nil && !c.Real {
		row.Thinks = s.processThinks(c)
		row.Moving = s.moving(c.Name)
	}
	return row
}

// lonelyClients are processes of the group that no row has yet.
func (s *stage) lonelyClients(seen map[string]bool) []clientRow {
	var rows []clientRow
	group := s.o.Group
	if s.g != nil {
		group = s.g.Name
	}
	for _, n := range s.m.ClientNames(group) {
		c := s.m.Clients[n]
		if seen[n] || c.Real || s.g != nil && s.pendingOf(n) || !c.Alive && s.hasRow(n) {
			continue
		}
		row := clientRow{Key: "client:" + n, Label: n, Class: "row-lonely", Client: n, Ring: ring{Look: ringNone, Text: "—", Says: s.t("ring.none")},
			Thinks: s.processThinks(c), Knows: s.t("knows.unknown"), Note: s.t("row.notmember"), Moving: s.moving(n),
			Focus: s.o.Focus == "client" && s.o.FocusClient == n}
		if !c.Alive {
			row.Class, row.Knows = "row-stopped", "—"
		}
		s.fencedRow(&row, c)
		rows = append(rows, row)
	}
	return rows
}

func (s *stage) pendingOf(client string) bool {
	for _, p := range s.g.Pending {
		if p.ClientID == client {
			return true
		}
	}
	return false
}

// hasRow tells whether a member row stands for a client already.
func (s *stage) hasRow(client string) bool {
	if s.g == nil {
		return false
	}
	for _, mb := range s.g.Members {
		if mb.process() == client {
			return true
		}
	}
	return false
}

// moving are the messages of a client that are on the wire now; more than three alike are bundled.
func (s *stage) moving(client string) []moving {
	var list []moving
	for _, f := range s.m.Flights {
		if f.Client != client || f.Parked || s.g != nil && f.Group != s.g.Name {
			continue
		}
		list = append(list, s.flight(f))
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].arrives != list[j].arrives {
			return list[i].arrives < list[j].arrives
		}
		return list[i].number < list[j].number
	})
	if len(list) > 3 {
		list[2].Count = len(list) - 2
		list = list[:3]
	}
	return list
}

// onWire is where a message stands that has gone a part of the way: its whole shape stays between both ends.
func onWire(done float64) float64 { return 0.3 + 0.4*done }

func (s *stage) flight(f *Flight) moving {
	mv := moving{Letter: apiLetter(f.API), Reply: f.Reply, Lost: f.ArrivesMs == 0, Code: f.Code, Key: "flight:" + num(f.Request), arrives: f.ArrivesMs, number: f.Request}
	done := 0.5
	if f.ArrivesMs > f.LeftMs {
		done = float64(s.m.NowMs-f.LeftMs) / float64(f.ArrivesMs-f.LeftMs)
		mv.LeftMs = max(f.ArrivesMs-s.m.NowMs, 0)
	}
	done = min(max(done, 0), 1)
	mv.From, mv.To = onWire(done), onWire(1)
	api := event.APIName(f.API)
	mv.Says = s.t("moving.request", api)
	if f.Reply {
		mv.From, mv.To = onWire(1-done), onWire(0)
		mv.Text = codeShort(f.Code)
		mv.Says = s.t("moving.reply", api, event.CodeName(f.Code))
	}
	if mv.Lost {
		mv.Says = s.t("moving.lost", api)
	}
	return mv
}

// split parts those who work from those who sit on the bench: members of a Stable group without a partition.
func (s *stage) split(rows []clientRow) (working, bench []clientRow) {
	if s.g == nil || s.g.State != event.Stable {
		return rows, nil
	}
	for _, r := range rows {
		if r.Class == "row-member" && len(r.Chips) == 0 {
			bench = append(bench, r)
		} else {
			working = append(working, r)
		}
	}
	if len(working) == 0 {
		return bench, nil
	}
	return working, bench
}

// compactFrom is the number of rows from which on they are drawn in two lines each.
const compactFrom = 6

// compact merges the chips where there are many rows.
func compact(rows []clientRow) []clientRow {
	if len(rows) < compactFrom {
		return rows
	}
	for i := range rows {
		rows[i].Chips = merged(rows[i].Chips)
	}
	return rows
}

// answers are the errors among the messages on a wire.
func answers(list []moving) []string {
	var codes []string
	for _, mv := range list {
		if mv.Reply && mv.Code != 0 {
			codes = append(codes, mv.Text)
		}
	}
	return codes
}

// clientRowsMost is how many rows are drawn. Of more, those that tell something stay: ghosts, who is awaited, pending ids.
const clientRowsMost = 24

func (s *stage) clientRowsShown() (rows []clientRow, more int) {
	rows = s.rowHeads()
	if len(rows) <= clientRowsMost {
		return s.whole(rows), 0
	}
	room := clientRowsMost
	for _, r := range rows {
		if r.telling() {
			room--
		}
	}
	var shown []clientRow
	for _, r := range rows {
		if r.telling() {
			shown = append(shown, r)
		} else if room > 0 {
			room--
			shown = append(shown, r)
		}
	}
	if len(shown) > 2*clientRowsMost {
		shown = shown[:2*clientRowsMost]
	}
	return s.whole(shown), len(rows) - len(shown)
}

// telling rows differ from the crowd.
func (r clientRow) telling() bool { return r.Class != "row-member" || r.Differ || r.Leader || r.Focus }
