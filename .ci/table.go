// Command table reads what the benchmarks print and prints one table: what was measured (the median of its runs), the
// budget, and whether it was met. Machines differ and are noisy: the ratios at the end of the rows compare figures of the
// same run. It exits 0 whatever was missed: figures are for people.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// row is one figure. of finds the benchmark: "goos package Benchmark unit".
type row struct {
	label string
	of    string
	// perSecond turns ns/op into how many a second; by divides.
	perSecond bool
	by        float64
	unit      string
	// least or most is the budget, 0 for a figure that is printed for comparison only.
	least, most float64
	// beside compares with another figure of the same run: "1.3 x NAME".
	beside, name string
}

const (
	machine = "linux grouplab/coordinator "
	wheel   = "linux grouplab/coordinator/purgatory "
	hub     = "linux grouplab/server/live "
)

var rows = []row{
	{label: "tab: live.wasm, brotli 11", of: "size live.wasm.br Size bytes", by: 1e6, unit: "MB", most: 2},
	{label: "tab: lab.wasm, brotli 11", of: "size lab.wasm.br Size bytes", by: 1e6, unit: "MB", most: 2},
	{label: "machine: heartbeats of 1 000 members", of: machine + "Heartbeat ns/op", perSecond: true, unit: "/s", least: 2e6},
	{label: "  where each is told", of: machine + "HeartbeatTold ns/op", perSecond: true, unit: "/s"},
	{label: "machine: commits of 10 partitions", of: machine + "Commit10 ns/op", perSecond: true, unit: "/s", least: 300e3},
	{label: "  through drive, log, one broker", of: "linux grouplab/coordinator/drive Commit/brokers=1/quiet=false ns/op", perSecond: true, unit: "/s"},
	{label: "  the same, nobody watching", of: "linux grouplab/coordinator/drive Commit/brokers=1/quiet=true ns/op", perSecond: true, unit: "/s",
		beside: "linux grouplab/coordinator/drive Commit/brokers=1/quiet=false ns/op", name: "the time when watched"},
	{label: "machine: rebalance of 1 000 members", of: machine + "Rebalance ns/op", by: 1e6, unit: "ms", most: 20},
	{label: "machine: an idle member", of: machine + "Memory/members B/member", unit: "B", most: 2000},
	{label: "machine: a stored offset, loaded", of: machine + "Memory/loaded B/offset", unit: "B", most: 64},
	{label: "machine: a stored offset, committed", of: machine + "Memory/committed B/offset", unit: "B", most: 64},
	{label: "wheel: re-arm among 10", of: wheel + "WheelRearm/N=10 ns/op", unit: "ns", most: 50, beside: wheel + "AfterFuncReset/random=false/N=10 ns/op", name: "time.AfterFunc"},
	{label: "wheel: re-arm among 1 000", of: wheel + "WheelRearm/N=1000 ns/op", unit: "ns", most: 50, beside: wheel + "AfterFuncReset/random=false/N=1000 ns/op", name: "time.AfterFunc"},
	{label: "wheel: re-arm among 100 000", of: wheel + "WheelRearm/N=100000 ns/op", unit: "ns", most: 50, beside: wheel + "AfterFuncReset/random=false/N=100000 ns/op", name: "time.AfterFunc"},
	{label: "wheel: re-arm among 10 000 000", of: wheel + "WheelRearm/N=10000000 ns/op", unit: "ns", most: 50, beside: wheel + "WheelRearm/N=10 ns/op", name: "among 10 (flat)"},
	{label: "  allocations", of: wheel + "WheelRearm/N=10000000 allocs/op", unit: ""},
	{label: "  at random among 100 000", of: wheel + "WheelRearmRandom/N=100000 ns/op", unit: "ns", beside: wheel + "AfterFuncReset/random=true/N=100000 ns/op", name: "time.AfterFunc"},
	{label: "  at random among 10 000 000", of: wheel + "WheelRearmRandom/N=10000000 ns/op", unit: "ns"},
	{label: "load: the machine alone", of: machine + "Load records/s", unit: "records/s", least: 1e6},
	{label: "load: out of the log", of: "linux grouplab/coordinator/drive Load records/s", unit: "records/s", least: 1e6},
	{label: "world: 10 minutes of 100 members, native", of: "linux grouplab/coordinator/sim TenMinutesOfAHundredMembers ns/op", by: 1e9, unit: "s", most: 1},
	{label: "world: the same in WASM", of: "js grouplab/coordinator/sim TenMinutesOfAHundredMembers ns/op", by: 1e9, unit: "s", most: 1,
		beside: "linux grouplab/coordinator/sim TenMinutesOfAHundredMembers ns/op", name: "native"},
	{label: "tab: the same with the picture, native", of: "linux grouplab/wasm/tab TenMinutes ns/op", by: 1e9, unit: "s"},
	{label: "tab: the same with the picture, in WASM", of: "js grouplab/wasm/tab TenMinutes ns/op", by: 1e9, unit: "s", most: 1,
		beside: "linux grouplab/wasm/tab TenMinutes ns/op", name: "native"},
	{label: "tab: first lesson usable, in Chromium", of: "linux grouplab/server/e2e FirstLesson ms-usable", unit: "ms", most: 1500},
	{label: "tab: 95 % of frames, 50 members, in Chromium", of: "linux grouplab/server/e2e Frames50 ms-p95", unit: "ms", most: 16.7},
	{label: "tab: 95 % of frames, 500 members, in Chromium", of: "linux grouplab/server/e2e Frames500 ms-p95", unit: "ms", most: 33},
	{label: "tab: a step back, 10 000 events, in Chromium", of: "linux grouplab/server/e2e PageBack ms-step", unit: "ms", most: 100},
	{label: "  back over all of them", of: "linux grouplab/server/e2e PageBack ms-start", unit: "ms", most: 100},
	{label: "tab: memory after 20 minutes, 20 members", of: "linux grouplab/server/e2e PageHour MB-20min", unit: "MB"},
	{label: "  after an hour", of: "linux grouplab/server/e2e PageHour MB-60min", unit: "MB", beside: "linux grouplab/server/e2e PageHour MB-20min", name: "after 20 minutes (flat)"},
	{label: "tab: work for 10 minutes of 100, in Chromium", of: "linux grouplab/server/e2e PageTenMinutes s-busy", unit: "s", most: 1},
	{label: "server: heartbeats a CPU second", of: "linux grouplab/server/e2e Heartbeats ours/cpu-s", unit: "/s"},
	{label: "  of a server that only echoes", of: "linux grouplab/server/e2e Heartbeats ours/echo", unit: "x", least: 0.5},
	{label: "  of kfake", of: "linux grouplab/server/e2e Heartbeats ours/kfake", unit: "x", least: 5},
	{label: "  half of them answered within", of: "linux grouplab/server/e2e Heartbeats ours-p50-us", unit: "us", beside: "linux grouplab/server/e2e Heartbeats kfake-p50-us", name: "kfake"},
	{label: "  99 % of them answered within", of: "linux grouplab/server/e2e Heartbeats ours-p99-us", unit: "us", beside: "linux grouplab/server/e2e Heartbeats kfake-p99-us", name: "kfake"},
	{label: "server: commits of 10 a CPU second", of: "linux grouplab/server/e2e Commits ours/cpu-s", unit: "/s"},
	{label: "  of kfake", of: "linux grouplab/server/e2e Commits ours/kfake", unit: "x", least: 4},
	{label: "  half of them answered within", of: "linux grouplab/server/e2e Commits ours-p50-us", unit: "us", beside: "linux grouplab/server/e2e Commits kfake-p50-us", name: "kfake"},
	{label: "  99 % of them answered within", of: "linux grouplab/server/e2e Commits ours-p99-us", unit: "us", beside: "linux grouplab/server/e2e Commits kfake-p99-us", name: "kfake"},
	{label: "server: a rebalance of 500 members", of: "linux grouplab/server/e2e Rebalance500 ours-ms", unit: "ms"},
	{label: "  of kfake", of: "linux grouplab/server/e2e Rebalance500 ours/kfake", unit: "x", most: 1},
	{label: "  of kfake, CPU time", of: "linux grouplab/server/e2e Rebalance500 ours/kfake-cpu", unit: "x", most: 1},
	{label: "server: memory a member and connection", of: "linux grouplab/server/e2e MemberMemory ours-B/member", unit: "B"},
	{label: "  of kfake", of: "linux grouplab/server/e2e MemberMemory ours/kfake", unit: "x", most: 1},
	{label: "server: commits with -data, no fsync", of: "linux grouplab/server/e2e DiskCommits disk/cpu-s", unit: "/s"},
	{label: "  of ours in memory", of: "linux grouplab/server/e2e DiskCommits disk/memory", unit: "x", least: 0.7},
	{label: "  of kfake with its DataDir", of: "linux grouplab/server/e2e DiskCommits disk/kfake", unit: "x", least: 5},
	{label: "restart of a million stored offsets", of: "linux grouplab/server/e2e Restart restart-s", unit: "s", most: 2},
	{label: "hub: 1 000 viewers, 1 000 events/s: half within", of: hub + "Hub/1000 ms-p50", unit: "ms"},
	{label: "  99 % of them within", of: hub + "Hub/1000 ms-p99", unit: "ms", most: 1000},
	{label: "  with slow, dead, hostile ones among them", of: hub + "Hub/1000+30bad ms-p99", unit: "ms", most: 1000, beside: hub + "Hub/1000 ms-p99", name: "without"},
	{label: "  events dropped for a good one", of: hub + "Hub/1000+30bad drops", unit: ""},
	{label: "  memory a viewer", of: hub + "Hub/1000 B/viewer", by: 1e3, unit: "kB", most: 200},
	{label: "  the same, compressed", of: hub + "Hub/1000deflate B/viewer", by: 1e3, unit: "kB"},
	{label: "history: a fact", of: "linux grouplab/server/history Fold ns/event", unit: "ns", most: 100},
	{label: "history: 5 000 groups of 20 partitions", of: "linux grouplab/server/history Fold MB/5000groups", unit: "MB", most: 100},
	{label: "event stream: heartbeats off / watched", of: "linux grouplab/server/e2e Heartbeats ours/watched", unit: "x", most: 1.1},
	{label: "event stream: commits off / watched", of: "linux grouplab/server/e2e Commits ours/watched", unit: "x", most: 1.1},
}

func main() {
	found := read(bufio.NewScanner(os.Stdin))
	fmt.Printf("\n%-42s %18s %22s %-7s\n", "what", "measured", "budget", "")
	for _, r := range rows {
		values := found[r.of]
		if len(values) == 0 {
			fmt.Printf("%-42s %18s %22s %s\n", r.label, "not measured", r.budget(), "")
			continue
		}
		v := r.value(median(values))
		line := fmt.Sprintf("%-42s %18s %22s %-7s", r.label, amount(v)+" "+r.unit, r.budget(), r.verdict(v))
		if other := found[r.beside]; len(other) > 0 {
			line += fmt.Sprintf(" %.2f x %s", median(values)/median(other), r.name)
		}
		fmt.Println(strings.TrimRight(line, " "))
	}
}

func (r row) value(v float64) float64 {
	switch {
	case r.perSecond:
		return 1e9 / v
	case r.by != 0:
		return v / r.by
	}
	return v
}

func (r row) budget() string {
	switch {
	case r.least != 0:
		return "at least " + amount(r.least) + " " + r.unit
	case r.most != 0:
		return "at most " + amount(r.most) + " " + r.unit
	}
	return ""
}

func (r row) verdict(v float64) string {
	switch {
	case r.least == 0 && r.most == 0:
		return ""
	case r.least != 0 && v >= r.least || r.most != 0 && v <= r.most:
		return "met"
	}
	return "MISSED"
}

// amount prints three digits that count, and blanks between thousands.
func amount(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// read collects the figures: "goos package Benchmark unit" to the values of all runs.
func read(in *bufio.Scanner) map[string][]float64 {
	found := map[string][]float64{}
	goos, pkg := "linux", ""
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch {
		case len(words) == 2 && words[0] == "goos:":
			goos = words[1]
		case len(words) == 2 && words[0] == "pkg:":
			pkg = words[1]
		case len(words) == 4 && words[0] == "size":
			if v, err := strconv.ParseFloat(words[3], 64); err == nil {
				found["size "+words[1]+" Size bytes"] = []float64{v}
			}
		case len(words) > 3 && strings.HasPrefix(words[0], "Benchmark"):
			name := strings.TrimPrefix(words[0], "Benchmark")
			if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
				if _, err := strconv.Atoi(name[i+1:]); err == nil {
					name = name[:i]
				}
			}
			os := goos
			if os != "js" {
				os = "linux"
			}
			for i := 2; i+1 < len(words); i += 2 {
				if v, err := strconv.ParseFloat(words[i], 64); err == nil {
					key := os + " " + pkg + " " + name + " " + words[i+1]
					found[key] = append(found[key], v)
				}
			}
		}
	}
	return found
}
