package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"grouplab/server/e2e/clients/agent"
)

const (
	partitions = 4
	each       = 20 // records with one compression
	// sessionMs is the one setting that is not the client's default: how long a killed member is waited for.
	sessionMs = 10000
	// askMost bounds one request; a Java program's first needs some of it to start.
	askMost = 60 * time.Second
	// settleMost bounds the wait for a group to share its partitions as expected.
	settleMost = 60 * time.Second
)

// steps are the scenario's, in the table's order.
var steps = []string{"create", "produce", "share", "commit", "describe", "list", "killed", "leaves", "static", "cooperative",
	"reset", "del group", "transaction", "del topic", "failover"}

// lockedSteps are those of a row whose brokers are locked.
var lockedSteps = []string{"create", "produce", "share", "commit", "describe", "list", "killed", "leaves", "reset", "del group",
	"transaction", "del topic", "failover", "stranger", "doubter"}

// outcome is how one step went: nil in ok, errMissing, or another error.
type outcome map[string]error

// scene is the scenario played by one client.
type scene struct {
	client    client
	bootstrap string
	binary    string // the server's, "" where the brokers are not ours
	logs      string
	locked    *locked // nil where the brokers are open to all
	serverLog string
	topic     string
	admin     *process
	running   []*process
	did       outcome
	note      map[string]string
	version   string
	absent    error  // why the client could not be had
	whole     string // what client.alone answered
	wholeErr  error
}

// play plays all steps, each as far as those that it needs went well.
func (s *scene) play() {
	defer s.killAll()
	s.topic = s.client.name + "-topic"
	var err error
	if s.admin, err = s.program("admin"); err != nil {
		s.did["create"] = err
		return
	}
	hello, err := s.admin.ask(agent.Request{Do: "hello"}, askMost)
	if err != nil {
		s.did["create"] = err
		return
	}
	s.version = hello.Version
	s.step("create", func() error { return s.order(agent.Request{Do: "create", Topic: s.topic, N: partitions}) })
	if no := (errMissing{}); errors.As(s.did["create"], &no) {
		if err := s.createTopic(); err != nil {
			s.did["create"] = err
		}
		defer s.deleteTopic()
	} else if s.did["create"] != nil {
		return
	}
	s.step("produce", func() error { return s.produce(hello.Compressions) })
	s.dynamicGroup()
	s.step("static", s.static)
	s.step("cooperative", s.cooperative)
	s.step("transaction", s.transaction)
	s.step("del topic", func() error { return s.order(agent.Request{Do: "delete-topic", Topic: s.topic}) })
	s.step("failover", func() error { return s.failover(hello.Compressions) })
	s.step("stranger", s.stranger)
	s.step("doubter", s.doubter)
}

func (s *scene) killAll() {
	for _, p := range s.running {
		p.kill()
	}
}

// steps are those that the client's row has.
func (s *scene) steps() []string {
	if s.client.lock != nil {
		return lockedSteps
	}
	return steps
}

func (s *scene) step(name string, do func() error) {
	if slices.Contains(s.steps(), name) {
		s.did[name] = do()
	}
}

func (s *scene) program(role string) (*process, error) {
	if s.locked == nil {
		return s.programAs(role, nil)
	}
	return s.programAs(role, s.locked.right.Environment())
}

// programAs starts the client's program with something beside its environment.
func (s *scene) programAs(role string, env []string) (*process, error) {
	p, err := start(s.client.command, slices.Concat(s.client.env, env), fmt.Sprintf("%s/%s-%d-%s.log", s.logs, s.client.name, len(s.running), role))
	if err == nil {
		s.running = append(s.running, p)
	}
	return p, err
}

// order asks the client's administering program for something that answers with nothing but success.
func (s *scene) order(q agent.Request) error {
	_, err := s.question(q)
	return err
}

func (s *scene) question(q agent.Request) (agent.Reply, error) {
	q.Bootstrap, q.Partitions = s.bootstrap, partitions
	return s.admin.ask(q, askMost)
}

// produce sends records with each compression and reads all of them.
func (s *scene) produce(compressions []string) error {
	var want, failed []string
	for _, compression := range compressions {
		err := s.order(agent.Request{Do: "produce", Topic: s.topic, Compression: compression, N: each})
		if err != nil {
			failed = append(failed, compression+": "+err.Error())
			continue
		}
		for i := range each {
			want = append(want, fmt.Sprintf("%s-%d", compression, i))
		}
	}
	s.note["produce"] = strings.Join(compressions, " ")
	got, err := s.question(agent.Request{Do: "read", Topic: s.topic, N: len(want)})
	if err == nil {
		err = sameTexts(got.Values, want)
	}
	if err != nil {
		failed = append(failed, err.Error())
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	return nil
}

func sameTexts(got, want []string) error {
	sort.Strings(got)
	sort.Strings(want)
	if slices.Equal(got, want) {
		return nil
	}
	for _, text := range want {
		if !slices.Contains(got, text) {
			return fmt.Errorf("%d records came, %d were sent; %s is missing", len(got), len(want), text)
		}
	}
	return fmt.Errorf("%d records came, %d were sent", len(got), len(want))
}

// transaction writes into a topic of its own, since read_uncommitted readers see what was aborted.
func (s *scene) transaction() error {
	topic, group := s.topic+"-txn", s.client.name+"-txn-group"
	if err := s.order(agent.Request{Do: "create", Topic: topic, N: partitions}); err != nil {
		return err
	}
	done, err := s.question(agent.Request{Do: "transaction", Topic: topic, Group: group, N: each, Offset: 7})
	if err != nil {
		return err
	}
	s.note["transaction"] = done.State
	var want []string
	for i := range each {
		want = append(want, fmt.Sprintf("committed-%d", i))
	}
	got, err := s.question(agent.Request{Do: "read", Topic: topic, N: each, Isolation: "read_committed"})
	if err != nil {
		return err
	}
	if err := sameTexts(got.Values, want); err != nil {
		return err
	}
	if done.State == "" {
		stored, err := s.question(agent.Request{Do: "committed", Topic: topic, Group: group})
		if err != nil {
			return err
		}
		if stored.Offsets["0"] != 7 {
			return fmt.Errorf("the transaction committed offset 7 for partition 0, and the group has %v", stored.Offsets)
		}
	}
	return s.order(agent.Request{Do: "delete-topic", Topic: topic})
}
