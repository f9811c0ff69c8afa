package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/store"
)

// killsEnv is how often TestKill kills the server: KILLS=200 go test -run TestKill ./server/e2e
const killsEnv = "KILLS"

// acknowledged is what clients were promised.
type acknowledged struct {
	mu sync.Mutex
	// records by value; where is the partition and offset.
	records map[string]where
	// commits by group and partition: the newest offset, and the one that was sent last.
	commits, sent    map[string]int64
	acked, committed int
	transactions     int
}

type where struct {
	partition int32
	offset    int64
}

func (a *acknowledged) record(r *kgo.Record) {
	a.mu.Lock()
	a.records[string(r.Value)] = where{r.Partition, r.Offset}
	a.acked++
	a.mu.Unlock()
}

func (a *acknowledged) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.acked
}

// dull tells whether no transaction, or no commit, was acknowledged: then there is little to prove.
func (a *acknowledged) dull() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.transactions == 0 || a.committed == 0
}

// TestKill kills the server, at random moments, while clients produce, commit offsets and end transactions. What they were
// promised is there afterwards, once.
func TestKill(t *testing.T) {
	kills := 4
	if text := os.Getenv(killsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%q is no number from 1", killsEnv, text)
		}
		kills = n
	}
	for _, flush := range []store.Flush{store.Never, store.Always} {
		t.Run(string(flush), func(t *testing.T) { killed(t, flush, (kills+1)/2) })
	}
}

func killed(t *testing.T, flush store.Flush, kills int) {
	p := newProcess(t, flush)
	p.start()
	promised := &acknowledged{records: map[string]where{}, commits: map[string]int64{}, sent: map[string]int64{}}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var clients sync.WaitGroup
	for i := range 3 {
		clients.Go(func() { produceAlong(ctx, t, p, promised, fmt.Sprintf("p%d", i)) })
		clients.Go(func() { commitAlong(ctx, t, p, promised, fmt.Sprintf("group-%d", i)) })
	}
	clients.Go(func() { transactAlong(ctx, t, p, promised) })
	var slowest time.Duration
	for kill := 1; kill <= kills; kill++ {
		before, until := promised.count(), time.Now().Add(2*time.Minute)
		for promised.count() < before+100 {
			if time.Sleep(20 * time.Millisecond); time.Now().After(until) {
				t.Fatalf("after kill %d nothing is acknowledged for two minutes", kill-1)
			}
		}
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		p.kill()
		slowest = max(slowest, p.start())
	}
	before := promised.count()
	for until := time.Now().Add(2 * time.Minute); (promised.count() < before+100 || promised.dull()) && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	clients.Wait()
	if promised.dull() {
		t.Errorf("%d transactions and %d commits were acknowledged: that proves nothing", promised.transactions, promised.committed)
	}
	p.stop() // once as it should be, too
	p.start()
	extra := promised.verify(t, p)
	t.Logf("-flush %s: %d kills; %d acknowledged records, %d of them in transactions, and %d commits are there; %d records more, whose acknowledgement was lost; slowest start %v",
		flush, kills, len(promised.records), 2*promised.transactions, promised.committed, extra, slowest.Round(time.Millisecond))
}

func connect(t testing.TB, p *process, options ...kgo.Opt) *kgo.Client {
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(p.address), kgo.MetadataMinAge(50 * time.Millisecond), kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.UnknownTopicRetries(-1), kgo.RequestRetries(10_000)}, options...)...)
	if err != nil {
		t.Error(err)
	}
	return cl
}

// produceAlong is an idempotent producer with acks all. Ten records are under way at a time.
func produceAlong(ctx context.Context, t *testing.T, p *process, promised *acknowledged, name string) {
	cl := connect(t, p, kgo.DefaultProduceTopic("orders"), kgo.ProducerLinger(time.Millisecond))
	defer cl.Close()
	room := make(chan struct{}, 10)
	for n := 0; ctx.Err() == nil; n++ {
		room <- struct{}{}
		cl.Produce(ctx, kgo.StringRecord(fmt.Sprintf("%s-%d", name, n)), func(r *kgo.Record, err error) {
			if err == nil {
				promised.record(r)
			} else if ctx.Err() == nil {
				t.Errorf("%s: %v", name, err)
			}
			<-room
		})
	}
	last, give := context.WithTimeout(context.Background(), time.Minute)
	defer give()
	_ = cl.Flush(last)
}

// commitAlong commits growing offsets for a group.
func commitAlong(ctx context.Context, t *testing.T, p *process, promised *acknowledged, group string) {
	cl := connect(t, p)
	defer cl.Close()
	admin := kadm.NewClient(cl)
	for n := int64(1); ctx.Err() == nil; n++ {
		partition := int32(n % 6)
		key := fmt.Sprintf("%s/%d", group, partition)
		promised.mu.Lock()
		promised.sent[key] = n
		promised.mu.Unlock()
		var offsets kadm.Offsets
		offsets.AddOffset("orders", partition, n, -1)
		if err := admin.CommitAllOffsets(ctx, group, offsets); err == nil {
			promised.mu.Lock()
			promised.commits[key] = n
			promised.acked++
			promised.committed++
			promised.mu.Unlock()
		}
	}
}

// transactAlong writes two records in each transaction. Those of a transaction whose end was acknowledged were promised. A
// client that takes a broken connection for the end of its producer id begins anew, as an application would.
func transactAlong(ctx context.Context, t *testing.T, p *process, promised *acknowledged) {
	open := func() *kgo.Client {
		return connect(t, p, kgo.DefaultProduceTopic("orders"), kgo.TransactionalID("crash"), kgo.TransactionTimeout(10*time.Second))
	}
	cl := open()
	defer func() { cl.Close() }()
	for n := 0; ctx.Err() == nil; n++ {
		if err := cl.BeginTransaction(); err != nil {
			t.Logf("beginning transaction %d: %v", n, err)
			cl.Close()
			cl = open()
			continue
		}
		written := cl.ProduceSync(ctx, kgo.StringRecord(fmt.Sprintf("t%d-a", n)), kgo.StringRecord(fmt.Sprintf("t%d-b", n)))
		commit := written.FirstErr() == nil
		if err := cl.EndTransaction(ctx, kgo.TransactionEndTry(commit)); err == nil && commit {
			for _, r := range written {
				promised.record(r.Record)
			}
			promised.mu.Lock()
			promised.transactions++
			promised.mu.Unlock()
		} else if err != nil && ctx.Err() == nil {
			t.Logf("transaction %d: %v", n, err)
			if err := cl.EndTransaction(ctx, kgo.TryAbort); err != nil && ctx.Err() == nil {
				t.Logf("giving up transaction %d: %v", n, err)
			}
		}
	}
}

// verify reads everything back. It returns how many records are there that nobody was promised.
func (a *acknowledged) verify(t *testing.T, p *process) (extra int) {
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	cl := connect(t, p, kgo.ConsumeTopics("orders"), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer cl.Close()
	admin := kadm.NewClient(cl)
	ends, err := admin.ListCommittedOffsets(ctx, "orders")
	for err == nil && ends.Error() != nil && ctx.Err() == nil { // a transaction without an end is ended by its timeout
		ends, err = admin.ListCommittedOffsets(ctx, "orders")
	}
	if err != nil {
		t.Fatal(err)
	}
	seen, reached := map[string]int{}, map[int32]int64{}
	missing := len(a.records)
	for missing > 0 && ctx.Err() == nil {
		cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			value := string(r.Value)
			seen[value]++
			reached[r.Partition] = r.Offset
			if at, promised := a.records[value]; !promised {
				extra++
			} else if seen[value] == 1 {
				missing--
				if at != (where{r.Partition, r.Offset}) {
					t.Errorf("%s is at %v, it was promised at %v", value, where{r.Partition, r.Offset}, at)
				}
			}
		})
	}
	for value, at := range a.records {
		if seen[value] != 1 {
			t.Errorf("%s, acknowledged at %v, is there %d times (read up to %v of %v)", value, at, seen[value], reached, ends)
		}
	}
	for i := range 3 {
		group := fmt.Sprintf("group-%d", i)
		committed, err := admin.FetchOffsets(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		for partition := range int32(6) {
			key := fmt.Sprintf("%s/%d", group, partition)
			found, _ := committed.Lookup("orders", partition)
			if found.At < a.commits[key] || found.At > a.sent[key] {
				t.Errorf("%s has committed %d, %d was acknowledged and %d sent last", key, found.At, a.commits[key], a.sent[key])
			}
		}
	}
	return extra
}
