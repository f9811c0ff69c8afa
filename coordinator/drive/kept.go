package drive

import "grouplab/coordinator/log"

// Kept tells that the disk has kept what a replica appended, or could not; see cluster.Kept.
func (d *Drive) Kept(nowMs int64, at log.Replica) {
	d.cluster.Kept(d.at(nowMs), at)
	d.changed()
}
