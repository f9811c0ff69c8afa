package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// told lists the partitions of an answer and whether each brings records.
func told(r *kmsg.FetchResponse) string {
	rows := []string{}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			row := fmt.Sprint(p.Partition)
			if len(p.RecordBatches) > 0 {
				row += "+"
			}
			if p.ErrorCode != 0 {
				row += "!" + name(p.ErrorCode)
			}
			rows = append(rows, row)
		}
	}
	return fmt.Sprint(rows)
}

// in names partitions of orders from the given offsets in a session.
func in(session, epoch int32, offsets map[int32]int64, forget ...int32) *kmsg.FetchRequest {
	r := fetchOf("orders", 0, 0)
	r.SessionID, r.SessionEpoch, r.Topics = session, epoch, nil
	if len(offsets) > 0 {
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic = "orders"
		for p := range int32(6) {
			if at, ok := offsets[p]; ok {
				topic.Partitions = append(topic.Partitions, fetchOf("orders", p, at).Topics[0].Partitions[0])
			}
		}
		r.Topics = append(r.Topics, topic)
	}
	if forget != nil {
		r.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: "orders", Partitions: forget}}
	}
	return r
}

// TestFetchSessions: a session answers with what changed, and with nothing else (KIP-227).
func TestFetchSessions(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	produce := func(partition int32) {
		t.Helper()
		if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", partition, batch("x"))).Topics[0].Partitions[0]; row.ErrorCode != 0 {
			t.Fatal(name(row.ErrorCode))
		}
	}
	produce(1)
	full := ask[*kmsg.FetchResponse](w, in(0, 0, map[int32]int64{0: 0, 1: 0, 2: 0}))
	id := full.SessionID
	if id == 0 || told(full) != "[0 1+ 2]" {
		t.Fatalf("the first answer: session %d, %s", id, told(full))
	}
	step := func(what string, r *kmsg.FetchRequest, want string) {
		t.Helper()
		got := ask[*kmsg.FetchResponse](w, r)
		if got.ErrorCode != 0 || got.SessionID != id || told(got) != want {
			t.Errorf("%s: %s, session %d, %s; want %s in session %d", what, name(got.ErrorCode), got.SessionID, told(got), want, id)
		}
	}
	step("reading on", in(id, 1, map[int32]int64{1: 1}), "[]")
	produce(2)
	produce(0)
	step("two have news", in(id, 2, nil), "[0+ 2+]")
	step("what was not read on is told again, and what gave data comes last", in(id, 3, map[int32]int64{0: 1}), "[2+]")
	produce(1)
	produce(0)
	step("in turn", in(id, 4, map[int32]int64{2: 1}), "[1+ 0+]")
	step("one more, one less", in(id, 5, map[int32]int64{0: 2, 1: 2, 3: 0}, 2), "[3]")
	produce(2)
	step("what is forgotten is not told", in(id, 6, nil), "[]")
	step("an error is told each time", in(id, 7, map[int32]int64{3: 9}), "[3!OFFSET_OUT_OF_RANGE]")
	step("each time", in(id, 8, nil), "[3!OFFSET_OUT_OF_RANGE]")
	step("until it is mended", in(id, 9, map[int32]int64{3: 0}), "[3]")
	for what, c := range map[string]struct {
		request *kmsg.FetchRequest
		code    int16
	}{
		"an old epoch":          {in(id, 9, nil), kerr.InvalidFetchSessionEpoch.Code},
		"an epoch to come":      {in(id, 12, nil), kerr.InvalidFetchSessionEpoch.Code},
		"another id":            {in(id+1, 10, nil), kerr.FetchSessionIDNotFound.Code},
		"no id":                 {in(0, 10, nil), kerr.FetchSessionIDNotFound.Code},
		"topic ids all at once": {versioned(in(id, 10, nil), 13), kerr.FetchSessionTopicIDError.Code},
	} {
		if got := ask[*kmsg.FetchResponse](w, c.request); got.ErrorCode != c.code || got.SessionID != 0 || len(got.Topics) != 0 {
			t.Errorf("%s: %s, %s; want %s", what, name(got.ErrorCode), told(got), name(c.code))
		}
	}
	waiting := dial(t, s.KafkaAddrs()[0])
	poll := in(id, 10, nil)
	poll.MaxWaitMillis = 50_000
	polled := waiting.send(poll)
	time.Sleep(50 * time.Millisecond)
	produce(3)
	if got := receive[*kmsg.FetchResponse](waiting, polled, poll); told(got) != "[3+]" {
		t.Errorf("who waits in a session: %s", told(got))
	}
	if got := ask[*kmsg.FetchResponse](w, in(id, -1, map[int32]int64{0: 0})); got.SessionID != 0 || told(got) != "[0+]" {
		t.Errorf("the last fetch: session %d, %s", got.SessionID, told(got))
	}
	if got := ask[*kmsg.FetchResponse](w, in(id, 11, nil)); got.ErrorCode != kerr.FetchSessionIDNotFound.Code {
		t.Errorf("after the end: %s", name(got.ErrorCode))
	}
	if got := ask[*kmsg.FetchResponse](w, versioned(in(0, 0, map[int32]int64{0: 0}), 4)); got.SessionID != 0 {
		t.Errorf("v4 knows no sessions: %d", got.SessionID)
	}
}

func versioned(r *kmsg.FetchRequest, version int16) *kmsg.FetchRequest {
	r.Version = version
	return r
}
