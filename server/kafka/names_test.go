package kafka

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongNamesAreNotKept demands that a client which makes up names, long ones too, cannot make its connection keep them all.
func TestLongNamesAreNotKept(t *testing.T) {
	c := &conn{}
	var last string
	for i := range 100 {
		name := fmt.Sprint(strings.Repeat("g", keptName), i)
		if got := c.keep(name, &last); got != name || last != name {
			t.Fatalf("%q is kept as %q, the last one is %q", name, got, last)
		}
	}
	for i := range 3 * maxNames {
		name := fmt.Sprint("g", i)
		if got := c.keep(name, &last); got != name || last != name {
			t.Fatalf("%q is kept as %q, the last one is %q", name, got, last)
		}
		if len(c.names) > maxNames {
			t.Fatalf("%d names are kept", len(c.names))
		}
	}
	for name := range c.names {
		if len(name) > keptName {
			t.Fatalf("a name of %d bytes is kept", len(name))
		}
	}
}

// TestClaimedBytes demands the same of member ids, and that what is given up makes room again.
func TestClaimedBytes(t *testing.T) {
	var c claims
	key := func(i int) memberKey { return memberKey{"g", fmt.Sprintf("%01023d", i)} }
	most := maxClaimedBytes / 1024
	for i := range most {
		for range 2 { // once more counts once
			if !c.add(key(i)) {
				t.Fatalf("id %d of %d has no room", i, most)
			}
		}
	}
	if c.add(key(most)) || c.bytes != maxClaimedBytes {
		t.Fatalf("there was room for one more, after %d bytes of %d", c.bytes, maxClaimedBytes)
	}
	for i := range most {
		for range 2 {
			c.remove(key(i))
		}
	}
	if c.bytes != 0 || !c.add(memberKey{"g", "m"}) || c.bytes != 2 {
		t.Fatalf("%d bytes are counted where nothing but one short id is left", c.bytes)
	}
}
