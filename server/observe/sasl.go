package observe

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const mechanisms = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER"

// sasl reads the sasl.* keys: by what mechanism one says who one is, and who.
func (p properties) sasl() (name string, m sasl.Mechanism, err error) {
	name = strings.ToUpper(p.value("sasl.mechanism"))
	switch name {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER":
	case "":
		return "", nil, p.wrong("sasl.mechanism", "it is missing, which means GSSAPI (Kerberos) to Kafka; here there are "+mechanisms)
	default:
		return "", nil, p.wrong("sasl.mechanism", fmt.Sprintf("%s is not spoken here; there are %s", name, mechanisms))
	}
	l := login{options: map[string]string{}}
	if one, given := p["sasl.jaas.config"]; given {
		if l, err = parseJAAS(one.value); err != nil {
			return "", nil, p.wrong("sasl.jaas.config", err.Error())
		}
	} else if name != "OAUTHBEARER" {
		return "", nil, p.wrong("sasl.jaas.config", "it is missing; it names the login module with the user and the password")
	}
	if err := p.module(name, l); err != nil {
		return "", nil, err
	}
	if name == "OAUTHBEARER" {
		m, err = p.oauth(l)
	} else {
		m, err = p.password(name, l)
	}
	return name, m, err
}

// modules are the login modules by mechanism, without the package that they are in.
var modules = map[string]string{"PLAIN": "PlainLoginModule", "SCRAM-SHA-256": "ScramLoginModule", "SCRAM-SHA-512": "ScramLoginModule",
	"OAUTHBEARER": "OAuthBearerLoginModule"}

func (p properties) module(mechanism string, l login) error {
	class := l.module[strings.LastIndexByte(l.module, '.')+1:]
	switch {
	case l.module == "" || class == modules[mechanism]:
		return nil
	case class == "Krb5LoginModule":
		return p.wrong("sasl.jaas.config", "Kerberos is not spoken here; there are "+mechanisms)
	}
	return p.wrong("sasl.jaas.config", fmt.Sprintf("its login module is %s, and %s takes %s", class, mechanism, modules[mechanism]))
}

func (p properties) password(mechanism string, l login) (sasl.Mechanism, error) {
	user, pass := l.options["username"], l.options["password"]
	if user == "" || pass == "" {
		return nil, p.wrong("sasl.jaas.config", `it takes username="…" and password="…"`)
	}
	switch mechanism {
	case "PLAIN":
		return plain.Auth{User: user, Pass: pass}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: pass, IsToken: l.options["tokenauth"] == "true"}.AsSha256Mechanism(), nil
	}
	return scram.Auth{User: user, Pass: pass, IsToken: l.options["tokenauth"] == "true"}.AsSha512Mechanism(), nil
}

// oauth takes the token from the option token, from a file (sasl.oauthbearer.token.endpoint.url=file:…), or asks the endpoint
// for one by client credentials (RFC 6749, section 4.4; KIP-768, KIP-1139).
func (p properties) oauth(l login) (sasl.Mechanism, error) {
	extensions := map[string]string{}
	for name, value := range l.options {
		if behind, found := strings.CutPrefix(name, "extension_"); found {
			extensions[behind] = value
		}
	}
	if l.options["unsecuredLoginStringClaim_sub"] != "" {
		return nil, p.wrong("sasl.jaas.config", "unsecured tokens are not made here; give one as the option token, or sasl.oauthbearer.token.endpoint.url")
	}
	endpoint := p.value("sasl.oauthbearer.token.endpoint.url")
	if token := l.options["token"]; token != "" {
		return oauth.Auth{Token: token, Extensions: extensions}.AsMechanism(), nil
	}
	const key = "sasl.oauthbearer.token.endpoint.url"
	if path, found := strings.CutPrefix(endpoint, "file:"); found {
		for strings.HasPrefix(path, "//") {
			path = path[1:]
		}
		if _, err := tokenOf(path); err != nil {
			return nil, p.wrong(key, fmt.Sprintf("%s: %v", path, err))
		}
		return fromFile(path, extensions), nil
	}
	if !strings.HasPrefix(endpoint, "https://") && !strings.HasPrefix(endpoint, "http://") {
		return nil, p.wrong(key, "it takes https://… to ask for tokens, or file:… where one is; or sasl.jaas.config has the option token")
	}
	c := credentials{endpoint: endpoint, id: first(l.options["clientId"], p.value("sasl.oauthbearer.client.credentials.client.id")),
		secret: first(l.options["clientSecret"], p.value("sasl.oauthbearer.client.credentials.client.secret")),
		scope:  first(l.options["scope"], p.value("sasl.oauthbearer.scope"))}
	if c.id == "" || c.secret == "" {
		return nil, p.wrong("sasl.jaas.config", `an endpoint is asked with client credentials: clientId="…" clientSecret="…"`)
	}
	roots, err := p.truststore()
	if err != nil {
		return nil, err
	}
	return c.mechanism(roots, extensions), nil
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
