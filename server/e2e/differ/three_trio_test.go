//go:build interop

package differ

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/apache"
	"grouplab/server/e2e/wire"
)

// trio is one cluster of three brokers, ours or Apache Kafka's, and what was asked of it.
type trio struct {
	name          string
	group         string
	addresses     []string // broker 1's first
	kill, restart func(id int32) error
	sides         map[int32]*side
	// epochs are the leader epochs that partitions had when the cluster was laid out: how often leaders were elected
	// until then says nothing.
	epochs map[string]int32
	// answers are what was told, in the order of the questions.
	answers []answer
	// seen are the sequences of codes that repeated requests were answered.
	seen []string
}

type answer struct {
	title string
	lines []string
}

// startThree starts three brokers of each.
func startThree(t *testing.T, configuration map[string]string) (theirs, ours *trio) {
	t.Helper()
	still := maps.Clone(configuration)
	still["auto.leader.rebalance.enable"] = "false" // leaders move when they are told to
	kafka, err := apache.Start(apache.Config{Version: version(), Nodes: 3, Set: still, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Stop)
	s := startOurs(t, 3, configuration)
	theirs = newTrio("Apache Kafka", kafka.Addrs())
	theirs.kill = func(id int32) error { kafka.Kill(int(id)); return nil }
	theirs.restart = func(id int32) error { return kafka.Restart(int(id)) }
	ours = newTrio("GroupLab", s.KafkaAddrs())
	ours.kill, ours.restart = s.KillBroker, s.RestartBroker
	t.Cleanup(theirs.hangUp)
	t.Cleanup(ours.hangUp)
	return theirs, ours
}

// newTrio has a side a broker, with one memory of names.
func newTrio(name string, addresses []string) *trio {
	t := &trio{name: name, group: "trio", addresses: addresses, sides: map[int32]*side{}, epochs: map[string]int32{}}
	for i, address := range addresses {
		s := newSide(address, t.group)
		if i > 0 {
			s.names, s.producers = t.sides[1].names, t.sides[1].producers
		}
		t.sides[int32(i+1)] = s
	}
	return t
}

// called gives the group that the next questions are about another name.
func (t *trio) called(group string) {
	t.group = group
	for _, s := range t.sides {
		s.group = group
	}
}

// hangUp closes every connection; the next question opens its own.
func (t *trio) hangUp() {
	for id := range t.sides {
		t.forget(id)
	}
}

func (t *trio) forget(id int32) {
	t.sides[id].close()
	t.sides[id].conns = map[string]*wire.Conn{}
}

func (t *trio) stop(format string, args ...any) { panic(broken{fmt.Sprintf(format, args...)}) }

// ask is a preparation: the answer is not compared.
func (t *trio) ask(broker int32, actor string, r kmsg.Request) kmsg.Response {
	return t.sides[broker].ask(actor, r)
}

// tell puts a question to a broker and keeps the answer's fields.
func (t *trio) tell(broker int32, actor, about string, r kmsg.Request) kmsg.Response {
	return t.tellWithin(broker, actor, about, r, parkedAfter)
}

func (t *trio) tellWithin(broker int32, actor, about string, r kmsg.Request, most time.Duration) kmsg.Response {
	s := t.sides[broker]
	s.told = nil
	s.send(actor, r)
	a := s.tellNext(actor, r, most)
	s.told = withoutChance(r.Key(), s.told)
	if a == nil { // held, or the connection has ended
		s.by(actor).Close()
		delete(s.conns, actor)
	}
	t.note(fmt.Sprintf("%s of broker %d: %s", kmsg.NameForKey(r.Key()), broker, about), s.told...)
	return a
}

// worded are APIs to whose errors we say more than Kafka does, or something else.
var worded = []int16{0, 37, 43, 45}

var aTime = regexp.MustCompile(`LogAppendTime = \d+$`)

// withoutChance leaves out the words beside the codes of such errors, which broker is the controller, and times.
func withoutChance(api int16, lines []string) []string {
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return slices.Contains(worded, api) && strings.Contains(l, "[].ErrorMessage = ") || api == 60 && strings.Contains(l, ".ControllerID = ")
	})
	for i, l := range lines {
		lines[i] = aTime.ReplaceAllString(l, "LogAppendTime = a time")
	}
	return lines
}

// note keeps something that was found out by more than one request.
func (t *trio) note(title string, lines ...string) {
	t.answers = append(t.answers, answer{title, lines})
}

// until waits for what must become true.
func (t *trio) until(what string, holds func() bool) {
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.stop("%s: not %s after 90 s", t.name, what)
		}
	}
}

// both puts the same questions to both clusters at once and pairs the answers.
func both3(theirs, ours *trio, questions func(*trio)) (results []result) {
	run := func(t *trio, done chan<- string) {
		defer func() {
			switch r := recover().(type) {
			case nil:
				done <- ""
			case broken:
				done <- r.why
			default:
				panic(r)
			}
		}()
		t.answers = nil
		questions(t)
	}
	endA, endB := make(chan string, 1), make(chan string, 1)
	go run(theirs, endA)
	go run(ours, endB)
	whyA, whyB := <-endA, <-endB
	for i := range max(len(theirs.answers), len(ours.answers)) {
		var r result
		if i < len(theirs.answers) {
			r.title, r.theirs = theirs.answers[i].title, theirs.answers[i].lines
		}
		if i < len(ours.answers) {
			r.title, r.ours = ours.answers[i].title, append(r.ours, ours.answers[i].lines...)
		}
		results = append(results, r)
	}
	if whyA != "" || whyB != "" {
		results = append(results, result{"all questions were put", []string{"ended with: " + whyA, "(Kafka)"}, []string{"ended with: " + whyB, "(here)"}})
	}
	return results
}

// layout is where replicas are on both clusters, so that brokers' ids can be compared: of partition p, the first at
// broker p%3+1 and the others behind it.
func layout(p int32) []int32 { return []int32{p%3 + 1, (p+1)%3 + 1, (p+2)%3 + 1} }

const (
	offsetsTopic = "__consumer_offsets"
	txnTopic     = "__transaction_state"
	dataTopic    = "orders"
	strictTopic  = "strict" // with min.insync.replicas=3
)

var threePartitions = map[string]int32{offsetsTopic: 6, txnTopic: 3, dataTopic: 6, strictTopic: 3}

var threeConfiguration = map[string]string{
	"offsets.topic.num.partitions":         "6",
	"transaction.state.log.num.partitions": "3",
	"group.initial.rebalance.delay.ms":     "0",
}

// lay creates the topics and moves every replica to its place.
func (t *trio) lay() {
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 5, 30_000
	for _, name := range []string{dataTopic, strictTopic} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
		for p := range threePartitions[name] {
			topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: layout(p)})
		}
		if name == strictTopic {
			topic.Configs = append(topic.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: "min.insync.replicas", Value: kmsg.StringPtr("3")})
		}
		create.Topics = append(create.Topics, topic)
	}
	for _, topic := range t.ask(1, "admin", create).(*kmsg.CreateTopicsResponse).Topics {
		if topic.ErrorCode != 0 {
			t.stop("creating %s: error %d", topic.Topic, topic.ErrorCode)
		}
	}
	for _, kind := range []int8{0, 1} {
		r := findCoordinator("any")
		r.CoordinatorType = kind
		t.until("found a coordinator", func() bool { return t.ask(1, "admin", r).(*kmsg.FindCoordinatorResponse).ErrorCode == 0 })
	}
	alter := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	alter.TimeoutMillis = 30_000
	for _, name := range []string{offsetsTopic, txnTopic} {
		topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
		topic.Topic = name
		for p := range threePartitions[name] {
			topic.Partitions = append(topic.Partitions, kmsg.AlterPartitionAssignmentsRequestTopicPartition{Partition: p, Replicas: layout(p)})
		}
		alter.Topics = append(alter.Topics, topic)
	}
	if a := t.ask(1, "admin", alter).(*kmsg.AlterPartitionAssignmentsResponse); a.ErrorCode != 0 {
		t.stop("moving replicas: error %d", a.ErrorCode)
	}
	t.until("in its place", t.laid)
	for name, partitions := range threePartitions {
		for p := range partitions {
			t.epochs[fmt.Sprint(name, "-", p)] = t.partition(1, name, p).LeaderEpoch
		}
	}
}

// laid tells whether each partition is in its place and led by its first replica; it asks for the election.
func (t *trio) laid() bool {
	t.elect(2, 0)
	for id := int32(1); id <= 3; id++ {
		for name, partitions := range threePartitions {
			rows := t.topic(id, name).Partitions
			if len(rows) != int(partitions) {
				return false
			}
			for _, row := range rows {
				if !slices.Equal(row.Replicas, layout(row.Partition)) || len(row.ISR) != 3 || row.Leader != row.Replicas[0] {
					return false
				}
			}
		}
	}
	return true
}

// elect asks for the preferred leaders of every partition.
func (t *trio) elect(v int16, kind int8) kmsg.Response {
	r := kmsg.NewPtrElectLeadersRequest()
	r.Version, r.ElectionType, r.TimeoutMillis = v, kind, 30_000
	return t.ask(1, "admin", r)
}

func metadataOf(v int16, names ...string) *kmsg.MetadataRequest {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = v
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		r.Topics = append(r.Topics, topic)
	}
	return r
}

func (t *trio) topic(broker int32, name string) kmsg.MetadataResponseTopic {
	return t.ask(broker, "metadata", metadataOf(8, name)).(*kmsg.MetadataResponse).Topics[0]
}

func (t *trio) partition(broker int32, name string, p int32) kmsg.MetadataResponseTopicPartition {
	for _, row := range t.topic(broker, name).Partitions {
		if row.Partition == p {
			return row
		}
	}
	return kmsg.NewMetadataResponseTopicPartition()
}

// tellTopic keeps what metadata says of a topic's partitions: leaders, replicas in their order, ISR, and how often a
// leader was elected since the cluster was laid out.
func (t *trio) tellTopic(broker int32, about, name string) {
	var lines []string
	for _, row := range t.topic(broker, name).Partitions {
		isr, offline := slices.Sorted(slices.Values(row.ISR)), slices.Sorted(slices.Values(row.OfflineReplicas))
		lines = append(lines, fmt.Sprintf("  %s-%d error %d leader %d elected %d replicas %v isr %v offline %v", name, row.Partition, row.ErrorCode, row.Leader,
			row.LeaderEpoch-t.epochs[fmt.Sprint(name, "-", row.Partition)], row.Replicas, isr, offline))
	}
	slices.Sort(lines)
	t.note(fmt.Sprintf("Metadata of broker %d: %s", broker, about), lines...)
}

// knows gives the versions of every API that both advertise and our client library can write.
func knows(t *testing.T, theirs, ours *trio) map[int16][2]int16 {
	t.Helper()
	span := func(side *trio) map[int16][2]int16 {
		r := kmsg.NewPtrApiVersionsRequest()
		r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = 3, "differ", "1"
		spans := map[int16][2]int16{}
		for _, k := range side.ask(1, "versions", r).(*kmsg.ApiVersionsResponse).ApiKeys {
			spans[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
		}
		return spans
	}
	a, b := span(theirs), span(ours)
	common := map[int16][2]int16{}
	for api, x := range a {
		if y, here := b[api]; here {
			common[api] = [2]int16{max(x[0], y[0]), min(x[1], y[1], kmsg.RequestForKey(api).MaxVersion())}
		}
	}
	return common
}

// keysAt gives n keys whose partition, out of partitions, has its leader at a broker.
func keysAt(broker, partitions int32, prefix string, n int) (keys []string) {
	for i := 0; len(keys) < n; i++ {
		if key := fmt.Sprint(prefix, i); layout(hashed(key, partitions))[0] == broker {
			keys = append(keys, key)
		}
	}
	return keys
}

// hashed is where Kafka puts a key: Utils.abs of Java's hash over UTF-16, modulo the partitions.
func hashed(key string, partitions int32) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(key)) {
		h = 31*h + int32(unit)
	}
	if h == -1<<31 {
		return 0
	}
	return max(h, -h) % partitions
}

func errorSet(codes []int16) string {
	var parts []string
	for _, c := range codes {
		parts = append(parts, fmt.Sprint(c))
	}
	return strings.Join(parts, " ")
}
