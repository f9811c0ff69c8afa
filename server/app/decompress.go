package app

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grouplab/coordinator/log"
)

// decompress opens the records of a batch, to at most maxBytes: a few bytes may say that they become very many.
func decompress(codec log.Codec, packed []byte, maxBytes int) ([]byte, error) {
	return decompressInto(nil, codec, packed, maxBytes)
}

// decompressInto is decompress in the room of a slice whose content is no longer needed, where that is large enough.
func decompressInto(room []byte, codec log.Codec, packed []byte, maxBytes int) ([]byte, error) {
	switch codec {
	case log.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readUpTo(room, r, maxBytes)
	case log.Snappy:
		return unsnappy(room, packed, maxBytes)
	case log.LZ4:
		return readUpTo(room, lz4.NewReader(bytes.NewReader(packed)), maxBytes)
	case log.Zstd:
		return unzstd(room, packed, maxBytes)
	}
	return nil, fmt.Errorf("no compression has number %d", codec)
}

var errTooLarge = errors.New("they are too many when they are unpacked")

func readUpTo(room []byte, r io.Reader, maxBytes int) ([]byte, error) {
	plain := room[:0]
	for {
		if len(plain) == cap(plain) {
			plain = slices.Grow(plain, max(512, min(len(plain), maxBytes+1-len(plain))))
		}
		n, err := r.Read(plain[len(plain):min(cap(plain), len(plain)+1<<20)])
		plain = plain[:len(plain)+n]
		switch {
		case len(plain) > maxBytes:
			return plain, errTooLarge
		case err == io.EOF:
			return plain, nil
		case err != nil:
			return plain, err
		}
	}
}

// xerial begins the framing that Java's snappy puts around blocks: the mark, two versions, then blocks after their length.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

func unsnappy(room, packed []byte, maxBytes int) ([]byte, error) {
	if !bytes.HasPrefix(packed, xerial) {
		return unsnapBlock(room[:0], packed, maxBytes)
	}
	if len(packed) < 16 {
		return nil, io.ErrUnexpectedEOF
	}
	plain := room[:0]
	for rest := packed[16:]; len(rest) > 0; {
		if len(rest) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := binary.BigEndian.Uint32(rest)
		if rest = rest[4:]; uint64(size) > uint64(len(rest)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if plain, err = unsnapBlock(plain, rest[:size], maxBytes); err != nil {
			return nil, err
		}
		rest = rest[size:]
	}
	return plain, nil
}

// unsnapBlock appends one block to what came before.
func unsnapBlock(before, block []byte, maxBytes int) ([]byte, error) {
	size, err := s2.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if size > maxBytes-len(before) {
		return nil, errTooLarge
	}
	before = slices.Grow(before, size)
	plain, err := s2.Decode(before[len(before):len(before)+size], block)
	return before[:len(before)+len(plain)], err
}

// zstdReaders are kept: one is large, and can be used again. freeZstdReaders stop at freelyUnpacked.
var zstdReaders, freeZstdReaders = newZstdReaders(log.MaxUnpackedBytes), newZstdReaders(freelyUnpacked)

func newZstdReaders(maxBytes uint64) *sync.Pool {
	return &sync.Pool{New: func() any {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic("app: these options of a zstd reader are right: " + err.Error())
		}
		return r
	}}
}

func unzstd(room, packed []byte, maxBytes int) ([]byte, error) {
	readers := zstdReaders
	if maxBytes <= freelyUnpacked {
		readers = freeZstdReaders
	}
	r := readers.Get().(*zstd.Decoder)
	defer readers.Put(r)
	plain, err := r.DecodeAll(packed, room[:0])
	if err == nil && len(plain) > maxBytes {
		err = errTooLarge
	}
	return plain, err
}

const (
	// freelyUnpacked is what every connection may unpack a batch to at the same time as all others. Larger ones take turns:
	// with some kilobytes each, many connections together could else ask for any amount of memory.
	freelyUnpacked = 1 << 20
	largeAtOnce    = 2
)

// rooms are *[]byte to unpack into. Those of largeRooms are the turns, too, and are kept: as garbage they would pile up
// faster than it is collected.
var (
	rooms      = sync.Pool{New: func() any { return new([]byte) }}
	largeRooms = func() chan *[]byte {
		turns := make(chan *[]byte, largeAtOnce)
		for range largeAtOnce {
			turns <- new([]byte)
		}
		return turns
	}()
)

// checkBatch looks into a compressed batch that a producer sent. It runs on the goroutine of its connection.
func checkBatch(batch []byte) (code int16, message string) {
	room := rooms.Get().(*[]byte)
	wrong := checkIn(room, batch, freelyUnpacked)
	rooms.Put(room)
	if wrong != nil { // or too large for that
		wrong = checkLarge(batch)
	}
	if wrong != nil {
		return wrong.Code, wrong.Reason
	}
	return 0, ""
}

func checkLarge(batch []byte) *log.Error {
	room := <-largeRooms
	defer func() { largeRooms <- room }()
	return checkIn(room, batch, log.MaxUnpackedBytes)
}

// checkIn unpacks in room that can be used again: the check keeps nothing of it.
func checkIn(room *[]byte, batch []byte, maxBytes int) *log.Error {
	return log.CheckCompressed(batch, func(codec log.Codec, packed []byte, most int) ([]byte, error) {
		plain, err := decompressInto(*room, codec, packed, min(maxBytes, most))
		if cap(plain) > cap(*room) {
			*room = plain[:0]
		}
		return plain, err
	})
}
