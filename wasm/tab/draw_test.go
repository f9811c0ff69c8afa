package tab

import (
	"bytes"
	"context"
	"testing"
)

// TestPartsTakeTurns: while time passes no frame draws more than its share, nothing stays behind for long, and what is out of sight
// is seldom drawn. Once time stands every part shows the moment.
func TestPartsTakeTurns(t *testing.T) {
	d := crowd(t, 60)
	d.frame(16)
	d.do("sight", "transcript")
	d.do("play", "")
	d.frame(16)
	began, unseen, drawn := d.wall, 0, 0
	for d.wall < began+2000 {
		room := frameBytes
		for i, p := range d.frame(16).Patches {
			if room <= 0 {
				t.Fatalf("the patch %d of a frame, of %s, comes when the frame is full", i, p.ID)
			}
			room -= len(p.HTML)
			if drawn++; p.ID == "part-transcript" {
				unseen++
			}
		}
		for id, at := range d.Tab.drawn {
			if id != "transcript" && d.wall-at > rareMs+clockMs {
				t.Fatalf("%s was not looked at for %d ms", id, d.wall-at)
			}
		}
	}
	if unseen > 2 || drawn < 30 {
		t.Errorf("%d patches in two seconds, %d of them of what nobody sees", drawn, unseen)
	}
	d.do("pause", "")
	d.frame(16)
	for _, p := range d.mode.parts(d.fill(), d.options) {
		var b bytes.Buffer
		if err := p.Component.Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		if b.String() != d.html[p.ID] {
			t.Errorf("time stands, and %s does not show the moment", p.ID)
		}
	}
}

// TestWhatComesIntoSightIsDrawn with one of the next frames.
func TestWhatComesIntoSightIsDrawn(t *testing.T) {
	d := crowd(t, 60)
	d.frame(16)
	d.do("sight", "transcript ledger")
	d.do("play", "")
	for range 20 {
		d.frame(16)
	}
	from := d.wall
	d.do("sight", "ledger")
	for range 5 {
		d.frame(16)
	}
	if d.Tab.drawn["transcript"] <= from || d.Tab.drawn["ledger"] > from {
		t.Errorf("six frames later the transcript was drawn %d ms ago, the ledger %d", d.wall-d.Tab.drawn["transcript"], d.wall-d.Tab.drawn["ledger"])
	}
}
