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
// The close codes are 1001 (the server stops), 1008 (the viewer spoke or flooded) and 1011 (the facts could not be
// read); whoever does not read for WriteTimeout is cut without one.
package live
