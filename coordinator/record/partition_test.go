package record

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// FC-01: the partition rule, with values computed by a JVM.
func TestFC01_PartitionRule(t *testing.T) {
	for _, c := range []struct {
		group           string
		hash, of, lives int32
	}{
		{"", 0, 50, 0},
		{"a", 97, 50, 47},
		{"foo", 101574, 50, 24},
		{"bar", 97299, 50, 49},
		{"groupId", 293428218, 50, 18},
		{"otherGroup", -204443313, 50, 13},
		{"my-group", -1906497762, 50, 12},
		{"orders", -1008770331, 50, 31},
		{"payments", 1382682413, 50, 13},
		{"connect-cluster", 1440343063, 50, 13},
		{"été", 227742, 50, 42},
		{"😀", 1772899, 50, 49},
		{"polygenelubricants", -2147483648, 50, 0},
		{"groupId", 293428218, 2, 0},
		{"deadGroupId", -1058472202, 2, 0},
		{"otherGroup", -204443313, 2, 1},
		{"invalid-group", 2015717161, 2, 1},
		{"orders", -1008770331, 1, 0},
	} {
		if got := HashCode(c.group); got != c.hash {
			t.Errorf("HashCode(%q) = %d, want %d", c.group, got, c.hash)
		}
		if got := Partition(c.group, c.of); got != c.lives {
			t.Errorf("Partition(%q, %d) = %d, want %d", c.group, c.of, got, c.lives)
		}
	}
}

func TestHashCodeIsOverUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		h := int32(0)
		for _, unit := range utf16.Encode([]rune(s)) {
			h = 31*h + int32(unit)
		}
		if got := HashCode(s); got != h {
			t.Fatalf("HashCode(%q) = %d, want %d", s, got, h)
		}
		n := rapid.Int32Range(1, 1<<31-1).Draw(t, "n")
		if p := Partition(s, n); p < 0 || p >= n {
			t.Fatalf("Partition(%q, %d) = %d", s, n, p)
		}
	})
}

func TestPartitionOfNone(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `Partition("g", 0): __consumer_offsets has at least one`) {
			t.Errorf("panic %q", text)
		}
	}()
	Partition("g", 0)
}

func BenchmarkPartition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Partition("orders-svc-of-the-warehouse", 50)
	}
}
