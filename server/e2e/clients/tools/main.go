// Command tools plays the scenario with Kafka's console tools, run by their main classes: kafka-topics,
// kafka-console-producer, kafka-console-consumer and kafka-consumer-groups.
//
//	tools VERSION CLASSPATH
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"grouplab/server/e2e/clients/agent"
)

const (
	topics   = "org.apache.kafka.tools.TopicCommand"
	groups   = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	producer = "org.apache.kafka.tools.ConsoleProducer"
	consumer = "org.apache.kafka.tools.consumer.ConsoleConsumer"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: tools VERSION CLASSPATH")
		os.Exit(2)
	}
	if err := writeProperties(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	agent.Serve((&steps{}).do)
}

type steps struct {
	bootstrap string
	member    *member
}

func java(class string, args ...string) *exec.Cmd {
	if properties != "" {
		args = append(args, propertiesFlag[class], properties)
	}
	return exec.Command("java", append([]string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", os.Args[2], class}, args...)...)
}

// run runs a tool to its end. The tools say what failed on standard output as often as on the other, and do not always
// end with an exit code that tells.
func (s *steps) run(input, class string, args ...string) (string, error) {
	cmd := java(class, append([]string{"--bootstrap-server", s.bootstrap}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	fmt.Fprintf(os.Stderr, "%s %s\n%s%s", class, strings.Join(args, " "), out, complaints.Bytes())
	said := string(out) + complaints.String()
	if err == nil && !strings.Contains(said, "Error") && !strings.Contains(said, "Exception") {
		return string(out), nil
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "Error") || strings.Contains(line, "Exception") {
			return "", fmt.Errorf("%s: %s", class, strings.TrimSpace(line))
		}
	}
	return "", fmt.Errorf("%s: %w", class, err)
}

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	if q.Bootstrap != "" {
		s.bootstrap = q.Bootstrap
	}
	switch q.Do {
	case "hello":
		return agent.Reply{Version: os.Args[1], Compressions: []string{"none", "gzip", "snappy", "lz4", "zstd"}}, nil
	case "knock":
		if _, err := s.run("", topics, "--list"); err != nil {
			r.State = err.Error()
		}
		return r, nil
	case "create":
		_, err = s.run("", topics, "--create", "--topic", q.Topic, "--partitions", fmt.Sprint(q.N))
	case "delete-topic":
		_, err = s.run("", topics, "--delete", "--topic", q.Topic)
	case "produce":
		var lines strings.Builder
		for i := range q.N {
			fmt.Fprintf(&lines, "%d|%s\n", i, agent.Value(q.Compression, i)) // keys spread them over the partitions
		}
		_, err = s.run(lines.String(), producer, "--topic", q.Topic, "--compression-codec", q.Compression,
			"--property", "parse.key=true", "--property", "key.separator=|")
	case "read":
		out, err := s.run("", consumer, "--topic", q.Topic, "--from-beginning", "--max-messages", fmt.Sprint(q.N), "--timeout-ms", "30000")
		for line := range strings.Lines(out) {
			r.Values = append(r.Values, agent.Name([]byte(strings.TrimSuffix(line, "\n"))))
		}
		return r, err
	case "join":
		s.member, err = s.join(q)
	case "assignment":
		return s.assignment()
	case "commit":
		return r, agent.Missing("commits of a given offset by a member")
	case "leave":
		return r, s.member.leave()
	case "transaction":
		return r, agent.Missing("a transactional producer")
	default:
		return s.administer(q)
	}
	return r, err
}

// groups runs kafka-consumer-groups. By itself it gives a whole command 5 s, in which its Java is not yet warm on a busy machine.
func (s *steps) groups(args ...string) (string, error) {
	return s.run("", groups, append(args, "--timeout", "30000")...)
}

func (s *steps) administer(q agent.Request) (r agent.Reply, err error) {
	switch q.Do {
	case "committed":
		out, err := s.groups("--describe", "--group", q.Group, "--offsets")
		r.Offsets = map[string]int64{}
		for _, row := range rows(out) {
			if offset, err := strconv.ParseInt(row["CURRENT-OFFSET"], 10, 64); err == nil && row["TOPIC"] == q.Topic {
				r.Offsets[row["PARTITION"]] = offset
			}
		}
		return r, err
	case "describe":
		out, err := s.groups("--describe", "--group", q.Group, "--state")
		for _, row := range rows(out) {
			r.State = row["STATE"]
			r.Members, _ = strconv.Atoi(row["#MEMBERS"])
		}
		return r, err
	case "groups":
		out, err := s.groups("--list")
		return agent.Reply{Groups: strings.Fields(out)}, err
	case "reset":
		_, err := s.groups("--reset-offsets", "--group", q.Group, "--topic", q.Topic, "--to-offset", fmt.Sprint(q.Offset), "--execute")
		return r, err
	case "delete-group":
		_, err := s.groups("--delete", "--group", q.Group)
		return r, err
	}
	return r, fmt.Errorf("no step is called %q", q.Do)
}

var (
	spaces  = regexp.MustCompile(`\s+`)
	bracket = regexp.MustCompile(`\s+\(`)
)

// rows reads a tool's table. The coordinator's "host:port  (id)" is one field with spaces in it.
func rows(out string) (all []map[string]string) {
	var heads []string
	for line := range strings.Lines(out) {
		fields := spaces.Split(strings.TrimSpace(bracket.ReplaceAllString(line, "(")), -1)
		switch {
		case len(fields) < 3:
		case fields[0] == "GROUP":
			heads = fields
		case heads != nil:
			row := map[string]string{}
			for i, field := range fields {
				if i < len(heads) {
					row[heads[i]] = field
				}
			}
			all = append(all, row)
		}
	}
	return all
}

// member is a console consumer that runs.
type member struct {
	cmd              *exec.Cmd
	group, topic, id string
	seen             atomic.Int64
}

// lineCounter counts the records that are printed, a line each.
type lineCounter struct{ n *atomic.Int64 }

func (c lineCounter) Write(text []byte) (int, error) {
	c.n.Add(int64(bytes.Count(text, []byte("\n"))))
	return len(text), nil
}

func (s *steps) join(q agent.Request) (*member, error) {
	switch {
	case q.Instance != "":
		return nil, agent.Missing("what a member is given over time, which this step compares")
	case q.Assignor != "":
		return nil, agent.Missing("what a member is given over time, which this step compares")
	}
	m := &member{group: q.Group, topic: q.Topic, id: fmt.Sprint("console-", os.Getpid())}
	m.cmd = java(consumer, "--bootstrap-server", s.bootstrap, "--topic", q.Topic, "--group", q.Group,
		"--consumer-property", "client.id="+m.id, "--consumer-property", fmt.Sprint("session.timeout.ms=", q.SessionMs))
	m.cmd.Stdout, m.cmd.Stderr = lineCounter{&m.seen}, os.Stderr
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return m, m.cmd.Start()
}

var numbers = regexp.MustCompile(`\d+`)

// assignment is what kafka-consumer-groups says of the member.
func (s *steps) assignment() (r agent.Reply, err error) {
	r.Assigns, r.Revoked, r.Seen = -1, -1, int(s.member.seen.Load())
	out, err := s.groups("--describe", "--group", s.member.group, "--members", "--verbose")
	for line := range strings.Lines(out) {
		if !strings.Contains(line, s.member.id) {
			continue
		}
		if _, list, ok := strings.Cut(line, s.member.topic); ok {
			list, _, _ = strings.Cut(list+" ", " ")
			for _, text := range numbers.FindAllString(list, -1) {
				p, _ := strconv.Atoi(text)
				r.Partitions = append(r.Partitions, p)
			}
		}
	}
	if err != nil && strings.Contains(err.Error(), "GroupIdNotFound") {
		err = nil // it has not joined yet
	}
	return r, err
}

func (m *member) leave() error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	m.cmd.Wait()
	return nil
}
