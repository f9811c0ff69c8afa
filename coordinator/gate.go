package coordinator

import (
	"fmt"
	"slices"

	"grouplab/coordinator/record"
)

// Guards that several requests share: which check decided.
const (
	guardNoGroup     = "the group does not exist here"
	guardRebalancing = "the group is rebalancing"
	guardEmpty       = "the group has no members"
	guardMembers     = "the group has members"
	guardTooLong     = "a string is longer than 32767 bytes, which no record can hold"
)

// partition is what this broker knows of one partition of __consumer_offsets.
type partition struct {
	number int32
	epoch  int32 // of the last immigration or emigration
	owned  bool
	load   *load // not nil while the log is read
}

// gate is the check before all others: the group id, then whether its partition is loading, then whether this broker
// owns it. It returns the partition.
func (c *Coordinator) gate(group string, emptyIsLegal bool) (number int32, code int16, guard string) {
	if group == "" && !emptyIsLegal {
		return 0, codeInvalidGroupID, "the group id is empty"
	}
	if c.offsetsPartitions == 0 {
		return 0, codeNotCoordinator, "__consumer_offsets does not exist"
	}
	number = c.partitionOf(group)
	p := c.partitions[number]
	switch {
	case p != nil && p.load != nil:
		return number, codeLoadInProgress, fmt.Sprintf("__consumer_offsets-%d is loading", number)
	case p == nil || !p.owned:
		return number, codeNotCoordinator, fmt.Sprintf("__consumer_offsets-%d is not led by this broker", number)
	}
	return number, codeNone, ""
}

// partitionOf is the partition of __consumer_offsets that a group lives in.
func (c *Coordinator) partitionOf(group string) int32 {
	return record.Partition(group, c.offsetsPartitions)
}

// tooLong tells whether one of the strings is longer than a record can hold. Kafka's own parser closes the connection
// on such a string; where a host did not, the request is refused.
func tooLong(list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return len(s) > record.MaxStringBytes })
}
