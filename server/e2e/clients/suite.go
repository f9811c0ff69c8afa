package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func nothing(string) ([]string, []string, error) { return nil, nil, nil }

// kgoSuite runs the tests that franz-go has of its client, as the server's module depends on it, against our brokers: while
// they run, and while they die. A kill may come in a moment for which a test allows a few seconds only, so those that fail
// then are tried once more, and counted.
func kgoSuite(s *scene) (string, error) {
	whole, err := kgoTests(filepath.Join(s.logs, "kgo-suite.json"), s.bootstrap, 1, 20_000)
	if err != nil {
		return whole, err
	}
	if s.binary == "" { // somebody else's brokers
		return whole, nil
	}
	d, err := serveDying(s.binary, filepath.Join(s.logs, "kgo-suite-dying-server.log"))
	if err != nil {
		return whole, err
	}
	dying, err := kgoTests(filepath.Join(s.logs, "kgo-suite-dying.json"), d.bootstrap, brokers, 50_000)
	if failed, ok := err.(failedTests); ok {
		again, secondErr := kgoTests(filepath.Join(s.logs, "kgo-suite-again.json"), d.bootstrap, brokers, 50_000, "-run", "^("+strings.Join(failed, "|")+")$")
		dying, err = fmt.Sprintf("%s, and tried again: %s,", dying, again), secondErr
	}
	kills, endErr := d.end()
	return fmt.Sprintf("%s; %s while brokers were killed %d times", whole, dying, kills), errors.Join(err, endErr)
}

// kgoTests runs the tests with topics of so many replicas and so many records, and keeps what they said in a file.
func kgoTests(log, bootstrap string, replicas, records int, more ...string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	args := append([]string{"test", "-count=1", "-timeout", "15m", "-json"}, more...)
	cmd := exec.Command("go", append(args, "github.com/twmb/franz-go/pkg/kgo")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KGO_SEEDS="+bootstrap, fmt.Sprint("KGO_TEST_RF=", replicas), fmt.Sprint("KGO_TEST_RECORDS=", records), "KGO_LOG_LEVEL=none")
	out, runErr := cmd.Output()
	if err := os.WriteFile(log, out, 0o644); err != nil {
		return "", err
	}
	return count(out, runErr)
}

// failedTests are the names of those that failed.
type failedTests []string

func (f failedTests) Error() string { return "failed: " + strings.Join(f, ", ") }

// count reads what go test -json said: how many tests passed and which failed, parts of tests not counted.
func count(out []byte, runErr error) (string, error) {
	var passed, skipped int
	var failed []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" || strings.Contains(event.Test, "/") {
			continue
		}
		switch event.Action {
		case "pass":
			passed++
		case "skip":
			skipped++
		case "fail":
			failed = append(failed, event.Test)
		}
	}
	whole := fmt.Sprintf("%d of franz-go's own tests passed, %d failed, %d were skipped by themselves", passed, len(failed), skipped)
	switch {
	case len(failed) > 0:
		return whole, failedTests(failed)
	case runErr != nil:
		return whole, runErr
	case passed == 0:
		return whole, fmt.Errorf("no test ran")
	}
	return whole, nil
}
