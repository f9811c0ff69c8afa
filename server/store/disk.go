package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"grouplab/coordinator/log"
)

// Config is what a Disk is made with.
type Config struct {
	// Dir is the folder; it is made where it is missing.
	Dir string
	// Flush says when records reach the disk itself.
	Flush Flush
	// Ready is asked before a partition gets its first segment: what names the partition must be on disk by then, else its
	// records are nobody's after a crash. nil: it is.
	Ready func() error
	// Wake is called, from any goroutine, when Moved has something to tell: the records that a log took are written then, by
	// the policy of Flush, or could not be. nil: each append is written before it returns, and flushed by Sync alone.
	Wake func()
	// MostWaiting is how many bytes may wait to be written before Behind says so.
	MostWaiting int
	// Logf gets one line for each thing an operator should know; nil: nowhere.
	Logf func(format string, args ...any)
}

// Disk is a folder with the logs of all brokers of a process.
type Disk struct {
	cfg         Config
	lock        *os.File
	files       *files
	brokers     map[int32]*broker
	parts       map[place]*partition
	doomed      []*partition
	staged      []*partition // with appends that Start will hand to the writer
	stagedBytes int
	removed     int // folders that were deleted, for their last names
	io          layer

	mu      sync.Mutex
	dirty   []*segment
	folders map[string]struct{} // folders with new or renamed files
	broken  error               // an fsync failed
	trouble trouble
	queue   []*partition // with appends for the writer
	waiting int          // their bytes, and those that the writer has in hand
	moved   []*partition // what Moved tells
	written sync.Cond    // the writer is done with what it had
	ring    chan struct{}
	work    sync.WaitGroup // deletions, the writer, and the interval's flushes
	stop    chan struct{}
}

// place names a replica's folder, whatever topic it is of.
type place struct {
	broker    int32
	topic     string
	partition int32
}

func placeOf(at log.Replica) place { return place{at.Broker, at.Topic, at.Partition} }

// layer is what a Disk asks of the operating system, where that can fail for want of room or rights.
type layer struct {
	create func(path string) (*os.File, error)
	write  func(f *os.File, data []byte, at int64) (int, error)
	sync   func(f *os.File) error
}

var system = layer{
	create: func(path string) (*os.File, error) {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	},
	write: func(f *os.File, data []byte, at int64) (int, error) { return f.WriteAt(data, at) },
	sync:  (*os.File).Sync,
}

// Open takes a folder for this process. The error of a folder that another process has open names that process.
func Open(cfg Config) (*Disk, error) {
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, metaProperties)); err == nil { // ours are a folder for each broker deeper
		return nil, fmt.Errorf("the folder %s is a broker's, of Apache Kafka or in a folder of ours: it has a %s; name a folder of its own, or the one that has \"brokers\" in it", cfg.Dir, metaProperties)
	}
	if err := os.MkdirAll(filepath.Join(cfg.Dir, "brokers"), 0o755); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be made or used: %w", cfg.Dir, cause(err))
	}
	lock, err := takeLock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	d := &Disk{cfg: cfg, lock: lock, files: newFiles(), brokers: map[int32]*broker{}, parts: map[place]*partition{}, io: system,
		folders: map[string]struct{}{}, ring: make(chan struct{}, 1), stop: make(chan struct{})}
	d.written.L = &d.mu
	d.files.create = func(path string) (*os.File, error) { return d.io.create(path) }
	if cfg.Flush == Interval {
		d.work.Go(d.flushNowAndThen)
	}
	if cfg.Wake != nil {
		d.work.Go(d.writeOn)
	}
	return d, nil
}

// Dir is a broker's folder.
func (d *Disk) Dir(broker int32) string {
	return filepath.Join(d.cfg.Dir, "brokers", strconv.Itoa(int(broker)))
}

// New gives the log of a replica that begins empty. Nothing is written before its first record.
func (d *Disk) New(at log.Replica, cfg log.Config) *log.Log {
	return log.New(d.logStore(d.partition(at)), cfg)
}

// logStore is a partition as its log sees it.
func (d *Disk) logStore(p *partition) log.Store {
	if d.cfg.Wake != nil {
		return beside{p}
	}
	return p
}

func (d *Disk) partition(at log.Replica) *partition {
	if p := d.parts[placeOf(at)]; p != nil {
		d.erase(p) // of the topic that had the name before
	}
	name := fmt.Sprintf("%s-%d", at.Topic, at.Partition)
	p := &partition{d: d, at: at, name: fmt.Sprintf("%s on broker %d", name, at.Broker), dir: filepath.Join(d.Dir(at.Broker), name)}
	d.parts[placeOf(at)] = p
	return p
}

// Remove forgets a replica with all that it holds. Its folder goes with the next Settle, when the metadata on disk does not
// know it any more.
func (d *Disk) Remove(at log.Replica) {
	if p := d.parts[placeOf(at)]; p != nil && p.at.TopicID == at.TopicID {
		d.doomed = append(d.doomed, p)
	}
}

// Settle deletes the folders of replicas that were removed. The host calls it when the metadata on disk says so too.
func (d *Disk) Settle() {
	doomed := d.doomed
	d.doomed = nil
	for _, p := range doomed {
		if d.parts[placeOf(p.at)] == p {
			d.erase(p)
		}
	}
}

// erase takes a folder out of sight at once and deletes it beside the loop (Kafka: the suffix -delete).
func (d *Disk) erase(p *partition) {
	p.await()
	delete(d.parts, placeOf(p.at))
	if err := d.broker(p.at.Broker).forget(p.at); err != nil {
		_ = d.failed(p, "forget where it began", err)
	}
	for _, s := range p.segments {
		d.files.drop(s.path)
	}
	if !p.made {
		return
	}
	d.removed++
	last := filepath.Join(d.Dir(p.at.Broker), fmt.Sprintf("%d.%d-delete", time.Now().UnixNano(), d.removed))
	if err := os.Rename(p.dir, last); err != nil {
		d.cfg.Logf("%s: its folder cannot be deleted: %v", p.name, cause(err))
		return
	}
	d.work.Go(func() {
		if err := os.RemoveAll(last); err != nil {
			d.cfg.Logf("%s: its folder cannot be deleted: %v", p.name, err)
		}
	})
}

// Close writes what is still to be written, whatever Flush says, and gives the folder back.
func (d *Disk) Close() error {
	d.Settle()
	d.drain()
	close(d.stop)
	err := d.Sync()
	d.work.Wait()
	d.files.close()
	return errors.Join(err, d.lock.Close())
}
