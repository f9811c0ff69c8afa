package agent

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// Security is how a program connects where the brokers speak TLS. It is told in the program's environment: KAFKA_TLS_CA is
// the file of the authority to trust, in PEM; KAFKA_TLS_CERT and KAFKA_TLS_KEY are the client's own certificate, where one
// is wanted; KAFKA_SASL_MECHANISM, KAFKA_SASL_USER and KAFKA_SASL_PASSWORD are who it is, where that is asked.
type Security struct{ CA, Cert, Key, Mechanism, User, Password string }

// Secured reads the environment; on is false where the brokers are open to all.
func Secured() (s Security, on bool) {
	s = Security{CA: os.Getenv("KAFKA_TLS_CA"), Cert: os.Getenv("KAFKA_TLS_CERT"), Key: os.Getenv("KAFKA_TLS_KEY"),
		Mechanism: os.Getenv("KAFKA_SASL_MECHANISM"), User: os.Getenv("KAFKA_SASL_USER"), Password: os.Getenv("KAFKA_SASL_PASSWORD")}
	return s, s.CA != ""
}

// Environment is what Secured reads.
func (s Security) Environment() []string {
	return []string{"KAFKA_TLS_CA=" + s.CA, "KAFKA_TLS_CERT=" + s.Cert, "KAFKA_TLS_KEY=" + s.Key,
		"KAFKA_SASL_MECHANISM=" + s.Mechanism, "KAFKA_SASL_USER=" + s.User, "KAFKA_SASL_PASSWORD=" + s.Password}
}

// TLS is the configuration of a client that is written in Go.
func (s Security) TLS() (*tls.Config, error) {
	authority, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{RootCAs: x509.NewCertPool()}
	if !cfg.RootCAs.AppendCertsFromPEM(authority) {
		return nil, errors.New(s.CA + " has no certificate")
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// Protocol is Kafka's security.protocol.
func (s Security) Protocol() string {
	if s.Mechanism != "" {
		return "SASL_SSL"
	}
	return "SSL"
}

// Librdkafka is the configuration of librdkafka, by whichever client.
func (s Security) Librdkafka() map[string]string {
	set := map[string]string{"security.protocol": s.Protocol(), "ssl.ca.location": s.CA}
	if s.Cert != "" {
		set["ssl.certificate.location"], set["ssl.key.location"] = s.Cert, s.Key
	}
	if s.Mechanism != "" {
		set["sasl.mechanism"], set["sasl.username"], set["sasl.password"] = s.Mechanism, s.User, s.Password
	}
	return set
}
