package tab

import (
	"runtime"
	"runtime/debug"
)

const (
	// gcPercent lets the heap grow to five times what lives before garbage is looked for: a tab has one thread, so marking
	// delays the picture, and what lives in a lesson is small.
	gcPercent = 400
	// heapLimit is where the collector stops being so patient.
	heapLimit = 384 << 20
	// heapAtOnce is asked of the browser in one piece. Otherwise the heap grows by half a megabyte a time, and each time
	// the browser replaces the view of the memory and looks for garbage of its own. Pages that are never touched cost
	// nothing.
	heapAtOnce = 256 << 20
)

// PrepareHeap fits the collector and the heap to a tab. The page's program calls it once, first of all.
func PrepareHeap() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(heapLimit)
	room := make([]byte, heapAtOnce)
	runtime.KeepAlive(room)
	room = nil
	runtime.GC() // the room is free from now on
}
