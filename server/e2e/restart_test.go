package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	"grouplab/server/store"
)

// inFolder runs brokers on a folder until end is called.
func inFolder(t *testing.T, dir string, flush store.Flush) (s *app.Server, end func()) {
	t.Helper()
	s = newServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 3, Data: dir, Flush: flush, Topics: []app.Topic{{Name: "orders", Partitions: 6}},
		Set: []string{"group.initial.rebalance.delay.ms=0"}, Logf: func(format string, args ...any) { t.Log("server: " + fmt.Sprintf(format, args...)) }})
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	return s, func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
}

// TestRestartKeeps what an operator and clients have set up: topics and their ids, settings of topics and brokers, a
// deletion, a partition that was moved, a member's group, an open transaction, producer ids that are never given twice.
func TestRestartKeeps(t *testing.T) {
	t.Parallel()
	for _, flush := range []store.Flush{store.Never, store.Interval, store.Always} {
		t.Run(string(flush), func(t *testing.T) { restartKeeps(t, t.TempDir(), flush) })
	}
}

func restartKeeps(t *testing.T, dir string, flush store.Flush) {
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	s, end := inFolder(t, dir, flush)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cl := client(t, s)
	admin := kadm.NewClient(cl)
	ms := "77000"
	for _, name := range []string{"kept", "gone", "again"} {
		_, err := admin.CreateTopic(ctx, 2, 3, map[string]*string{"retention.ms": &ms}, name)
		must(err)
	}
	for _, name := range []string{"gone", "again"} {
		must(client(t, s, kgo.DefaultProduceTopic(name)).ProduceSync(ctx, kgo.StringRecord("old")).FirstErr())
		_, err := admin.DeleteTopic(ctx, name)
		must(err)
	}
	_, err := admin.CreateTopic(ctx, 1, 3, nil, "again")
	must(err)
	size := "5000"
	_, err = admin.AlterBrokerConfigs(ctx, []kadm.AlterConfig{{Name: "message.max.bytes", Value: &size}})
	must(err)
	must(s.MoveLeader("kept", 0, 3))
	member := client(t, s, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"), kgo.InstanceID("static"), kgo.SessionTimeout(5*time.Minute), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	must(member.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("a")}).FirstErr())
	member.PollFetches(ctx)
	must(member.CommitUncommittedOffsets(ctx))
	open := client(t, s, kgo.TransactionalID("open"), kgo.DefaultProduceTopic("kept"))
	must(open.BeginTransaction())
	must(open.ProduceSync(ctx, kgo.StringRecord("undecided")).FirstErr())
	before, err := admin.ListTopics(ctx)
	must(err)
	producer := producerID(t, cl)
	described, err := admin.DescribeGroups(ctx, "g")
	must(err)

	end()
	s, end = inFolder(t, dir, flush)
	defer end()
	cl = client(t, s)
	admin = kadm.NewClient(cl)
	after, err := admin.ListTopics(ctx)
	must(err)
	if !slices.Equal(after.Names(), before.Names()) || after.Has("gone") {
		t.Errorf("topics %v, they were %v", after.Names(), before.Names())
	}
	for name, topic := range before {
		if after[name].ID != topic.ID || len(after[name].Partitions) != len(topic.Partitions) || len(after[name].Partitions[0].ISR) != 3 {
			t.Errorf("%s is %+v, it was %+v", name, after[name], topic)
		}
	}
	if p := after["kept"].Partitions[0]; p.Leader != 3 || p.LeaderEpoch <= before["kept"].Partitions[0].LeaderEpoch {
		t.Errorf("kept-0 is led by %d in epoch %d", p.Leader, p.LeaderEpoch)
	}
	ends, err := admin.ListEndOffsets(ctx, "again", "kept")
	must(err)
	if again, _ := ends.Lookup("again", 0); again.Offset != 0 {
		t.Errorf("the new topic has %d records of the old one", again.Offset)
	}
	configs, err := admin.DescribeTopicConfigs(ctx, "kept")
	must(err)
	if i := slices.IndexFunc(configs[0].Configs, func(c kadm.Config) bool { return c.Key == "retention.ms" }); configs[0].Configs[i].MaybeValue() != ms {
		t.Errorf("retention.ms is %s", configs[0].Configs[i].MaybeValue())
	}
	configs, err = admin.DescribeBrokerConfigs(ctx, 1)
	must(err)
	if i := slices.IndexFunc(configs[0].Configs, func(c kadm.Config) bool { return c.Key == "message.max.bytes" }); configs[0].Configs[i].MaybeValue() != size {
		t.Errorf("message.max.bytes is %s", configs[0].Configs[i].MaybeValue())
	}
	again, err := admin.DescribeGroups(ctx, "g")
	must(err)
	if g, was := again["g"], described["g"]; len(g.Members) != 1 || g.Members[0].MemberID != was.Members[0].MemberID || g.Protocol != was.Protocol {
		t.Errorf("the group is %+v, it was %+v", g, was)
	}
	offsets, err := admin.FetchOffsets(ctx, "g")
	must(err)
	committed := int64(0)
	offsets.Each(func(o kadm.OffsetResponse) { committed += max(0, o.At) })
	if committed != 1 {
		t.Errorf("offsets %v", offsets)
	}
	if id := producerID(t, cl); id <= producer {
		t.Errorf("producer id %d after %d", id, producer)
	}
	txns, err := admin.DescribeTransactions(ctx, "open")
	must(err)
	if txns["open"].State != "Ongoing" {
		t.Errorf("the open transaction is %+v", txns["open"])
	}
	dirs, err := admin.DescribeAllLogDirs(ctx, nil)
	must(err)
	if _, ok := dirs[2][filepath.Join(dir, "brokers", "2")]; !ok {
		t.Errorf("log dirs %v", dirs[2])
	}
}

// producerID asks for a fresh one.
func producerID(t *testing.T, cl *kgo.Client) int64 {
	t.Helper()
	answer, err := kmsg.NewPtrInitProducerIDRequest().RequestWith(t.Context(), cl)
	if err != nil || answer.ErrorCode != 0 {
		t.Fatalf("no producer id: %v, %+v", err, answer)
	}
	return answer.ProducerID
}
