package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/coordinator/sim"
)

// weighted is something that can happen, and how often it is chosen.
type weighted struct {
	do     func(c *campaign)
	weight int
}

type action struct {
	name   string
	weight int
	do     func(c *campaign)
}

// actions are all that can happen to a world.
var actions = []action{
	{"start", 40, (*campaign).start}, {"stop", 8, (*campaign).stop}, {"kill", 10, (*campaign).kill}, {"restart", 16, (*campaign).restart},
	{"pause", 10, (*campaign).pause}, {"busy", 8, (*campaign).busy}, {"twin", 3, (*campaign).startTwin},
	{"kill-broker", 3, (*campaign).killBroker}, {"stop-broker", 2, (*campaign).stopBroker}, {"restart-broker", 12, (*campaign).restartBroker},
	{"move-leader", 3, (*campaign).moveLeader}, {"drop", 8, (*campaign).drop}, {"delay", 5, (*campaign).delay}, {"duplicate", 5, (*campaign).duplicate},
	{"cut", 5, (*campaign).cut}, {"loss", 3, (*campaign).loss}, {"fail-appends", 5, (*campaign).failAppends}, {"slow-appends", 5, (*campaign).slowAppends},
	{"add-partitions", 2, (*campaign).addPartitions}, {"delete-topic", 1, (*campaign).deleteTopic}, {"max-size", 1, (*campaign).maxSize},
	{"setting", 2, (*campaign).setting}, {"sleep", 1, (*campaign).sleep}, {"simple", 4, (*campaign).simple}, {"retention", 2, (*campaign).retention},
	{"ask-admin", 5, (*campaign).askAdmin}, {"ask-nothing", 3, (*campaign).askNothing}, {"ask-member", 5, (*campaign).askMember}, {"ask-state", 8, (*campaign).askState},
	{"ask-loading", 5, (*campaign).askLoading}, {"ask-join", 4, (*campaign).askJoin}, {"ask-issued", 4, (*campaign).askIssued}, {"txn", 3, (*campaign).askTxn},
	{"unstable", 2, (*campaign).unstable}, {"commit", 3, (*campaign).commit},
}

// mostDownMs is how long a broker is down at most. It must be less than log.cleaner.delete.retention.ms: as in Kafka, a
// replica that is gone for longer does not hear of tombstones that the others have dropped, and has deleted offsets still.
const mostDownMs = 600_000

// action does one random thing.
func (c *campaign) action() {
	for id, since := range c.check.scene.down {
		if c.e.NowMs()-since > mostDownMs {
			c.try("restart-broker %d", id)
			return
		}
	}
	n := c.prng.IntN(c.total)
	for _, w := range c.weights {
		if n -= w.weight; n < 0 {
			w.do(c)
			return
		}
	}
}

func splitOptions(list string) []string { return strings.Fields(list) }

// numbered puts a number where a %d is.
func numbered(list string, n int) string { return strings.ReplaceAll(list, "%d", fmt.Sprint(n)) }

func (c *campaign) someone() (described, *clientScene) {
	d := c.consumers[c.prng.IntN(len(c.consumers))]
	return d, c.check.scene.client(d.name)
}

func (c *campaign) start() {
	if d, s := c.someone(); !s.running {
		c.do("start %s", d.name)
	}
}

func (c *campaign) stop() {
	if d, s := c.someone(); s.running && !s.paused && !s.closing {
		c.do("stop %s", d.name)
		s.closing = s.running
	}
}

func (c *campaign) kill() {
	if d, s := c.someone(); s.running {
		c.do("kill %s", d.name)
	}
}

func (c *campaign) restart() {
	d, _ := c.someone()
	c.do("restart %s", d.name)
}

func (c *campaign) pause() {
	switch d, s := c.someone(); {
	case s.running && !s.paused:
		c.do("pause %s", d.name)
	case s.paused:
		c.do("resume %s", d.name)
	}
}

func (c *campaign) busy() {
	if d, s := c.someone(); s.running && s.state == event.Joined && !s.paused && !s.closing && !s.rejoining {
		c.try("busy %s %ds", d.name, 1+c.prng.IntN(25))
	}
}

// twin tells whether a consumer is a second process with the instance id of another.
func (c *campaign) twin(d described) bool { return strings.HasPrefix(d.name, "t") }

// startTwin starts a second process with the instance id of a static consumer: one fences the other.
func (c *campaign) startTwin() {
	d, _ := c.someone()
	if !d.static || c.twin(d) {
		return
	}
	name := "t" + d.name
	if !slices.ContainsFunc(c.consumers, func(o described) bool { return o.name == name }) {
		cfg, _ := c.e.World().Consumer(d.name)
		for _, t := range cfg.Topics {
			if c.check.scene.topics[t] == 0 {
				return
			}
		}
		c.describeAs(described{name: name, group: d.group, static: true}, []string{"instance=" + cfg.InstanceID, "topics=" + strings.Join(cfg.Topics, ","),
			"assignor=" + strings.Join(cfg.Assignors, ","), "rebalance=10s", "session=10s", "metadata=" + name, c.pick("v=9", "v=8", "v=6")})
		return
	}
	if c.check.scene.client(name).running {
		c.do("kill %s", name)
	} else {
		c.do("start %s", name)
	}
}

func (c *campaign) broker() int32 { return int32(1 + c.prng.IntN(3)) }

func (c *campaign) runs(id int32) bool { return c.e.World().Drive().Cluster().Running(id) }

func (c *campaign) allRun() bool { return c.runs(1) && c.runs(2) && c.runs(3) }

func (c *campaign) killBroker() {
	if id := c.broker(); c.runs(id) && len(c.check.scene.down) < c.pickInt(2, 2, 2, 3) {
		c.agree()
		c.do("kill-broker %d", id)
	}
}

func (c *campaign) stopBroker() {
	if id := c.broker(); c.runs(id) && len(c.check.scene.down) < c.pickInt(2, 2, 2, 3) {
		c.agree()
		c.do("stop-broker %d", id)
	}
}

func (c *campaign) restartBroker() {
	for id := int32(1); id <= 3; id++ {
		if _, down := c.check.scene.down[id]; down {
			c.try("restart-broker %d", id)
			return
		}
	}
}

func (c *campaign) moveLeader() {
	topic := c.pick(cluster.OffsetsTopic, cluster.OffsetsTopic, cluster.OffsetsTopic, cluster.TransactionTopic, "orders")
	n := c.e.World().Drive().Cluster().Partitions(topic)
	if n == 0 {
		return
	}
	partition := int32(c.prng.IntN(int(n)))
	if topic == cluster.OffsetsTopic {
		partition = c.interesting(partition)
		c.agree()
	}
	c.try("move-leader %s-%d %d", topic, partition, c.broker())
}

// interesting is the partition of __consumer_offsets of a load or of a group that waits for its assignment, mostly;
// otherwise any.
func (c *campaign) interesting(any int32) int32 {
	if c.prng.IntN(4) == 0 {
		return any
	}
	for _, at := range sortedKeys(c.check.scene.loading) {
		return at.partition
	}
	for _, at := range sortedKeys(c.check.scene.groups) {
		if g := c.check.scene.groups[at]; g.state == completing && len(g.parked) > 0 {
			return record.Partition(at.group, c.check.commits.n)
		}
	}
	return any
}

var (
	droppable    = []string{"JoinGroup", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup", "FindCoordinator", "OffsetFetch", "Metadata"}
	txnDroppable = []string{"InitProducerID", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "EndTxn"}
)

// message is a kind of message of a consumer.
func (c *campaign) message() string {
	d, _ := c.someone()
	if d.transactional && c.prng.IntN(2) == 0 {
		return d.name + " " + c.pick(txnDroppable...)
	}
	return d.name + " " + c.pick(droppable...)
}

func (c *campaign) drop() {
	c.do("drop %s %d%s", c.message(), 1+c.prng.IntN(2), c.pick("", " answers"))
}

func (c *campaign) delay() {
	c.do("delay %s 1 %s%s", c.message(), c.pick("200ms", "2s", "7s", "40s"), c.pick("", " answers"))
}

func (c *campaign) duplicate() {
	c.do("duplicate %s %d%s", c.message(), 1+c.prng.IntN(2), c.pick("", " 50ms", " 3s", " 30s"))
}

func (c *campaign) cut() {
	if len(c.cuts) > 0 && c.prng.IntN(2) == 0 {
		c.do("heal %s", c.cuts[0])
		c.cuts = c.cuts[1:]
		return
	}
	d, _ := c.someone()
	if link := fmt.Sprintf("%s %d", d.name, c.broker()); !slices.Contains(c.cuts, link) {
		c.do("cut %s", link)
		c.cuts = append(c.cuts, link)
	}
}

func (c *campaign) loss() { c.do("loss %s%%", c.pick("0", "0", "0.5", "3")) }

// failAppends has appends fail with any error. What transaction coordinators write may be refused, too.
func (c *campaign) failAppends() {
	what := c.pick("group", "group", "offsets", "transactional-offsets", "tombstones", "transaction", "marker", "any")
	c.do("fail-appends %s %s %d%s", what, c.pick(sim.AppendErrors()...), 1+c.prng.IntN(2), c.pick("", " late"))
}

func (c *campaign) slowAppends() {
	c.do("slow-appends %s %s %d", c.pick("group", "group", "offsets", "transactional-offsets", "tombstones", "any"), c.pick("30ms", "500ms", "3s", "8s"), 1+c.prng.IntN(3))
}

func (c *campaign) addPartitions() {
	topic := c.pick("orders", "payments")
	if n := c.check.scene.topics[topic]; n > 0 && n < 9 && c.allRun() { // a new partition wants three live brokers
		c.do("add-partitions %s %d", topic, n+1)
	}
}

// deleteTopic deletes a topic that everybody may read, or makes it again.
func (c *campaign) deleteTopic() {
	switch {
	case c.check.scene.topics["payments"] > 0:
		c.do("delete-topic payments")
	case c.allRun():
		c.do("topic payments %d", 1+c.prng.IntN(3))
	}
}

func (c *campaign) maxSize() { c.do("set group.max.size %s", c.pick("1", "2", "3", "5", "100")) }

func (c *campaign) setting() {
	c.do("set %s", c.pick("group.initial.rebalance.delay.ms 0", "group.initial.rebalance.delay.ms 2000", "group.initial.rebalance.delay.ms 5000",
		"group.min.session.timeout.ms 8000", "group.min.session.timeout.ms 3000", "group.max.session.timeout.ms 20000", "group.max.session.timeout.ms 1800000",
		"offset.metadata.max.bytes 2", "offset.metadata.max.bytes 4096", "offsets.commit.timeout.ms 300", "offsets.commit.timeout.ms 5000",
		"offsets.retention.minutes 1", "offsets.retention.minutes 10080"))
}

// sleep lets minutes pass: what is to expire does.
func (c *campaign) sleep() { c.do("advance %dm", 1+c.prng.IntN(7)) }

// commit is an application's own, of a partition that may be another's.
func (c *campaign) commit() {
	if d, s := c.someone(); s.running && !s.paused && !s.closing {
		c.try("commit %s %s %d", d.name, c.partition(), c.prng.IntN(1000))
	}
}

// partition is a partition of a topic that may be gone, or one that is not there.
func (c *campaign) partition() string {
	return fmt.Sprintf("%s-%d", c.pick("orders", "orders", "payments"), c.prng.IntN(c.pickInt(3, 3, 3, 12)))
}

// sortedKeys are the keys of a map in an order that is the same every time.
func sortedKeys[K comparable, V any](m map[K]V) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

func (c *campaign) pickInt(list ...int) int { return list[c.prng.IntN(len(list))] }

// heal ends every fault.
func (c *campaign) heal() {
	c.do("loss 0%%")
	for id := int32(1); id <= 3; id++ {
		if _, down := c.check.scene.down[id]; down {
			c.try("restart-broker %d", id)
		}
	}
	for _, link := range c.cuts {
		c.do("heal %s", link)
	}
	c.cuts = nil
	c.do("fail-appends any CORRUPT_MESSAGE 0")
	for _, what := range sim.Writes() {
		c.do("fail-appends %s CORRUPT_MESSAGE 0", what)
	}
	for _, s := range []string{"group.max.size 100", "group.min.session.timeout.ms 3000", "group.max.session.timeout.ms 1800000", "offset.metadata.max.bytes 4096",
		"offsets.commit.timeout.ms 5000", "offsets.retention.minutes 10080"} {
		c.do("set %s", s)
	}
	for _, d := range c.consumers {
		s := c.check.scene.client(d.name)
		if s.paused {
			c.do("resume %s", d.name)
		}
		if c.twin(d) && s.running {
			c.do("kill %s", d.name)
		}
		for _, api := range slices.Concat(droppable[1:], txnDroppable[:4]) {
			c.do("drop %s %s 0", d.name, api)
			c.do("drop %s %s 0 answers", d.name, api)
			c.do("delay %s %s 0 0ms", d.name, api)
			c.do("delay %s %s 0 0ms answers", d.name, api)
			c.do("duplicate %s %s 0", d.name, api)
		}
	}
	for !c.allRun() {
		c.do("advance 1s")
	}
	if c.check.scene.topics["payments"] == 0 {
		c.do("topic payments 2")
	}
}

// startAll starts every consumer that does not run, but no twin.
func (c *campaign) startAll() {
	for _, d := range c.consumers {
		if !c.check.scene.client(d.name).running && !c.twin(d) {
			c.do("start %s", d.name)
		}
	}
}

// stir starts a last rebalance: a static leader that came back with JoinGroup below version 9 does not know that it leads,
// so that until then nobody in the group watches its topics (KIP-814). And static members join anew: a coordinator goes on
// with the client.id of the process that was there first, which may have been the twin.
func (c *campaign) stir(group string) {
	for _, d := range c.consumers {
		if d.group == group && d.static && !c.twin(d) {
			cfg, _ := c.e.World().Consumer(d.name)
			c.ask("LeaveGroup group=%s instance=%s", group, cfg.InstanceID)
		}
	}
	for _, d := range c.consumers {
		if d.group == group && !d.static {
			c.do("restart %s", d.name)
			return
		}
	}
}

// membersOf counts the consumers that run, or are about to, in a group.
func (c *campaign) membersOf(group string) (n int) {
	for _, d := range c.consumers {
		if d.group == group && !c.twin(d) {
			n++
		}
	}
	return n
}
