package tab

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"grouplab/static/view"
)

// A link to a moment is the address's fragment
//
//	m1.LESSON[.INPUT…]@SEQ-HASH[~NAME=VALUE…]
//
// where each INPUT is a letter (see inputKind), the milliseconds since the input before in base 36 and, for an input that
// has an argument, a colon and the argument, escaped. SEQ is the event after which the moment lies. HASH covers the
// printed lines of all events up to it, so that a link that a newer engine replays otherwise is noticed. What follows, each
// where it is not the usual, is how the moment is looked at: sel, what is selected; group, the group on stage; grain, how
// far a step goes; setup, the lines of a sandbox's set-up; lang, the language of whoever made the link, which boot.js
// reads, too.

const linkVersion = "m1"

// moment is what a link says.
type moment struct {
	lesson string
	inputs []input
	seq    int64
	hash   uint64
	view   []Attr // in the order of viewNames
}

// viewNames are what a link may say about how its moment is looked at.
var viewNames = []string{"sel", "group", "grain", "setup", "lang"}

// look returns what the link says under a name, "" where it says nothing.
func (l moment) look(name string) string {
	for _, a := range l.view {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// setLook appends what is not the usual.
func (l *moment) setLook(name, value string) {
	if value != "" {
		l.view = append(l.view, Attr{name, value})
	}
}

// String is the link's fragment.
func (l moment) String() string {
	var b strings.Builder
	b.WriteString(linkVersion + "." + l.lesson)
	last := int64(0)
	for _, in := range l.inputs {
		b.WriteString("." + string(in.kind) + strconv.FormatInt(in.atMs-last, 36))
		if in.arg != "" {
			b.WriteString(":" + escape(in.arg))
		}
		last = in.atMs
	}
	fmt.Fprintf(&b, "@%d-%016x", l.seq, l.hash)
	for _, a := range l.view {
		b.WriteString("~" + a.Name + "=" + escape(a.Value))
	}
	return b.String()
}

// escape leaves nothing in an argument that a fragment uses otherwise.
func escape(s string) string {
	return strings.NewReplacer(".", "%2E", "@", "%40", ":", "%3A", "-", "%2D", "~", "%7E").Replace(url.QueryEscape(s))
}

// maxInputs bounds what a link can hold.
const maxInputs = 2000

// parseMoment reads a fragment. The error is a sentence that says what is wrong.
func parseMoment(fragment string) (moment, error) {
	var l moment
	body, place, found := strings.Cut(fragment, "@")
	if !found {
		return l, fmt.Errorf("it names no event; a link ends with @EVENT-HASH")
	}
	parts := strings.Split(body, ".")
	if parts[0] != linkVersion {
		return l, fmt.Errorf("it begins with %q, links of this lab begin with %q", parts[0], linkVersion)
	}
	if len(parts) < 2 || parts[1] == "" {
		return l, fmt.Errorf("it names no lesson")
	}
	if l.lesson = parts[1]; len(parts) > 2+maxInputs {
		return l, fmt.Errorf("it has %d inputs, at most %d are followed", len(parts)-2, maxInputs)
	}
	last := int64(0)
	for i, p := range parts[2:] {
		in, err := parseInput(p, last)
		if err != nil {
			return l, fmt.Errorf("input %d, %q, %w", i+1, p, err)
		}
		l.inputs = append(l.inputs, in)
		last = in.atMs
	}
	looks := strings.Split(place, "~")
	for _, look := range looks[1:] {
		name, value, _ := strings.Cut(look, "=")
		text, err := url.QueryUnescape(value)
		if err != nil || !slices.Contains(viewNames, name) || l.look(name) != "" {
			return l, fmt.Errorf("%q at its end is cut or changed", look)
		}
		l.setLook(name, text)
	}
	seq, hash, found := strings.Cut(looks[0], "-")
	var err error
	if l.seq, err = strconv.ParseInt(seq, 10, 64); err != nil || l.seq < 1 {
		return l, fmt.Errorf("%q is no number of an event", seq)
	}
	if l.hash, err = strconv.ParseUint(hash, 16, 64); err != nil || !found || len(hash) != 16 {
		return l, fmt.Errorf("its check sum %q is cut or changed", hash)
	}
	return l, nil
}

func parseInput(text string, last int64) (input, error) {
	head, arg, _ := strings.Cut(text, ":")
	if len(head) < 2 || !strings.Contains("nptc", head[:1]) {
		return input{}, fmt.Errorf("is none: it begins with n, p, t or c and a time")
	}
	delta, err := strconv.ParseInt(head[1:], 36, 48)
	if err != nil || delta < 0 {
		return input{}, fmt.Errorf("has no time in base 36")
	}
	if arg, err = url.QueryUnescape(arg); err != nil {
		return input{}, fmt.Errorf("is escaped wrongly")
	}
	return input{atMs: last + delta, kind: inputKind(head[0]), arg: arg}, nil
}

// moment is the cursor's, as it is looked at.
func (m *lessonMode) moment() moment {
	l := moment{lesson: m.lesson.ID, inputs: m.head.inputs[:m.cursor.applied()], seq: m.cursor.seq, hash: m.head.hash(m.cursor.seq)}
	l.setLook("sel", m.t.selected)
	l.setLook("group", m.t.options.Group)
	if s := m.t.sandbox; s != nil {
		l.setLook("setup", strings.Join(s.setup, "\n"))
	}
	if m.t.options.Grain != view.GrainEvent {
		l.setLook("grain", string(m.t.options.Grain))
	}
	return l
}

// link is the link to the cursor's moment, for a reader of any language.
func (m *lessonMode) link() string { return m.moment().String() }

// shared is the link that is given to others: it carries the language.
func (m *lessonMode) shared() string {
	l := m.moment()
	l.setLook("lang", string(m.t.options.Lang))
	return l.String()
}

// setHash shows a link in the address.
func (m *lessonMode) setHash(link string) {
	m.t.linked = link
	m.t.out.Hash, m.t.out.SetHash = link, true
}

// address keeps the page's address at the moment that is shown while time stands still, so that a reload returns to it. It
// tells whether that is another one than before.
func (m *lessonMode) address() bool {
	if m.t.playing() || m.cursor.seq == m.head.startSeq && m.t.linked == "" {
		return false
	}
	now, _, _ := strings.Cut(m.t.linked, "~lang=")
	link := m.link()
	if link == now {
		return false
	}
	m.setHash(link)
	return true
}

// open follows a link. Where it does not lead to its moment, a sentence says why, and the nearest moment is shown.
func (m *lessonMode) open(fragment string) {
	if !strings.HasPrefix(fragment, linkVersion+".") && !strings.Contains(fragment, "@") {
		return // an anchor of the page, not a link to a moment
	}
	l, err := parseMoment(fragment)
	if err != nil {
		m.t.say("link-shape", view.ScriptText(err.Error(), m.t.options.Lang))
		return
	}
	if l.lesson != m.lesson.ID {
		m.t.say("link-lesson", l.lesson, m.lesson.ID)
		return
	}
	if s := m.t.sandbox; s != nil {
		if m, err = s.world(l.look("setup")); err != nil {
			s.t.say("link-shape", view.ScriptText(err.Error(), s.t.options.Lang))
			return
		}
	}
	m.t.linked = fragment
	m.follow(l.inputs, l.seq, func(err error) {
		m.show(l.seq)
		m.enterStep()
		m.look(l)
		switch {
		case err != nil:
			m.t.say("link-broken", view.ScriptText(err.Error(), m.t.options.Lang))
		case m.cursor.seq != l.seq:
			m.t.say("link-nowhere", strconv.FormatInt(l.seq, 10), strconv.FormatInt(m.cursor.seq, 10))
		case m.head.hash(l.seq) != l.hash:
			m.t.say("link-changed")
		}
	})
}

// look looks at a moment as its link says.
func (m *lessonMode) look(l moment) {
	m.t.selected, m.t.options.Group = l.look("sel"), l.look("group")
	for i := m.cursor.lesson().player.Index(); i >= 0 && m.t.options.Group == ""; i-- {
		m.stageGroup(m.lesson.Steps[i].Focus.Client) // a link that names no group: that of the last consumer that a step was about
	}
	if g := view.Grain(l.look("grain")); slices.Contains(view.Grains, g) {
		m.t.options.Grain = g
	}
	if lang := view.Lang(l.look("lang")); lang == view.English || lang == view.Chinese {
		m.t.options.Lang = lang
	}
}
