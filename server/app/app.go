// Package app wires the server in reading order: settings, machine, loop, Kafka listeners, live hub, pages, demo.
// The program and the end-to-end tests run the same Server, the tests on port 0.
package app

import (
	"context"
	"errors"
)

// Topic is a topic that exists from the start.
type Topic struct {
	Name       string
	Partitions int32
}

// Config is what the flags say. The zero value of a field means the flag's default where there is one.
type Config struct {
	// HTTP is the lab's address, HOST:PORT; port 0 takes a free one.
	HTTP string
	// Kafka is broker 1's address; broker i listens on the port i-1 higher. Port 0 gives each broker a free port.
	Kafka string
	// Brokers is how many brokers run in this process, with ids 1 to Brokers; 1 to 16.
	Brokers int32
	// Topics are created before the first connection is accepted.
	Topics []Topic
	// Set holds NAME=VALUE pairs with Kafka's configuration names, in the order given.
	Set []string
	// Demo is how many demo consumers start with the server, 0 none.
	Demo int
	// Remote allows addresses that other machines can reach. Without it such an address is an error.
	Remote bool
	// Logf gets one line for each thing an operator should know; nil means nowhere.
	Logf func(format string, args ...any)
}

// Server is one running lab: brokers, pages and demo clients.
type Server struct{ cfg Config }

// New checks the configuration and takes the ports, so that a wrong flag or a taken port is an error here, one that
// names the flag and says what would be right. Nothing is served before Run.
func New(cfg Config) (*Server, error) { return &Server{cfg: cfg}, nil }

// Run serves until ctx ends or Close is called, then gives everything back. It returns nil after such an end.
func (s *Server) Run(ctx context.Context) error {
	return errors.New("app: wiring has not been written")
}

// Close ends Run, drops all connections and waits until every goroutine of the server is gone.
func (s *Server) Close() error { return nil }

// KafkaAddrs are the brokers' addresses by id: broker 1 first.
func (s *Server) KafkaAddrs() []string { return nil }

// HTTPAddr is the lab's address, HOST:PORT.
func (s *Server) HTTPAddr() string { return s.cfg.HTTP }

// KillBroker ends a broker without a word: its listener and connections close, its machine is gone, its replicas stop.
// The controller notices after broker.session.timeout.ms. A broker that is down or does not exist is an error.
func (s *Server) KillBroker(id int32) error { return errors.New("app: wiring has not been written") }

// RestartBroker starts a killed broker again, on the same port. One that runs, or does not exist, is an error.
func (s *Server) RestartBroker(id int32) error { return errors.New("app: wiring has not been written") }

// AddPartitions gives a topic more partitions, up to total.
func (s *Server) AddPartitions(topic string, total int32) error {
	return errors.New("app: wiring has not been written")
}
