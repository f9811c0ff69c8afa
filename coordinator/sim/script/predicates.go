package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

type (
	holdsFunc = func(e *Engine) bool
	isFunc    = func(e *Engine) string
)

// predicates are all clauses there are. It is a function, since they reach it through their parsers.
func predicates() []predicate {
	return []predicate{
		{"state", "state STATE", "the group is in it: Empty, PreparingRebalance, CompletingRebalance, Stable, Dead", parseState},
		{"generation", "generation OP N", "the group's generation; OP is ==, !=, <, <=, > or >=", parseCount("generation", func(g *group) int64 { return int64(g.generation) })},
		{"members", "members OP N", "how many members the group has; pending ids are none", parseCount("members", func(g *group) int64 { return int64(len(g.members)) })},
		{"event", "event KIND [FIELD=VALUE]…", "such an event happened since the last until was over (for expect: or during it); member=c1 means any member id of client c1", parseEvent},
		{"owner", "owner TOPIC-PARTITION CONSUMER", "the coordinator gave it the partition and it runs and has taken it over", parseOwner},
		{"unowned", "unowned OP N", "how many partitions of the group's topics have no owner", parseUnowned},
		{"committed", "committed TOPIC-PARTITION OP N", "the committed offset; false where there is none", parseCommitted},
		{"waiting-for", "waiting-for CONSUMER", "the group waits for its JoinGroup or SyncGroup", parseWaitingFor},
		{"coordinator", "coordinator ID", "the broker that has the group", parseCoordinator},
		{"leader", "leader CONSUMER", "the group's leader", parseLeader},
		{"client", "client CONSUMER STATE", "what a client believes of itself: UNJOINED, REBALANCING, STABLE; STOPPED where it does not run", parseClient},
		{"now", "now OP DURATION", "the world's time", parseNow},
	}
}

// oneOf is a word out of a list.
func oneOf(name string, list ...string) param {
	return param{name, func(s string) string {
		if slices.Contains(list, s) {
			return ""
		}
		return fmt.Sprintf("%q is no %s%s", s, name, suggest(s, list, "; there are "+strings.Join(list, ", ")))
	}}
}

var (
	stateParam = oneOf("state of a group", string(event.Empty), string(event.PreparingRebalance),
		string(event.CompletingRebalance), string(event.Stable), string(event.Dead))
	clientStateParam = oneOf("state of a client", string(event.Unjoined), string(event.Rebalancing), string(event.Joined), stopped)
	opParam          = oneOf("comparison", "==", "!=", "<", "<=", ">", ">=")
	countParam       = wholeParam("N", 0, 1<<62)
)

const stopped = "STOPPED"

// at finds the group that a clause is about.
func at(e *Engine, name string) *group {
	if name == "" {
		name = e.group
	}
	return e.facts.group(name)
}

func parseState(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	want, err := a.next(stateParam, "state STATE")
	return func(e *Engine) bool { return string(at(e, name).state) == want },
		func(e *Engine) string {
			if s := at(e, name).state; s != "" {
				return "state is " + string(s)
			}
			return "no broker has the group"
		}, err
}

// parseCount reads "OP N" about a number of a group.
func parseCount(what string, get func(g *group) int64) func(a *words) (holdsFunc, isFunc, error) {
	return func(a *words) (holdsFunc, isFunc, error) {
		name := a.group()
		cmp, err := comparison(a, what+" OP N", countParam)
		return func(e *Engine) bool { return cmp(get(at(e, name))) },
			func(e *Engine) string {
				if n := get(at(e, name)); what != "members" {
					return fmt.Sprintf("%s is %d", what, n)
				} else if n == 1 {
					return "there is 1 member"
				} else {
					return fmt.Sprintf("there are %d members", n)
				}
			}, err
	}
}

// comparison reads "OP N", or "OP DURATION".
func comparison(a *words, usage string, number param) (func(n int64) bool, error) {
	op, err := a.next(opParam, usage)
	if err != nil {
		return nil, err
	}
	text, err := a.next(number, usage)
	if err != nil {
		return nil, err
	}
	want, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		want, _ = parseDuration(text)
	}
	return func(n int64) bool {
		switch op {
		case "==":
			return n == want
		case "!=":
			return n != want
		case "<":
			return n < want
		case "<=":
			return n <= want
		case ">":
			return n > want
		}
		return n >= want
	}, nil
}

func parseOwner(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	const usage = "owner TOPIC-PARTITION CONSUMER"
	partition, err := a.next(partitionParam, usage)
	if err != nil {
		return nil, nil, err
	}
	want, err := a.next(consumerParam, usage)
	who := func(e *Engine) string {
		if name == "" {
			return e.facts.owner(e.group, partition)
		}
		return e.facts.owner(name, partition)
	}
	return func(e *Engine) bool { return who(e) == want },
		func(e *Engine) string {
			if o := who(e); o != "" {
				return partition + " is owned by " + o
			}
			return "nobody owns " + partition
		}, err
}

func parseUnowned(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	cmp, err := comparison(a, "unowned OP N", countParam)
	free := func(e *Engine) []string {
		if name == "" {
			return e.facts.unowned(e.group)
		}
		return e.facts.unowned(name)
	}
	return func(e *Engine) bool { return cmp(int64(len(free(e)))) },
		func(e *Engine) string {
			if list := free(e); len(list) > 0 {
				return fmt.Sprintf("%d partitions have no owner: %s", len(list), strings.Join(list, " "))
			}
			return "every partition has an owner"
		}, err
}

func parseCommitted(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	const usage = "committed TOPIC-PARTITION OP N"
	partition, err := a.next(partitionParam, usage)
	if err != nil {
		return nil, nil, err
	}
	cmp, err := comparison(a, usage, countParam)
	return func(e *Engine) bool {
			offset, there := at(e, name).committed[partition]
			return there && cmp(offset)
		}, func(e *Engine) string {
			if offset, there := at(e, name).committed[partition]; there {
				return fmt.Sprintf("%s is committed at %d", partition, offset)
			}
			return partition + " has no committed offset"
		}, err
}

func parseWaitingFor(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	want, err := a.next(consumerParam, "waiting-for CONSUMER")
	return func(e *Engine) bool { return slices.Contains(at(e, name).waitingFor(), want) },
		func(e *Engine) string {
			if list := at(e, name).waitingFor(); len(list) > 0 {
				return "the group waits for " + strings.Join(list, ", ")
			}
			return "the group waits for nobody"
		}, err
}

func parseCoordinator(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	id, err := a.next(wholeParam("ID", 1, 9), "coordinator ID")
	return func(e *Engine) bool { return strconv.Itoa(int(at(e, name).broker)) == id },
		func(e *Engine) string {
			if b := at(e, name).broker; b != 0 {
				return fmt.Sprintf("broker %d has the group", b)
			}
			return "no broker has the group"
		}, err
}

func parseLeader(a *words) (holdsFunc, isFunc, error) {
	name := a.group()
	want, err := a.next(consumerParam, "leader CONSUMER")
	return func(e *Engine) bool {
			g := at(e, name)
			return g.leader != "" && g.clientOf(g.leader) == want
		}, func(e *Engine) string {
			if g := at(e, name); g.leader != "" {
				return "the leader is " + g.clientOf(g.leader)
			}
			return "there is no leader"
		}, err
}

func parseClient(a *words) (holdsFunc, isFunc, error) {
	const usage = "client CONSUMER STATE"
	who, err := a.next(consumerParam, usage)
	if err != nil {
		return nil, nil, err
	}
	want, err := a.next(clientStateParam, usage)
	is := func(e *Engine) string {
		switch c := e.facts.clients[who]; {
		case c == nil:
			return "unknown"
		case !c.running:
			return stopped
		default:
			return string(c.state)
		}
	}
	return func(e *Engine) bool { return is(e) == want }, func(e *Engine) string { return who + " is " + is(e) }, err
}

func parseNow(a *words) (holdsFunc, isFunc, error) {
	cmp, err := comparison(a, "now OP DURATION", durationParam("DURATION", 0))
	return func(e *Engine) bool { return cmp(e.NowMs()) },
		func(e *Engine) string { return "it is " + event.Clock(e.NowMs()) }, err
}
