package view

import (
	"math"
	"unicode/utf16"
)

// partition is the partition of __consumer_offsets that the group on stage lives in: the one that facts named, else the
// one that its name leads to; -1 while the topic is not known.
func (s *stage) partition() int32 {
	if s.g.Partition >= 0 {
		return s.g.Partition
	}
	if t := s.m.Topics[offsetsTopic]; t != nil {
		return partitionOf(s.g.Name, t.Partitions)
	}
	return -1
}

// javaHash is java.lang.String.hashCode: 31 times the sum so far plus the next UTF-16 unit, in 32 bits.
func javaHash(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}

// partitionOf is the partition of __consumer_offsets that a group lives in.
func partitionOf(group string, partitions int32) int32 {
	if partitions < 1 {
		return -1
	}
	return javaAbs(javaHash(group)) % partitions
}

// javaAbs is Kafka's Utils.abs: the absolute value, and 0 for the one number that has none.
func javaAbs(h int32) int32 {
	switch {
	case h == math.MinInt32:
		return 0
	case h < 0:
		return -h
	}
	return h
}
