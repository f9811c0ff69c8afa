package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestFetchSessionsAreBounded: neither many sessions nor one that grows hold more than maxSessionParts, a long name counts
// for what it costs, and what goes is given back.
func TestFetchSessionsAreBounded(t *testing.T) {
	fetch := func(id, epoch int32, topic string, partitions int) *kmsg.FetchRequest {
		r := kmsg.NewPtrFetchRequest()
		r.SessionID, r.SessionEpoch = id, epoch
		row := kmsg.NewFetchRequestTopic()
		row.Topic = topic
		for p := range partitions {
			part := kmsg.NewFetchRequestTopicPartition()
			part.Partition = int32(p)
			row.Partitions = append(row.Partitions, part)
		}
		r.Topics = append(r.Topics, row)
		return r
	}
	for name, topic := range map[string]func(i int) string{
		"short names": func(i int) string { return fmt.Sprint(i) },
		"long names":  func(i int) string { return strings.Repeat("x", 3000) + fmt.Sprint(i) },
	} {
		s := newSessions(1000)
		c := &call{version: 11, conn: &conn{broker: 1}}
		const step = 40_000
		k := s.create(c, fetch(0, 0, topic(0), step), 0)
		if k == nil {
			t.Fatalf("%s: no session began", name)
		}
		bytes := 0
		for i := 1; ; i++ {
			f, code := s.begin(c, fetch(k.id, int32(i), topic(i), step), 0)
			if code == kerr.FetchSessionIDNotFound.Code {
				break
			}
			if bytes += step * len(topic(i)); code != 0 || f.session != k || s.parts > maxSessionParts || bytes > 256*maxSessionParts {
				t.Fatalf("%s: step %d: code %d, %d parts, %d bytes of names", name, i, code, s.parts, bytes)
			}
		}
		if s.parts != 0 || len(s.byID) != 0 {
			t.Errorf("%s: the session that grew too large left %d parts behind", name, s.parts)
		}
		k = s.create(c, fetch(0, 0, topic(0), 3), 0)
		forget := fetch(k.id, 1, topic(0), 0)
		forget.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: topic(0), Partitions: []int32{0, 1, 2, 2}}}
		if _, code := s.begin(c, forget, 0); code != 0 || s.parts != 0 || len(s.byID) != 0 {
			t.Errorf("%s: all was forgotten: code %d, %d parts are left", name, code, s.parts)
		}
		if s.create(c, fetch(0, 0, topic(0), maxSessionParts+1), 0) != nil {
			t.Errorf("%s: a session began that is larger than all may be together", name)
		}
	}
}
