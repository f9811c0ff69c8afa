//go:build interop

package differ

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/log"
	"grouplab/server/app"
	"grouplab/server/e2e/apache"
	"grouplab/server/store"
)

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}

// fillBoth writes everything that a log can hold: each compression, idempotent and transactional batches, both markers,
// commits, a member, a tombstone.
func fillBoth(t *testing.T, address string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(options ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address), kgo.DefaultProduceTopic("dumped"), kgo.UnknownTopicRetries(50)}, options...)...)
		must(err)
		t.Cleanup(cl.Close)
		return cl
	}
	plain := open()
	admin := kadm.NewClient(plain)
	_, err := admin.CreateTopic(ctx, 1, 1, nil, "dumped")
	must(err)
	for i, codec := range codecs {
		cl := open(kgo.ProducerBatchCompression(codec))
		var records []*kgo.Record
		for n := range 50 {
			padding := strings.Repeat("x", 30_000*(1-min(i, 1))) // Kafka's segments have a megabyte at least
			records = append(records, &kgo.Record{Key: []byte("key"), Value: fmt.Appendf(nil, "codec %d number %d%s", i, n, padding), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}})
		}
		must(cl.ProduceSync(ctx, records...).FirstErr())
	}
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		cl := open(kgo.TransactionalID(fmt.Sprint("dump ", end)))
		must(cl.BeginTransaction())
		must(cl.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint("in a transaction ", end))).FirstErr())
		must(cl.EndTransaction(ctx, end))
	}
	var offsets kadm.Offsets
	offsets.AddOffset("dumped", 0, 17, -1)
	must(admin.CommitAllOffsets(ctx, "dump-group", offsets))
	member := open(kgo.ConsumerGroup("dump-group"), kgo.ConsumeTopics("dumped"))
	member.PollFetches(ctx)
	must(member.CommitUncommittedOffsets(ctx))
	must(member.LeaveGroupContext(ctx))
	_, err = admin.DeleteGroup(ctx, "dump-group")
	must(err)
}

// TestKafkaReadsOurFiles: kafka-dump-log finds every batch of ours valid, and its decoders read what the coordinators wrote.
func TestKafkaReadsOurFiles(t *testing.T) {
	jars, err := apache.Jars(version())
	if err != nil {
		t.Fatal(err)
	}
	const before43, since43 = "kafka.tools.DumpLogSegments", "org.apache.kafka.tools.DumpLogSegments"
	dump, err := apache.Class(jars, before43, since43)
	if err != nil {
		t.Fatal(err)
	}
	transactions := map[string][]string{
		before43: {"transactionalId=dump true", "state=CompleteCommit", "state=CompleteAbort"},
		since43:  {`"transactionalId":"dump true"`, `"transactionStatus":4`, `"transactionStatus":5`},
	}
	dir := t.TempDir()
	s, err := app.New(app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Data: dir, Set: []string{"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1",
		"transaction.state.log.min.isr=1", "group.initial.rebalance.delay.ms=0"}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	fillBoth(t, s.KafkaAddrs()[0])
	s.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, decoder string
		holds           []string
	}{
		{"dumped-0", "--deep-iteration", []string{"compresscodec: gzip", "compresscodec: snappy", "compresscodec: lz4", "compresscodec: zstd", "endTxnMarker: COMMIT", "endTxnMarker: ABORT",
			"codec 4 number 49", "isTransactional: true"}},
		{"__consumer_offsets-0", "--offsets-decoder", []string{`"group":"dump-group","topic":"dumped","partition":0`, `"offset":17`, `"protocolType":"consumer"`, "payload: <DELETE>"}},
		{"__transaction_state-0", "--transaction-log-decoder", transactions[dump]},
	} {
		files, err := filepath.Glob(filepath.Join(dir, "brokers/1", c.folder, "*.log"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no segment (%v)", c.folder, err)
		}
		out, err := exec.Command("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(jars, "*"), dump,
			"--files", strings.Join(files, ","), "--print-data-log", c.decoder).CombinedOutput()
		text := string(out)
		batches := strings.Count(text, "baseOffset: ")
		if err != nil || batches == 0 || strings.Count(text, "isvalid: true") != batches || regexp.MustCompile(`Found|Mismatches|isvalid: false`).MatchString(text) {
			t.Errorf("%s: %d batches, %v:\n%s", c.folder, batches, err, text)
		}
		for _, part := range c.holds {
			if !strings.Contains(text, part) {
				t.Errorf("%s: kafka-dump-log does not show %q:\n%s", c.folder, part, text)
			}
		}
		t.Logf("%s: kafka-dump-log %s read %d batches", c.folder, c.decoder, batches)
	}
}

// TestWeReadKafkasFiles: our store opens the folders that a real Kafka left, killed, and finds every record in them.
func TestWeReadKafkasFiles(t *testing.T) {
	kafka, err := apache.Start(apache.Config{Version: version(), Nodes: 1, Dir: t.TempDir(), Set: map[string]string{"offsets.topic.num.partitions": "1",
		"transaction.state.log.num.partitions": "1", "group.initial.rebalance.delay.ms": "0", "log.segment.bytes": "1048576"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Stop)
	fillBoth(t, kafka.Addrs()[0])
	kafka.Kill(1)
	dir := t.TempDir()
	for _, folder := range []string{"dumped-0", "__consumer_offsets-0", "__transaction_state-0"} {
		if err := os.CopyFS(filepath.Join(dir, "brokers/1", folder), os.DirFS(filepath.Join(kafka.DataDir(1), folder))); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	d, err := store.Open(store.Config{Dir: dir, Logf: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, topic := range []string{"dumped", "__consumer_offsets", "__transaction_state"} {
		meta, err := os.ReadFile(filepath.Join(dir, "brokers/1", topic+"-0", "partition.metadata"))
		if err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(strings.TrimSpace(string(meta)), "topic_id: ")
		at := log.Replica{Broker: 1, Topic: topic}
		if at.TopicID, err = store.ParseID(id); err != nil {
			t.Fatal(err)
		}
		l, _, err := d.Open(at, log.Config{})
		if err != nil {
			t.Fatal(err)
		}
		batches, records := 0, 0
		if err := l.Each(0, l.EndOffset(), func(b log.Batch) bool {
			batches, records = batches+1, records+int(b.Count)
			return b.CheckCRC() == nil
		}); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d batches, %d records in %d segments of Kafka's", topic, batches, records, l.Segments())
		if topic == "dumped" && (records < 50*len(codecs)+4 || len(l.Aborted(0, l.EndOffset())) != 1 || l.Segments() < 2) {
			t.Errorf("dumped: %d records, %d aborted transactions, %d segments", records, len(l.Aborted(0, l.EndOffset())), l.Segments())
		}
	}
	if slices.ContainsFunc(said, func(line string) bool {
		return strings.Contains(line, "damaged") || strings.Contains(line, "made anew")
	}) {
		t.Errorf("Kafka's files are taken for damaged: %v", said)
	}
}
