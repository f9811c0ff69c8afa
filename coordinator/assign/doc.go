// Package assign computes assignments of partitions to consumers, as the leader of a group does: Kafka's range,
// roundrobin, sticky and cooperative-sticky. The same members and partitions give the same assignment, in whatever order
// the members come.
package assign
