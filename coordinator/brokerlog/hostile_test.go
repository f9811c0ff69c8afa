package brokerlog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"grouplab/coordinator/brokerlog"
)

// TestNothingHostileBreaksIt: what a line holds costs no more than its length, and stays text.
func TestNothingHostileBreaksIt(t *testing.T) {
	const failed = " in group ledger has failed, removing it from the group"
	for name, text := range map[string]string{
		"long":          strings.Repeat("x", 64<<10),
		"anchors":       strings.Repeat("Preparing to rebalance group ", 10_000),
		"brackets":      strings.Repeat("[GroupId ", 20_000),
		"braces":        strings.Repeat(`{"`, 20_000) + "}",
		"nested":        strings.Repeat(`{"a":`, 20_000) + strings.Repeat("}", 20_000),
		"NUL":           "Member m\x00-1" + failed,
		"invalid UTF-8": "Member m\xff\xfe-1" + failed,
		"right to left": "Member \u202em-1" + failed,
		"huge name":     "Preparing to rebalance group " + strings.Repeat("g", 5<<20) + " in state Stable with old generation 3",
		"huge number":   "Stabilized group ledger generation 99999999999999999999999 with 3 members",
		"empty names":   "Member  in group  has failed, removing it from the group",
		"one byte":      "[",
	} {
		r := read(text)
		if r.Counts.Lines != 1 {
			t.Errorf("%s: %+v", name, r.Counts)
		}
		for _, e := range r.Events {
			if data, err := json.Marshal(e); err != nil || !utf8.Valid(data) {
				t.Errorf("%s: %s: %v", name, e, err)
			}
		}
		for _, l := range r.Unknown {
			if len(l.Text) > brokerlog.MostShown+10 {
				t.Errorf("%s: %d bytes are kept to be shown", name, len(l.Text))
			}
		}
	}
}

// TestWhatIsKeptIsBounded: more groups, members and lines than anybody has.
func TestWhatIsKeptIsBounded(t *testing.T) {
	log := brokerlog.NewLog(brokerlog.Config{})
	const lines = brokerlog.MostSayings + 5_000
	for i := range lines {
		log.Add(fmt.Sprintf("2026-11-30T04:05:06Z Member m-%d in group g-%d has failed, removing it from the group", i, i))
	}
	for range 2 * brokerlog.MostUnknown {
		log.Add("2026-11-30T04:05:06Z the group is odd")
	}
	telling := log.Finish()
	for telling.Step(10_000) {
	}
	r := telling.Result()
	if r.Dropped != 5_000 || len(r.Sayings) != brokerlog.MostSayings || len(r.Unknown) != brokerlog.MostUnknown || r.Counts.Unknown != 2*brokerlog.MostUnknown || len(r.Events) > brokerlog.MostEvents {
		t.Errorf("dropped %d, %d sayings, %d unknown, %d events", r.Dropped, len(r.Sayings), len(r.Unknown), len(r.Events))
	}
}

func FuzzLines(f *testing.F) {
	for _, c := range linesOfSources {
		f.Add(c.line)
		f.Add(c.line + "\n" + c.line[:len(c.line)/2])
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		if c := r.Counts; c.Understood+c.Rest+c.Unknown > c.Lines {
			t.Fatalf("%+v", c)
		}
		for i, e := range r.Events {
			if e.Seq != int64(i)+1 || e.Cause >= e.Seq || r.Lines[i] < 1 || r.Lines[i] > r.Counts.Lines {
				t.Fatalf("event %d of line %d: %s", i, r.Lines[i], e)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Fatal(err)
			}
		}
		p := brokerlog.New(brokerlog.Config{})
		for line := range strings.Lines(text) {
			p.Line(1, line)
		}
	})
}

// BenchmarkLines reads a log of which one line in four says something, as brokers' do on a busy day.
func BenchmarkLines(b *testing.B) {
	var lines []string
	for _, c := range linesOfSources {
		lines = append(lines, c.line, "[2026-11-30 04:05:06,789] INFO [Log partition=orders-0, dir=/var/kafka] Rolled new log segment at offset 123456 in 3 ms. (kafka.log.Log)",
			"[2026-11-30 04:05:06,789] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition orders-1 with TruncationState(offset=5, completed=true) (kafka.server.ReplicaFetcherThread)",
			"2026-11-30T04:05:06.789Z INFO com.example.shop.Orders order 123456 of customer 99 was shipped")
	}
	bytes := 0
	for i := range lines {
		bytes += len(lines[i])
	}
	const rounds = 100
	b.SetBytes(int64(rounds * bytes))
	for b.Loop() {
		log := brokerlog.NewLog(brokerlog.Config{})
		for range rounds {
			for _, line := range lines {
				log.Add(line)
			}
		}
		log.Finish()
	}
	b.ReportMetric(float64(rounds*len(lines))*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
