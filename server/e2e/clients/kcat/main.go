// Command kcat plays the scenario with the kcat program.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"grouplab/server/e2e/clients/agent"
)

func main() { agent.Serve((&steps{}).do) }

type steps struct{ member *member }

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	switch q.Do {
	case "hello":
		out, err := exec.Command("kcat", "-V").CombinedOutput()
		version := regexp.MustCompile(`Version (\S+).*librdkafka ([0-9.]+)`).FindSubmatch(out)
		if err != nil || version == nil {
			return r, fmt.Errorf("kcat -V: %s", out)
		}
		return agent.Reply{Version: fmt.Sprintf("%s (librdkafka %s)", version[1], version[2]), Compressions: []string{"none", "gzip", "snappy", "lz4", "zstd"}}, nil
	case "knock":
		return knock(q), nil
	case "produce":
		for p := range q.Partitions {
			if err := produce(q, p); err != nil {
				return r, err
			}
		}
		return r, nil
	case "read":
		return read(q)
	case "join":
		s.member, err = join(q)
		return r, err
	case "assignment":
		return s.member.assignment()
	case "leave":
		return r, s.member.leave()
	case "transaction":
		return r, agent.Missing("transactions that are aborted, or that commit offsets")
	}
	return r, agent.Missing("administration and groups' offsets")
}

func kcat(q agent.Request, args ...string) *exec.Cmd {
	where := []string{"-b", q.Bootstrap}
	if sec, on := agent.Secured(); on {
		for name, value := range sec.Librdkafka() {
			where = append(where, "-X", name+"="+value)
		}
	}
	return exec.Command("kcat", append(where, args...)...)
}

// knock lists the cluster.
func knock(q agent.Request) (r agent.Reply) {
	if out, err := kcat(q, "-L").CombinedOutput(); err != nil {
		r.State = strings.Join(strings.Split(strings.TrimSpace(string(out)), "\n"), "; ")
	}
	return r
}

func produce(q agent.Request, partition int) error {
	cmd := kcat(q, "-P", "-t", q.Topic, "-p", fmt.Sprint(partition), "-z", q.Compression)
	var lines strings.Builder
	for i := partition; i < q.N; i += q.Partitions {
		lines.WriteString(agent.Value(q.Compression, i) + "\n")
	}
	cmd.Stdin = strings.NewReader(lines.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kcat -P: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func read(q agent.Request) (r agent.Reply, err error) {
	cmd := kcat(q, "-C", "-t", q.Topic, "-o", "beginning", "-e", "-q")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("kcat -C: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		r.Values = append(r.Values, agent.Name([]byte(strings.TrimSuffix(line, "\n"))))
	}
	return r, nil
}

// member is a kcat -G that runs.
type member struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu               sync.Mutex
	owned            []int
	assigns, revoked int
	last             string
	seen             atomic.Int64
}

func join(q agent.Request) (*member, error) {
	args := []string{"-u", "-G", q.Group, "-X", fmt.Sprintf("session.timeout.ms=%d", q.SessionMs)}
	if q.Instance != "" {
		args = append(args, "-X", "group.instance.id="+q.Instance)
	}
	if q.Assignor != "" {
		args = append(args, "-X", "partition.assignment.strategy="+q.Assignor)
	}
	m := &member{cmd: kcat(q, append(args, q.Topic)...), ended: make(chan struct{})}
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := m.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	m.cmd.Stdout = lineCounter{&m.seen}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	go m.listen(bufio.NewScanner(said))
	return m, nil
}

// lineCounter counts the records that are printed, a line each.
type lineCounter struct{ n *atomic.Int64 }

func (c lineCounter) Write(text []byte) (int, error) {
	c.n.Add(int64(bytes.Count(text, []byte("\n"))))
	return len(text), nil
}

var partition = regexp.MustCompile(`\[(\d+)\]`)

// listen follows what kcat says of its group: "% Group g rebalanced (memberid m): assigned: topic [0], topic [1]", or
// "rebalanced: incremental assignment of 2 partition(s) (memberid m, COOPERATIVE rebalance protocol): topic [0], topic [1]".
func (m *member) listen(lines *bufio.Scanner) {
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		m.mu.Lock()
		m.last = lines.Text()
		if _, what, ok := strings.Cut(m.last, " rebalanced"); ok {
			var some []int
			for _, found := range partition.FindAllStringSubmatch(what, -1) {
				p, _ := strconv.Atoi(found[1])
				some = append(some, p)
			}
			m.owned = slices.DeleteFunc(m.owned, func(p int) bool { return slices.Contains(some, p) })
			if strings.Contains(what, "assigned:") || strings.Contains(what, "incremental assignment") {
				m.owned = append(m.owned, some...)
				m.assigns++
			} else {
				m.revoked += len(some)
			}
		}
		m.mu.Unlock()
	}
	m.cmd.Wait()
	close(m.ended)
}

func (m *member) assignment() (r agent.Reply, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.ended:
		return r, fmt.Errorf("kcat -G ended: %s", m.last)
	default:
	}
	return agent.Reply{Partitions: slices.Clone(m.owned), Assigns: m.assigns, Revoked: m.revoked, Seen: int(m.seen.Load())}, nil
}

func (m *member) leave() error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-m.ended
	return nil
}
