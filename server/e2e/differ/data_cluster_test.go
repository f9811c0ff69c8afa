//go:build interop

package differ

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func clusterQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	for _, allowed := range []bool{false, true} {
		for kind := int8(0); kind <= 3; kind++ {
			add(60, map[bool]int16{true: 0, false: 1}[kind == 1], fmt.Sprintf("endpoints of type %d, what is allowed %v", kind, allowed), func(s *side, v int16) {
				r := kmsg.NewPtrDescribeClusterRequest()
				r.Version, r.EndpointType, r.IncludeClusterAuthorizedOperations = v, kind, allowed
				r.IncludeFencedBrokers = v >= 2 && allowed
				s.tell("a", r)
			})
		}
	}
	for kind := int8(-1); kind <= 4; kind++ {
		for _, key := range []string{"g", "", strings.Repeat("k", 300), "id:with:colons", "ключ"} {
			add(10, map[bool]int16{true: 0, false: 1}[kind == 0], fmt.Sprintf("key type %d, key %.10q", kind, key), func(s *side, v int16) {
				s.awaitTransactions("warm")
				r := kmsg.NewPtrFindCoordinatorRequest()
				r.Version, r.CoordinatorType, r.CoordinatorKey, r.CoordinatorKeys = v, kind, key, []string{key, "another", key}
				s.tell("c", r)
			})
		}
		add(10, 4, fmt.Sprintf("key type %d, no keys", kind), func(s *side, v int16) {
			r := kmsg.NewPtrFindCoordinatorRequest()
			r.Version, r.CoordinatorType = v, kind
			s.tell("c", r)
		})
	}
	for _, software := range [][2]string{{"differ", "1"}, {"a", "b"}, {"", ""}, {"differ", ""}, {"", "1"}, {"-differ", "1"}, {"differ-", "1"}, {"dif fer", "1"}, {"differ", "1.0-SNAPSHOT"}, {"differ", "1_0"}, {"ünter", "1"},
		{"differ.x-y", "2.11.1"}, {strings.Repeat("x", 1000), "1"}, {"differ", "1\n"}} {
		add(18, 0, fmt.Sprintf("software %.12q %q", software[0], software[1]), func(s *side, v int16) {
			r := kmsg.NewPtrApiVersionsRequest()
			r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = v, software[0], software[1]
			s.tell("c", r)
			s.tell("c", topicsOf(9))
		})
	}
	for _, v := range []int16{5, 6, 99, 32767, -1, -32768} {
		all = append(all, dataQuestion{api: 18, since: 3, until: 3, name: fmt.Sprintf("asked as v%d", v), ask: func(s *side, _ int16) {
			r := kmsg.NewPtrApiVersionsRequest()
			r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = v, "differ", "1"
			s.tellAs("c", r, 0)
			s.tell("c", topicsOf(9))
		}})
	}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "", "NONSENSE"} {
		add(17, 0, fmt.Sprintf("mechanism %q where nobody is asked", mechanism), func(s *side, v int16) {
			r := kmsg.NewPtrSASLHandshakeRequest()
			r.Version, r.Mechanism = v, mechanism
			s.tell("c", r)
			s.tell("c", topicsOf(9))
		})
		add(36, 0, fmt.Sprintf("after %q where nobody is asked", mechanism), func(s *side, v int16) {
			r := kmsg.NewPtrSASLAuthenticateRequest()
			r.Version, r.SASLAuthBytes = v, []byte("\x00bob\x00secret")
			s.tell("c", r)
			s.tell("c", topicsOf(9))
		})
	}
	return all
}
