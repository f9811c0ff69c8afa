package tab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// explorer answers how long somebody waits at worst with these timeouts. It writes no formula down: each case is a script
// that the engine runs, once for each choice of timeouts.
type explorer struct {
	// at is the place of each knob in its list.
	at     [len(knobs)]int
	cached map[string]waited
	tried  int // cases looked at for the present choice
}

// waited is how a case came out.
type waited struct {
	beginMs, endMs int64
	err            error
}

// knob is a timeout and the values that its slider has.
type knob struct {
	name     string // Kafka's, but for the time between two polls, which is the application's
	values   []int64
	standard int64
}

const (
	knobSession = iota
	knobRebalance
	knobHeartbeat
	knobWork
	knobDelay
)

const second, minute = 1000, 60_000

var knobs = [...]knob{
	{"session.timeout.ms", []int64{3 * second, 6 * second, 10 * second, 15 * second, 20 * second, 30 * second, 45 * second, minute, 90 * second, 2 * minute, 5 * minute, 10 * minute, 30 * minute, 40 * minute}, 45 * second},
	{"max.poll.interval.ms", []int64{10 * second, 20 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute}, 5 * minute},
	{"heartbeat.interval.ms", []int64{500, 1 * second, 2 * second, 3 * second, 5 * second, 10 * second, 15 * second, 30 * second, minute}, 3 * second},
	{"poll", []int64{100, 1 * second, 5 * second, 10 * second, 20 * second, 45 * second, 90 * second, 3 * minute, 6 * minute, 12 * minute}, 5 * second},
	{"group.initial.rebalance.delay.ms", []int64{0, 1 * second, 3 * second, 5 * second, 10 * second, 30 * second, minute}, 3 * second},
}

func newExplorer() explorer {
	x := explorer{cached: map[string]waited{}}
	for i, k := range knobs {
		x.at[i] = slices.Index(k.values, k.standard)
	}
	return x
}

func (x *explorer) ms(knob int) int64 { return knobs[knob].values[x.at[knob]] }

// set takes "KNOB PLACE", or "standard" for Kafka's defaults.
func (x *explorer) set(arg string) {
	if arg == "standard" {
		x.at = newExplorer().at
		x.tried = 0
		return
	}
	name, place, _ := strings.Cut(arg, " ")
	i := slices.IndexFunc(knobs[:], func(k knob) bool { return k.name == name })
	n, err := strconv.Atoi(place)
	if i < 0 || err != nil || n < 0 || n >= len(knobs[i].values) {
		return
	}
	x.at[i] = n
	x.tried = 0
}

// waitCase is a situation in which somebody waits: what leads to it, how the wait begins, and when it is over.
type waitCase struct{ id, before, begin, end string }

const (
	threeStable = "start c1\nstart c2\nstart c3\nuntil within=10m state Stable and members == 3 and unowned == 0\n"
	// justHeard is the worst moment to die: the session has just begun anew.
	justHeard = threeStable + "until within=5m event HeartbeatReceived member=c3\n"
	allOwned  = "state Stable and unowned == 0"
)

var waitCases = []waitCase{
	{"first", "", "start c1\nstart c2\nstart c3\n", "members == 3 and " + allOwned},
	{"deploy", threeStable, restartCleanly("c1") + restartCleanly("c2") + restartCleanly("c3"), "members == 3 and " + allOwned},
	{"killed", justHeard, "kill c3\n", "members == 2 and " + allOwned},
	{"unclean", justHeard, "restart c3\n", "members == 3 and " + allOwned},
	{"static", strings.ReplaceAll(justHeard, "c3", "s3"), "restart s3\n", "client s3 STABLE and " + allOwned},
	{"slow", threeStable, "busy c1 WORK\nstart c4\n", "event GenerationStarted and " + allOwned},
	{"stuck", threeStable, "busy c1 24h\n", "members == 2 and " + allOwned},
}

func restartCleanly(c string) string {
	return "stop " + c + "\nuntil event ClientStopped client=" + c + "\nstart " + c + "\nuntil within=2h members == 3 and " + allOwned + "\n"
}

// setup is the world of a case.
func (x *explorer) setup() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed 7\nbrokers 3\nset group.initial.rebalance.delay.ms %d\ntopic orders 6\ngroup orders-svc\n", x.ms(knobDelay))
	for _, c := range []string{"c1", "c2", "c3", "c4", "s3"} {
		instance := ""
		if c == "s3" {
			instance = " instance=s3" // member ids begin with it, so that conditions find them by the name
		}
		fmt.Fprintf(&b, "consumer %s%s session=%s rebalance=%s heartbeat=%s commit=off\n", c, instance,
			span(x.ms(knobSession)), span(x.ms(knobRebalance)), span(x.ms(knobHeartbeat)))
	}
	return b.String()
}

// text are the three parts of a case as scripts.
func (x *explorer) text(c waitCase) (before, begin, end string) {
	work := strings.NewReplacer("WORK", span(x.ms(knobWork)))
	return x.setup() + c.before, work.Replace(c.begin), "until within=2h " + c.end + "\n"
}

// key names a case with what it depends on.
func (x *explorer) key(c waitCase) string { return fmt.Sprint(c.id, x.at) }

// measure runs a case.
func (x *explorer) measure(c waitCase) waited {
	before, begin, end := x.text(c)
	e := script.New(c.id)
	var w waited
	if w.err = feed(e, before); w.err != nil {
		return w
	}
	w.beginMs = e.NowMs()
	e.Mark()
	if w.err = feed(e, begin); w.err == nil {
		w.err = feed(e, end)
	}
	w.endMs = e.NowMs()
	return w
}

// maxWaitMoments bounds a case.
const maxWaitMoments = 400_000

// feed gives commands to an engine; what is due happens before each, as in a run.
func feed(e *script.Engine, text string) error {
	commands, err := script.Parse("case", text)
	if err != nil {
		return err
	}
	for _, c := range commands {
		w, err := e.Begin(c)
		for n := 0; err == nil; n++ {
			over := false
			if over, err = e.Done(w); over {
				break
			}
			e.Step(w.UntilMs)
			e.Take()
			if n > maxWaitMoments {
				return fmt.Errorf("it is not over after %d moments", n)
			}
		}
		if err != nil {
			return err
		}
		for next := e.NextMs(); next >= 0 && next <= e.NowMs() && e.World() != nil; next = e.NextMs() {
			if !e.Step(e.NowMs()) {
				break
			}
		}
		e.Take()
	}
	return nil
}

// work looks at one case that is not known yet, and tells whether there are more.
func (x *explorer) work() (more bool) {
	for x.tried < len(waitCases) {
		c := waitCases[x.tried]
		x.tried++
		if _, known := x.cached[x.key(c)]; known {
			continue
		}
		x.cached[x.key(c)] = x.measure(c)
		break
	}
	return x.tried < len(waitCases)
}

// showCase opens a case in the sandbox, at the moment in which the wait begins.
func (s *sandbox) showCase(id string) {
	i := slices.IndexFunc(waitCases, func(c waitCase) bool { return c.id == id })
	if i < 0 {
		s.t.say("not-here", id)
		return
	}
	before, begin, end := s.explore.text(waitCases[i])
	m, setup, err := readRun(s.t, id, before, true)
	if err != nil {
		s.t.fail(err)
		return
	}
	beginMs := m.head.nowMs()
	m.head.engine.Mark()
	err = m.head.follow(id, begin+end)
	s.enter(m, setup)
	m.seek(beginMs)
	if len(m.head.inputs) > 0 { // after what begins it
		for i, b := range m.head.beats {
			if b.atMs == beginMs && b.applied > m.cursor.applied() {
				m.cursor.toBeat(i)
			}
		}
	}
	if err != nil {
		s.t.fail(err)
		return
	}
	s.t.say("case-shown", span(m.head.nowMs()-beginMs))
	s.t.out.Reveal = "part-headline"
}

// follow obeys the lines of a text.
func (h *head) follow(file, text string) error {
	commands, err := script.Parse(file, text)
	for i := 0; err == nil && i < len(commands); i++ {
		err = h.obey(commands[i])
	}
	return err
}

// page is what the page shows of the explorer.
func (x *explorer) page() *view.ExplorerState {
	p := &view.ExplorerState{Warnings: x.warnings()}
	for i, k := range knobs {
		p.Knobs = append(p.Knobs, view.Knob{Name: k.name, At: x.at[i], Most: len(k.values) - 1, Ms: k.values[x.at[i]], Standard: k.standard})
	}
	for _, c := range waitCases {
		w, known := x.cached[x.key(c)]
		b := view.WaitBar{ID: c.id, Known: known, Ms: w.endMs - w.beginMs}
		if w.err != nil {
			b.Never = true
		}
		p.Bars = append(p.Bars, b)
	}
	return p
}

// warnings are what these timeouts contradict: keys of the view's words with their durations.
func (x *explorer) warnings() []view.Warning {
	session, rebalance, heartbeat, work, delay := x.ms(knobSession), x.ms(knobRebalance), x.ms(knobHeartbeat), x.ms(knobWork), x.ms(knobDelay)
	var list []view.Warning
	warn := func(when bool, key string, ms ...int64) {
		if when {
			list = append(list, view.Warning{Key: key, Ms: ms})
		}
	}
	warn(heartbeat >= session, "warn.heartbeat", heartbeat, session)
	warn(heartbeat < session && 3*heartbeat > session, "warn.third", heartbeat, session/3)
	warn(session < 6*second, "warn.min", session, 6*second)
	warn(session > 30*minute, "warn.max", session, 30*minute)
	warn(work >= rebalance, "warn.work", work, rebalance)
	warn(rebalance < session, "warn.rebalance", rebalance, session)
	warn(delay >= rebalance, "warn.delay", delay, rebalance)
	warn(delay == 0, "warn.nodelay")
	warn(session > 2*minute && session <= 30*minute, "warn.long", session)
	return list
}
