package tab

import (
	"regexp"
	"strings"
	"testing"
)

// TestAnnouncementsAreMerged: what a press passes is one sentence with the heartbeats counted, and what piles up within
// speakMs is one announcement of at most four sentences.
func TestAnnouncementsAreMerged(t *testing.T) {
	d := crowd(t, 20)
	d.do("speed", "100")
	d.do("play", "")
	for d.lesson.cursor.nowMs < d.lesson.head.startMs+30_000 {
		d.frame(16)
	}
	d.do("pause", "")
	d.do("start", "")
	d.frame(2 * speakMs)
	d.said = nil
	d.lesson.cursor.toTime(d.lesson.head.startMs + 6000) // each of the twenty has sent a heartbeat, or two
	d.dirty = true
	d.frame(2 * speakMs)
	if len(d.said) != 1 || !regexp.MustCompile(`^\d+ heartbeats, then \d+ more events, then `).MatchString(d.said[0]) {
		t.Fatalf("six seconds of twenty members are told as %q", d.said)
	}

	// Ten presses within a frame's time.
	before := len(d.said)
	for range 10 {
		d.key("w")
	}
	if d.frame(speakMs / 2); len(d.said) != before {
		t.Errorf("told within %d ms: %q", speakMs/2, d.said[before:])
	}
	d.frame(2 * speakMs)
	if len(d.said) != before+1 {
		t.Fatalf("ten presses are %d announcements: %q", len(d.said)-before, d.said[before:])
	}
	if waits := strings.Count(d.said[before], "Nobody waits yet"); waits != 1 {
		t.Errorf("ten presses of one key are told %d times: %s", waits, d.said[before])
	}
}
