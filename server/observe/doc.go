// Package observe attaches to somebody's running Kafka cluster and tells what its consumer groups do. It reads
// __consumer_offsets, asks ListGroups for groups in motion, describes only what moves or is looked at, and hands all of it
// to package timeline, which makes facts of it.
//
// It changes nothing: it never joins a group, commits, creates a topic, reads a user's topic or registers telemetry; what it
// sends are the request kinds of ReadOnly, at most 20 a second to a broker. What it may not see, or cannot at the moment, is
// told as SightChanged with its reason, and everything else goes on.
//
// Goroutines: one owns the Timeline (loop.go) and takes observations from a short channel, so that who reads waits while it
// works; one follows the cluster's metadata (cluster.go); two for each broker fetch (fetch.go) and poll (poll.go); one reads
// the lags of what is looked at (lag.go); one for each file follows a broker's log (logs.go).
package observe
