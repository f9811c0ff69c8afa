package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The table of functions in a Go program, as runtime/symtab.go and runtime/runtime2.go (pcHeader, _func) have it since Go 1.20.
const (
	funcMagic  = "\xf1\xff\xff\xff\x00\x00\x01\x08" // abi.Go120PCLnTabMagic, two zeros, one byte an instruction, eight a pointer
	headerSize = 8 + 8*8
	funcSize   = 44 // of _func, before the offsets of its tables
	noTable    = 0  // an offset that stands for no table

	offPcsp, offPcfile, offPcln, offPcdata, offUnit, offStartLine, offFacts = 16, 20, 24, 28, 32, 36, 43

	unsafePoint  = 0 // abi.PCDATA_UnsafePoint
	argLiveIndex = 3 // abi.PCDATA_ArgLiveIndex
	argInfo      = 5 // abi.FUNCDATA_ArgInfo
	argLiveInfo  = 6 // abi.FUNCDATA_ArgLiveInfo
	noFact       = ^uint32(0)
)

// noLines takes out of the table of functions what says in which file and line an instruction was written, and where a
// goroutine must not be interrupted, which nothing does in WebAssembly, and how a trace prints arguments. A trace then names
// functions, with "?" for the place; the page shows no trace. What the garbage collector and the stack need is moved together.
func noLines(memory []byte) error {
	at := bytes.Index(memory, []byte(funcMagic))
	if at < 0 || at+headerSize > len(memory) {
		return errors.New("no table of functions as Go 1.20 to 1.26 have it; see what runtime.pcHeader has become")
	}
	head := func(i int) int { return int(binary.LittleEndian.Uint64(memory[at+8+8*i:])) }
	t := table{memory: memory[at:], functions: head(0), cutab: head(4), pctab: head(6), pcln: head(7), known: map[string]uint32{}, packed: []byte{noTable}}
	if t.functions <= 0 || !(headerSize <= head(3) && head(3) < t.cutab && t.cutab < head(5) && head(5) < t.pctab && t.pctab < t.pcln) ||
		t.pcln > len(t.memory) || t.functions > (len(t.memory)-t.pcln)/8 {
		return errors.New("the parts of the table of functions are not where runtime.pcHeader has them")
	}
	last := 0
	for i := range t.functions {
		off := int(t.uint32(t.pcln + 8*i + 4))
		if off <= last {
			return fmt.Errorf("function %d: it begins at %d, where another is", i, off)
		}
		if err := t.shorten(t.pcln + off); err != nil {
			return fmt.Errorf("function %d: %w", i, err)
		}
		last = off
	}
	if len(t.packed) > t.pcln-t.pctab {
		return errors.New("the tables that are kept are larger than all were")
	}
	// cutab and filetab, the names of files, lie before pctab.
	clear(t.memory[t.cutab:t.pcln])
	copy(t.memory[t.pctab:], t.packed)
	return nil
}

// table is the table of functions; offsets are from its start.
type table struct {
	memory             []byte
	functions          int
	cutab, pctab, pcln int
	// packed are the tables that stay, each once; known says where each is.
	packed []byte
	known  map[string]uint32
}

func (t *table) uint32(at int) uint32 { return binary.LittleEndian.Uint32(t.memory[at:]) }

func (t *table) set(at int, v uint32) { binary.LittleEndian.PutUint32(t.memory[at:], v) }

// shorten takes lines, files and arguments from the function at an offset and moves the tables that it keeps.
func (t *table) shorten(at int) error {
	if at+funcSize > len(t.memory) {
		return errors.New("it lies outside of the data")
	}
	tables, facts := int(t.uint32(at+offPcdata)), int(t.memory[at+offFacts])
	if at+funcSize+4*(tables+facts) > len(t.memory) {
		return errors.New("its tables lie outside of the data")
	}
	for _, field := range []int{offPcfile, offPcln, offUnit, offStartLine} {
		t.set(at+field, noTable)
	}
	if err := t.keep(at + offPcsp); err != nil {
		return err
	}
	for i := range tables {
		field := at + funcSize + 4*i
		if i == unsafePoint || i == argLiveIndex {
			t.set(field, noTable)
			continue
		}
		if err := t.keep(field); err != nil {
			return err
		}
	}
	for _, i := range []int{argInfo, argLiveInfo} {
		if i < facts {
			t.set(at+funcSize+4*(tables+i), noFact)
		}
	}
	return nil
}

// keep moves the table whose offset stands in a field.
func (t *table) keep(field int) error {
	off := int(t.uint32(field))
	if off == noTable {
		return nil
	}
	if t.pctab+off >= t.pcln {
		return fmt.Errorf("a table at %d is outside of pctab", off)
	}
	from := t.memory[t.pctab+off : t.pcln]
	size, err := tableSize(from)
	if err != nil {
		return err
	}
	to, ok := t.known[string(from[:size])]
	if !ok {
		to = uint32(len(t.packed))
		t.known[string(from[:size])] = to
		t.packed = append(t.packed, from[:size]...)
	}
	t.set(field, to)
	return nil
}

// tableSize is the length of a table of pairs (change of value, change of instruction), which a change of value by 0 ends
// that is not the first (runtime.step).
func tableSize(b []byte) (int, error) {
	for at, first := 0, true; ; first = false {
		if at < len(b) && b[at] == 0 && !first {
			return at + 1, nil
		}
		for range 2 {
			_, n := binary.Uvarint(b[min(at, len(b)):])
			if n <= 0 {
				return 0, errors.New("a table has no end")
			}
			at += n
		}
	}
}
