package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
)

// shortSteps is how many moments a world lives in `make test`; longSteps is what a campaign of its own has at least, and
// then every mark is asked for.
const (
	shortSteps = 20_000
	longSteps  = 50_000
)

// checkpointSteps is how often the whole world is compared with its log, its copy and its facts.
const checkpointSteps = 10_000

// TestCampaign lets worlds live through random faults and checks after every moment what must always be true; see
// checks. SEED chooses one world, STEPS how many moments each lives:
//
//	SEED=7 STEPS=2000 go test ./coordinator/sim -run Campaign -v
//
// A failure prints its seed, the moment and a script that leads to it; see shrunk. Each seed has a
// world of its own character; see profiles.
func TestCampaign(t *testing.T) {
	var seeds []uint64
	for i := range profiles {
		seeds = append(seeds, uint64(i+1))
	}
	steps := shortSteps
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
	campaigns := make([]*campaign, len(seeds))
	t.Run("seeds", func(t *testing.T) {
		for i, seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				campaigns[i] = newCampaign(t, seed)
				campaigns[i].run(steps)
			})
		}
	})
	if t.Failed() {
		return
	}
	all := newTally()
	for _, c := range campaigns {
		all.add(c.check.marks)
	}
	t.Logf("%d marks over %d seeds of %d moments:\n%s", len(marks), len(seeds), steps, all)
	if len(seeds) < len(profiles) || steps < shortSteps {
		return
	}
	for _, m := range all.missing(steps >= longSteps) {
		t.Errorf("in all of these worlds it never happened: %s; the campaign has become too tame", m)
	}
}

// campaign is one world and what is done to it.
type campaign struct {
	t       *testing.T
	seed    uint64
	prng    *rand.Rand
	profile profile
	*trial
	// most is how many moments there are to be, atCheckpoint when the world is looked at as a whole.
	most, atCheckpoint int
	toldAt             time.Time
	weights            []weighted
	total              int

	consumers []described
	cuts      []string
	groups    []string
}

// described is a consumer that the campaign has described.
type described struct {
	name, group   string
	static        bool
	transactional bool
}

func newCampaign(t *testing.T, seed uint64) *campaign {
	return &campaign{t: t, seed: seed, prng: rand.New(rand.NewPCG(seed, 99)), profile: profiles[(seed+uint64(len(profiles))-1)%uint64(len(profiles))],
		trial: newTrial(), groups: []string{"g", "h"}, toldAt: time.Now()}
}

// run lets the world live for so many moments.
func (c *campaign) run(steps int) {
	c.most, c.atCheckpoint = steps, min(checkpointSteps, steps/2)
	c.begin()
	for c.steps < steps {
		c.action()
		c.do("advance %dms", 1+c.prng.IntN(1<<(4+c.prng.IntN(8)+c.pickInt(0, 0, 0, 0, 0, 0, 0, 3))))
		if c.steps >= c.atCheckpoint {
			c.atCheckpoint = c.steps + checkpointSteps
			c.checkpoint()
		}
		c.progress()
	}
	c.calm()
	c.t.Logf("seed %d (%s): %d moments, %d events, %s of the world, %d commands, %d operations on offsets in an order that can be", c.seed, c.profile.name,
		c.steps, c.check.events, event.Duration(c.e.NowMs()), len(c.lines), c.history.checked)
}

// checkpoint compares the world with what its log, its copy and its facts say.
func (c *campaign) checkpoint() {
	c.agree()
	c.do("advance 3s %s", beside)
	c.e.Mark() // the events that conditions look back on are let go
	c.e.Mark()
}

// agree looks at the world as a whole.
func (c *campaign) agree() { c.do("advance 1ms %s", whole) }

// progress prints a line every few seconds of a long campaign.
func (c *campaign) progress() {
	if c.most > shortSteps && time.Since(c.toldAt) > 10*time.Second {
		c.toldAt = time.Now()
		c.t.Logf("seed %d: %d of %d moments, %s of the world, %d events, %d marks", c.seed, c.steps, c.most, event.Duration(c.e.NowMs()), c.check.events, c.check.marks.reached())
	}
}

// do runs a command, and checks after every moment.
func (c *campaign) do(format string, args ...any) {
	c.t.Helper()
	if f := c.trial.do(fmt.Sprintf(format, args...)); f != nil {
		c.t.Fatalf("seed %d, moment %d, at %s: %v\n\n%s", c.seed, c.steps, event.Clock(c.e.NowMs()), f, shrunk(c.t, c.lines, f))
	}
}

// try runs a command that the world may refuse: whether it does is written into the script.
func (c *campaign) try(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	cmd, err := script.ParseLine("campaign", len(c.lines)+1, line)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.e.Clone().Do(cmd); err != nil {
		line = "! " + line
	}
	c.do("%s", line)
}

func (c *campaign) pick(list ...string) string { return list[c.prng.IntN(len(list))] }

// calm heals everything and lets the groups settle: whoever runs gets an assignment, every partition has an owner,
// nothing is left behind, and every acknowledged commit is found.
func (c *campaign) calm() {
	c.heal()
	c.do("advance 150s") // closes come to their end, and what was sent late arrives
	c.startAll()
	for _, g := range c.groups {
		c.stir(g)
	}
	c.do("advance 60s")
	c.startAll() // who was fenced by its own successor has given up
	for _, g := range c.groups {
		members := c.membersOf(g)
		c.do("until within=20m state Stable group=%s and unowned == 0 group=%s and members == %d group=%s", g, g, members, g)
	}
	c.do("advance 2m")
	for _, g := range c.groups {
		c.do("expect state Stable group=%s and unowned == 0 group=%s and members == %d group=%s", g, g, c.membersOf(g), g)
	}
	for _, d := range c.consumers { // what commits and beats goes quiet, so that nothing is in flight
		if c.check.scene.client(d.name).running {
			c.do("pause %s", d.name)
		}
	}
	c.do("advance 1s %s", atRest)
	c.agree()
	if f := c.finish(); f != nil {
		c.t.Fatalf("seed %d, in the end: %v\n\n%s", c.seed, f, shrunk(c.t, c.lines, f))
	}
}
