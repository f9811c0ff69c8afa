package view

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// listRow is one row of the list as it is drawn.
type listRow struct {
	Name            string
	State           event.State
	StateSays, Who  string // "Preparing · 12 s", "generation 5 · 3 members, 1 idle"
	Detail          string
	Day             string // "7 × · 84 p·s"
	DaySays         string
	Type            string // shown for what is not classic
	Current, Gone   bool
	Urgent          bool
	Stale, StaleWhy string
}

// listRows are the rows of a window.
func (s *stage) listRows(l *listed, w listWindow) []listRow {
	var rows []listRow
	for i := w.From; i < w.To; i++ {
		rows = append(rows, s.listRow(&l.lines[i]))
	}
	return rows
}

func (s *stage) listRow(l *listLine) listRow {
	row := listRow{Name: l.name, State: l.state, Gone: l.gone, Current: s.g != nil && s.g.Name == l.name}
	row.StateSays = s.stateShort(l.state)
	if l.sinceMs > 0 && !l.gone {
		row.StateSays += " " + s.ago(l.sinceMs)
	}
	if l.gone {
		row.StateSays = s.t("watch.gone")
	}
	generation, bench := int32(0), 0
	if l.group != nil {
		generation, bench = l.group.Generation, idle(l.group)
	} else if l.told.Summary != nil {
		generation, bench = l.told.Summary.Generation, l.told.Summary.Bench
	}
	key := "watch.row"
	if l.typ == typeConsumer {
		key, row.Type = "watch.row.epoch", "848"
	}
	row.Who = s.t(key, num(generation), num(l.members))
	if bench > 0 {
		row.Who += s.t("watch.row.bench", num(bench))
	}
	if l.told != nil && l.told.Summary != nil {
		sum := l.told.Summary
		if sum.Rebalances > 0 {
			row.Day = s.t("watch.day.short", num(sum.Rebalances))
			row.DaySays = s.t("watch.day", num(sum.Rebalances), s.partitionTime(sum.LostPartitionMs))
		}
	}
	row.Detail, row.Urgent = s.listDetail(l)
	if sight := s.blindTo(l.name, l.coordinator, s.partitionOfLine(l)); sight != nil {
		row.Stale, row.StaleWhy = s.t("watch.stale", s.ago(sight.SinceMs)), plainText(sight.Source+": "+sight.Reason, 120)
	}
	return row
}

// listDetail is the one thing that matters most about a group, and whether it asks for a look.
func (s *stage) listDetail(l *listLine) (text string, urgent bool) {
	sum := &event.GroupSummarized{}
	if l.told != nil && l.told.Summary != nil {
		sum = l.told.Summary
	}
	if l.gone {
		return "", false
	}
	if l.moving {
		return s.listWait(l, sum), true
	}
	switch {
	case l.group != nil && s.m.Waiting(l.name).Kind == WaitCoordinator:
		return s.t("group.nobody"), true
	case sum.Dead > 0:
		return s.listGhost(l, sum), true
	case sum.Loops > 1:
		return s.t("watch.loop.short", name(s.labelIn(l.group, sum.Member)), num(sum.Loops)), true
	case l.state == event.Empty && sum.ExpiresMs > 0:
		return s.t("watch.expires.short", s.left(sum.ExpiresMs)), false
	case sum.Why != "":
		text = s.t("watch.last", s.why(sum.Why, s.labelIn(l.group, sum.Member)))
		if sum.Confidence != "" {
			text += s.t("watch.aside", s.sure(sum.Confidence))
		}
		return text, false
	case l.group != nil && l.group.Began.Why != "":
		return s.t("watch.last", s.why(l.group.Began.Why, l.group.Label(l.group.Began.Member))), false
	}
	return "", false
}

// listWait says whom a group in motion waits for, and until when.
func (s *stage) listWait(l *listLine, sum *event.GroupSummarized) string {
	var first string
	waiting, until, dead := sum.Waiting, sum.DeadlineMs, false
	if len(sum.Awaited) > 0 {
		first, dead = s.labelIn(l.group, sum.Awaited[0]), slices.Contains(sum.Ghosts, sum.Awaited[0])
		if sum.GhostsMs > 0 && sum.Waiting == sum.Dead && (until == 0 || sum.GhostsMs < until) && slices.Equal(sum.Awaited, sum.Ghosts) {
			until = sum.GhostsMs // nobody else is awaited, and then they are members no more
		}
	}
	if l.told != nil && l.told.Modern != nil && l.group != nil {
		return s.modernWait(l)
	}
	if l.group != nil {
		w := s.m.Waiting(l.name)
		if w.Kind == WaitCoordinator {
			return s.t("group.nobody")
		}
		if a := l.told; s.attached() != nil && a != nil && a.Awaited != nil && a.Awaited.State == l.state && len(a.Awaited.Awaited) > 0 {
			first, waiting, until = l.group.Label(a.Awaited.Awaited[0].Member), len(a.Awaited.Awaited), max(a.Awaited.DeadlineMs, a.Awaited.DeadlineHiMs)
		}
		if s.attached() == nil { // the coordinator itself tells
			first, waiting, until = "", len(w.Missing), w.EndMs
			if waiting > 0 {
				first, dead = w.Missing[0].Label, w.Missing[0].Gone
			}
			if until == 0 {
				until = w.HardMs
			}
		}
	}
	var text string
	if first != "" {
		first = name(first)
	}
	if dead {
		first = s.t("missing.killed", first)
	}
	switch {
	case waiting > 1 && first != "":
		text = s.t("watch.waits.more", first, num(waiting-1))
	case first != "":
		text = s.t("watch.waits", first)
	case waiting > 0:
		text = s.t("watch.waits.many", num(waiting))
	default:
		text = s.t("watch.waits.unknown")
	}
	if until > 0 {
		text += s.t("watch.until", s.left(until))
	}
	return text + s.listBegan(l, sum)
}

// listBegan says why the rebalance under way began, "" where that is not known.
func (s *stage) listBegan(l *listLine, sum *event.GroupSummarized) string {
	why, member := sum.Why, s.labelIn(l.group, sum.Member)
	if l.group != nil && l.group.Began.Why != "" {
		why, member = l.group.Began.Why, l.group.Label(l.group.Began.Member)
	}
	if why == "" || member == "" {
		return ""
	}
	return s.t("watch.because", s.why(why, member))
}

// listGhost names a member whose process is gone while its group goes on, and says until when its partitions stand still.
func (s *stage) listGhost(l *listLine, sum *event.GroupSummarized) string {
	first, until := s.labelIn(l.group, sum.Ghosts[0]), sum.GhostsMs
	if l.group != nil {
		if op := l.group.SessionOp(sum.Ghosts[0]); op != nil && sum.Dead == 1 {
			until = op.DeadlineMs
		}
	}
	text := s.t("watch.ghost", name(first), num(sum.Dead-1))
	if sum.Dead == 1 {
		text = s.t("watch.ghost.one", name(first))
	}
	if until > 0 {
		text += s.t("watch.ghost.until", s.left(until))
	}
	return text
}

// modernWait says which member of a consumer group is not at its target.
func (s *stage) modernWait(l *listLine) string {
	first, n := "", 0
	for _, mb := range l.group.Present() {
		r := l.told.Modern.Members[mb.ID]
		if r.Epoch >= 0 && (r.Epoch < l.told.Modern.Epoch || r.State == stateUnrevoked || r.State == stateUnreleased) {
			if n++; first == "" || r.State == stateUnrevoked {
				first = mb.Label
			}
		}
	}
	switch {
	case n > 1:
		return s.t("watch.waits.more", name(first), num(n-1))
	case n == 1:
		return s.t("watch.waits", name(first))
	}
	return s.t("watch.waits.unknown")
}

// idle counts the members that have nothing assigned, 0 where nobody has anything yet.
func idle(g *Group) int {
	n, all := 0, 0
	for _, mb := range g.Present() {
		all++
		if countPartitions(mb.Assigned) == 0 {
			n++
		}
	}
	if n == all {
		return 0
	}
	return n
}

// labelIn is a member's short name in a group. Where the group's facts are not told it is made of the id, as Kafka makes that of
// a client id and a UUID: the same name that the facts would give it.
func (s *stage) labelIn(g *Group, member string) string {
	if g != nil {
		return g.Label(member)
	}
	const uuid = 36
	if cut := len(member) - uuid - 1; cut > 0 && member[cut] == '-' && strings.Count(member[cut+1:], "-") == 4 {
		return Fold(member[:cut] + "·" + member[len(member)-4:])
	}
	return Fold(member)
}

// stateShort is a state in one word, — where it is not known.
func (s *stage) stateShort(st event.State) string {
	if st == "" {
		return s.t("watch.state.unknown")
	}
	if key := "state.short." + string(st); s.knows(key) {
		return s.t(key)
	}
	return plainText(string(st), 20)
}

// partitionTime is time that partitions stood still, in partition-seconds.
func (s *stage) partitionTime(ms int64) string {
	if ms < 100000 {
		return tenths(ms)
	}
	return group3(ms / 1000)
}

func (s *stage) partitionOfLine(l *listLine) int32 {
	switch {
	case l.group != nil:
		return l.group.Partition
	case l.told != nil && l.told.Summary != nil:
		return l.told.Summary.Partition
	}
	return -1
}

// blindTo is what is not seen that hides a group: the group itself, its coordinator or its partition; nil where nothing does.
func (s *stage) blindTo(group string, coordinator, partition int32) *Sight {
	w := s.m.Watch()
	if w == nil || len(w.Sights) == 0 {
		return nil
	}
	for i := range w.Sights {
		switch w.Sights[i].Source {
		case "group " + group, "broker " + num(coordinator), tapeName(partition):
			return &w.Sights[i]
		}
	}
	return nil
}
