package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	"grouplab/server/store"
)

// newTopic creates a topic of one partition with settings NAME, VALUE, …
func newTopic(t testing.TB, admin *kadm.Client, name string, settings ...string) {
	t.Helper()
	configs := map[string]*string{}
	for i := 0; i < len(settings); i += 2 {
		configs[settings[i]] = &settings[i+1]
	}
	answer, err := admin.CreateTopic(t.Context(), 1, 1, configs, name)
	if err == nil {
		err = answer.Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

// codecsOf fetches a topic whole and tells the codec of each batch, by Kafka's number.
func codecsOf(w *wire, topic string) (list []byte) {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MaxBytes, r.ReplicaID = 11, 50<<20, -1
	of, p := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	of.Topic, p.PartitionMaxBytes = topic, 50<<20
	of.Partitions = append(of.Partitions, p)
	r.Topics = append(r.Topics, of)
	batches := ask[*kmsg.FetchResponse](w, r).Topics[0].Partitions[0].RecordBatches
	for len(batches) > 61 {
		list = append(list, batches[22]&7)
		size := 12 + int(batches[8])<<24 + int(batches[9])<<16 + int(batches[10])<<8 + int(batches[11])
		batches = batches[size:]
	}
	return list
}

// TestCompressionType: whatever a producer sends, a topic with a compression.type of its own holds that; with "producer" what was
// sent. Every record is read back, by franz-go and by librdkafka.
func TestCompressionType(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	admin := kadm.NewClient(client(t, s))
	sent := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	numbers := map[string]byte{"none": 0, "uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
	text := strings.Repeat("the same again and again, ", 4000) // more than a block of snappy and of lz4
	for _, want := range []string{"uncompressed", "gzip", "snappy", "lz4", "zstd", "producer"} {
		settings := []string{"compression.type", want}
		if want == "gzip" || want == "zstd" || want == "lz4" {
			settings = append(settings, "compression."+want+".level", "9")
		}
		newTopic(t, admin, want, settings...)
		var codecs []byte
		for _, how := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			cl := client(t, s, kgo.ProducerBatchCompression(sent[how]), kgo.DefaultProduceTopic(want))
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			for i := range 2 { // with the idempotent producer's numbers
				if err := cl.ProduceSync(ctx, &kgo.Record{Key: []byte(how), Value: fmt.Appendf(nil, "%s %d", text, i)}).FirstErr(); err != nil {
					t.Fatalf("%s to %s: %v", how, want, err)
				}
				expect := numbers[want]
				if want == "producer" {
					expect = numbers[how]
				}
				codecs = append(codecs, expect)
			}
			stop()
		}
		if got := codecsOf(w, want); !slices.Equal(got, codecs) {
			t.Errorf("compression.type=%s holds batches of codecs %v, not %v", want, got, codecs)
		}
		expected := ""
		for _, how := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			for i := range 2 {
				expected += fmt.Sprintf("%s %s %d\n", how, text, i)
			}
		}
		if got := kcat(t, "", "-b", s.KafkaAddrs()[0], "-C", "-t", want, "-e", "-q", "-f", "%k %s\n"); got != expected {
			t.Errorf("librdkafka reads %d bytes of %s, not the %d that were produced", len(got), want, len(expected))
		}
		reader := client(t, s, kgo.ConsumeTopics(want), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		for n := 0; n < 10; {
			fetched := reader.PollFetches(ctx)
			if err := fetched.Err(); err != nil {
				t.Fatal(err)
			}
			fetched.EachRecord(func(r *kgo.Record) {
				n++
				if !strings.HasPrefix(string(r.Value), text) {
					t.Errorf("franz-go reads something else of %s", want)
				}
			})
		}
		stop()
	}
}

// TestFlushSettings: a topic's flush.messages and flush.ms are taken where -flush writes at least as often, and refused with the
// reason where they could not be kept.
func TestFlushSettings(t *testing.T) {
	for _, c := range []struct {
		data  bool
		flush store.Flush
		taken []string
	}{
		{false, "", []string{"flush.ms=9223372036854775807"}},
		{true, store.Never, []string{"flush.ms=9223372036854775807"}},
		{true, store.Interval, []string{"flush.ms=9223372036854775807", "flush.ms=1000"}},
		{true, store.Always, []string{"flush.ms=9223372036854775807", "flush.ms=1000", "flush.ms=10", "flush.messages=1"}},
	} {
		cfg := app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Flush: c.flush}
		if c.data {
			cfg.Data = t.TempDir()
		}
		w := dial(t, startServer(t, cfg).KafkaAddrs()[0])
		for _, pair := range []string{"flush.ms=9223372036854775807", "flush.ms=1000", "flush.ms=10", "flush.messages=1"} {
			setting, value, _ := strings.Cut(pair, "=")
			code, says := set(w, kmsg.ConfigResourceTypeTopic, "orders", setting, &value)
			if taken := slices.Contains(c.taken, pair); taken != (code == 0) || !taken && (code != kerr.InvalidConfig.Code || !strings.Contains(says, "cannot be kept")) {
				t.Errorf("-flush %q, %s: %s %q", c.flush, pair, name(code), says)
			}
			got := describeSettings(w, kmsg.ConfigResourceTypeTopic, "orders", setting).Configs[0]
			if code == 0 && (*got.Value != value || got.Source != kmsg.ConfigSourceDynamicTopicConfig) || code != 0 && *got.Value == value {
				t.Errorf("-flush %q, %s: it is %s from %d", c.flush, pair, *got.Value, got.Source)
			}
		}
	}
}

// TestTopicSettingsHaveEffect: what is kept of a topic follows its own settings. Beside each topic that has a setting stands one
// that has not: when the first has lost what it should, the other still has it.
func TestTopicSettingsHaveEffect(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 1, append([]string{"log.retention.check.interval.ms=100", "log.cleaner.backoff.ms=100"}, quick...)...)
	cl := client(t, s)
	admin := kadm.NewClient(cl)
	compact := []string{"cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0"}
	with := func(more ...string) []string { return append(slices.Clone(compact), more...) }
	for _, c := range []struct {
		setting      string
		loses, keeps []string // settings of the two topics
		lost         string   // the value that is gone from one and there in the other
		pause        time.Duration
	}{
		{"retention.ms", []string{"retention.ms", "500", "segment.bytes", "14"}, []string{"segment.bytes", "14"}, "a1", 0},
		{"retention.bytes", []string{"retention.bytes", "1", "segment.bytes", "14"}, []string{"segment.bytes", "14"}, "a1", 0},
		{"segment.bytes", []string{"retention.bytes", "1", "segment.bytes", "14"}, []string{"retention.bytes", "1"}, "a1", 0},
		{"cleanup.policy", with("segment.bytes", "14"), []string{"segment.bytes", "14"}, "a1", 0},
		{"min.compaction.lag.ms", with("segment.bytes", "14"), with("segment.bytes", "14", "min.compaction.lag.ms", "3600000"), "a1", 0},
		{"delete.retention.ms", with("segment.bytes", "14", "delete.retention.ms", "1"), with("segment.bytes", "14"), "tombstone", 0},
		{"segment.ms", with("segment.ms", "20"), with(), "a1", 30 * time.Millisecond},
	} {
		t.Run(c.setting, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			loses, keeps := c.setting+"-loses", c.setting+"-keeps"
			newTopic(t, admin, loses, c.loses...)
			newTopic(t, admin, keeps, c.keeps...)
			say := func(topic, key, value string) {
				r := &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(value)}
				if value == "tombstone" {
					r.Value = nil
				}
				if err := cl.ProduceSync(ctx, r).FirstErr(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.pause)
			}
			for _, topic := range []string{loses, keeps} {
				say(topic, "a", "a1")
				say(topic, "a", "a2")
				say(topic, "b", "tombstone")
				say(topic, "c", "c1")
			}
			for {
				if !slices.Contains(values(t, s, loses), c.lost) {
					break
				}
				if ctx.Err() != nil {
					t.Fatalf("%s does nothing", c.setting)
				}
				say(loses, "z", "z") // time goes on where records come
				say(keeps, "z", "z")
			}
			if got := values(t, s, keeps); !slices.Contains(got, c.lost) {
				t.Errorf("without %s %s is gone, too: %v", c.setting, c.lost, got)
			}
		})
	}
}

// values reads what a topic holds now.
func values(t testing.TB, s *app.Server, topic string) (list []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	cl := client(t, s, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond))
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	starts, err := kadm.NewClient(cl).ListStartOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, 0)
	start, _ := starts.Lookup(topic, 0)
	for next := start.Offset; next < end.Offset; {
		fetched := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%s is not read to its end: %d of %d", topic, next, end.Offset)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			next = r.Offset + 1
			if r.Value == nil {
				list = append(list, "tombstone")
			} else {
				list = append(list, string(r.Value))
			}
		})
	}
	return list
}
