package tab

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLinksLeadBack: a link to any moment of a lesson opens a page that shows that moment.
func TestLinksLeadBack(t *testing.T) {
	d := toGhost(t)
	d.do("next", "")
	d.do("next", "")
	d.do("pause", "")
	d.do("take-over", "")
	d.do("kill", "c1")
	d.do("step", "")
	h := d.lesson.head
	for _, seq := range []int64{1, 300, h.startSeq - 1, h.startSeq + 1, h.startSeq + 40, expiry(d).Seq - 1, expiry(d).Seq, h.seq()} {
		d.lesson.show(seq)
		d.fill()
		link, picture, step := d.lesson.link(), d.picture(), d.step()
		again := openLesson(t, ghostLesson, link)
		if again.options.Note != "" {
			t.Errorf("event %d: %s", seq, again.options.Note)
		}
		if again.seq() != seq || again.step() != step || again.lesson.link() != link {
			t.Errorf("event %d in step %s: its link leads to event %d in step %s", seq, step, again.seq(), again.step())
		}
		if got := again.picture(); got != picture {
			t.Errorf("event %d looks otherwise by its link:\n%s", seq, firstDifference(got, picture))
		}
	}
}

// TestBadLinks: each ends at the nearest moment, with a sentence that says what is wrong.
func TestBadLinks(t *testing.T) {
	d := toGhost(t)
	link, seq, start := d.lesson.link(), d.seq(), d.lesson.head.startSeq
	body, _, _ := strings.Cut(link, "@")
	for name, c := range map[string]struct {
		link, note string
		seq        int64
	}{
		"too far":       {body + "@99999999-0123456789abcdef", "there is no event 99999999", 0},
		"set-up":        {"m1.unclean-restart@700-0123456789abcdef", "made by another version", 700},
		"other engine":  {link[:len(link)-4] + "0000", "made by another version", seq},
		"other lesson":  {strings.Replace(link, "unclean-restart", "first-member", 1), "lesson first-member, but this page is lesson unclean-restart", start},
		"cut":           {link[:len(link)-16], "its check sum \"\" is cut", start},
		"no event":      {body, "", start},
		"no event 2":    {body + "@", `"" is no number of an event`, start},
		"version":       {"m9" + link[2:], `begins with "m9"`, start},
		"input":         {strings.Replace(link, ".n", ".x", 1), "input 1, ", start},
		"time":          {strings.Replace(link, ".n", ".n!", 1), "has no time in base 36", start},
		"standing":      {strings.Replace(link, ".n", ".n1", 1), "stands still", 0},
		"early command": {"m1.unclean-restart.cv3q:kill+c1@2000-0123456789abcdef", "cannot be followed to its end", start},
		"nonsense":      {"@@@", "cannot be read", start},
		"anchor":        {"main", "", start},
	} {
		t.Run(name, func(t *testing.T) {
			d := openLesson(t, ghostLesson, c.link)
			if !strings.Contains(d.options.Note, c.note) || c.note == "" && name != "no event" && d.options.Note != "" {
				t.Errorf("said %q, not that %q", d.options.Note, c.note)
			}
			if c.seq != 0 && d.seq() != c.seq {
				t.Errorf("shows event %d, not %d", d.seq(), c.seq)
			}
			d.do("next", "")
			d.do("step", "")
		})
	}
}

// TestMomentsReadAsWritten: whatever a moment holds, its text reads back as the same.
func TestMomentsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := moment{lesson: "unclean-restart", seq: rapid.Int64Range(1, 1<<40).Draw(t, "seq"), hash: rapid.Uint64().Draw(t, "hash")}
		at := int64(0)
		for range rapid.IntRange(0, 5).Draw(t, "inputs") {
			at += rapid.Int64Range(0, 1<<30).Draw(t, "delta")
			kind := rapid.SampledFrom([]inputKind{inputNext, inputPredict, inputTake, inputCommand}).Draw(t, "kind")
			want.inputs = append(want.inputs, input{at, kind, rapid.String().Draw(t, "arg")})
		}
		text := want.String()
		if strings.ContainsAny(text, " #\"<>") {
			t.Fatalf("%q cannot stand in an address", text)
		}
		got, err := parseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != text || len(got.inputs) != len(want.inputs) {
			t.Fatalf("%q reads as %q", text, got.String())
		}
		for i := range got.inputs {
			if got.inputs[i] != want.inputs[i] {
				t.Fatalf("input %+v reads as %+v", want.inputs[i], got.inputs[i])
			}
		}
	})
}

// FuzzLink: whatever an address holds, the page opens and goes on.
func FuzzLink(f *testing.F) {
	f.Add("m1.first-member.n0@2000-0123456789abcdef")
	f.Add("m1.first-member.n0.n5k.p8:id.t0.c4:kill+c1@400-0")
	script, page := source(f, firstLesson)
	f.Fuzz(func(t *testing.T, hash string) {
		tb, err := NewLesson(script, page, Choices{Hash: hash})
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{Tab: tb, t: t}
		d.frame(16)
		d.do("next", "")
		d.do("back", "")
		d.do("hash", hash)
	})
}

// TestFarLinks: a link that leads far takes several frames, during which the page draws and can be used.
func TestFarLinks(t *testing.T) {
	link := "m1.unclean-restart.tv3q@99999999-0123456789abcdef"
	d := openLesson(t, ghostLesson, link)
	if d.lesson.chasing == nil || !d.last.Busy || !strings.Contains(d.options.Note, "On the way") || d.seq() < firstEvents {
		t.Fatalf("at event %d: %q", d.seq(), d.options.Note)
	}
	d.lesson.chasing.left = 15 * frameEvents // what a page may still run, to save the time of the rest
	frames := 0
	for d.frame(16).Busy {
		frames++
	}
	if frames < 10 || !strings.Contains(d.options.Note, "there is no event 99999999") || d.seq() < firstEvents+14*frameEvents {
		t.Errorf("after %d frames at event %d: %q", frames, d.seq(), d.options.Note)
	}
	again := openLesson(t, ghostLesson, link)
	again.do("kill", "c1")
	if again.lesson.chasing != nil || again.lesson.cursor.model.Clients["c1"].Alive || again.last.Busy {
		t.Error("what is done on the way does not end it")
	}
}
