package e2e

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
)

// served demands that a connection which was open before, and one that is new, are served.
func served(t testing.TB, old *wire, address string, cfg *tls.Config) {
	t.Helper()
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 12
	for _, w := range []*wire{old, dialTLS(t, address, cfg)} {
		if got := ask[*kmsg.MetadataResponse](w, request); len(got.Brokers) != 1 {
			t.Fatalf("somebody else sees %d brokers, not 1", len(got.Brokers))
		}
	}
}

// TestTLSWrongClients: whoever speaks the wrong thing is closed without an answer, and a line says what was wrong and what
// would be right; again and again makes no more lines.
func TestTLSWrongClients(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	eve := theirs.trusts("eve")
	certificates := func(c *app.Config) { c.TLSClientCA = ours.file }
	handshake := func(cfg *tls.Config) func(net.Conn) {
		return func(nc net.Conn) {
			c := tls.Client(nc, cfg)
			if c.Handshake() == nil {
				c.Read(make([]byte, 1)) // a refused certificate is told behind the handshake
			}
		}
	}
	bytes := func(b []byte) func(net.Conn) { return func(nc net.Conn) { nc.Write(b) } }
	hello := append([]byte{0x16, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3}, make([]byte, 94)...)
	for _, c := range []struct {
		name   string
		server func(*app.Config)
		client func(net.Conn)
		says   string
	}{
		{"a client in the clear", nil, bytes(frameOf(headerOf(18, 0))), "a Kafka request without TLS came; this listener is encrypted: set security.protocol=SSL in the client"},
		{"a client in the clear, with users", func(c *app.Config) { c.Users = []app.User{{Name: "bob", Password: "hunter2"}} }, bytes(frameOf(headerOf(17, 1))), "set security.protocol=SASL_SSL"},
		{"HTTP", nil, bytes([]byte("GET / HTTP/1.1\r\n\r\n")), "an HTTP request came; this port speaks the Kafka protocol over TLS"},
		{"SSH", nil, bytes([]byte("SSH-2.0-OpenSSH_9.6\r\n")), "an SSH client came"},
		{"noise", nil, bytes([]byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3}), "what came is no TLS hello (deadbeef01)"},
		{"a hello that is none", nil, bytes(hello), "the TLS handshake failed"},
		{"an old protocol", nil, handshake(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}), "only old versions of TLS; 1.2 and 1.3 are spoken here"},
		{"no trust", nil, handshake(&tls.Config{RootCAs: theirs.pool, ServerName: "localhost"}), "give it the authority that signed this listener's certificate (ssl.truststore.location"},
		{"no trust, as OpenSSL tells it", nil, func(nc net.Conn) {
			tls.Client(alertInClear{nc}, &tls.Config{RootCAs: theirs.pool, ServerName: "localhost"}).Handshake()
		}, "the client ended the TLS handshake (tls: unknown certificate authority): unless it meant to, give it the authority"},
		{"no trust, without a word", nil, func(nc net.Conn) {
			tls.Client(&leavesAfterHello{Conn: nc}, &tls.Config{RootCAs: ours.pool, ServerName: "localhost"}).Handshake()
		}, "the client went away in the TLS handshake, as some do that refuse our certificate"},
		{"no trust, found late", nil, func(nc net.Conn) {
			if err := tls.Client(nc, &tls.Config{RootCAs: ours.pool, ServerName: "localhost"}).Handshake(); err != nil {
				t.Error(err)
			}
			nc.Close()
		}, "the client went away behind the TLS handshake and asked nothing"},
		{"no certificate", certificates, handshake(&tls.Config{RootCAs: ours.pool, ServerName: "localhost"}), "the client shows no certificate, and -tls-client-ca wants one"},
		{"somebody else's certificate", certificates, handshake(&tls.Config{RootCAs: ours.pool, ServerName: "localhost", GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &eve.Certificates[0], nil // whatever authority is asked for
		}}), "the client's certificate is not one of -tls-client-ca"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log lines
			s := tlsServer(t, ours, log.logf, c.server)
			at := s.KafkaAddrs()[0]
			old := dialTLS(t, at, ours.trusts("ann"))
			const times = 5
			for range times {
				w := dial(t, at)
				c.client(w.Conn.Conn)
				w.SetReadDeadline(time.Now().Add(patience))
				if _, err := io.Copy(io.Discard, w); isTimeout(err) {
					t.Fatal("the connection stays open")
				}
			}
			eventually(t, 20*time.Second, func() error {
				if !log.has(c.says) {
					return fmt.Errorf("no line says %q:\n%s", c.says, log.all())
				}
				return nil
			})
			if c.server == nil || len(s.Warnings()) > 0 { // without users
				served(t, old, at, ours.trusts("ann"))
			}
			if n := strings.Count(log.all(), c.says); n < 1 || n > 2 { // a slow machine gets into the next ten seconds
				t.Errorf("%d lines after %d times, not 1:\n%s", n, times, log.all())
			}
		})
	}
}

// alertInClear sends an alert in place of the first record that is encrypted, as OpenSSL does where it refuses a server's
// certificate in TLS 1.3.
type alertInClear struct{ net.Conn }

func (a alertInClear) Write(p []byte) (int, error) {
	var out []byte
	for rest := p; len(rest) >= 5; {
		size := 5 + int(binary.BigEndian.Uint16(rest[3:]))
		if rest[0] == 0x17 {
			out = append(out, 0x15, 3, 3, 0, 2, 2, 48)
			break
		}
		out, rest = append(out, rest[:size]...), rest[size:]
	}
	if _, err := a.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// leavesAfterHello closes the connection in place of what would follow its hello.
type leavesAfterHello struct {
	net.Conn
	greeted bool
}

func (l *leavesAfterHello) Write(p []byte) (int, error) {
	if l.greeted {
		return 0, l.Close()
	}
	l.greeted = true
	return l.Conn.Write(p)
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// TestTLSHandshakesHeldOpen: hundreds of handshakes that are begun and not ended cost nobody else anything: the oldest lose
// their place.
func TestTLSHandshakesHeldOpen(t *testing.T) {
	var log lines
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, log.logf, nil)
	at := s.KafkaAddrs()[0]
	trusting := a.trusts("")
	old := dialTLS(t, at, trusting)
	before := heap()
	const attackers = 450 // two files each, where a process may have a thousand
	half := append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, make([]byte, 100)...)
	var held []net.Conn
	for range attackers {
		nc, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.Write(half)
		held = append(held, nc)
	}
	served(t, old, at, trusting)
	// All but so many as may be under way at once are closed, the first first.
	for i, nc := range held[:attackers-256] {
		nc.SetReadDeadline(time.Now().Add(patience))
		if _, err := nc.Read(make([]byte, 1)); isTimeout(err) {
			t.Fatalf("handshake %d of %d is still held open", i, attackers)
		}
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("%d half handshakes cost %d bytes", attackers, grown)
	}
	served(t, old, at, trusting)
	eventually(t, 20*time.Second, func() error {
		if says := "its TLS handshake was the slowest of more than 256 at once"; !log.has(says) {
			return fmt.Errorf("no line says %q:\n%s", says, log.all())
		}
		return nil
	})
}

// TestTLSHandshakeTimesOut: a single one ends by itself.
func TestTLSHandshakeTimesOut(t *testing.T) {
	t.Parallel()
	var log lines
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, log.logf, nil)
	w := dial(t, s.KafkaAddrs()[0])
	w.raw([]byte{0x16, 3, 1, 2, 0})
	w.SetReadDeadline(time.Now().Add(patience))
	if _, err := w.Read(make([]byte, 1)); isTimeout(err) {
		t.Fatal("the handshake is waited for for ever")
	}
	eventually(t, 5*time.Second, func() error {
		if !log.has("its TLS handshake was not done after 10s") {
			return fmt.Errorf("nobody says why:\n%s", log.all())
		}
		return nil
	})
}

// TestTLSRenegotiation: a client that asks to shake hands again (TLS 1.2, CVE-2011-1473) loses its connection, and nobody else
// notices.
func TestTLSRenegotiation(t *testing.T) {
	a := newAuthority(t, "ours")
	s := tlsServer(t, a, nil, nil)
	at := s.KafkaAddrs()[0]
	old := dialTLS(t, at, a.trusts(""))
	nc, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	seen, secrets := &firstBytes{Conn: nc}, &strings.Builder{}
	cfg := a.trusts("")
	cfg.ServerName, cfg.MaxVersion, cfg.KeyLogWriter = "localhost", tls.VersionTLS12, secrets
	cfg.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	if err := tls.Client(seen, cfg).Handshake(); err != nil {
		t.Fatal(err)
	}
	hello := append([]byte{1, 0, 0, 43, 3, 3}, make([]byte, 32)...) // ClientHello: a random
	hello = append(hello, 0, 0, 2, 0xc0, 0x2b, 1, 0, 0, 0)          // no session, one cipher suite, no compression, no extensions
	nc.Write(sealed(t, secrets.String(), seen.read, 0x16, hello))
	nc.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, nc); isTimeout(err) {
		t.Error("the connection stays open")
	}
	served(t, old, at, a.trusts(""))
}

// firstBytes keeps what was read: the server's hello is in it.
type firstBytes struct {
	net.Conn
	read []byte
}

func (f *firstBytes) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	f.read = append(f.read, p[:n]...)
	return n, err
}

// sealed encrypts the client's second record (RFC 5246, 5288), whose content is whatever it likes. log is a line of the key log:
// CLIENT_RANDOM, the client's random, the master secret.
func sealed(t testing.TB, log string, fromServer []byte, kind byte, content []byte) []byte {
	t.Helper()
	parts := strings.Fields(log)
	if len(parts) != 3 || len(fromServer) < 43 {
		t.Fatalf("no secrets: %q", log)
	}
	random, err1 := hex.DecodeString(parts[1])
	master, err2 := hex.DecodeString(parts[2])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	serverRandom := fromServer[11:43] // behind the record's header, the message's and the version
	seed := append(append([]byte("key expansion"), serverRandom...), random...)
	keys := expand(master, seed, 40) // two keys of 16 bytes, two nonces of 4
	block, err := aes.NewCipher(keys[:16])
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	number := binary.BigEndian.AppendUint64(nil, 1)
	nonce := append(append([]byte{}, keys[32:36]...), number...)
	extra := binary.BigEndian.AppendUint16(append(append([]byte{}, number...), kind, 3, 3), uint16(len(content)))
	body := gcm.Seal(number, nonce, content, extra)
	return append(binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(len(body))), body...)
}

// expand is P_SHA256 of RFC 5246.
func expand(secret, seed []byte, n int) (out []byte) {
	mac := func(parts ...[]byte) []byte {
		m := hmac.New(sha256.New, secret)
		for _, p := range parts {
			m.Write(p)
		}
		return m.Sum(nil)
	}
	for a := mac(seed); len(out) < n; a = mac(a) {
		out = append(out, mac(a, seed)...)
	}
	return out[:n]
}
