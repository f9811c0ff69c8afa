package observe

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sasl"
)

const jaasPlain = `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="topsecret";` + "\n"

func TestAccessOfPropertiesFiles(t *testing.T) {
	for name, c := range map[string]struct {
		text                string
		protocol, mechanism string
	}{
		"plain text": {"bootstrap.servers=b1:9092, b2:9093\ngroup.id=x\nkey.deserializer=Y\n", "PLAINTEXT", ""},
		"PLAIN":      {"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + jaasPlain, "SASL_PLAINTEXT", "PLAIN"},
		"SCRAM": {"security.protocol=sasl_ssl\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n" +
			`  username="alice" \` + "\n" + `  password="topsecret";` + "\n", "SASL_SSL", "SCRAM-SHA-512"},
		"token": {"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n" +
			`sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required token="topsecret";` + "\n", "SASL_PLAINTEXT", "OAUTHBEARER"},
		"endpoint": {"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://id.example/token\n" +
			"sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n" +
			"sasl.oauthbearer.client.credentials.client.id=me\nsasl.oauthbearer.client.credentials.client.secret=topsecret\n", "SASL_PLAINTEXT", "OAUTHBEARER"},
	} {
		a, err := parseAccess([]byte(c.text))
		if err != nil || a.Protocol != c.protocol || a.Mechanism != c.mechanism {
			t.Errorf("%s: %s %s, %v", name, a.Protocol, a.Mechanism, err)
		}
		if text := fmt.Sprint(a); strings.Contains(text, "topsecret") {
			t.Errorf("%s: it prints its secret: %s", name, text)
		}
	}
	a, err := parseAccess([]byte("bootstrap.servers=SASL_SSL://b1:9092, b2:9093\ngroup.id=x\nclient.id=me\n"))
	if err != nil || a.String() != "b1:9092,b2:9093" || a.ClientID != "me" || fmt.Sprint(a.PassedOver) != "[group.id]" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestWrongPropertiesAreNamed(t *testing.T) {
	jks := filepath.Join(t.TempDir(), "trust.jks")
	p12 := filepath.Join(t.TempDir(), "trust.p12")
	for path, text := range map[string]string{jks: "\xfe\xed\xfe\xed\x00\x00\x00\x02topsecret", p12: "\x30\x82\x01\x02topsecret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const tls, plain = "security.protocol=SSL\n", "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
	for text, want := range map[string]string{
		"boostrap.servers=x:1":         `line 1: "boostrap.servers" is not supported; is it bootstrap.servers?`,
		"a=1\n":                        `line 1: "a" is not supported; there are bootstrap.servers, client.id`,
		"bootstrap.servers=x":          `line 1: bootstrap.servers: "x" is no HOST:PORT`,
		"bootstrap.servers=,":          "line 1: bootstrap.servers: it names no broker",
		"security.protocol=TLS":        `line 1: security.protocol: "TLS" is none; there are PLAINTEXT, SSL`,
		"security.protocol=SASL_SSL\n": "sasl.mechanism: it is missing, which means GSSAPI",
		"security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI": "line 2: sasl.mechanism: GSSAPI is not spoken here; there are PLAIN",
		plain: "sasl.jaas.config: it is missing",
		plain + `sasl.jaas.config=a.ScramLoginModule required username="a" password="topsecret";`:                 "its login module is ScramLoginModule, and PLAIN takes PlainLoginModule",
		plain + `sasl.jaas.config=a.PlainLoginModule required password="topsecret";`:                              `line 3: sasl.jaas.config: it takes username="…" and password="…"`,
		plain + `sasl.jaas.config=a.PlainLoginModule required password="topsecret"`:                               "the ; at the end is missing",
		tls + "ssl.truststore.type=JKS\nssl.truststore.location=" + jks:                                           "line 2: ssl.truststore.type: JKS is not read here, only PEM; convert it: keytool -exportcert -rfc",
		tls + "ssl.truststore.location=" + jks:                                                                    "is a JKS store, and only PEM is read here; convert it: keytool",
		tls + "ssl.truststore.location=" + p12:                                                                    "is no PEM (is it PKCS12?); convert it",
		tls + "ssl.truststore.location=/nowhere/ca.pem":                                                           "line 2: ssl.truststore.location: /nowhere/ca.pem: the file cannot be read: no such file",
		tls + "ssl.truststore.certificates=topsecret":                                                             "there is no certificate in it",
		tls + "ssl.keystore.type=PKCS12\n":                                                                        "line 2: ssl.keystore.type: PKCS12 is not read here",
		tls + "ssl.keystore.certificate.chain=x":                                                                  "ssl.keystore.key: it is missing",
		tls + "ssl.endpoint.identification.algorithm=dns":                                                         `"dns" is none; there is https`,
		tls + "ssl.enabled.protocols=TLSv1.1":                                                                     "only TLSv1.2 and TLSv1.3 are spoken here",
		tls + "ssl.key.password=topsecret":                                                                        "take the password off the key",
		tls + "ssl.cipher.suites=X":                                                                               "Go's own choice of ciphers",
		tls + "ssl.engine.factory.class=X":                                                                        "there is no Java here",
		"security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER":                                                  "sasl.oauthbearer.token.endpoint.url: it takes https://",
		"security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://x/y": `clientId="…" clientSecret="…"`,
		"sasl.oauthbearer.jwks.endpoint.url=x":                                                                    "a token comes from sasl.oauthbearer.token.endpoint.url",
	} {
		_, err := parseAccess([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\nerror %v\nwant  %s", text, err, want)
		} else if strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: the error tells the secret: %v", text, err)
		}
	}
}

// token plays the client's first step and returns the token in it.
func token(m sasl.Mechanism) (string, error) {
	_, said, err := m.Authenticate(context.Background(), "host")
	_, behind, _ := strings.Cut(string(said), "Bearer ")
	word, _, _ := strings.Cut(behind, "\x01")
	return word, err
}

func TestTokensByClientCredentials(t *testing.T) {
	asked, answer := 0, func(w http.ResponseWriter) { io.WriteString(w, `{"access_token":"t1","expires_in":3600}`) }
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		r.ParseForm()
		if asked++; id != "me" || secret != "topsecret" || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("scope") != "kafka" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(w)
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	access := func(secret string) Access {
		a, err := parseAccess([]byte("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nssl.truststore.location=" + ca +
			"\nsasl.oauthbearer.token.endpoint.url=" + s.URL + "/token\n" +
			`sasl.jaas.config=a.OAuthBearerLoginModule required clientId="me" scope="kafka" clientSecret="` + secret + `";`))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := access("topsecret")
	for range 3 {
		if word, err := token(a.mechanism); word != "t1" || err != nil {
			t.Fatalf("token %q, %v", word, err)
		}
	}
	if asked != 1 {
		t.Errorf("the endpoint was asked %d times for a token that lasts an hour", asked)
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string
	}{
		"no JSON": {func(w http.ResponseWriter) { io.WriteString(w, "topsecret?") }, "its answer is no JSON with access_token"},
		"failure": {func(w http.ResponseWriter) { w.WriteHeader(500); io.WriteString(w, "topsecret") }, "it answers HTTP 500"},
	} {
		answer = c.answer
		if _, err := token(access("topsecret").mechanism); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: error %v, want … %s", name, err, c.want)
		}
	}
	if _, err := token(access("wrongsecret").mechanism); err == nil || !strings.Contains(err.Error(), "it refuses the client's id or secret") || strings.Contains(err.Error(), "wrongsecret") {
		t.Errorf("a wrong secret: %v", err)
	}
}

func TestTokenOfAFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	a, err := parseAccess([]byte("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=file://" + path))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		write(want + "\n")
		if word, err := token(a.mechanism); word != want || err != nil {
			t.Errorf("token %q, %v, want %s", word, err, want)
		}
	}
	write("two words")
	if _, err := token(a.mechanism); err == nil || strings.Contains(err.Error(), "two words") {
		t.Errorf("two words are no token: %v", err)
	}
}
