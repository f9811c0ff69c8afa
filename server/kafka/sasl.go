package kafka

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"
)

// mechanisms are what a listener with users offers.
var mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}

const (
	// scramIterations is Kafka's default for SCRAM credentials.
	scramIterations = 4096
	// maxTokenBytes is sasl.server.max.receive.size: the largest frame of somebody who is not known yet.
	maxTokenBytes = 512 << 10
)

// Users are who may connect. Everybody may do everything. The zero value asks nobody who they are.
type Users struct{ byName map[string]*user }

type user struct {
	name, password string
	scram          map[string]scramSecret // by mechanism
}

// scramSecret is what a server keeps of a password (RFC 5802).
type scramSecret struct {
	salt, storedKey, serverKey []byte
}

func hashOf(mechanism string) func() hash.Hash {
	if mechanism == "SCRAM-SHA-512" {
		return sha512.New
	}
	return sha256.New
}

// Add lets somebody in under a name with a password. It is for the time before the listeners open.
func (u *Users) Add(name, password string) error {
	if name == "" || password == "" || strings.ContainsRune(name+password, 0) {
		return errors.New("a user has a name and a password, neither of them with a zero byte")
	}
	one := &user{name: name, password: password, scram: map[string]scramSecret{}}
	for _, mechanism := range mechanisms[1:] {
		secret := scramSecret{salt: make([]byte, 16)}
		_, _ = rand.Read(secret.salt) // never fails
		h := hashOf(mechanism)
		salted, err := pbkdf2.Key(h, password, secret.salt, scramIterations, h().Size())
		if err != nil {
			return fmt.Errorf("user %s: %w", name, err)
		}
		stored := h()
		stored.Write(mac(h, salted, "Client Key"))
		secret.storedKey, secret.serverKey = stored.Sum(nil), mac(h, salted, "Server Key")
		one.scram[mechanism] = secret
	}
	if u.byName == nil {
		u.byName = map[string]*user{}
	}
	u.byName[name] = one
	return nil
}

func mac(h func() hash.Hash, key []byte, text string) []byte {
	m := hmac.New(h, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// Any tells whether a listener asks who its clients are.
func (u Users) Any() bool { return len(u.byName) > 0 }

// exchange is a client about to become known. step takes its next token; name is set when it is known.
type exchange interface {
	step(token []byte) (answer []byte, name string, err error)
}

// begin starts an exchange; nil where the mechanism is not offered.
func (u Users) begin(mechanism string) exchange {
	switch mechanism {
	case "PLAIN":
		return plain{u}
	case "SCRAM-SHA-256", "SCRAM-SHA-512":
		return &scram{users: u, mechanism: mechanism}
	}
	return nil
}

var errWho = errors.New("authentication failed: the user name or the password is wrong")

// plain is RFC 4616: whom to act as, who one is, and the password, with zero bytes between.
type plain struct{ users Users }

func (p plain) step(token []byte) ([]byte, string, error) {
	parts := bytes.Split(token, []byte{0})
	if len(parts) != 3 {
		return nil, "", errors.New("authentication failed: a PLAIN token has three parts, with a zero byte between them")
	}
	as, name, password := string(parts[0]), string(parts[1]), parts[2]
	known := p.users.byName[name]
	if known == nil || subtle.ConstantTimeCompare([]byte(known.password), password) != 1 {
		return nil, "", errWho
	}
	if as != "" && as != name {
		return nil, "", errors.New("authentication failed: nobody may act as somebody else")
	}
	return []byte{}, name, nil
}

// scram is the server's side of RFC 5802, without channel binding.
type scram struct {
	users     Users
	mechanism string
	user      *user
	// first, reply and header are the client's first message without its header, ours, and its header.
	first, reply, header, nonce string
}

func (s *scram) step(token []byte) ([]byte, string, error) {
	if s.user == nil {
		answer, err := s.begin(string(token))
		return answer, "", err
	}
	answer, err := s.end(string(token))
	if err != nil {
		return nil, "", err
	}
	return answer, s.user.name, nil
}

// errNonce is what Apache Kafka refuses since 3.9 (CVE-2024-56128).
var errNonce = errors.New("authentication failed: the client repeats its nonce, as librdkafka before 2.6.1 does; Apache Kafka 4 refuses that, too: take a newer client, or PLAIN over TLS")

var errScram = errors.New("authentication failed: this is no message of SCRAM in this place")

func (s *scram) begin(message string) ([]byte, error) {
	parts := strings.SplitN(message, ",", 3)
	if len(parts) != 3 || parts[0] != "n" && parts[0] != "y" {
		return nil, errScram
	}
	s.header, s.first = parts[0]+","+parts[1]+",", parts[2]
	name, nonce := field(s.first, "n="), field(s.first, "r=")
	name = strings.NewReplacer("=2C", ",", "=3D", "=").Replace(name)
	as := strings.TrimPrefix(parts[1], "a=")
	if nonce == "" || name == "" {
		return nil, errScram
	}
	known := s.users.byName[name]
	if known == nil || as != "" && as != name {
		return nil, errWho
	}
	own := make([]byte, 18)
	_, _ = rand.Read(own) // never fails
	s.user, s.nonce = known, nonce+base64.StdEncoding.EncodeToString(own)
	s.reply = fmt.Sprintf("r=%s,s=%s,i=%d", s.nonce, base64.StdEncoding.EncodeToString(known.scram[s.mechanism].salt), scramIterations)
	return []byte(s.reply), nil
}

func (s *scram) end(message string) ([]byte, error) {
	bare, proof64, found := strings.Cut(message, ",p=")
	proof, err := base64.StdEncoding.DecodeString(proof64)
	nonce := field(bare, "r=")
	if found && nonce != s.nonce && strings.HasSuffix(nonce, s.nonce) {
		return nil, errNonce
	}
	if !found || err != nil || nonce != s.nonce || field(bare, "c=") != base64.StdEncoding.EncodeToString([]byte(s.header)) {
		return nil, errScram
	}
	secret, h := s.user.scram[s.mechanism], hashOf(s.mechanism)
	signed := s.first + "," + s.reply + "," + bare
	signature := mac(h, secret.storedKey, signed)
	if len(proof) != len(signature) {
		return nil, errWho
	}
	subtle.XORBytes(proof, proof, signature)
	key := h()
	key.Write(proof)
	if subtle.ConstantTimeCompare(key.Sum(nil), secret.storedKey) != 1 {
		return nil, errWho
	}
	return []byte("v=" + base64.StdEncoding.EncodeToString(mac(h, secret.serverKey, signed))), nil
}

// field finds an attribute of a SCRAM message.
func field(message, name string) string {
	for _, part := range strings.Split(message, ",") {
		if strings.HasPrefix(part, name) {
			return part[len(name):]
		}
	}
	return ""
}

// known tells whether the connection may ask for everything.
func (c *conn) known() bool { return !c.srv.cfg.Users.Any() || c.authenticated.Load() }

// step takes the client's next token. On success the connection is known.
func (c *conn) step(token []byte) (answer []byte, err error) {
	if c.exchange == nil {
		return nil, errors.New("authentication failed: SaslHandshake comes first")
	}
	answer, name, err := c.exchange.step(token)
	if err != nil {
		c.exchange = nil
		return nil, err
	}
	if name != "" {
		c.exchange, c.principal = nil, "User:"+name
		c.authenticated.Store(true)
	}
	return answer, nil
}

// mayAsk tells whether a connection may make a call: whoever is not known may only say who they are.
func (c *conn) mayAsk(a *api) error {
	if c.known() || a.key == apiVersionsAPI.key || a.key == saslHandshakeAPI.key || a.key == saslAuthenticateAPI.key {
		return nil
	}
	return refusef("%s came before the client said who it is; this listener wants SASL (%s)", a.name, strings.Join(mechanisms, ", "))
}
