package sim_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// value is what a partition's commit holds. Campaigns have each commit carry metadata of its own, so no two are equal.
type value struct {
	offset   int64
	epoch    int32
	metadata string
}

var none = value{offset: -1, epoch: -1}

func (v value) String() string {
	switch {
	case v == none:
		return "none"
	case v.metadata == "":
		return fmt.Sprint(v.offset)
	}
	return fmt.Sprintf("%d (%s)", v.offset, v.metadata)
}

// dated is a value and its place in the log of __consumer_offsets. The place is the Seq of the fact that its append was
// under way: whatever a coordinator appends later is behind it, and whatever the next coordinator appends, too.
type dated struct {
	value
	at int64
}

// register is the sequential model of one partition's committed offset: a cell, in which the record that is later in the
// log wins, whoever is answered first.
type register struct {
	now dated
	// loose is set where now is a removal whose tombstones may never reach the log: the next coordinator may bring back
	// what was there.
	loose bool
	// doubts are records that may be in the log, though nobody sees them now: the outcome of their append is unknown, or
	// they were removed loosely. The next coordinator may find them. By place.
	doubts []dated
	// ordered counts the writes so far that have a turn.
	ordered int
}

// effect is what an operation does to a register.
type effect uint8

const (
	reads    effect = iota
	writes          // done for certain
	mayWrite        // perhaps now or later, perhaps never
	removes         // a tombstone, or a deletion of all that is pending
)

// operation is what porcupine has as an operation's input; it carries its output too.
type operation struct {
	effect effect
	dated
	loose bool
	who   string // for people: "c1 OffsetCommit #12"
	// late writes, those of transactions, may take effect after others that are later in the log, and then have none.
	late bool
	// turn is set for plain commits by their places in the log, from 1 on: they take effect in that order. Each could: it
	// was called before it got its place, and the others are over after they got theirs. Without turns a dozen commits
	// that wait for the same replica could come in any order, and all orders would have to be looked at.
	turn int
}

func (o operation) String() string {
	switch o.effect {
	case reads:
		return fmt.Sprintf("%s reads %v", o.who, o.value)
	case writes:
		return fmt.Sprintf("%s writes %v", o.who, o.value)
	case mayWrite:
		return fmt.Sprintf("%s may have written %v", o.who, o.value)
	}
	if o.loose {
		return o.who + " removes it, and the log may not know"
	}
	return o.who + " removes it"
}

// step is what the cell does; it reports false where a read cannot see what it saw.
func (r register) step(o operation) (bool, register) {
	switch o.effect {
	case reads:
		return r.read(o.value)
	case writes:
		if o.turn > 0 {
			if r.ordered++; o.turn != r.ordered {
				return false, r
			}
		}
		if o.at < r.now.at {
			return true, r.doubting(o.dated, r.loose)
		}
		return true, register{now: o.dated, doubts: behind(r.doubts, o.at), ordered: r.ordered}
	case mayWrite:
		return true, r.doubting(o.dated, r.loose || o.at > r.now.at)
	}
	if !o.loose {
		return true, register{now: dated{none, o.at}, doubts: behind(r.doubts, o.at), ordered: r.ordered}
	}
	was := r.doubting(r.now, r.now.value != none)
	return true, register{now: dated{none, o.at}, loose: true, doubts: was.doubts, ordered: r.ordered}
}

// read sees what is there, or what a coordinator has found in the log since: then that is what is there.
func (r register) read(v value) (bool, register) {
	if v == r.now.value {
		return true, r
	}
	i := slices.IndexFunc(r.doubts, func(d dated) bool { return d.value == v })
	if i < 0 {
		return false, r
	}
	return true, register{now: r.doubts[i], doubts: slices.Clone(r.doubts[i+1:]), ordered: r.ordered}
}

// doubting adds a record that may be found later, where it could still win.
func (r register) doubting(d dated, could bool) register {
	if could {
		r.doubts = append(slices.Clone(r.doubts), d)
		slices.SortStableFunc(r.doubts, func(a, b dated) int { return int(a.at - b.at) })
	}
	return r
}

// behind are the records that are later in the log than a place.
func behind(list []dated, at int64) (rest []dated) {
	for _, d := range list {
		if d.at > at {
			rest = append(rest, d)
		}
	}
	return rest
}

func (r register) equal(o register) bool {
	return r.now == o.now && r.loose == o.loose && r.ordered == o.ordered && slices.Equal(r.doubts, o.doubts)
}

func (r register) String() string {
	s := r.now.value.String()
	if r.loose {
		s += ", which the log may not know"
	}
	for i, d := range r.doubts {
		s += []string{", or perhaps ", " or "}[min(i, 1)] + d.value.String()
	}
	return s
}

// model is the register for porcupine, beginning as it is.
func (r register) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return r },
		Step: func(state, input, _ any) (bool, any) {
			ok, next := state.(register).step(input.(operation))
			return ok, next
		},
		Equal: func(a, b any) bool { return a.(register).equal(b.(register)) },
		Hash: func(state any) uint64 {
			h := fnv.New64a()
			fmt.Fprint(h, state.(register).now.at, len(state.(register).doubts))
			return h.Sum64()
		},
		DescribeOperation: func(input, _ any) string { return input.(operation).String() },
		DescribeState:     func(state any) string { return state.(register).String() },
	}
}

// outcomes are all the states in which a cell can be after a history, none where there is no order in which the history
// can have happened. porcupine looks for one order and stops; a last operation that no state satisfies makes it go
// through all of them, and each state that comes to it is kept.
func (r register) outcomes(history []porcupine.Operation) (ends []register) {
	m := r.model()
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		if _, ordinary := input.(operation); ordinary {
			return step(state, input, output)
		}
		end := state.(register)
		if end.ordered = 0; !slices.ContainsFunc(ends, end.equal) {
			ends = append(ends, end)
		}
		return false, state
	}
	last := int64(0)
	for _, op := range history {
		last = max(last, op.Return)
	}
	porcupine.CheckOperations(m, append(slices.Clip(history), porcupine.Operation{Input: "the end", Call: last + 1, Return: last + 1}))
	return ends
}

// shownOps is how many operations a report shows at most.
const shownOps = 16

// inTurn gives plain commits their turns.
func inTurn(history []porcupine.Operation) {
	var plain []int
	for i, op := range history {
		if o := op.Input.(operation); o.effect == writes && !o.late {
			plain = append(plain, i)
		}
	}
	slices.SortStableFunc(plain, func(a, b int) int {
		return cmp.Compare(history[a].Input.(operation).at, history[b].Input.(operation).at)
	})
	for turn, i := range plain {
		o := history[i].Input.(operation)
		o.turn = turn + 1
		history[i].Input = o
	}
}

// explain says of a history that has no order how far one can go, and writes porcupine's picture of it to the file that
// HISTORY names.
func explain(name string, from []register, history []porcupine.Operation) string {
	history = firstWrong(from, history)
	best := []porcupine.Operation(nil)
	for _, r := range from {
		m := r.model()
		_, info := porcupine.CheckOperationsVerbose(m, history, 0)
		for _, list := range info.PartialLinearizationsOperations() {
			for _, order := range list {
				if len(order) > len(best) || len(order) == len(best) && fmt.Sprint(order) < fmt.Sprint(best) {
					best = order
				}
			}
		}
		if path := os.Getenv("HISTORY"); path != "" {
			if err := porcupine.VisualizePath(m, info, path); err != nil {
				name = fmt.Sprintf("(the picture was not written: %v) %s", err, name)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s cannot have happened in any order. In the beginning it is", name)
	for i, r := range from {
		b.WriteString([]string{" ", "; or "}[min(i, 1)] + r.String())
	}
	b.WriteString(". Operations, between which events each took effect:\n")
	skipped := max(len(history)-shownOps, 0)
	if skipped > 0 {
		fmt.Fprintf(&b, "  (%d before)\n", skipped)
	}
	for _, op := range history[skipped:] {
		fmt.Fprintf(&b, "  %9d to %9d  %v\n", op.Call/2, op.Return/2, op.Input)
	}
	b.WriteString("They can come one after the other up to:")
	for _, op := range best[max(len(best)-3, 0):] {
		b.WriteString(" " + op.Input.(operation).String() + ";")
	}
	b.WriteString(" then none of these can follow:")
	for _, op := range history {
		if !slices.Contains(best, op) {
			b.WriteString(" " + op.Input.(operation).String() + ";")
		}
	}
	return strings.TrimSuffix(b.String(), ";")
}

// firstWrong is the shortest beginning of a history that cannot be put into order. Of what was going on at its end the
// commits count, which may have had their effect; reads were not answered yet.
func firstWrong(from []register, history []porcupine.Operation) []porcupine.Operation {
	slices.SortStableFunc(history, func(a, b porcupine.Operation) int { return int(a.Return - b.Return) })
	begins := func(n int) (list []porcupine.Operation) {
		over := history[n-1].Return
		for i, op := range history {
			if i < n || op.Call <= over && op.Input.(operation).effect != reads {
				list = append(list, op)
			}
		}
		inTurn(list)
		return list
	}
	n := 1 + sort.Search(len(history)-1, func(i int) bool {
		return !slices.ContainsFunc(from, func(r register) bool { return len(r.outcomes(begins(i+1))) > 0 })
	})
	list := begins(n)
	slices.SortStableFunc(list, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	return list
}
