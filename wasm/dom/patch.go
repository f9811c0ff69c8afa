//go:build js

package dom

// patch shows a part's new HTML. patch.js does it, and keeps what the viewer has there: focus, scroll positions and what was
// unfolded.
func (p *page) patch(patch Patch) {
	perMs := 0.0
	if p.move.den != 0 {
		perMs = float64(p.move.num) / float64(p.move.den)
	}
	global("grouplab").call("patch", patch.ID, patch.HTML, p.scrub.v, perMs)
}
