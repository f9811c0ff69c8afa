// Package apache runs a real Apache Kafka on loopback for the tests that compare with it: KRaft nodes, each broker and
// controller, started from the published jars by their own main class.
package apache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Config says what is started.
type Config struct {
	// Version is a released one, as Reference.
	Version string
	// Nodes is how many, each broker and controller; 1 or 3.
	Nodes int
	// Set holds Kafka's own configuration names beside those that the cluster needs.
	Set map[string]string
	// Dir takes data and logs; it must be empty.
	Dir string
	// Logs has the nodes write the log that Kafka's own kafka-server-start.sh has them write, by Kafka's pattern.
	Logs bool
	// Java are the options of the nodes' Java; nil: a small heap, and a compiler that is quickly done. AsShipped are those
	// for measuring.
	Java []string
}

// AsShipped are the options with which Kafka's own kafka-server-start.sh starts a broker.
var AsShipped = []string{"-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"}

// small are the options for a node that only answers.
var small = []string{"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// Cluster is a running Apache Kafka.
type Cluster struct {
	cfg   Config
	jars  string
	log   string // the folder of what writes the nodes' logs, "" for none
	id    string
	nodes []*node
}

type node struct {
	id         int
	dir        string
	port, ctrl int
	cmd        *exec.Cmd
	ended      chan struct{}
}

// Start formats and starts the nodes and waits until each serves, at most two minutes. Stop ends them.
func Start(cfg Config) (*Cluster, error) {
	jars, err := Jars(cfg.Version)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, jars: jars, id: "GroupLabGroupLabGroupA"}
	if cfg.Logs {
		if c.log, err = logJars(); err != nil {
			return nil, err
		}
	}
	for i := range cfg.Nodes {
		port, ctrl, err := freePorts()
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, &node{id: i + 1, dir: filepath.Join(cfg.Dir, fmt.Sprint("node", i+1)), port: port, ctrl: ctrl})
	}
	for _, n := range c.nodes {
		if err := c.format(n); err != nil {
			return nil, err
		}
	}
	for _, n := range c.nodes {
		if err := c.run(n); err != nil {
			c.Stop()
			return nil, err
		}
	}
	if err := c.await(2 * time.Minute); err != nil {
		err = errors.Join(err, errors.New(c.lastLines()))
		c.Stop()
		return nil, err
	}
	return c, nil
}

func freePorts() (a, b int, err error) {
	var ports [2]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, 0, err
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1], nil
}

func (c *Cluster) properties(n *node) string {
	var voters []string
	for _, o := range c.nodes {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", o.id, o.ctrl))
	}
	copies := fmt.Sprint(len(c.nodes))
	set := map[string]string{
		"process.roles":                            "broker,controller",
		"node.id":                                  fmt.Sprint(n.id),
		"controller.quorum.voters":                 strings.Join(voters, ","),
		"listeners":                                fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", n.port, n.ctrl),
		"advertised.listeners":                     fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", n.port),
		"listener.security.protocol.map":           "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.listener.names":                "CONTROLLER",
		"log.dirs":                                 filepath.Join(n.dir, "data"),
		"offsets.topic.replication.factor":         copies,
		"transaction.state.log.replication.factor": copies,
		"transaction.state.log.min.isr":            "1",
		"default.replication.factor":               copies,
		"auto.create.topics.enable":                "false",
	}
	maps.Copy(set, c.cfg.Set)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(&text, "%s=%s\n", name, set[name])
	}
	return text.String()
}

func (c *Cluster) java(options []string, args ...string) *exec.Cmd {
	path := filepath.Join(c.jars, "*")
	if c.log != "" {
		path += string(os.PathListSeparator) + filepath.Join(c.log, "*")
	}
	return exec.Command("java", slices.Concat(options, []string{"-cp", path}, args)...)
}

func (c *Cluster) format(n *node) error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(n.dir, "server.properties")
	if err := os.WriteFile(file, []byte(c.properties(n)), 0o644); err != nil {
		return err
	}
	if out, err := c.java(small, "kafka.tools.StorageTool", "format", "-t", c.id, "-c", file).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting node %d: %w\n%s", n.id, err, bytes.TrimSpace(out))
	}
	return nil
}

func (c *Cluster) run(n *node) error {
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	options := c.cfg.Java
	if options == nil {
		options = small
	}
	n.cmd = c.java(options, "kafka.Kafka", filepath.Join(n.dir, "server.properties"))
	if c.log != "" {
		file := filepath.Join(n.dir, "log4j.properties")
		if err := os.WriteFile(file, []byte(logSettings), 0o644); err != nil {
			return err
		}
		n.cmd = c.java(slices.Concat(options, []string{"-Dlog4j.configuration=file:" + file}), "kafka.Kafka", filepath.Join(n.dir, "server.properties"))
	}
	n.cmd.Stdout, n.cmd.Stderr, n.cmd.Dir = log, log, n.dir
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("starting node %d: %w", n.id, err)
	}
	n.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		cmd.Wait()
		close(ended)
	}(n.cmd, n.ended)
	return nil
}

// await waits until every broker is known to every other.
func (c *Cluster) await(most time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	for _, n := range c.nodes {
		for {
			known, err := c.brokersKnownTo(ctx, n)
			if known == len(c.nodes) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("node %d does not know all %d brokers after %s (last: %d, %w)", n.id, len(c.nodes), most, known, err)
			case <-n.ended:
				return fmt.Errorf("node %d ended", n.id)
			case <-time.After(300 * time.Millisecond):
			}
		}
	}
	return nil
}

func (c *Cluster) brokersKnownTo(ctx context.Context, n *node) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.address()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	answer, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	return len(answer.Brokers), nil
}

func (n *node) address() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

// Addrs are the brokers' addresses, 1 first.
func (c *Cluster) Addrs() []string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, n.address())
	}
	return all
}

// logSettings write what server.log holds by Kafka's config/log4j.properties.
const logSettings = `log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
`

// LogFile is where a node writes its log.
func (c *Cluster) LogFile(id int) string { return filepath.Join(c.nodes[id-1].dir, "log") }

// Java is a command that runs a class of Kafka's with a log on its standard output, as its own scripts do where Logs is set.
func (c *Cluster) Java(args ...string) *exec.Cmd {
	options := slices.Clone(small)
	if c.log != "" {
		options = append(options, "-Dlog4j.configuration=file:"+filepath.Join(c.nodes[0].dir, "log4j.properties"))
	}
	return c.java(options, args...)
}

// Pid is a node's process.
func (c *Cluster) Pid(id int) int { return c.nodes[id-1].cmd.Process.Pid }

// DataDir is where a node keeps its logs.
func (c *Cluster) DataDir(id int) string { return filepath.Join(c.nodes[id-1].dir, "data") }

// Classpath is what java's -cp takes to run Kafka's own tools.
func (c *Cluster) Classpath() string { return filepath.Join(c.jars, "*") }

// Kill ends a node as kill -9 does.
func (c *Cluster) Kill(id int) {
	n := c.nodes[id-1]
	n.cmd.Process.Kill()
	<-n.ended
}

// Restart starts a node that was killed, on its address and data, and waits until it serves.
func (c *Cluster) Restart(id int) error {
	if err := c.run(c.nodes[id-1]); err != nil {
		return err
	}
	return c.await(2 * time.Minute)
}

// Stop kills every node.
func (c *Cluster) Stop() {
	for _, n := range c.nodes {
		if n.cmd != nil && n.ended != nil {
			n.cmd.Process.Kill()
			<-n.ended
		}
	}
}

// lastLines is the end of each node's log, for a failure's message.
func (c *Cluster) lastLines() string {
	var text strings.Builder
	for _, n := range c.nodes {
		f, err := os.Open(filepath.Join(n.dir, "log"))
		if err != nil {
			continue
		}
		if end, err := f.Seek(0, io.SeekEnd); err == nil {
			f.Seek(max(0, end-2000), io.SeekStart)
		}
		tail, _ := io.ReadAll(f)
		f.Close()
		fmt.Fprintf(&text, "the end of node %d's log:\n%s\n", n.id, tail)
	}
	return text.String()
}
