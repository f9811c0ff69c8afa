//go:build interop

package differ

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/apache"
)

// formatters are the console consumer's, and the topics that they read.
var formatters = []struct{ class, topic string }{
	{"OffsetsMessageFormatter", offsetsTopic}, {"GroupMetadataMessageFormatter", offsetsTopic}, {"TransactionLogMessageFormatter", txnTopic},
}

// TestFormattersReadOurTopics: Kafka's console consumer reads what our coordinators have written, over the wire, and prints
// the same as for what Kafka's own have written after the same requests; but for clocks, ids, and the records that Kafka 4
// writes when a group comes to be.
func TestFormattersReadOurTopics(t *testing.T) {
	single := maps.Clone(configuration)
	single["offsets.topic.num.partitions"], single["transaction.state.log.num.partitions"] = "1", "1"
	theirs, ours := startBoth(t, single)
	for _, address := range []string{theirs, ours} {
		for name, write := range written {
			if told := put(address, "formatted-"+name, write); len(told) > 0 {
				t.Fatalf("%s, %s: %v", address, name, told)
			}
		}
	}
	type place struct{ address, topic string }
	count := map[place]int{} // now: members that nobody keeps alive leave more records, later
	for _, address := range []string{theirs, ours} {
		for _, topic := range []string{offsetsTopic, txnTopic} {
			n, err := recordsOf(t.Context(), address, topic)
			if err != nil {
				t.Fatal(err)
			}
			count[place{address, topic}] = n
		}
	}
	for _, f := range formatters {
		there := make(chan []string, 1)
		go func() { there <- formatted(t, theirs, f.class, f.topic, count[place{theirs, f.topic}]) }()
		here := formatted(t, ours, f.class, f.topic, count[place{ours, f.topic}])
		kafka := <-there
		if len(here) == 0 || !slices.Equal(kafka, here) {
			t.Errorf("%s: Kafka's topic gives %d records, ours %d\n%s", f.class, len(kafka), len(here), difference(kafka, here))
		}
		t.Logf("%s: %d records", f.class, len(here))
	}
}

// written are requests that leave records of every kind.
var written = map[string]func(*side){
	"members": func(s *side) {
		at := s.stable(true)
		s.ask("leader", commit(7, s.group, at.leader, at.instance("leader"), at.generation, "orders", 0, 1))
		s.ask("follower", commit(9, s.group, at.follower, at.instance("follower"), at.generation, "orders", 3))
		s.ask("back", join(9, s.group, "", at.instance("follower"), both...)) // comes back, under a new id
	},
	"emptied": func(s *side) {
		s.empty()
		s.ask("m", commit(9, s.group, "", nil, -1, "other", 2, 3))
		s.ask("m", s.deleteOffsets("other", 2))
	},
	"deleted": func(s *side) {
		s.ask("m", commit(9, s.group, "", nil, -1, "orders", 5))
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Version, r.Groups = 2, []string{s.group}
		s.ask("m", r)
	},
	"values": func(s *side) {
		r := commit(8, s.group, "", nil, -1, "orders", 0, 1, 2)
		r.Topics[0].Partitions[0].Metadata = nil
		r.Topics[0].Partitions[1].Metadata = kmsg.StringPtr("größe \" 群組")
		r.Topics[0].Partitions[2].LeaderEpoch, r.Topics[0].Partitions[2].Offset = 7, 1<<40
		s.ask("m", r)
	},
	"transactions": func(s *side) {
		for _, commits := range []bool{true, false} {
			p := s.open()
			for _, r := range []kmsg.Request{p.addPartitions(3, "orders", 0, 1), p.commit(3, s.group, "", nil, -1, 0, 1)} {
				s.ask("tx", r)
			}
			s.ended(p, commits)
		}
	},
}

// formatted is what the console consumer prints of the first n records of a topic's only partition, a line a record, in an
// order of its own.
func formatted(t *testing.T, address, formatter, topic string, n int) []string {
	jars, err := apache.Jars(version())
	if err != nil {
		t.Error(err)
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), 4*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars, "*"), "org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--bootstrap-server", address, "--topic", topic, "--partition", "0", "--offset", "earliest", "--formatter", "org.apache.kafka.tools.consumer."+formatter,
		"--max-messages", fmt.Sprint(n), "--timeout-ms", "90000")
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil || !strings.Contains(complaints.String(), fmt.Sprintf("Processed a total of %d messages", n)) {
		t.Errorf("%s of %s: %v\n%s\n%s", formatter, address, err, out.String(), complaints.String())
		return nil
	}
	var lines []string
	for records := json.NewDecoder(&out); ; { // they stand one behind the other, without a break
		var record printed
		if err := records.Decode(&record); err == io.EOF {
			break
		} else if err != nil {
			t.Errorf("%s printed what is not JSON: %v", formatter, err)
			break
		}
		if line, keep := record.canonical(); keep {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// recordsOf counts the records of a topic's only partition that a consumer sees: not the markers.
func recordsOf(ctx context.Context, address, topic string) (n int, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}), kgo.KeepControlRecords())
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	latest := offsetsOf(5, topic, 0, -1)
	a, err := latest.RequestWith(ctx, cl)
	if err != nil {
		return 0, err
	}
	for end := a.Topics[0].Partitions[0].Offset; ; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return 0, fmt.Errorf("reading %s of %s: %w", topic, address, err)
		}
		for _, r := range fetches.Records() {
			if !r.Attrs.IsControl() {
				n++
			}
			if r.Offset == end-1 {
				return n, nil
			}
		}
	}
}

// printed is a record as a formatter prints it.
type printed struct {
	Key, Value struct {
		Type    int
		Version int
		Data    map[string]any
	}
}

var anyMember = regexp.MustCompile(`(\w+)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// canonical is a record without clocks and ids. What Kafka 4 alone writes is not kept: a group's record of generation 0, and
// its tombstone where there never was another generation (the group had offsets alone). Versions of values are compared
// but for transactions, of which Kafka 4 writes version 1; newer brokers than the reference write newer ones.
func (p printed) canonical() (text string, keep bool) {
	if p.Value.Data["generation"] == 0.0 || p.Key.Type == 2 && p.Value.Data == nil && p.Key.Data["group"] == "formatted-deleted" {
		return "", false
	}
	if p.Key.Type == 0 && p.Key.Data["transactionalId"] != nil || version() != apache.Reference {
		p.Value.Version = 0
		delete(p.Value.Data, "topicId")
		delete(p.Value.Data, "previousProducerId") // of version 1, which 4.3 writes always
	}
	withoutClocks(p.Value.Data)
	return inJSON(p), true
}

// inJSON is a value with no ids of members.
func inJSON(v any) string {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return anyMember.ReplaceAllString(string(line), "$1-(id)")
}

func withoutClocks(v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			withoutClocks(e)
		}
		slices.SortFunc(x, func(a, b any) int { return strings.Compare(inJSON(a), inJSON(b)) }) // members come in no order
	case map[string]any:
		for field, e := range x {
			number, isNumber := e.(float64)
			switch {
			case isNumber && number > 0 && strings.Contains(field, "imestamp"):
				x[field] = "a time"
			case isNumber && number >= 0 && field == "producerId":
				x[field] = "a producer"
			default:
				withoutClocks(e)
			}
		}
	}
}
