package e2e

import (
	"testing"
	"time"
)

// BenchmarkFirstLesson prints when a lesson can be read and when it can be used, in milliseconds after the page was asked
// for, from local disk in a browser with an empty profile: the medians of five. The budget is 1 500 ms to be usable.
func BenchmarkFirstLesson(b *testing.B) {
	base := labServer(b)
	for b.Loop() {
		var read, used []float64
		for range 5 {
			page := open(b, base+"/lab/unclean-restart", 1440, 900)
			page.until("the lesson to be usable", `performance.getEntriesByName("grouplab-ready").length`, 30*time.Second)
			used = append(used, eval[float64](page, `performance.getEntriesByName("grouplab-ready")[0].startTime`))
			read = append(read, eval[float64](page, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN`))
		}
		b.ReportMetric(median(read), "ms-readable")
		b.ReportMetric(median(used), "ms-usable")
		b.ReportMetric(0, "ns/op")
	}
}
