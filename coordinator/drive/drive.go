// Package drive is the only loop: input, take, append, appended, take, until nothing moves. It holds one cluster and the
// coordinators of its running brokers, and turns leadership into loads and unloads. The simulated world and the server
// both drive their machines through it, so what is played in a lesson is what runs on a socket.
package drive

import (
	"slices"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/txn"
)

// Config is what a Drive is made with.
type Config struct {
	Cluster  cluster.Config
	Settings coordinator.Settings
	// Transactions are the transaction coordinators' settings; the zero value stands for Kafka's defaults.
	Transactions txn.Settings
	// MemberID makes member ids; see coordinator.Config. issued goes on counting when a broker is started again.
	MemberID func(clientID string, broker int32, issued int64) string
	// Numbers hands out Seq, for the cluster and all machines. nil: fresh ones.
	Numbers *event.Numbers
	// DeliverAtOnce carries messages between brokers inside the loop: Output.Messages stays empty. For hosts without a
	// network between their brokers.
	DeliverAtOnce bool
	// LoadDelayMs is how long each chunk of a load takes; 0: a load is over at once. An empty log takes no time.
	LoadDelayMs int64
	// LoadChunkBytes is offsets.load.buffer.size, 5 MiB.
	LoadChunkBytes int
	// Decompress opens compressed batches of __consumer_offsets during a load; nil: such a load fails, saying so.
	Decompress log.Decompress
	// Loading is told how far a load is: when it begins, at 0, and after each chunk, before it goes on. It is what a host shows
	// of a load that lasts; empty logs are not told of. It must not use the drive. Copies of the drive do not call it. nil: nobody is told.
	Loading func(broker int32, topic string, partition int32, nextOffset, endOffset int64)
}

// BrokerReply is a coordinator's reply and the broker that gave it.
type BrokerReply struct {
	Broker int32
	coordinator.Reply
}

// Output is what a Drive wants done and known. Its slices are valid until the next door is used.
type Output struct {
	Replies []BrokerReply
	// Produced are the outcomes of Append.
	Produced []cluster.Appended
	// Messages to carry between brokers and to give to Deliver, or to Lost.
	Messages []cluster.Message
	// Watermarks name the partitions with more to read.
	Watermarks []cluster.Watermark
	// MetadataChanged is set when brokers, topics, partitions or leaders changed.
	MetadataChanged bool
	// Events, by Seq.
	Events []event.Event
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
}

// Drive drives one cluster and its coordinators. It is not safe for several goroutines: one goroutine owns it.
type Drive struct {
	cfg     Config
	nowMs   int64
	cluster *cluster.Cluster
	// clusterMs is the cluster's deadline; clusterStale is set while it may have something to take.
	clusterMs    int64
	clusterStale bool
	machines     []machine // by broker id-1
	// nextProducerID is where the controller's next block of producer ids begins.
	nextProducerID int64
	loads          []load
	pace           pace
	records        recordBuffer
	// soon is the broker that has requests of HandleSoon which are not settled, 0 where there are none; soonCount is how many.
	soon       int32
	soonCount  int
	out, spare Output
}

// machine is a broker's coordinator.
type machine struct {
	c          *coordinator.Coordinator // nil where the broker does not run
	deadlineMs int64
	stale      bool
	// txn is its transaction coordinator, with the same life.
	txn           *txn.Coordinator
	txnDeadlineMs int64
	txnStale      bool
	// life counts the machines of this broker: an answer to an earlier one is nobody's.
	life int64
	// issued is how many member ids the broker's earlier machines have given out.
	issued int64
}

// New returns a drive whose brokers all run. It panics where Config.MemberID is missing.
func New(nowMs int64, cfg Config) *Drive {
	if cfg.Numbers == nil {
		cfg.Numbers = cfg.Cluster.Numbers
	}
	if cfg.Numbers == nil {
		cfg.Numbers = &event.Numbers{}
	}
	if cfg.Transactions == (txn.Settings{}) {
		cfg.Transactions = txn.DefaultSettings()
	}
	if cfg.LoadChunkBytes <= 0 {
		cfg.LoadChunkBytes = 5 << 20
	}
	cfg.Cluster.Numbers = cfg.Numbers
	d := &Drive{cfg: cfg, nowMs: nowMs, cluster: cluster.New(nowMs, cfg.Cluster), clusterMs: -1, clusterStale: true}
	d.machines = make([]machine, d.cluster.Brokers())
	d.settle()
	return d
}

// at notes the time of a door, after what HandleSoon has left to do. Where a host's clock went back, time stands still here.
func (d *Drive) at(nowMs int64) int64 {
	d.settleSoon()
	d.nowMs = max(d.nowMs, nowMs)
	return d.nowMs
}

// Handle gives a group request, or one of a transaction, to a broker's coordinator. Where the broker does not run, the request is dropped: its
// connection is broken, and there will be no reply.
func (d *Drive) Handle(nowMs int64, broker int32, r coordinator.Request) {
	d.at(nowMs)
	m := d.machine(broker)
	if m == nil {
		return
	}
	if ofTransaction(r.Kmsg) {
		m.txn.Handle(d.nowMs, txn.Request{Ticket: r.Ticket, ClientID: r.ClientID, ClientHost: r.ClientHost, Cause: r.Cause, Kmsg: r.Kmsg})
		m.txnStale = true
	} else {
		m.c.Handle(d.nowMs, r)
		m.stale = true
	}
	d.settle()
}

// soonMost bounds how many requests are settled together: a few share most of what it costs to look round, and of many commits of one
// partition each would have to be looked for among those that came after it.
const soonMost = 8

// HandleSoon is Handle for a host that has more requests at hand: what comes of those that are for one broker is done together,
// before any other door does something, or with the next Take.
func (d *Drive) HandleSoon(nowMs int64, broker int32, r coordinator.Request) {
	m := d.machine(broker)
	if m == nil || ofTransaction(r.Kmsg) {
		d.Handle(nowMs, broker, r)
		return
	}
	if d.soon != broker || d.soonCount == soonMost || nowMs > d.nowMs {
		d.at(nowMs)
	}
	d.soon = broker
	d.soonCount++
	m.c.Handle(d.nowMs, r)
	m.stale = true
}

func (d *Drive) settleSoon() {
	if d.soon != 0 {
		d.soon, d.soonCount = 0, 0
		d.settle()
	}
}

// Append appends a client's batch. The outcome comes in Output.Produced.
func (d *Drive) Append(nowMs int64, r cluster.AppendRequest) {
	r.Internal = false
	d.cluster.Append(d.at(nowMs), r)
	d.changed()
}

// Advance tells that time has passed.
func (d *Drive) Advance(nowMs int64) {
	d.at(nowMs)
	if d.clusterMs >= 0 && d.clusterMs <= d.nowMs {
		d.cluster.Advance(d.nowMs)
		d.clusterStale = true
	}
	for i := range d.machines {
		if m := &d.machines[i]; m.c != nil && m.deadlineMs >= 0 && m.deadlineMs <= d.nowMs {
			m.c.Advance(d.nowMs)
			m.stale = true
		}
		if m := &d.machines[i]; m.c != nil && m.txnDeadlineMs >= 0 && m.txnDeadlineMs <= d.nowMs {
			m.txn.Advance(d.nowMs)
			m.txnStale = true
		}
	}
	d.settle()
}

// Deliver tells that a message arrived.
func (d *Drive) Deliver(nowMs int64, m cluster.Message) {
	d.cluster.Deliver(d.at(nowMs), m)
	d.changed()
}

// Lost tells that a message will never arrive.
func (d *Drive) Lost(nowMs int64, m cluster.Message) {
	d.cluster.Lost(d.at(nowMs), m)
	d.changed()
}

// changed follows every door of the cluster.
func (d *Drive) changed() {
	d.clusterStale = true
	d.settle()
}

// StartBroker starts a broker that does not run; see cluster.StartBroker. Its machine is new and loads what it leads.
func (d *Drive) StartBroker(nowMs int64, id int32) bool {
	done := d.cluster.StartBroker(d.at(nowMs), id)
	d.changed()
	return done
}

// Because says which event led to what is asked next of brokers and topics, until it says 0: what an operator or a script
// did.
func (d *Drive) Because(seq int64) { d.cluster.Because(seq) }

// StopBroker stops a broker cleanly: what is parked is answered NOT_COORDINATOR, then its machine is dropped and the
// host breaks its connections.
func (d *Drive) StopBroker(nowMs int64, id int32) bool {
	done := d.cluster.StopBroker(d.at(nowMs), id)
	d.changed()
	if done {
		d.drop(id)
	}
	return done
}

// KillBroker ends a broker without a word. Its machine is dropped: its parked replies are never sent, and the host
// breaks its connections.
func (d *Drive) KillBroker(nowMs int64, id int32) bool {
	done := d.cluster.KillBroker(d.at(nowMs), id)
	if done {
		d.drop(id)
	}
	d.changed()
	return done
}

func (d *Drive) drop(id int32) {
	m := &d.machines[id-1]
	*m = machine{deadlineMs: -1, txnDeadlineMs: -1, life: m.life, issued: m.issued + m.c.Issued()}
	d.loads = slices.DeleteFunc(d.loads, func(l load) bool { return l.broker == id })
}

// CreateTopic creates a topic; see cluster.CreateTopic.
func (d *Drive) CreateTopic(nowMs int64, name string, partitions int32, replicas int16, configs []cluster.TopicConfig) (code int16, message string) {
	code, message = d.cluster.CreateTopic(d.at(nowMs), name, partitions, replicas, configs)
	d.changed()
	return code, message
}

// CreateTopicWith creates a topic; see cluster.CreateTopicWith.
func (d *Drive) CreateTopicWith(nowMs int64, spec cluster.TopicSpec) (code int16, message string) {
	code, message = d.cluster.CreateTopicWith(d.at(nowMs), spec)
	d.changed()
	return code, message
}

// EnsureOffsetsTopic creates __consumer_offsets if it is not there; FindCoordinator does so by itself.
func (d *Drive) EnsureOffsetsTopic(nowMs int64) (code int16, message string) {
	code, message = d.cluster.EnsureOffsetsTopic(d.at(nowMs))
	d.changed()
	return code, message
}

// AddPartitions makes a topic's partitions total in number.
func (d *Drive) AddPartitions(nowMs int64, name string, total int32) (code int16, message string) {
	code, message = d.cluster.AddPartitions(d.at(nowMs), name, total)
	d.changed()
	return code, message
}

// DeleteTopic deletes a topic and whatever groups have committed of it; see cluster.DeleteTopic.
func (d *Drive) DeleteTopic(nowMs int64, name string) (code int16, message string) {
	code, message = d.cluster.DeleteTopic(d.at(nowMs), name)
	told := d.cfg.Numbers.Last()
	d.changed()
	if code == 0 {
		for i := range d.machines {
			if m := &d.machines[i]; m.c != nil {
				m.c.Because(told)
				m.c.TopicsDeleted(d.nowMs, []string{name})
				m.stale = true
			}
		}
		d.settle()
	}
	return code, message
}

// SetFault has the next appends of coordinators fail, or be slow; see cluster.SetFault.
func (d *Drive) SetFault(nowMs int64, f cluster.Fault) {
	d.cluster.SetFault(d.at(nowMs), f)
	d.changed()
}

// MoveLeader gives a partition another leader; see cluster.MoveLeader.
func (d *Drive) MoveLeader(nowMs int64, topic string, partition, to int32) (code int16, message string) {
	code, message = d.cluster.MoveLeader(d.at(nowMs), topic, partition, to)
	d.changed()
	return code, message
}

// ConfigChanged gives every coordinator new settings.
func (d *Drive) ConfigChanged(nowMs int64, s coordinator.Settings) {
	d.at(nowMs)
	d.cfg.Settings = s
	for i := range d.machines {
		if m := &d.machines[i]; m.c != nil {
			m.c.ConfigChanged(d.nowMs, s)
			m.stale = true
		}
	}
	d.settle()
}

// SetQuiet leaves out the events of single batches while nobody watches.
func (d *Drive) SetQuiet(quiet bool) { d.cluster.SetQuiet(quiet) }

// Take returns what has come out since the last Take.
func (d *Drive) Take() Output {
	d.settleSoon()
	out := d.out
	if !inOrder(out.Events) { // what two machines did in one round was taken one after the other
		slices.SortFunc(out.Events, func(a, b event.Event) int { return int(a.Seq - b.Seq) })
	}
	out.DeadlineMs = d.deadline()
	d.out, d.spare = d.spare.emptied(), out
	return out
}

func inOrder(events []event.Event) bool {
	for i := 1; i < len(events); i++ {
		if events[i].Seq < events[i-1].Seq {
			return false
		}
	}
	return true
}

// keep is the room that slices keep from one Take to the next.
const keep = 4096

func (o Output) emptied() Output {
	if cap(o.Events) > keep || cap(o.Replies) > keep || cap(o.Produced) > keep {
		return Output{}
	}
	clear(o.Events)
	clear(o.Replies)
	clear(o.Messages)
	return Output{Replies: o.Replies[:0], Produced: o.Produced[:0], Messages: o.Messages[:0], Watermarks: o.Watermarks[:0], Events: o.Events[:0]}
}

func (d *Drive) deadline() int64 {
	next := d.clusterMs
	sooner := func(ms int64) {
		if ms >= 0 && (next < 0 || ms < next) {
			next = ms
		}
	}
	for i := range d.machines {
		if d.machines[i].c != nil {
			sooner(d.machines[i].deadlineMs)
			sooner(d.machines[i].txnDeadlineMs)
		}
	}
	for i := range d.loads {
		sooner(d.loads[i].dueMs)
	}
	return next
}

func (d *Drive) machine(broker int32) *machine {
	if broker < 1 || int(broker) > len(d.machines) || d.machines[broker-1].c == nil {
		return nil
	}
	return &d.machines[broker-1]
}

// Machine is a broker's coordinator, nil where the broker does not run. For looking only.
func (d *Drive) Machine(broker int32) *coordinator.Coordinator {
	if m := d.machine(broker); m != nil {
		return m.c
	}
	return nil
}

// Cluster is the cluster. For looking and reading only: what changes it goes through the drive.
func (d *Drive) Cluster() *cluster.Cluster { return d.cluster }

// Facts returns events from which a fold rebuilds the whole picture, between FactsBegan and FactsEnded. They change
// nothing and use no new Seq: each carries the Seq handed out last.
func (d *Drive) Facts(nowMs int64) []event.Event {
	d.at(nowMs)
	edge := event.Event{Seq: d.cfg.Numbers.Last(), AtMs: d.nowMs}
	edge.Body = event.FactsBegan{NowMs: d.nowMs}
	facts := append([]event.Event{edge}, d.cluster.Facts(d.nowMs)...)
	for i := range d.machines {
		if m := &d.machines[i]; m.c != nil {
			facts = append(facts, m.c.Facts(d.nowMs)...)
			facts = append(facts, m.txn.Facts(d.nowMs)...)
		}
	}
	edge.Body = event.FactsEnded{}
	return append(facts, edge)
}

// GroupFacts returns of Facts what a list of groups shows and, in full, one group, "" for none, with the last records of its
// partition of __consumer_offsets.
func (d *Drive) GroupFacts(nowMs int64, group string) []event.Event {
	d.at(nowMs)
	edge := event.Event{Seq: d.cfg.Numbers.Last(), AtMs: d.nowMs, Body: event.FactsBegan{NowMs: d.nowMs}}
	var ofGroup, ofPartitions []event.Event
	partition := int32(-1)
	for i := range d.machines {
		c := d.machines[i].c
		if c == nil {
			continue
		}
		ofPartitions = append(ofPartitions, c.PartitionFacts(d.nowMs)...)
		if group == "" {
			continue
		}
		ofGroup = append(ofGroup, c.GroupFacts(d.nowMs, group)...)
		if len(ofGroup) > 0 {
			if loaded, is := ofGroup[0].Body.(event.GroupLoaded); is {
				partition = loaded.Partition
			}
		}
	}
	facts := append([]event.Event{edge}, d.cluster.OverviewFacts(d.nowMs, partition)...)
	facts = append(append(facts, ofPartitions...), ofGroup...)
	edge.Body = event.FactsEnded{}
	return append(facts, edge)
}

// FactsAfter returns a part of Facts: what concerns no group where broker is 0, then the groups of one coordinator after
// the other, at most so many, from behind a broker's group on. It says how far that went; last is set where there are no more.
func (d *Drive) FactsAfter(nowMs int64, broker int32, group string, most int) (facts []event.Event, toBroker int32, toGroup string, last bool) {
	d.at(nowMs)
	if broker == 0 {
		facts = d.cluster.OverviewFacts(d.nowMs, -1)
		for i := range d.machines {
			if c := d.machines[i].c; c != nil {
				facts = append(facts, c.PartitionFacts(d.nowMs)...)
			}
		}
		return facts, 1, "", len(d.machines) == 0
	}
	more := false
	if m := d.machine(broker); m != nil {
		facts, group, more = m.c.FactsAfter(d.nowMs, group, most)
	}
	switch {
	case more:
		return facts, broker, group, false
	case int(broker) < len(d.machines):
		return facts, broker + 1, "", false
	}
	return facts, broker, group, true
}

// Groups is how many groups there are.
func (d *Drive) Groups() (n int) {
	for i := range d.machines {
		if c := d.machines[i].c; c != nil {
			n += c.GroupCount()
		}
	}
	return n
}

// Purgatories tells how large the purgatories of a broker's coordinator are; ok is false where it does not run.
func (d *Drive) Purgatories(broker int32) (sizes [2]coordinator.PurgatorySize, ok bool) {
	if m := d.machine(broker); m != nil {
		return m.c.Purgatories(), true
	}
	return sizes, false
}

// Probe tells what a request would get now from a broker's coordinator. Of a broker that does not run it tells nothing:
// no Reply, and not Parked.
func (d *Drive) Probe(nowMs int64, broker int32, r coordinator.Request) coordinator.Probed {
	d.at(nowMs)
	m := d.machine(broker)
	if m == nil {
		return coordinator.Probed{Guard: "the broker does not run"}
	}
	return m.c.Probe(d.nowMs, r)
}

// Clone returns a copy that goes its own way and numbers its events with n.
func (d *Drive) Clone(n *event.Numbers) *Drive {
	d.settleSoon()
	k := *d
	k.cfg.Numbers, k.cfg.Cluster.Numbers, k.cfg.Loading = n, n, nil
	k.cluster = d.cluster.Clone(n)
	k.machines = slices.Clone(d.machines)
	for i := range k.machines {
		if m := &k.machines[i]; m.c != nil {
			m.c, m.txn = m.c.Clone(n), m.txn.Clone(n)
		}
	}
	k.loads = slices.Clone(d.loads)
	k.records = recordBuffer{}
	k.out, k.spare = d.out.copied(), Output{}
	return &k
}

func (o Output) copied() Output {
	o.Replies, o.Produced, o.Messages = slices.Clone(o.Replies), slices.Clone(o.Produced), slices.Clone(o.Messages)
	o.Watermarks, o.Events = slices.Clone(o.Watermarks), slices.Clone(o.Events)
	return o
}
