package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// kcatPath finds kcat: librdkafka on the command line.
func kcatPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		t.Fatal("kcat is not installed, and a lab for real clients is tested with one: run make setup, or apt-get install kcat, or brew install kcat")
	}
	return path
}

// kcat runs kcat to its end and returns what it printed.
func kcat(t testing.TB, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command(kcatPath(t), args...)
	cmd.Stdin = strings.NewReader(input)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kcat %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return string(out)
}

// member is a kcat that consumes as a member of a group.
type member struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	// owned is its assignment now; seen are the offsets that it read, by partition.
	owned []int
	seen  map[int][]int
	said  []string
}

var assigned = regexp.MustCompile(`assigned: (.*)`)
var partitionIn = regexp.MustCompile(`\[(\d+)\]`)

// joinKcat starts a member. It commits five times a second.
func joinKcat(t testing.TB, brokers []string, group, topic string, options ...string) *member {
	t.Helper()
	args := []string{"-b", strings.Join(brokers, ","), "-G", group, "-u", "-f", "%p %o\n",
		"-X", "heartbeat.interval.ms=200", "-X", "auto.commit.interval.ms=200", "-X", "auto.offset.reset=earliest",
		"-X", "topic.metadata.refresh.interval.ms=1000", "-X", "reconnect.backoff.max.ms=500"}
	for _, o := range options {
		args = append(args, "-X", o)
	}
	m := &member{cmd: exec.Command(kcatPath(t), append(args, topic)...), seen: map[int][]int{}}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	complaints, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { each(bufio.NewScanner(out), m.read) })
	readers.Go(func() { each(bufio.NewScanner(complaints), m.hear) })
	t.Cleanup(func() {
		m.cmd.Process.Kill()
		readers.Wait()
		m.cmd.Wait()
		if t.Failed() {
			t.Logf("kcat %d said:\n%s", m.cmd.Process.Pid, strings.Join(m.said, "\n"))
		}
	})
	return m
}

func each(lines *bufio.Scanner, do func(string)) {
	for lines.Scan() {
		do(lines.Text())
	}
}

func (m *member) read(line string) {
	p, o, _ := strings.Cut(line, " ")
	partition, err1 := strconv.Atoi(p)
	offset, err2 := strconv.Atoi(o)
	if err1 != nil || err2 != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[partition] = append(m.seen[partition], offset)
}

func (m *member) hear(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, line)
	if strings.Contains(line, "revoked:") {
		m.owned = nil
	}
	if found := assigned.FindStringSubmatch(line); found != nil {
		m.owned = nil
		for _, p := range partitionIn.FindAllStringSubmatch(found[1], -1) {
			n, _ := strconv.Atoi(p[1])
			m.owned = append(m.owned, n)
		}
		slices.Sort(m.owned)
	}
}

func (m *member) assignment() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.owned)
}

func (m *member) saw(partition, offset int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.seen[partition], offset)
}

// missing names an offset below a partition's end that none of the members read.
func missing(ends map[int]int, members ...*member) error {
	for p, end := range ends {
		got := map[int]bool{}
		for _, m := range members {
			m.mu.Lock()
			for _, o := range m.seen[p] {
				got[o] = true
			}
			m.mu.Unlock()
		}
		for o := range end {
			if !got[o] {
				return fmt.Errorf("nobody read orders-%d at %d of %d", p, o, end)
			}
		}
	}
	return nil
}

// owns tells whether a member has that many partitions.
func owns(m *member, partitions int) error {
	if got := m.assignment(); len(got) != partitions {
		return fmt.Errorf("the member has %v, not %d partitions", got, partitions)
	}
	return nil
}
