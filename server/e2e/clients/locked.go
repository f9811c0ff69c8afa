package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"grouplab/server/e2e/clients/agent"
)

// lock says how a row's brokers are locked: over TLS, with users who show who they are by the mechanism or, where there is
// none, with clients who show a certificate.
type lock struct{ mechanism string }

// suffix is what a row's name has behind the client's.
func (l lock) suffix() string {
	if l.mechanism == "" {
		return "-mtls"
	}
	return "-" + strings.ToLower(strings.Replace(l.mechanism, "SCRAM-SHA", "scram", 1))
}

// locked is what brokers and clients are started with. Certificates and passwords are made for one run.
type locked struct {
	authorities [2]*authority
	flags       []string
	// right gets in; stranger has a wrong password, or a certificate of an authority that the brokers do not know;
	// doubter does not know the authority of the brokers' certificate.
	right, stranger, doubter agent.Security
}

func (l lock) open() (*locked, error) {
	k := &locked{}
	for i, name := range []string{"the brokers' authority", "another authority"} {
		a, err := newAuthority(name)
		if err != nil {
			return nil, err
		}
		k.authorities[i] = a
	}
	ours, theirs := k.authorities[0], k.authorities[1]
	cert, key, err := ours.issue("broker")
	if err != nil {
		return nil, err
	}
	k.flags = []string{"-tls-cert", cert, "-tls-key", key}
	k.right.CA = ours.file
	if l.mechanism != "" {
		k.right.Mechanism, k.right.User, k.right.Password = l.mechanism, "ann", rand.Text()
		k.stranger = k.right
		k.stranger.Password = rand.Text()
		users := filepath.Join(ours.dir, "users.txt")
		k.flags = append(k.flags, "-users", users)
		err = os.WriteFile(users, []byte(k.right.User+":"+k.right.Password+"\n"), 0o600)
	} else {
		k.flags = append(k.flags, "-tls-client-ca", ours.file)
		k.stranger = k.right
		var strangerErr error
		k.right.Cert, k.right.Key, err = ours.issue("client")
		k.stranger.Cert, k.stranger.Key, strangerErr = theirs.issue("client")
		err = errors.Join(err, strangerErr)
	}
	k.doubter = k.right
	k.doubter.CA = theirs.file
	return k, err
}

func (k *locked) remove() {
	for _, a := range k.authorities {
		a.remove()
	}
}

// unlock starts brokers for this row alone, so that what their log says is about this client.
func (s *scene) unlock() (end func(), err error) {
	if s.binary == "" {
		return nil, errors.New("its brokers are locked, and those that run already are not ours")
	}
	if s.locked, err = s.client.lock.open(); err != nil {
		return nil, err
	}
	s.serverLog = filepath.Join(s.logs, s.client.name+"-server.log")
	c, err := serve(s.binary, s.serverLog, s.locked.flags...)
	if err != nil {
		s.locked.remove()
		return nil, err
	}
	s.bootstrap = c.bootstrap
	return func() {
		c.stop()
		s.locked.remove()
	}, nil
}

// What a client's words must have in them for its user to know what is wrong. SaslHandshake v0 has no words for a refusal:
// kafka-python before 3 says that the broker went away while it was authenticating.
var (
	wordsOfPassword    = regexp.MustCompile(`(?i)authentication.?failed|password|credential|<authenticating>`)
	wordsOfCertificate = regexp.MustCompile(`(?i)certificate|handshake|trust`)
)

// stranger checks that the one who may not get in is refused, is told, and is written of in the brokers' log.
func (s *scene) stranger() error {
	if s.client.lock.mechanism == "" {
		return s.refused("stranger", s.locked.stranger, wordsOfCertificate, "the client shows no certificate", "the client's certificate is not one of -tls-client-ca")
	}
	return s.refused("stranger", s.locked.stranger, wordsOfPassword, "the user name or the password is wrong")
}

// doubter checks the same of the one who does not trust the brokers.
func (s *scene) doubter() error {
	return s.refused("doubter", s.locked.doubter, wordsOfCertificate, "give it the authority that signed this listener's certificate")
}

func (s *scene) refused(role string, as agent.Security, words *regexp.Regexp, log ...string) error {
	p, err := s.programAs(role, as.Environment())
	if err != nil {
		return err
	}
	defer p.kill()
	r, err := p.ask(agent.Request{Do: "knock", Bootstrap: s.bootstrap}, askMost)
	switch {
	case err != nil:
		return err
	case r.State == "":
		return errors.New("it was let in")
	case !words.MatchString(r.State):
		return fmt.Errorf("what the client says does not tell what is wrong: %s", r.State)
	}
	s.note[role] = inShort(r.State, words)
	for end := time.Now().Add(settleMost); ; time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(s.serverLog)
		if err != nil {
			return err
		}
		for _, says := range log {
			if strings.Contains(string(text), says) {
				return nil
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("the brokers' log does not say %q", strings.Join(log, " or "))
		}
	}
}

// inShort is what stands below the table: of clients that say much, of each broker and with all causes, what tells.
func inShort(said string, telling *regexp.Regexp) string {
	const most = 200
	said = firstLine(said)
	if len(said) > most {
		for _, part := range strings.Split(said, "; ") {
			if telling.MatchString(part) {
				said = part
				break
			}
		}
	}
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "…"
	}
	return said
}

// sarama is how the runner itself connects, for clients without administration.
func (s *scene) sarama() (*sarama.Config, error) {
	cfg := sarama.NewConfig()
	if s.locked == nil {
		return cfg, nil
	}
	own, err := s.locked.right.TLS()
	if err != nil {
		return nil, err
	}
	cfg.Net.TLS.Enable, cfg.Net.TLS.Config = true, own
	if s.locked.right.Mechanism != "" {
		cfg.Net.SASL.Enable, cfg.Net.SASL.User, cfg.Net.SASL.Password = true, s.locked.right.User, s.locked.right.Password
	}
	return cfg, nil
}
