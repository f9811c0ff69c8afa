package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The tab is what a learner waits for: at most 2.0 MB with brotli at its best.
func TestTheTabKeepsItsBudget(t *testing.T) {
	raw, err := os.ReadFile("../dist/lab.wasm")
	if err != nil {
		t.Fatalf("%v; run make build, which make test does", err)
	}
	path := filepath.Join(t.TempDir(), "lab.wasm")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack(path, 11); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Stat(path + ".br")
	if err != nil {
		t.Fatal(err)
	}
	const budget = 2_000_000
	t.Logf("lab.wasm: %d bytes, brotli %d, budget %d", len(raw), packed.Size(), budget)
	if packed.Size() > budget {
		t.Errorf("lab.wasm has %d bytes with brotli; the budget is %d", packed.Size(), budget)
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	if err := pack(filepath.Join(t.TempDir(), "absent.wasm"), 9); err == nil {
		t.Error("packing a file that is not there went well")
	}
}
