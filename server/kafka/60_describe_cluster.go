package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeCluster (60), v0 to v2 (KIP-700).
//
//   - v1: endpoint type (KIP-919): 1 brokers, 2 controllers. Controllers have no listeners here.
//   - v2: brokers that are fenced, which the controller takes for gone (KIP-1073)
var describeClusterAPI = api{key: 60, name: "DescribeCluster", min: 0, max: 2, run: describeCluster}

func describeCluster(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.DescribeClusterRequest)
	answer := request.ResponseKind().(*kmsg.DescribeClusterResponse)
	if c.version >= 1 && request.EndpointType != 1 {
		answer.ErrorCode = kerr.MismatchedEndpointType.Code
		if request.EndpointType != 2 {
			answer.ErrorCode = kerr.UnsupportedEndpointType.Code
		}
		answer.ControllerID = -1
		c.complete(answer)
		return
	}
	answer.ClusterID, answer.ControllerID = s.cluster.ClusterID(), s.cluster.Controller()
	for _, b := range s.cluster.Brokers() {
		row := kmsg.NewDescribeClusterResponseBroker()
		row.NodeID, row.Host, row.Port = b.ID, b.Host, b.Port
		answer.Brokers = append(answer.Brokers, row)
	}
	if c.version >= 2 && request.IncludeFencedBrokers {
		for _, b := range s.cluster.Fenced() {
			row := kmsg.NewDescribeClusterResponseBroker()
			row.NodeID, row.Host, row.Port, row.IsFenced = b.ID, b.Host, b.Port, true
			answer.Brokers = append(answer.Brokers, row)
		}
	}
	if request.IncludeClusterAuthorizedOperations {
		answer.ClusterAuthorizedOperations = allClusterOperations
	}
	c.complete(answer)
}
