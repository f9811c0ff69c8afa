package tab

import (
	"encoding/json"
	"net/url"
	"strings"

	"grouplab/static/view"
)

// probe is what requests of the group on stage would get now. It is the one thing that is not a fold over events: it is
// asked of the machine, when the group's state has changed.
type probe struct {
	group   string
	lastSeq int64 // the group's newest transition when it was asked
	askedMs int64
	answers []view.Answer
}

// askEveryMs bounds how often the server is asked.
const askEveryMs = 1000

// ask asks what requests would get, where that may have changed.
func (m *liveMode) ask(wallMs int64) {
	g := m.t.group(m.model)
	if w := m.model.Watch(); w != nil && w.Cluster != nil {
		return // no machine here can be asked
	}
	if g == nil || !m.connected || m.frozen || wallMs-m.probe.askedMs < askEveryMs {
		return
	}
	if m.probe.group == g.Name && m.probe.lastSeq == g.LastSeq {
		return
	}
	if m.probe.group != g.Name {
		m.probe.answers = nil
	}
	m.probe.group, m.probe.lastSeq, m.probe.askedMs = g.Name, g.LastSeq, wallMs
	query := url.Values{"group": {g.Name}}
	if present := g.Present(); len(present) > 0 {
		query.Set("member", present[0].ID)
	}
	m.t.out.Ask = append(m.t.out.Ask, "api/probe?"+query.Encode())
}

// asked takes the server's answer to a question, or to a request that changes something.
func (m *liveMode) asked(path string, status int, body []byte) {
	t := m.t
	t.dirty = true
	if status != 200 {
		if strings.HasPrefix(path, "api/probe") {
			m.probe.answers = nil
			return
		}
		t.say("server-refused", strings.TrimSpace(string(body)))
		return
	}
	name, query, _ := strings.Cut(path, "?")
	switch name {
	case "api/probe":
		m.probed(query, body)
	case "api/demo":
		var list []struct {
			Name    string `json:"name"`
			Running bool   `json:"running"`
		}
		if json.Unmarshal(body, &list) == nil {
			m.demo = 0
			for _, c := range list {
				if c.Running && !strings.HasSuffix(c.Name, "-producer") {
					m.demo++
				}
			}
		}
	}
}

// posted takes the server's answer to a request that changed something.
func (m *liveMode) posted(path string, status int, body []byte) {
	t := m.t
	if status < 200 || status > 299 {
		t.say("server-refused", strings.TrimSpace(string(body)))
	}
	if strings.HasPrefix(path, "api/demo") {
		t.out.Ask = append(t.out.Ask, "api/demo")
	}
	t.dirty = true
}

func (m *liveMode) probed(query string, body []byte) {
	asked, err := url.ParseQuery(query)
	if err != nil || asked.Get("group") != m.probe.group {
		return // of a group that is no longer on stage
	}
	var list []struct {
		API    int16  `json:"api"`
		Parked bool   `json:"parked"`
		Until  string `json:"until"`
		Code   int16  `json:"code"`
		Guard  string `json:"guard"`
	}
	if json.Unmarshal(body, &list) != nil {
		return
	}
	as := "unknown id"
	if asked.Get("member") != "" {
		as = "member"
	}
	m.probe.answers = nil
	for _, a := range list {
		m.probe.answers = append(m.probe.answers, view.Answer{API: a.API, As: as, Code: a.Code, Parked: a.Parked, Until: a.Until, Guard: a.Guard})
	}
}
