package app

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/log"
	"grouplab/server/loop"
	"grouplab/server/store"
)

const (
	// watermarksEveryMs is replica.high.watermark.checkpoint.interval.ms.
	watermarksEveryMs = 5000
	// saveAgainMs is how long a server waits after it could not write its metadata.
	saveAgainMs = 1000
)

// mostWaiting is how many bytes may wait for the disk before producers wait.
var mostWaiting = 64 << 20 // a test has less

// Kafka's code for a disk that fails.
const codeStorageError int16 = 56

// data keeps on disk what must outlive the process: the logs, which package store writes, and the metadata. Everything but
// open and close runs on the loop's goroutine.
type data struct {
	disk  *store.Disk
	logf  func(format string, args ...any)
	drive *drive.Drive
	loop  atomic.Pointer[loop.Loop]
	// beside is what runs beside the loop; saving is set while the high watermarks are written there.
	beside sync.WaitGroup
	saving atomic.Bool
	// moved runs at the beginning of a turn, when what the disk has done is known.
	moved func(nowMs int64)
	// settings are those that were changed while brokers ran.
	settings map[string]string
	// saved is the count of changes that is on disk; -1: none. failed is why the last attempt failed, and no other is made
	// before againMs, except where a client waits for it.
	saved   int64
	failed  string
	againMs int64
}

// ParseFlush reads the value of -flush.
func ParseFlush(text string) (store.Flush, error) { return store.ParseFlush(text) }

// openData takes the folder, so that an error says what is wrong with it before anything is served.
func openData(cfg Config) (*data, error) {
	d := &data{logf: cfg.Logf, saved: -1}
	flush := cfg.Flush
	if flush == "" {
		flush = store.Never
	}
	disk, err := store.Open(store.Config{Dir: cfg.Data, Flush: flush, Ready: d.save, Wake: d.wake, MostWaiting: mostWaiting, Logf: cfg.Logf})
	if err != nil {
		return nil, err
	}
	d.disk = disk
	return d, nil
}

// restore gives the machine what the folder holds. The coordinators are loaded when it returns.
func (d *data) restore(nowMs int64, machine *drive.Drive) error {
	d.drive = machine
	text, err := d.disk.LoadMetadata()
	if err != nil {
		return err
	}
	if text != nil {
		state, settings, err := readMetadata(text)
		if err == nil {
			d.settings = settings
			err = machine.Restore(nowMs, state)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.disk.MetadataPath(), err)
		}
	}
	return d.disk.Sweep()
}

// remember takes the settings that were changed while brokers ran.
func (b *backend) remember(nowMs int64, d *data) error {
	b.data, d.moved = d, b.appendHeld
	if len(d.settings) == 0 {
		return nil
	}
	next, err := b.live.with(d.settings)
	if err == nil {
		err = next.check(b.drive.Cluster().Brokers())
	}
	if err != nil {
		return fmt.Errorf("%s: the brokers' settings: %w", d.disk.MetadataPath(), err)
	}
	b.live.told = maps.Clone(d.settings)
	b.apply(nowMs, next)
	return nil
}

// start writes what has come of the restart and, from now on, the high watermarks now and then.
func (d *data) start(l *loop.Loop) error {
	d.loop.Store(l)
	if err := d.save(); err != nil {
		return err
	}
	clusterID := d.drive.Cluster().Config().ClusterID
	for id := int32(1); id <= d.drive.Cluster().Brokers(); id++ {
		if err := d.disk.WriteProperties(id, clusterID); err != nil {
			return fmt.Errorf("%s: %w", d.disk.Dir(id), err)
		}
	}
	var again func(nowMs int64)
	again = func(nowMs int64) {
		d.saveWatermarksBeside()
		d.keepUp(nowMs)
		l.At(nowMs+watermarksEveryMs, again)
	}
	l.At(l.NowMs()+watermarksEveryMs, again)
	return nil
}

func (d *data) watermarks() (write func() error) {
	return d.disk.SaveWatermarks(func(visit func(log.Replica, int64)) { d.drive.Cluster().EachReplica(visit) })
}

// saveWatermarksBeside writes the high watermarks beside the loop, unless it does so still.
func (d *data) saveWatermarksBeside() {
	if !d.saving.CompareAndSwap(false, true) {
		return
	}
	write, quiet := d.watermarks(), d.failed != ""
	d.beside.Go(func() {
		defer d.saving.Store(false)
		if err := write(); err != nil && !quiet {
			d.logf("-data: %v; after a crash they are found anew", err)
		}
	})
}

// keepUp writes the metadata if something has changed. A change of leaders or of an ISR that cannot be written does no harm:
// at a restart leaders are found by their logs.
func (d *data) keepUp(nowMs int64) {
	if d.failed != "" && nowMs < d.againMs {
		return
	}
	if d.save() != nil {
		d.againMs = nowMs + saveAgainMs
	}
}

// save writes the metadata if it has changed.
func (d *data) save() error {
	changes := d.drive.Changes()
	if changes == d.saved {
		return nil
	}
	if err := d.disk.SaveMetadata(writeMetadata(d.drive.State(), d.settings)); err != nil {
		if d.failed != err.Error() {
			d.failed = err.Error()
			d.logf("-data: the metadata cannot be written: %v; it is tried again", err)
		}
		return fmt.Errorf("the metadata cannot be written: %w", err)
	}
	if d.failed != "" {
		d.logf("-data: the metadata is written again")
	}
	d.saved, d.failed = changes, ""
	d.disk.Settle()
	return nil
}

// durable answers a change of topics when it is on disk: a change that cannot be written is KAFKA_STORAGE_ERROR.
func (b *backend) durable(code int16, message string) (int16, string) {
	if code != 0 || b.data == nil {
		return code, message
	}
	if err := b.data.save(); err != nil {
		return codeStorageError, err.Error()
	}
	return code, message
}

// close writes everything and gives the folder back. What could not be written is the error. l is nil where nothing ran.
func (d *data) close(l *loop.Loop) error {
	if d == nil || d.disk == nil {
		return nil
	}
	var err error
	if l != nil {
		d.beside.Wait()
		err = errors.Join(d.save(), d.watermarks()())
	}
	err = errors.Join(err, d.disk.Close())
	d.disk = nil
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	return nil
}

// kept gives the machine what the disk has done since the last turn, and flush hands it what this turn appended.
func (d *data) kept(nowMs int64) {
	d.disk.Moved(func(at log.Replica) { d.drive.Kept(nowMs, at) })
	d.moved(nowMs)
}

func (d *data) flush(int64) { d.disk.Start() }

// wake is the writer's, from its own goroutine. Before the loop runs there is nobody to wake: its first turn looks.
func (d *data) wake() {
	if l := d.loop.Load(); l != nil {
		l.Wake()
	}
}
