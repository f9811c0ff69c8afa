package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Sections of a WebAssembly module, as its specification numbers them.
const (
	sectionData      = 11
	sectionDataCount = 12
)

// largest bounds the addresses that data may have, 64 MiB.
const largest = 64 << 20

// slim rewrites a program of the tab so that it compresses better, a tenth of the download, and does the same:
//
//   - its data is one piece: the Go linker cuts it into 100 000, to leave out short runs of zeros, and the offsets between
//     them cost more than the zeros do;
//   - its tables of source lines are gone: see noLines.
//
// A program that it does not know its way about in, of a Go that is newer than this, stays as it is: larger, and as good.
func slim(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out, err := slimmed(raw)
	if err != nil {
		fmt.Fprintf(os.Stderr, "pack: %s stays as large as it is: %v\n", path, err)
		return nil
	}
	fmt.Printf("%s: %.2f MB, without tables of lines\n", path, mb(out))
	return os.WriteFile(path, out, 0o755)
}

func slimmed(module []byte) ([]byte, error) {
	const preamble = 8 // the magic number and the version
	if len(module) < preamble || string(module[:4]) != "\x00asm" {
		return nil, errors.New("this is no WebAssembly module")
	}
	out := append([]byte(nil), module[:preamble]...)
	r := &reader{rest: module[preamble:]}
	seen := false
	for len(r.rest) > 0 {
		id := r.byte()
		body := r.take(r.uleb())
		switch {
		case r.err != nil:
			return nil, r.err
		case id == sectionDataCount:
			return nil, errors.New("it counts its pieces of data, which the Go linker did not do when this was written")
		case id == sectionData:
			start, memory, err := readData(body)
			if err != nil {
				return nil, err
			}
			if err := noLines(memory); err != nil {
				return nil, err
			}
			body, seen = writeData(start, memory), true
		}
		out = binary.AppendUvarint(append(out, id), uint64(len(body)))
		out = append(out, body...)
	}
	if !seen {
		return nil, errors.New("it has no data")
	}
	return out, nil
}

// readData is what a data section puts into memory, and from which address on.
func readData(body []byte) (start int, memory []byte, err error) {
	type piece struct {
		at   int
		data []byte
	}
	var pieces []piece
	r := &reader{rest: body}
	start, end := largest, 0
	for range r.uleb() {
		if mode, constant := r.byte(), r.byte(); r.err == nil && (mode != 0 || constant != 0x41) {
			return 0, nil, errors.New("a piece of data is not put at a constant address of the first memory")
		}
		at := r.uleb() // signed there; addresses of a program are far below the sign
		r.byte()       // the end of the address
		data := r.take(r.uleb())
		if r.err != nil {
			return 0, nil, r.err
		}
		pieces = append(pieces, piece{at, data})
		start, end = min(start, at), max(end, at+len(data))
	}
	if r.err != nil || end > largest {
		return 0, nil, errors.Join(r.err, fmt.Errorf("its data ends at %d", end))
	}
	memory = make([]byte, max(end-start, 0))
	for _, p := range pieces {
		copy(memory[p.at-start:], p.data)
	}
	return start, memory, nil
}

// writeData is the data section that puts memory at start, in one piece.
func writeData(start int, memory []byte) []byte {
	out := []byte{1, 0, 0x41}
	out = appendSleb(out, start)
	out = append(out, 0x0b)
	out = binary.AppendUvarint(out, uint64(len(memory)))
	return append(out, memory...)
}

// appendSleb appends a number >= 0 as WebAssembly's signed LEB128.
func appendSleb(out []byte, n int) []byte {
	for n >= 0x40 {
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}

// reader reads a module; after its first error it reads nothing more.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.rest) {
		r.fail()
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// uleb is a number of at most 31 bits: lengths and addresses of a program are smaller.
func (r *reader) uleb() int {
	n, size := binary.Uvarint(r.rest)
	if r.err != nil || size <= 0 || n > 1<<31-1 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errors.New("the module ends too early, or a number in it is too large")
	}
	r.rest = nil
}
