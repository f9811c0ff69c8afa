package observe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/observe/timeline"
)

// modeOf is how the cluster can be watched: by reading __consumer_offsets, or by asking alone. What is forbidden is tried
// again now and then, since a right may be given while we look.
func (o *Observer) modeOf(ctx context.Context, offsets *timeline.Topic) string {
	c := &o.cluster
	before := c.modeNow()
	failed := timeline.SourceFailed{Source: offsetsTopic, Hides: "what happens between two polls: joins, generations, commits, and when exactly"}
	if offsets == nil {
		failed.Reason = "it is not there, or not shown to us: no group was here yet, the cluster hides it, or a right is missing"
		failed.Right = "Read on Topic " + offsetsTopic
		o.lose(ctx, failed)
		return modePoll
	}
	if before == modeLog && !o.reader.denied() || before == modePoll && time.Since(c.probed) < againEvery && o.blindFor(offsetsTopic, codeTopicDenied) {
		return before
	}
	c.probed = time.Now()
	if o.mayRead(ctx, offsets) {
		o.back(ctx, offsetsTopic, 0)
		return modeLog
	}
	failed.Code, failed.Reason, failed.Right = codeTopicDenied, "it may not be read ("+nameOf(codeTopicDenied)+")", "Read on Topic "+offsetsTopic
	o.lose(ctx, failed)
	return modePoll
}

// blindFor tells whether a source is lost for this code.
func (o *Observer) blindFor(source string, code int16) bool {
	o.sight.mu.Lock()
	defer o.sight.mu.Unlock()
	was, known := o.sight.lost[source]
	return known && was.code == code
}

// mayRead asks the first leader that answers for nothing of __consumer_offsets, to learn whether it may be read.
func (o *Observer) mayRead(ctx context.Context, offsets *timeline.Topic) bool {
	for _, p := range offsets.Partitions {
		if p.Leader < 0 {
			continue
		}
		r := fetchRequest(offsets.ID, []wish{{partition: p.Number, epoch: -1}})
		r.MaxWaitMillis = 0
		answer, err := o.ask(ctx, p.Leader, r)
		if err != nil {
			continue
		}
		for _, t := range answer.(*kmsg.FetchResponse).Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == codeTopicDenied {
					return false
				}
			}
		}
		return true
	}
	return true // nobody answers: reading will say why
}

// attach tells that a cluster was reached, and begins anew.
func (o *Observer) attach(ctx context.Context, offsets *timeline.Topic) {
	c := &o.cluster
	told := timeline.Attached{ClusterID: c.id, Mode: c.mode, PollMs: pollFastest.Milliseconds()}
	if offsets != nil {
		told.Partitions = int32(len(offsets.Partitions))
	}
	o.settings(ctx, &told)
	o.reader.reset()
	o.back(ctx, beginning, 0)
	if c.mode == modeLog {
		o.measure(ctx, offsets)
	}
	o.cfg.Log.Info(fmt.Sprintf("attached to cluster %s", c.id), "mode", c.mode, "brokers", len(c.brokers), "partitions", told.Partitions)
	o.saw(ctx, told)
	o.rights(ctx)
}

// settings reads the few settings that explain what is seen, where that is allowed.
func (o *Observer) settings(ctx context.Context, told *timeline.Attached) {
	r := kmsg.NewPtrDescribeConfigsRequest()
	id := o.cluster.ids()[0]
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(id))
	const retention, delay, session = "offsets.retention.minutes", "group.initial.rebalance.delay.ms", "group.consumer.session.timeout.ms"
	resource.ConfigNames = []string{retention, delay, session}
	r.Resources = append(r.Resources, resource)
	answer, err := o.ask(ctx, id, r)
	if err != nil {
		return
	}
	for _, resource := range answer.(*kmsg.DescribeConfigsResponse).Resources {
		if resource.ErrorCode == codeClusterDenied {
			o.lose(ctx, timeline.SourceFailed{Source: "DescribeConfigs", Code: resource.ErrorCode, Reason: "the brokers' settings may not be read",
				Right: "DescribeConfigs on Cluster", Hides: "when offsets expire; Kafka's defaults are assumed for the initial delay and the session of consumer groups"})
			return
		}
		for _, c := range resource.Configs {
			if c.Value == nil {
				continue
			}
			n, err := strconv.ParseInt(*c.Value, 10, 64)
			switch {
			case err != nil:
			case c.Name == retention:
				told.RetentionMs = n * 60_000
			case c.Name == delay:
				told.InitialDelayMs = n
			case c.Name == session:
				told.ConsumerSessionTimeoutMs = n
			}
		}
	}
	o.back(ctx, "DescribeConfigs", 0)
}

// describeBit is Describe in a set of operations (Kafka: AclOperation.DESCRIBE).
const describeBit = 1 << 8

// rights asks whether all groups are listed: without Describe on the cluster a list leaves out, without a word, the groups
// that may not be described one by one.
func (o *Observer) rights(ctx context.Context) {
	r := kmsg.NewPtrDescribeClusterRequest()
	r.IncludeClusterAuthorizedOperations = true
	answer, err := o.ask(ctx, o.cluster.ids()[0], r)
	if err != nil {
		return
	}
	const source = "ListGroups"
	said := answer.(*kmsg.DescribeClusterResponse)
	denied := said.ErrorCode == codeClusterDenied
	if known := said.ErrorCode == 0 && said.ClusterAuthorizedOperations != -1<<31; denied || known && said.ClusterAuthorizedOperations&describeBit == 0 {
		o.lose(ctx, timeline.SourceFailed{Source: source, Code: codeClusterDenied, Reason: "the list holds only groups that may be described one by one",
			Right: "Describe on Cluster", Hides: "all other groups, unless the log is read"})
		return
	}
	o.back(ctx, source, 0)
}

// measure learns how large the partitions of __consumer_offsets are, to decide whether all of it is read.
func (o *Observer) measure(ctx context.Context, offsets *timeline.Topic) {
	r := kmsg.NewPtrDescribeLogDirsRequest()
	wanted := kmsg.NewDescribeLogDirsRequestTopic()
	wanted.Topic = offsetsTopic
	leaders := map[int32]int32{}
	for _, p := range offsets.Partitions {
		wanted.Partitions = append(wanted.Partitions, p.Number)
		leaders[p.Number] = p.Leader
	}
	r.Topics = append(r.Topics, wanted)
	sizes := map[int32]int64{}
	for _, id := range o.cluster.ids() {
		answer, err := o.ask(ctx, id, r)
		if err != nil {
			continue
		}
		for _, dir := range answer.(*kmsg.DescribeLogDirsResponse).Dirs {
			for _, t := range dir.Topics {
				for _, p := range t.Partitions {
					if t.Topic == offsetsTopic && leaders[p.Partition] == id {
						sizes[p.Partition] = p.Size
					}
				}
			}
		}
	}
	total := o.reader.measured(sizes, o.cfg.ReadBytes, len(offsets.Partitions))
	if len(sizes) == 0 {
		o.cfg.Log.Info("how large " + offsetsTopic + " is may not be asked (Describe on Cluster); its offsets tell roughly")
		return
	}
	o.cfg.Log.Info(fmt.Sprintf("%s holds %.1f MB in %d partitions", offsetsTopic, float64(total)/1e6, len(offsets.Partitions)))
}

// beginning is the part of __consumer_offsets that is left out where all of it would be too much.
const beginning = "the beginning of " + offsetsTopic

// errUnsupported is what a broker is too old for.
var errUnsupported = errors.New("the broker does not know this request")
