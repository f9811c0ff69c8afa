package kafka

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// readBuffer is what a busy connection reads at once; frames that fit are decoded where they lie. A connection begins
	// with idleBuffer, which is enough for a consumer that heartbeats and fetches: most connections are of those.
	readBuffer = 32 << 10
	idleBuffer = 512
	// maxControlFrame bounds every request but Produce. An array length of a few bytes can make a decoder reserve a hundred
	// times the frame's size, so what need not be large must not be. Kafka has one bound for all.
	maxControlFrame = 8 << 20
	// firstRead is the first piece of a large frame that is given memory; it doubles with what arrives.
	firstRead = 64 << 10
)

// refusal is an error that ends a connection by our decision: what was wrong, and what would be right.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// frames cuts a byte stream into frames: four bytes of length, then so many bytes.
type frames struct {
	from    io.Reader
	maxSize int32
	// buf[at:end] came and was not returned yet; err is what the reader said with it.
	buf     []byte
	at, end int
	err     error
	// pending is what next returned out of the read buffer, to be discarded with the following call.
	pending int
	// first is set until one whole frame was seen: only then is a foreign protocol worth guessing at.
	first bool
	// claim begins to count the memory of a large frame; held is what the frame that next returned last has of it. nil:
	// nobody counts.
	claim func() *hold
	held  *hold
}

func newFrames(r io.Reader, maxSize int32) *frames {
	return &frames{from: r, buf: make([]byte, idleBuffer), maxSize: maxSize, first: true}
}

// fill reads until so many bytes lie in the buffer, which has room for them. Where it reads, bytes that lay there move.
func (f *frames) fill(least int) error {
	if f.end-f.at >= least {
		return nil
	}
	f.end = copy(f.buf, f.buf[f.at:f.end])
	f.at = 0
	for f.end < least {
		if f.err != nil {
			return f.err
		}
		var n int
		n, f.err = f.from.Read(f.buf[f.end:])
		f.end += n
	}
	return nil
}

// next returns the next frame without its length. Where inPlace is true the bytes lie in the read buffer and are valid
// until the following call.
func (f *frames) next() (frame []byte, inPlace bool, err error) {
	full := f.end-f.at == len(f.buf)
	f.at += f.pending
	f.pending = 0
	if full {
		f.grow(readBuffer)
	}
	if err := f.fill(4); err != nil {
		if err == io.EOF && f.end > f.at {
			return nil, false, refusef("the connection ended inside a frame's length: %d of 4 bytes came", f.end-f.at)
		}
		return nil, false, err
	}
	head := f.buf[f.at : f.at+4]
	size := int32(binary.BigEndian.Uint32(head))
	if err := f.checkSize(size, head); err != nil {
		return nil, false, err
	}
	f.first = false
	if whole := 4 + int(size); whole <= readBuffer {
		f.grow(whole)
		if err := f.fill(whole); err != nil {
			return nil, false, cut(err, f.end-f.at-4, size)
		}
		f.pending = whole
		return f.buf[f.at+4 : f.at+whole : f.at+whole], true, nil
	}
	f.at += 4
	frame, err = f.large(size)
	return frame, false, err
}

// grow gives a connection whose frames are larger, or that turned out to be busy, a read buffer of at least so many bytes.
func (f *frames) grow(least int) {
	size := len(f.buf)
	if size >= least {
		return
	}
	for size < least {
		size *= 2
	}
	larger := make([]byte, size)
	f.end = copy(larger, f.buf[f.at:f.end])
	f.buf, f.at = larger, 0
}

// large reads a frame that does not fit the read buffer. Its memory grows with what arrives, so that a length alone
// costs nothing. Whether the key allows such a size is seen with the first bytes.
func (f *frames) large(size int32) (frame []byte, err error) {
	if err := f.fill(2); err != nil {
		return nil, cut(err, f.end-f.at, size)
	}
	if key := int16(binary.BigEndian.Uint16(f.buf[f.at:])); key != produceAPI.key && size > maxControlFrame {
		return nil, refusef("a frame of API key %d announces %d bytes; all but Produce may have %d", key, size, maxControlFrame)
	}
	if f.claim != nil {
		f.held = f.claim()
		defer func() {
			if err != nil {
				f.held.give()
			}
		}()
	}
	room := min(int(size), firstRead)
	if err := f.reserve(room); err != nil {
		return nil, err
	}
	frame = make([]byte, 0, room)
	for len(frame) < int(size) {
		if len(frame) == cap(frame) {
			room = min(int(size), 2*cap(frame))
			if err := f.reserve(room - cap(frame)); err != nil {
				return nil, err
			}
			grown := make([]byte, len(frame), room)
			copy(grown, frame)
			frame = grown
		}
		n, err := f.read(frame[len(frame):min(cap(frame), int(size))])
		frame = frame[:len(frame)+n]
		if f.held != nil {
			f.held.move()
		}
		if err != nil {
			return nil, cut(err, len(frame), size)
		}
	}
	return frame, nil
}

// read gives what lies in the buffer, then what comes.
func (f *frames) read(p []byte) (n int, err error) {
	switch {
	case f.at < f.end:
		n = copy(p, f.buf[f.at:f.end])
		f.at += n
		return n, nil
	case f.err != nil:
		return 0, f.err
	}
	return f.from.Read(p)
}

// reserve waits until there is memory for so many bytes more.
func (f *frames) reserve(bytes int) error {
	if f.held == nil || f.held.grow(int64(bytes)) {
		return nil
	}
	return refusal("there was no memory for its request (queued.max.request.bytes)")
}

func cut(err error, got int, size int32) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return refusef("the connection ended inside a frame: %d of %d bytes came", max(got, 0), size)
	}
	return err
}

// checkSize refuses a length before anything is reserved for it, and names the usual reasons for a senseless one.
func (f *frames) checkSize(size int32, head []byte) error {
	if size > 0 && size <= f.maxSize {
		return nil
	}
	if f.first {
		if who := foreign(head); who != "" {
			return refusef("%s came; this port speaks the Kafka protocol, the lab's page is on the -http address", who)
		}
		if head[0] == 0x16 && head[1] == 0x03 {
			return refusef("a TLS hello came; this port is not encrypted: set security.protocol=PLAINTEXT in the client (SASL_PLAINTEXT where it asks for users), or start the server with -tls-cert and -tls-key")
		}
	}
	return refusef("a frame announces %d bytes; 1 to %d are allowed (socket.request.max.bytes)", size, f.maxSize)
}

// more tells whether the next frame is in the read buffer as a whole, so that reading it cannot wait.
func (f *frames) more() bool {
	have := f.buf[f.at+f.pending : f.end]
	if len(have) < 4 {
		return false
	}
	size := int32(binary.BigEndian.Uint32(have))
	return size > 0 && int(size) <= len(have)-4
}
