package app

import "fmt"

// readAdvertised checks what clients are to be told of the brokers.
func (s *Server) readAdvertised() error {
	if s.cfg.Advertise == "" {
		return nil
	}
	at, err := parseAddress("-advertise", s.cfg.Advertise)
	switch {
	case err != nil:
		return err
	case at.wildcard():
		return fmt.Errorf("-advertise %s: clients connect to this address, and nobody can connect to %q", at, at.host)
	case at.port != 0 && at.port+int(s.cfg.Brokers)-1 > 65535:
		return fmt.Errorf("-advertise %s: broker %d would have port %d; choose at most %d", at, s.cfg.Brokers, at.port+int(s.cfg.Brokers)-1, 65536-s.cfg.Brokers)
	}
	return nil
}

// advertised is what clients are told of a broker that listens already; i counts from 0.
func (s *Server) advertised(i int) address {
	if s.cfg.Advertise == "" {
		return s.kafka[i]
	}
	at, _ := parseAddress("-advertise", s.cfg.Advertise) // checked before
	if at = at.plus(i); at.port == 0 {
		at.port = s.kafka[i].port
	}
	return at
}
