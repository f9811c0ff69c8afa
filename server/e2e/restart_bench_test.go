package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"

	"grouplab/server/store"
)

// BenchmarkRestart kills three brokers that have stored a million offsets in 1000 groups, and measures how long it is until
// they serve again and the groups' offsets can be fetched: each log of each broker read with its CRCs, the coordinators
// loaded. restart-s is all of it, with the start of the process; the budget is 2 s.
func BenchmarkRestart(b *testing.B) {
	const groups, topics, partitions = 1000, 10, 100
	p := newProcess(b, store.Never)
	p.start()
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	admin := kadm.NewClient(connect(b, p))
	var offsets kadm.Offsets
	for topic := range topics {
		name := fmt.Sprint("topic-", topic)
		if _, err := admin.CreateTopic(ctx, partitions, 1, nil, name); err != nil {
			b.Fatal(err)
		}
		for partition := range int32(partitions) {
			offsets.AddOffset(name, partition, 1, -1)
		}
	}
	for group := range groups {
		if err := admin.CommitAllOffsets(ctx, fmt.Sprint("group-", group), offsets); err != nil {
			b.Fatal(err)
		}
	}
	admin.Close()
	b.ResetTimer()
	for range b.N {
		p.kill()
		began := time.Now()
		p.start()
		started := time.Since(began)
		admin := kadm.NewClient(connect(b, p))
		for group := range groups / 100 {
			found, err := admin.FetchOffsets(ctx, fmt.Sprint("group-", group*100))
			if err != nil || len(found) != topics || len(found["topic-0"]) != partitions {
				b.Fatalf("%d topics of group %d: %v", len(found), group*100, err)
			}
		}
		b.ReportMetric(started.Seconds(), "start-s")
		b.ReportMetric(time.Since(began).Seconds(), "restart-s")
		admin.Close()
	}
}

// serveOursDisk and serveKfakeDisk keep everything in a folder, without fsync.
func serveOursDisk() (string, func(), error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return "", nil, err
	}
	address, stop, err := serveLab("", dir)
	if err != nil {
		return "", nil, err
	}
	return address, func() { stop(); os.RemoveAll(dir) }, nil
}

func serveKfakeDisk() (string, func(), error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return "", nil, err
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(10, "orders"), kfake.DataDir(dir))
	if err != nil {
		return "", nil, err
	}
	return c.ListenAddrs()[0], func() { c.Close(); os.RemoveAll(dir) }, nil
}

// BenchmarkDiskCommits prints commits of 10 partitions a CPU second with a folder and without fsync, ours beside ours in
// memory and beside kfake with its DataDir.
func BenchmarkDiskCommits(b *testing.B) {
	for b.Loop() {
		got := map[string][]figures{}
		for range 3 {
			for _, kind := range []string{"ours", "ours-disk", "kfake-disk"} {
				got[kind] = append(got[kind], commits(b, kind, time.Second))
			}
		}
		disk := middle(got["ours-disk"])
		b.ReportMetric(disk.perCPU, "disk/cpu-s")
		b.ReportMetric(disk.perCPU/middle(got["ours"]).perCPU, "disk/memory")
		b.ReportMetric(disk.perCPU/middle(got["kfake-disk"]).perCPU, "disk/kfake")
		b.ReportMetric(micros(disk.p50), "disk-p50-us")
		b.ReportMetric(micros(disk.p99), "disk-p99-us")
		b.ReportMetric(0, "ns/op")
	}
}
