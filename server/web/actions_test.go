package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"grouplab/server/live"
)

func TestActions(t *testing.T) {
	for _, c := range []struct{ target, body, told, answer string }{
		{"/api/brokers/1/kill", "", "kill 1", `{"broker":1,"done":"kill"}`},
		{"/api/brokers/2/restart", "", "restart 2", `{"broker":2,"done":"restart"}`},
		{"/api/topics/orders/partitions", `{"total":8}`, "partitions orders 8", `{"partitions":8,"topic":"orders"}`},
		{"/api/topics/orders/partitions", `{"partitions":7}`, "partitions orders 7", `{"partitions":7,"topic":"orders"}`},
		{"/api/topics/a%2Fb/partitions", ` {"total":8} `, "partitions a/b 8", `{"partitions":8,"topic":"a/b"}`},
		{"/api/partitions/move", `{"topic":"orders","partition":1,"to":2}`, "move orders 1 2", `{"leader":2,"partition":1,"topic":"orders"}`},
		{"/api/demo", `{"start":2}`, "start 2", `{"started":["demo-1"]}`},
		{"/api/demo", `{"kill":"demo-1"}`, "kill demo-1", `{"killed":"demo-1"}`},
		{"/api/demo", `{"stop":"demo-1"}`, "stop demo-1", `{"stopped":"demo-1"}`},
	} {
		l := newLab(t, live.Config{})
		r := l.ask("POST", c.target, withToken, body(c.body))
		got := strings.NewReplacer(" ", "", "\n", "").Replace(text(t, r))
		if r.StatusCode != 200 || got != c.answer || !slices.Equal(l.control.told, []string{c.told}) {
			t.Errorf("POST %s %s: %d %s, told %v", c.target, c.body, r.StatusCode, got, l.control.told)
		}
	}
}

func TestWhoMayAct(t *testing.T) {
	page := func(origin, site string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", origin); r.Header.Set("Sec-Fetch-Site", site) }
	}
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	for _, c := range []struct {
		name   string
		change []func(*http.Request)
		status int
		words  string
	}{
		{"no token", nil, 401, "the token is missing"},
		{"a wrong token", []func(*http.Request){header(TokenHeader, "0123456789abcdef0123456789abcdee")}, 403, "not the one of this server"},
		{"a short token", []func(*http.Request){header(TokenHeader, token[:8])}, 403, "not the one of this server"},
		{"a token in the address", []func(*http.Request){func(r *http.Request) { r.URL.RawQuery = "token=" + token }}, 401, "the token is missing"},
		{"a foreign page", []func(*http.Request){withToken, page("http://evil.example", "cross-site")}, 403, "another page"},
		{"a page of the same site", []func(*http.Request){withToken, page("http://127.0.0.1:9999", "same-site")}, 403, "another page"},
		{"an old browser's foreign page", []func(*http.Request){withToken, header("Origin", "http://evil.example")}, 403, "another page"},
		{"a page without an origin", []func(*http.Request){withToken, header("Origin", "null")}, 403, "another page"},
		{"an origin that is none", []func(*http.Request){withToken, header("Origin", "http://[")}, 403, "another page"},
		{"another machine", []func(*http.Request){withToken, from("192.168.1.7:50000")}, 403, "only this machine"},
		{"no peer", []func(*http.Request){withToken, from("")}, 403, "only this machine"},
		{"a proxy", []func(*http.Request){withToken, header("X-Forwarded-For", "192.168.1.7")}, 403, "only this machine"},
		{"a standard proxy", []func(*http.Request){withToken, header("Forwarded", "for=192.168.1.7")}, 403, "only this machine"},
		{"our page", []func(*http.Request){withToken, page("http://127.0.0.1:8080", "same-origin")}, 200, ""},
		{"no page", []func(*http.Request){withToken}, 200, ""},
		{"no page, over IPv6", []func(*http.Request){withToken, from("[::1]:50000")}, 200, ""},
		{"no page, over mapped IPv4", []func(*http.Request){withToken, from("[::ffff:127.0.0.1]:50000")}, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for target, text := range map[string]string{"/api/brokers/1/kill": "", "/api/brokers/1/restart": "",
				"/api/topics/orders/partitions": `{"total":8}`, "/api/partitions/move": `{"topic":"orders","partition":1,"to":2}`, "/api/demo": `{"start":1}`} {
				l := newLab(t, live.Config{})
				r := l.ask("POST", target, append(c.change, body(text))...)
				if c.status != 200 {
					refused(t, r, c.status, c.words)
				} else if r.StatusCode != 200 {
					t.Errorf("%s: %d", target, r.StatusCode)
				}
				if told := len(l.control.told) > 0; told != (c.status == 200) {
					t.Errorf("%s: the cluster was told %v", target, l.control.told)
				}
			}
		})
	}
}

func TestBadActions(t *testing.T) {
	l := newLab(t, live.Config{})
	for _, c := range []struct {
		target, body string
		status       int
		words        string
	}{
		{"/api/brokers/9/kill", "", 404, "unknown broker 9; there are 1 to 3"},
		{"/api/brokers/3/kill", "", 409, "broker 3 is down already"},
		{"/api/brokers/one/kill", "", 400, `"one" is no broker id`},
		{"/api/brokers/99999999999/kill", "", 400, `"99999999999" is no broker id`},
		{"/api/brokers/1/explode", "", 404, `"explode" is nothing that can be done`},
		{"/api/topics/" + url.PathEscape(nasty) + "/partitions", `{"total":8}`, 404, "unknown topic"},
		{"/api/topics/orders/partitions", "", 400, "the body is empty"},
		{"/api/topics/orders/partitions", "8", 400, "not the JSON object"},
		{"/api/topics/orders/partitions", `{"total":"8"}`, 400, "not the JSON object it should be: \"total\" cannot be a string"},
		{"/api/topics/orders/partitions", `{"total":0}`, 400, "no number from 1 to 10000"},
		{"/api/topics/orders/partitions", `{"total":-1}`, 400, "no number from 1 to 10000"},
		{"/api/topics/orders/partitions", `{"total":99999999999}`, 400, "not the JSON object"},
		{"/api/topics/orders/partitions", `{"total":10001}`, 400, "no number from 1 to 10000"},
		{"/api/topics/orders/partitions", `{}`, 400, "total is missing"},
		{"/api/topics/orders/partitions", `{"total":8}{"total":9}`, 400, "more follows"},
		{"/api/topics/orders/partitions", `{"count":8}`, 400, `unknown field`},
		{"/api/topics/orders/partitions", `{"total":8` + strings.Repeat(" ", 5000) + `}`, 413, "longer than 4096 bytes"},
		{"/api/partitions/move", `{"topic":"orders","to":2}`, 400, "is missing"},
		{"/api/partitions/move", `{"topic":"orders","partition":"1","to":2}`, 400, "not the JSON object"},
		{"/api/demo", `{}`, 400, "one thing at a time"},
		{"/api/demo", `{"start":1,"kill":"demo-1"}`, 400, "one thing at a time"},
		{"/api/demo", `{"start":99}`, 409, "at most 16"},
		{"/api/demo", `[]`, 400, "not the JSON object it should be: it is a JSON array"},
		{"/api/demo", `{"kill":"<script>"`, 400, "not the JSON object"},
	} {
		refused(t, l.ask("POST", c.target, withToken, body(c.body)), c.status, c.words)
	}
	if len(l.control.told) != 0 {
		t.Errorf("the cluster was told %v", l.control.told)
	}
}

func TestTokens(t *testing.T) {
	if a, b := NewToken(), NewToken(); len(a) != 32 || a == b {
		t.Errorf("tokens %s and %s", a, b)
	}
}
