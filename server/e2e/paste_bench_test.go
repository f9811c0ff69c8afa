package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// longLog writes a broker's log of so many lines into a file: one in a hundred begins or ends a rebalance of one of ten groups, the others
// are what a broker writes beside that.
func longLog(b *testing.B, lines int) (file string, bytes int64) {
	b.Helper()
	file = filepath.Join(b.TempDir(), "server.log")
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	const coordinator = "(org.apache.kafka.coordinator.group.GroupMetadataManager)"
	for i := range lines {
		at = at.Add(50 * time.Millisecond)
		n := i / 200
		group, generation := n%10, n/10
		head := fmt.Sprintf("[%s] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=%d]", at.Format("2006-01-02 15:04:05,000"), group)
		member := fmt.Sprintf("app-%d-1d0c7a52-90be-4a51-8c1e-6f27d1a0b%03d", group, generation%1000)
		switch i % 200 {
		case 0:
			fmt.Fprintf(w, "%s Preparing to rebalance group g%d in state PreparingRebalance with old generation %d (reason: Adding new member %s with group instance id null; client reason: not provided). %s\n", head, group, generation, member, coordinator)
		case 20:
			fmt.Fprintf(w, "%s Stabilized group g%d generation %d with 1 members. %s\n", head, group, generation+1, coordinator)
		case 21:
			fmt.Fprintf(w, "%s Assignment received from leader %s for group g%d for generation %d. The group has 1 members, 0 of which are static. %s\n", head, member, group, generation+1, coordinator)
		case 100:
			fmt.Fprintf(w, "%s Member %s in group g%d has failed, removing it from the group. %s\n", head, member, group, coordinator)
		default:
			fmt.Fprintf(w, "[%s] INFO [LogLoader partition=orders-%d, dir=/var/lib/kafka] Loading producer state till offset %d with message format version 2 (kafka.log.UnifiedLog$)\n", at.Format("2006-01-02 15:04:05,000"), i%50, i)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	at64, err := out.Seek(0, 1)
	if err != nil {
		b.Fatal(err)
	}
	return file, at64
}

// BenchmarkPasteAMillionLines prints how long a real browser takes from a log file of a million lines to its picture, how much memory
// the program needs for it, and the longest that the page stood still meanwhile.
func BenchmarkPasteAMillionLines(b *testing.B) {
	base := labServer(b)
	file, bytes := longLog(b, 1_000_000)
	for b.Loop() {
		page := open(b, "about:blank", 1440, 900)
		page.before(catchMemory)
		page.run("opening the page", chromedp.Navigate(base+"/paste/"))
		page.until("the program", ready, time.Minute)
		eval[int](page, `window.longest = 0; let was = performance.now(); setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - was); was = now }, 10); 0`)
		empty := eval[float64](page, labMB)
		began := time.Now()
		page.run("choosing the file", chromedp.SetUploadFiles("#side input[type=file]", []string{file}))
		page.until("all lines to be read", `document.querySelector("#side")?.innerText.replace(/\D/g, "").includes("1000000")`, 5*time.Minute)
		page.until("the picture", `document.querySelector("#part-headline")?.innerText.length > 10 && !!document.querySelector("#part-transport .fact-seq")`, 5*time.Minute)
		b.ReportMetric(time.Since(began).Seconds(), "s-to-picture")
		b.ReportMetric(float64(bytes)/1e6, "MB-log")
		b.ReportMetric(empty, "MB-before")
		b.ReportMetric(eval[float64](page, labMB), "MB-program")
		b.ReportMetric(eval[float64](page, "longest"), "ms-longest-stall")
		b.ReportMetric(0, "ns/op")
		b.Logf("the page says: %.300s", page.text("#side"))
	}
}
