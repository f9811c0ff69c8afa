package app

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
)

// TestAFloodIsHushed: in a flood that nobody follows the events of single batches are not made; when it is over,
// and though nothing else happens then, batches are told again. Facts of a group end it at once.
func TestAFloodIsHushedAndTheNextBatchTold(t *testing.T) {
	cfg := config()
	cfg.floodRate, cfg.Topics = 40, []Topic{{Name: "orders", Partitions: 1}}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	defer func() { s.Close(); <-ended }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaAddrs()...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	sent := int64(0)
	send := func() {
		if err := client.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	hushed := func() (is bool) {
		if err := s.loop.Do(ctx, func(int64, *drive.Drive) { is = s.hushed }); err != nil {
			t.Fatal(err)
		}
		return is
	}
	flood := func() {
		for !hushed() {
			send()
		}
	}
	until := func(what string, is bool) {
		for hushed() != is {
			if time.Sleep(20 * time.Millisecond); ctx.Err() != nil {
				t.Fatal(what)
			}
		}
	}
	flood()
	send()
	until("the flood has no end", false)
	send() // the hole ends behind it: who follows everything has it in facts
	send()
	_, last := s.hub.Window()
	told := false
	for end := time.Now().Add(20 * time.Second); !told && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, e := range s.hub.Since(nil, 1, 1<<20) {
			b, appended := e.Body.(event.RecordsAppended)
			told = told || appended && b.Topic == "orders" && b.BaseOffset == sent-1
		}
		_, last = s.hub.Window()
	}
	if !told {
		t.Errorf("the batch at %d is not told of; the last event is %d", sent-1, last)
	}
	flood()
	if _, err := s.groupFacts(ctx, "g"); err != nil {
		t.Fatal(err)
	}
	if left := s.hub.Stats(); left.LeftOut == 0 {
		t.Error("nothing was left out")
	}
}
