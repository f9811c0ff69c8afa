package e2e

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

func lockedServer(t testing.TB, logf func(string, ...any)) *app.Server {
	return startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}, Logf: logf,
		Users: []app.User{{Name: "ann,a=b", Password: "s3cret"}, {Name: "bob", Password: "hunter2"}}})
}

// TestSASL: franz-go gets in with each mechanism and a right password, and not with a wrong one.
func TestSASL(t *testing.T) {
	s := lockedServer(t, nil)
	for _, c := range []struct {
		how string
		as  sasl.Mechanism
		in  bool
	}{
		{"plain", plain.Auth{User: "bob", Pass: "hunter2"}.AsMechanism(), true},
		{"plain, wrong", plain.Auth{User: "bob", Pass: "hunter3"}.AsMechanism(), false},
		{"plain, nobody", plain.Auth{User: "eve", Pass: "hunter2"}.AsMechanism(), false},
		{"plain, as somebody else", plain.Auth{Zid: "ann,a=b", User: "bob", Pass: "hunter2"}.AsMechanism(), false},
		{"scram 256", scram.Auth{User: "bob", Pass: "hunter2"}.AsSha256Mechanism(), true},
		{"scram 512", scram.Auth{User: "ann,a=b", Pass: "s3cret"}.AsSha512Mechanism(), true},
		{"scram 256, wrong", scram.Auth{User: "bob", Pass: "s3cret"}.AsSha256Mechanism(), false},
		{"scram 512, nobody", scram.Auth{User: "eve", Pass: "x"}.AsSha512Mechanism(), false},
	} {
		cl := client(t, s, kgo.SASL(c.as))
		within := 2 * time.Second // franz-go tries again and again
		if c.in {
			within = patience
		}
		ctx, stop := context.WithTimeout(t.Context(), within)
		err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte(c.how)}).FirstErr()
		stop()
		if (err == nil) != c.in {
			t.Errorf("%s: %v", c.how, err)
		}
	}
}

// TestSASLStepByStep: the order of steps, the words of a refusal, and the end of the connection behind it.
func TestSASLStepByStep(t *testing.T) {
	log := &lines{}
	s := lockedServer(t, log.logf)
	at := s.KafkaAddrs()[0]
	shake := func(w *wire, version int16, mechanism string) *kmsg.SASLHandshakeResponse {
		r := kmsg.NewPtrSASLHandshakeRequest()
		r.Version, r.Mechanism = version, mechanism
		return ask[*kmsg.SASLHandshakeResponse](w, r)
	}
	token := kmsg.NewPtrSASLAuthenticateRequest()
	token.Version, token.SASLAuthBytes = 2, []byte("\x00bob\x00hunter2")
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9

	w := dial(t, at)
	ask[*kmsg.ApiVersionsResponse](w, kmsg.NewPtrApiVersionsRequest()) // this much everybody may ask
	if got := shake(w, 1, "PLAIN"); got.ErrorCode != 0 || len(got.SupportedMechanisms) != 3 {
		t.Errorf("the handshake: %+v", got)
	}
	if got := ask[*kmsg.SASLAuthenticateResponse](w, token); got.ErrorCode != 0 || got.SessionLifetimeMillis != 0 {
		t.Errorf("the token: %+v", got)
	}
	ask[*kmsg.MetadataResponse](w, metadata)
	if got := ask[*kmsg.SASLAuthenticateResponse](w, token); got.ErrorCode != kerr.IllegalSaslState.Code {
		t.Errorf("a second token: %s", name(got.ErrorCode))
	}
	ask[*kmsg.MetadataResponse](w, metadata)

	w = dial(t, at)
	w.send(metadata)
	w.closed()
	w = dial(t, at)
	if got := shake(w, 1, "GSSAPI"); got.ErrorCode != kerr.UnsupportedSaslMechanism.Code || len(got.SupportedMechanisms) != 3 {
		t.Errorf("a mechanism that is not there: %+v", got)
	}
	w.closed()
	w = dial(t, at)
	shake(w, 1, "PLAIN")
	token.SASLAuthBytes = []byte("\x00bob\x00no")
	if got := ask[*kmsg.SASLAuthenticateResponse](w, token); got.ErrorCode != kerr.SaslAuthenticationFailed.Code || got.ErrorMessage == nil {
		t.Errorf("a wrong password: %+v", got)
	}
	w.closed()
	w = dial(t, at)
	if got := ask[*kmsg.SASLAuthenticateResponse](w, token); got.ErrorCode != kerr.SaslAuthenticationFailed.Code {
		t.Errorf("a token without a handshake: %s", name(got.ErrorCode))
	}
	w.closed()
	w = dial(t, at)
	w.raw(append([]byte{0, 16, 0, 0}, headerOf(0, 3)...))
	w.raw(make([]byte, 1<<20-len(headerOf(0, 3)))) // no byte more: those would be there when the connection ends
	w.closed()
	for _, says := range []string{"Metadata came before the client said who it is", "no SASL mechanism GSSAPI", "the user name or the password is wrong",
		"SaslHandshake comes first", "1048576 bytes came before the client said who it is"} {
		eventually(t, 5*time.Second, func() error {
			if !log.has(says) {
				return fmt.Errorf("no line says %q:\n%s", says, log.all())
			}
			return nil
		})
	}
	if strings.Contains(log.all(), "hunter2") {
		t.Error("a password is in the log")
	}
	open := kafkaServer(t, 1)
	w = dial(t, open.KafkaAddrs()[0])
	if got := shake(w, 1, "PLAIN"); got.ErrorCode != kerr.IllegalSaslState.Code {
		t.Errorf("where nobody is asked: %s", name(got.ErrorCode))
	}
	ask[*kmsg.MetadataResponse](w, metadata)
}

// tokens sends a bare token and reads the bare answer.
func (w *wire) token(text string) string {
	w.t.Helper()
	w.raw(frameOf([]byte(text)))
	w.SetReadDeadline(time.Now().Add(bare.Patience))
	var head [4]byte
	if _, err := io.ReadFull(w, head[:]); err != nil {
		w.t.Fatal(err)
	}
	answer := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(w, answer); err != nil {
		w.t.Fatal(err)
	}
	return string(answer)
}

// TestSASLHandshakeV0: old clients shake hands first of all and then send bare tokens.
func TestSASLHandshakeV0(t *testing.T) {
	s := lockedServer(t, nil)
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	shake := kmsg.NewPtrSASLHandshakeRequest()
	shake.Mechanism = "PLAIN"
	w := dial(t, s.KafkaAddrs()[0])
	if got := ask[*kmsg.SASLHandshakeResponse](w, shake); got.ErrorCode != 0 {
		t.Fatal(name(got.ErrorCode))
	}
	if got := w.token("\x00bob\x00hunter2"); got != "" {
		t.Errorf("PLAIN is answered %q", got)
	}
	ask[*kmsg.MetadataResponse](w, metadata)
	w = dial(t, s.KafkaAddrs()[0])
	ask[*kmsg.SASLHandshakeResponse](w, shake)
	w.raw(frameOf([]byte("\x00bob\x00hunter3")))
	w.closed()
	shake.Mechanism = "SCRAM-SHA-256"
	w = dial(t, s.KafkaAddrs()[0])
	ask[*kmsg.SASLHandshakeResponse](w, shake)
	session, first, err := scram.Auth{User: "bob", Pass: "hunter2"}.AsSha256Mechanism().Authenticate(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := session.Challenge([]byte(w.token(string(first))))
	if err != nil {
		t.Fatal(err)
	}
	if done, _, err := session.Challenge([]byte(w.token(string(second)))); err != nil || !done {
		t.Fatalf("the server's proof: %v", err)
	}
	ask[*kmsg.MetadataResponse](w, metadata)
}
