package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A slim program is smaller and does the same, also with its stack, its garbage and its panics; only where a line was
// written it has forgotten.
func TestASlimProgramDoesTheSame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "program.wasm")
	build := exec.Command("go", "build", "-o", path, "./testdata/program")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, size := runProgram(t, path), packedSize(t, path)
	if err := slim(path); err != nil {
		t.Fatal(err)
	}
	after, slimSize := runProgram(t, path), packedSize(t, path)
	want, place, _ := strings.Cut(before, "at ")
	if !strings.HasPrefix(place, "main.go ") || !strings.Contains(want, "index out of range [7] with length 3") || !strings.Contains(want, "main.index.func1") {
		t.Fatalf("the program said\n%s", before)
	}
	if after != want+"at ? 0\n" {
		t.Errorf("it said\n%s\nslim it says\n%s", before, after)
	}
	if slimSize > size*9/10 {
		t.Errorf("slim it has %d bytes with brotli, before %d: less than a tenth was saved", slimSize, size)
	}
}

func runProgram(t *testing.T, path string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec"), path)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v; it needs node, which make setup looks for\n%s", err, out)
	}
	return string(out)
}

func packedSize(t *testing.T, path string) int {
	t.Helper()
	if err := pack(path, 5); err != nil {
		t.Fatal(err)
	}
	br, err := os.ReadFile(path + ".br")
	if err != nil {
		t.Fatal(err)
	}
	return len(br)
}

// A file that is no program of Go's is refused with what it lacks, never cut short.
func TestWhatIsNoProgramIsNotSlimmed(t *testing.T) {
	module := func(sections ...[]byte) []byte {
		return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
	}
	long := append([]byte{1, 0, 0x41, 16, 0x0b, 100}, make([]byte, 100)...)
	copy(long[6:], funcMagic)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"nothing", "no WebAssembly", nil},
		{"text", "no WebAssembly", []byte("#!/bin/sh\n")},
		{"no data", "no data", module()},
		{"cut short", "ends too early", module([]byte{sectionData, 100, 1})},
		{"counted data", "counts its pieces", module([]byte{sectionDataCount, 1, 1})},
		{"data far away", "ends at", module([]byte{sectionData, 10, 1, 0, 0x41, 0xff, 0xff, 0xff, 0xff, 0x07, 0x0b, 0})},
		{"data elsewhere", "first memory", module([]byte{sectionData, 6, 1, 2, 0x41, 0, 0x0b, 0})},
		{"not Go's", "no table of functions", module([]byte{sectionData, 7, 1, 0, 0x41, 0, 0x0b, 1, 'x'})},
		{"another Go's", "not where", module([]byte{sectionData, byte(len(long))}, long)},
	} {
		out, err := slimmed(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v; want an error with %q", c.name, len(out), err, c.want)
		}
	}
}

func TestAnUnknownProgramStaysAsItIs(t *testing.T) {
	path, text := filepath.Join(t.TempDir(), "program.wasm"), "a format of another day"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := slim(path); err != nil {
		t.Error("a build would stop:", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if err := slim(path + ".missing"); err == nil {
		t.Error("a missing program is no error")
	}
}
