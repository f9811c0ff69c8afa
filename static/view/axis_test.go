package view

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestAxisIsMonotoneAndInvertible: later is never further left, and what a pointer picks on an open stretch is what stands
// there.
func TestAxisIsMonotoneAndInvertible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, 1<<41).Draw(t, "start")
		moments := []int64{at}
		for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, 400000), 1, 40).Draw(t, "gaps") {
			at += gap
			moments = append(moments, at)
		}
		a := foldedAxis(moments)
		last := -1.0
		for i, m := range moments {
			x := a.X(m)
			if x < last || x < 0 || x > 1 {
				t.Fatalf("moment %d at %f, the one before at %f", i, x, last)
			}
			last = x
		}
		for _, f := range []float64{0, 0.1, 0.33, 0.5, 0.77, 1} {
			ms := a.At(f)
			if ms < a.lowMs || ms > a.highMs {
				t.Fatalf("fraction %f leads to %d, outside of %d to %d", f, ms, a.lowMs, a.highMs)
			}
			if x := a.X(ms); x < f-0.02 || x > f+0.02 {
				t.Fatalf("fraction %f leads to %d, which stands at %f", f, ms, x)
			}
		}
	})
}

func TestIdleStretchesAreFolded(t *testing.T) {
	n := galleryNamed("unclean-restart")
	a := TimelineAxis(n.Model, n.Options)
	folds := 0
	for _, p := range a.pieces {
		if p.Folded {
			folds++
		}
	}
	if folds != 1 {
		t.Errorf("got %d folds, want the one between the third generation and the kill", folds)
	}
	if wait, idle := a.X(78204)-a.X(75104), a.X(70000)-a.X(20000); wait < 2*idle {
		t.Errorf("three seconds of waiting take %.3f of the width, fifty idle ones %.3f", wait, idle)
	}
	if x := a.X(n.Model.NowMs); x < 0.5 || x > 0.95 {
		t.Errorf("the cursor stands at %.2f", x)
	}
}

// TestNoTimeStandsOnAFold: the words of a grid line and those of a fold keep apart, whatever the width of the picture.
func TestNoTimeStandsOnAFold(t *testing.T) {
	n := galleryNamed("unclean-restart")
	for px := 300; px < 1500; px += 7 {
		o := n.Options
		o.ChartPx = px
		s := newStage(n.Model, o)
		f := s.frame()
		for _, fold := range s.folds(f) {
			for _, l := range s.gridLines(f) {
				if apart := math.Abs(l.X-fold.X) - (f.wide(l.Text)+f.wide(fold.Text))/2; l.Text != "" && apart < 0 {
					t.Fatalf("at %d px %q stands on %q: %.1f px", px, l.Text, fold.Text, apart*float64(px))
				}
			}
		}
	}
}

func TestTheFutureThatIsKnownIsShown(t *testing.T) {
	n := galleryNamed("rewound")
	a := TimelineAxis(n.Model, n.Options)
	if a.highMs < n.Options.Head.NowMs {
		t.Errorf("the axis ends at %d, before the head at %d", a.highMs, n.Options.Head.NowMs)
	}
	if got := a.At(a.X(12002)); got < 11900 || got > 12100 {
		t.Errorf("a click on the start of c3 leads to %d ms", got)
	}
}

func TestGridWordsAreWhole(t *testing.T) {
	f := &frame{Axis: Axis{}, px: 948}
	for text, want := range map[string]float64{"11:22:05.8": f.wide("11:22:05.8") / 2, "00:06": f.wide("00:06") / 2} {
		if f.roomFor(want-0.001, text) || f.roomFor(1-want+0.001, text) {
			t.Errorf("%q is cut at the edge", text)
		}
		if !f.roomFor(want+0.005, text) {
			t.Errorf("%q has room at the left edge and is left out", text)
		}
	}
}
