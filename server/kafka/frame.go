package kafka

import (
	"bufio"
	"bytes"
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
	in      *bufio.Reader
	maxSize int32
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
	return &frames{from: r, in: bufio.NewReaderSize(r, idleBuffer), maxSize: maxSize, first: true}
}

// next returns the next frame without its length. Where inPlace is true the bytes lie in the read buffer and are valid
// until the following call.
func (f *frames) next() (frame []byte, inPlace bool, err error) {
	full := f.in.Buffered() == f.in.Size()
	if _, err := f.in.Discard(f.pending); err != nil {
		return nil, false, err
	}
	f.pending = 0
	if full {
		f.grow(readBuffer)
	}
	head, err := f.in.Peek(4)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			return nil, false, refusef("the connection ended inside a frame's length: %d of 4 bytes came", len(head))
		}
		return nil, false, err
	}
	size := int32(binary.BigEndian.Uint32(head))
	if err := f.checkSize(size, head); err != nil {
		return nil, false, err
	}
	f.first = false
	if int(size)+4 <= readBuffer {
		f.grow(4 + int(size))
		whole, err := f.in.Peek(4 + int(size))
		if err != nil {
			return nil, false, cut(err, len(whole)-4, size)
		}
		f.pending = len(whole)
		return whole[4:], true, nil
	}
	if _, err := f.in.Discard(4); err != nil {
		return nil, false, err
	}
	frame, err = f.large(size)
	return frame, false, err
}

// grow gives a connection whose frames are larger, or that turned out to be busy, a read buffer of at least so many bytes.
func (f *frames) grow(least int) {
	if f.in.Size() >= least {
		return
	}
	size := f.in.Size()
	for size < least {
		size *= 2
	}
	have, _ := f.in.Peek(f.in.Buffered())
	larger := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(have), f.from), size)
	_, _ = larger.Peek(len(have)) // these are there
	f.in = larger
}

// large reads a frame that does not fit the read buffer. Its memory grows with what arrives, so that a length alone
// costs nothing. Whether the key allows such a size is seen with the first bytes.
func (f *frames) large(size int32) (frame []byte, err error) {
	head, err := f.in.Peek(2)
	if err != nil {
		return nil, cut(err, len(head), size)
	}
	if key := int16(binary.BigEndian.Uint16(head)); key != produceAPI.key && size > maxControlFrame {
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
		n, err := f.in.Read(frame[len(frame):min(cap(frame), int(size))])
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
	have := f.in.Buffered() - f.pending
	if have < 4 {
		return false
	}
	head, _ := f.in.Peek(f.pending + 4)
	size := int32(binary.BigEndian.Uint32(head[f.pending:]))
	return size > 0 && int(size) <= have-4
}
