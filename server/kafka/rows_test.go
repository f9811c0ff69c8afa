package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestWhatARequestMayHave: strings, rows, tagged fields and repeated names of a request are bounded before the loop sees it.
func TestWhatARequestMayHave(t *testing.T) {
	name := func(i int) string { return fmt.Sprint("n", i) }
	long, longest := strings.Repeat("x", maxStringBytes+1), strings.Repeat("x", maxStringBytes)
	groups := func(n int, name func(int) string) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = name(i)
		}
		return list
	}
	cases := []struct {
		what    string
		request kmsg.Request
		says    string // "": it is taken
	}{
		{"a long group id", &kmsg.HeartbeatRequest{Version: 4, Group: long}, "Heartbeat v4: a string has 32768 bytes; 32767 are allowed"},
		{"the longest group id", &kmsg.HeartbeatRequest{Version: 4, Group: longest}, ""},
		{"a long group instance id", &kmsg.HeartbeatRequest{Version: 4, InstanceID: &long}, "a string has 32768 bytes"},
		{"long metadata", &kmsg.OffsetCommitRequest{Version: 9, Topics: []kmsg.OffsetCommitRequestTopic{{Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Metadata: &long}}}}}, "OffsetCommit v9: a string has 32768 bytes"},
		{"a long key", &kmsg.FindCoordinatorRequest{Version: 4, CoordinatorKeys: []string{"a", long}}, "FindCoordinator v4: a string has 32768 bytes"},
		{"a long transactional id", &kmsg.ProduceRequest{Version: 9, TransactionID: &long}, "Produce v9: a string has 32768 bytes"},
		{"a long topic", &kmsg.MetadataRequest{Version: 9, Topics: []kmsg.MetadataRequestTopic{{Topic: &long}}}, "Metadata v9: a string has 32768 bytes"},
		{"a long protocol with much metadata", &kmsg.JoinGroupRequest{Version: 9, Protocols: []kmsg.JoinGroupRequestProtocol{{Name: long, Metadata: make([]byte, 100_000)}}}, "a string has"},
		{"much metadata", &kmsg.JoinGroupRequest{Version: 9, Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, 1_000_000)}}}, ""},
		{"many protocols", &kmsg.JoinGroupRequest{Version: 5, Protocols: make([]kmsg.JoinGroupRequestProtocol, maxProtocols+1)}, "JoinGroup v5: a member has 1001 protocols; 1000 are allowed"},
		{"many groups", &kmsg.DescribeGroupsRequest{Version: 5, Groups: groups(maxRows, name)}, ""},
		{"too many groups", &kmsg.DescribeGroupsRequest{Version: 5, Groups: groups(maxRows+1, name)}, "DescribeGroups v5: the request has more than 100000 rows"},
		{"too many empty groups", &kmsg.DescribeGroupsRequest{Version: 0, Groups: make([]string, 4_000_000)}, "more than 100000 rows"},
		{"too many topics and partitions", &kmsg.OffsetDeleteRequest{Topics: []kmsg.OffsetDeleteRequestTopic{{Partitions: make([]kmsg.OffsetDeleteRequestTopicPartition, maxRows)}}}, "more than 100000 rows"},
		{"a group again and again", &kmsg.DescribeGroupsRequest{Version: 5, Groups: groups(maxRepeats+1, func(int) string { return "g" })}, `the request names "g" more than 8 times`},
		{"a group a few times", &kmsg.DescribeGroupsRequest{Version: 5, Groups: groups(maxRepeats, func(int) string { return "g" })}, ""},
		{"a partition again and again", &kmsg.DescribeProducersRequest{Topics: []kmsg.DescribeProducersRequestTopic{{Topic: "t", Partitions: make([]int32, maxRepeats+1)}}}, `names "t" more than 8 times`},
		{"the broker's settings again and again", &kmsg.DescribeConfigsRequest{Version: 4, Resources: make([]kmsg.DescribeConfigsRequestResource, maxRepeats+1)}, "more than 8 times"},
		{"a transaction again and again", &kmsg.DescribeTransactionsRequest{TransactionalIDs: make([]string, maxRepeats+1)}, "more than 8 times"},
		{"offsets again and again", &kmsg.OffsetFetchRequest{Version: 8, Groups: make([]kmsg.OffsetFetchRequestGroup, maxRepeats+1)}, "more than 8 times"},
	}
	rows := index(table())
	for _, c := range cases {
		says(t, c.what, rows[c.request.Key()], c.request.GetVersion(), c.request.AppendTo(nil), c.request.IsFlexible(), c.says)
	}
	tags := new(kmsg.HeartbeatRequest)
	tags.Version = 4
	body := tags.AppendTo(nil)
	body = kbin.AppendUvarint(body[:len(body)-1], maxRows+1)
	for i := range uint32(maxRows + 1) {
		body = append(kbin.AppendUvarint(body, i), 0)
	}
	says(t, "a flood of tagged fields", rows[12], 4, body, true, "Heartbeat v4: the request has more than 100000 rows")
}

// says decodes a body as the reader of a connection does, and looks at what is said of it.
func says(t *testing.T, what string, a *api, version int16, body []byte, flexible bool, want string) {
	t.Helper()
	if flexible {
		body = append([]byte{0}, body...) // the header has no tagged fields
	}
	c := &conn{srv: &Server{}}
	h := header{key: a.key, version: version, body: body}
	var err error
	switch a.key {
	case heartbeatAPI.key:
		err = c.decodeHeartbeat(&call{}, a, h)
	case offsetCommitAPI.key:
		err = c.decodeCommit(&call{}, a, h)
	default:
		_, err = decode(a, h)
	}
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: refused: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v, not %q", what, err, want)
	}
}
