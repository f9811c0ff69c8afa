package view

import "testing"

// The vectors of Kafka's rule, with 50 partitions: Utils.abs(group.hashCode()) % 50.
func TestPartitionOf(t *testing.T) {
	for group, want := range map[string]int32{"": 0, "a": 47, "foo": 24, "groupId": 18, "otherGroup": 13, "my-group": 12, "orders": 31,
		"été": 42, "😀": 49, "polygenelubricants": 0} {
		if got := partitionOf(group, 50); got != want {
			t.Errorf("%q lives in partition %d; want %d", group, got, want)
		}
	}
}
