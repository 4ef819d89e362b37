package dubbo

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// The header of each frame of the Dubbo2 protocol is 16 bytes, big-endian: dabb, flags, status, the id of the request, the length of the body.
const (
	headerSize = 16
	magic      = 0xdabb

	flagRequest      = 0x80
	flagTwoWay       = 0x40 // the caller waits for an answer
	flagEvent        = 0x20 // a heartbeat, or the news that a provider takes no more calls
	maskFormat       = 0x1f
	formatHessian    = 2
	maxBody          = 8 << 20 // Dubbo's own limit, its setting payload
	firstPiece       = 64 << 10
	readOnly         = "R" // the body of the event by which a provider takes no more calls
	maxBodiesAtOnce  = 256 << 20
	keepBody         = 64 << 10
	statusOK         = 20
	statusFormat     = 25
	statusTimeoutA   = 30 // at the client
	statusTimeoutB   = 31 // at the server
	statusInactive   = 35
	statusBadRequest = 40
	statusNoService  = 60
	statusExhausted  = 100
)

// frame is a message of either side. The body is its own.
type frame struct {
	flags, status byte
	id            int64
	body          []byte
}

func (f *frame) is(flag byte) bool { return f.flags&flag != 0 }

// appendHeader appends a header whose length is set by setLength, once the body is behind it.
func appendHeader(dst []byte, flags, status byte, id int64) []byte {
	dst = append(dst, magic>>8, magic&0xff, flags|formatHessian, status)
	dst = binary.BigEndian.AppendUint64(dst, uint64(id))
	return append(dst, 0, 0, 0, 0)
}

// setLength completes a frame.
func setLength(whole []byte) []byte {
	binary.BigEndian.PutUint32(whole[headerSize-4:], uint32(len(whole)-headerSize))
	return whole
}

var (
	errNotDubbo = errors.New("the bytes are no frame of the protocol dubbo, which begins with dabb")
	// errTooLarge and errNoMemory come with a frame that has a header only. After the second, the next frame can be read.
	errTooLarge = fmt.Errorf("a body of more than %d bytes", maxBody)
	errNoMemory = fmt.Errorf("bodies of %d bytes are in memory, which is all there may be", maxBodiesAtOnce)
)

// bodies counts the bytes of the bodies that are in memory, over all connections of a bridge.
type bodies struct{ bytes atomic.Int64 }

func (b *bodies) reserve(n int) bool {
	if b.bytes.Add(int64(n)) <= maxBodiesAtOnce {
		return true
	}
	b.free(n)
	return false
}

func (b *bodies) free(n int) { b.bytes.Add(-int64(n)) }

// readFrame reads the next frame. What a header promises takes memory only as it comes. The caller frees len(body) of held.
func readFrame(r *bufio.Reader, held *bodies) (f frame, err error) {
	header, err := r.Peek(headerSize)
	if err != nil {
		if len(header) >= 2 && binary.BigEndian.Uint16(header) != magic {
			err = errNotDubbo
		}
		return f, err
	}
	if binary.BigEndian.Uint16(header) != magic {
		return f, errNotDubbo
	}
	f.flags, f.status, f.id = header[2], header[3], int64(binary.BigEndian.Uint64(header[4:]))
	length := int(binary.BigEndian.Uint32(header[12:]))
	_, _ = r.Discard(headerSize) // which is buffered
	if length > maxBody {
		return f, errTooLarge
	}
	f.body, err = readBody(r, length, held)
	return f, err
}

// readBody reads so many bytes. After errNoMemory they were read over.
func readBody(r io.Reader, length int, held *bodies) (body []byte, err error) {
	for len(body) < length {
		next := min(length-len(body), max(len(body), firstPiece))
		if !held.reserve(next) {
			held.free(len(body))
			if _, err := io.CopyN(io.Discard, r, int64(length-len(body))); err != nil {
				return nil, err
			}
			return nil, errNoMemory
		}
		grown := make([]byte, len(body)+next)
		copy(grown, body)
		n, err := io.ReadFull(r, grown[len(body):])
		if err != nil {
			held.free(len(body) + next)
			return nil, fmt.Errorf("the connection ended %d bytes before the end of a body: %w", length-len(body)-n, err)
		}
		body = grown
	}
	return body, nil
}

// setID writes the id of a request into a frame.
func setID(whole []byte, id int64) { binary.BigEndian.PutUint64(whole[4:], uint64(id)) }
