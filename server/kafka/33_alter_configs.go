package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs (33), v0 to v2 (KIP-133): the settings that a topic, or all brokers, have from now on; what is not named
// goes back to its default. IncrementalAlterConfigs took its place.
//
//   - v2: flexible (KIP-482)
var alterConfigsAPI = api{key: 33, name: "AlterConfigs", min: 0, max: 2, run: alterConfigs}

func alterConfigs(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.AlterConfigsRequest)
	answer := request.ResponseKind().(*kmsg.AlterConfigsResponse)
	var list []alteration
	for _, r := range request.Resources {
		a := alteration{resource: Resource{int8(r.ResourceType), r.ResourceName}}
		a.Whole, a.ValidateOnly = true, request.ValidateOnly
		for _, set := range r.Configs {
			a.Changes = append(a.Changes, SettingChange{Name: set.Name, Op: SetSetting, Value: set.Value})
		}
		list = append(list, a)
	}
	s.alter(c, nowMs, list, func(r Resource, code int16, message *string) {
		row := kmsg.NewAlterConfigsResponseResource()
		row.ResourceType, row.ResourceName, row.ErrorCode, row.ErrorMessage = kmsg.ConfigResourceType(r.Kind), r.Name, code, message
		answer.Resources = append(answer.Resources, row)
	})
	c.complete(answer)
}

// alteration is what one resource of a request is to become.
type alteration struct {
	resource Resource
	Alteration
}

// alter does what AlterConfigs and IncrementalAlterConfigs have in common (Kafka: ConfigAdminManager).
func (s *Server) alter(c *call, nowMs int64, list []alteration, answer func(r Resource, code int16, message *string)) {
	times := map[Resource]int{}
	for _, a := range list {
		times[a.resource]++
	}
	for _, a := range list {
		code, message := checkAlteration(a)
		if times[a.resource] > 1 {
			code, message = kerr.InvalidRequest.Code, "the request names this resource more than once"
		}
		if code == 0 {
			code, message = s.cluster.Alter(nowMs, a.resource, a.Alteration)
		}
		c.note(code)
		if code == 0 {
			answer(a.resource, 0, nil)
		} else {
			answer(a.resource, code, words(message))
		}
	}
}

func checkAlteration(a alteration) (code int16, message string) {
	seen := map[string]bool{}
	for _, change := range a.Changes {
		switch {
		case seen[change.Name]:
			return kerr.InvalidRequest.Code, "the setting " + change.Name + " is named more than once"
		case change.Value == nil && change.Op != DeleteSetting:
			return kerr.InvalidRequest.Code, "the setting " + change.Name + " has no value"
		case change.Op < SetSetting || change.Op > SubtractSetting:
			return kerr.InvalidRequest.Code, "an operation is 0 (set), 1 (delete), 2 (append) or 3 (subtract)"
		}
		seen[change.Name] = true
	}
	if a.resource.Kind == ResourceTopic && a.resource.Name != "" && !validTopic(a.resource.Name) {
		return kerr.InvalidTopicException.Code, "no topic can have this name"
	}
	return 0, ""
}
