package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const brokers = 3

// cluster is a server of ours with three brokers.
type cluster struct {
	server                *exec.Cmd
	bootstrap, lab, token string
}

// buildServer builds the server from the repository.
func buildServer(dir string) (binary string, err error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "grouplab")
	return binary, quietly(root, "go", "build", "-o", binary, "./server")
}

// serve starts three brokers on free ports; what the server says goes to the log.
func serve(binary, log string, flags ...string) (*cluster, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := &cluster{server: exec.Command(binary, append([]string{"-http", "127.0.0.1:0", "-kafka", "127.0.0.1:0", "-brokers", fmt.Sprint(brokers)}, flags...)...)}
	c.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.server.Stderr = file
	out, err := c.server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.server.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		what, value, _ := strings.Cut(lines.Text(), ": ")
		switch what {
		case "kafka":
			c.bootstrap = value
		case "lab":
			c.lab = value
		case "token":
			c.token = value
		}
		if c.bootstrap != "" && c.lab != "" && c.token != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return c, nil
		}
	}
	c.stop()
	return nil, fmt.Errorf("the server ended before it said where it listens; see %s", log)
}

// order has a broker killed or restarted.
func (c *cluster) order(broker int32, what string) error {
	q, err := http.NewRequest(http.MethodPost, fmt.Sprintf("%s/api/brokers/%d/%s", c.lab, broker, what), nil)
	if err != nil {
		return err
	}
	q.Header.Set("X-GroupLab-Token", c.token)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s of broker %d: %s", what, broker, answer.Status)
	}
	return nil
}

func (c *cluster) stop() {
	c.server.Process.Signal(syscall.SIGTERM)
	c.server.Wait()
}
