package sim_test

import (
	"fmt"
	"slices"
)

// profile is the character of a world: what it is made of, and what happens in it more often than in others.
type profile struct {
	name string
	// set are settings beside the usual ones.
	set []string
	// consumer are options of every consumer; every says how every so-many-th consumer differs.
	consumer string
	every    map[int]string
	// often are the actions that come so many times more often.
	often map[string]int
	// initialDelay are the values of group.initial.rebalance.delay.ms that it may have; nil for the usual ones.
	initialDelay []string
}

// profiles are the worlds of seeds 1, 2, and so on; then they begin anew.
var profiles = []profile{
	{name: "plain", initialDelay: []string{"0", "3000"}},
	{name: "transactional", every: map[int]string{1: "transactional=tx%d transaction-timeout=20s commit=2s", 4: "instance=i%d"},
		often: map[string]int{"kill": 3, "restart": 2, "fail-appends": 2, "txn": 10, "drop": 3, "move-leader": 3}},
	{name: "static", every: map[int]string{1: "instance=i%d"}, often: map[string]int{"restart": 4, "twin": 6, "ask-member": 2, "slow-appends": 3}},
	{name: "cooperative", consumer: "assignor=cooperative-sticky", often: map[string]int{"add-partitions": 2, "start": 2, "stop": 2}},
	{name: "small", set: []string{"group.max.size 3"}, every: map[int]string{3: "instance=i%d"}, often: map[string]int{"max-size": 20, "start": 2}},
	{name: "failing log", set: []string{"offsets.commit.timeout.ms 2000"}, often: map[string]int{"fail-appends": 12, "slow-appends": 8}, every: map[int]string{2: "instance=i%d"}},
	{name: "failover", set: []string{"lab.load.delay.ms 700"}, every: map[int]string{2: "instance=i%d", 3: "transactional=tx%d commit=3s"},
		often: map[string]int{"kill-broker": 6, "restart-broker": 4, "move-leader": 8, "stop-broker": 4}},
	{name: "old clients", consumer: "requests=old", every: map[int]string{1: "v=1", 2: "v=4", 3: "v=2", 4: "v=7", 5: "v=3"},
		often: map[string]int{"retention": 6, "kill": 2}},
	{name: "forgetful", consumer: "topics=orders", set: []string{"offsets.retention.minutes 1", "offsets.retention.check.interval.ms 7000"},
		often: map[string]int{"ask-admin": 6, "delete-topic": 4, "stop": 8, "simple": 8, "sleep": 6, "kill": 2, "ask-state": 2}},
	{name: "network", every: map[int]string{2: "requests=old v=5", 3: "instance=i%d", 4: "transactional=tx%d commit=3s"},
		often: map[string]int{"drop": 5, "delay": 8, "duplicate": 8, "cut": 8, "loss": 3}},
}

var assignors = []string{"range", "cooperative-sticky", "roundrobin", "sticky", "cooperative-sticky,sticky"}

// begin makes the world.
func (c *campaign) begin() {
	c.do("seed %d", c.seed)
	c.do("brokers 3")
	c.do("latency %dms", 1+c.prng.IntN(20))
	delays := c.profile.initialDelay
	if delays == nil {
		delays = []string{"0", "1000", "3000"}
	}
	for _, s := range []string{
		fmt.Sprintf("offsets.topic.num.partitions %d", 1+c.prng.IntN(4)), "broker.session.timeout.ms " + c.pick("1000", "3000", "9000"),
		"group.initial.rebalance.delay.ms " + c.pick(delays...), "lab.load.delay.ms " + c.pick("0", "20", "300"),
		"offsets.load.buffer.size " + c.pick("1000", "20000"), "transaction.state.log.num.partitions 2",
		fmt.Sprintf("offsets.topic.segment.bytes %d", 2000+c.prng.IntN(20_000)), "log.cleaner.backoff.ms 5000", "log.cleaner.delete.retention.ms 1800000",
		"offsets.retention.check.interval.ms " + c.pick("20000", "60000"), "group.min.session.timeout.ms 3000",
	} {
		c.do("set %s", s)
	}
	for _, s := range c.profile.set {
		c.do("set %s", s)
	}
	c.do("topic orders %d", 3+c.prng.IntN(4))
	c.do("topic payments %d", 1+c.prng.IntN(3))
	assignor := assignors[c.prng.IntN(len(assignors))]
	for i := range 6 {
		c.describe(i, assignor)
	}
	for _, a := range actions {
		n := a.weight * max(1, c.profile.often[a.name])
		c.weights = append(c.weights, weighted{a.do, n})
		c.total += n
	}
}

// describe describes a consumer. Every consumer of a group has the same assignors, but for one that knows another too.
func (c *campaign) describe(i int, assignor string) {
	d := described{name: fmt.Sprintf("c%d", i+1), group: c.groups[i/4]}
	options := []string{"session=" + c.pick("6s", "10s", "30s"), "rebalance=" + c.pick("5s", "10s", "20s"), "commit=" + c.pick("1s", "3s", "off"),
		"metadata-age=" + c.pick("2s", "20s"), "request-timeout=" + c.pick("3s", "8s", "30s"), "heartbeat=" + c.pick("1s", "3s"),
		"v=" + c.pick("9", "9", "8", "7", "6", "5"), "topics=" + c.pick("orders", "orders,payments", "orders,payments"), "assignor=" + assignor, "metadata=" + d.name}
	put := func(list string) {
		for _, o := range splitOptions(list) {
			key := o[:slices.Index([]byte(o), '=')+1]
			options = slices.DeleteFunc(options, func(old string) bool { return len(old) >= len(key) && old[:len(key)] == key })
			options = append(options, o)
		}
	}
	put(c.profile.consumer)
	for n := 1; n <= 6; n++ {
		if list, given := c.profile.every[n]; given && (i+1)%n == 0 && (n > 1 || i < 4) {
			put(numbered(list, i+1))
		}
	}
	for _, o := range options {
		d.static = d.static || len(o) > 9 && o[:9] == "instance="
		d.transactional = d.transactional || len(o) > 14 && o[:14] == "transactional="
	}
	c.describeAs(d, options)
}

func (c *campaign) describeAs(d described, options []string) {
	line := "consumer " + d.name + " group=" + d.group
	for _, o := range options {
		line += " " + o
	}
	c.do("%s", line)
	c.consumers = append(c.consumers, d)
}
