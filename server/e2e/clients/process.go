package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"grouplab/server/e2e/clients/agent"
)

// process is one running program of a client.
type process struct {
	cmd     *exec.Cmd
	in      *json.Encoder
	replies chan agent.Reply
	ended   chan struct{}
	log     string
	mu      sync.Mutex
}

// start runs a client's program in a process group of its own; what it says on standard error goes to a file.
func start(command []string, env []string, log string) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{cmd: exec.Command(command[0], command[1:]...), replies: make(chan agent.Reply), ended: make(chan struct{}), log: log}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = file
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = json.NewEncoder(in)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(bufio.NewScanner(out))
	return p, nil
}

// listen passes replies on. A line that is none is a client's own chatter and is passed over.
func (p *process) listen(lines *bufio.Scanner) {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r agent.Reply
		if strings.HasPrefix(lines.Text(), "{") && json.Unmarshal(lines.Bytes(), &r) == nil {
			p.replies <- r
		}
	}
	p.cmd.Wait()
	close(p.ended)
}

// errMissing is a step that a client cannot do.
type errMissing struct{ why string }

func (e errMissing) Error() string { return e.why }

// ask puts one request and waits for its reply at most as long as said.
func (p *process) ask(q agent.Request, most time.Duration) (agent.Reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.in.Encode(q); err != nil {
		return agent.Reply{}, fmt.Errorf("%s: the program ended: %s", q.Do, p.lastLine())
	}
	select {
	case r := <-p.replies:
		switch {
		case r.Missing != "":
			return r, errMissing{r.Missing}
		case r.Error != "":
			return r, errors.New(q.Do + ": " + firstLine(r.Error))
		}
		return r, nil
	case <-p.ended:
		return agent.Reply{}, fmt.Errorf("%s: the program ended: %s", q.Do, p.lastLine())
	case <-time.After(most):
		p.kill()
		return agent.Reply{}, fmt.Errorf("%s: no answer in %s", q.Do, most)
	}
}

// kill ends the program and all that it started, as kill -9 does.
func (p *process) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	for {
		select {
		case <-p.replies:
		case <-p.ended:
			return
		}
	}
}

func (p *process) lastLine() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
