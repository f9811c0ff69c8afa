package main

import (
	"bytes"
	"context"
	"flag"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// output is a buffer that the program writes while the test reads.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// TestProgram runs it as a shell would: it prints both addresses, serves both, and ends with a signal.
func TestProgram(t *testing.T) {
	var out, complaints output
	ctx, stop := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"-http", "127.0.0.1:0", "-kafka", "127.0.0.1:0", "-brokers", "2", "-topics", "orders=6,payments=2", "-set", "num.partitions=3", "-demo", "1"}, &out, &complaints)
	}()
	printed := regexp.MustCompile(`^kafka: (127\.0\.0\.1:\d+),(127\.0\.0\.1:\d+)\nlab: (http://127\.0\.0\.1:\d+)\ntoken: [0-9a-f]{32}\n`)
	var found []string
	for end := time.Now().Add(time.Minute); found == nil; time.Sleep(10 * time.Millisecond) {
		if found = printed.FindStringSubmatch(out.String()); time.Now().After(end) {
			t.Fatalf("printed %q; complained %q", out.String(), complaints.String())
		}
	}
	for _, address := range found[1:3] {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	answer, err := http.Get(found[3] + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("/healthz says %s", answer.Status)
	}
	stop()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d; complained %q", got, complaints.String())
	}
}

// TestFlags: what cannot be read exits with 2, what cannot be done with 1, each with a line that helps.
func TestFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cases := []struct {
		args string
		code int
		says string
	}{
		{"-brokers x", 2, "1 to 16"},
		{"-brokers 0", 2, "1 to 16"},
		{"-topics orders", 2, `"orders" is no NAME=PARTITIONS, as in orders=6`},
		{"-topics orders=0", 2, "NAME=PARTITIONS"},
		{"-flush soon", 2, `never, interval or always, not "soon"`},
		{"-flush always", 2, "nothing to write without -data"},
		{"-data main.go", 1, "-data: the folder main.go cannot be made or used: not a directory"},
		{"-atach host:9092", 2, "there is no flag -atach; the nearest is -"},
		{"-advertize x:1", 2, "the nearest is -advertise"},
		{"-group.max.size 7", 2, "are given as -set group.max.size=VALUE"},
		{"-log xml", 2, `text or json, not "xml"`},
		{"-log-level loud", 2, "debug, info, warn or error"},
		{"-tls-cert main.go", 2, "-tls-key: it is missing"},
		{"-tls-cert main.go -tls-key main.go", 2, "-tls-cert main.go: there is no certificate in it"},
		{"-users no-such-file", 2, "no such file"},
		{"sites", 2, `"sites" is no flag and no command`},
		{"site", 2, "usage: server site [-feedback ADDRESS] DIR"},
		{"-set no.such.name=1", 2, "no setting is called"},
		{"-http " + taken.Addr().String(), 1, "-http: port"},
		{"-http 0.0.0.0:0", 2, "-remote"},
		{"-set help", 0, "group.initial.rebalance.delay.ms"},
		{"-h", 0, "usage: server [flags]"},
	}
	for _, c := range cases {
		var out output
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "-http") && c.args[0] == '-' {
			args = append([]string{"-http", "127.0.0.1:0"}, args...)
		}
		if c.args[0] == '-' {
			args = append([]string{"-kafka", "127.0.0.1:0"}, args...)
		}
		if code := run(context.Background(), args, &out, &out); code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("server %s: code %d, want %d; said %q, which should hold %q", c.args, code, c.code, out.String(), c.says)
		}
	}
}

// TestHelp: every flag stands in one group of the help, with a sentence, and the help says what else is to be known.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if code := run(context.Background(), []string{"-help"}, &out, &out); code != exitClean {
		t.Errorf("exit code %d", code)
	}
	text := out.String()
	for _, part := range []string{"usage: server", "site [-feedback ADDRESS] DIR", "Exit codes: 0", "SIGTERM", "-set help", "(default 127.0.0.1:9092)", "-tls-cert FILE"} {
		if !strings.Contains(text, part) {
			t.Errorf("the help does not say %q", part)
		}
	}
	grouped := map[string]int{}
	for _, group := range helpGroups {
		for _, name := range group.flags {
			grouped[name]++
		}
	}
	help := false
	define(&options{}, &help).VisitAll(func(f *flag.Flag) {
		if grouped[f.Name] != 1 {
			t.Errorf("-%s stands in %d groups of the help", f.Name, grouped[f.Name])
		}
		_, usage := flag.UnquoteUsage(f)
		if first := strings.SplitN(usage, ": ", 2); !strings.Contains(usage, ".") || len(first[len(first)-1]) < 20 {
			t.Errorf("-%s is explained by %q, which is no sentence", f.Name, usage)
		}
		delete(grouped, f.Name)
	})
	if len(grouped) > 0 {
		t.Errorf("the help has flags that there are not: %v", grouped)
	}
	for _, line := range strings.Split(text, "\n") {
		if len([]rune(line)) > 140 {
			t.Errorf("a line of the help has %d characters: %q", len([]rune(line)), line)
		}
	}
}
