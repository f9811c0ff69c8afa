package view

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

type rgb struct{ r, g, b float64 } // linear light, 0 to 1

func parseColour(t *testing.T, hex string) rgb {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("%q is no colour", hex)
	}
	lin := func(v uint64) float64 {
		c := float64(v&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return rgb{lin(n >> 16), lin(n >> 8), lin(n)}
}

func (c rgb) luminance() float64 { return 0.2126*c.r + 0.7152*c.g + 0.0722*c.b }

func contrast(a, b rgb) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// eyes are the simulations of Machado, Oliveira and Fernandes (2009) at full severity, on linear light.
var eyes = map[string][9]float64{
	"normal": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

func (c rgb) seen(m [9]float64) rgb {
	clip := func(v float64) float64 { return min(max(v, 0), 1) }
	return rgb{clip(m[0]*c.r + m[1]*c.g + m[2]*c.b), clip(m[3]*c.r + m[4]*c.g + m[5]*c.b), clip(m[6]*c.r + m[7]*c.g + m[8]*c.b)}
}

func (c rgb) lab() (l, a, b float64) {
	x := (0.4124564*c.r + 0.3575761*c.g + 0.1804375*c.b) / 0.95047
	y := 0.2126729*c.r + 0.7151522*c.g + 0.0721750*c.b
	z := (0.0193339*c.r + 0.1191920*c.g + 0.9503041*c.b) / 1.08883
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	return 116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))
}

// ciede2000 is the distance of two colours as eyes see it (Sharma, Wu and Dalal 2005).
func ciede2000(l1, a1, b1, l2, a2, b2 float64) float64 {
	rad := math.Pi / 180
	cBar := (math.Hypot(a1, b1) + math.Hypot(a2, b2)) / 2
	g := 0.5 * (1 - math.Sqrt(math.Pow(cBar, 7)/(math.Pow(cBar, 7)+math.Pow(25, 7))))
	a1, a2 = a1*(1+g), a2*(1+g)
	c1, c2 := math.Hypot(a1, b1), math.Hypot(a2, b2)
	hue := func(a, b float64) float64 {
		if a == 0 && b == 0 {
			return 0
		}
		return math.Mod(math.Atan2(b, a)/rad+360, 360)
	}
	h1, h2 := hue(a1, b1), hue(a2, b2)
	dh, hBar := h2-h1, (h1+h2)/2
	if c1*c2 == 0 {
		dh, hBar = 0, h1+h2
	} else if math.Abs(dh) > 180 {
		hBar += math.Copysign(180, 360-(h1+h2))
		dh -= math.Copysign(360, dh)
	}
	dL, dC, dH := l2-l1, c2-c1, 2*math.Sqrt(c1*c2)*math.Sin(dh/2*rad)
	lBar, cBar := (l1+l2)/2, (c1+c2)/2
	tt := 1 - 0.17*math.Cos((hBar-30)*rad) + 0.24*math.Cos(2*hBar*rad) + 0.32*math.Cos((3*hBar+6)*rad) - 0.2*math.Cos((4*hBar-63)*rad)
	sL := 1 + 0.015*(lBar-50)*(lBar-50)/math.Sqrt(20+(lBar-50)*(lBar-50))
	sC, sH := 1+0.045*cBar, 1+0.015*cBar*tt
	rT := -math.Sin(60*math.Exp(-math.Pow((hBar-275)/25, 2))*rad) * 2 * math.Sqrt(math.Pow(cBar, 7)/(math.Pow(cBar, 7)+math.Pow(25, 7)))
	return math.Sqrt(math.Pow(dL/sL, 2) + math.Pow(dC/sC, 2) + math.Pow(dH/sH, 2) + rT*dC/sC*dH/sH)
}

// TestColourDistance checks the arithmetic against pairs of the paper's own table.
func TestColourDistance(t *testing.T) {
	for _, p := range []struct{ l1, a1, b1, l2, a2, b2, want float64 }{
		{50, 2.6772, -79.7751, 50, 0, -82.7485, 2.0425},
		{50, 2.5, 0, 50, 0, -2.5, 4.3065},
		{50, 2.49, -0.001, 50, -2.49, 0.0009, 7.1792},
		{50, 2.49, -0.001, 50, -2.49, 0.0011, 7.2195},
		{60.2574, -34.0099, 36.2677, 60.4626, -34.1751, 39.4387, 1.2644},
		{2.0776, 0.0795, -1.135, 0.9033, -0.0636, -0.5514, 0.9082},
		{50, 2.5, 0, 73, 25, -18, 27.1492},
	} {
		if got := ciede2000(p.l1, p.a1, p.b1, p.l2, p.a2, p.b2); math.Abs(got-p.want) > 0.0001 {
			t.Errorf("%+v: got %.4f", p, got)
		}
	}
}

// themes reads the colours of both themes from the stylesheet.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	css := readStyles(t)["base.css"]
	block := func(pattern string) map[string]string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(css)
		if m == nil {
			t.Fatalf("base.css has no block like %s", pattern)
		}
		colours := map[string]string{}
		for _, v := range regexp.MustCompile(`--([a-z-]+):\s*(#[0-9a-f]{6});`).FindAllStringSubmatch(m[1], -1) {
			colours[v[1]] = v[2]
		}
		return colours
	}
	dark, chosen := block(`(?s):root:not\(\[data-theme="light"\]\) \{(.*?)\}`), block(`(?s):root\[data-theme="dark"\] \{(.*?)\}`)
	for name, c := range dark {
		if chosen[name] != c {
			t.Errorf("--%s is %s where the system is dark and %s where dark was chosen", name, c, chosen[name])
		}
	}
	return map[string]map[string]string{"light": block(`(?s)\n:root \{(.*?)\}`), "dark": dark}
}

var stateColours = []string{"st-empty", "st-prep", "st-comp", "st-stable", "st-dead", "err"}

func TestStatesStandOutFromBothBackgrounds(t *testing.T) {
	for theme, c := range themes(t) {
		for _, back := range []string{"bg", "panel"} {
			for _, name := range stateColours {
				if got := contrast(parseColour(t, c[name]), parseColour(t, c[back])); got < 3 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f, want 3 at least", theme, name, back, got)
				}
			}
			for _, name := range []string{"ink", "soft"} {
				if got := contrast(parseColour(t, c[name]), parseColour(t, c[back])); got < 4.5 {
					t.Errorf("%s: text in --%s on --%s has a contrast of %.2f, want 4.5 at least", theme, name, back, got)
				}
			}
		}
		for _, back := range []string{"fill", "wash"} {
			if got := contrast(parseColour(t, c["soft"]), parseColour(t, c[back])); got < 4.5 {
				t.Errorf("%s: text in --soft on --%s has a contrast of %.2f, want 4.5 at least", theme, back, got)
			}
		}
	}
}

func TestStatesDifferForEveryEye(t *testing.T) {
	want := map[string]float64{"light": 21.75, "dark": 19.35} // 21.8 and 19.4, rounded
	for theme, c := range themes(t) {
		for eye, matrix := range eyes {
			for i, a := range stateColours {
				for _, b := range stateColours[i+1:] {
					l1, a1, b1 := parseColour(t, c[a]).seen(matrix).lab()
					l2, a2, b2 := parseColour(t, c[b]).seen(matrix).lab()
					if got := ciede2000(l1, a1, b1, l2, a2, b2); got < want[theme] {
						t.Errorf("%s, %s: --%s and --%s are %.1f apart, want %.1f at least", theme, eye, a, b, got, want[theme])
					}
				}
			}
		}
	}
}

// TestTextAndFocusStandOut: text is never in a state's colour, what is written on ink can be read, and the ring around what
// has the focus, which is ink, stands out from everything that it may lie on.
func TestTextAndFocusStandOut(t *testing.T) {
	for theme, c := range themes(t) {
		for _, back := range []string{"bg", "panel", "fill", "wash", "line", "grid"} {
			if got := contrast(parseColour(t, c["ink"]), parseColour(t, c[back])); got < 4.5 {
				t.Errorf("%s: --ink on --%s has a contrast of %.2f, want 4.5 at least", theme, back, got)
			}
		}
		for _, paper := range []string{"bg", "panel"} { // a button and a glyph in ink, a timer in soft
			for _, ink := range []string{"ink", "soft"} {
				if got := contrast(parseColour(t, c[paper]), parseColour(t, c[ink])); got < 4.5 {
					t.Errorf("%s: --%s as text on --%s has a contrast of %.2f, want 4.5 at least", theme, paper, ink, got)
				}
			}
		}
	}
	ring := regexp.MustCompile(`(?s):focus-visible \{\s*outline: 2px solid var\(--ink\);\s*outline-offset: 2px;`)
	if !ring.MatchString(readStyles(t)["base.css"]) {
		t.Error("base.css: the ring of focus is not 2 pixels of ink, 2 pixels away")
	}
	coloured := regexp.MustCompile(`(?m)^\s*color:\s*var\(--(st|err)[a-z-]*\)`)
	for name, css := range readStyles(t) {
		for _, found := range coloured.FindAllString(css, -1) {
			t.Errorf("%s: text in a state's colour: %s", name, strings.TrimSpace(found))
		}
		for _, rule := range regexp.MustCompile(`(?m)^[^{}@]*\{[^{}]*\}`).FindAllString(css, -1) {
			head, body, _ := strings.Cut(rule, "{")
			if strings.Contains(body, "outline: none") && !strings.Contains(head, ":focus") {
				t.Errorf("%s: %s takes the ring of focus away", name, strings.TrimSpace(head))
			}
		}
	}
}

// TestB114_StatesDifferWithoutColour: by border and by icon, each from each, and a pill has the state's word.
func TestB114_StatesDifferWithoutColour(t *testing.T) {
	icons := map[string]string{}
	for _, st := range states {
		icon := render(t, stateIcon(st))
		shape := regexp.MustCompile(`class="icon [^"]*"`).ReplaceAllString(icon, "")
		for other, seen := range icons {
			if seen == shape {
				t.Errorf("%s and %s have the same icon", st, other)
			}
		}
		icons[string(st)] = shape
		g := &stage{m: &Model{}, o: Options{Lang: English}}
		if text := tagPattern.ReplaceAllString(render(t, statePill(g, st)), ""); !strings.Contains(text, string(st)) {
			t.Errorf("the pill of %s says %q", st, text)
		}
	}
	css := readStyles(t)["stage.css"]
	for _, rule := range []string{`\.pill\.st-empty \{\s*border-style: dotted`, `\.pill\.st-prep \{\s*border-style: dashed`, `\.pill\.st-comp \{\s*border-color: transparent`, `\.pill\.st-dead \{\s*border-style: double`} {
		if !regexp.MustCompile(rule).MatchString(css) {
			t.Errorf("stage.css has no rule like %s", rule)
		}
	}
}
