package kafka

import (
	"bytes"
	"container/list"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// handshakeTimeout bounds a TLS handshake, from the first byte that is awaited to the last.
	handshakeTimeout = 10 * time.Second
	// maxHandshakes bounds those that are under way. One more ends the one that has lasted longest: an honest one takes
	// milliseconds, so whoever holds many open loses his own.
	maxHandshakes = 256
)

// handshakes are the TLS handshakes under way, over all brokers, the oldest first.
type handshakes struct {
	mu    sync.Mutex
	conns list.List
}

// begin notes a handshake; end, which must be called, forgets it.
func (h *handshakes) begin(c *conn) (end func()) {
	h.mu.Lock()
	place := h.conns.PushBack(c)
	var oldest *conn
	if h.conns.Len() > maxHandshakes {
		oldest = h.conns.Remove(h.conns.Front()).(*conn)
	}
	h.mu.Unlock()
	if oldest != nil {
		oldest.end(refusef("its TLS handshake was the slowest of more than %d at once", maxHandshakes))
	}
	return func() {
		h.mu.Lock()
		h.conns.Remove(place) // does nothing where it was the oldest
		h.mu.Unlock()
	}
}

// secure runs the TLS handshake, on a listener that has TLS. From then on everything that is read and written is encrypted.
func (c *conn) secure() error {
	if c.srv.cfg.TLS == nil {
		return nil
	}
	defer c.srv.handshakes.begin(c)()
	late := time.AfterFunc(handshakeTimeout, func() {
		c.end(refusef("its TLS handshake was not done after %v", handshakeTimeout))
	})
	defer late.Stop()
	heard := &overheard{Conn: &c.socket}
	encrypted := tls.Server(heard, c.srv.cfg.TLS)
	if err := encrypted.Handshake(); err != nil {
		return handshakeTrouble(heard.told(err), c.srv.cfg.Users.Any())
	}
	heard.done, c.stream = true, &secured{Conn: encrypted}
	if peer := encrypted.ConnectionState().PeerCertificates; len(peer) > 0 && !c.srv.cfg.Users.Any() {
		c.principal = "User:" + peer[0].Subject.String() // Kafka: DefaultKafkaPrincipalBuilder
	}
	return nil
}

// overheard is the socket of a handshake; until that is done it keeps the end of what came. OpenSSL (librdkafka, Python,
// Node.js) sends its alert in the clear when it refuses our certificate in TLS 1.3, where crypto/tls expects it encrypted
// and tells of a bad record only.
type overheard struct {
	net.Conn
	last []byte
	done bool
}

// alertBytes is the size of an alert's record: type, version, length, level, description (RFC 8446, 5.1 and 6).
const alertBytes = 7

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if !o.done {
		o.last = append(o.last, p[max(0, n-alertBytes):n]...)
		o.last = o.last[max(0, len(o.last)-alertBytes):]
	}
	return n, err
}

// told is the alert that came last, in the clear, or else the error itself.
func (o *overheard) told(err error) error {
	if gone(err) && len(o.last) > 0 {
		return refusef("the client went away in the TLS handshake, as some do that refuse our certificate: %s", trust)
	}
	if !bytes.HasPrefix(o.last, []byte{0x15, 3}) || len(o.last) != alertBytes || o.last[3] != 0 || o.last[4] != 2 {
		return err
	}
	return &net.OpError{Op: "remote error", Err: tls.AlertError(o.last[6])}
}

// secured is a connection behind its handshake. A client that looks at our certificate only then (Node.js) goes away without
// a word where it refuses that.
type secured struct {
	*tls.Conn
	asked bool
}

func (s *secured) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n == 0 && !s.asked && gone(err) {
		return 0, refusef("the client went away behind the TLS handshake and asked nothing, as some do that refuse our certificate: %s", trust)
	}
	s.asked = true
	return n, err
}

// gone tells whether the client closed the connection.
func gone(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

// trust is what helps a client that refuses our certificate.
const trust = "unless it meant to, give it the authority that signed this listener's certificate (ssl.truststore.location, librdkafka: ssl.ca.location), and connect by a name that the certificate is for"

// handshakeTrouble says what was wrong with a client's handshake, and what would be right.
func handshakeTrouble(err error, sasl bool) error {
	var header tls.RecordHeaderError
	var unverified *tls.CertificateVerificationError
	var netErr *net.OpError
	says := err.Error()
	switch {
	case errors.As(err, &header):
		return notTLS(header.RecordHeader[:], sasl)
	case errors.As(err, &netErr) && netErr.Op == "remote error":
		return refusef("the client ended the TLS handshake (%s): %s", strings.TrimPrefix(says, "remote error: "), trust)
	case strings.Contains(says, "didn't provide a certificate"):
		return refusal("the client shows no certificate, and -tls-client-ca wants one: set ssl.keystore.location (librdkafka: ssl.certificate.location and ssl.key.location) in the client")
	case errors.As(err, &unverified), errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.CertificateInvalidError)):
		return refusef("the client's certificate is not one of -tls-client-ca: %s", strings.TrimPrefix(says, "tls: "))
	case strings.Contains(says, "unsupported versions"):
		return refusal("the client offers only old versions of TLS; 1.2 and 1.3 are spoken here (ssl.enabled.protocols)")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF // a check whether the port is open, as load balancers make
	case errors.As(err, &netErr) && netErr.Op != "local error", errors.Is(err, errIdle):
		return err // the network's
	}
	return refusef("the TLS handshake failed: %s", strings.TrimPrefix(says, "tls: "))
}

// notTLS tells by its first bytes what came in place of a TLS hello.
func notTLS(head []byte, sasl bool) error {
	protocol := "SSL"
	if sasl {
		protocol = "SASL_SSL"
	}
	if who := foreign(head); who != "" {
		return refusef("%s came; this port speaks the Kafka protocol over TLS", who)
	}
	if len(head) == 5 && head[0] == 0 {
		return refusef("a Kafka request without TLS came; this listener is encrypted: set security.protocol=%s in the client", protocol)
	}
	return refusef("what came is no TLS hello (%x); this listener speaks the Kafka protocol over TLS: security.protocol=%s", head, protocol)
}

// foreign names the protocol that begins with these bytes, "" for none that is often pointed at the wrong port.
func foreign(head []byte) string {
	for _, method := range []string{"GET ", "POST", "PUT ", "HEAD", "OPTI", "DELE", "PATC", "CONN", "PRI "} {
		if bytes.HasPrefix(head, []byte(method)) {
			return "an HTTP request"
		}
	}
	if bytes.HasPrefix(head, []byte("SSH-")) {
		return "an SSH client"
	}
	return ""
}
