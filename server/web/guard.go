package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// TokenHeader carries the token of a request that changes something.
const TokenHeader = "X-GroupLab-Token"

// policy is the content security policy: what this server serves, and nothing else. WebAssembly needs a word of its own.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// harden sets the headers that every answer has.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// allowFraming lets other sites show this answer in a frame. Everything else of the policy stands.
func allowFraming(h http.Header) {
	h.Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'self'", "frame-ancestors *", 1))
	h.Del("X-Frame-Options")
}

// knownHost says whether a browser may have asked for this server by that Host header. A foreign page can point a name
// of its own at this machine (DNS rebinding) and would then be of the same origin; it cannot do so with an address.
func (s *Server) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(s.hosts, host)
}

// fromHere says whether a request came from this machine itself, not through a proxy on it.
func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return false
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	return true
}

// foreign says whether another site's page sent a request. Browsers say so with websockets too, which no policy of
// same origin holds back.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

// acting lets through what may change something: a POST from this machine, from our own page or from no page at all,
// with the token, and with a body of reasonable size.
func (s *Server) acting(next http.HandlerFunc) http.HandlerFunc {
	return only(http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get(TokenHeader)
		switch {
		case s.cfg.Observes:
			refuse(w, http.StatusForbidden, observesWords, "whoever runs the cluster can change it, with Kafka's own tools")
		case !fromHere(r):
			refuse(w, http.StatusForbidden, "only this machine may do that",
				"open the lab at a loopback address, on the machine that it runs on")
		case foreign(r):
			refuse(w, http.StatusForbidden, "another page asked for that", "use the lab's own page")
		case token == "":
			refuse(w, http.StatusUnauthorized, "the token is missing",
				"send the header "+TokenHeader+"; the token is printed at start, and the page carries it")
		case subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.Token)) != 1:
			refuse(w, http.StatusForbidden, "the token is not the one of this server",
				"each start makes a new one: reload the page, or copy the one printed at start")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next(w, r)
		}
	})
}

// observesWords are for who asks more of a cluster than to be shown.
const observesWords = "this cluster is only observed: nothing can be done to it from here"

// maxBody bounds the body of a POST.
const maxBody = 4 << 10
