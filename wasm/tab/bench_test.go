package tab

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"grouplab/static/view"
)

// TestMain fits the heap as the page's program does, where a tab is measured in WASM.
func TestMain(m *testing.M) {
	if runtime.GOOS == "js" {
		PrepareHeap()
	}
	os.Exit(m.Run())
}

// crowd is a lesson with many consumers, one of which is killed.
func crowd(b testing.TB, members int) *desk {
	b.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "setup\n  topic orders %d\n  group g\n", members)
	for i := range members {
		fmt.Fprintf(&s, "  consumer c%d session=10s\n", i)
	}
	for i := range members {
		fmt.Fprintf(&s, "  start c%d\n", i)
	}
	fmt.Fprintf(&s, "  until state Stable and members == %d\nstep all\ngoal none state Dead\nsolution none\n  kill c0\n", members)
	page, err := json.Marshal(view.LessonPage{ID: "crowd", Steps: []view.StepPage{{Name: "all"}}})
	if err != nil {
		b.Fatal(err)
	}
	t, err := NewLesson(s.String(), string(page), Choices{Motion: "full"})
	if err != nil {
		b.Fatal(err)
	}
	d := &desk{Tab: t, t: b, wall: 1000}
	d.do("take-over", "")
	d.do("kill", "c0")
	return d
}

// BenchmarkFrame is a frame at speed 1 with 50 members, the world, the picture and its HTML included.
func BenchmarkFrame(b *testing.B) {
	d := crowd(b, 50)
	d.do("play", "")
	for b.Loop() {
		d.frame(16)
	}
}

// BenchmarkTenMinutes is ten minutes of 100 members, the picture included.
func BenchmarkTenMinutes(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		d := crowd(b, 100)
		b.StartTimer()
		d.lesson.pass(d.lesson.cursor.nowMs + 1)
		for end := d.lesson.cursor.nowMs + 600_000; d.lesson.cursor.nowMs < end; {
			d.lesson.pass(end)
		}
	}
}

// BenchmarkStepBack is one event back, in the middle between two saves.
func BenchmarkStepBack(b *testing.B) {
	d := crowd(b, 50)
	d.do("speed", "100")
	d.do("play", "")
	for range 100 {
		d.frame(16)
	}
	d.do("pause", "")
	for b.Loop() {
		if d.seq() < d.lesson.head.startSeq+10 {
			d.do("end", "")
		}
		d.do("back", "")
	}
}
