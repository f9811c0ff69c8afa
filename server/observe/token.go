package observe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
)

// fromFile reads a token from a file each time one is needed: whoever put it there may replace it.
func fromFile(path string, extensions map[string]string) sasl.Mechanism {
	return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
		token, err := tokenOf(path)
		return oauth.Auth{Token: token, Extensions: extensions}, err
	})
}

func tokenOf(path string) (string, error) {
	text, err := readFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", errors.New("there is no token in it: one word, and nothing else")
	}
	return token, nil
}

// credentials ask an endpoint for tokens.
type credentials struct{ endpoint, id, secret, scope string }

// early is how long before its end a token is replaced.
const early = 30 * time.Second

// mechanism keeps a token until it is nearly over.
func (c credentials) mechanism(roots *x509.CertPool, extensions map[string]string) sasl.Mechanism {
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, Proxy: http.ProxyFromEnvironment,
		IdleConnTimeout: time.Minute}
	client := &http.Client{Transport: transport, Timeout: 15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var mu sync.Mutex
	var token string
	var until time.Time
	return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		mu.Lock()
		defer mu.Unlock()
		if token == "" || time.Now().After(until) {
			t, lasts, err := c.ask(ctx, client)
			if err != nil {
				return oauth.Auth{}, fmt.Errorf("sasl.oauthbearer.token.endpoint.url: %w", err)
			}
			token, until = t, time.Now().Add(max(0, lasts-early))
		}
		return oauth.Auth{Token: token, Extensions: extensions}, nil
	})
}

// ask asks for one token. Its errors hold neither the secret nor what a broken endpoint may have sent back of it.
func (c credentials) ask(ctx context.Context, client *http.Client) (token string, lasts time.Duration, err error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if c.scope != "" {
		form.Set("scope", c.scope)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, errors.New("it is no address")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(c.id), url.QueryEscape(c.secret))
	answer, err := client.Do(r)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the address, which may hold a password
		}
		return "", 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return "", 0, err
	}
	var said struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"`
		Error   string `json:"error"`
	}
	bad := json.Unmarshal(body, &said)
	switch {
	case answer.StatusCode == http.StatusUnauthorized || said.Error == "invalid_client":
		return "", 0, fmt.Errorf("it refuses the client's id or secret (HTTP %d)", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return "", 0, fmt.Errorf("it answers HTTP %d", answer.StatusCode)
	case bad != nil || said.Token == "":
		return "", 0, errors.New("its answer is no JSON with access_token")
	}
	if said.Expires <= 0 {
		said.Expires = 300
	}
	return said.Token, time.Duration(said.Expires) * time.Second, nil
}
