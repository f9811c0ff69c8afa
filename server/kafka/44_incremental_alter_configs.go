package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// IncrementalAlterConfigs (44), v0 and v1 (KIP-339): settings of a topic, or of all brokers, are set, deleted, or, where
// they are lists, lengthened and shortened.
//
//   - v1: flexible (KIP-482)
var incrementalAlterConfigsAPI = api{key: 44, name: "IncrementalAlterConfigs", min: 0, max: 1, run: incrementalAlterConfigs}

func incrementalAlterConfigs(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.IncrementalAlterConfigsRequest)
	answer := request.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	var list []alteration
	for _, r := range request.Resources {
		a := alteration{resource: Resource{int8(r.ResourceType), r.ResourceName}}
		a.ValidateOnly = request.ValidateOnly
		for _, set := range r.Configs {
			a.Changes = append(a.Changes, SettingChange{Name: set.Name, Op: int8(set.Op), Value: set.Value})
		}
		list = append(list, a)
	}
	s.alter(c, nowMs, list, func(r Resource, code int16, message *string) {
		row := kmsg.NewIncrementalAlterConfigsResponseResource()
		row.ResourceType, row.ResourceName, row.ErrorCode, row.ErrorMessage = kmsg.ConfigResourceType(r.Kind), r.Name, code, message
		answer.Resources = append(answer.Resources, row)
	})
	c.complete(answer)
}
