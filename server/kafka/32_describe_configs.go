package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeConfigs (32), v0 to v4 (KIP-133): settings of topics and brokers, where each comes from, and what would take its
// place.
//
//   - v1: source and synonyms (KIP-226)
//   - v3: type and documentation (KIP-569); there is none of the latter here
//   - v4: flexible (KIP-482)
//
// A broker answers for itself only; the empty name stands for what all brokers were told while they ran.
var describeConfigsAPI = api{key: 32, name: "DescribeConfigs", min: 0, max: 4, run: describeConfigs}

func describeConfigs(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.DescribeConfigsRequest)
	answer := request.ResponseKind().(*kmsg.DescribeConfigsResponse)
	s.inTurns(c, nowMs, len(request.Resources), func(_ int64, i int) (cost int) {
		asked := request.Resources[i]
		row := kmsg.NewDescribeConfigsResponseResource()
		row.ResourceType, row.ResourceName, row.Configs = asked.ResourceType, asked.ResourceName, []kmsg.DescribeConfigsResponseResourceConfig{}
		list, code, message := s.cluster.Settings(c.conn.broker, Resource{int8(asked.ResourceType), asked.ResourceName})
		if asked.ResourceType == kmsg.ConfigResourceTypeTopic && !validTopic(asked.ResourceName) {
			list, code, message = nil, kerr.InvalidTopicException.Code, "no topic can have this name"
		}
		if row.ErrorCode = code; code != 0 {
			row.ErrorMessage = words(message)
		}
		c.note(code)
		for i := range list {
			if len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, list[i].Name) {
				row.Configs = append(row.Configs, list[i].wire(request.IncludeSynonyms))
			}
		}
		answer.Resources = append(answer.Resources, row)
		return costTry + len(list)
	}, func() { c.complete(answer) })
}

func (s *Setting) wire(synonyms bool) kmsg.DescribeConfigsResponseResourceConfig {
	row := kmsg.NewDescribeConfigsResponseResourceConfig()
	row.Name, row.Value, row.ReadOnly = s.Name, kmsg.StringPtr(s.Value), s.ReadOnly
	row.Source, row.ConfigType = kmsg.ConfigSource(s.Source), kmsg.ConfigType(s.Type)
	row.IsDefault = row.Source == kmsg.ConfigSourceDefaultConfig
	row.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	for _, other := range s.Synonyms {
		if synonyms {
			row.ConfigSynonyms = append(row.ConfigSynonyms, kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{
				Name: other.Name, Value: kmsg.StringPtr(other.Value), Source: kmsg.ConfigSource(other.Source)})
		}
	}
	return row
}
