package record

import "fmt"

// Partition is the partition of __consumer_offsets that a group lives in, out of partitions (at least 1):
// Utils.abs(groupId.hashCode) % partitions, as Kafka's partitionFor.
func Partition(group string, partitions int32) int32 {
	if partitions < 1 {
		panic(fmt.Sprintf("record: Partition(%q, %d): __consumer_offsets has at least one partition", group, partitions))
	}
	h := HashCode(group)
	if h == -1<<31 { // Utils.abs: its absolute value does not fit
		return 0
	}
	return max(h, -h) % partitions
}

// HashCode is Java's String.hashCode: over UTF-16 code units, so a character beyond U+FFFF counts as two.
func HashCode(s string) int32 {
	var h int32
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + 0xd800 + r>>10
			r = 0xdc00 + r&0x3ff
		}
		h = 31*h + r
	}
	return h
}
