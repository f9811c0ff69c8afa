package sim

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

func (c *consumer) autoCommits() bool { return c.cfg.AutoCommitMs > 0 && c.cfg.TransactionalID == "" }

// maybeAutoCommit is maybeAutoCommitOffsetsAsync: in poll, at most every auto.commit.interval.ms.
func (c *consumer) maybeAutoCommit(w *World) {
	if !c.autoCommits() || w.nowMs < c.nextAutoCommitMs {
		return
	}
	c.nextAutoCommitMs = w.nowMs + int64(c.cfg.AutoCommitMs)
	if c.consumed() && c.state == event.Joined {
		c.commitAll(w, autoCommit)
	}
}

// commitAll commits every position that is known (subscriptions.allConsumed) and returns the request's number.
func (c *consumer) commitAll(w *World, u use) int64 {
	req, metadata := c.newCommit(), c.commitMetadata(w)
	for _, p := range c.assigned {
		if p.known {
			addOffset(req, p.topic, p.partition, p.at(w.nowMs, c.cfg.RecordsPerSecond), metadata)
		}
	}
	return w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, u)
}

// commitMetadata is what the next request commits as metadata beside each offset.
func (c *consumer) commitMetadata(w *World) string {
	if c.cfg.CommitMetadata == "" {
		return ""
	}
	return fmt.Sprintf("%s-%d", c.cfg.CommitMetadata, w.lastCall+1)
}

func (c *consumer) newCommit() *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version = c.versions().commit
	req.Group, req.Generation, req.MemberID = c.cfg.Group, c.generation, c.memberID
	req.InstanceID = c.instance()
	return req
}

// addOffset adds one partition to a commit; partitions of one topic come one after the other.
func addOffset(req *kmsg.OffsetCommitRequest, topic string, partition int32, offset int64, metadata string) {
	if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != topic {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = topic
		req.Topics = append(req.Topics, t)
	}
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, -1, &metadata
	t := &req.Topics[len(req.Topics)-1]
	t.Partitions = append(t.Partitions, p)
}

// onCommit is OffsetCommitResponseHandler: the first partition with an error decides.
func (c *consumer) onCommit(w *World, k *call, r *kmsg.OffsetCommitResponse) {
	code := int16(0)
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			if code == 0 {
				code = p.ErrorCode
			}
		}
	}
	f := failure{name: exceptionOf(code), code: code}
	switch code {
	case 0:
		c.commitDone(k)
		return
	case kerr.CoordinatorLoadInProgress.Code, kerr.UnknownTopicOrPartition.Code:
		f.retriable = true
	case kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code, kerr.RequestTimedOut.Code:
		f.retriable = true
		c.coordinatorUnknown(w, "OffsetCommit: "+event.CodeName(code))
	case kerr.UnknownMemberID.Code, kerr.IllegalGeneration.Code:
		// It may have joined again since; then this answer says nothing about it.
		if k.generation == c.generation && k.member == c.memberID && k.use != manualCommit {
			c.resetGeneration(w, "encountered "+event.CodeName(code)+" from OFFSET_COMMIT response")
		}
	case kerr.RebalanceInProgress.Code:
		c.requestRejoin(w, "offset commit failed since group is already rebalancing")
	case kerr.FencedInstanceID.Code, kerr.GroupAuthorizationFailed.Code, kerr.TopicAuthorizationFailed.Code:
		if c.phase == running {
			c.fail(w, code, "OffsetCommit: "+event.CodeName(code))
			return
		}
		// A close only logs it, and goes on.
	}
	c.commitFailed(w, k, f)
}

// commitDone ends a wait for a commit.
func (c *consumer) commitDone(k *call) {
	if k.use != prepareCommit && k.use != closeCommit || k.id != c.syncCall {
		return
	}
	c.syncCall = 0
	if k.use == prepareCommit {
		c.prepare = leaving
	} else {
		c.closing = leaving
	}
}

// commitFailed tries again after the back-off where that can help; otherwise the failure is only logged, as both kinds
// of auto-commit do.
func (c *consumer) commitFailed(w *World, k *call, f failure) {
	switch {
	case k.use == autoCommit && f.retriable:
		c.nextAutoCommitMs = w.nowMs + c.cfg.RetryBackoffMs
	case k.id != c.syncCall:
	case !f.retriable:
		c.commitDone(k)
	case k.use == prepareCommit:
		c.syncCall = 0
		c.sleep(w, "retry back-off after OffsetCommit: "+f.name)
	case k.use == closeCommit:
		// The coordinator is gone; a close does not look for another one here. Kafka would, within its 30 s.
		c.commitDone(k)
	}
}
