package app

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/log"
	"grouplab/server/e2e/wire"
	"grouplab/server/store"
)

// TestProducersAheadOfTheDisk: producers that do not wait for answers send more than may wait for a disk that is told of every
// append. They are held back, all of it is kept, in order, and meanwhile others are answered.
func TestProducersAheadOfTheDisk(t *testing.T) {
	before := mostWaiting
	mostWaiting = 200_000
	defer func() { mostWaiting = before }()
	s, err := New(Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []Topic{{"orders", 2}}, Data: t.TempDir(), Flush: store.Always})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	defer func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	dial := func() *wire.Conn {
		w, err := wire.Dial(s.KafkaAddrs()[0], "ahead")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	const each = 60
	records := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: s.loop.NowMs(), Value: []byte(strings.Repeat("x", 100_000))}})
	var producers sync.WaitGroup
	for partition := range int32(2) {
		w := dial()
		producers.Go(func() {
			r := kmsg.NewPtrProduceRequest()
			r.Version, r.TimeoutMillis = 8, 60_000
			part := kmsg.NewProduceRequestTopicPartition()
			part.Partition, part.Records = partition, records
			r.Topics = []kmsg.ProduceRequestTopic{{Topic: "orders", Partitions: []kmsg.ProduceRequestTopicPartition{part}}}
			for range each - 1 {
				if _, err := w.Send(r); err != nil {
					t.Error(err)
				}
			}
			r.Acks = -1
			answer, err := w.Ask(r, wire.Patience)
			if err != nil {
				t.Error(err)
			} else if got := answer.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; got.ErrorCode != 0 || got.BaseOffset != each-1 {
				t.Errorf("partition %d: code %d, offset %d", partition, got.ErrorCode, got.BaseOffset)
			}
		})
	}
	other := dial()
	for range 20 {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = 1
		if got, err := other.Ask(m, wire.Patience); err != nil || len(got.(*kmsg.MetadataResponse).Brokers) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	producers.Wait()
}
