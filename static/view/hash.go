package view

import "unicode/utf16"

// javaHash is java.lang.String.hashCode: 31 times the sum so far plus the next UTF-16 unit, in 32 bits.
func javaHash(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// partitionOf is the partition of __consumer_offsets that a group lives in: Kafka's Utils.abs clears the sign bit, which
// is not the absolute value.
func partitionOf(group string, partitions int32) int32 {
	if partitions < 1 {
		return -1
	}
	return (javaHash(group) & 0x7fffffff) % partitions
}
