package view

import (
	"encoding/xml"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// Pictures that leave the page have the stylesheet's colours.
func TestPicturesHaveThePagesColours(t *testing.T) {
	css, err := os.ReadFile("../assets/base.css")
	if err != nil {
		t.Fatal(err)
	}
	light := regexp.MustCompile(`(?s):root \{(.*?)\n\}`).FindSubmatch(css)
	dark := regexp.MustCompile(`(?s):root\[data-theme="dark"\] \{(.*?)\n\}`).FindSubmatch(css)
	if light == nil || dark == nil {
		t.Fatal("base.css has no themes")
	}
	for theme, block := range map[Theme]string{Light: string(light[1]), Dark: string(dark[1])} {
		for name, colour := range paints[theme] {
			if !strings.Contains(block, "--"+name+": "+colour+";") {
				t.Errorf("in the %s theme --%s is not %s", theme, name, colour)
			}
		}
	}
}

// Every picture of the gallery can be taken away: well-formed XML that refers to nothing outside, with resolved colours.
func TestPicturesStandAlone(t *testing.T) {
	for _, n := range append(Gallery(), hostileGroup()) {
		for _, theme := range []Theme{Light, Dark} {
			svg, width, height := Picture(n.Model, n.Options, theme, "a <caption> & \x00 more")
			if width != 1200 || height < 200 || height > 3000 {
				t.Errorf("%s: %d × %d", n.Name, width, height)
			}
			wellFormed(t, n.Name, svg)
			for _, bad := range []string{"class=", "var(", "href", "url(", "style", "NaN", "Inf", "%!"} {
				if strings.Contains(svg, bad) {
					t.Errorf("%s: the picture holds %q", n.Name, bad)
				}
			}
			if !strings.Contains(svg, paints[theme]["ink"]) {
				t.Errorf("%s: nothing is drawn in ink", n.Name)
			}
		}
		wellFormed(t, n.Name, Thumbnail(n.Model, n.Options))
	}
}

// hostileGroup is a group whose names would break a picture that does not escape them.
func hostileGroup() Named {
	m := NewModel()
	for i, body := range []event.Body{
		event.ClientStarted{Client: "</text><script>alert(1)</script>\x01\u2028"},
		event.MemberAdded{Member: "</ScRiPt><img src=x>", ClientID: "<!--"},
	} {
		m.Apply(event.Event{Seq: int64(i + 1), AtMs: int64(i), Broker: 1, Group: `"><g>`, Body: body})
	}
	return Named{Name: "hostile", Model: m}
}

func wellFormed(t *testing.T, name, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, svg)
		}
		if el, ok := token.(xml.StartElement); ok && (el.Name.Local == "script" || el.Name.Local == "img") {
			t.Errorf("%s: a name became the element %s", name, el.Name.Local)
		}
	}
}
