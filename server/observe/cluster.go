package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/record"
	"grouplab/server/observe/timeline"
)

const (
	offsetsTopic = "__consumer_offsets"
	modeLog      = "log"
	modePoll     = "poll"
	// metadataEvery is how often the cluster is looked at while nothing calls for it; topicsEvery how often each topic that
	// groups read is asked for, topicsAtOnce how many in one request.
	metadataEvery = 5 * time.Second
	topicsEvery   = 30 * time.Second
	topicsAtOnce  = 200
	// againEvery is how often something forbidden is tried again.
	againEvery = time.Minute
)

// cluster is what is known of the cluster itself.
type cluster struct {
	mu      sync.Mutex
	id      string
	mode    string
	brokers map[int32]timeline.Broker
	topicID record.TopicID
	count   int32            // partitions of __consumer_offsets
	topics  map[string]topic // those that groups read
	probed  time.Time

	wake    chan struct{}
	workers map[int32]*worker
}

// topic is a user's topic: who leads its partitions, and when that was asked.
type topic struct {
	asked   time.Time
	leaders map[int32]int32
}

// worker is what runs for one broker.
type worker struct {
	stop context.CancelFunc
	ends sync.WaitGroup
}

func (c *cluster) init() {
	c.wake = make(chan struct{}, 1)
	c.brokers, c.topics, c.workers = map[int32]timeline.Broker{}, map[string]topic{}, map[int32]*worker{}
}

// look asks for a look at the cluster soon.
func (c *cluster) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// modeNow is "log" or "poll", "" before the cluster was reached.
func (c *cluster) modeNow() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// ids are the brokers, ascending.
func (c *cluster) ids() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.brokers))
}

// stale has a user's topic asked for again, soon.
func (c *cluster) stale(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, known := c.topics[name]; known && time.Since(t.asked) > time.Second {
		t.asked = time.Time{}
		c.topics[name] = t
		c.look()
	}
}

// leaders are who leads the partitions of a user's topic, as far as it is known.
func (c *cluster) leaders(name string) map[int32]int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.topics[name].leaders)
}

const theCluster = "the cluster"

// follow keeps up with the cluster's metadata and runs a worker for each broker.
func (o *Observer) follow(ctx context.Context) {
	defer o.stopWorkers()
	for wait := time.Second; ; {
		meta, err := o.metadata(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.lose(ctx, timeline.SourceFailed{Source: theCluster, Code: codeOf(err), Reason: o.words(err), Hides: "everything"})
			if pause(ctx, wait) != nil {
				return
			}
			wait = min(2*wait, metadataEvery)
			continue
		}
		wait = time.Second
		o.back(ctx, theCluster, 0)
		o.follows(ctx, meta)
		if o.rest(ctx) != nil {
			return
		}
	}
}

// rest waits until the cluster is to be looked at again.
func (o *Observer) rest(ctx context.Context) error {
	if err := pause(ctx, metadataPace); err != nil {
		return err
	}
	timer := time.NewTimer(metadataEvery - metadataPace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.cluster.wake:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// metadata asks for the brokers, __consumer_offsets and some of the topics that groups read.
func (o *Observer) metadata(ctx context.Context) (*kmsg.MetadataResponse, error) {
	r := kmsg.NewPtrMetadataRequest()
	r.AllowAutoTopicCreation = false
	add := func(name *string, id record.TopicID) {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic, t.TopicID = name, id
		r.Topics = append(r.Topics, t)
	}
	add(kmsg.StringPtr(offsetsTopic), record.TopicID{})
	names, ids, err := o.wanted(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		add(&name, record.TopicID{})
	}
	answer, err := o.request(ctx, r)
	if err != nil || len(ids) == 0 {
		return answer, err
	}
	// A request asks by names or by ids, not by both (KIP-516).
	r = kmsg.NewPtrMetadataRequest()
	for _, id := range ids {
		add(nil, id)
	}
	if more, err := o.request(ctx, r); err == nil {
		answer.Topics = append(answer.Topics, more.Topics...)
	}
	return answer, nil
}

// request sends a Metadata request to any broker; the client learns the brokers' addresses from it, too.
func (o *Observer) request(ctx context.Context, r *kmsg.MetadataRequest) (*kmsg.MetadataResponse, error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := r.RequestWith(limited, o.client)
	if err == nil && len(answer.Brokers) == 0 {
		err = errors.New("its answer names no broker")
	}
	return answer, err
}

// wanted are the topics that are to be asked for now: by name those that groups read, the new ones first, and by id.
func (o *Observer) wanted(ctx context.Context) (names []string, ids []record.TopicID, err error) {
	if o.cluster.modeNow() == "" {
		return nil, nil, nil
	}
	var all []string
	err = o.do(ctx, func(t *timeline.Timeline) { all, ids = t.Topics(""), t.UnknownTopics() })
	now := time.Now()
	c := &o.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	read := map[string]bool{offsetsTopic: true}
	for _, name := range all {
		if read[name] = true; name != offsetsTopic && now.Sub(c.topics[name].asked) >= topicsEvery {
			names = append(names, name)
		}
	}
	maps.DeleteFunc(c.topics, func(name string, _ topic) bool { return !read[name] })
	slices.SortStableFunc(names, func(a, b string) int { return c.topics[a].asked.Compare(c.topics[b].asked) })
	return names[:min(len(names), topicsAtOnce)], ids[:min(len(ids), topicsAtOnce)], err
}

// follows takes an answer to Metadata.
func (o *Observer) follows(ctx context.Context, meta *kmsg.MetadataResponse) {
	c := &o.cluster
	seen, offsets := o.translate(meta)
	id := ""
	if meta.ClusterID != nil {
		id = *meta.ClusterID
	}
	mode := o.modeOf(ctx, offsets)
	switch {
	case ctx.Err() != nil:
		return
	case c.modeNow() == "" || c.id != id || c.modeNow() != mode:
		o.stopWorkers()
		if c.mode != "" && c.id != id {
			o.cfg.Log.Warn(fmt.Sprintf("the cluster's id was %s and is %s now: this is another cluster, everything is read anew", c.id, id))
			o.sight.forget()
		}
		c.mu.Lock()
		c.id, c.mode = id, mode
		c.mu.Unlock()
		o.keep(offsets, meta)
		o.attach(ctx, offsets)
		o.saw(ctx, seen)
	case offsets != nil && offsets.ID != c.topicID:
		o.stopWorkers()
		o.cfg.Log.Warn(offsetsTopic + " was deleted and made anew: everything is read anew")
		o.reader.reset()
		o.keep(offsets, meta)
		o.saw(ctx, seen)
		o.saw(ctx, timeline.Recreated{Partitions: int32(len(offsets.Partitions))})
		o.lose(ctx, timeline.SourceFailed{Source: offsetsTopic + ", made anew", Reason: "it was deleted and made anew",
			Hides: "all groups and commits of before, and what became of them"})
	default:
		o.keep(offsets, meta)
		o.saw(ctx, seen)
	}
	o.reader.lead(offsets)
	if offsets != nil && c.mode == modeLog {
		for _, p := range offsets.Partitions {
			if p.Leader < 0 {
				o.lose(ctx, timeline.SourceFailed{Source: partitionName(p.Number), Code: codeNoLeader, Reason: "it has no leader: " + nameOf(codeNoLeader),
					Hides: "its groups; nobody coordinates them"})
			}
		}
	}
	o.startWorkers(ctx)
}

// translate is an answer to Metadata in the timeline's words; offsets is __consumer_offsets, nil where it is not seen.
func (o *Observer) translate(meta *kmsg.MetadataResponse) (seen timeline.Metadata, offsets *timeline.Topic) {
	for _, b := range meta.Brokers {
		seen.Brokers = append(seen.Brokers, timeline.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port})
	}
	for _, t := range meta.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		switch {
		case t.ErrorCode == codeUnknownTopic && name != "" && name != offsetsTopic:
			seen.Gone = append(seen.Gone, name)
		case t.ErrorCode != 0 || name == "":
		default:
			topic := timeline.Topic{Name: name, ID: t.TopicID, Internal: t.IsInternal}
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, timeline.Partition{Number: p.Partition, Leader: p.Leader, Epoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR})
			}
			seen.Topics = append(seen.Topics, topic)
		}
	}
	for i := range seen.Topics {
		if seen.Topics[i].Name == offsetsTopic {
			offsets = &seen.Topics[i]
		}
	}
	return seen, offsets
}

// keep remembers what an answer to Metadata said.
func (o *Observer) keep(offsets *timeline.Topic, meta *kmsg.MetadataResponse) {
	c := &o.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.brokers)
	for _, b := range meta.Brokers {
		c.brokers[b.NodeID] = timeline.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port}
	}
	if offsets != nil {
		c.topicID, c.count = offsets.ID, int32(len(offsets.Partitions))
	}
	for _, t := range meta.Topics {
		if t.Topic == nil || *t.Topic == offsetsTopic {
			continue
		}
		kept := topic{asked: time.Now(), leaders: map[int32]int32{}}
		for _, p := range t.Partitions {
			kept.leaders[p.Partition] = p.Leader
		}
		c.topics[*t.Topic] = kept
	}
}

// startWorkers runs a worker for each broker that has none, and ends those of brokers that are gone.
func (o *Observer) startWorkers(ctx context.Context) {
	c := &o.cluster
	there := c.ids()
	for id, w := range c.workers {
		if !slices.Contains(there, id) {
			w.stop()
			delete(c.workers, id)
			go w.ends.Wait() // a request under way may last; nobody waits for it
		}
	}
	for _, id := range there {
		if c.workers[id] != nil {
			continue
		}
		w := &worker{}
		var working context.Context
		working, w.stop = context.WithCancel(ctx)
		c.workers[id] = w
		if c.mode == modeLog {
			w.ends.Go(func() { o.fetches(working, id) })
		}
		w.ends.Go(func() { o.polls(working, id) })
	}
}

// stopWorkers ends all workers and waits for them.
func (o *Observer) stopWorkers() {
	for id, w := range o.cluster.workers {
		w.stop()
		w.ends.Wait()
		delete(o.cluster.workers, id)
	}
}
