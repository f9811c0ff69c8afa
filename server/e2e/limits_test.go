package e2e

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

// TestTooManyConnectionsOfOneAddress: max.connections.per.ip refuses the next one of an address and says so; other addresses are
// served.
func TestTooManyConnectionsOfOneAddress(t *testing.T) {
	var log lines
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Set: []string{"max.connections.per.ip=3"}, Logf: log.logf})
	at := s.KafkaAddrs()[0]
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	var mine []*wire
	for range 3 {
		w := dial(t, at)
		ask[*kmsg.MetadataResponse](w, metadata)
		mine = append(mine, w)
	}
	for range 50 {
		dial(t, at).closed()
	}
	eventually(t, 20*time.Second, func() error {
		if !log.has("this address has 3 connections already (max.connections.per.ip)") {
			return fmt.Errorf("nobody says why:\n%s", log.all())
		}
		return nil
	})
	if runtime.GOOS == "linux" { // elsewhere a machine has one loopback address
		nc, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		ask[*kmsg.MetadataResponse](&wire{bare.Over(nc, "other"), t}, metadata)
	}
	for _, w := range mine {
		ask[*kmsg.MetadataResponse](w, metadata)
	}
	mine[0].Close()
	eventually(t, 20*time.Second, func() error { // its place is free
		return tried(at, metadata)
	})
}

// TestRequestMemory: clients that send half a large request and no more hold the memory for requests (queued.max.request.bytes)
// only until somebody else needs it; then they lose their connections, and memory stays bounded.
func TestRequestMemory(t *testing.T) {
	var log lines
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Logf: log.logf,
		Set: []string{"queued.max.request.bytes=4000000", "message.max.bytes=2000000"}})
	at := s.KafkaAddrs()[0]
	small := dial(t, at)
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	ask[*kmsg.MetadataResponse](small, metadata)
	before := heap()
	const attackers, sent = 30, 400 << 10
	half := append(binary.BigEndian.AppendUint32(nil, 50<<20), headerOf(0, 3)...)
	half = append(half, make([]byte, sent)...)
	for range attackers {
		w := dial(t, at)
		go w.Write(half) // the kernel takes what the server does not read
	}
	cl := client(t, s, kgo.ProducerBatchMaxBytes(1_900_000), kgo.ProducerBatchCompression(kgo.NoCompression()))
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	for i := range 5 {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: make([]byte, 1_500_000)}).FirstErr(); err != nil {
			t.Fatalf("an honest request of 1.5 MB, number %d: %v\n%s", i, err, log.all())
		}
		ask[*kmsg.MetadataResponse](small, metadata)
	}
	if grown := heap() - before; grown > 48<<20 {
		t.Errorf("%d attackers hold %d MB where 4 are allowed", attackers, grown>>20)
	}
	eventually(t, time.Minute, func() error {
		if !log.has("its request came too slowly while memory for requests is short (queued.max.request.bytes)") {
			return fmt.Errorf("nobody says why:\n%s", log.all())
		}
		return nil
	})
}

// TestRequestLargerThanAll: a request that is allowed by itself is served, also where the memory for all is smaller.
func TestRequestLargerThanAll(t *testing.T) {
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}},
		Set: []string{"queued.max.request.bytes=100000", "message.max.bytes=2000000"}})
	cl := client(t, s, kgo.ProducerBatchMaxBytes(1_900_000), kgo.ProducerBatchCompression(kgo.NoCompression()))
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	for range 3 {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: make([]byte, 1_500_000)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}
