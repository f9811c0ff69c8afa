package app

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grouplab/coordinator/log"
)

// decompress opens the records of a batch, to at most maxBytes: a few bytes may say that they become very many.
func decompress(codec log.Codec, packed []byte, maxBytes int) ([]byte, error) {
	switch codec {
	case log.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readUpTo(r, maxBytes)
	case log.Snappy:
		return unsnappy(packed, maxBytes)
	case log.LZ4:
		return readUpTo(lz4.NewReader(bytes.NewReader(packed)), maxBytes)
	case log.Zstd:
		return unzstd(packed, maxBytes)
	}
	return nil, fmt.Errorf("no compression has number %d", codec)
}

var errTooLarge = errors.New("they are too many when they are unpacked")

func readUpTo(r io.Reader, maxBytes int) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, int64(maxBytes)+1))
	if err == nil && len(plain) > maxBytes {
		err = errTooLarge
	}
	return plain, err
}

// xerial begins the framing that Java's snappy puts around blocks: the mark, two versions, then blocks after their length.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

func unsnappy(packed []byte, maxBytes int) ([]byte, error) {
	if !bytes.HasPrefix(packed, xerial) {
		return unsnapBlock(nil, packed, maxBytes)
	}
	if len(packed) < 16 {
		return nil, io.ErrUnexpectedEOF
	}
	var plain []byte
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
	if len(before)+size > maxBytes {
		return nil, errTooLarge
	}
	plain, err := s2.Decode(nil, block)
	return append(before, plain...), err
}

// zstdReaders are kept: one is large, and can be used again.
var zstdReaders = sync.Pool{New: func() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(log.MaxUnpackedBytes), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("app: these options of a zstd reader are right: " + err.Error())
	}
	return r
}}

func unzstd(packed []byte, maxBytes int) ([]byte, error) {
	r := zstdReaders.Get().(*zstd.Decoder)
	defer zstdReaders.Put(r)
	plain, err := r.DecodeAll(packed, nil)
	if err == nil && len(plain) > maxBytes {
		err = errTooLarge
	}
	return plain, err
}

// checkBatch looks into a compressed batch that a producer sent. It runs on the goroutine of its connection.
func checkBatch(batch []byte) (code int16, message string) {
	if wrong := log.CheckCompressed(batch, decompress); wrong != nil {
		return wrong.Code, wrong.Reason
	}
	return 0, ""
}
