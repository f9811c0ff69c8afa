package kafka

import (
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions (18), v0 to v4. What a client may send is what this says; many change their behaviour by it.
//
//   - v1: throttle time
//   - v3: flexible (KIP-482); the client's software name and version (KIP-511); features as tags (KIP-584). The answer's
//     header stays v0, so that it can be read before anything is agreed upon.
//   - v4: min version 0 of a feature may be told (KAFKA-17011)
//
// A higher version gets UNSUPPORTED_VERSION in the layout of v0, with the range of this key, and the client tries again
// (KIP-511). franz-go begins with v5, KIP-1242.
var apiVersionsAPI = api{key: 18, name: "ApiVersions", min: 0, max: 4, run: apiVersions}

func apiVersions(s *Server, c *call, _ int64) {
	answer := kmsg.NewApiVersionsResponse()
	answer.FinalizedFeaturesEpoch = -1
	request, _ := c.request.(*kmsg.ApiVersionsRequest)
	if request == nil {
		answer.ErrorCode, c.code = kerr.UnsupportedVersion.Code, kerr.UnsupportedVersion.Code
		answer.ApiKeys = []kmsg.ApiVersionsResponseApiKey{advertise(c.api)}
		c.complete(&answer)
		return
	}
	answer.Version = c.version
	if c.version >= 3 && !validSoftware(request) {
		answer.ErrorCode, c.code = kerr.InvalidRequest.Code, kerr.InvalidRequest.Code
		c.complete(&answer)
		return
	}
	for _, a := range s.apis {
		if a != nil {
			answer.ApiKeys = append(answer.ApiKeys, advertise(a))
		}
	}
	c.complete(&answer)
}

func advertise(a *api) kmsg.ApiVersionsResponseApiKey {
	row := kmsg.NewApiVersionsResponseApiKey()
	row.ApiKey, row.MinVersion, row.MaxVersion = a.key, a.min, a.max
	return row
}

// software is Kafka's rule for the name and version of a client (ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN).
var software = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

func validSoftware(r *kmsg.ApiVersionsRequest) bool {
	return software.MatchString(r.ClientSoftwareName) && software.MatchString(r.ClientSoftwareVersion)
}
