package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs certificates for one run. Everything it writes is in a folder that is removed with it.
type authority struct {
	dir, file string // file is its own certificate, in PEM
	cert      *x509.Certificate
	key       *ecdsa.PrivateKey
}

func newAuthority(name string) (*authority, error) {
	dir, err := os.MkdirTemp("", "grouplab-clients-")
	if err != nil {
		return nil, err
	}
	a := &authority{dir: dir}
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	shape := shapeOf(name)
	shape.IsCA, shape.BasicConstraintsValid, shape.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.file, err = a.write("ca.pem", "CERTIFICATE", der)
	return a, err
}

func (a *authority) remove() { os.RemoveAll(a.dir) }

// issue makes a certificate for this machine, good for brokers and clients, in two files.
func (a *authority) issue(name string) (cert, key string, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	shape := shapeOf(name)
	shape.KeyUsage, shape.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	shape.DNSNames, shape.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, shape, a.cert, own.Public(), a.key)
	if err != nil {
		return "", "", err
	}
	text, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return "", "", err
	}
	if cert, err = a.write(name+".pem", "CERTIFICATE", der); err != nil {
		return "", "", err
	}
	key, err = a.write(name+".key", "PRIVATE KEY", text)
	return cert, key, err
}

func shapeOf(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(40 * 24 * time.Hour)}
}

func (a *authority) write(name, kind string, der []byte) (string, error) {
	path := filepath.Join(a.dir, name)
	return path, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
