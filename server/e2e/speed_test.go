//go:build interop

package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/apache"
)

const (
	speedRounds = 3
	speedRound  = 2 * time.Second
	// speedWarm is how long each load runs before it is measured: Java compiles what is hot meanwhile.
	speedWarm = 8 * time.Second
)

// TestSpeedBesideKafka puts the same load to our broker and to Apache Kafka's, each with its logs in a folder and without fsync,
// as shipped, and prints what came of it: requests for a second of CPU time of the server's process, and how long answers took,
// medians of rounds that take turns. Ours must be ahead by CPU time.
func TestSpeedBesideKafka(t *testing.T) {
	kafka, err := apache.Start(apache.Config{Version: apache.Reference, Nodes: 1, Dir: t.TempDir(), Java: apache.AsShipped,
		Set: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Stop()
	makeOrders(t, kafka.Addrs()[0])
	ours := startBenched(t, "ours-disk")
	defer ours.stop()
	peers := []*benched{{b: t, address: kafka.Addrs()[0], pid: kafka.Pid(1)}, ours}
	for _, s := range peers {
		s.cpu = func() time.Duration { return processCPU(t, s.pid) }
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load average before: %s", strings.TrimSpace(string(load)))
	t.Logf("%-32s %12s %12s %7s %22s %22s", "", "ours", "Kafka "+apache.Reference, "ratio", "p50 ours/Kafka", "p99 ours/Kafka")
	for _, c := range []struct {
		what string
		run  func(*benched, time.Duration) figures
	}{
		{"heartbeats a CPU second", func(s *benched, d time.Duration) figures { return s.heartbeats(false, d) }},
		{"commits of 10 a CPU second", func(s *benched, d time.Duration) figures { return s.commits(d) }},
		{"produce, acks all, a CPU second", func(s *benched, d time.Duration) figures { return s.produces(d) }},
		{"fetches of 16 KiB a CPU second", func(s *benched, d time.Duration) figures { return s.fetches(d) }},
	} {
		got := map[*benched][]figures{}
		for _, s := range peers {
			c.run(s, speedWarm)
		}
		for range speedRounds {
			for _, s := range peers {
				got[s] = append(got[s], c.run(s, speedRound))
			}
		}
		kafkas, mine := middle(got[peers[0]]), middle(got[peers[1]])
		ratio := mine.perCPU / kafkas.perCPU
		t.Logf("%-32s %12.0f %12.0f %6.1fx %22s %22s", c.what, mine.perCPU, kafkas.perCPU, ratio, beside(mine.p50, kafkas.p50), beside(mine.p99, kafkas.p99))
		if ratio < 1 {
			t.Errorf("%s: ours are %.2f of Kafka's", c.what, ratio)
		}
	}
}

func beside(ours, kafkas time.Duration) string {
	return fmt.Sprintf("%v/%v", ours.Round(10*time.Microsecond), kafkas.Round(10*time.Microsecond))
}

// makeOrders makes the topic that ours begins with.
func makeOrders(t *testing.T, address string) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(cl)
	defer admin.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if _, err := admin.CreateTopic(ctx, 10, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
}

// processCPU is the CPU time of a process, of all its threads, in the steps of 10 ms that Linux counts in.
func processCPU(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // the name may have blanks
	const utime, stime = 14 - 3, 15 - 3                                                // as proc(5) counts
	user, err1 := strconv.ParseInt(after[utime], 10, 64)
	system, err2 := strconv.ParseInt(after[stime], 10, 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("/proc/%d/stat: %v, %v", pid, err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// produces writes batches of one record of a thousand bytes, a partition a connection.
func (s *benched) produces(howLong time.Duration) figures {
	return s.load(func(i int) kmsg.Request {
		r := produceOf("orders", int32(i), batch(strings.Repeat("x", 1000)))
		r.Version = 8
		return r
	}, func(r kmsg.Request, body []byte) error {
		got := r.ResponseKind().(*kmsg.ProduceResponse)
		if err := got.ReadFrom(body); err != nil || len(got.Topics) != 1 || got.Topics[0].Partitions[0].ErrorCode != 0 {
			return fmt.Errorf("produce: %v, %+v", err, got)
		}
		return nil
	}, howLong)
}

// fetches reads what produces wrote, from the beginning of a partition, again and again.
func (s *benched) fetches(howLong time.Duration) figures {
	return s.load(func(i int) kmsg.Request {
		r := kmsg.NewPtrFetchRequest()
		r.Version, r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.SessionEpoch = 11, -1, 500, 1, 16<<10, -1
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.PartitionMaxBytes = int32(i), 16<<10
		r.Topics = []kmsg.FetchRequestTopic{{Topic: "orders", Partitions: []kmsg.FetchRequestTopicPartition{part}}}
		return r
	}, func(r kmsg.Request, body []byte) error {
		got := r.ResponseKind().(*kmsg.FetchResponse)
		if err := got.ReadFrom(body); err != nil || len(got.Topics) != 1 || got.Topics[0].Partitions[0].ErrorCode != 0 || len(got.Topics[0].Partitions[0].RecordBatches) < 8<<10 {
			return fmt.Errorf("fetch: %v, code %d", err, got.ErrorCode)
		}
		return nil
	}, howLong)
}
