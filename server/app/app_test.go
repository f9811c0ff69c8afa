package app

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain waits for goroutines that are about to end: on a busy machine that may take a while.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		left := goleak.Find()
		for end := time.Now().Add(time.Minute); left != nil && time.Now().Before(end); {
			left = goleak.Find()
		}
		if left != nil {
			fmt.Fprintln(os.Stderr, left)
			code = 1
		}
	}
	os.Exit(code)
}

// freePorts finds the first of so many free ports in a row, below those that systems give out by themselves: the tests
// depend on who has them.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 1000 {
		first, free := 12_000+rand.IntN(20_000), true
		var sockets []net.Listener
		for port := first; free && port < first+n; port++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if free = err == nil; free {
				sockets = append(sockets, l)
			}
		}
		for _, l := range sockets {
			l.Close()
		}
		if free {
			return first
		}
	}
	t.Fatal("no ports are free")
	return 0
}

func config() Config { return Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3} }

// TestBadFlags: each error names the flag, what was given and what would be right.
func TestBadFlags(t *testing.T) {
	port := freePorts(t, 2) + 1 // the one before is free
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	with := func(change func(*Config)) Config { c := config(); change(&c); return c }
	set := func(pairs ...string) Config { return with(func(c *Config) { c.Set = pairs }) }
	cases := []struct {
		cfg  Config
		says []string
	}{
		{with(func(c *Config) { c.Brokers = 0 }), []string{"-brokers 0", "1 to 16"}},
		{with(func(c *Config) { c.Brokers = 17 }), []string{"-brokers 17", "1 to 16"}},
		{with(func(c *Config) { c.Demo = 17 }), []string{"-demo 17", "0 to 16"}},
		{with(func(c *Config) { c.HTTP = "8080" }), []string{`-http "8080"`, "HOST:PORT"}},
		{with(func(c *Config) { c.Kafka = "127.0.0.1:kafka" }), []string{"-kafka", `"kafka" is no port`}},
		{with(func(c *Config) { c.Kafka = "127.0.0.1:65534" }), []string{"-kafka", "broker 3 would listen on port 65536", "at most 65533"}},
		{with(func(c *Config) { c.HTTP = "0.0.0.0:0" }), []string{"-http 0.0.0.0:0", "other machines", "-remote"}},
		{with(func(c *Config) { c.Kafka = ":0" }), []string{"-kafka :0", "other machines", "-remote"}},
		{with(func(c *Config) { c.Kafka, c.Remote = "0.0.0.0:0", true }), []string{"-kafka 0.0.0.0:0", "clients are told this address"}},
		{with(func(c *Config) { c.HTTP = fmt.Sprintf("127.0.0.1:%d", port) }), []string{"-http: port", fmt.Sprint(port), "the lab's page", "taken by another program"}},
		{with(func(c *Config) { c.Kafka = fmt.Sprintf("127.0.0.1:%d", port-1) }), []string{"-kafka: port", fmt.Sprint(port), "broker 2", "taken by another program"}},
		{with(func(c *Config) { c.Kafka = "203.0.113.7:0"; c.Remote = true }), []string{"-kafka: 203.0.113.7", "no address of this machine"}},
		{with(func(c *Config) { c.Topics = []Topic{{"a/b", 3}} }), []string{"-topics a/b=3"}},
		{with(func(c *Config) { c.Topics = []Topic{{"a", 3}, {"a", 3}} }), []string{"-topics a=3", "exists"}},
		{set("x"), []string{"-set x", "NAME=VALUE"}},
		{set("group.initial.rebalance.dely.ms=0"), []string{"no setting is called", "the nearest is group.initial.rebalance.delay.ms"}},
		{set("group.initial.rebalance.delay.ms=3s"), []string{"-set group.initial.rebalance.delay.ms=3s", "-2147483648 to 2147483647", `not "3s"`, "default is 3000"}},
		{set("group.max.size=0"), []string{"-set group.max.size=0", "1 to 2147483647"}},
		{set("offsets.topic.compression.codec=1"), []string{"takes only 0"}},
		{set("log.cleaner.min.cleanable.ratio=2"), []string{"takes 0 to 1", "default is 0.5"}},
		{set("auto.create.topics.enable=yes"), []string{"true or false"}},
		{set("min.insync.replicas=4"), []string{"min.insync.replicas=4", "more than the brokers", "at most 3"}},
	}
	for _, c := range cases {
		s, err := New(c.cfg)
		if err == nil {
			s.Close()
			t.Errorf("%+v was taken; the error should say %q", c.cfg, c.says)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error %q does not say %q", err, part)
			}
		}
	}
}

// TestSettingsReachTheirPlace sets every setting to a value of its own and looks for it.
func TestSettingsReachTheirPlace(t *testing.T) {
	plain := fmt.Sprintf("%+v", defaultSettings())
	for _, k := range known {
		s := defaultSettings()
		value := "7"
		switch {
		case k.min == onOff:
			value = "false"
		case k.min == ratios:
			value = "0.25"
		case k.min > 7:
			value = fmt.Sprint(k.min + 7)
		case k.min == k.max:
			continue // it says what is so
		}
		if err := s.apply([]string{k.name + "=" + value}); err != nil {
			t.Error(err)
		}
		if fmt.Sprintf("%+v", s) == plain {
			t.Errorf("-set %s=%s changes nothing", k.name, value)
		}
	}
	if n := nearest("grup.initial.delay"); n != "group.initial.rebalance.delay.ms" {
		t.Errorf("the nearest name to grup.initial.delay is said to be %s", n)
	}
}

// Every setting takes its default and its bounds, and refuses what lies outside, with its name and what would be right.
func TestBoundsOfSettings(t *testing.T) {
	for _, k := range known {
		good, bad := []string{}, []string{"", "3s", "NaN"}
		if _, err := strconv.ParseFloat(k.standard, 64); err == nil || k.min == onOff {
			good = append(good, k.standard)
		}
		switch k.min {
		case onOff:
			good, bad = append(good, "true", "FALSE"), append(bad, "1", "yes")
		case ratios:
			good, bad = append(good, "0", "1"), append(bad, "-0.01", "1.01")
		default:
			good, bad = append(good, fmt.Sprint(k.min), fmt.Sprint(k.max)), append(bad, fmt.Sprint(k.min-1), "1.5")
			if k.max < math.MaxInt64 {
				bad = append(bad, fmt.Sprint(k.max+1))
			}
		}
		s := defaultSettings()
		for _, value := range good {
			if err := s.apply([]string{k.name + "=" + value}); err != nil {
				t.Error(err)
			}
		}
		for _, value := range bad {
			err := s.apply([]string{k.name + "=" + value})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("-set %s=%s: %s takes %s, not %q", k.name, value, k.name, k.values(), value)) {
				t.Errorf("-set %s=%s: %v", k.name, value, err)
			}
		}
	}
	for _, name := range []string{"group.min.session.timeout.ms", "group.max.session.timeout.ms", "group.initial.rebalance.delay.ms", "group.max.size",
		"offset.metadata.max.bytes", "offsets.load.buffer.size", "offsets.retention.minutes", "offsets.retention.check.interval.ms", "offsets.topic.num.partitions",
		"offsets.topic.replication.factor", "offsets.topic.segment.bytes", "offsets.topic.compression.codec", "offsets.commit.timeout.ms",
		"transaction.partition.verification.enable", "transaction.max.timeout.ms", "transactional.id.expiration.ms"} {
		if !slices.ContainsFunc(known, func(k setting) bool { return k.name == name }) {
			t.Errorf("no setting is called %s", name)
		}
	}
	if !slices.IsSortedFunc(known, func(a, b setting) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the settings are not in the order of their names")
	}
}

// TestRunAndClose: a server gives everything back, whether it ran or not, and whoever ends it.
func TestRunAndClose(t *testing.T) {
	idle, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	idle.Close()
	idle.Close()
	if err := idle.Run(context.Background()); err == nil {
		t.Error("a closed server runs")
	}

	cfg := config()
	cfg.Kafka = fmt.Sprintf("127.0.0.1:%d", freePorts(t, 3))
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	c, err := net.Dial("tcp", s.KafkaAddrs()[2])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := s.Demo().Start(2); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
	s.Close()
	if again, err := net.Listen("tcp", s.KafkaAddrs()[0]); err != nil {
		t.Errorf("the port was not given back: %v", err)
	} else {
		again.Close()
	}
}

// TestOperatorsErrors: what cannot be done says why.
func TestOperatorsErrors(t *testing.T) {
	s, err := New(Config{Kafka: fmt.Sprintf("127.0.0.1:%d", freePorts(t, 2)), Brokers: 2, Topics: []Topic{{"orders", 3}}})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run(context.Background())
	defer s.Close()
	if err := s.RestartBroker(1); err == nil || !strings.Contains(err.Error(), "broker 1 runs") {
		t.Errorf("restarting a running broker: %v", err)
	}
	for _, err := range []error{s.KillBroker(0), s.KillBroker(3), s.RestartBroker(-1)} {
		if err == nil || !strings.Contains(err.Error(), "there are 1 to 2") {
			t.Errorf("a broker that does not exist: %v", err)
		}
	}
	if err := s.AddPartitions("nothing", 3); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a topic that does not exist: %v", err)
	}
	if err := s.AddPartitions("orders", 2); err == nil {
		t.Error("partitions were taken away")
	}
	if err := s.AddPartitions("orders", 5); err != nil {
		t.Error(err)
	}
	if err := (control{s}).KillDemo("demo-9"); err == nil || !strings.Contains(err.Error(), "demo-9") {
		t.Errorf("a demo consumer that does not exist: %v", err)
	}
	if _, err := (control{s}).Probe(context.Background(), "nobody", ""); err == nil {
		t.Error("a group without coordinator was probed")
	}
	if _, err := (control{s}).StartDemo(17); err == nil {
		t.Error("17 demo consumers started")
	}
	// The port of a killed broker is somebody else's meanwhile.
	if err := s.KillBroker(2); err != nil {
		t.Fatal(err)
	}
	squatter, err := net.Listen("tcp", s.KafkaAddrs()[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RestartBroker(2); err == nil || !strings.Contains(err.Error(), "taken by another program") {
		t.Errorf("restarting on a taken port: %v", err)
	}
	squatter.Close()
	if err := s.RestartBroker(2); err != nil {
		t.Error(err)
	}
}
