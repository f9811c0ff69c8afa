package sim

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// answerCommit has the consumer commit and gives it an answer in which every partition has the code. Between is done
// while the commit is on its way.
func answerCommit(t *testing.T, w *World, c *consumer, code int16, between func()) {
	t.Helper()
	k := w.calls[c.commitAll(w, autoCommit)]
	between()
	w.Take()
	q := k.req.(*kmsg.OffsetCommitRequest)
	r := kmsg.NewPtrOffsetCommitResponse()
	for _, topic := range q.Topics {
		answer := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			answer.Partitions = append(answer.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: code})
		}
		r.Topics = append(r.Topics, answer)
	}
	if len(r.Topics) == 0 {
		t.Fatal("it commits nothing")
	}
	k.reply, k.code = r, code
	w.receive(c, k)
}

// OffsetCommitResponseHandler: a member that is none any more joins as nobody.
func TestCommitOfALostMembership(t *testing.T) {
	for _, err := range []*kerr.Error{kerr.UnknownMemberID, kerr.IllegalGeneration} {
		w, c := stable(t)
		answerCommit(t, w, c, err.Code, func() {})
		if c.state != event.Unjoined || c.memberID != "" || !c.rejoinNeeded {
			t.Errorf("%s: it believes to be %s as %q", err.Message, c.state, c.memberID)
		}
	}
}

// OffsetCommitResponseHandler.generationUnchanged: a refused commit that was sent before the member joined again says nothing about what it is now.
func TestCommitOfAnEarlierMembershipIsNoNews(t *testing.T) {
	for _, err := range []*kerr.Error{kerr.UnknownMemberID, kerr.IllegalGeneration} {
		w, c := stable(t)
		answerCommit(t, w, c, err.Code, func() { c.generation++ })
		if c.state != event.Joined || c.memberID == "" || c.rejoinNeeded {
			t.Errorf("%s for an older generation: it believes to be %s as %q", err.Message, c.state, c.memberID)
		}
		w, c = stable(t)
		answerCommit(t, w, c, err.Code, func() { c.memberID = "c1-new" })
		if c.state != event.Joined || c.memberID != "c1-new" || c.rejoinNeeded {
			t.Errorf("%s for an older id: it believes to be %s as %q", err.Message, c.state, c.memberID)
		}
	}
}

func TestOffsetCommitErrors(t *testing.T) {
	w, c := stable(t)
	answerCommit(t, w, c, kerr.RebalanceInProgress.Code, func() {})
	if c.state != event.Joined || !c.rejoinNeeded {
		t.Errorf("REBALANCE_IN_PROGRESS: it must join again as who it is, and believes to be %s", c.state)
	}
	w, c = stable(t)
	answerCommit(t, w, c, kerr.NotCoordinator.Code, func() {})
	if c.coordinator != 0 || c.state != event.Joined {
		t.Errorf("NOT_COORDINATOR: it still believes in broker %d", c.coordinator)
	}
	w, c = stable(t)
	answerCommit(t, w, c, kerr.CoordinatorLoadInProgress.Code, func() {})
	if c.coordinator == 0 || c.state != event.Joined || c.rejoinNeeded || c.nextAutoCommitMs != w.nowMs+c.cfg.RetryBackoffMs {
		t.Error("COORDINATOR_LOAD_IN_PROGRESS: it tries again after the back-off, and nothing else")
	}
	w, c = stable(t)
	answerCommit(t, w, c, kerr.FencedInstanceID.Code, func() {})
	if !has(w.Take(), "ClientFailed") {
		t.Error("FENCED_INSTANCE_ID: it does not give up")
	}
}
