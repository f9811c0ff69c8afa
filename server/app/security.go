package app

import (
	"crypto/tls"
	"time"
)

// listenerTLS is what the brokers speak TLS with, nil without.
func (s *Server) listenerTLS() *tls.Config {
	if s.tls == nil {
		return nil
	}
	return s.tls.config()
}

// clientTLS is how clients of this process speak TLS, nil without.
func (s *Server) clientTLS() *tls.Config {
	if s.tls == nil {
		return nil
	}
	return s.tls.client()
}

// Protocol is the brokers' security.protocol, by Kafka's name.
func (s *Server) Protocol() string {
	switch {
	case s.tls != nil && len(s.cfg.Users) > 0:
		return "SASL_SSL"
	case s.tls != nil:
		return "SSL"
	case len(s.cfg.Users) > 0:
		return "SASL_PLAINTEXT"
	}
	return "PLAINTEXT"
}

// Warnings are what an operator should know of a server that runs all the same, a line each.
func (s *Server) Warnings() (list []string) {
	for i, a := range append([]address{s.http}, s.kafka...) {
		if a == (address{}) || a.loopback() {
			continue
		}
		page := i == 0
		encrypted, asks := s.tls != nil && (!page || s.cfg.HTTPTLS), !page && (len(s.cfg.Users) > 0 || s.cfg.TLSClientCA != "")
		switch {
		case page && encrypted:
			list = append(list, a.String()+" (-http) can be reached by other machines, and shows everybody what there is")
		case page:
			list = append(list, a.String()+" (-http) can be reached by other machines: it shows everybody what there is, and nothing is encrypted (-http-tls)")
		case !encrypted && !asks:
			list = append(list, a.String()+" (-kafka) can be reached by other machines: nobody is asked who they are (-users), and nothing is encrypted (-tls-cert, -tls-key)")
		case !encrypted:
			list = append(list, a.String()+" (-kafka) can be reached by other machines, and passwords and records can be read on the way (-tls-cert, -tls-key)")
		case !asks:
			list = append(list, a.String()+" (-kafka) can be reached by other machines, and nobody is asked who they are (-users, -tls-client-ca)")
		}
	}
	if s.tls != nil {
		list = append(list, s.tls.warnings(s.told, time.Now())...)
	}
	return list
}
