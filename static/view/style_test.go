package view

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func readStyles(t *testing.T) map[string]string {
	t.Helper()
	styles := map[string]string{}
	for _, name := range stylesheets {
		text, err := os.ReadFile(filepath.Join("..", "assets", name))
		if err != nil {
			t.Fatal(err)
		}
		styles[name] = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
	}
	return styles
}

// TestNoTextIsSmallerThanTwelvePixels reads every size of type in the stylesheets and in the components.
func TestNoTextIsSmallerThanTwelvePixels(t *testing.T) {
	size := regexp.MustCompile(`(?:font-size:\s*|font:[^;]*?\s)([0-9.]+)(px|em|rem|%|pt)`)
	found := 0
	for name, css := range readStyles(t) {
		for _, m := range size.FindAllStringSubmatch(css, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			found++
			switch {
			case m[2] == "px" && n < 12, m[2] == "em" && n < 0.86, m[2] == "rem" && n < 0.75, m[2] == "%", m[2] == "pt":
				t.Errorf("%s: %q is smaller than 12 px, or not sure to be as large", name, m[0])
			}
		}
		if strings.Contains(css, "font-size: small") || strings.Contains(css, "font-size: x") {
			t.Errorf("%s: a size of type by name", name)
		}
	}
	if found < 60 {
		t.Errorf("only %d sizes found: the pattern misses most", found)
	}
	for _, n := range pictures(t) {
		if html := stageHTML(t, n.Model, n.Options); strings.Contains(html, "font-size") || strings.Contains(html, "textLength") {
			t.Errorf("%s: a size of type in the markup", n.Name)
		}
	}
}

// TestOnlyOpacityAndTransformMove, and only where motion is wanted.
func TestOnlyOpacityAndTransformMove(t *testing.T) {
	wanted := regexp.MustCompile(`(?s)@media \(prefers-reduced-motion: no-preference\) \{.*?\n\}\n`)
	for name, css := range readStyles(t) {
		for _, m := range regexp.MustCompile(`transition:([^;]+);`).FindAllStringSubmatch(css, -1) {
			for _, part := range strings.Split(m[1], ",") {
				if p := strings.Fields(part)[0]; p != "opacity" && p != "transform" {
					t.Errorf("%s: a transition of %s", name, p)
				}
			}
		}
		for _, m := range regexp.MustCompile(`(?s)@keyframes \w+ \{(.*?)\n\}`).FindAllStringSubmatch(css, -1) {
			for _, p := range regexp.MustCompile(`([a-z-]+):`).FindAllStringSubmatch(m[1], -1) {
				if p[1] != "opacity" && p[1] != "transform" {
					t.Errorf("%s: an animation of %s", name, p[1])
				}
			}
		}
		rest := wanted.ReplaceAllString(css, "")
		if strings.Contains(rest, "transition:") || strings.Contains(rest, "animation:") || strings.Contains(rest, "scroll-behavior") {
			t.Errorf("%s: motion outside of prefers-reduced-motion: no-preference", name)
		}
		for _, block := range wanted.FindAllString(css, -1) {
			for _, rule := range regexp.MustCompile(`(?m)^  [^ @}].*\{`).FindAllString(block, -1) {
				if !strings.Contains(rule, `[data-motion="none"]`) {
					t.Errorf("%s: %q moves although the viewer chose none", name, rule)
				}
			}
		}
		if strings.Contains(css, "http:") || strings.Contains(css, "https:") || strings.Contains(css, "@import") || strings.Contains(css, "!important") {
			t.Errorf("%s: something from elsewhere, or a rule that shouts", name)
		}
	}
}

// TestEveryClassHasAStyle finds classes in the markup that no stylesheet knows: mistyped, or left over.
func TestEveryClassHasAStyle(t *testing.T) {
	all := ""
	for _, css := range readStyles(t) {
		all += css
	}
	// Marks for which the plain look is the look.
	plain := map[string]bool{"row-member": true, "row-lonely": true, "st-unknown": true, "observed": true, "committed": true, "owner-leader": true,
		"owner-behind": true, "clause": true, "truth": true, "chart-band-label": true, "col-clients": true, "hints": true, "hint": true, "doing": true, "headline-generation": true,
		"chip-owned": true, "broker-id": true, "thread-overwrites": true, "siding-state": true, "clean-kept": true, "clean-superseded": true, "clean-tombstone": true, "clean-marker": true}
	seen := map[string]string{}
	for _, n := range pictures(t) {
		for _, tg := range tags(stageHTML(t, n.Model, n.Options)) {
			for _, c := range strings.Fields(tg.attrs["class"]) {
				seen[c] = n.Name
			}
		}
	}
	for c, where := range seen {
		if !plain[c] && !regexp.MustCompile(`\.`+regexp.QuoteMeta(c)+`\b`).MatchString(all) && !strings.HasPrefix(c, "sign-") && !strings.HasPrefix(c, "ring-") {
			t.Errorf("%s: no stylesheet knows the class %q", where, c)
		}
	}
}
