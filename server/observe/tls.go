package observe

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// tls reads the ssl.* keys: whose certificates are believed, and which one is shown.
func (p properties) tls() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := p.versions(cfg); err != nil {
		return nil, err
	}
	roots, err := p.truststore()
	if err != nil {
		return nil, err
	}
	cfg.RootCAs = roots
	pair, err := p.keystore()
	if err != nil {
		return nil, err
	}
	if pair != nil {
		cfg.Certificates = []tls.Certificate{*pair}
	}
	switch algorithm := strings.ToLower(strings.TrimSpace(p.or("ssl.endpoint.identification.algorithm", "https"))); algorithm {
	case "https":
	case "":
		cfg.InsecureSkipVerify = true // the chain is checked below, the host's name is not
		cfg.VerifyConnection = func(peer tls.ConnectionState) error { return verifyChain(peer.PeerCertificates, roots) }
	default:
		return nil, p.wrong("ssl.endpoint.identification.algorithm", fmt.Sprintf("%q is none; there is https, and nothing to leave the host's name unchecked", algorithm))
	}
	return cfg, nil
}

// verifyChain checks who signed a certificate, whatever host it is for.
func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("the broker showed no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}

// versions reads ssl.enabled.protocols, or ssl.protocol.
func (p properties) versions(cfg *tls.Config) error {
	for _, key := range []string{"ssl.protocol", "ssl.enabled.protocols"} {
		text, given := p[key]
		if !given {
			continue
		}
		cfg.MinVersion, cfg.MaxVersion = 0, 0
		for _, name := range strings.Split(text.value, ",") {
			switch name = strings.TrimSpace(name); name {
			case "TLSv1.2":
				cfg.MinVersion = tls.VersionTLS12
				cfg.MaxVersion = max(cfg.MaxVersion, tls.VersionTLS12)
			case "TLSv1.3":
				if cfg.MinVersion == 0 {
					cfg.MinVersion = tls.VersionTLS13
				}
				cfg.MaxVersion = tls.VersionTLS13
			case "TLSv1", "TLSv1.1", "TLS", "": // older than what is spoken here: whoever offers more gets that
			default:
				return p.wrong(key, fmt.Sprintf("%q is none; there are TLSv1.2 and TLSv1.3", name))
			}
		}
		if cfg.MinVersion == 0 {
			if text.value != "TLS" {
				return p.wrong(key, "only TLSv1.2 and TLSv1.3 are spoken here")
			}
			cfg.MinVersion = tls.VersionTLS12
		}
		if key == "ssl.protocol" { // it is what the client begins with; it accepts what both know
			cfg.MinVersion = tls.VersionTLS12
		}
	}
	return nil
}

// truststore is who may sign a broker's certificate; nil means whom the machine believes.
func (p properties) truststore() (*x509.CertPool, error) {
	text, key, err := p.pem("ssl.truststore", "ssl.truststore.certificates", exportCA)
	if err != nil || text == nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, p.wrong(key, "there is no certificate in it; it takes the authority's, in PEM (-----BEGIN CERTIFICATE-----)")
	}
	return roots, nil
}

const (
	exportCA  = "keytool -exportcert -rfc -keystore STORE -alias ALIAS -file ca.pem, once for each alias that keytool -list names; or openssl pkcs12 -in STORE -nokeys -out ca.pem"
	exportKey = "keytool -importkeystore -srckeystore STORE -destkeystore store.p12 -deststoretype PKCS12, then openssl pkcs12 -in store.p12 -nodes -out client.pem"
)

// pem is what a store holds: the text of a key, or the file that .location names. It is nil where neither is given.
func (p properties) pem(store, inline, how string) (text []byte, key string, err error) {
	kind := strings.ToUpper(p.value(store + ".type"))
	if kind != "" && kind != "PEM" {
		return nil, "", p.wrong(store+".type", fmt.Sprintf("%s is not read here, only PEM; convert it: %s; then %s.type=PEM", kind, how, store))
	}
	if one, given := p[inline]; given {
		return []byte(one.value), inline, nil
	}
	key = store + ".location"
	path := p.value(key)
	if path == "" {
		return nil, "", nil
	}
	text, err = readFile(path)
	switch {
	case err != nil:
		return nil, "", p.wrong(key, fmt.Sprintf("%s: %v", path, err))
	case bytes.HasPrefix(text, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return nil, "", p.wrong(key, fmt.Sprintf("%s is a JKS store, and only PEM is read here; convert it: %s; then %s.type=PEM", path, how, store))
	case !bytes.Contains(text, []byte("-----BEGIN")):
		return nil, "", p.wrong(key, fmt.Sprintf("%s is no PEM (is it PKCS12?); convert it: %s; then %s.type=PEM", path, how, store))
	}
	return text, key, nil
}

// keystore is the certificate that the client shows, nil where it has none.
func (p properties) keystore() (*tls.Certificate, error) {
	chain, key, err := p.pem("ssl.keystore", "ssl.keystore.certificate.chain", exportKey)
	if err != nil || chain == nil {
		return nil, err
	}
	secret := chain
	if key == "ssl.keystore.certificate.chain" {
		one, given := p["ssl.keystore.key"]
		if !given {
			return nil, p.wrong("ssl.keystore.key", "it is missing beside ssl.keystore.certificate.chain")
		}
		secret, key = []byte(one.value), "ssl.keystore.key"
	}
	switch block := keyBlock(secret); {
	case block == nil:
		return nil, p.wrong(key, "there is no private key in it; it takes one in PEM (-----BEGIN PRIVATE KEY-----)")
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return nil, p.wrong(key, "the key is locked with a password; take the password off: openssl pkey -in KEY -out FILE")
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, p.wrong(key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair, nil
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
