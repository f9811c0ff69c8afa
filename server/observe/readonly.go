package observe

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/observe/timeline"
)

const fetchKey = 1

// ReadOnly are the keys of all requests that an observer sends, by name: none of them changes anything.
var ReadOnly = map[int16]string{
	fetchKey: "Fetch", // of __consumer_offsets alone
	2:        "ListOffsets",
	3:        "Metadata", // without AllowAutoTopicCreation
	9:        "OffsetFetch",
	15:       "DescribeGroups",
	16:       "ListGroups",
	17:       "SaslHandshake",
	18:       "ApiVersions",
	23:       "OffsetForLeaderEpoch",
	32:       "DescribeConfigs",
	35:       "DescribeLogDirs",
	36:       "SaslAuthenticate",
	60:       "DescribeCluster",
	61:       "DescribeProducers",
	69:       "ConsumerGroupDescribe",
}

// ask sends one request to one broker, when the broker may be asked again. A Fetch has a pace of its own.
func (o *Observer) ask(ctx context.Context, broker int32, request kmsg.Request) (kmsg.Response, error) {
	if request.Key() != fetchKey {
		if err := o.limits.wait(ctx, broker); err != nil {
			return nil, err
		}
	}
	return o.askNow(ctx, broker, request)
}

// askNow is for whoever has waited already. It tells whether the broker is seen. A request that is not of ReadOnly is a
// mistake of this package and is not sent.
func (o *Observer) askNow(ctx context.Context, broker int32, request kmsg.Request) (kmsg.Response, error) {
	if _, harmless := ReadOnly[request.Key()]; !harmless {
		panic(fmt.Sprintf("observe: request %d would change something", request.Key()))
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := o.client.Broker(int(broker)).RetriableRequest(limited, request)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && tooOld(err):
		return nil, errUnsupported
	case err != nil:
		o.lose(ctx, timeline.SourceFailed{Source: brokerName(broker), Broker: broker, Code: codeOf(err), Reason: o.words(err),
			Hides: "the groups that it coordinates"})
		o.cluster.look()
		return nil, err
	}
	o.back(ctx, brokerName(broker), broker)
	return answer, nil
}

// tooOld tells whether the client did not send a request because the broker does not know its kind.
func tooOld(err error) bool {
	text := err.Error()
	return strings.Contains(text, "request key is unknown") || strings.Contains(text, "broker is too old")
}
