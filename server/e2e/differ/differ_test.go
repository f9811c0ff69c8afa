//go:build interop

package differ

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	"grouplab/server/e2e/apache"
	"grouplab/server/e2e/wire"
)

// configuration is what both are started with.
var configuration = map[string]string{
	"offsets.topic.num.partitions":     "4",
	"group.initial.rebalance.delay.ms": "0",
	"group.min.session.timeout.ms":     "100",
}

// version is the Apache Kafka that is asked; KAFKA chooses another.
func version() string { return cmp.Or(os.Getenv("KAFKA"), apache.Reference) }

// TestEveryStateAnswersAlike puts every request, in every version that both know, of everybody who may send it, to a group
// in each of its states, and compares the replies field by field, and what became of the group.
func TestEveryStateAnswersAlike(t *testing.T) {
	theirs, ours := startBoth(t, configuration)
	ranges := commonVersions(t, theirs, ours)
	var jobs []job
	for _, q := range questions() {
		span, common := ranges[q.api]
		if !common {
			continue
		}
		for _, in := range situations {
			for v := max(span[0], q.since); v <= span[1]; v++ {
				jobs = append(jobs, job{q.title(in.name, v), func(s *side) {
					at := in.reach(s)
					if !q.fits(at, v) {
						s.told = append(s.told, unfit)
						return
					}
					if q.ask != nil {
						q.ask(s, at, v)
					} else {
						s.tell("asker", q.build(s.group, at, v))
					}
					time.Sleep(settle)
					s.tell("looker", describe(5, s.group))
				}})
			}
		}
	}
	report(t, askAll(t, theirs, ours, jobs))
}

// job is one question, put to both.
type job struct {
	title string
	put   func(*side)
}

// askAll puts the questions, sixteen at a time. One that only one side did not answer in time is put again, alone, twice at
// most: a busy machine may hold an answer for so long that it looks parked, and a difference between the brokers shows every
// time.
func askAll(t *testing.T, theirs, ours string, jobs []job) []result {
	results := make([]result, len(jobs))
	first := int(groups.Add(int64(len(jobs)))) - len(jobs)
	ask := func(i int, round string) {
		group := fmt.Sprintf("g%d%s", first+i, round)
		question := func(s *side) {
			s.unhurried = round != ""
			jobs[i].put(s)
		}
		both := make(chan []string)
		go func() { both <- put(theirs, group, question) }()
		here := put(ours, group, question)
		results[i] = result{title: jobs[i].title, theirs: <-both, ours: here}
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range 16 {
		wg.Go(func() {
			for i := range next {
				ask(i, "")
			}
		})
	}
	began := time.Now()
	for i := range jobs {
		next <- i
		if i%1000 == 999 {
			t.Logf("%d of %d questions, %s", i+1, len(jobs), time.Since(began).Round(time.Second))
		}
	}
	close(next)
	wg.Wait()
	again := 0
	for i := range results {
		for round := 2; round <= 3 && again < mostAgain && heldByOne(results[i]); round++ {
			if again++; again <= mostToldAgain {
				rest, _ := unlisted(results[i])
				t.Logf("put again: %s\n%s", rest.title, difference(rest.theirs, rest.ours))
			}
			ask(i, fmt.Sprint("-again", round))
		}
	}
	t.Logf("%d questions were put again, after %s", again, time.Since(began).Round(time.Second))
	return results
}

// groups counts the groups, so that no two questions have the same.
var groups atomic.Int64

// mostAgain bounds what is put again: where so much differs it is no matter of time.
const mostAgain = 200

// mostToldAgain bounds how many of them are logged with what differed.
const mostToldAgain = 10

// heldByOne tells whether one side held what the other answered, and that is not known to be so.
func heldByOne(r result) bool {
	r, _ = unlisted(r)
	held := func(line string) bool { return strings.HasSuffix(line, heldStill) }
	return slices.ContainsFunc(beyond(r.theirs, r.ours), held) || slices.ContainsFunc(beyond(r.ours, r.theirs), held)
}

// settle is how long a group is given before it is looked at: Kafka describes what is committed, and gathers appends for
// group.coordinator.append.linger.ms.
const settle = 150 * time.Millisecond

// notPutAs begins the line that says why a question could not be put.
const notPutAs = "the question could not be put: "

const unfit = "(not asked)"

type result struct {
	title        string
	theirs, ours []string
}

// put asks one cluster.
func put(address, group string, question func(*side)) (told []string) {
	s := newSide(address, group)
	defer s.close()
	defer func() {
		if r := recover(); r != nil {
			b, ours := r.(broken)
			if !ours {
				panic(r)
			}
			told = append(s.told, notPutAs+b.why)
		}
	}()
	question(s)
	return s.told
}

// report groups the differences, so that one rule that differs is told once.
func report(t *testing.T, results []result) {
	t.Helper()
	asked, alike, answers := 0, 0, 0
	kinds := map[string][]string{}
	perAPI := map[string][2]int{}
	for _, r := range results {
		if len(r.ours) == 1 && r.ours[0] == unfit && len(r.theirs) == 1 {
			continue
		}
		asked++
		for _, line := range r.ours {
			if !strings.HasPrefix(line, " ") {
				answers++
			}
		}
		api, _, _ := strings.Cut(r.title, " ")
		count := perAPI[api]
		count[0]++
		diff := difference(r.theirs, r.ours)
		if diff == "" {
			alike++
			count[1]++
		} else {
			kinds[diff] = append(kinds[diff], r.title)
		}
		perAPI[api] = count
	}
	for _, api := range slices.Sorted(maps.Keys(perAPI)) {
		t.Logf("%-28s %5d asked, %5d alike", api, perAPI[api][0], perAPI[api][1])
	}
	t.Logf("Apache Kafka %s: %d questions with %d answers, %d answered alike", version(), asked, answers, alike)
	order := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(kinds[b]), len(kinds[a])), strings.Compare(a, b))
	})
	for _, diff := range order {
		titles := kinds[diff]
		t.Errorf("%d questions, as %s\n%s", len(titles), strings.Join(titles[:min(6, len(titles))], "\n  and "), diff)
	}
}

// difference lists the lines that are not in both; "" where all are, and the question was put.
func difference(theirs, ours []string) string {
	notPut := func(line string) bool { return strings.HasPrefix(line, notPutAs) }
	if slices.Equal(theirs, ours) {
		if i := slices.IndexFunc(ours, notPut); i >= 0 {
			return "   both: " + ours[i] + "\n"
		}
		return ""
	}
	var text strings.Builder
	for _, l := range beyond(theirs, ours) {
		fmt.Fprintf(&text, "   Kafka:    %s\n", l)
	}
	for _, l := range beyond(ours, theirs) {
		fmt.Fprintf(&text, "   GroupLab: %s\n", l)
	}
	if text.Len() == 0 {
		return "   the same lines in another order"
	}
	return text.String()
}

// beyond lists the lines of a that are not in b, or not so often.
func beyond(a, b []string) (more []string) {
	left := map[string]int{}
	for _, l := range b {
		left[l]++
	}
	for _, l := range a {
		if left[l]--; left[l] < 0 {
			more = append(more, l)
		}
	}
	return more
}

// advertised asks for the versions of each API.
func advertised(t *testing.T, address string) map[int16][2]int16 {
	t.Helper()
	c, err := wire.Dial(address, "differ")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := kmsg.NewPtrApiVersionsRequest()
	r.Version = 3
	r.ClientSoftwareName, r.ClientSoftwareVersion = "differ", "1"
	a, err := c.Ask(r, wire.Patience)
	if err != nil {
		t.Fatal(err)
	}
	spans := map[int16][2]int16{}
	for _, k := range a.(*kmsg.ApiVersionsResponse).ApiKeys {
		spans[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
	}
	return spans
}

// commonVersions are those that both advertise.
func commonVersions(t *testing.T, theirs, ours string) map[int16][2]int16 {
	t.Helper()
	a, b := advertised(t, theirs), advertised(t, ours)
	common := map[int16][2]int16{}
	for _, api := range slices.Sorted(maps.Keys(a)) {
		x, y := a[api], b[api]
		if _, known := b[api]; !known {
			t.Logf("%-28s Kafka %v, not here", kmsg.NameForKey(api), x)
			continue
		}
		if x != y {
			t.Logf("%-28s Kafka %v, here %v", kmsg.NameForKey(api), x, y)
		}
		if max(x[0], y[0]) <= min(x[1], y[1]) {
			common[api] = [2]int16{max(x[0], y[0]), min(x[1], y[1])}
		}
	}
	return common
}

// startOurs starts brokers of ours, which end with the test.
func startOurs(t *testing.T, brokers int32, configuration map[string]string) *app.Server {
	t.Helper()
	var set []string
	for _, name := range slices.Sorted(maps.Keys(configuration)) {
		set = append(set, name+"="+configuration[name])
	}
	s, err := app.New(app.Config{Kafka: "127.0.0.1:0", Brokers: brokers, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// startBoth starts one broker of each, with the topics orders and other, and a coordinator that is found.
func startBoth(t *testing.T, configuration map[string]string) (theirs, ours string) {
	t.Helper()
	kafka, err := apache.Start(apache.Config{Version: version(), Nodes: 1, Set: configuration, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Stop)
	s := startOurs(t, 1, configuration)
	theirs, ours = kafka.Addrs()[0], s.KafkaAddrs()[0]
	for _, address := range []string{theirs, ours} {
		told := put(address, "preparation", prepare)
		if len(told) > 0 {
			t.Fatalf("%s: %v", address, told)
		}
	}
	return theirs, ours
}

func prepare(s *side) {
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version, r.TimeoutMillis = 5, 20_000
	for _, name := range []string{"orders", "other"} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 6, 1
		r.Topics = append(r.Topics, topic)
	}
	for _, topic := range s.ask("admin", r).(*kmsg.CreateTopicsResponse).Topics {
		if topic.ErrorCode != 0 {
			s.stop("creating %s: error %d", topic.Topic, topic.ErrorCode)
		}
	}
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		a := s.ask("admin", findCoordinator(s.group)).(*kmsg.FindCoordinatorResponse)
		if a.ErrorCode == 0 {
			g := s.ask("admin", describe(4, s.group)).(*kmsg.DescribeGroupsResponse)
			if g.Groups[0].ErrorCode == 0 {
				return
			}
		}
		if time.Now().After(deadline) {
			s.stop("no coordinator is found: error %d", a.ErrorCode)
		}
	}
}
