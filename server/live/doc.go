// Package live shows a running cluster to any number of viewers. A Hub takes the events of the one loop that owns the
// cluster, keeps the last of them and sends them over websockets. It never blocks that loop, and no viewer can harm
// another: what one viewer costs is bounded, and a viewer that cannot follow is skipped with a gap that it is told of.
//
// # What goes over the wire
//
// A viewer opens /api/live with these parameters, all optional:
//
//	from   the first Seq that it wants: the last one it has seen, plus one
//	world  the world that Seq belongs to, as hello named it; a server that was restarted is another world
//	group  the one group to follow; facts of other groups are then left out
//	overview  1: every group in one line each, and only the group to follow, if any, in full
//
// The server sends text messages, each one JSON object with one of these members:
//
//	{"hello":{"version":1,"world":"…","seq":4711,"oldestSeq":1,"nowMs":…}}
//	    first; seq is the last event that exists, oldestSeq the oldest that can be asked for
//	{"gap":{"from":200,"to":413,"events":214,"fromMs":…,"toMs":…,"reason":"…"}}
//	    events from..to are not sent; facts follow, so that the picture can be built anew. from is 0 where the
//	    viewer's past is of another world; then events is 0: not known
//	{"events":[…],"nowMs":…}
//	    events as package event writes them. Facts come the same way: FactsBegan, facts, FactsEnded
//	{"clock":{"nowMs":…}}
//	    when nothing else was said for a while
//
// nowMs is always the server's clock. Facts at Seq s are followed by the events after s: nothing twice, nothing left
// out. A viewer has nothing to say: any message from it ends the connection.
//
// # Many groups
//
// With overview=1 the facts are: the brokers, the topics, the partitions of __consumer_offsets, a GroupSummarized for every
// group and, for the group to follow, everything that its Facts hold, the last records of its partition of
// __consumer_offsets and a GenerationRecorded for each generation that is remembered, the oldest first. Afterwards come: the
// events of that group and of its partition; events that concern no group, but for what is told of every batch, replica and
// transaction, and of partitions of other topics than __consumer_offsets; GroupSummarized as groups change, at most one a
// second for a group whose state stays; GenerationRecorded of the group to follow. Another group is another connection.
//
// GroupSummarized and GenerationRecorded are no events with a place of their own: each has the Seq of the last event that it
// holds, which was sent before it, or would have been. A GroupSummarized replaces the group's earlier one (Gone: there is
// none any more), a GenerationRecorded the one with the same Generation and StartedMs; either may come again. Whoever
// goes on with from is sent first those that it may have missed.
//
// # Floods
//
// Of more than 100 000 events in a second only those are kept that the overview needs, and those of groups that are followed with
// overview=1: these viewers miss nothing. Whoever follows everything could not be sent so much and is given a gap and facts once a
// second until it is over. A rebalance of thousands is a burst, and no flood.
//
// The close codes are 1001 (the server stops), 1008 (the viewer spoke or flooded, or there are more than 10 000 groups and it
// wants everything of all) and 1011 (the facts could not be
// read); whoever does not read for WriteTimeout is cut without one.
package live
