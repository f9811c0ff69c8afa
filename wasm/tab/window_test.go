package tab

import (
	"testing"

	"grouplab/static/view"
)

// TestTheTimelineFitsItsPart: words are left out by the width that the timeline has, not by that of the window, beside which a list or a
// lesson may stand.
func TestTheTimelineFitsItsPart(t *testing.T) {
	d := openSandbox(t)
	for _, c := range []struct {
		told   string
		px     int
		layout view.Layout
	}{{"1440 1100", 968, view.LayoutWide}, {"1440", 1308, view.LayoutWide}, {"800 0", 668, view.LayoutWide}, {"390 390", 300, view.LayoutNarrow}, {"nonsense", 300, view.LayoutNarrow}} {
		d.Do("window", c.told)
		if o := d.options; o.ChartPx != c.px || o.Layout != c.layout {
			t.Errorf("%q: a timeline of %d px, %s", c.told, o.ChartPx, o.Layout)
		}
	}
}
