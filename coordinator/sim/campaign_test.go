package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"grouplab/coordinator/sim/script"
)

// TestCampaign lets worlds live through random starts, kills, freezes, dead brokers, lost messages and growing topics,
// and checks after every moment what must always be true. SEED chooses one world, STEPS how long each lives:
//
//	SEED=7 STEPS=2000 go test ./coordinator/sim -run Campaign -v
//
// A failure prints its seed and the script that leads to it.
func TestCampaign(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	steps := 120
	if s := os.Getenv("STEPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("STEPS is %q; it is a number of at least 1", s)
		}
		steps = n
	}
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 62)
		if err != nil {
			t.Fatalf("SEED is %q; it is a whole number from 0", s)
		}
		seeds = []uint64{n}
	}
	reached := map[string]int{}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &campaign{t: t, seed: seed, prng: rand.New(rand.NewPCG(seed, 99)), trial: newTrial()}
			c.run(steps)
			for m, n := range c.check.marks {
				reached[m] += n
			}
			t.Logf("seed %d: %s of the world, %d events, %d operations on offsets put into order in %d pieces of up to %d", seed, c.clock(), c.check.events,
				c.history.checked, c.history.windows, c.history.widest)
		})
	}
	for _, m := range sometimes {
		t.Logf("%4d times %s", reached[m], m)
	}
	if t.Failed() || len(seeds) == 1 {
		return
	}
	for _, m := range sometimes {
		if reached[m] == 0 {
			t.Errorf("in all of these worlds it never happened that %s: the campaign has become too tame", m)
		}
	}
}

type campaign struct {
	t    *testing.T
	seed uint64
	prng *rand.Rand
	*trial
	// size is the topic's number of partitions; consumers how many have been described.
	size, consumers int
	// down are the brokers that do not run.
	down []int
}

func (c *campaign) clock() string { return strconv.FormatInt(c.e.NowMs()/1000, 10) + " s" }

// do runs a command, and checks after it.
func (c *campaign) do(format string, args ...any) {
	c.t.Helper()
	if f := c.trial.do(fmt.Sprintf(format, args...)); f != nil {
		c.fail(f)
	}
}

func (c *campaign) fail(f *failure) {
	c.t.Helper()
	c.t.Fatalf("seed %d, at %s: %v\n\n%s", c.seed, c.clock(), f, shrunk(c.t, c.lines, f))
}

func (c *campaign) pick(list ...string) string { return list[c.prng.IntN(len(list))] }

func (c *campaign) run(steps int) {
	c.size = 3 + c.prng.IntN(6)
	c.do("seed %d", c.seed)
	c.do("brokers 3")
	c.do("latency %dms", 1+c.prng.IntN(20))
	c.do("set offsets.topic.num.partitions %d", 1+c.prng.IntN(4))
	c.do("set broker.session.timeout.ms %s", c.pick("1000", "3000", "9000"))
	c.do("set group.initial.rebalance.delay.ms %s", c.pick("0", "1000", "3000"))
	c.do("set lab.load.delay.ms %s", c.pick("0", "20", "700"))
	c.do("set offsets.load.buffer.size 1000")
	c.do("set transaction.state.log.num.partitions 2")
	if c.seed%2 == 1 {
		c.do("set offsets.topic.segment.bytes 600")
		c.do("set log.cleaner.backoff.ms 1000")
		c.do("set log.cleaner.delete.retention.ms 5000")
	}
	c.do("topic orders %d", c.size)
	c.do("group g")
	rebalance := [][]string{{"5s", "10s", "20s"}, {"5s"}}[c.prng.IntN(2)]
	assignors := []string{"range", "cooperative-sticky", "roundrobin", "cooperative-sticky", "sticky", "cooperative-sticky,sticky"}[c.seed%6]
	for range 3 + c.prng.IntN(3) {
		c.consumers++
		session, rebalances, commit, age := c.pick("6s", "10s", "30s"), c.pick(rebalance...), c.pick("1s", "3s", "off"), c.pick("2s", "20s")
		timeout, version, instance := c.pick("3s", "8s", "30s"), c.pick("9", "9", "5", "3"), ""
		if version != "3" && c.seed%3 == 1 && c.consumers%2 == 0 {
			instance = fmt.Sprintf(" instance=i%d", c.consumers)
		}
		if commit != "off" && c.seed%4 == 2 {
			instance += fmt.Sprintf(" transactional=tx%d", c.consumers)
		}
		c.do("consumer c%d assignor=%s session=%s rebalance=%s commit=%s metadata-age=%s request-timeout=%s v=%s metadata=c%d%s", c.consumers, assignors,
			session, rebalances, commit, age, timeout, version, c.consumers, instance)
	}
	for i := range steps {
		c.action()
		c.do("advance %dms", 1+c.prng.IntN(1<<(4+c.prng.IntN(10))))
		if i%10 == 9 {
			c.compareCopy()
		}
	}
	c.calm()
}

var droppable = []string{"JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup", "FindCoordinator"}

// action does one random thing that is possible now.
func (c *campaign) action() {
	name := fmt.Sprintf("c%d", 1+c.prng.IntN(c.consumers))
	state := func(s string) bool { return c.holds("client " + name + " " + s) }
	paused := c.check.paused[name]
	switch c.prng.IntN(17) {
	case 0, 1, 2, 3:
		if state("STOPPED") {
			c.do("start %s", name)
		}
	case 4:
		if !state("STOPPED") && !paused && !c.check.closing[name] {
			c.do("stop %s", name)
			c.check.closing[name] = !c.holds("client " + name + " STOPPED")
		}
	case 5:
		if !state("STOPPED") {
			c.do("kill %s", name)
		}
	case 6, 7:
		c.do("restart %s", name)
	case 8:
		if !state("STOPPED") && !paused {
			c.do("pause %s", name)
		} else if paused {
			c.do("resume %s", name)
		}
	case 9:
		if state("STABLE") && !paused && !c.check.closing[name] && !c.check.rejoining[name] {
			c.do("busy %s %ds", name, 1+c.prng.IntN(25))
		}
	case 10:
		if len(c.down) == 0 && c.allRun() {
			c.down = append(c.down, 1+c.prng.IntN(3))
			c.do("%s %d", c.pick("kill-broker", "kill-broker", "stop-broker"), c.down[0])
		}
	case 11, 12:
		if len(c.down) > 0 {
			c.do("restart-broker %d", c.down[0])
			c.down = nil
		}
	case 13, 16:
		c.do("drop %s %s %d%s", name, c.pick(droppable...), 1+c.prng.IntN(2), c.pick("", " answers"))
	case 14:
		c.do("loss %s%%", c.pick("0", "0", "0.5", "3"))
	case 15:
		if c.size < 12 && c.allRun() { // a new partition wants three live brokers
			c.size++
			c.do("add-partitions orders %d", c.size)
		}
	}
}

// allRun tells whether every broker serves; a restarted one may have to wait until its death is noticed.
func (c *campaign) allRun() bool {
	for id := range int32(3) {
		if !c.e.World().Drive().Cluster().Running(id + 1) {
			return false
		}
	}
	return true
}

func (c *campaign) holds(condition string) bool {
	cond, err := script.ParseCondition("campaign", 1, 1, condition)
	if err != nil {
		c.t.Fatal(err)
	}
	return cond.Holds(c.e)
}

// compareCopy runs a copy of the world beside it for a while: the same events must come out.
func (c *campaign) compareCopy() { c.do("advance 5s %s", beside) }

// calm heals everything and lets the group settle: whoever runs gets an assignment, every partition has an owner.
func (c *campaign) calm() {
	c.do("loss 0%%")
	if len(c.down) > 0 {
		c.do("restart-broker %d", c.down[0])
	}
	for i := range c.consumers {
		name := fmt.Sprintf("c%d", i+1)
		if c.check.paused[name] {
			c.do("resume %s", name)
		}
	}
	for i := range c.consumers {
		for _, api := range droppable {
			c.do("drop c%d %s 0", i+1, api)
			c.do("drop c%d %s 0 answers", i+1, api)
		}
	}
	c.do("advance 90s") // closes come to their end
	for i := range c.consumers {
		if name := fmt.Sprintf("c%d", i+1); c.holds("client " + name + " STOPPED") {
			c.do("start %s", name)
		}
	}
	c.do("until within=5m state Stable and unowned == 0 and members == %d", c.consumers)
	c.do("advance 5m")
	c.do("expect state Stable and unowned == 0 and members == %d %s", c.consumers, atRest)
	if f := c.finish(); f != nil {
		c.fail(f)
	}
}
