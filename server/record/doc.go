// Package record keeps what a hub tells on disk, so that one can go back to it: the last hours within a bound of size and age.
// It is fed beside the loop that owns the cluster, out of the hub's own memory, and nobody ever waits for it: where the disk is
// too slow, full or away, events are missing, and a gap says so.
//
// The folder holds segments, each a recording of its own in the format of package recording, named after the time at which it
// begins: 1764478800000.grouplab. A new one is begun after some minutes or megabytes, with the facts of that moment, so that
// the oldest can go without taking anything from the others. What is not told of a group is left out: batches, replicas and high
// watermarks of topics other than __consumer_offsets. Passwords and tokens are in no event.
//
// A segment that was not finished, because the process was killed, is read at the next start up to where it broke, and
// finished there.
package record
