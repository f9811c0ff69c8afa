package store

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/log"
)

// Kafka's names of the small files.
const (
	partitionMetadata = "partition.metadata"
	leaderEpochs      = "leader-epoch-checkpoint"
	metaProperties    = "meta.properties"
	highWatermarks    = "replication-offset-checkpoint"
	logStarts         = "log-start-offset-checkpoint"
	cleanerOffsets    = "cleaner-offset-checkpoint"
)

// topicMetadata is partition.metadata: the topic's id, as Kafka writes UUIDs (KIP-516).
func topicMetadata(id [16]byte) []byte {
	return fmt.Appendf(nil, "version: 0\ntopic_id: %s", FormatID(id))
}

// FormatID writes a topic id as Kafka does: base64 for URLs, without padding.
func FormatID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseID reads one.
func ParseID(text string) (id [16]byte, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) != len(id) {
		return id, fmt.Errorf("%q is no topic id: 22 characters of base64", text)
	}
	copy(id[:], data)
	return id, nil
}

// readTopicID reads partition.metadata; ok is false where it is missing or says nothing.
func readTopicID(dir string) (id [16]byte, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, partitionMetadata))
	if err != nil {
		return id, false
	}
	for line := range strings.Lines(string(data)) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), "topic_id: "); found {
			id, err = ParseID(text)
			return id, err == nil
		}
	}
	return id, false
}

// epochLines is leader-epoch-checkpoint (Kafka: LeaderEpochCheckpointFile): a version, a count, and a line for each.
func epochLines(epochs []log.EpochStart) []byte {
	out := fmt.Appendf(nil, "0\n%d\n", len(epochs))
	for _, e := range epochs {
		out = fmt.Appendf(out, "%d %d\n", e.Epoch, e.Start)
	}
	return out
}

// readEpochs reads leader-epoch-checkpoint. What cannot be read is as good as missing: the batches say most of it.
func readEpochs(dir string) (list []log.EpochStart, err error) {
	rows, err := readCheckpoint(filepath.Join(dir, leaderEpochs), 2)
	for _, r := range rows {
		epoch, wrong := strconv.ParseInt(r[0], 10, 32)
		start, wrong2 := strconv.ParseInt(r[1], 10, 64)
		if wrong != nil || wrong2 != nil {
			return nil, fmt.Errorf("%s: %q is no epoch and offset", leaderEpochs, strings.Join(r, " "))
		}
		list = append(list, log.EpochStart{Epoch: int32(epoch), Start: start})
	}
	return list, err
}

// readCheckpoint reads a file of Kafka's CheckpointFile: rows of so many words.
func readCheckpoint(path string, words int) (rows [][]string, err error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	name, lines := filepath.Base(path), bufio.NewScanner(bytes.NewReader(data))
	head := [2]int{-1, -1}
	for i := range head {
		if lines.Scan() {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				head[i] = n
			}
		}
	}
	if head[0] != 0 || head[1] < 0 {
		return nil, fmt.Errorf("%s does not begin with version 0 and a count", name)
	}
	for lines.Scan() {
		row := strings.Fields(lines.Text())
		if len(row) != words {
			return nil, fmt.Errorf("%s: %q has not %d words", name, lines.Text(), words)
		}
		rows = append(rows, row)
	}
	if len(rows) != head[1] {
		return nil, fmt.Errorf("%s has %d lines where it says %d", name, len(rows), head[1])
	}
	return rows, nil
}

// broker is a broker's folder and the offsets that Kafka keeps there for all of its partitions.
type broker struct {
	d   *Disk
	id  int32
	dir string
	// made is set once the folder is there.
	made                        bool
	starts, cleaned, watermarks map[place]int64
	shownStarts, shownCleaned   []byte
	shownWatermarks             []byte // SaveWatermarks' alone
}

func (d *Disk) broker(id int32) *broker {
	b := d.brokers[id]
	if b == nil {
		b = &broker{d: d, id: id, dir: d.Dir(id)}
		b.starts, b.cleaned, b.watermarks = b.read(logStarts), b.read(cleanerOffsets), b.read(highWatermarks)
		d.brokers[id] = b
	}
	return b
}

// read reads one of the offset checkpoints. One that is damaged is told and taken for empty: what it holds is then learned
// from the logs and their leaders.
func (b *broker) read(name string) map[place]int64 {
	offsets := map[place]int64{}
	rows, err := readCheckpoint(filepath.Join(b.dir, name), 3)
	for _, r := range rows {
		partition, wrong := strconv.ParseInt(r[1], 10, 32)
		offset, wrong2 := strconv.ParseInt(r[2], 10, 64)
		if wrong != nil || wrong2 != nil || offset < 0 {
			err = fmt.Errorf("%s: %q is no topic, partition and offset", name, strings.Join(r, " "))
			break
		}
		offsets[place{b.id, r[0], int32(partition)}] = offset
	}
	if err != nil {
		b.d.cfg.Logf("%s: %v; it is made anew", b.dir, cause(err))
		return map[place]int64{}
	}
	return offsets
}

// offsetLines is one of the offset checkpoints (Kafka: OffsetCheckpointFile): a version, a count, and a line for each.
func offsetLines(offsets map[place]int64) []byte {
	keys := slices.SortedFunc(maps.Keys(offsets), func(x, y place) int {
		if order := strings.Compare(x.topic, y.topic); order != 0 {
			return order
		}
		return int(x.partition - y.partition)
	})
	out := fmt.Appendf(nil, "0\n%d\n", len(keys))
	for _, k := range keys {
		out = fmt.Appendf(out, "%s %d %d\n", k.topic, k.partition, offsets[k])
	}
	return out
}

// write writes one of the offset checkpoints, if it would say something new.
func (b *broker) write(name string, offsets map[place]int64, shown *[]byte) error {
	out := offsetLines(offsets)
	if bytes.Equal(out, *shown) {
		return nil
	}
	if err := b.make(); err != nil {
		return err
	}
	if err := b.d.replace(filepath.Join(b.dir, name), out); err != nil {
		return err
	}
	*shown = out
	return nil
}

func (b *broker) make() error {
	if b.made {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	b.made = true
	b.d.touched(nil, filepath.Dir(b.dir))
	return nil
}

// forget drops what is known of a replica: another one may get its name.
func (b *broker) forget(at log.Replica) error {
	k := placeOf(at)
	_, start := b.starts[k]
	_, cleaned := b.cleaned[k]
	delete(b.starts, k)
	delete(b.cleaned, k)
	delete(b.watermarks, k)
	var err error
	if start {
		err = b.write(logStarts, b.starts, &b.shownStarts)
	}
	if cleaned {
		err = errors.Join(err, b.write(cleanerOffsets, b.cleaned, &b.shownCleaned))
	}
	return err
}

// Note keeps a log's epochs with it and its start and cleaner offset with the broker's.
func (p *partition) Note(n log.Notes) error {
	if !slices.Equal(n.Epochs, p.notes.Epochs) {
		p.notes.Epochs = slices.Clone(n.Epochs)
		if p.made {
			if err := p.d.replace(filepath.Join(p.dir, leaderEpochs), epochLines(n.Epochs)); err != nil {
				return p.d.failed(p, leaderEpochs, err)
			}
		}
	}
	b, k := p.d.broker(p.at.Broker), placeOf(p.at)
	if p.noteStart(b, n.Start) {
		if err := b.write(logStarts, b.starts, &b.shownStarts); err != nil {
			return p.d.failed(p, logStarts, err)
		}
	}
	if n.Cleaned != p.notes.Cleaned {
		p.notes.Cleaned, b.cleaned[k] = n.Cleaned, n.Cleaned
		if err := b.write(cleanerOffsets, b.cleaned, &b.shownCleaned); err != nil {
			return p.d.failed(p, cleanerOffsets, err)
		}
	}
	return nil
}

// noteStart keeps the first offset of a log where its first segment does not say it, and tells whether the file must follow
// now: one that says less than is true does no harm, since the first segment counts too; one that says more hides records.
func (p *partition) noteStart(b *broker, start int64) (write bool) {
	k := placeOf(p.at)
	old, had := b.starts[k]
	if start == 0 || len(p.segments) > 0 && start <= p.segments[0].base {
		delete(b.starts, k)
		return had && start < old
	}
	b.starts[k] = start
	return !had || start != old
}

// SaveWatermarks keeps the high watermarks of replicas, those of each broker in a file (Kafka does so every five seconds,
// replica.high.watermark.checkpoint.interval.ms). Those of replicas without a folder are left out. What it returns writes the
// files and may run on any goroutine, one at a time.
func (d *Disk) SaveWatermarks(each func(visit func(at log.Replica, highWatermark int64))) (write func() error) {
	each(func(at log.Replica, highWatermark int64) {
		if p := d.parts[placeOf(at)]; p != nil && p.made {
			d.broker(at.Broker).watermarks[placeOf(at)] = highWatermark
		}
	})
	texts := map[*broker][]byte{}
	for _, b := range d.brokers {
		if len(b.watermarks) > 0 {
			texts[b] = offsetLines(b.watermarks)
		}
	}
	return func() error {
		for b, text := range texts {
			if bytes.Equal(text, b.shownWatermarks) {
				continue
			}
			if err := d.replace(filepath.Join(b.dir, highWatermarks), text); err != nil {
				return fmt.Errorf("%s: %s: %w", b.dir, highWatermarks, cause(err))
			}
			b.shownWatermarks = text
		}
		return nil
	}
}

// WriteProperties writes meta.properties, by which Kafka's tools know a broker's folder.
func (d *Disk) WriteProperties(broker int32, clusterID string) error {
	b := d.broker(broker)
	if err := b.make(); err != nil {
		return cause(err)
	}
	text := fmt.Sprintf("cluster.id=%s\nnode.id=%d\nversion=1\n", clusterID, broker)
	path := filepath.Join(b.dir, metaProperties)
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	return cause(d.replace(path, []byte(text)))
}
