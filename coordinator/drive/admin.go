package drive

import "grouplab/coordinator/cluster"

// State is what must outlive the cluster beside its logs.
type State struct {
	cluster.State
	// NextProducerID is where the controller's next block of producer ids begins.
	NextProducerID int64
}

// Changes counts what has changed in State.
func (d *Drive) Changes() int64 { return d.cluster.Changes() + d.nextProducerID }

// State tells what must outlive the cluster.
func (d *Drive) State() State { return State{d.cluster.State(), d.nextProducerID} }

// Restore gives a new drive what an earlier one left, and loads the coordinators; see cluster.Restore.
func (d *Drive) Restore(nowMs int64, s State) error {
	if err := d.cluster.Restore(d.at(nowMs), s.State); err != nil {
		return err
	}
	d.nextProducerID = max(s.NextProducerID, d.cluster.NextProducerID())
	d.changed()
	return nil
}

// AddPartitionsAt is AddPartitions with the new partitions placed by hand; see cluster.AddPartitionsAt.
func (d *Drive) AddPartitionsAt(nowMs int64, name string, total int32, places [][]int32) (code int16, message string) {
	code, message = d.cluster.AddPartitionsAt(d.at(nowMs), name, total, places)
	d.changed()
	return code, message
}

// DeleteRecords makes an offset the first one that is kept of a partition; see cluster.DeleteRecords.
func (d *Drive) DeleteRecords(nowMs int64, broker int32, topic string, partition int32, offset int64) (start int64, code int16) {
	start, code = d.cluster.DeleteRecords(d.at(nowMs), broker, topic, partition, offset)
	d.changed()
	return start, code
}

// Configure gives a topic its own settings; see cluster.Configure.
func (d *Drive) Configure(nowMs int64, topic string, configs []cluster.TopicConfig, validateOnly bool) (code int16, message string) {
	code, message = d.cluster.Configure(d.at(nowMs), topic, configs, validateOnly)
	d.changed()
	return code, message
}

// Reconfigure changes the brokers' settings of logs and replicas; see cluster.Reconfigure.
func (d *Drive) Reconfigure(nowMs int64, change func(*cluster.Config)) {
	d.cluster.Reconfigure(d.at(nowMs), change)
	d.changed()
}

// Elect has the controller elect a leader; see cluster.Elect.
func (d *Drive) Elect(nowMs int64, topic string, partition int32, unclean bool) (code int16, message string) {
	code, message = d.cluster.Elect(d.at(nowMs), topic, partition, unclean)
	d.changed()
	return code, message
}

// Reassign gives a partition to other brokers; see cluster.Reassign.
func (d *Drive) Reassign(nowMs int64, topic string, partition int32, to []int32, mayResize bool) (code int16, message string) {
	code, message = d.cluster.Reassign(d.at(nowMs), topic, partition, to, mayResize)
	d.changed()
	return code, message
}
