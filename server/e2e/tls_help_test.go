package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

// authority signs certificates for a test.
type authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// file holds its certificate, in PEM; pool trusts it alone.
	file string
	pool *x509.CertPool
	last int64
}

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir(), pool: x509.NewCertPool()}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	shape := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	a.file = a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// issue makes a certificate for 127.0.0.1 and localhost, good for servers and clients, in two files.
func (a *authority) issue(name string) (cert, key string) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.last++
	shape := &x509.Certificate{SerialNumber: big.NewInt(1 + a.last), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(40 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, shape, a.cert, own.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", text)
}

// trusts is a client's configuration that trusts the authority, and shows a certificate of it where name is given.
func (a *authority) trusts(name string) *tls.Config {
	a.t.Helper()
	cfg := &tls.Config{RootCAs: a.pool}
	if name != "" {
		pair, err := tls.LoadX509KeyPair(a.issue(name))
		if err != nil {
			a.t.Fatal(err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg
}

// tlsServer starts one broker that speaks TLS with a certificate of the authority.
func tlsServer(t testing.TB, a *authority, logf func(string, ...any), change func(*app.Config)) *app.Server {
	t.Helper()
	cfg := app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Set: quick, Logf: logf}
	cfg.TLSCert, cfg.TLSKey = a.issue("broker")
	if change != nil {
		change(&cfg)
	}
	return startServer(t, cfg)
}

// dialTLS is a bare connection over TLS.
func dialTLS(t testing.TB, address string, cfg *tls.Config) *wire {
	t.Helper()
	nc, err := tls.DialWithDialer(&net.Dialer{Timeout: bare.Patience}, "tcp", address, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &wire{bare.Over(nc, "wire"), t}
}

// roundTrip produces a record and reads it again.
func roundTrip(t testing.TB, s *app.Server, options ...kgo.Opt) error {
	t.Helper()
	return roundTripWithin(t, patience, s, options...)
}

func roundTripWithin(t testing.TB, within time.Duration, s *app.Server, options ...kgo.Opt) error {
	t.Helper()
	cl := client(t, s, append(options, kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("over TLS")}).FirstErr(); err != nil {
		return err
	}
	return cl.PollRecords(ctx, 1).Err()
}
