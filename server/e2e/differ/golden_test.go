//go:build interop

package differ

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/lessons/content"
)

const (
	brokersDie = "a broker dies, and which error is answered at which moment hangs on how long that takes: TestThreeBrokersAnswerAlike has it"
)

// goldensSent are the transcripts of coordinator/testdata that go over a wire, goldensKept those that do not, and why.
var (
	goldensSent = []string{"clean_leave", "client_pause_resume", "commit_in_completing", "cooperative_rebalance", "crash_session_expiry", "first_member",
		"leader_restart", "network_loss", "partitions_added_five_minutes", "pending_member_timeout", "poll_interval_expired", "second_member_rejoin", "slow_member_rebalance_timeout", "static_restart",
		"stop_in_mid_join", "sync_timeout", "transactional_offsets", "unclean_restart"}
	goldensKept = map[string]string{
		"broker_killed_failover": brokersDie, "broker_stopped": brokersDie, "coordinator_loading": brokersDie, "offsets_compacted": brokersDie,
		"commit_pending_committed": "it reads offsets with requireStable beside a commit in flight, where the mechanism is the Scala coordinator's",
	}
)

// TestGoldensOverTheWire sends what the clients of the golden transcripts and of the lessons send, at the same times, to
// Apache Kafka and to our own server, and compares the answers with those of the script, field by field.
func TestGoldensOverTheWire(t *testing.T) {
	t.Parallel() // it mostly waits
	real := maps.Clone(configuration)
	delete(real, "group.min.session.timeout.ms")
	real["group.initial.rebalance.delay.ms"], real["transaction.state.log.num.partitions"] = "3000", "1"
	traces := append(goldenTraces(t), lessonTraces(t)...)
	theirs, ours := startBoth(t, real)
	for _, address := range []string{theirs, ours} {
		if told := put(address, "preparation", func(s *side) { makeReady(s, traces) }); len(told) > 0 {
			t.Fatalf("%s: %v", address, told)
		}
	}
	all := make([]pair, len(traces))
	for round := range 3 {
		var wg sync.WaitGroup
		for i, tr := range traces {
			if round == 0 || all[i].late() && all[i].differs() {
				wg.Go(func() { all[i] = sendBoth(theirs, ours, tr, fmt.Sprint("-", round)) })
			}
		}
		wg.Wait()
	}
	var results []result
	for i, tr := range traces {
		t.Logf("%s: %d answers in %s, at most %s and %s late, %d ids given back for a leader's sake", tr.name, len(all[i].results)/2, time.Duration(tr.lastMs())*time.Millisecond,
			all[i].kafka.latest.Round(time.Millisecond), all[i].here.latest.Round(time.Millisecond), all[i].kafka.chosen)
		results = append(results, all[i].results...)
	}
	report(t, results)
}

// tooLate is what may turn the order of a request and of a timer that the script has one behind the other: then not the
// script was sent, and it is sent once more where the answers differ.
const tooLate = 150 * time.Millisecond

// pair is a script that was sent to both: what Kafka answers beside what the script says, and that beside what our server
// answers.
type pair struct {
	kafka, here *replay
	results     []result
}

func (b pair) late() bool { return max(b.kafka.latest, b.here.latest) > tooLate }

func (b pair) differs() bool {
	return slices.ContainsFunc(b.results, func(r result) bool { return difference(r.theirs, r.ours) != "" })
}

func sendBoth(theirs, ours string, tr *trace, round string) (b pair) {
	there := make(chan *replay)
	go func() { there <- replayed(theirs, "sent-"+tr.name+round, tr) }()
	b.here = replayed(ours, "sent-"+tr.name+round, tr)
	b.kafka = <-there
	for i, a := range b.kafka.results {
		b.results = append(b.results, result{"script " + a.title, a.lines, b.kafka.golden[i].lines})
	}
	for i, a := range b.here.results {
		b.results = append(b.results, result{"server " + a.title, b.here.golden[i].lines, a.lines})
	}
	return b
}

func goldenTraces(t *testing.T) (traces []*trace) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "coordinator", "testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if why, kept := goldensKept[name]; kept {
			t.Logf("%s is not sent: %s", name, why)
			continue
		}
		if !slices.Contains(goldensSent, name) {
			t.Errorf("%s is new: put it into goldensSent, or into goldensKept with the reason", name)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := goldenTrace(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, tr)
	}
	if len(traces) != len(goldensSent) {
		t.Errorf("%d transcripts of %d in goldensSent are there", len(traces), len(goldensSent))
	}
	return traces
}

// lessonsSent are the lessons whose scripts go over a wire, lessonsKept those that do not, and why.
var (
	lessonsSent = []string{"02-first-member", "03-second-member", "04-assignment", "05-heartbeats", "06-purgatory", "07-leave-and-crash", "08-unclean-restart",
		"09-slow-member", "18-partitions-added", "19-cooperative", "21-finals"}
	lessonsKept = map[string]string{
		"01-find-coordinator": brokersDie,
		"10-sync-group":       "appends are made slow", "14-commits": "appends are made slow",
		"12-member-id":      "a join meets an append in flight, within milliseconds",
		"13-static-members": "a heartbeat meets a timer, within milliseconds",
		"11-client-errors":  brokersDie, "17-failover": brokersDie, "20-log-refuses": brokersDie,
		"15-tape": "it sets how logs are kept", "16-expiry": "it sets how long offsets are kept",
	}
)

func lessonTraces(t *testing.T) (traces []*trace) {
	t.Helper()
	scripts, err := content.FS.ReadDir(".")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, dir := range scripts {
		if why, kept := lessonsKept[dir.Name()]; kept {
			t.Logf("lesson %s is not sent: %s", dir.Name(), why)
			continue
		}
		if !slices.Contains(lessonsSent, dir.Name()) {
			t.Errorf("lesson %s is new: put it into lessonsSent, or into lessonsKept with the reason", dir.Name())
			continue
		}
		text, err := content.FS.ReadFile(dir.Name() + "/script.txt")
		if err != nil {
			t.Fatal(err)
		}
		tr, err := lessonTrace(dir.Name(), string(text))
		if err != nil {
			t.Fatalf("%s: %v", dir.Name(), err)
		}
		traces = append(traces, tr)
	}
	if len(traces) != len(lessonsSent) {
		t.Errorf("%d lessons of %d in lessonsSent are there", len(traces), len(lessonsSent))
	}
	return traces
}

// makeReady has the topics as large as the scripts need them, and a coordinator for transactions.
func makeReady(s *side, traces []*trace) {
	s.newProducer("any")
	need := map[string]int32{"orders": 12}
	for _, tr := range traces {
		for topic, n := range tr.partitions {
			need[topic] = max(need[topic], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(need)) {
		s.grow(name, need[name])
	}
}

// grow has a topic with so many partitions, and waits until the broker knows them.
func (s *side) grow(name string, partitions int32) {
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 5, 20_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	create.Topics = append(create.Topics, topic)
	code := s.ask("admin", create).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode
	if code == kerr.TopicAlreadyExists.Code {
		more := kmsg.NewPtrCreatePartitionsRequest()
		more.Version, more.TimeoutMillis = 3, 20_000
		more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: name, Count: partitions}}
		code = s.ask("admin", more).(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode
	}
	if code != 0 {
		s.stop("%s with %d partitions: error %d", name, partitions, code)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if a := s.ask("admin", metadataOf(8, name)).(*kmsg.MetadataResponse).Topics[0]; len(a.Partitions) == int(partitions) {
			return
		}
		if time.Now().After(deadline) {
			s.stop("%s does not have %d partitions", name, partitions)
		}
	}
}
