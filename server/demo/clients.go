package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (d *Demo) options(p *process, more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(d.cfg.Seeds...),
		kgo.ClientID(p.name),
		kgo.Dialer(p.dial),
		kgo.WithContext(p.ctx),
		// A killed broker should be got over quickly: this is for looking at, not for saving packets.
		kgo.MetadataMaxAge(30 * time.Second),
		kgo.MetadataMinAge(250 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 250 * time.Millisecond }),
	}, append(more, d.cfg.Client...)...)
}

// consume is the life of a consumer: it reads, and commits what it read every two seconds.
func consume(ctx context.Context, d *Demo, p *process) error {
	if err := ensureTopic(ctx, d, p); err != nil {
		return err
	}
	cl, err := kgo.NewClient(d.options(p,
		kgo.ConsumerGroup(Group),
		kgo.ConsumeTopics(Topic),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.SessionTimeout(d.cfg.SessionTimeout),
		kgo.RebalanceTimeout(30*time.Second),
		kgo.HeartbeatInterval(min(2*time.Second, d.cfg.SessionTimeout/4)),
		kgo.AutoCommitInterval(2*time.Second),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(time.Second),
	)...)
	if err != nil {
		return err
	}
	defer cl.Close() // leaves the group, if the sockets still let it
	polling, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-p.quit:
			stop()
		case <-polling.Done():
		}
	}()
	for polling.Err() == nil {
		cl.PollFetches(polling)
	}
	return nil
}

// produce is the life of the producer: a few records a second, to each partition in turn. It ends with the demo.
func produce(ctx context.Context, d *Demo, p *process) error {
	if err := ensureTopic(ctx, d, p); err != nil {
		return err
	}
	cl, err := kgo.NewClient(d.options(p,
		kgo.DefaultProduceTopic(Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(1000),
	)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	tick := time.NewTicker(time.Second / time.Duration(d.cfg.RecordsPerSecond))
	defer tick.Stop()
	for n := int64(0); ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			cl.TryProduce(ctx, &kgo.Record{Partition: int32(n % Partitions), Key: fmt.Appendf(nil, "k%d", n%Partitions), Value: fmt.Appendf(nil, "order %d", n)}, nil)
		}
	}
}

// ensureTopic creates the demo's topic, again and again until it is there: a broker may be down just now.
func ensureTopic(ctx context.Context, d *Demo, p *process) error {
	cl, err := kgo.NewClient(d.options(p)...)
	if err != nil {
		return err
	}
	defer cl.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 5000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = Topic, Partitions, -1
	request.Topics = append(request.Topics, topic)
	for {
		answer, err := request.RequestWith(ctx, cl)
		if err == nil && len(answer.Topics) == 1 {
			err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
		}
		if err == nil || err == kerr.TopicAlreadyExists {
			return nil
		}
		d.cfg.Logf("demo: %s: creating topic %s: %v", p.name, Topic, err)
		select {
		case <-ctx.Done():
			return nil
		case <-p.quit:
			return nil
		case <-time.After(time.Second):
		}
	}
}
