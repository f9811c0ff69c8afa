package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"grouplab/server/e2e/clients/agent"
)

// failover kills the broker that coordinates the group while two members consume, and starts it again. The brokers are
// three of its own: nobody else is to notice.
func (s *scene) failover(compressions []string) error {
	if s.binary == "" {
		return errMissing{"killing a broker, where the brokers are not ours"}
	}
	name := s.client.name + "-failover"
	flags := []string{"-set", "broker.session.timeout.ms=2000", "-set", "group.initial.rebalance.delay.ms=0"}
	if s.locked != nil {
		flags = append(flags, s.locked.flags...)
	}
	c, err := serve(s.binary, filepath.Join(s.logs, name+"-server.log"), flags...)
	if err != nil {
		return err
	}
	defer c.stop()
	f := &failing{scene: &scene{client: s.client, bootstrap: c.bootstrap, locked: s.locked, logs: filepath.Join(s.logs, "failover"), topic: s.client.name + "-copied"},
		cluster: c, group: name + "-group", kinds: compressions[:3]}
	defer f.killAll()
	if f.admin, err = f.program("admin"); err != nil {
		return err
	}
	if err := f.createTopic(); err != nil {
		return err
	}
	return f.play()
}

// failing is a scene whose brokers die.
type failing struct {
	*scene
	cluster *cluster
	group   string
	a, b    member
	// kinds are the compressions of what is sent before, while a broker is dead, and after it is back.
	kinds []string
	sent  []string
}

func (f *failing) play() (err error) {
	if err := f.send(f.kinds[0]); err != nil {
		return err
	}
	if f.a, f.b, err = f.pair(f.group, "", "", sessionMs); err != nil {
		return err
	}
	if err := f.begun(); err != nil {
		return err
	}
	kept := int64(len(f.sent) / partitions)
	if err := f.keep(kept); err != nil {
		return err
	}
	coordinator, err := f.coordinator()
	if err != nil {
		return err
	}
	for i, what := range []string{"kill", "restart"} {
		seen, err := f.seen()
		if err == nil {
			err = f.cluster.order(coordinator, what)
		}
		if err == nil { // an administrator who knew the dead broker may wait for it to come back
			f.admin, err = f.program("admin")
		}
		if err == nil {
			err = f.send(f.kinds[i+1])
		}
		if err == nil {
			err = f.consumed(seen, settleMost)
		}
		// Where the program cannot commit what it is told to, the consumers commit by themselves what nobody foresees.
		if err == nil && what == "kill" && f.client.asKafka["commit"] == "" && !f.client.scatters {
			err = f.soon(func() error { return f.stored(f.group, kept) })
		}
		if err != nil {
			return fmt.Errorf("after the %s of broker %d: %w", what, coordinator, err)
		}
	}
	if err := f.keep(int64(len(f.sent) / partitions)); err != nil {
		return fmt.Errorf("after all: %w", err)
	}
	return f.nothingLost()
}

// begun waits until both members are given what is sent now. Until then one may still ask where a partition ends, which is
// where it begins by default, and pass over what comes meanwhile.
func (f *failing) begun() (err error) {
	for range 6 {
		seen, seenErr := f.seen()
		if err = errors.Join(seenErr, f.send(f.kinds[0])); err != nil {
			return err
		}
		if err = f.consumed(seen, settleMost/6); err == nil {
			return nil
		}
	}
	return err
}

// send has records of a kind acknowledged. Some clients give up before there is a new leader, and are asked again.
func (f *failing) send(kind string) error {
	for i := range each {
		f.sent = append(f.sent, fmt.Sprintf("%s-%d", kind, i))
	}
	return f.soon(func() error {
		return f.order(agent.Request{Do: "produce", Topic: f.topic, Compression: kind, N: each, Acks: true})
	})
}

// keep has both members commit.
func (f *failing) keep(offset int64) error {
	if f.client.asKafka["commit"] != "" {
		return nil
	}
	return f.soon(func() error {
		for _, m := range []member{f.a, f.b} {
			if _, err := m.ask(agent.Request{Do: "commit", Group: f.group, Topic: f.topic, Offset: offset}, askMost); err != nil {
				return err
			}
		}
		return f.stored(f.group, offset)
	})
}

// soon does something until it succeeds: a client may tell its user of a broker that has gone. What the client cannot do is
// passed over.
func (f *failing) soon(do func() error) (err error) {
	for end := time.Now().Add(settleMost); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		err = do()
		if no := (errMissing{}); err == nil || errors.As(err, &no) {
			return nil
		}
	}
	return err
}

// seen is how many records each member has had.
func (f *failing) seen() (all [2]int, err error) {
	for i, m := range []member{f.a, f.b} {
		r, err := m.ask(agent.Request{Do: "assignment"}, askMost)
		if err != nil {
			return all, err
		}
		all[i] = r.Seen
	}
	return all, nil
}

// consumed waits until both members have had all of the last kind from their half of the partitions. What a client counts
// may be less than 0: it does not say; then both own their half.
func (f *failing) consumed(before [2]int, most time.Duration) error {
	end := time.Now().Add(most)
	for {
		now, err := f.seen()
		if err != nil {
			return err
		}
		if f.had(before, now) {
			_, err := settle(settleMost, []int{partitions / 2, partitions / 2}, f.a, f.b)
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %s the members have had %d and %d records more of %d", most, now[0]-before[0], now[1]-before[1], each)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// had tells whether both members have had what was sent last: half of it each or, where it was scattered, all of it between
// them, and each some.
func (f *failing) had(before, now [2]int) bool {
	least, sum := each/2, 0
	if f.client.scatters {
		least = 1
	}
	for i := range now {
		if now[i] < 0 {
			return now[1-i] < 0 || now[1-i]-before[1-i] >= least
		}
		if now[i]-before[i] < least {
			return false
		}
		sum += now[i] - before[i]
	}
	return sum >= each
}

// nothingLost reads the topic: what was acknowledged is there once at least. Where something was sent twice, more is read.
func (f *failing) nothingLost() (err error) {
	for _, most := range []int{len(f.sent), 10 * len(f.sent)} {
		r, readErr := f.question(agent.Request{Do: "read", Topic: f.topic, N: most})
		if readErr != nil {
			return readErr
		}
		err = nil
		for _, text := range f.sent {
			if !slices.Contains(r.Values, text) {
				err = fmt.Errorf("%s was acknowledged and is lost; %d records are there", text, len(r.Values))
			}
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// coordinator asks for the group's coordinator as someone who is neither member nor administrator.
func (f *failing) coordinator() (int32, error) {
	cfg, err := f.sarama()
	if err != nil {
		return 0, err
	}
	c, err := sarama.NewClient(agent.Addresses(f.bootstrap), cfg)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	broker, err := c.Coordinator(f.group)
	if err != nil {
		return 0, err
	}
	return broker.ID(), nil
}
