package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// Flush says when records reach the disk itself, and not only the operating system.
type Flush string

// The policies. With each of them nothing that was acknowledged is lost when the process dies.
const (
	// Never leaves it to the operating system, as Kafka does by default: what it had not written yet is lost with the
	// machine's power.
	Never Flush = "never"
	// Interval writes once a second (log.flush.interval.ms=1000): about the last second is lost with the power.
	Interval Flush = "interval"
	// Always writes before anything is acknowledged (log.flush.interval.messages=1); one write serves all requests that
	// came together.
	Always Flush = "always"
)

const flushEvery = time.Second

// parallelSyncs bounds how many files are written at once.
const parallelSyncs = 16

// ParseFlush reads a policy.
func ParseFlush(text string) (Flush, error) {
	switch f := Flush(text); f {
	case Never, Interval, Always:
		return f, nil
	}
	return "", fmt.Errorf("it is never, interval or always, not %q", text)
}

// touched notes what has changed: a segment, or a folder's names, or both.
func (d *Disk) touched(s *segment, folder string) {
	d.mu.Lock()
	if s != nil && !s.dirty {
		s.dirty = true
		d.dirty = append(d.dirty, s)
	}
	if folder != "" {
		d.folders[folder] = struct{}{}
	}
	d.mu.Unlock()
}

// Sync writes everything that has changed since to the disk itself. After an error nobody can know what is on the disk:
// then nothing more is taken until the next start, which reads what is there.
func (d *Disk) Sync() error {
	d.mu.Lock()
	var paths []string
	for _, s := range d.dirty {
		s.dirty = false
		paths = append(paths, s.path)
	}
	d.dirty = d.dirty[:0]
	for folder := range d.folders {
		paths = append(paths, folder)
	}
	clear(d.folders)
	broken := d.broken
	d.mu.Unlock()
	if broken != nil || len(paths) == 0 {
		return broken
	}
	if err := d.syncAll(paths); err != nil {
		d.mu.Lock()
		d.broken = fmt.Errorf("writing to the disk failed (%w); the server must be started again", err)
		d.mu.Unlock()
		d.cfg.Logf("%s: %v: nobody knows what is on the disk now; all appends are refused (KAFKA_STORAGE_ERROR) until the server is started again", d.cfg.Dir, err)
		return d.broken
	}
	return nil
}

func (d *Disk) syncAll(paths []string) error {
	if len(paths) == 1 {
		return d.syncPath(paths[0])
	}
	next, failed := make(chan string), make(chan error, len(paths))
	var workers sync.WaitGroup
	for range min(parallelSyncs, len(paths)) {
		workers.Go(func() {
			for path := range next {
				failed <- d.syncPath(path)
			}
		})
	}
	for _, path := range paths {
		next <- path
	}
	close(next)
	workers.Wait()
	close(failed)
	var all error
	for err := range failed {
		all = errors.Join(all, err)
	}
	return all
}

// syncPath writes one file or folder. One that is gone needs no writing.
func (d *Disk) syncPath(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err = d.io.sync(f); errors.Is(err, syscall.EINVAL) { // a file system that does not do this with folders
		return nil
	}
	return err
}

func (d *Disk) flushNowAndThen() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = d.Sync() // it has said so
		case <-d.stop:
			return
		}
	}
}

// usable is nil while records can be taken.
func (d *Disk) usable() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

// trouble is what was last said of a disk that fails.
type trouble struct {
	cause string
	said  time.Time
	last  time.Time // when it failed last
	count int
	ended int // how often it was over, with less than troubleEvery between
}

const (
	troubleEvery = 30 * time.Second
	// A nearly full disk takes what is small and refuses what is large, in turn: after endsTold ends of a trouble the next one is
	// one that has lasted for troubleRests, or two lines were written for each record.
	endsTold     = 3
	troubleRests = 10 * time.Second
)

// failed says what could not be done, the first time and then seldom, and returns what clients are told.
func (d *Disk) failed(p *partition, what string, err error) error {
	err = cause(err)
	d.mu.Lock()
	t := &d.trouble
	if t.count++; time.Since(t.last) > troubleEvery {
		t.ended = 0
	}
	t.last = time.Now()
	say := d.broken == nil && (t.cause != err.Error() || time.Since(t.said) > troubleEvery)
	if say {
		t.cause, t.said = err.Error(), time.Now()
	}
	d.mu.Unlock()
	if say {
		d.cfg.Logf("%s: %s: %s: %v; what needs the disk is answered KAFKA_STORAGE_ERROR until it works again", d.cfg.Dir, p.name, what, err)
	}
	return fmt.Errorf("the disk: %w", err)
}

// works says that a disk that failed takes records again.
func (d *Disk) works() {
	d.mu.Lock()
	t := d.trouble
	over := t.cause != "" && (t.ended < endsTold || time.Since(t.last) > troubleRests)
	if over {
		d.trouble = trouble{last: t.last, ended: t.ended + 1}
	}
	d.mu.Unlock()
	if !over {
		return
	}
	d.cfg.Logf("%s: the disk works again, after %d failures", d.cfg.Dir, t.count)
}
