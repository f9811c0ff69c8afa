package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"grouplab/server/app"
)

// TestTLS: franz-go gets in over TLS, with SASL and with a certificate of its own, where it should, and only there.
func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	users := func(c *app.Config) { c.Users = []app.User{{Name: "bob", Password: "hunter2"}} }
	certificates := func(c *app.Config) { c.TLSClientCA = ours.file }
	bob := scram.Auth{User: "bob", Pass: "hunter2"}
	trusting := kgo.DialTLSConfig(ours.trusts(""))
	for _, server := range []struct {
		name   string
		change func(*app.Config)
		// in and out are clients that get in, and that do not.
		in, out map[string][]kgo.Opt
	}{
		{"SSL", nil,
			map[string][]kgo.Opt{"trusting": {trusting}, "with a certificate that nobody wants": {kgo.DialTLSConfig(ours.trusts("ann"))}},
			map[string][]kgo.Opt{"in the clear": nil, "trusting somebody else": {kgo.DialTLSConfig(theirs.trusts(""))}}},
		{"SASL_SSL", users,
			map[string][]kgo.Opt{"PLAIN": {trusting, kgo.SASL(plain.Auth{User: "bob", Pass: "hunter2"}.AsMechanism())},
				"SCRAM-SHA-256": {trusting, kgo.SASL(bob.AsSha256Mechanism())}, "SCRAM-SHA-512": {trusting, kgo.SASL(bob.AsSha512Mechanism())}},
			map[string][]kgo.Opt{"nobody": {trusting}, "in the clear": {kgo.SASL(bob.AsSha256Mechanism())},
				"a wrong password": {trusting, kgo.SASL(scram.Auth{User: "bob", Pass: "hunter3"}.AsSha512Mechanism())}}},
		{"client certificates", certificates,
			map[string][]kgo.Opt{"one of ours": {kgo.DialTLSConfig(ours.trusts("ann"))}},
			map[string][]kgo.Opt{"none": {trusting}, "one of theirs": {kgo.DialTLSConfig(&tls.Config{RootCAs: ours.pool, Certificates: theirs.trusts("eve").Certificates})}}},
	} {
		t.Run(server.name, func(t *testing.T) {
			s := tlsServer(t, ours, func(string, ...any) {}, server.change)
			for who, options := range server.in {
				if err := roundTrip(t, s, options...); err != nil {
					t.Errorf("%s does not get in: %v", who, err)
				}
			}
			for who, options := range server.out {
				if roundTripWithin(t, 5*time.Second, s, append(options, kgo.RetryTimeout(time.Second), kgo.RecordDeliveryTimeout(time.Second))...) == nil {
					t.Errorf("%s gets in", who)
				}
			}
		})
	}
}

// TestTLSAdvertised: clients check the certificate against the host that they were told, not the one that they came by.
func TestTLSAdvertised(t *testing.T) {
	var log lines
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, log.logf, func(c *app.Config) { c.Advertise, c.Brokers = "localhost:0", 2 })
	if err := roundTrip(t, s, kgo.DialTLSConfig(a.trusts(""))); err != nil {
		t.Error(err)
	}
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("a warning of nothing: %q", w)
	}
	cert, key := a.issue("other")
	other, err := app.New(app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Advertise: "lab.example:0", TLSCert: cert, TLSKey: key})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if w := strings.Join(other.Warnings(), "\n"); !strings.Contains(w, "clients are told the host lab.example, and the certificate is for localhost, 127.0.0.1") {
		t.Errorf("nobody says that the certificate is for another host: %q", w)
	}
}

// TestTLSHandshakeV0: SaslHandshake v0, after which bare tokens follow, goes over TLS as over anything.
func TestTLSHandshakeV0(t *testing.T) {
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, nil, func(c *app.Config) { c.Users = []app.User{{Name: "bob", Password: "hunter2"}} })
	shake, metadata := kmsg.NewPtrSASLHandshakeRequest(), kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	w := dialTLS(t, s.KafkaAddrs()[0], a.trusts(""))
	shake.Mechanism = "PLAIN"
	if got := ask[*kmsg.SASLHandshakeResponse](w, shake); got.ErrorCode != 0 {
		t.Fatal(name(got.ErrorCode))
	}
	if got := w.token("\x00bob\x00hunter2"); got != "" {
		t.Errorf("PLAIN is answered %q", got)
	}
	ask[*kmsg.MetadataResponse](w, metadata)

	w = dialTLS(t, s.KafkaAddrs()[0], a.trusts(""))
	shake.Mechanism = "SCRAM-SHA-512"
	ask[*kmsg.SASLHandshakeResponse](w, shake)
	session, first, err := scram.Auth{User: "bob", Pass: "hunter2"}.AsSha512Mechanism().Authenticate(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := session.Challenge([]byte(w.token(string(first))))
	if err != nil {
		t.Fatal(err)
	}
	if done, _, err := session.Challenge([]byte(w.token(string(second)))); err != nil || !done {
		t.Fatalf("the server's proof: %v", err)
	}
	ask[*kmsg.MetadataResponse](w, metadata)
}

// TestTLSKcat: librdkafka gets in with each security.protocol.
func TestTLSKcat(t *testing.T) {
	a := newAuthority(t, "ours")
	cert, key := a.issue("kcat")
	for _, c := range []struct {
		name   string
		change func(*app.Config)
		args   []string
	}{
		{"SSL", nil, []string{"-X", "security.protocol=SSL"}},
		{"SASL_SSL", func(c *app.Config) { c.Users = []app.User{{Name: "bob", Password: "hunter2"}} },
			[]string{"-X", "security.protocol=SASL_SSL", "-X", "sasl.mechanisms=PLAIN", "-X", "sasl.username=bob", "-X", "sasl.password=hunter2"}},
		{"client certificate", func(c *app.Config) { c.TLSClientCA = a.file },
			[]string{"-X", "security.protocol=SSL", "-X", "ssl.certificate.location=" + cert, "-X", "ssl.key.location=" + key}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tlsServer(t, a, nil, c.change)
			args := append([]string{"-b", s.KafkaAddrs()[0], "-X", "ssl.ca.location=" + a.file, "-X", "ssl.endpoint.identification.algorithm=https"}, c.args...)
			kcat(t, "one\ntwo\n", append(args, "-P", "-t", "orders")...)
			if got := kcat(t, "", append(args, "-C", "-t", "orders", "-e", "-q")...); got != "one\ntwo\n" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// TestTLSDemo: the demo's clients connect to brokers that want TLS, users and certificates.
func TestTLSDemo(t *testing.T) {
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, nil, func(c *app.Config) {
		c.TLSClientCA, c.Users, c.Demo = a.file, []app.User{{Name: "bob", Password: "hunter2"}}, 1
	})
	admin := kadm.NewClient(client(t, s, kgo.DialTLSConfig(a.trusts("ann")), kgo.SASL(plain.Auth{User: "bob", Pass: "hunter2"}.AsMechanism())))
	eventually(t, 20*time.Second, func() error {
		groups, err := admin.DescribeGroups(t.Context())
		if err != nil {
			return err
		}
		for _, g := range groups {
			if g.State == "Stable" && len(g.Members) == 1 {
				return nil
			}
		}
		return fmt.Errorf("no group has the demo's consumer: %v", groups)
	})
}

// TestTLSPage: the page speaks TLS where it is asked to, and nothing else.
func TestTLSPage(t *testing.T) {
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, nil, func(c *app.Config) { c.HTTP, c.HTTPTLS = "127.0.0.1:0", true })
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Errorf("the page is at %s", s.URL())
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: a.trusts("")}}
	defer web.CloseIdleConnections()
	eventually(t, 20*time.Second, func() error {
		answer, err := web.Get(s.URL() + "/healthz")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", answer.Status, text)
		}
		return nil
	})
	answer, err := http.Get("http://" + s.HTTPAddr() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS the page answers %s", answer.Status)
	}
}

// TestTLSNewCertificate: files that change are used from then on, where they are right; connections that are open stay.
func TestTLSNewCertificate(t *testing.T) {
	var log lines
	a := newAuthority(t, "ours")
	var cfg app.Config
	s := tlsServer(t, a, log.logf, func(c *app.Config) { cfg = *c })
	at := s.KafkaAddrs()[0]
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	serial := func() string {
		nc, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", at, a.trusts(""))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		return nc.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	old := dialTLS(t, at, a.trusts(""))
	ask[*kmsg.MetadataResponse](old, metadata)
	first := serial()
	if err := os.WriteFile(cfg.TLSCert, []byte("half a cert"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, func() error {
		if now := serial(); now != first {
			t.Fatalf("certificate %s is used, which is none", now)
		}
		if says := "there is no certificate in it"; !log.has(says) || !log.has("the certificate that was read before stays") {
			return fmt.Errorf("no line says %q:\n%s", says, log.all())
		}
		return nil
	})
	a.issue("broker") // writes to the same files
	eventually(t, 20*time.Second, func() error {
		if serial() == first {
			return fmt.Errorf("the new certificate is not used:\n%s", log.all())
		}
		return nil
	})
	ask[*kmsg.MetadataResponse](old, metadata)
	eventually(t, 20*time.Second, func() error {
		if !log.has("the new certificate is used from now on") {
			return fmt.Errorf("no line says that there is a new one:\n%s", log.all())
		}
		return nil
	})
}
