package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// programEnv makes the tests' own program be the server.
const programEnv = "GROUPLAB_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is a server in a process of its own.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	kafka  []string
	token  string
	stderr output
	ended  chan error
}

// startProgram returns when it has said where it is.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(os.Args[0], append([]string{"-kafka", "127.0.0.1:0", "-http", "127.0.0.1:0"}, args...)...), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), programEnv+"=1")
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for p.token == "" && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "kafka":
			p.kafka = strings.Split(value, ",")
		case "token":
			p.token = value
		}
	}
	go func() {
		io.Copy(io.Discard, out)
		p.ended <- p.cmd.Wait()
	}()
	if p.token == "" {
		t.Fatalf("it did not start: %v\n%s", <-p.ended, p.stderr.String())
	}
	return p
}

// code waits for the end and returns the exit code, -1 where a signal ended it.
func (p *program) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(stopBound):
		p.t.Fatalf("it does not end\n%s", p.stderr.String())
		return 0
	}
}

// TestSignals: SIGINT and SIGTERM stop it cleanly, with a client that is connected and waits; what was to be kept is there again.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := startProgram(t, "-data", dir, "-topics", "orders=3", "-brokers", "1")
		nc, err := net.Dial("tcp", p.kafka[0])
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		p.cmd.Process.Signal(signal)
		nc.SetReadDeadline(time.Now().Add(stopBound))
		if n, err := nc.Read(make([]byte, 1)); n > 0 || err == nil || os.IsTimeout(err) {
			t.Errorf("%v: the connection is not closed: %d bytes, %v", signal, n, err)
		}
		if code := p.code(); code != exitClean {
			t.Errorf("%v: exit code %d\n%s", signal, code, p.stderr.String())
		}
		said := p.stderr.String()
		for _, part := range []string{"stopping", "a second signal ends the process at once", "msg=stopped"} {
			if !strings.Contains(said, part) {
				t.Errorf("%v: no line says %q:\n%s", signal, part, said)
			}
		}
		if again := strings.Contains(said, "were read and the groups loaded"); again != (i > 0) {
			t.Errorf("start %d: read something: %v\n%s", i, again, said)
		}
	}
}

// TestSecondSignal: whatever the stop is at, a second signal ends the process.
func TestSecondSignal(t *testing.T) {
	p := startProgram(t, "-brokers", "1")
	p.cmd.Process.Signal(syscall.SIGTERM)
	for p.cmd.Process.Signal(syscall.SIGTERM) == nil { // until it is gone
		time.Sleep(time.Millisecond)
	}
	if code := p.code(); code != exitClean && code != -1 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
}

// TestLogJSON: each line is JSON with time, level and words, facts have attributes of their own, and nothing secret is in it.
func TestLogJSON(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("bob:hunter2-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, "-log", "json", "-log-level", "debug", "-users", users, "-brokers", "2", "-topics", "orders=3", "-demo", "1")
	nc, err := net.Dial("tcp", p.kafka[1])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "GET / HTTP/1.1\r\n\r\n")
	for end := time.Now().Add(time.Minute); !strings.Contains(p.stderr.String(), "an HTTP request came") || !strings.Contains(p.stderr.String(), "GenerationStarted"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no line says what came, or that a group began:\n%s", p.stderr.String())
		}
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.code(); code != exitClean {
		t.Errorf("exit code %d", code)
	}
	said := p.stderr.String()
	for _, secret := range []string{"hunter2-secret", p.token} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
	found := map[string]map[string]any{}
	for _, line := range bytes.Split(bytes.TrimSpace([]byte(said)), []byte("\n")) {
		var fact map[string]any
		if err := json.Unmarshal(line, &fact); err != nil || fact["time"] == nil || fact["level"] == nil || fact["msg"] == nil {
			t.Fatalf("%q is no line of JSON: %v", line, err)
		}
		for _, kind := range []string{"the brokers listen on", "an HTTP request came", "GenerationStarted"} {
			if strings.Contains(fact["msg"].(string), kind) {
				found[kind] = fact
			}
		}
	}
	if f := found["the brokers listen on"]; f == nil || len(f["kafka"].([]any)) != 2 || f["security.protocol"] != "SASL_PLAINTEXT" || f["level"] != "INFO" {
		t.Errorf("the start: %v", f)
	}
	if f := found["an HTTP request came"]; f == nil || f["peer"] != "127.0.0.1" || f["broker"] != 2.0 || f["level"] != "WARN" {
		t.Errorf("the wrong client: %v", f)
	}
	if f := found["GenerationStarted"]; f == nil || f["group"] == nil || f["seq"] == nil {
		t.Errorf("the group: %v", f)
	}
}

// TestLogLevel: lines that matter less are not written.
func TestLogLevel(t *testing.T) {
	p := startProgram(t, "-log-level", "error", "-brokers", "1")
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.code(); code != exitClean || p.stderr.String() != "" {
		t.Errorf("exit code %d, said %q", code, p.stderr.String())
	}
}

// TestStartFailsWithWords: what the machine does not allow is exit code 1 and names the flag; in a log of JSON it is a line of it.
func TestStartFailsWithWords(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cmd := exec.Command(os.Args[0], "-kafka", taken.Addr().String(), "-brokers", "1", "-http", "127.0.0.1:0", "-log", "json")
	cmd.Env = append(os.Environ(), programEnv+"=1")
	said, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != exitFailure {
		t.Errorf("exit code %d", cmd.ProcessState.ExitCode())
	}
	var fact map[string]any
	if err := json.Unmarshal(said, &fact); err != nil || fact["level"] != "ERROR" || !strings.Contains(fact["msg"].(string), "-kafka: port") {
		t.Errorf("it said %q: %v", said, err)
	}
}
