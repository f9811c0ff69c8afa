package store

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"grouplab/coordinator/log"
)

// TestMain waits for goroutines that are about to end: on a busy machine that may take a while.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		left := goleak.Find()
		for end := time.Now().Add(time.Minute); left != nil && time.Now().Before(end); {
			left = goleak.Find()
		}
		if left != nil {
			fmt.Fprintln(os.Stderr, left)
			code = 1
		}
	}
	os.Exit(code)
}

// lines are what a Disk told its operator.
type lines struct {
	mu   sync.Mutex
	said []string
}

func (l *lines) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

func (l *lines) holds(t *testing.T, times int, parts ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	found := 0
	for _, line := range l.said {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			found++
		}
	}
	if found != times {
		t.Errorf("%d lines with %q, want %d; all lines:\n%s", found, parts, times, strings.Join(l.said, "\n"))
	}
}

// opened is a Disk that ends with the test, if it has not ended before.
func opened(t testing.TB, dir string, said *lines) *Disk {
	t.Helper()
	cfg := Config{Dir: dir}
	if said != nil {
		cfg.Logf = said.logf
	}
	d, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.crash() })
	return d
}

// crash gives the lock back and writes nothing more, as the end of a process would.
func (d *Disk) crash() {
	if d.cfg.Wake != nil && d.parts != nil {
		d.drain()
		close(d.stop)
		d.parts = nil
	}
	d.work.Wait()
	d.files.close()
	d.lock.Close()
}

var orders = log.Replica{Broker: 1, Topic: "orders", TopicID: [16]byte{1, 2, 3}, Partition: 0}

func (d *Disk) mustOpen(t testing.TB, at log.Replica, cfg log.Config) *log.Log {
	t.Helper()
	l, _, err := d.Open(at, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func batchOf(values ...string) log.Batch {
	var records []log.Record
	for i, v := range values {
		records = append(records, log.Record{TimestampMs: int64(i), Key: []byte(v), Value: []byte(v)})
	}
	b, _, err := log.Parse(log.Encode(log.NoProducer, 0, records))
	if err != nil {
		panic(err)
	}
	return b
}

func add(t testing.TB, l *log.Log, values ...string) {
	t.Helper()
	if _, err := l.Append(batchOf(values...), max(0, l.LatestEpoch())); err != nil {
		t.Fatal(err)
	}
}

// content is every batch of a log, and its bounds.
func content(t testing.TB, l *log.Log) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "%d to %d in epoch %d:", l.StartOffset(), l.EndOffset(), l.LatestEpoch())
	if err := l.Each(l.StartOffset(), l.EndOffset(), func(b log.Batch) bool {
		fmt.Fprintf(&out, " %d/%d/%x", b.BaseOffset, b.LeaderEpoch, b.CRC)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLikeMemory does the same to a log on disk and to one in memory, and now and then reads the former anew.
func TestLikeMemory(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			rt.Fatal(err)
		}
		folder := Config{Dir: dir, Logf: rt.Logf}
		if rapid.Bool().Draw(rt, "beside") {
			folder.Wake = func() {}
		}
		d, err := Open(folder)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { d.crash(); os.RemoveAll(dir) }()
		d.files.most = rapid.IntRange(1, 4).Draw(rt, "files")
		cfg := log.Config{SegmentBytes: rapid.IntRange(100, 700).Draw(rt, "segment"), IndexIntervalBytes: 150}
		disk, memory := d.New(orders, cfg), log.New(log.NewMemory(), cfg)
		both := func(what string, do func(l *log.Log) error) {
			if a, b := do(disk), do(memory); a != nil || b != nil {
				rt.Fatalf("%s: on disk %v, in memory %v", what, a, b)
			}
		}
		epoch, floor := int32(0), int64(0)                                                                 // what is compacted is committed, and never cut
		both("append", func(l *log.Log) error { _, err := l.Append(batchOf("first"), epoch); return err }) // the folder comes with it
		for step := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 12).Draw(rt, "step") {
			case 0:
				epoch++
				both("epoch", func(l *log.Log) error { l.BeginEpoch(epoch); return nil })
			case 1:
				to := disk.EndOffset() - int64(rapid.IntRange(0, 5).Draw(rt, "cut"))
				both("truncate", func(l *log.Log) error { return l.Truncate(max(to, l.StartOffset(), floor)) })
				epoch++
				both("epoch", func(l *log.Log) error { l.BeginEpoch(epoch); return nil })
			case 2:
				start := disk.StartOffset() + int64(rapid.IntRange(0, 4).Draw(rt, "start"))
				both("delete records", func(l *log.Log) error { return l.DeleteBefore(start) })
			case 3:
				both("retain", func(l *log.Log) error { return l.Retain(900, -1, 0, l.EndOffset()) })
			case 4:
				floor = disk.EndOffset()
				both("compact", func(l *log.Log) error {
					l.BeginCompaction(log.Compaction{NowMs: int64(step), Below: l.EndOffset(), DeleteRetentionMs: 2})
					var err error
					for l.Compacting() && err == nil {
						d.Start()
						_, err = l.Compact(math.MaxInt)
					}
					return err
				})
			case 5:
				d.crash()
				if d, err = Open(folder); err != nil {
					rt.Fatal(err)
				}
				if disk, _, err = d.Open(orders, cfg); err != nil {
					rt.Fatal(err)
				}
			case 6:
				if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
					at := disk.EndOffset() + 5
					both("restart", func(l *log.Log) error { return l.Restart(at) })
				}
			default:
				var values []string
				for range rapid.IntRange(1, 3).Draw(rt, "n") {
					values = append(values, rapid.SampledFrom([]string{"a", "b", "c", strings.Repeat("d", 90)}).Draw(rt, "value"))
				}
				both("append", func(l *log.Log) error { _, err := l.Append(batchOf(values...), epoch); return err })
			}
			if is, was := content(t, disk), content(t, memory); is != was {
				rt.Fatalf("step %d: on disk %s\nin memory %s", step, is, was)
			}
		}
	})
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	d := opened(t, dir, nil)
	if _, err := Open(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the folder %s is in use by process %d", dir, os.Getpid())) {
		t.Errorf("a second process is told %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, dir, nil)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: file}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file for a folder: %v", err)
	}
}

// TestBrokersFolder: a folder with a broker's meta.properties is left alone, as Apache Kafka's log.dirs is, or DIR/brokers/1 of ours.
func TestBrokersFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, metaProperties)
	if err := os.WriteFile(path, []byte("version=1\ncluster.id=abcdefghijklmnopqrstuv\nnode.id=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(Config{Dir: dir, Flush: Never})
	if err == nil {
		d.Close()
		t.Fatal("a broker's folder was taken")
	}
	for _, words := range []string{dir, metaProperties, "Apache Kafka", "a folder of its own"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q does not say %q", err, words)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("something was made there: %v, %v", left, err)
	}
}

// TestTornEnd: one line says what was cut, and the log goes on.
func TestTornEnd(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d := opened(t, dir, said)
	l := d.New(orders, log.Config{})
	for i := range 5 {
		add(t, l, fmt.Sprint(i))
	}
	want := content(t, l)
	d.crash()
	path := filepath.Join(dir, "brokers/1/orders-0", segmentName(0))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(batchOf("torn").Bytes[:65])
	f.Close()
	d = opened(t, dir, said)
	l = d.mustOpen(t, orders, log.Config{})
	if is := content(t, l); is != want {
		t.Errorf("the log is %s, it was %s", is, want)
	}
	said.holds(t, 1, "orders-0 on broker 1", "torn off by a crash: 65 bytes are cut, from offset 5 on")
	add(t, l, "5")
	d.crash()
	d = opened(t, dir, said)
	if l := d.mustOpen(t, orders, log.Config{}); l.EndOffset() != 6 {
		t.Errorf("the log ends at %d", l.EndOffset())
	}
	said.holds(t, 1)
}

// TestDamageIsKept: what lies behind damage in the middle is cut, named, and put beside the log.
func TestDamageIsKept(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d := opened(t, dir, said)
	l := d.New(orders, log.Config{SegmentBytes: 300})
	for i := range 12 {
		add(t, l, fmt.Sprint("value ", i))
	}
	d.crash()
	folder := filepath.Join(dir, "brokers/1/orders-0")
	path := filepath.Join(folder, segmentName(0))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hurt := bytes.Clone(whole)
	hurt[len(hurt)/2+70] ^= 1
	if err := os.WriteFile(path, hurt, 0o644); err != nil {
		t.Fatal(err)
	}
	d = opened(t, dir, said)
	l = d.mustOpen(t, orders, log.Config{})
	said.holds(t, 1, "damaged: ", "from offset", "CRC", "kept as "+segmentName(0)+".damaged")
	kept, err := os.ReadFile(path + ".damaged")
	if err != nil || !bytes.Equal(kept, hurt[l.Size():]) {
		t.Errorf("%d bytes are kept of %d (%v)", len(kept), len(hurt)-int(l.Size()), err)
	}
	behind, _ := filepath.Glob(filepath.Join(folder, "*.damaged"))
	if all, _ := filepath.Glob(filepath.Join(folder, "*.log")); len(behind) < 3 || len(all) != 1 {
		t.Errorf("kept are %v, left are %v", behind, all)
	}
	add(t, l, "again")
}

// TestSwapIsWhole: whatever is on disk when a crash breaks a compaction off, the old segments count or the new one.
func TestSwapIsWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		crash func(p *partition, data []byte) // what has happened until then
		swept bool
	}{
		{"half written", func(p *partition, data []byte) {
			os.WriteFile(filepath.Join(p.dir, "00000000000000000000.cleaned"), data[:len(data)/2], 0o644)
		}, false},
		{"renamed", func(p *partition, data []byte) {
			os.WriteFile(filepath.Join(p.dir, "00000000000000000000-00000000000000000004.swap"), data, 0o644)
		}, true},
		{"some old ones gone", func(p *partition, data []byte) {
			os.WriteFile(filepath.Join(p.dir, "00000000000000000000-00000000000000000004.swap"), data, 0o644)
			os.Remove(filepath.Join(p.dir, segmentName(2)))
		}, true},
		{"done", func(p *partition, data []byte) {
			if done, err := p.Swap([]int64{0, 2, 4}, [][]byte{data}); err != nil || !done {
				t.Error(done, err)
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			d := opened(t, dir, nil)
			l := d.New(orders, log.Config{SegmentBytes: 2 * len(batchOf("a").Bytes)})
			for _, v := range []string{"a", "b", "a", "b", "a", "c", "d", "e"} {
				add(t, l, v)
			}
			p := d.parts[placeOf(orders)]
			var kept []byte
			l.Each(3, 6, func(b log.Batch) bool { kept = append(kept, b.Bytes...); return true }) // b, a, c
			if len(p.segments) != 4 {
				t.Fatalf("%d segments", len(p.segments))
			}
			c.crash(p, kept)
			d.crash()
			d = opened(t, dir, nil)
			l = d.mustOpen(t, orders, log.Config{})
			var offsets []int64
			l.Each(0, l.EndOffset(), func(b log.Batch) bool { offsets = append(offsets, b.BaseOffset); return true })
			want := []int64{0, 1, 2, 3, 4, 5, 6, 7}
			if c.swept {
				want = want[3:]
			}
			if !slices.Equal(offsets, want) {
				t.Errorf("batches at %v, want %v", offsets, want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "brokers/1/orders-0/*[np]")); len(left) != 0 { // .cleaned and .swap
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestFullDisk: every way in which a disk can be full is an error of that call, told once; when there is room the log goes on.
func TestFullDisk(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d := opened(t, dir, said)
	l := d.New(orders, log.Config{SegmentBytes: 400})
	refuse := func(what string) {
		t.Helper()
		for range 3 {
			if _, err := l.Append(batchOf("refused"), 0); err == nil || !strings.Contains(err.Error(), "no space left on device") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	d.io.create = func(string) (*os.File, error) { return nil, full }
	refuse("nothing can be made")
	d.io = system
	add(t, l, "a")
	d.io.write = func(f *os.File, data []byte, at int64) (int, error) {
		n, _ := f.WriteAt(data[:len(data)/2], at)
		return n, full
	}
	refuse("half is written")
	d.io = system
	for i := range 20 {
		add(t, l, fmt.Sprint(i))
	}
	d.io.create = func(string) (*os.File, error) { return nil, &os.PathError{Op: "open", Path: "x", Err: syscall.EROFS} }
	for err := error(nil); err == nil; _, err = l.Append(batchOf("more"), 0) {
		if l.EndOffset() > 100 {
			t.Fatal("a read-only folder takes new segments")
		}
	}
	d.io = system
	want := content(t, l)
	said.holds(t, 2, "no space left on device", "KAFKA_STORAGE_ERROR until it works again")
	said.holds(t, 1, "read-only file system")
	said.holds(t, 2, "the disk works again, after 3 failures")
	d.crash()
	d = opened(t, dir, said)
	if is := content(t, d.mustOpen(t, orders, log.Config{})); is != want {
		t.Errorf("the log is %s, it was %s", is, want)
	}
	said.holds(t, 0, "torn")
}

// TestNearlyFullDiskSaysSo: where every second record finds no room that is told a few times, not with two lines for each.
func TestNearlyFullDiskSaysSo(t *testing.T) {
	said := &lines{}
	d := opened(t, t.TempDir(), said)
	l := d.New(orders, log.Config{})
	for i := range 50 {
		d.io.write = func(*os.File, []byte, int64) (int, error) { return 0, syscall.ENOSPC }
		if _, err := l.Append(batchOf("refused"), 0); err == nil {
			t.Fatal("a full disk takes records")
		}
		d.io = system
		add(t, l, fmt.Sprint(i))
	}
	said.holds(t, endsTold+1, "no space left on device")
	said.holds(t, endsTold, "the disk works again")
	d.mu.Lock()
	d.trouble.last = d.trouble.last.Add(-2 * troubleRests)
	d.mu.Unlock()
	add(t, l, "with room again")
	said.holds(t, 1, "the disk works again, after 47 failures")
}

// TestSyncFails: after that nobody knows what is on the disk, so nothing more is taken.
func TestSyncFails(t *testing.T) {
	said := &lines{}
	d := opened(t, t.TempDir(), said)
	l := d.New(orders, log.Config{})
	add(t, l, "a")
	d.io.sync = func(*os.File) error { return syscall.EIO }
	if d.Sync() == nil {
		t.Error("an fsync that fails is no error")
	}
	d.io = system
	if _, err := l.Append(batchOf("b"), 0); err == nil || !strings.Contains(err.Error(), "must be started again") {
		t.Errorf("the next append: %v", err)
	}
	if d.Sync() == nil {
		t.Error("the next fsync forgets the one before")
	}
	said.holds(t, 1, "input/output error", "until the server is started again")
}

// TestDeletedTopics: a folder goes when the metadata is written; a topic of the same name begins empty, after a crash too.
func TestDeletedTopics(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d := opened(t, dir, said)
	l := d.New(orders, log.Config{SegmentBytes: 200})
	for range 9 {
		add(t, l, "old")
	}
	if err := l.DeleteBefore(8); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "brokers/1/orders-0")
	d.Remove(orders)
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the folder goes before the metadata says so: %v", err)
	}
	d.Settle()
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder stays")
	}
	again := orders
	again.TopicID[0]++
	add(t, d.New(again, log.Config{}), "new")
	d.crash()
	d = opened(t, dir, said)
	if l := d.mustOpen(t, again, log.Config{}); l.StartOffset() != 0 || l.EndOffset() != 1 {
		t.Errorf("the new topic has %d to %d", l.StartOffset(), l.EndOffset())
	}
	d.crash()
	d = opened(t, dir, said) // a crash lost the newer metadata: the folder is of a topic that is not known
	if l := d.mustOpen(t, orders, log.Config{}); l.EndOffset() != 0 {
		t.Errorf("the topic has another one's records up to %d", l.EndOffset())
	}
	said.holds(t, 1, "belongs to no topic that is there", "stray/orders-0.0")
	os.Mkdir(filepath.Join(dir, "brokers/1/payments-3"), 0o755)
	os.Mkdir(filepath.Join(dir, "brokers/1/12.1-delete"), 0o755)
	if err := d.Sweep(); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "brokers/1/*"))
	strays, _ := filepath.Glob(filepath.Join(dir, "brokers/1/stray/*"))
	if len(strays) != 2 || slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, "-delete") || strings.HasSuffix(name, "-3") }) {
		t.Errorf("left are %v and %v", left, strays)
	}
}

// TestDamagedCheckpoints are told and made anew.
func TestDamagedCheckpoints(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d := opened(t, dir, said)
	l := d.New(orders, log.Config{})
	l.BeginEpoch(3)
	add(t, l, "a", "b")
	if err := l.DeleteBefore(1); err != nil {
		t.Fatal(err)
	}
	if err := d.SaveWatermarks(func(visit func(log.Replica, int64)) { visit(orders, 2) })(); err != nil {
		t.Fatal(err)
	}
	d.crash()
	d = opened(t, dir, said)
	if l, hw, _ := d.Open(orders, log.Config{}); l.StartOffset() != 1 || hw != 2 || l.LatestEpoch() != 3 {
		t.Errorf("start %d, high watermark %d, epoch %d", l.StartOffset(), hw, l.LatestEpoch())
	}
	d.crash()
	for _, name := range []string{"orders-0/" + leaderEpochs, logStarts, highWatermarks} {
		if err := os.WriteFile(filepath.Join(dir, "brokers/1", name), []byte("0\n7\nnonsense"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d = opened(t, dir, said)
	if l, hw, err := d.Open(orders, log.Config{}); err != nil || l.EndOffset() != 2 || hw != 0 || l.LatestEpoch() != 3 {
		t.Errorf("end %d, high watermark %d, epoch %d, %v", l.EndOffset(), hw, l.LatestEpoch(), err)
	}
	said.holds(t, 3, "made anew")
}

// TestMetadataIsWhole: what cannot be written leaves the old one.
func TestMetadataIsWhole(t *testing.T) {
	d := opened(t, t.TempDir(), nil)
	if text, err := d.LoadMetadata(); text != nil || err != nil {
		t.Errorf("a new folder has metadata %q, %v", text, err)
	}
	if err := d.SaveMetadata([]byte("one")); err != nil {
		t.Fatal(err)
	}
	d.io.write = func(f *os.File, data []byte, at int64) (int, error) {
		n, _ := f.WriteAt(data[:1], at)
		return n, syscall.ENOSPC
	}
	if d.SaveMetadata([]byte("two")) == nil {
		t.Error("a full disk takes metadata")
	}
	d.io = system
	d.io.sync = func(*os.File) error { return syscall.EIO }
	if d.SaveMetadata([]byte("three")) == nil {
		t.Error("metadata that is not on the disk counts")
	}
	if text, err := d.LoadMetadata(); string(text) != "one" || err != nil {
		t.Errorf("the metadata is %q, %v", text, err)
	}
	if left, _ := filepath.Glob(d.MetadataPath() + "*"); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}

// TestReady: no record before the metadata that names its topic.
func TestReady(t *testing.T) {
	ready := syscall.ENOSPC
	d, err := Open(Config{Dir: t.TempDir(), Flush: Interval, Ready: func() error {
		if ready != 0 {
			return ready
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := d.New(orders, log.Config{})
	if _, err := l.Append(batchOf("a"), 0); err == nil {
		t.Error("a record was written before the metadata")
	}
	ready = 0
	add(t, l, "a")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzRecovery turns bits and cuts ends of a folder of segments: opening it never panics, loses nothing before the damage,
// and leaves a log that takes records and can be opened again as it is.
func FuzzRecovery(f *testing.F) {
	f.Add(uint16(100), byte(1), uint16(0))
	f.Add(uint16(8), byte(0xff), uint16(40))
	f.Add(uint16(700), byte(0), uint16(200))
	f.Fuzz(func(t *testing.T, at uint16, bits byte, lost uint16) {
		dir, said := t.TempDir(), &lines{}
		d := opened(t, dir, said)
		l := d.New(orders, log.Config{SegmentBytes: 500})
		var ends []int // where each batch ends
		for i := range 14 {
			l.BeginEpoch(int32(i / 5))
			add(t, l, strings.Repeat("x", i*7%40), fmt.Sprint(i))
			ends = append(ends, int(l.Size()))
		}
		d.crash()
		paths, _ := filepath.Glob(filepath.Join(dir, "brokers/1/orders-0/*.log"))
		hurt, position := int(at)%ends[len(ends)-1], 0
		safe := hurt // nothing before is touched
		if bits == 0 {
			safe = ends[len(ends)-1]
		}
		for i, path := range paths {
			data, _ := os.ReadFile(path)
			if hurt >= position && hurt < position+len(data) {
				data[hurt-position] ^= bits
			}
			position += len(data)
			if i == len(paths)-1 {
				cut := min(int(lost), len(data))
				data = data[:len(data)-cut]
				safe = min(safe, position-cut)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d = opened(t, dir, said)
		l = d.mustOpen(t, orders, log.Config{SegmentBytes: 500})
		whole := 0
		for whole < len(ends) && ends[whole] <= safe {
			whole++
		}
		read := 0
		if err := l.Each(0, l.EndOffset(), func(b log.Batch) bool {
			if b.BaseOffset == int64(2*read) && b.CheckCRC() == nil {
				read++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if read < whole {
			t.Fatalf("%d batches are left, %d lay before the damage at byte %d", read, whole, safe)
		}
		add(t, l, "and on")
		want := content(t, l)
		d.crash()
		d = opened(t, dir, &lines{})
		if is := content(t, d.mustOpen(t, orders, log.Config{})); is != want {
			t.Fatalf("opened again it is %s, it was %s", is, want)
		}
	})
}
