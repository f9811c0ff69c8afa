package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pemFiles writes a certificate that signs itself, good between two times, and its key.
func pemFiles(t *testing.T, name string, from, until time.Time) (cert, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shape := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, own.Public(), own)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pemFile(t, name+".pem", "CERTIFICATE", der), pemFile(t, name+".key", "PRIVATE KEY", text)
}

func pemFile(t *testing.T, name, kind string, der []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadTLSFiles: files that are missing, mixed up, damaged or out of date stop the start, with the flag, the file and what
// would be right; they are errors of usage.
func TestBadTLSFiles(t *testing.T) {
	now := time.Now()
	cert, key := pemFiles(t, "good", now.Add(-time.Hour), now.Add(60*24*time.Hour))
	_, otherKey := pemFiles(t, "other", now.Add(-time.Hour), now.Add(time.Hour))
	old, oldKey := pemFiles(t, "old", now.Add(-48*time.Hour), now.Add(-24*time.Hour))
	early, earlyKey := pemFiles(t, "early", now.Add(24*time.Hour), now.Add(48*time.Hour))
	locked := pemFile(t, "locked.key", "ENCRYPTED PRIVATE KEY", []byte{1, 2, 3})
	damaged := pemFile(t, "damaged.pem", "CERTIFICATE", []byte{1, 2, 3})
	for _, c := range []struct {
		cert, key, clientCA string
		https               bool
		says                []string
	}{
		{"", key, "", false, []string{"-tls-cert: it is missing"}},
		{cert, "", "", false, []string{"-tls-key: it is missing", "-tls-key FILE"}},
		{"", "", cert, false, []string{"-tls-cert: it is missing"}},
		{"", "", "", true, []string{"-http-tls: it takes -tls-cert FILE and -tls-key FILE, too"}},
		{"/no/such/file", key, "", false, []string{"-tls-cert /no/such/file: the file cannot be read: no such file"}},
		{cert, "/no/such/file", "", false, []string{"-tls-key /no/such/file: the file cannot be read: no such file"}},
		{cert, key, "/no/such/file", false, []string{"-tls-client-ca /no/such/file: the file cannot be read"}},
		{t.TempDir(), key, "", false, []string{"it is no file in PEM"}},
		{key, cert, "", false, []string{"there is no certificate in it", "the wrong way round?"}},
		{cert, cert, "", false, []string{"-tls-key", "there is no private key in it"}},
		{cert, locked, "", false, []string{"the key is locked with a password", "openssl pkey"}},
		{cert, otherKey, "", false, []string{"the key is not the one of the certificate in " + cert}},
		{damaged, key, "", false, []string{"-tls-cert " + damaged}},
		{old, oldKey, "", false, []string{"-tls-cert " + old, "was good until", "renewed"}},
		{early, earlyKey, "", false, []string{"is good only from", "is the clock right?"}},
		{cert, key, key, false, []string{"-tls-client-ca " + key, "there is no certificate in it"}},
	} {
		cfg := config()
		cfg.TLSCert, cfg.TLSKey, cfg.TLSClientCA, cfg.HTTPTLS = c.cert, c.key, c.clientCA, c.https
		s, err := New(cfg)
		if err == nil {
			s.Close()
			t.Errorf("%+v was taken", c)
			continue
		}
		if !IsUsage(err) {
			t.Errorf("%v is no error of usage", err)
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error %q does not say %q", err, part)
			}
		}
	}
}

// TestWarnings: what others can do is said of each address that they can reach, and of a certificate that ends soon.
func TestWarnings(t *testing.T) {
	now := time.Now()
	cert, key := pemFiles(t, "good", now.Add(-time.Hour), now.Add(60*24*time.Hour))
	soon, soonKey := pemFiles(t, "soon", now.Add(-time.Hour), now.Add(24*time.Hour))
	users := []User{{"bob", "hunter2"}}
	for _, c := range []struct {
		name   string
		change func(*Config)
		says   []string
	}{
		{"loopback", func(c *Config) {}, nil},
		{"open brokers", func(c *Config) { c.Kafka, c.Advertise = "0.0.0.0:0", "lab:0" }, []string{"nobody is asked who they are (-users), and nothing is encrypted (-tls-cert, -tls-key)"}},
		{"users in the clear", func(c *Config) { c.Kafka, c.Advertise, c.Users = "0.0.0.0:0", "lab:0", users }, []string{"passwords and records can be read on the way"}},
		{"open page", func(c *Config) { c.HTTP = "0.0.0.0:0" }, []string{"(-http) can be reached by other machines: it shows everybody what there is, and nothing is encrypted (-http-tls)"}},
		{"TLS for everybody", func(c *Config) { c.Kafka, c.Advertise, c.TLSCert, c.TLSKey = "0.0.0.0:0", "localhost:0", cert, key }, []string{"nobody is asked who they are (-users, -tls-client-ca)"}},
		{"TLS and users", func(c *Config) {
			c.Kafka, c.Advertise, c.TLSCert, c.TLSKey, c.Users = "0.0.0.0:0", "localhost:0", cert, key, users
		}, nil},
		{"a certificate that ends soon", func(c *Config) { c.Advertise, c.TLSCert, c.TLSKey = "localhost:0", soon, soonKey }, []string{"is good only until"}},
	} {
		cfg := config()
		cfg.Remote, cfg.Brokers = true, 1
		c.change(&cfg)
		s, err := New(cfg)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		list := s.Warnings()
		s.Close()
		if len(list) != len(c.says) {
			t.Errorf("%s: %q", c.name, list)
		}
		for i, part := range c.says {
			if i < len(list) && !strings.Contains(list[i], part) {
				t.Errorf("%s: %q does not say %q", c.name, list[i], part)
			}
		}
	}
}
