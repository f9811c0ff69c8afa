package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"strings"
	"testing"

	"grouplab/server/e2e/clients/agent"
)

func TestSuiteIsCounted(t *testing.T) {
	said := `{"Action":"pass","Test":"TestA"}
{"Action":"pass","Test":"TestA/part"}
not JSON
{"Action":"fail","Test":"TestB/part/small"}
{"Action":"fail","Test":"TestB/part"}
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
`
	whole, err := count([]byte(said), nil)
	if want := "1 of franz-go's own tests passed, 1 failed, 1 were skipped by themselves"; whole != want {
		t.Errorf("count said %q, expected %q", whole, want)
	}
	if failed, ok := err.(failedTests); !ok || !slices.Equal(failed, []string{"TestB/part/small"}) {
		t.Errorf("the part that failed is not named: %v", err)
	}
	if got, want := exactly("TestB/part/small"), "^TestB$/^part$/^small$"; got != want {
		t.Errorf("-run would be given %q, expected %q", got, want)
	}
	if _, err := count(nil, nil); err == nil {
		t.Error("a run without a test is taken as passed")
	}
}

func TestTableTells(t *testing.T) {
	all := outcome{}
	for _, step := range steps {
		all[step] = nil
	}
	good := &scene{client: client{name: "good"}, version: "1.0", did: all}
	var out strings.Builder
	if show(&out, []*scene{good}) {
		t.Errorf("all steps are ok, and the table says that something failed:\n%s", out.String())
	}
	for name, bad := range map[string]*scene{
		"absent":  {client: client{name: "absent"}, absent: errMissing{"no such package"}},
		"not run": {client: client{name: "early"}, did: outcome{"create": nil}},
		"suite":   {client: client{name: "suite", alone: kgoSuite}, wholeErr: errMissing{"failed: TestB"}},
	} {
		if !show(&out, []*scene{good, bad}) {
			t.Errorf("%s: the table says that nothing failed", name)
		}
	}
}

func TestTextsAreCompared(t *testing.T) {
	if err := sameTexts([]string{"gzip-1", "gzip-0"}, []string{"gzip-0", "gzip-1"}); err != nil {
		t.Error(err)
	}
	for _, got := range [][]string{{"gzip-0"}, {"gzip-0", "gzip-0", "gzip-1"}, {"gzip-0", "gzip-1: its text is not what was sent"}} {
		if sameTexts(got, []string{"gzip-0", "gzip-1"}) == nil {
			t.Errorf("%q are taken as what was sent", got)
		}
	}
}

func TestRowsAreClients(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range rows() {
		if c.prepare == nil || c.name == "" || seen[c.name] {
			t.Errorf("row %q has no client, or is there twice", c.name)
		}
		seen[c.name] = true
	}
	if want := len(clients) + len(lockedRows); len(seen) != want {
		t.Errorf("%d rows, expected %d", len(seen), want)
	}
}

// TestLocks: only the right one has what gets in, and nothing is left behind.
func TestLocks(t *testing.T) {
	for _, l := range []lock{{"SCRAM-SHA-256"}, {""}} {
		k, err := l.open()
		if err != nil {
			t.Fatal(err)
		}
		server, err := tls.LoadX509KeyPair(k.flags[1], k.flags[3])
		if err != nil {
			t.Fatal(err)
		}
		trusts := func(who agent.Security, host string, usage x509.ExtKeyUsage, leaf *x509.Certificate) error {
			cfg, err := who.TLS()
			if err != nil {
				t.Fatal(err)
			}
			_, err = leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: cfg.RootCAs, KeyUsages: []x509.ExtKeyUsage{usage}})
			return err
		}
		if err := trusts(k.right, "127.0.0.1", x509.ExtKeyUsageServerAuth, server.Leaf); err != nil {
			t.Errorf("the right client does not trust the brokers: %v", err)
		}
		if trusts(k.doubter, "127.0.0.1", x509.ExtKeyUsageServerAuth, server.Leaf) == nil {
			t.Error("the doubter trusts the brokers")
		}
		text, err := os.ReadFile(k.flags[5])
		if err != nil {
			t.Fatal(err)
		}
		if l.mechanism != "" {
			if !strings.Contains(string(text), k.right.Password) || k.right.Password == k.stranger.Password {
				t.Errorf("of %+v and %+v the first should be a user of %s", k.right, k.stranger, text)
			}
		} else {
			for _, c := range []struct {
				who agent.Security
				in  bool
			}{{k.right, true}, {k.stranger, false}} {
				cfg, err := c.who.TLS()
				if err != nil {
					t.Fatal(err)
				}
				err = trusts(k.right, "", x509.ExtKeyUsageClientAuth, cfg.Certificates[0].Leaf)
				if (err == nil) != c.in {
					t.Errorf("%s: %v", c.who.Cert, err)
				}
			}
		}
		k.remove()
		if _, err := os.Stat(k.flags[3]); !os.IsNotExist(err) {
			t.Errorf("the brokers' key is left behind: %v", err)
		}
	}
}

func TestWordsAreToldInShort(t *testing.T) {
	long := strings.Repeat("nothing came from broker 1; ", 20)
	for said, want := range map[string]string{
		"Authentication failed: no":              "Authentication failed: no",
		long + "authentication failed: no; more": "authentication failed: no",
		long:                                     long[:200] + "…",
		"one broker says no\nanother one does too": "one broker says no",
	} {
		if got := inShort(said, wordsOfPassword); got != want {
			t.Errorf("of %q remains %q, expected %q", said, got, want)
		}
	}
	for _, nothing := range []string{"ssl://127.0.0.1:9092: Connect failed: Connection refused", "Local: Broker transport failure"} {
		if wordsOfCertificate.MatchString(nothing) || wordsOfPassword.MatchString(nothing) {
			t.Errorf("%q is taken as telling what is wrong", nothing)
		}
	}
}
