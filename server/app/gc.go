package app

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much garbage may lie about, in hundredths of what lives. What lives is small beside any machine's
// memory (the last 100 000 facts, the logs), and every request makes garbage: the default would mark the same facts a
// hundred times a second under load.
const gcPercent = 400

// TuneGC gives the collector the room that a server of its own process can have. GOGC, where it is set, says otherwise.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
