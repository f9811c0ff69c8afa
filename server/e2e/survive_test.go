package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/app"
)

// TestOperatorsMovesUnderLoad has an operator add partitions, reassign replicas and elect leaders, all by requests, and
// brokers die and come back, while an idempotent producer writes, one group reads and two groups of transactions, eager
// and cooperative, move what they read to topics of their own. What was acknowledged is there, at its offset; each record
// is in each of the other topics once; what committed transactions showed stays; and no committed offset ever falls.
// BROKERKILLS=100 goes on for a hundred rounds, half of them with the logs on disk.
func TestOperatorsMovesUnderLoad(t *testing.T) {
	t.Parallel()
	rounds := 2
	if text := os.Getenv(brokerKillsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q is no number from 1", brokerKillsEnv, text)
		}
		rounds = (n + 1) / 2
		operateUnderLoad(t, rounds, t.TempDir())
	}
	operateUnderLoad(t, rounds, "")
}

func operateUnderLoad(t *testing.T, rounds int, data string) {
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 4, Data: data, Logf: func(string, ...any) {},
		Topics: []app.Topic{{Name: "orders", Partitions: 4}, {Name: "eager", Partitions: 3}, {Name: "cooperative", Partitions: 3}},
		Set:    append([]string{"replica.fetch.backoff.ms=100"}, quick...)})
	w := newWatched(t, s)
	w.begin()
	w.acknowledged(50)
	for round := range rounds {
		w.operate(round)
	}
	w.end()
	t.Logf("%d rounds: %d records were acknowledged and moved twice by transactions, of which %d ended; %d sessions began anew", rounds, len(w.acked), w.ended, w.anew)
}

// brokerKillsEnv is how many rounds TestOperatorsMovesUnderLoad goes.
const brokerKillsEnv = "BROKERKILLS"

// watched is a server under load, and what its clients were promised or shown.
type watched struct {
	t     *testing.T
	s     *app.Server
	admin *kadm.Client

	// The load runs until the contexts end, one after the other.
	produceCtx, moveCtx, readingCtx context.Context
	producing, moving, reading      context.CancelFunc
	producers, movers, readers      sync.WaitGroup

	mu sync.Mutex
	// acked are the records of orders by value, shown those of the other topics by topic and value; plain is what the group
	// without transactions has read.
	acked map[string]where
	shown map[string]map[string]where
	plain *sink
	// ended counts transactions, anew sessions that failed.
	ended, anew int
}

func newWatched(t *testing.T, s *app.Server) *watched {
	w := &watched{t: t, s: s, acked: map[string]where{}, plain: newSink(), shown: map[string]map[string]where{"eager": {}, "cooperative": {}}}
	w.admin = kadm.NewClient(client(t, s, kgo.AlwaysRetryEOF()))
	w.produceCtx, w.producing = context.WithCancel(t.Context())
	w.moveCtx, w.moving = context.WithCancel(t.Context())
	w.readingCtx, w.reading = context.WithCancel(t.Context())
	return w
}

func (w *watched) begin() {
	w.producers.Go(w.produce)
	for i := range 2 {
		w.movers.Go(func() { w.move("eager", fmt.Sprint("eager-", i), kgo.Balancers(kgo.RangeBalancer())) })
		name := fmt.Sprint("cooperative-", i)
		w.movers.Go(func() {
			w.move("cooperative", name, kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.InstanceID(name))
		})
	}
	for topic := range w.shown {
		w.readers.Go(func() { w.read(topic) })
		w.readers.Go(func() { w.watchCommitted(topic) })
	}
	consume(w.t, w.s, "plain", w.plain, kgo.SessionTimeout(30*time.Second), kgo.MetadataMaxAge(time.Second), kgo.AlwaysRetryEOF())
}

// produce writes numbers until it is told to stop; then it waits for the last acknowledgement.
func (w *watched) produce() {
	cl := client(w.t, w.s, kgo.DefaultProduceTopic("orders"), kgo.ProducerLinger(0), kgo.MetadataMaxAge(time.Second), kgo.AlwaysRetryEOF())
	for n := 0; sleep(w.produceCtx, 5*time.Millisecond) == nil; n++ {
		cl.Produce(w.t.Context(), kgo.StringRecord(strconv.Itoa(n)), func(r *kgo.Record, err error) {
			if err != nil {
				w.t.Errorf("producing %s: %v", r.Value, err)
				return
			}
			w.mu.Lock()
			w.acked[string(r.Value)] = where{r.Partition, r.Offset}
			w.mu.Unlock()
		})
	}
	if err := cl.Flush(w.t.Context()); err != nil {
		w.t.Errorf("flushing: %v", err)
	}
}

// move copies orders to a topic in transactions, of which each tenth is given up. A session that fails is closed, and the
// next one takes the same transactional id, as an application that starts again does.
func (w *watched) move(to, id string, options ...kgo.Opt) {
	for w.moveCtx.Err() == nil {
		session, err := kgo.NewGroupTransactSession(append([]kgo.Opt{kgo.SeedBrokers(w.s.KafkaAddrs()...), kgo.TransactionalID(id), kgo.ConsumerGroup(to),
			kgo.ConsumeTopics("orders"), kgo.DefaultProduceTopic(to), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
			kgo.SessionTimeout(30 * time.Second), kgo.FetchMaxWait(200 * time.Millisecond), kgo.MetadataMinAge(50 * time.Millisecond),
			kgo.MetadataMaxAge(time.Second), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AlwaysRetryEOF()}, options...)...)
		if err != nil {
			w.t.Error(err)
			return
		}
		err = w.transact(session)
		session.Close()
		if err != nil && w.moveCtx.Err() == nil {
			w.mu.Lock()
			w.anew++
			w.mu.Unlock()
			w.t.Logf("%s begins anew: %v", id, err)
		}
	}
}

// transact moves batch after batch until something fails or it is told to stop.
func (w *watched) transact(session *kgo.GroupTransactSession) error {
	for round := 1; w.moveCtx.Err() == nil; round++ {
		fetches := session.PollRecords(w.moveCtx, 50)
		if fetches.NumRecords() == 0 {
			continue
		}
		if err := session.Begin(); err != nil {
			return fmt.Errorf("beginning: %w", err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			session.Produce(context.WithoutCancel(w.moveCtx), &kgo.Record{Value: r.Value}, nil) // End says whether one failed
		})
		committed, err := session.End(context.WithoutCancel(w.moveCtx), kgo.TransactionEndTry(round%10 != 0))
		if err != nil {
			return fmt.Errorf("ending: %w", err)
		}
		if committed {
			w.mu.Lock()
			w.ended++
			w.mu.Unlock()
		}
	}
	return nil
}

// read follows a topic's committed records: each value comes once, and offsets only grow.
func (w *watched) read(topic string) {
	cl := client(w.t, w.s, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200*time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.AlwaysRetryEOF())
	newest := map[int32]int64{}
	for w.readingCtx.Err() == nil {
		cl.PollFetches(w.readingCtx).EachRecord(func(r *kgo.Record) {
			w.mu.Lock()
			defer w.mu.Unlock()
			at := where{r.Partition, r.Offset}
			if last, known := newest[r.Partition]; known && r.Offset <= last {
				w.t.Errorf("%s-%d is read from %d back to %d", topic, r.Partition, last, r.Offset)
			}
			if before, twice := w.shown[topic][string(r.Value)]; twice {
				w.t.Errorf("%s is in %s at %v and at %v", r.Value, topic, before, at)
			}
			newest[r.Partition] = r.Offset
			w.shown[topic][string(r.Value)] = at
		})
	}
}

// watchCommitted asks for a group's offsets all the time.
func (w *watched) watchCommitted(group string) {
	newest := map[int32]int64{}
	for sleep(w.readingCtx, 20*time.Millisecond) == nil {
		found, err := w.admin.FetchOffsets(w.readingCtx, group)
		if err != nil {
			continue // while its coordinator moves
		}
		for partition, o := range found["orders"] {
			if o.Err == nil && o.At < newest[partition] {
				w.t.Errorf("group %s had committed %d of orders-%d, and has %d", group, newest[partition], partition, o.At)
			}
			newest[partition] = max(newest[partition], o.At)
		}
	}
}

// operate is one round of an operator who adds partitions, moves everything and meets a dying broker.
func (w *watched) operate(round int) {
	w.t.Helper()
	if topic := []string{"orders", "eager", "cooperative"}[round%3]; round < 9 {
		w.until(func(ctx context.Context) error {
			added, err := w.admin.CreatePartitions(ctx, 1, topic)
			return errors.Join(err, added.Error())
		})
	}
	var to kadm.AlterPartitionAssignmentsReq
	topics := w.topics()
	for name, topic := range topics {
		for _, p := range topic.Partitions {
			replicas := []int32{1, 2, 3, 4}
			rand.Shuffle(4, func(i, j int) { replicas[i], replicas[j] = replicas[j], replicas[i] })
			to.Assign(name, p.Partition, replicas[:3])
		}
	}
	w.until(func(ctx context.Context) error {
		moved, err := w.admin.AlterPartitionAssignments(ctx, to)
		return errors.Join(err, moved.Error())
	})
	dies := int32(rand.IntN(4) + 1)
	if err := w.s.KillBroker(dies); err != nil { // in the middle of the moves
		w.t.Fatal(err)
	}
	w.elect()
	w.acknowledged(50) // nobody waits for the dead one for ever
	if err := w.s.RestartBroker(dies); err != nil {
		w.t.Fatal(err)
	}
	inSync(w.t, w.s, w.admin)
	w.elect()
}

// acknowledged waits until so many more records are acknowledged.
func (w *watched) acknowledged(more int) {
	w.t.Helper()
	before := w.count()
	w.until(func(context.Context) error {
		if n := w.count() - before; n < more {
			return fmt.Errorf("%d records were acknowledged, want %d", n, more)
		}
		return nil
	})
}

func (w *watched) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

func (w *watched) topics() kadm.TopicDetails {
	var topics kadm.TopicDetails
	w.until(func(ctx context.Context) (err error) {
		topics, err = w.admin.ListTopicsWithInternal(ctx)
		return err
	})
	return topics
}

// elect gives every partition to its preferred leader, where that one is in sync.
func (w *watched) elect() {
	w.until(func(ctx context.Context) error {
		all := kadm.TopicsSet{}
		for name, topic := range w.topics() {
			all.Add(name, topic.Partitions.Numbers()...)
		}
		elected, err := w.admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, all)
		for topic, partitions := range elected {
			for partition, e := range partitions {
				if e.Err != nil && !slices.ContainsFunc([]error{kerr.ElectionNotNeeded, kerr.PreferredLeaderNotAvailable}, func(k error) bool { return errors.Is(e.Err, k) }) {
					err = errors.Join(err, fmt.Errorf("electing %s-%d: %w", topic, partition, e.Err))
				}
			}
		}
		return err
	})
}

func (w *watched) until(ask func(context.Context) error) {
	w.t.Helper()
	eventually(w.t, 60*time.Second, func() error {
		ctx, stop := context.WithTimeout(w.t.Context(), 10*time.Second)
		defer stop()
		return ask(ctx)
	})
}

// end stops the load, waits until everything is through, and compares.
func (w *watched) end() {
	t := w.t
	w.producing()
	w.producers.Wait()
	eventually(t, 60*time.Second, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for value, at := range w.acked {
			for topic, shown := range w.shown {
				if _, there := shown[value]; !there {
					return fmt.Errorf("%s, acknowledged at %v, is not in %s", value, at, topic)
				}
			}
			if !w.plain.has(value) {
				return fmt.Errorf("%s, acknowledged at %v, was not consumed by the plain group", value, at)
			}
		}
		return nil
	})
	w.moving()
	w.movers.Wait()
	w.reading()
	w.readers.Wait()
	w.compare("orders", w.acked)
	for topic, shown := range w.shown {
		w.compare(topic, shown)
	}
}

// compare reads a topic from its beginning: what was acknowledged or shown is at its place still.
func (w *watched) compare(topic string, want map[string]where) {
	ctx, stop := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer stop()
	cl := client(w.t, w.s, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	found := map[string]where{}
	for len(found) < len(want) && ctx.Err() == nil {
		cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) { found[string(r.Value)] = where{r.Partition, r.Offset} })
	}
	for value, at := range want {
		if now, there := found[value]; !there || now != at {
			w.t.Errorf("%s of %s was at %v and is at %v (%v)", value, topic, at, now, there)
		}
	}
}
