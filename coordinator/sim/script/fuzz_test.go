package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"grouplab/coordinator/sim/script"
)

// FuzzRun: a script that can be read can be run: it ends, with a failure that names its place or without one, and takes
// memory for what it asks for only. Its work is bounded here, as a page bounds it by the frames that it shows.
func FuzzRun(f *testing.F) {
	const start = "brokers 2\nset offsets.topic.num.partitions 2\nlatency 5ms\ntopic orders 3\ngroup g\nconsumer c1 session=10s heartbeat=1s\nconsumer c2 session=10s\nstart c1\nstart c2\n"
	f.Add(start + "until state Stable and members == 2\nkill c1\nadvance 15s\nexpect members == 1")
	f.Add(start + "advance 10s\nkill-broker 1\nadvance 20s\nrestart-broker 1\npause c1\nadvance 20s\nresume c1\nadvance 5s")
	f.Add(start + "drop c1 Heartbeat 3 answers\nadvance 9s\nadd-partitions orders 9\nbusy c2 400s\nadvance 301s\nstop c2\n! kill c2")
	f.Add("topic t 1\nconsumer a transactional-id=x\nstart a\ncommit a t-0 5\nadvance 1m\nshow kinds all\nloss 50%\nadvance 30s")
	files, _ := filepath.Glob("../../testdata/*.script")
	lessons, _ := filepath.Glob("../../../lessons/content/*/script.txt")
	for _, name := range append(files, lessons...) {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, err := script.Parse("fuzz", text)
		if err != nil || len(commands) > 60 || strings.Count(text, "consumer") > 30 {
			return
		}
		late := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("%q does not end", text)) })
		defer late.Stop()
		e := script.New("fuzz")
		left := 3000
		for _, c := range commands {
			if c.Not && (c.Verb == "advance" || c.Verb == "until") {
				continue // it would run to its end at once
			}
			wait, err := e.Begin(c)
			if err != nil {
				if _, placed := err.(script.Error); !placed {
					t.Fatalf("%q: %v has no place", c.Raw, err)
				}
				break
			}
			for {
				over, err := e.Done(wait)
				if over || err != nil {
					break
				}
				if left--; left < 0 {
					return
				}
				e.Step(wait.UntilMs)
				e.Take()
			}
			if left -= 50; left < 0 {
				break
			}
		}
		if e.World() != nil {
			k := e.Clone()
			k.Step(k.NowMs() + 1000)
			e.World().Facts()
		}
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > 1<<30 {
			t.Fatalf("%d MB are in use", m.HeapAlloc>>20)
		}
	})
}
