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
	"slices"
	"strings"
)

func nothing(string) ([]string, []string, error) { return nil, nil, nil }

// kgoSuite runs the tests that franz-go has of its client, as the server's module depends on it, against our brokers: while
// they run, and while they die. A kill may come in a moment for which a test allows a few seconds only, so the parts that
// fail then are tried again, each by itself, and named.
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
		dying += ", and of the parts that failed passed by themselves:"
		err = nil
		for i, part := range failed {
			name := filepath.Join(s.logs, fmt.Sprintf("kgo-suite-again-%d.json", i))
			tries, againErr := kgoAgain(func() error {
				_, err := kgoTests(name, d.bootstrap, brokers, 50_000, "-run", exactly(part))
				return err
			})
			if againErr != nil {
				err = errors.Join(err, fmt.Errorf("%s failed %d times more by itself, while brokers were killed: %w", part, tries, againErr))
				continue
			}
			dying += fmt.Sprintf(" %s in try %d,", part, tries)
		}
	}
	kills, endErr := d.end()
	return fmt.Sprintf("%s; %s while brokers were killed %d times", whole, dying, kills), errors.Join(err, endErr)
}

// kgoAgain tries a part that failed at most twice.
func kgoAgain(try func() error) (tries int, err error) {
	for tries = 1; ; tries++ {
		if err = try(); err == nil || tries == 2 {
			return tries, err
		}
	}
}

// exactly is what go test -run takes to run one part of a test.
func exactly(part string) string {
	return "^" + strings.ReplaceAll(part, "/", "$/^") + "$"
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

// failedTests are the names of those that failed, of a test with parts those parts.
type failedTests []string

func (f failedTests) Error() string { return "failed: " + strings.Join(f, ", ") }

// count reads what go test -json said: how many tests passed and which failed, parts of tests not counted.
func count(out []byte, runErr error) (string, error) {
	var passed, skipped int
	var failed int
	var parts []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		// Parts end before what they are parts of.
		if event.Action == "fail" && !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, event.Test+"/") }) {
			parts = append(parts, event.Test)
		}
		if strings.Contains(event.Test, "/") {
			continue
		}
		switch event.Action {
		case "pass":
			passed++
		case "skip":
			skipped++
		case "fail":
			failed++
		}
	}
	whole := fmt.Sprintf("%d of franz-go's own tests passed, %d failed, %d were skipped by themselves", passed, failed, skipped)
	switch {
	case len(parts) > 0:
		return whole, failedTests(parts)
	case runErr != nil:
		return whole, runErr
	case passed == 0:
		return whole, fmt.Errorf("no test ran")
	}
	return whole, nil
}
