package app

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grouplab/coordinator/log"
)

// packedWith packs bytes with each codec; snappy comes in the plain form and in Java's framing.
func packedWith(t testing.TB, plain []byte) map[string]struct {
	codec log.Codec
	data  []byte
} {
	t.Helper()
	var gz, lz bytes.Buffer
	zw := gzip.NewWriter(&gz)
	zw.Write(plain)
	zw.Close()
	lw := lz4.NewWriter(&lz)
	lw.Write(plain)
	lw.Close()
	zs, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	framed := append([]byte(nil), xerial...)
	framed = append(framed, 0, 0, 0, 1, 0, 0, 0, 1)
	for rest := plain; len(rest) > 0; {
		n := min(len(rest), 1000)
		block := s2.EncodeSnappy(nil, rest[:n])
		framed = append(framed, byte(len(block)>>24), byte(len(block)>>16), byte(len(block)>>8), byte(len(block)))
		framed, rest = append(framed, block...), rest[n:]
	}
	type packed = struct {
		codec log.Codec
		data  []byte
	}
	return map[string]packed{"gzip": {log.Gzip, gz.Bytes()}, "lz4": {log.LZ4, lz.Bytes()}, "zstd": {log.Zstd, zs.EncodeAll(plain, nil)},
		"snappy": {log.Snappy, s2.EncodeSnappy(nil, plain)}, "snappy of Java": {log.Snappy, framed}}
}

// TestDecompress: what was packed comes out again; cut, torn and boastful bytes are errors that cost no memory.
func TestDecompress(t *testing.T) {
	plain := []byte(strings.Repeat("some words, again and again; ", 200))
	for how, p := range packedWith(t, plain) {
		got, err := decompress(p.codec, p.data, len(plain))
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes, %v", how, len(got), err)
		}
		if _, err := decompress(p.codec, p.data, len(plain)-1); err == nil {
			t.Errorf("%s: more than was allowed came out", how)
		}
		if got, err := decompress(p.codec, p.data[:len(p.data)/2], len(plain)); err == nil && bytes.Equal(got, plain) {
			t.Errorf("%s: half of it gave all of it", how)
		}
		if _, err := decompress(p.codec, []byte("these are no packed bytes at all"), 1<<20); err == nil {
			t.Errorf("%s: nonsense was unpacked", how)
		}
	}
	boast := make([]byte, 300<<20)
	for how, p := range packedWith(t, boast) {
		if len(p.data) > 100<<20 {
			continue
		}
		if _, err := decompress(p.codec, p.data, 1<<20); err == nil {
			t.Errorf("%s: 300 MB came out of %d bytes", how, len(p.data))
		}
	}
	if _, err := decompress(7, nil, 10); err == nil {
		t.Error("there is no codec 7")
	}
}

// FuzzDecompress: whatever comes, nothing crashes, and nothing larger than allowed comes out.
func FuzzDecompress(f *testing.F) {
	for _, p := range packedWith(f, []byte("hello hello hello hello")) {
		f.Add(int8(p.codec), p.data)
	}
	f.Fuzz(func(t *testing.T, codec int8, data []byte) {
		if got, err := decompress(log.Codec(codec), data, 1<<16); err == nil && len(got) > 1<<16 {
			t.Fatalf("%d bytes came out", len(got))
		}
	})
}

// TestLargeBatchesTakeTurns: many producers whose small batches become large ones are checked with the memory of a few.
func TestLargeBatchesTakeTurns(t *testing.T) {
	const size, producers = 24 << 20, 24
	value := make([]byte, size)
	plain := log.Encode(log.Producer{ID: -1, Epoch: -1, BaseSequence: -1}, 0, []log.Record{{Value: value}})
	for how, p := range packedWith(t, plain[log.HeaderBytes:]) {
		batch := append(append([]byte(nil), plain[:log.HeaderBytes]...), p.data...)
		binary.BigEndian.PutUint32(batch[8:], uint32(len(batch)-12))
		binary.BigEndian.PutUint16(batch[21:], uint16(p.codec))
		runtime.GC() // of what the packing has left
		var checks sync.WaitGroup
		for range producers {
			checks.Go(func() {
				if code, message := checkBatch(batch); code != 0 {
					t.Errorf("%s: %d %s", how, code, message)
				}
			})
		}
		most, done := uint64(0), make(chan struct{})
		go func() { checks.Wait(); close(done) }()
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}
		if most >= producers*size { // all of them at once hold that at least; the race detector keeps more garbage
			t.Errorf("%s: %d producers of %d bytes each took %d", how, producers, size, most)
		}
	}
}
