package app

import (
	"fmt"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/record"
	"grouplab/server/web"
)

// probe asks the coordinator of a group what a member's requests would get now. member "" is one that has no id yet.
func probe(nowMs int64, d *drive.Drive, group, member string) ([]web.Probed, error) {
	partition := record.Partition(group, d.Cluster().Config().OffsetsPartitions)
	leader, _, ok := d.Cluster().Leader(cluster.OffsetsTopic, partition)
	if !ok || leader < 0 || d.Machine(leader) == nil {
		return nil, fmt.Errorf("group %q has no coordinator just now", group)
	}
	requests, clientID, clientHost, known := d.Machine(leader).Asks(group, member)
	if !known {
		return nil, fmt.Errorf("member %q of group %q: %w", member, group, web.ErrUnknown)
	}
	var answers []web.Probed
	for _, request := range requests {
		p := d.Probe(nowMs, leader, coordinator.Request{ClientID: clientID, ClientHost: clientHost, Principal: "User:ANONYMOUS", Kmsg: request})
		answers = append(answers, web.Probed{API: request.Key(), Parked: p.Parked, Until: p.Until, Code: p.Code, Guard: p.Guard})
	}
	return answers, nil
}
