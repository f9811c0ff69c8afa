package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"grouplab/coordinator/brokerlog"
	"grouplab/server/observe/timeline"
)

const (
	// logEvery is how often a log is looked at; logChunk is how much is read of it at once, logLine the longest line.
	logEvery = 250 * time.Millisecond
	logChunk = 64 << 10
	logLine  = 1 << 20
)

// followLog reads what is added to a broker's log, from its end on, as tail -F does: a file that was replaced or cut is read
// from its beginning.
func (o *Observer) followLog(ctx context.Context, path string) {
	source := "log " + path
	_, zone := time.Now().Zone() // log4j writes local time, and a log that is followed is mostly of this place
	parser := brokerlog.New(brokerlog.Config{ZoneMs: int64(zone) * 1000, NowMs: o.NowMs()})
	var file *os.File
	var rest []byte
	first := true
	defer func() {
		if file != nil {
			file.Close()
		}
	}()
	for ; ctx.Err() == nil; _ = pause(ctx, logEvery) {
		next, fresh, err := reopen(file, path)
		if err != nil {
			o.lose(ctx, timeline.SourceFailed{Source: source, Reason: cause(err).Error(), Hides: "the reasons that only the broker's log names"})
			first = false // whatever is there later is new
			continue
		}
		if file = next; fresh {
			rest = nil
			if first {
				_, err = file.Seek(0, io.SeekEnd)
			}
		}
		first = false
		if err == nil {
			rest, err = o.readLog(ctx, parser, file, rest)
		}
		if err != nil {
			o.lose(ctx, timeline.SourceFailed{Source: source, Reason: cause(err).Error(), Hides: "the reasons that only the broker's log names"})
			continue
		}
		o.back(ctx, source, 0)
	}
}

// reopen returns the file that is at path now: the open one, or a new one where it was replaced or has become shorter.
func reopen(file *os.File, path string) (now *os.File, fresh bool, err error) {
	there, err := os.Stat(path)
	if err != nil {
		return file, false, err
	}
	if file != nil {
		open, err := file.Stat()
		at, bad := file.Seek(0, io.SeekCurrent)
		if err == nil && bad == nil && os.SameFile(open, there) && there.Size() >= at {
			return file, false, nil
		}
		file.Close()
	}
	if there.IsDir() {
		return nil, false, fmt.Errorf("it is a folder; name the file")
	}
	now, err = os.Open(path)
	return now, true, err
}

// readLog reads to the end of the file and returns the beginning of a line that has no end yet.
func (o *Observer) readLog(ctx context.Context, parser *brokerlog.Parser, file *os.File, rest []byte) ([]byte, error) {
	chunk := make([]byte, logChunk)
	for ctx.Err() == nil {
		n, err := file.Read(chunk)
		rest = append(rest, chunk[:n]...)
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			line := string(bytes.TrimSuffix(rest[:end], []byte{'\r'}))
			rest = rest[end+1:]
			if facts := parser.Line(o.NowMs(), line); len(facts) > 0 {
				o.saw(ctx, timeline.BrokerLog{Broker: parser.Broker(), Events: slices.Clone(facts)})
			}
		}
		if len(rest) > logLine {
			rest = nil
		}
		if err == io.EOF {
			return bytes.Clone(rest), nil
		}
		if err != nil {
			return nil, err
		}
	}
	return rest, nil
}
