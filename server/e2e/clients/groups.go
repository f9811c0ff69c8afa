package main

import (
	"fmt"
	"slices"
	"time"

	"grouplab/server/e2e/clients/agent"
)

// member is one program that consumes in a group.
type member struct{ *process }

func (s *scene) join(group, instance, assignor string, sessionMs int) (member, error) {
	p, err := s.program("member")
	if err != nil {
		return member{}, err
	}
	_, err = p.ask(agent.Request{Do: "join", Bootstrap: s.bootstrap, Topic: s.topic, Group: group, Instance: instance,
		Assignor: assignor, SessionMs: sessionMs, Partitions: partitions}, askMost)
	return member{p}, err
}

// settle waits until the members have the partitions between them, as many each as said.
func settle(most time.Duration, want []int, members ...member) ([]agent.Reply, error) {
	end := time.Now().Add(most)
	for {
		var all []agent.Reply
		var owned []int
		right := true
		for i, m := range members {
			r, err := m.ask(agent.Request{Do: "assignment"}, askMost)
			if err != nil {
				return nil, err
			}
			all, owned = append(all, r), append(owned, r.Partitions...)
			right = right && len(r.Partitions) == want[i]
		}
		slices.Sort(owned)
		if right && slices.Equal(owned, []int{0, 1, 2, 3}) {
			return all, nil
		}
		if time.Now().After(end) {
			var have [][]int
			for _, r := range all {
				have = append(have, r.Partitions)
			}
			return nil, fmt.Errorf("after %s the members have partitions %v, expected %v of them", most, have, want)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// dynamicGroup is the life of a group whose members have no instance id.
func (s *scene) dynamicGroup() {
	group := s.client.name + "-group"
	var a, b member
	s.step("share", func() (err error) { a, b, err = s.pair(group, "", "", sessionMs); return err })
	if s.did["share"] != nil {
		return
	}
	s.step("commit", func() error { return s.commit(group, a, b) })
	s.step("describe", func() error {
		r, err := s.question(agent.Request{Do: "describe", Group: group})
		if err == nil && (r.State != "Stable" || r.Members != 2) {
			err = fmt.Errorf("it is %q with %d members; expected Stable with 2", r.State, r.Members)
		}
		return err
	})
	s.step("list", func() error { return s.listed(group, true) })
	s.step("killed", func() error {
		b.kill()
		_, err := settle(settleMost, []int{partitions}, a)
		return err
	})
	if s.did["killed"] == nil {
		s.step("leaves", func() error { return s.leaves(group, a) })
	}
	a.ask(agent.Request{Do: "leave"}, askMost)
	a.kill()
	s.step("reset", func() error { return s.reset(group) })
	s.step("del group", func() error {
		if err := s.order(agent.Request{Do: "delete-group", Group: group}); err != nil {
			return err
		}
		return s.listed(group, false)
	})
}

// pair starts one member, waits until it has all, starts the second, and waits until each has half.
func (s *scene) pair(group, instance, assignor string, sessionMs int) (a, b member, err error) {
	name := func(which string) string {
		if instance == "" {
			return ""
		}
		return instance + which
	}
	if a, err = s.join(group, name("a"), assignor, sessionMs); err != nil {
		return a, b, err
	}
	if _, err = settle(settleMost, []int{partitions}, a); err != nil {
		return a, b, err
	}
	if b, err = s.join(group, name("b"), assignor, sessionMs); err != nil {
		return a, b, err
	}
	_, err = settle(settleMost, []int{partitions / 2, partitions / 2}, a, b)
	return a, b, err
}

func (s *scene) commit(group string, members ...member) error {
	for _, m := range members {
		if _, err := m.ask(agent.Request{Do: "commit", Group: group, Topic: s.topic, Offset: 5}, askMost); err != nil {
			return err
		}
	}
	return s.stored(group, 5)
}

// stored checks that the group has the offset for every partition.
func (s *scene) stored(group string, offset int64) error {
	r, err := s.question(agent.Request{Do: "committed", Group: group, Topic: s.topic})
	if err != nil {
		return err
	}
	for p := range partitions {
		if got, ok := r.Offsets[fmt.Sprint(p)]; !ok || got != offset {
			return fmt.Errorf("offset %d was committed for every partition, and the group has %v", offset, r.Offsets)
		}
	}
	return nil
}

func (s *scene) listed(group string, want bool) error {
	r, err := s.question(agent.Request{Do: "groups"})
	if err == nil && slices.Contains(r.Groups, group) != want {
		return fmt.Errorf("%s listed: %t, expected %t, among %v", group, !want, want, r.Groups)
	}
	return err
}

// leaves has a member join and leave: the other one has all again before a session could have expired.
func (s *scene) leaves(group string, a member) error {
	c, err := s.join(group, "", "", sessionMs)
	if err != nil {
		return err
	}
	if _, err := settle(settleMost, []int{2, 2}, a, c); err != nil {
		return err
	}
	if _, err := c.ask(agent.Request{Do: "leave"}, askMost); err != nil {
		return err
	}
	_, err = settle((sessionMs-1000)*time.Millisecond, []int{partitions}, a)
	return err
}

// static kills a static member and starts it again within its session: it has what it had, and the other one saw nothing.
func (s *scene) static() error {
	group := s.client.name + "-static"
	const session = 40000
	a, b, err := s.pair(group, "instance-", "", session)
	if err != nil {
		return err
	}
	before, err := settle(settleMost, []int{2, 2}, a, b)
	if err != nil {
		return err
	}
	a.kill()
	if a, err = s.join(group, "instance-a", "", session); err != nil {
		return err
	}
	after, err := settle(session*time.Millisecond/2, []int{2, 2}, a, b)
	if err != nil {
		return err
	}
	slices.Sort(before[0].Partitions)
	slices.Sort(after[0].Partitions)
	if !slices.Equal(before[0].Partitions, after[0].Partitions) {
		return fmt.Errorf("the restarted member has partitions %v and had %v", after[0].Partitions, before[0].Partitions)
	}
	if before[1].Assigns != after[1].Assigns {
		return fmt.Errorf("the other member was given partitions %d times, and %d times before the restart", after[1].Assigns, before[1].Assigns)
	}
	b.kill()
	a.kill()
	return nil
}

// cooperative checks that the first member loses only what the second one gets.
func (s *scene) cooperative() error {
	a, b, err := s.pair(s.client.name+"-cooperative", "", "cooperative-sticky", sessionMs)
	if err != nil {
		return err
	}
	r, err := a.ask(agent.Request{Do: "assignment"}, askMost)
	if err != nil {
		return err
	}
	if r.Revoked >= 0 && r.Revoked != partitions/2 {
		return fmt.Errorf("%d partitions were taken from the first member; cooperative-sticky takes %d", r.Revoked, partitions/2)
	}
	a.kill()
	b.kill()
	return nil
}

// reset stores an offset for the empty group, as an administrator does.
func (s *scene) reset(group string) error {
	if err := s.order(agent.Request{Do: "reset", Group: group, Topic: s.topic, Offset: 2}); err != nil {
		return err
	}
	return s.stored(group, 2)
}
