package app

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// certificateLook is how often the files are looked at for a change, when somebody connects.
	certificateLook = time.Second
	// expiryWarning is how long before its end a certificate is warned of.
	expiryWarning = 30 * 24 * time.Hour
)

// certificates are what -tls-cert, -tls-key and -tls-client-ca name. Files that change are read again with the next connection;
// where the new ones are not right, the old ones stay.
type certificates struct {
	cert, key, clientCA string
	log                 *slog.Logger

	mu     sync.Mutex
	looked time.Time
	stamps string
	now    *tls.Config
	leaf   *x509.Certificate
}

// openCertificates reads the files, nil where there are none. An error names the flag, the file and what would be right.
func openCertificates(cfg Config) (*certificates, error) {
	switch {
	case cfg.TLSCert == "" && cfg.TLSKey == "" && cfg.TLSClientCA == "" && !cfg.HTTPTLS:
		return nil, nil
	case cfg.TLSCert == "" && cfg.HTTPTLS && cfg.TLSKey == "" && cfg.TLSClientCA == "":
		return nil, usagef("-http-tls: it takes -tls-cert FILE and -tls-key FILE, too")
	case cfg.TLSCert == "":
		return nil, usagef("-tls-cert: it is missing; TLS takes -tls-cert FILE and -tls-key FILE")
	case cfg.TLSKey == "":
		return nil, usagef("-tls-key: it is missing; TLS takes -tls-cert FILE and -tls-key FILE")
	}
	c := &certificates{cert: cfg.TLSCert, key: cfg.TLSKey, clientCA: cfg.TLSClientCA, log: cfg.Log}
	c.stamps = c.stamp()
	var err error
	if c.now, c.leaf, err = c.read(time.Now()); err != nil {
		return nil, usage{err}
	}
	c.looked = time.Now()
	return c, nil
}

// config is what a listener speaks TLS with.
func (c *certificates) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil }}
}

// current is the configuration of the files as they are now.
func (c *certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.looked) < certificateLook {
		return c.now
	}
	c.looked = now
	stamps := c.stamp()
	if stamps == c.stamps {
		return c.now
	}
	c.stamps = stamps
	next, leaf, err := c.read(now)
	if err != nil {
		c.log.Error(fmt.Sprintf("%v; the certificate that was read before stays", err))
		return c.now
	}
	c.log.Info(fmt.Sprintf("-tls-cert %s: the new certificate is used from now on, until %s", c.cert, day(leaf.NotAfter)))
	c.now, c.leaf = next, leaf
	return c.now
}

// stamp changes with the files.
func (c *certificates) stamp() string {
	var all strings.Builder
	for _, path := range []string{c.cert, c.key, c.clientCA} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&all, "%d %d,", info.Size(), info.ModTime().UnixNano())
		} else {
			all.WriteString("-,")
		}
	}
	return all.String()
}

func (c *certificates) read(now time.Time) (*tls.Config, *x509.Certificate, error) {
	pair, err := c.pair()
	if err != nil {
		return nil, nil, err
	}
	leaf := pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return nil, nil, fmt.Errorf("-tls-cert %s: the certificate was good until %s; it must be renewed", c.cert, day(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return nil, nil, fmt.Errorf("-tls-cert %s: the certificate is good only from %s on; is the clock right?", c.cert, day(leaf.NotBefore))
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if c.clientCA == "" {
		return cfg, leaf, nil
	}
	text, err := readPEM("-tls-client-ca", c.clientCA)
	if err != nil {
		return nil, nil, err
	}
	cfg.ClientCAs = x509.NewCertPool()
	if !cfg.ClientCAs.AppendCertsFromPEM(text) {
		return nil, nil, fmt.Errorf("-tls-client-ca %s: there is no certificate in it; it takes the authority's, in PEM (-----BEGIN CERTIFICATE-----)", c.clientCA)
	}
	// The demo's clients, which run in this process, show the server's own certificate; they alone have its key.
	cfg.ClientAuth = tls.RequireAnyClientCert
	cfg.VerifyConnection = func(peer tls.ConnectionState) error { return verifyClient(peer.PeerCertificates, leaf, cfg.ClientCAs) }
	return cfg, leaf, nil
}

func verifyClient(chain []*x509.Certificate, own *x509.Certificate, authorities *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("tls: client didn't provide a certificate")
	}
	if chain[0].Equal(own) {
		return nil
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: authorities, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	return nil
}

// pair reads certificate and key.
func (c *certificates) pair() (pair tls.Certificate, err error) {
	cert, err := readPEM("-tls-cert", c.cert)
	if err != nil {
		return pair, err
	}
	key, err := readPEM("-tls-key", c.key)
	if err != nil {
		return pair, err
	}
	if !bytes.Contains(cert, []byte("-----BEGIN CERTIFICATE-----")) {
		hint := ""
		if bytes.Contains(cert, []byte("PRIVATE KEY-----")) {
			hint = " (it holds a key: are -tls-cert and -tls-key the wrong way round?)"
		}
		return pair, fmt.Errorf("-tls-cert %s: there is no certificate in it%s; it takes one in PEM (-----BEGIN CERTIFICATE-----), then those between it and its authority", c.cert, hint)
	}
	block := keyBlock(key)
	switch {
	case block == nil:
		return pair, fmt.Errorf("-tls-key %s: there is no private key in it; it takes one in PEM (-----BEGIN PRIVATE KEY-----)", c.key)
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return pair, fmt.Errorf("-tls-key %s: the key is locked with a password; take the password off: openssl pkey -in %s -out FILE", c.key, c.key)
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		why := strings.TrimPrefix(err.Error(), "tls: ")
		if strings.Contains(why, "does not match") {
			return pair, fmt.Errorf("-tls-key %s: the key is not the one of the certificate in %s; give the two that were made together", c.key, c.cert)
		}
		return pair, fmt.Errorf("-tls-cert %s, -tls-key %s: %s", c.cert, c.key, why)
	}
	return pair, nil
}

func keyBlock(text []byte) *pem.Block {
	for {
		block, rest := pem.Decode(text)
		if block == nil || strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return block
		}
		text = rest
	}
}

// maxPEM bounds a file of certificates: a flag that names a disk image must not be read whole.
const maxPEM = 4 << 20

func readPEM(flag, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: the file cannot be read: %w", flag, path, cause(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxPEM {
		return nil, fmt.Errorf("%s %s: it is no file in PEM of at most %d MB", flag, path, maxPEM>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: the file cannot be read: %w", flag, path, cause(err))
	}
	return text, nil
}

// cause is an error without the path that the message names already.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// warnings are what an operator should know of certificates that are right in themselves.
func (c *certificates) warnings(told []address, now time.Time) (list []string) {
	if left := c.leaf.NotAfter.Sub(now); left < expiryWarning {
		list = append(list, fmt.Sprintf("-tls-cert %s: the certificate is good only until %s", c.cert, day(c.leaf.NotAfter)))
	}
	seen := map[string]bool{}
	for _, at := range told {
		if err := c.leaf.VerifyHostname(at.host); err != nil && !seen[at.host] {
			seen[at.host] = true
			list = append(list, fmt.Sprintf("clients are told the host %s, and the certificate is for %s: they will refuse it; take a certificate for that host, or name one of its hosts with -advertise", at.host, hosts(c.leaf)))
		}
	}
	return list
}

func hosts(leaf *x509.Certificate) string {
	names := append([]string(nil), leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host (it has no subjectAltName)"
	}
	return strings.Join(names, ", ")
}

// client is how clients of this process connect: they know the certificate by itself, whatever it is for, and show it where
// one is wanted.
func (c *certificates) client() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, // checked in VerifyConnection
		VerifyConnection: func(peer tls.ConnectionState) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(peer.PeerCertificates) == 0 || !peer.PeerCertificates[0].Equal(c.leaf) {
				return errors.New("this is not the server's own certificate")
			}
			return nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &c.current().Certificates[0], nil
		}}
}

// overTLS encrypts the page's listener.
func (c *certificates) overTLS(socket net.Listener) net.Listener {
	return tls.NewListener(socket, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.current().Certificates[0], nil }})
}
