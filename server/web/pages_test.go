package web

import (
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"grouplab/server/live"
	"grouplab/static"
)

func TestPages(t *testing.T) {
	l := newLab(t, live.Config{})
	targets := []string{"/", "/sandbox", "/sandbox/", "/live", "/live/", "/gallery", "/gallery/", "/gallery/" + book.Pictures()[1], "/nothing/at/all"}
	for _, id := range l.book.IDs() {
		targets = append(targets, "/lab/"+id, "/lab/"+id+"/")
	}
	for _, target := range targets {
		r := l.ask("GET", target)
		html := text(t, r)
		if want := map[bool]int{true: 404, false: 200}[target == "/nothing/at/all"]; r.StatusCode != want {
			t.Errorf("%s: %s", target, r.Status)
		}
		if r.Header.Get("Content-Type") != "text/html; charset=utf-8" || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Content-Language") != "en" {
			t.Errorf("%s: %v", target, r.Header)
		}
		if !strings.Contains(html, token) {
			t.Errorf("%s does not carry the token", target)
		}
		underPolicy(t, target, html)
		linksLead(t, l, target, html)
	}
}

var (
	// inline finds what the policy forbids: styles, handlers, and scripts that are programs and stand in the page.
	inline = regexp.MustCompile(`(?i)<style|\sstyle\s*=|\son[a-z]+\s*=|javascript:|<script(?:\s+id="[^"]*")?>|<base`)
	// data finds elements that hold data, up to where a browser sees their end.
	data = regexp.MustCompile(`(?is)<script type="(?:application/json|text/plain)"[^>]*>.*?</script`)
	link = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
)

func underPolicy(t *testing.T, target, html string) {
	t.Helper()
	if found := inline.FindString(data.ReplaceAllString(html, "")); found != "" {
		t.Errorf("%s holds %q, which the policy forbids", target, found)
	}
}

// linksLead demands that every link is relative and leads somewhere, seen from the page's own address.
func linksLead(t *testing.T, l *lab, target, html string) {
	t.Helper()
	here, _ := url.Parse("http://127.0.0.1:8080" + target)
	for _, m := range link.FindAllStringSubmatch(html, -1) {
		to, err := url.Parse(m[1])
		if err != nil {
			t.Errorf("%s links to %q: %v", target, m[1], err)
			continue
		}
		if to.IsAbs() && to.Host != "" {
			continue // elsewhere
		}
		if strings.HasPrefix(m[1], "/") {
			t.Errorf("%s links to %s, which is right only where the lab is at the root", target, m[1])
		}
		there := here.ResolveReference(to)
		if there.Path == here.Path {
			continue
		}
		if strings.HasPrefix(there.Path, "/dist/") && !static.Built() {
			continue
		}
		if r := l.ask("GET", there.RequestURI()); r.StatusCode != 200 {
			t.Errorf("%s links to %s, which is %s: %d", target, m[1], there.Path, r.StatusCode)
		}
	}
}

func TestBrowsersAreLedToTheSlash(t *testing.T) {
	l := newLab(t, live.Config{})
	id := l.book.IDs()[0]
	r := l.ask("GET", "/lab/"+id+"?lang=zh", header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"))
	if r.StatusCode != 308 || r.Header.Get("Location") != "./"+id+"/?lang=zh" {
		t.Errorf("%s to %s", r.Status, r.Header.Get("Location"))
	}
	if r := l.ask("GET", "/lab/"+id); r.StatusCode != 200 {
		t.Errorf("without a browser: %s", r.Status)
	}
}

func TestErrorPagesEscape(t *testing.T) {
	l := newLab(t, live.Config{})
	bad := url.PathEscape(nasty)
	for _, target := range []string{"/" + bad, "/lab/" + bad, "/lab/" + bad + "/", "/gallery/" + bad, "/live/" + bad, "/assets/" + bad, "/dist/" + bad, "/lab", "/lab/"} {
		r := l.ask("GET", target)
		html := text(t, r)
		if r.StatusCode != 404 || strings.Contains(html, "<script>alert") {
			t.Errorf("%s: %s, markup: %v", target, r.Status, strings.Contains(html, "<script>alert"))
		}
		if !strings.Contains(html, `lab/first-member/"`) {
			t.Errorf("%s does not lead on to the lessons", target)
		}
		underPolicy(t, target, html)
		linksLead(t, l, target, html)
	}
	for _, target := range []string{"/api/" + bad, "/api/brokers/1/" + bad, "/api/topics/x/" + bad} {
		refused(t, l.ask("GET", target), map[bool]int{true: 405, false: 404}[strings.Contains(target, "brokers")], "")
	}
}

func TestTokenStaysHere(t *testing.T) {
	l := newLab(t, live.Config{})
	for name, change := range map[string]func(*http.Request){
		"another machine": func(r *http.Request) { r.RemoteAddr = "192.168.1.7:50000" },
		"a proxy":         header("X-Forwarded-For", "192.168.1.7"),
		"another name":    func(r *http.Request) { r.Host = "evil.example" },
	} {
		for _, target := range []string{"/", "/live", "/nothing", "/api/state", "/metrics"} {
			if strings.Contains(text(t, l.ask("GET", target, change)), token) {
				t.Errorf("%s got the token from %s", name, target)
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	l := newLab(t, live.Config{})
	for _, c := range []struct{ query, accept, want string }{
		{"", "", "en"}, {"?lang=zh", "", "zh"}, {"?lang=en", "zh", "en"}, {"?lang=%3Cb%3E", "zh-TW", "zh"}, {"?lang=fr", "fr", "en"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh"}, {"", "en-GB,zh;q=0.9", "en"}, {"", "de,zh;q=0.4,en;q=0.3", "zh"}, {"", "zh;q=0,en;q=0", "en"},
		{"", "zh;q=x", "en"}, {"", "*", "en"},
	} {
		r := l.ask("GET", "/"+c.query, header("Accept-Language", c.accept))
		html := text(t, r)
		if r.Header.Get("Content-Language") != c.want || !strings.Contains(html, `<html lang="`+c.want+`"`) || r.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("%q with %q: %v, %.60s", c.query, c.accept, r.Header, html)
		}
	}
}

// Whatever lies in assets is served, with a type.
func TestEveryAssetIsServed(t *testing.T) {
	l := newLab(t, live.Config{})
	for dir, tree := range map[string]fs.FS{"/assets": static.Assets(), "/dist": static.Dist()} {
		err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, ".br") || name == "README" {
				return err
			}
			if r := l.ask("GET", path.Join(dir, name)); r.StatusCode != 200 || r.Header.Get("Content-Type") == "" {
				t.Errorf("%s/%s: %s", dir, name, r.Status)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Other sites may show a lesson in the form that is meant for that, and nothing else; it carries no token then.
func TestOnlyTheEmbedFormMayBeFramed(t *testing.T) {
	l := newLab(t, live.Config{})
	id := l.book.IDs()[0]
	for target, framed := range map[string]bool{
		"/lab/" + id + "/?embed": true, "/lab/" + id + "/?embed=1&lang=zh": true, "/sandbox/?embed": true,
		"/lab/" + id + "/": false, "/lab/" + id + "/?embedded": false, "/live?embed": false, "/live/?embed": false, "/?embed": false, "/glossary/?embed": false,
		"/gallery?embed": false, "/nothing?embed": false, "/api/state?embed": false, "/lab/nothing/?embed": false,
	} {
		r := l.ask("GET", target)
		policy, body := r.Header.Get("Content-Security-Policy"), text(t, r)
		if got := strings.Contains(policy, "frame-ancestors *"); got != framed || (r.Header.Get("X-Frame-Options") == "") != framed {
			t.Errorf("%s: %s, X-Frame-Options %q", target, policy, r.Header.Get("X-Frame-Options"))
		}
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';") {
			t.Errorf("%s: the policy is %s", target, policy)
		}
		if framed && strings.Contains(body, "grouplab-token") {
			t.Errorf("%s carries the token", target)
		}
	}
}
