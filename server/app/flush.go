package app

import (
	"fmt"
	"math"
	"strconv"

	"grouplab/server/store"
)

// flushIntervalMs is how often -flush interval writes.
const flushIntervalMs = 1000

// unkept says why a topic's flush.messages or flush.ms cannot be kept, "" where it is: -flush decides for all logs when records
// reach the disk itself, and a topic's own word is taken only where that is at least as often.
func (b *backend) unkept(name, value string) string {
	if name != "flush.messages" && name != "flush.ms" {
		return ""
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil || n == math.MaxInt64 || b.flush == store.Always:
		return "" // no number at all is refused by the topic
	case b.data == nil:
		return fmt.Sprintf("%s=%s cannot be kept: nothing is written to a disk (-data)", name, value)
	case name == "flush.ms" && b.flush == store.Interval && n >= flushIntervalMs:
		return ""
	}
	return fmt.Sprintf("%s=%s cannot be kept: -flush says for all topics when records reach the disk, and always is as often as any topic can want", name, value)
}
