package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"grouplab/server/app"
)

// TestARecordingIsSteppedThrough: what a server recorded is opened from it, and the file that it cuts out is opened by a page
// without a server, which shows the same.
func TestARecordingIsSteppedThrough(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Set: quick,
		Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Demo: 2, Record: app.Record{Dir: t.TempDir()}})
	base := "http://" + s.HTTPAddr()
	b := open(t, base+"/live/", 1440, 900)
	b.until("the demo consumers to be served", `document.querySelector("#part-headline")?.innerText.includes("members are served")`, time.Minute)
	b.click("#part-strip .strip-past")
	shown := `document.querySelector("#part-truth")?.innerText.includes("A recording") && document.querySelector("#part-headline")?.innerText.includes("demo")`
	b.until("the recording", shown, time.Minute)
	b.until("its end", `document.querySelector("#part-headline").innerText.includes("Stable") && !document.querySelector("#part-transport [data-do=end]")`, 20*time.Second)
	b.press("Shift+ArrowLeft")
	b.until("a step back", `document.querySelector("#part-transport [data-do=end]") && document.querySelector("#part-transport .fact-seq")`, 20*time.Second)
	b.quiet()

	answer, err := http.Get(base + "/api/recordings/cut?from=0&group=demo&mask=1&topics=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cut, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("cutting: %s, %v", answer.Status, err)
	}
	file := filepath.Join(t.TempDir(), "hour.grouplab")
	if err := os.WriteFile(file, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := siteOnce()
	if err != nil {
		t.Fatal(err)
	}
	h := newPlainHost(t, dir)
	b = open(t, h.root()+"recordings/", 1440, 900)
	b.until("the program", ready, time.Minute)
	b.run("choosing the file", chromedp.SetUploadFiles("#rec-file", []string{file}))
	b.until("the masked recording", `document.querySelector("#part-truth")?.innerText.includes("Pseudonyms") && document.querySelector("#part-headline")?.innerText.includes("group-1")`, time.Minute)
	if text := b.text("body"); strings.Contains(text, "demo-") {
		t.Errorf("a name is left in the masked recording")
	}
	if err := os.WriteFile(file, []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("choosing another file", chromedp.SetUploadFiles("#rec-file", []string{file}))
	b.until("why it cannot be read", `document.querySelector("#part-headline .note")?.innerText.length > 10`, 20*time.Second)
	b.quiet()
}

// TestALogIsPasted: lines become the picture, their count and those that nobody understands are told, a fact leads to its line.
func TestALogIsPasted(t *testing.T) {
	b := open(t, labServer(t)+"/paste/", 1440, 900)
	b.until("the program", ready, time.Minute)
	b.click("[data-do=example]")
	b.until("whom everybody waits for", `document.querySelector("#part-headline")?.innerText.includes("Waiting for 1 of 3: shop-b")`, 30*time.Second)
	b.until("the line that is not understood", `document.querySelector("#side")?.innerText.match(/not understood\s*1/)`, 10*time.Second)
	b.until("the page to be at its stage", `document.activeElement.id === "main"`, 10*time.Second)
	b.press("End")
	b.until("the end", `document.querySelector("#part-transport")?.innerText.includes("fact 59 of 59")`, 10*time.Second)
	if b.text(".paste-near [aria-current]") == "" {
		t.Error("no line is shown for the last fact")
	}
	b.quiet()
}
