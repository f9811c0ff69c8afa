package timeline_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
	"grouplab/lessons/content"
	"grouplab/server/observe/timeline"
)

// The strongest test: our own machine says what happened; a timeline is given only what an observer of a real cluster can
// read and ask, the records of __consumer_offsets and a poll each 250 ms; both are compared.

const pollMs = 250

// truth is what the machine said of one generation.
type truth struct {
	generation          int32
	startMs             int64 // the first departure from a settled state since the generation before
	joinedMs            int64
	storedMs            int64 // -1 for a generation without members
	why                 event.Why
	member, reason      string
	members, assignment string
}

// world plays a script and observes it.
type world struct {
	t      *testing.T
	e      *script.Engine
	tl     *timeline.Timeline
	events []event.Event // the timeline's
	nextMs int64         // of the next poll
	asks   bool          // DescribeGroups, too

	parts  map[int32]int64 // what was read of each partition of __consumer_offsets
	leads  map[int32]int32
	stable map[int32]int64 // high watermarks: consumers read up to there
	groups map[string]*told
	sealed bool // nothing more is compared: the log lost records
}

// told is the machine's own story of a group.
type told struct {
	state   event.State
	broker  int32
	began   *truth
	joined  *truth
	latest  *truth // the newest RebalanceStarted
	members []string
	history []truth
}

func newWorld(t *testing.T, asks bool) *world {
	w := &world{t: t, e: script.New("agree"), tl: timeline.New(timeline.Config{Numbers: &event.Numbers{}}), asks: asks,
		parts: map[int32]int64{}, leads: map[int32]int32{}, stable: map[int32]int64{}, groups: map[string]*told{}}
	w.observe(timeline.Attached{ClusterID: "sim", Mode: "log", PollMs: pollMs})
	return w
}

func (w *world) observe(o timeline.Observation) {
	w.events = append(w.events, w.tl.Observe(w.e.NowMs(), o)...)
}

// do runs one command, and polls and reads while it takes time.
func (w *world) do(c script.Command) error {
	wait, err := w.e.Begin(c)
	w.look()
	if err != nil || c.Not {
		return err
	}
	for {
		done, err := w.e.Done(wait)
		if done || err != nil {
			return err
		}
		if limit := min(w.nextMs, wait.UntilMs); !w.e.Step(limit) && limit == w.nextMs {
			w.look()
			w.poll()
			w.nextMs += pollMs
			continue
		}
		w.look()
	}
}

// look hands on what the machine said and what its log got.
func (w *world) look() {
	for _, e := range w.e.Take() {
		w.listen(e)
		switch b := e.Body.(type) {
		case event.LeaderChanged:
			if b.Topic == cluster.OffsetsTopic {
				w.leads[b.Partition] = b.Leader
				w.metadata()
			}
		case event.HighWatermarkAdvanced:
			if b.Topic == cluster.OffsetsTopic {
				w.stable[b.Partition] = max(w.stable[b.Partition], b.Offset)
			}
		case event.ReplicaTruncated:
			w.sealed = w.sealed || b.Topic == cluster.OffsetsTopic && b.EndOffset < w.parts[b.Partition]
		}
	}
	for number := range w.leads {
		w.read(number)
	}
}

func (w *world) metadata() {
	m := timeline.Metadata{Topics: []timeline.Topic{{Name: cluster.OffsetsTopic, Internal: true}}}
	for number, leader := range w.leads {
		m.Topics[0].Partitions = append(m.Topics[0].Partitions, timeline.Partition{Number: number, Leader: leader})
	}
	if n := int32(len(w.leads)); n > 0 {
		w.observe(timeline.Attached{ClusterID: "sim", Mode: "log", PollMs: pollMs, Partitions: n})
	}
	w.observe(m)
}

// read reads what is new of a partition.
func (w *world) read(number int32) {
	at, known := w.parts[number]
	if !known {
		w.parts[number] = 0
		w.observe(timeline.ReadFrom{Partition: number})
	}
	for at < w.stable[number] {
		chunk, _, ok := w.e.World().Drive().Cluster().ReadLog(w.leads[number], cluster.OffsetsTopic, number, at, 1<<20)
		if !ok || len(chunk) == 0 {
			return
		}
		o := timeline.Records{Partition: number}
		for len(chunk) > 0 {
			b, rest, err := log.Parse(chunk)
			if err != nil {
				w.t.Fatal(err)
			}
			if b.NextOffset() > w.stable[number] {
				break
			}
			records, err := b.Records(nil)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, r := range records {
				o.Records = append(o.Records, timeline.Record{Offset: r.Offset, TimestampMs: r.TimestampMs, ProducerID: b.ProducerID,
					ProducerEpoch: b.ProducerEpoch, Transactional: b.Transactional(), Control: b.Control(), Key: r.Key, Value: r.Value})
			}
			o.Next, chunk = b.NextOffset(), rest
		}
		if o.Next == 0 {
			return
		}
		at = o.Next
		w.parts[number] = at
		w.observe(o)
	}
}

// poll asks each broker which groups are in motion, as the machine's events say they are, and what is in them.
func (w *world) poll() {
	brokers := map[int32][]timeline.ListedGroup{}
	for _, leader := range w.leads {
		if leader > 0 {
			brokers[leader] = nil
		}
	}
	for name, g := range w.groups {
		if g.state == event.PreparingRebalance || g.state == event.CompletingRebalance {
			brokers[g.broker] = append(brokers[g.broker], timeline.ListedGroup{Group: name, State: g.state, Type: "classic", ProtocolType: "consumer"})
		}
	}
	now := w.e.NowMs()
	for id, list := range brokers {
		slices.SortFunc(list, func(a, b timeline.ListedGroup) int { return strings.Compare(a.Group, b.Group) })
		w.observe(timeline.PollList{Broker: id, AskedMs: now, AnsweredMs: now, Filtered: true, Groups: list})
	}
	if !w.asks {
		return
	}
	for _, name := range w.tl.InMotion() {
		g := w.groups[name]
		if g == nil {
			continue
		}
		d := timeline.Described{Broker: g.broker, AskedMs: now, AnsweredMs: now, Group: name, Type: "classic", State: g.state, ProtocolType: "consumer"}
		for _, id := range g.members {
			d.Members = append(d.Members, timeline.DescribedMember{Member: id})
		}
		w.observe(d)
	}
}

// listen folds the machine's own events.
func (w *world) listen(e event.Event) {
	if e.Group == "" {
		return
	}
	g := w.groups[e.Group]
	if g == nil {
		g = &told{state: event.Empty}
		w.groups[e.Group] = g
	}
	switch b := e.Body.(type) {
	case event.GroupLoaded:
		g.state, g.broker, g.members, g.began, g.joined = b.State, e.Broker, nil, nil, nil
	case event.GroupCreated:
		*g = told{state: event.Empty, broker: e.Broker, history: g.history}
	case event.StateChanged:
		if b.To != event.Dead {
			g.state, g.broker = b.To, e.Broker
		}
	case event.MemberAdded:
		g.members = append(g.members, b.Member)
	case event.MemberRemoved:
		g.members = slices.DeleteFunc(g.members, func(id string) bool { return id == b.Member })
	case event.MemberReplaced:
		for i, id := range g.members {
			if id == b.Old {
				g.members[i] = b.Member
			}
		}
	case event.RebalanceStarted:
		g.latest = &truth{startMs: e.AtMs, why: b.Why, member: b.Member, reason: b.ClientReason}
		if g.began == nil {
			g.began = g.latest
		}
	case event.GenerationStarted:
		x := *g.began
		x.generation, x.joinedMs, x.storedMs, x.members = b.Generation, e.AtMs, -1, sorted(b.Members)
		if g.joined = &x; len(b.Members) == 0 {
			g.history = append(g.history, x)
			g.began, g.joined = nil, nil
		}
	case event.AppendFinished:
		// The record is in the log, but another rebalance had begun meanwhile: nobody who reads the log can know that this
		// generation was never Stable.
		if b.Ignored && b.Code == 0 && g.joined != nil && g.state == event.PreparingRebalance {
			g.joined.storedMs = -2
			g.history = append(g.history, *g.joined)
			g.began, g.joined = g.latest, nil
		}
	case event.AssignmentStored:
		if g.joined != nil {
			g.joined.storedMs, g.joined.assignment = e.AtMs, given(b.Assignments)
			g.history = append(g.history, *g.joined)
			g.began, g.joined = nil, nil
		}
	}
}

func sorted(list []string) string { return strings.Join(slices.Sorted(slices.Values(list)), " ") }

func given(list []event.Assignment) string {
	var lines []string
	for _, a := range list {
		lines = append(lines, a.Member+"="+event.Partitions(a.Topics))
	}
	return sorted(lines)
}

// score counts what the timeline concluded.
type score struct{ generations, right, open, wrong, wrongHigh int }

// compare holds the timeline's story against the machine's.
func (w *world) compare(s *score) {
	for name, g := range w.groups {
		got := concluded(w.events, name)
		for _, want := range g.history {
			i := slices.IndexFunc(got, func(c conclusion) bool { return c.generation == want.generation && c.joinedMs == want.joinedMs })
			if i < 0 {
				w.t.Errorf("%s: generation %d of %d ms is missing; there are %v", name, want.generation, want.joinedMs, got)
				continue
			}
			s.generations++
			w.agree(name, want, got[i], s)
		}
		if len(got) != len(g.history) {
			w.t.Errorf("%s: %d generations, of which the machine knows %d", name, len(got), len(g.history))
		}
	}
}

func (w *world) agree(name string, want truth, got conclusion, s *score) {
	at := fmt.Sprintf("%s, generation %d at %d ms", name, want.generation, want.joinedMs)
	if got.members != want.members {
		w.t.Errorf("%s: members %q, not %q", at, got.members, want.members)
	}
	if got.assignment != want.assignment && want.storedMs != -2 {
		w.t.Errorf("%s: assignment %q, not %q", at, got.assignment, want.assignment)
	}
	if want.startMs < got.start.AtMs || want.startMs > max(got.start.AtHiMs, got.start.AtMs) {
		w.t.Errorf("%s: it began at %d, which is not within %d and %d (%s)", at, want.startMs, got.start.AtMs, got.start.AtHiMs, got.start.Truth)
	}
	if want.storedMs >= 0 && (want.storedMs < got.stored.AtMs || want.storedMs > max(got.stored.AtHiMs, got.stored.AtMs)) {
		w.t.Errorf("%s: it was stable at %d, which is not within %d and %d", at, want.storedMs, got.stored.AtMs, got.stored.AtHiMs)
	}
	c := got.cause
	second := c.Why == event.WhySecondStep && (want.why == event.WhyLeaderRejoined || want.why == event.WhyMetadataChanged)
	switch {
	case (c.Why == want.why || second) && (c.Member == "" || c.Member == want.member):
		s.right++
	case c.Confidence == event.High:
		s.wrongHigh++
		w.t.Errorf("%s: surely because of %q by %s (%s), but it was %q by %s (%s)", at, c.Why, c.Member, c.Evidence, want.why, want.member, want.reason)
	case c.Confidence == event.Low:
		s.open++
	default:
		s.wrong++
		w.t.Logf("%s: %s because of %q by %s (%s), but it was %q by %s", at, c.Confidence, c.Why, c.Member, c.Evidence, want.why, want.member)
	}
}

// conclusion is the timeline's story of one generation.
type conclusion struct {
	generation          int32
	joinedMs            int64
	start, stored       event.Event
	members, assignment string
	cause               event.CauseInferred
}

func concluded(events []event.Event, group string) (list []conclusion) {
	var start event.Event
	settled := true
	last := func(generation int32) *conclusion {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].generation == generation {
				return &list[i]
			}
		}
		return nil
	}
	for _, e := range events {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.RebalanceStarted:
			if settled {
				start, settled = e, false
			}
		case event.StateChanged:
			settled = settled || b.To == event.Stable || b.To == event.Empty
		case event.GroupLoaded:
			settled = true
		case event.GenerationStarted:
			list = append(list, conclusion{generation: b.Generation, joinedMs: e.AtMs, start: start, members: sorted(b.Members)})
			settled = true
		case event.AssignmentStored:
			if c := last(b.Generation); c != nil && c.stored.Body == nil {
				c.stored, c.assignment = e, given(b.Assignments)
			}
		case event.CauseInferred:
			if c := last(b.Generation); c != nil {
				c.cause = b
			}
		}
	}
	return list
}

// play runs a script's commands and compares.
func play(t *testing.T, commands []script.Command, asks bool, s *score) *world {
	t.Helper()
	w := newWorld(t, asks)
	for _, c := range commands {
		if err := w.do(c); err != nil {
			t.Logf("%s: %v", c.Raw, err)
			if c.Verb == "until" { // it waits for moves of a learner
				break
			}
		}
	}
	if !w.sealed {
		w.compare(s)
	}
	return w
}

func TestAgreesWithTheMachine(t *testing.T) {
	files, err := filepath.Glob("../../../coordinator/testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden scripts, %v", len(files), err)
	}
	var all score
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, asks := range []bool{false, true} {
				play(t, commandsOf(t, file, string(text)), asks, &all)
			}
		})
	}
	report(t, "golden scripts", all)
}

func commandsOf(t *testing.T, file, text string) (list []script.Command) {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		c, err := script.ParseLine(file, i+1, line)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verb != "" && c.Verb != "show" && c.Verb != "hide" {
			list = append(list, c)
		}
	}
	return list
}

func report(t *testing.T, what string, s score) {
	t.Logf("%s: %d generations; causes: %d right, %d said to be open, %d wrong with medium, %d wrong with high confidence",
		what, s.generations, s.right, s.open, s.wrong, s.wrongHigh)
	if s.generations == 0 || s.right*2 < s.generations {
		t.Errorf("%s: %d causes of %d are right", what, s.right, s.generations)
	}
}

func TestAgreesWithTheLessons(t *testing.T) {
	dirs, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	var all score
	for _, d := range dirs {
		text, err := fs.ReadFile(content.FS, d.Name()+"/script.txt")
		if err != nil {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			l, err := lessons.LoadFile(d.Name(), d.Name(), string(text))
			if err != nil {
				t.Fatal(err)
			}
			commands := slices.Clone(l.Setup)
			for _, s := range l.Steps {
				commands = append(commands, s.Commands...)
				if s.Wait != nil {
					c, err := script.ParseLine(d.Name(), s.Line, "until within=2m "+s.Wait.String())
					if err != nil {
						t.Fatal(err)
					}
					commands = append(commands, c)
				}
			}
			play(t, commands, true, &all)
		})
	}
	report(t, "lessons", all)
}

// Consumers that come, go, die, freeze and come back at random, dynamic and static, eager and cooperative.
func TestAgreesWithChance(t *testing.T) {
	var all score
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			play(t, commandsOf(t, "chance", chance(seed)), seed%2 == 0, &all)
		})
	}
	report(t, "chance", all)
}

func chance(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	assignor := []string{"range", "cooperative-sticky", "sticky"}[seed%3]
	fmt.Fprintf(&b, "seed %d\nbrokers 3\nset offsets.topic.num.partitions 1\ntopic orders 12\ngroup g\n", seed)
	for i := range 5 {
		static := ""
		if i >= 3 {
			static = fmt.Sprintf(" instance=i%d", i)
		}
		fmt.Fprintf(&b, "consumer c%d session=%ds rebalance=%ds commit=%ds assignor=%s%s\n", i, 6+r.IntN(6), 15+r.IntN(20), 1+r.IntN(5), assignor, static)
	}
	alive := map[int]string{}
	b.WriteString("start c0\nadvance 1s\n")
	alive[0] = "runs"
	for range 30 {
		i := r.IntN(5)
		switch state := alive[i]; {
		case state == "":
			fmt.Fprintf(&b, "start c%d\n", i)
			alive[i] = "runs"
		case state == "paused":
			fmt.Fprintf(&b, "resume c%d\n", i)
			alive[i] = "runs"
		default:
			switch r.IntN(5) {
			case 0:
				fmt.Fprintf(&b, "kill c%d\n", i)
				alive[i] = ""
			case 1:
				fmt.Fprintf(&b, "stop c%d\n", i)
				alive[i] = ""
			case 2:
				fmt.Fprintf(&b, "pause c%d\n", i)
				alive[i] = "paused"
			default:
				fmt.Fprintf(&b, "restart c%d\n", i)
			}
		}
		if r.IntN(8) == 0 {
			fmt.Fprintf(&b, "move-leader __consumer_offsets-%d %d\n", 0, 1+r.IntN(3))
		}
		fmt.Fprintf(&b, "advance %dms\n", 200+r.IntN(14_000))
	}
	return b.String()
}

// Who attaches when all is over reads the same generations out of the log, with the same members and assignments.
func TestAgreesWhenReadLater(t *testing.T) {
	var all score
	for seed := range uint64(4) {
		w := newWorld(t, false)
		for _, c := range commandsOf(t, "chance", chance(seed+50)) {
			_ = w.do(c)
		}
		if w.sealed {
			continue
		}
		end := w.parts[0]
		w.tl, w.events, w.parts = timeline.New(timeline.Config{Numbers: &event.Numbers{}}), nil, map[int32]int64{0: 0}
		w.observe(timeline.Attached{ClusterID: "sim", Mode: "log", Partitions: 1})
		w.observe(timeline.ReadFrom{Partition: 0, End: end})
		w.read(0)
		for _, g := range w.groups { // the first record is where the story begins
			g.history = g.history[1:]
			for i := range g.history {
				g.history[i].storedMs = -2 // when it took effect is not in the log
			}
		}
		if !w.tl.Ready() {
			t.Error("not ready")
		}
		w.compare(&all)
	}
	report(t, "read later", all)
}
