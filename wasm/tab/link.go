package tab

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// A link to a moment is the address's fragment
//
//	m1.LESSON[.INPUT…]@SEQ-HASH
//
// where each INPUT is a letter (see inputKind), the milliseconds since the input before in base 36 and, for an input that
// has an argument, a colon and the argument, escaped. SEQ is the event after which the moment lies. HASH covers the
// printed lines of all events up to it, so that a link that a newer engine replays otherwise is noticed.

const linkVersion = "m1"

// moment is what a link says.
type moment struct {
	lesson string
	inputs []input
	seq    int64
	hash   uint64
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
	return b.String()
}

// escape leaves nothing in an argument that a fragment uses otherwise.
func escape(s string) string {
	return strings.NewReplacer(".", "%2E", "@", "%40", ":", "%3A", "-", "%2D").Replace(url.QueryEscape(s))
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
	seq, hash, found := strings.Cut(place, "-")
	var err error
	if l.seq, err = strconv.ParseInt(seq, 10, 64); err != nil || l.seq < 1 {
		return l, fmt.Errorf("%q is no number of an event", seq)
	}
	if l.hash, err = strconv.ParseUint(hash, 16, 64); err != nil || !found {
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

// link is the link to the cursor's moment.
func (m *lessonMode) link() string {
	return moment{lesson: m.lesson.ID, inputs: m.head.inputs[:m.cursor.applied()], seq: m.cursor.seq, hash: m.head.hash(m.cursor.seq)}.String()
}

func (m *lessonMode) setHash() {
	m.t.linked = m.link()
	m.t.out.Hash, m.t.out.SetHash = m.t.linked, true
}

// address keeps the page's address at the moment that is shown while time stands still, so that a reload returns to it.
func (t *Tab) address() {
	if t.lesson == nil || t.playing() || t.lesson.cursor.seq == t.lesson.head.startSeq && t.linked == "" {
		return
	}
	if t.lesson.link() != t.linked {
		t.lesson.setHash()
	}
}

// open follows a link. Where it does not lead to its moment, a sentence says why, and the nearest moment is shown.
func (m *lessonMode) open(fragment string) {
	if !strings.HasPrefix(fragment, linkVersion+".") && !strings.Contains(fragment, "@") {
		return // an anchor of the page, not a link to a moment
	}
	l, err := parseMoment(fragment)
	if err != nil {
		m.t.say("link-shape", err.Error())
		return
	}
	if l.lesson != m.lesson.ID {
		m.t.say("link-lesson", l.lesson, m.lesson.ID)
		return
	}
	m.t.linked = fragment
	m.follow(l.inputs, l.seq, func(err error) {
		m.show(l.seq)
		m.enterStep()
		switch {
		case err != nil:
			m.t.say("link-broken", err.Error())
		case m.cursor.seq != l.seq:
			m.t.say("link-nowhere", strconv.FormatInt(l.seq, 10), strconv.FormatInt(m.cursor.seq, 10))
		case m.head.hash(l.seq) != l.hash:
			m.t.say("link-changed")
		}
	})
}
