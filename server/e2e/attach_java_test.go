//go:build interop

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/app"
	"grouplab/server/e2e/apache"
)

// partitionOf is the partition of __consumer_offsets that has a group.
func partitionOf(group string) int32 { return record.Partition(group, 6) }

// What the Java consumer writes when it has joined, and when it was given partitions.
var (
	javaJoined = regexp.MustCompile(`^\[([^\]]+)\] INFO .*Successfully joined group with generation Generation\{generationId=(\d+), memberId='([^']+)'`)
	javaAdded  = regexp.MustCompile(`^\[([^\]]+)\] INFO .*Adding newly assigned partitions: ?(.*?) \(`)
	javaNoted  = regexp.MustCompile(`orders-(\d+)`)
)

// javaSaid is what a Java consumer's own log says of one generation.
type javaSaid struct {
	generation int32
	member     string
	joinedMs   int64
	has        []int32
}

func javaLog(t testing.TB, file string) (list []javaSaid) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) int64 {
		when, err := time.ParseInLocation("2006-01-02 15:04:05,000", s, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when.UnixMilli()
	}
	for line := range strings.Lines(string(text)) {
		if m := javaJoined.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			list = append(list, javaSaid{int32(n), m[3], at(m[1]), nil})
		} else if m := javaAdded.FindStringSubmatch(line); m != nil && len(list) > 0 {
			for _, p := range javaNoted.FindAllStringSubmatch(m[2], -1) {
				n, _ := strconv.Atoi(p[1])
				list[len(list)-1].has = append(list[len(list)-1].has, int32(n))
			}
			slices.Sort(list[len(list)-1].has)
		}
	}
	return list
}

// javaConsumers are Kafka's own consumers, as kafka-console-consumer.sh runs them; their own logs say of which generation they were
// which member, and what they were given.
func javaConsumers(t *testing.T, cluster *apache.Cluster, watcher *app.Server, sum tally) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".log") }
	start := func(name string) *exec.Cmd {
		settings := filepath.Join(dir, name+".properties")
		text := fmt.Sprintf("client.id=%s\nsession.timeout.ms=6000\nheartbeat.interval.ms=500\npartition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor\n", name)
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(file(name))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd := cluster.Java("org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", strings.Join(cluster.Addrs(), ","), "--topic", "orders",
			"--group", "java", "--consumer.config", settings)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	rest := func(step string, clients ...string) {
		t.Helper()
		eventually(t, time.Minute, func() error {
			truth := map[string][]int32{}
			for _, name := range clients {
				if said := javaLog(t, file(name)); len(said) > 0 {
					truth[name] = said[len(said)-1].has
				}
				if len(truth[name]) != 6/len(clients) {
					return fmt.Errorf("java, %s: the consumers' logs say %v", step, truth)
				}
			}
			if got := last(events(t, watcher), "java"); got != fmt.Sprint(truth) {
				return fmt.Errorf("java, %s: the consumers' logs say %v, the watcher says %s", step, truth, got)
			}
			return nil
		})
		sum.add("Java's own logs: who owns what", verdictRight)
	}
	start("j1")
	rest("first join", "j1")
	j2 := start("j2")
	rest("second join", "j1", "j2")
	_ = j2.Process.Kill()
	_ = j2.Wait()
	rest("kill", "j1")
	j3 := start("j3")
	rest("another join", "j1", "j3")
	_ = j3.Process.Signal(syscall.SIGTERM) // its hook closes the consumer, which leaves
	_ = j3.Wait()
	rest("leave", "j1")
	all := events(t, watcher)
	told := toldGenerations(all, "java")
	for _, name := range []string{"j1", "j2", "j3"} {
		for _, s := range javaLog(t, file(name)) {
			g := told[s.generation]
			if g == nil {
				check(t, sum, "Java's own logs: generations", false, "%s was in generation %d, which is not told", name, s.generation)
				continue
			}
			check(t, sum, "Java's own logs: assignments", slices.Equal(g.owns[name], s.has), "%s has %v in generation %d, told is %v", name, s.has, s.generation, g.owns)
			check(t, sum, "Java's own logs: members", memberOf(all, "java", s.member) == name, "%s is %s by its own log, told is %q", s.member, name, memberOf(all, "java", s.member))
			// It writes the line when the answer to its JoinGroup has come.
			check(t, sum, "Java's own logs: join phases end", g.joined.lo <= s.joinedMs+slackMs && s.joinedMs <= g.joined.hi+tickMs, "%s joined generation %d at %d, told is %v", name, s.generation, s.joinedMs, g.joined)
			t.Logf("java     generation %2d: %s joined %+d ms after the end of the join phase, has %v", s.generation, name, s.joinedMs-g.joined.hi, s.has)
		}
	}
}

// memberOf is the client id that is told of a member.
func memberOf(all []event.Event, group, member string) string { return clientsOf(all, group)[member] }
