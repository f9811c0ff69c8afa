package sim

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMain fits the heap as the tab does (wasm/tab.PrepareHeap), so that what is measured in WASM is what a tab takes: a
// heap that grows step by step makes the browser look for garbage of its own each time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	room := make([]byte, 256<<20)
	runtime.KeepAlive(room)
	room = nil
	runtime.GC()
	os.Exit(m.Run())
}
