package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// upFor is how long all brokers run before the next one is killed, downFor how long it is gone. franz-go's tests give
	// a JoinGroup, with all its retries, 20 s, and fail where that was too little: in between a rebalance must have time to
	// come to its end.
	upFor, downFor = 12 * time.Second, 500 * time.Millisecond
	brokers        = 3
)

// dying is a server of three brokers of which one dies every few seconds, and comes back. A dead broker is noticed after a
// second, so that whoever is patient for as long as franz-go is by default finds the next leader.
type dying struct {
	server    *exec.Cmd
	bootstrap string
	lab       string
	token     string
	ending    chan struct{}
	killing   sync.WaitGroup
	kills     int
	failed    error
}

// serveDying builds and starts a server and begins to kill its brokers.
func serveDying(dir string) (*dying, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "grouplab-dying")
	if err := quietly(root, "go", "build", "-o", binary, "./server"); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server-dying.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	d := &dying{ending: make(chan struct{})}
	d.server = exec.Command(binary, "-http", "127.0.0.1:0", "-kafka", "127.0.0.1:0", "-brokers", fmt.Sprint(brokers),
		"-set", "broker.session.timeout.ms=1000", "-set", "replica.fetch.backoff.ms=100")
	d.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	d.server.Stderr = log
	out, err := d.server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.server.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for d.token == "" && lines.Scan() {
		what, value, _ := strings.Cut(lines.Text(), ": ")
		switch what {
		case "kafka":
			d.bootstrap = value
		case "lab":
			d.lab = value
		case "token":
			d.token = value
		}
	}
	if d.token == "" {
		d.stop()
		return nil, fmt.Errorf("the server ended before it said where it listens; see %s", log.Name())
	}
	d.killing.Go(func() { d.failed = d.killAlong() })
	return d, nil
}

// killAlong kills one broker after the other until the end.
func (d *dying) killAlong() error {
	addresses := strings.Split(d.bootstrap, ",")
	for n := 0; d.wait(upFor); n++ {
		id := n%brokers + 1
		if err := d.post(id, "kill"); err != nil {
			return err
		}
		d.kills++
		if !d.wait(downFor) {
			return nil
		}
		if err := d.post(id, "restart"); err != nil {
			return err
		}
		for d.wait(20 * time.Millisecond) { // it serves when its old session is over
			if c, err := net.Dial("tcp", addresses[id-1]); err == nil {
				c.Close()
				break
			}
		}
	}
	return nil
}

// wait reports false once the end has come.
func (d *dying) wait(howLong time.Duration) bool {
	select {
	case <-d.ending:
		return false
	case <-time.After(howLong):
		return true
	}
}

func (d *dying) post(broker int, what string) error {
	q, err := http.NewRequest(http.MethodPost, fmt.Sprintf("%s/api/brokers/%d/%s", d.lab, broker, what), nil)
	if err != nil {
		return err
	}
	q.Header.Set("X-GroupLab-Token", d.token)
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

// stop ends the kills and the server. It tells how many kills there were.
func (d *dying) stop() (kills int, err error) {
	close(d.ending)
	d.killing.Wait()
	d.server.Process.Signal(syscall.SIGTERM)
	d.server.Wait()
	return d.kills, d.failed
}
