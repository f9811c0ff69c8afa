// Command clients points real Kafka clients at our brokers, each as programs of its own with the client's defaults, plays
// one scenario with all of them and prints one table.
//
//	go run . -clients kcat,sarama     some of them; without the flag all
//
// It ends with 1 if a step failed or a client could not be had.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	chosen := flag.String("clients", "", "`NAMES` of the clients to run, with commas; all if empty")
	binary := flag.String("server", "", "`FILE` of a built server; built from the repository if empty")
	address := flag.String("bootstrap", "", "`HOST:PORT` of brokers that run already, in place of our own")
	atOnce := flag.Int("at-once", 2, "`N` clients that run at the same time")
	flag.Parse()
	bad, err := run(*chosen, *binary, *address, *atOnce)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if bad || err != nil {
		os.Exit(1)
	}
}

// run reports whether any client failed; err is what kept the scenario from being played at all.
func run(chosen, binary, address string, atOnce int) (bad bool, err error) {
	wanted, err := choose(chosen, address == "")
	if err != nil {
		return false, err
	}
	dir, err := cacheDir()
	if err != nil {
		return false, err
	}
	if address == "" {
		if binary == "" {
			if binary, err = buildServer(dir); err != nil {
				return false, err
			}
		}
		all, err := serve(binary, filepath.Join(dir, "server.log"))
		if err != nil {
			return false, err
		}
		defer all.stop()
		address = all.bootstrap
	}
	scenes := make([]*scene, len(wanted))
	var playing sync.WaitGroup
	slots := make(chan struct{}, max(1, atOnce))
	for i, c := range wanted {
		scenes[i] = &scene{client: c, bootstrap: address, binary: binary, logs: filepath.Join(dir, "logs"), did: outcome{}, note: map[string]string{}}
		slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-slots }()
			begun := time.Now()
			scenes[i].run(dir)
			fmt.Fprintf(os.Stderr, "%s: %d s%s\n", c.name, int(time.Since(begun).Seconds()), scenes[i].troubles())
		})
	}
	playing.Wait()
	return show(os.Stdout, scenes), nil
}

// choose looks up the named clients. Without names it is all of them or, where the brokers are somebody else's, all whose
// brokers are open.
func choose(names string, ours bool) ([]client, error) {
	clients := rows()
	if names == "" {
		return slices.DeleteFunc(clients, func(c client) bool { return c.lock != nil && !ours }), nil
	}
	var wanted []client
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
		if i < 0 {
			var known []string
			for _, c := range clients {
				known = append(known, c.name)
			}
			return nil, fmt.Errorf("there is no client %q; there are %s", name, strings.Join(known, ", "))
		}
		wanted = append(wanted, clients[i])
	}
	return wanted, nil
}

// run installs the client and plays the scenario, or whatever the client has in its place.
func (s *scene) run(dir string) {
	command, env, err := s.client.prepare(dir)
	if err != nil {
		s.absent = err
		return
	}
	s.client.command, s.client.env = command, env
	if s.client.alone != nil {
		s.whole, s.wholeErr = s.client.alone(s)
		return
	}
	if s.client.lock != nil {
		end, err := s.unlock()
		if err != nil {
			s.absent = err
			return
		}
		defer end()
	}
	s.play()
}
