// Package kafka speaks Apache Kafka's wire protocol on TCP, one listener a broker, and knows nothing of how a cluster
// works: brokers, topics and logs are behind the interface Cluster, the goroutine that owns them behind Loop.
//
// # The way of a request
//
// A connection has two goroutines. The reader cuts frames (frame.go), checks key and version before it decodes anything
// (header.go), decodes, and posts what it has to the loop. On the loop's goroutine (turn.go) the requests of one
// connection run strictly one after the other: the next one starts when the one before is answered. That is Kafka's rule
// (its SocketServer mutes a channel while a request is under way), so a parked JoinGroup or a waiting Fetch holds up what
// was sent behind it on the same connection, and answers cannot overtake one another. A writer (writer.go), which an
// idle connection has not, encodes and writes. Each API key has a file of its own, named by its number, with its versions and KIPs on top.
//
// # Bounds
//
// A frame is at most socket.request.max.bytes for Produce and maxControlFrame for all else, and its buffer grows with
// what really arrives. A connection decodes ahead at most maxInFlight requests or maxInFlightBytes, then it is not read
// any more; it holds at most maxUnwrittenBytes of answers that its client does not take, then its requests wait; and a
// client that takes nothing for writeTimeout is cut off. connections.max.idle.ms ends idle connections.
//
// # What is left out
//
// Quotas and TLS. What is not whole is not advertised.
package kafka
