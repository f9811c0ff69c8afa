package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/store"
)

// limitFiles bounds how large a file of another process may grow: beyond it, its writes fail as those to a full disk do.
func limitFiles(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	const fsize = 1 // RLIMIT_FSIZE
	var limit struct{ soft, hard uint64 }
	if _, _, failed := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), fsize, 0, uintptr(unsafe.Pointer(&limit)), 0, 0); failed != 0 {
		t.Fatal(failed)
	}
	limit.soft = min(bytes, limit.hard) // the hard limit stays: to raise it takes rights
	if _, _, failed := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), fsize, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); failed != 0 {
		t.Fatal(failed)
	}
}

// TestDiskFull: what needs the disk is answered with Kafka's error, everything else goes on, one line says why; with room
// again all is as before, and nothing that was acknowledged is lost.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := newProcess(t, store.Never)
	p.start()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cl := connect(t, p, kgo.RecordRetries(0), kgo.RequestRetries(0), kgo.DisableIdempotentWrite(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer cl.Close()
	admin := kadm.NewClient(cl)
	written := 0
	produce := func() error {
		err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: fmt.Append(nil, written)}).FirstErr()
		if err == nil {
			written++
		}
		return err
	}
	commit := func(at int64) error {
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Group = "g"
		part := kmsg.OffsetCommitRequestTopicPartition{Offset: at, LeaderEpoch: -1}
		q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{part}}}
		answer, err := q.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
	}
	err := produce()
	for err == nil && commit(1) != nil { // the first question creates __consumer_offsets
		err = sleep(ctx, 50*time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t, p.cmd.Process.Pid, 60)
	for range 3 {
		if err := produce(); !errors.Is(err, kerr.KafkaStorageError) {
			t.Errorf("producing to a full disk: %v", err)
		}
	}
	if code, err := admin.CreateTopics(ctx, 1, 1, nil, "more"); err != nil || !errors.Is(code["more"].Err, kerr.KafkaStorageError) {
		t.Errorf("creating a topic on a full disk: %v, %v", code["more"].Err, err)
	}
	if err := commit(2); !errors.Is(err, kerr.NotCoordinator) { // as Kafka tells KAFKA_STORAGE_ERROR to who commits
		t.Errorf("committing to a full disk: %v", err)
	}
	if found, err := admin.FetchOffsets(ctx, "g"); err != nil || found["orders"][0].At != 1 {
		t.Errorf("what is committed on a full disk: %+v, %v", found["orders"][0], err)
	}
	limitFiles(t, p.cmd.Process.Pid, ^uint64(0))
	if err := errors.Join(produce(), commit(3)); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, "more"); err != nil {
		t.Errorf("creating a topic with room again: %v", err)
	}
	lines := []string{"file too large; what needs the disk is answered KAFKA_STORAGE_ERROR until it works again", "the metadata cannot be written: file too large",
		"the disk works again, after", "the metadata is written again"}
	for _, line := range lines { // a line comes through a pipe, and may come after the answer
		eventually(t, 30*time.Second, func() error {
			if text := p.said.String(); !strings.Contains(text, line) {
				return fmt.Errorf("no line says %q:\n%s", line, text)
			}
			return nil
		})
	}
	text := p.said.String()
	for _, line := range lines {
		if n := strings.Count(text, line); n != 1 {
			t.Errorf("%d lines say %q, want 1:\n%s", n, line, text)
		}
	}
	p.kill()
	p.start()
	admin = kadm.NewClient(connect(t, p))
	defer admin.Close()
	ends, err := admin.ListEndOffsets(ctx, "orders")
	if end, _ := ends.Lookup("orders", 0); err != nil || end.Offset != int64(written) {
		t.Errorf("after a restart there are %d records of %d: %v", end.Offset, written, err)
	}
	if found, err := admin.FetchOffsets(ctx, "g"); err != nil || found["orders"][0].At != 3 {
		t.Errorf("after a restart is committed: %+v, %v", found["orders"][0], err)
	}
}

// TestDamagedMetadata: the program says what is wrong, where, and what to do.
func TestDamagedMetadata(t *testing.T) {
	t.Parallel()
	p := newProcess(t, store.Never)
	p.start()
	p.stop()
	path := filepath.Join(p.dir, "metadata.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"metadata.json: it is damaged in line 9":             strings.Replace(string(good), `"leader"`, `"le`, 1),
		"metadata.json: it is of version 2":                  strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"orders-0: it has a replica on broker 9":             strings.Replace(string(good), `"replicas":[1,`, `"replicas":[9,`, 1),
		"move the whole folder away":                         "",
		`"nonsense" is no topic id: 22 characters of base64`: replaceID(string(good)),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := serveFolder(p.dir, "127.0.0.1:0", store.Never); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func replaceID(text string) string {
	before, after, _ := strings.Cut(text, `"id": "`)
	_, after, _ = strings.Cut(after, `"`)
	return before + `"id": "nonsense"` + after
}
