package app

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/server/web"
)

// progressEvery is how often a start, or a load, that lasts says how far it is.
var progressEvery = 2 * time.Second // a test says it more often

// progress is how far the start is. The page asks for it from other goroutines than the one that starts.
type progress struct {
	log *slog.Logger

	mu    sync.Mutex
	phase string
	done  int64
	total int64
	unit  string
	began time.Time
	told  time.Time
}

func newProgress(log *slog.Logger) *progress {
	return &progress{log: log, phase: "starting", began: time.Now()}
}

// enter begins a phase of so many units, 0 where nobody knows.
func (p *progress) enter(phase string, total int64, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.done, p.total, p.unit, p.told = phase, 0, total, unit, time.Now()
}

// add notes what was done, and says so now and then.
func (p *progress) add(n int64) {
	p.mu.Lock()
	p.done += n
	now := p.now()
	tell := time.Since(p.told) >= progressEvery
	if tell {
		p.told = time.Now()
	}
	p.mu.Unlock()
	if tell {
		p.log.Info(now.String(), "phase", now.Phase, "done", now.Done, "total", now.Total, "unit", now.Unit)
	}
}

func (p *progress) now() web.Progress {
	return web.Progress{Phase: p.phase, Done: p.done, Total: p.total, Unit: p.unit, SinceMs: time.Since(p.began).Milliseconds()}
}

// Now is how far it is.
func (p *progress) Now() web.Progress {
	if p == nil {
		return web.Progress{Phase: "starting"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

// countedDisk tells of each log that is opened how much of all logs was read.
type countedDisk struct {
	cluster.Disk
	dir      func(broker int32) string
	progress *progress
	logs     int
	bytes    int64
	// ends is how far the logs of coordinators reach: what is to be loaded.
	ends map[string]int64
}

func (d *countedDisk) Open(at log.Replica, cfg log.Config) (*log.Log, int64, error) {
	name := fmt.Sprintf("%s-%d", at.Topic, at.Partition)
	size := logBytes(filepath.Join(d.dir(at.Broker), name))
	l, hw, err := d.Disk.Open(at, cfg)
	if err == nil && (at.Topic == cluster.OffsetsTopic || at.Topic == cluster.TransactionTopic) {
		d.ends[name] = max(d.ends[name], l.EndOffset())
	}
	d.logs, d.bytes = d.logs+1, d.bytes+size
	d.progress.add(size)
	return l, hw, err
}

// countDisk is the disk for the start, which says how far the reading of the logs is.
func (s *Server) countDisk(starting *progress) *countedDisk {
	starting.enter("reading the logs", logBytes(filepath.Join(s.cfg.Data, "brokers")), "bytes")
	return &countedDisk{Disk: s.data.disk, dir: s.data.disk.Dir, progress: starting, ends: map[string]int64{}}
}

// tellRestored says what was found.
func (s *Server) tellRestored(d *countedDisk, starting *progress) {
	if d.logs > 0 {
		took := time.Since(starting.began).Round(time.Millisecond)
		s.cfg.Log.Info(fmt.Sprintf("-data %s: %d logs of %d bytes were read and the groups loaded, in %v", s.cfg.Data, d.logs, d.bytes, took), "logs", d.logs, "bytes", d.bytes, "tookMs", took.Milliseconds())
	}
}

// logBytes is how large the segments below a folder are. What cannot be looked at counts for nothing: it is a figure to show.
func logBytes(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".log") {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// loads tells of coordinators that load their partitions: at the start for the page too, later for the log alone.
type loads struct {
	log      *slog.Logger
	progress *progress // nil when the start is over
	begun    bool
	disk     *countedDisk
	last     time.Time
	at       struct {
		broker, partition int32
		topic             string
		offset            int64
		began             time.Time
	}
	web   *web.Server
	early []earlyLoad
}

func (l *loads) total() (records int64) {
	for _, end := range l.disk.ends {
		records += end
	}
	return records
}

func (l *loads) loading(broker int32, topic string, partition int32, next, end int64) {
	if next == 0 {
		l.at.broker, l.at.topic, l.at.partition, l.at.offset, l.at.began = broker, topic, partition, 0, time.Now()
		return
	}
	if l.at.broker != broker || l.at.topic != topic || l.at.partition != partition { // two at once take turns
		l.at.broker, l.at.topic, l.at.partition, l.at.offset = broker, topic, partition, next
		l.at.began = time.Time{}
	}
	if l.progress != nil {
		if !l.begun {
			l.begun = true
			l.progress.enter("loading groups and offsets", l.total(), "records")
		}
		l.progress.add(next - l.at.offset)
	} else if now := time.Now(); next < end && now.Sub(l.last) >= progressEvery {
		l.last = now
		l.log.Info(fmt.Sprintf("broker %d loads %s-%d: it is at offset %d of %d", broker, topic, partition, next, end), "broker", broker)
	}
	l.at.offset = next
	if next >= end && topic == cluster.OffsetsTopic && !l.at.began.IsZero() {
		l.loaded(broker, time.Since(l.at.began))
	}
}

// loaded tells /metrics how long a load took, as soon as there is one.
func (l *loads) loaded(broker int32, took time.Duration) {
	if l.web != nil {
		l.web.Loaded(broker, took)
		return
	}
	if l.early = append(l.early, earlyLoad{broker, took}); len(l.early) > maxEarlyLoads {
		l.early = l.early[1:]
	}
}

// show takes the page's server, and gives it the loads of the start.
func (l *loads) show(to *web.Server) {
	l.web = to
	for _, e := range l.early {
		to.Loaded(e.broker, e.took)
	}
	l.early = nil
}

type earlyLoad struct {
	broker int32
	took   time.Duration
}

const maxEarlyLoads = 1000
