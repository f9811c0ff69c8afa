package e2e

import (
	"testing"
	"time"
)

// A learner goes another way, compares both, asks why and inspects, with the keyboard and the buttons of the page.
func TestALearnerBranchesComparesAndAsksWhy(t *testing.T) {
	page := open(t, labServer(t)+"/lab/unclean-restart", 1440, 900)
	page.until("the lesson to be usable", `performance.getEntriesByName("grouplab-ready").length`, 30*time.Second)
	click := func(what, selector string) {
		t.Helper()
		page.until(what, `!!document.querySelector('`+selector+`')`, 10*time.Second)
		eval[bool](page, `(document.querySelector('`+selector+`').click(), true)`)
	}
	click("taking over", `[data-do="take-over"]`)
	click("c2 to be killed", `[data-do="kill"][data-arg="c2"]`)
	page.press("t") // its session runs out
	page.until("the death to be noticed", `document.querySelector('.fact').textContent.includes('OperationCompleted')`, 10*time.Second)
	page.press("y")
	page.until("the chain of causes", `document.querySelector('.why-card .why-root') !== null`, 10*time.Second)
	page.press("Escape")
	page.until("the chain to close", `document.querySelector('.why-card') === null`, 10*time.Second)
	page.press("u")
	page.until("what was undone to be a branch", `document.querySelectorAll('.rail').length === 1`, 10*time.Second)
	click("c2 to be stopped", `[data-do="stop"][data-arg="c2"]`)
	click("the comparison", `.rail [data-do="compare"]`)
	page.until("two runs on one axis", `document.querySelectorAll('.compare-run').length === 2`, 10*time.Second)
	page.press("Escape")
	page.until("the comparison to close", `document.querySelector('.compare') === null`, 10*time.Second)
	click("a record of the tape", `.record-card`)
	page.until("its bytes and its code", `document.querySelectorAll('.raw tr').length > 3 && document.querySelector('.card-code') !== null`, 10*time.Second)
	page.quiet()
}
