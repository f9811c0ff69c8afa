package e2e

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

// TestARestartedBrokerWaitsForItsOldSession: a killed broker that is started again at once may not register before the
// controller has noticed that it was gone. Until then its port is closed, as Apache Kafka's is, and who asks is told what
// is the matter.
func TestARestartedBrokerWaitsForItsOldSession(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 2, "broker.session.timeout.ms=600000")
	said := func(err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("told %v, which lacks %q", err, w)
			}
		}
	}
	said(s.RestartBroker(2), "broker 2 runs")
	if err := s.KillBroker(2); err != nil {
		t.Fatal(err)
	}
	said(s.KillBroker(2), "does not run, so it cannot be killed")
	other, err := net.Listen("tcp", s.KafkaAddrs()[1])
	if err != nil {
		t.Fatal(err)
	}
	said(s.RestartBroker(2), "is taken by another program")
	other.Close()
	if err := s.RestartBroker(2); err != nil {
		t.Fatal(err)
	}
	said(s.RestartBroker(2), "started again", "controller has noticed", "broker.session.timeout.ms")
	said(s.KillBroker(2), "does not run yet", "controller has noticed")
	if c, err := net.Dial("tcp", s.KafkaAddrs()[1]); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("its port: %v, %v", c, err)
	}
}
