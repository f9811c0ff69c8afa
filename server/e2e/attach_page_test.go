package e2e

//lint:file-ignore SA1019 nhooyr.io/websocket was asked for; its successor has the same API under another import path.

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"nhooyr.io/websocket"

	"grouplab/server/app"
	"grouplab/static/view"
)

var markup = regexp.MustCompile(`<[^>]*>`)

// pageOf is what parts of the live page say of a watched cluster, with a group on stage: the page's own fold over what the
// watcher tells, and its own words.
func pageOf(t testing.TB, watcher *app.Server, group string, parts ...string) string {
	t.Helper()
	m := view.NewLiveModel()
	for _, e := range events(t, watcher) {
		m.Apply(e)
	}
	m.SetNow(time.Now().UnixMilli())
	o := view.Watching(view.Options{Lang: view.English, Mode: view.ModeLive, Group: group, Speed: 1, Grain: view.GrainEvent, Live: &view.LiveState{Connected: true, Demo: -1}})
	var b bytes.Buffer
	for _, p := range view.Parts(m, o) {
		for _, id := range parts {
			if p.ID == id {
				if err := p.Component.Render(context.Background(), &b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return strings.Join(strings.Fields(html.UnescapeString(markup.ReplaceAllString(b.String(), " "))), " ")
}

// says waits until a part of the page says all of these.
func says(t testing.TB, watcher *app.Server, group, part string, all ...string) string {
	t.Helper()
	var text string
	eventually(t, 30*time.Second, func() error {
		text = pageOf(t, watcher, group, part)
		for _, want := range all {
			if !strings.Contains(text, want) {
				return fmt.Errorf("the page does not say %q in its part %s:\n%s", want, part, text)
			}
		}
		return nil
	})
	return text
}

// follow has a page look at a group until the test ends, so that its lag is measured.
func follow(t testing.TB, watcher *app.Server, group string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c, _, err := websocket.Dial(ctx, "ws://"+watcher.HTTPAddr()+"/api/live?overview=1&group="+group, nil)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	c.SetReadLimit(-1)
	var reading sync.WaitGroup
	reading.Go(func() {
		for err := error(nil); err == nil; {
			_, _, err = c.Read(ctx)
		}
	})
	t.Cleanup(func() { cancel(); reading.Wait(); c.CloseNow() })
}
