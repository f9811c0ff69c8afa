package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/web"
)

const (
	alertsQueued = 256 // messages that wait to be sent; what does not fit is looked at again a moment later
	alertTries   = 6
	alertTimeout = 10 * time.Second
	alertLook    = time.Second
	alertBackoff = time.Second // before the second try; it doubles up to a minute
)

// Alert says whom to tell of groups that do not serve.
type Alert struct {
	// URL is POSTed to, "" nobody. It may hold a password, and is never written to the log.
	URL string
	// After is how long a group must not have served.
	After time.Duration
}

// check names what is wrong with the flags.
func (a Alert) check() error {
	if a.URL == "" {
		return nil
	}
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("-alert-url takes an address such as https://alerts.example/hook") // not the URL: it may hold a secret
	case a.After < time.Second:
		return fmt.Errorf("-alert-after %v: it takes a second or more, as in 60s", a.After)
	}
	return nil
}

// alertMessage is what is POSTed, once when a group has not served for so long and once when it does again, or is gone. Times are
// milliseconds since 1970.
type alertMessage struct {
	// Event is "stuck" or "over".
	Event   string      `json:"event"`
	Group   string      `json:"group"`
	State   event.State `json:"state"`
	SinceMs int64       `json:"sinceMs"`
	// OverMs is when it was found to serve again.
	OverMs       int64     `json:"overMs,omitempty"`
	Awaited      []string  `json:"awaited"`
	Waiting      int       `json:"waiting"`
	DeadlineMs   int64     `json:"deadlineMs"`
	Why          event.Why `json:"why"`
	Member       string    `json:"member,omitempty"`
	ClientReason string    `json:"clientReason,omitempty"`
	Coordinator  int32     `json:"coordinator,omitempty"`
	Generation   int32     `json:"generation"`
	// URL is the page that shows it.
	URL string `json:"url"`
}

// alerts tells of stuck groups. One goroutine looks, one sends: a receiver that is slow or away holds up nobody.
type alerts struct {
	cfg    Alert
	page   string
	log    *slog.Logger
	look   func() (waits []history.Wait, nowMs int64, err error)
	client *http.Client
	every  time.Duration
	wait   time.Duration // before the second try
	queue  chan alertMessage
	open   map[string]history.Wait // what was told and is not over
	figure struct{ sent, failed, retried atomic.Int64 }
}

func newAlerts(cfg Alert, page string, log *slog.Logger, look func() ([]history.Wait, int64, error)) *alerts {
	a := &alerts{cfg: cfg, page: page, log: log, look: look, every: alertLook, wait: alertBackoff,
		queue: make(chan alertMessage, alertsQueued), open: map[string]history.Wait{}}
	a.client = &http.Client{Timeout: alertTimeout, CheckRedirect: stayThere}
	return a
}

// stayThere follows a redirect only to the same place, and only one that asks for the same POST again.
func stayThere(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch code := r.Response.StatusCode; {
	case r.URL.Scheme != first.Scheme || r.URL.Host != first.Host:
		return errors.New("it redirects to another place")
	case code != http.StatusTemporaryRedirect && code != http.StatusPermanentRedirect:
		return fmt.Errorf("it redirects with %d, which drops what is told; 307 and 308 do not", code)
	case len(via) >= 3:
		return errors.New("it redirects again and again")
	}
	return nil
}

// run works until ctx ends.
func (a *alerts) run(ctx context.Context) {
	var sending sync.WaitGroup
	sending.Go(func() { a.send(ctx) })
	defer sending.Wait()
	t := time.NewTicker(a.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			a.check()
		}
	}
}

// check looks who is stuck, and who is not any more.
func (a *alerts) check() {
	waits, nowMs, err := a.look()
	if err != nil {
		return
	}
	now := make(map[string]history.Wait, len(waits))
	for _, w := range waits {
		now[w.Group] = w
	}
	for name, told := range a.open {
		if w, waiting := now[name]; waiting && w.SinceMs == told.SinceMs {
			continue
		}
		m := a.message("over", told)
		if m.OverMs = nowMs; a.enqueue(m) {
			delete(a.open, name)
		}
	}
	for _, w := range waits {
		if nowMs-w.SinceMs < a.cfg.After.Milliseconds() {
			break // the longest come first
		}
		if _, told := a.open[w.Group]; !told && a.enqueue(a.message("stuck", w)) {
			a.open[w.Group] = w
		}
	}
}

func (a *alerts) message(what string, w history.Wait) alertMessage {
	m := alertMessage{Event: what, Group: w.Group, State: w.State, SinceMs: w.SinceMs, Awaited: w.Awaited, Waiting: w.Waiting, DeadlineMs: w.DeadlineMs,
		Why: w.Why, Member: w.Member, ClientReason: w.ClientReason, Coordinator: w.Coordinator, Generation: w.Generation,
		URL: a.page + "/live/?" + url.Values{"group": {w.Group}}.Encode()}
	if m.Awaited == nil {
		m.Awaited = []string{}
	}
	return m
}

func (a *alerts) enqueue(m alertMessage) bool {
	select {
	case a.queue <- m:
		return true
	default:
		return false
	}
}

// send delivers one message after the other.
func (a *alerts) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-a.queue:
			if err := a.deliver(ctx, m); err != nil && ctx.Err() == nil { // counted when it is in the log
				a.log.Warn(fmt.Sprintf("-alert-url: nobody could be told that %s: %v", m.says(), err))
				a.figure.failed.Add(1)
			} else if err == nil {
				a.figure.sent.Add(1)
			}
		}
	}
}

func (m alertMessage) says() string {
	if m.Event == "over" {
		return "group " + event.Name(m.Group) + " serves again"
	}
	return "group " + event.Name(m.Group) + " is stuck"
}

// deliver tries until the receiver has taken the message, says that it never will, or was tried often enough.
func (a *alerts) deliver(ctx context.Context, m alertMessage) (err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	pause := a.wait
	for try := 1; ; try++ {
		var final bool
		if final, err = a.post(ctx, body); err == nil || final || try == alertTries {
			return err
		}
		a.figure.retried.Add(1)
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		pause = min(2*pause, time.Minute)
	}
}

// post sends once. final is set where another try would be answered alike.
func (a *alerts) post(ctx context.Context, body []byte) (final bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return true, errors.New("the address cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "GroupLab")
	answer, err := a.client.Do(r)
	if err != nil {
		var said *url.Error
		if errors.As(err, &said) { // it names the URL, which may hold a secret
			err = said.Err
		}
		return strings.Contains(err.Error(), "it redirects"), err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return true, nil
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return false, fmt.Errorf("it answered %d", code)
	default:
		return true, fmt.Errorf("it answered %d", code)
	}
}

// figures are for /metrics.
func (a *alerts) figures() web.Alerts {
	return web.Alerts{Sent: a.figure.sent.Load(), Failed: a.figure.failed.Load(), Retried: a.figure.retried.Load(), Queued: int64(len(a.queue))}
}

// stuck reads the history for the alerts.
func (s *Server) stuck() (waits []history.Wait, nowMs int64, err error) {
	nowMs = s.hub.NowMs()
	err = s.hub.Fold(func() { waits = s.history.Waits() })
	return waits, nowMs, err
}
