package wire

import (
	"encoding/binary"
	"fmt"
)

// A frame is a header of headerSize bytes and a body. All fixed numbers are little endian:
//
//	length uint32 | id uint32 | kind uint8 | flags uint8 | length bytes of body
const headerSize = 10

const (
	// chunkSize is the most bytes of a value that one frame carries; a longer value goes on in further frames.
	chunkSize = 64 << 10
	// maxHead is the greatest length of the part of a body before the value: metadata, mostly.
	maxHead = 48 << 10
	// maxFrame is the longest body there is. The largest are a schema of 64 KiB and a full head with a full chunk.
	maxFrame = maxHead + chunkSize
	// maxID bounds the indexes of entries: an id is an entry's index in the lower indexBits and its generation above.
	indexBits = 20
	indexMask = 1<<indexBits - 1
)

// kind is the type of a frame. The numbers are part of the protocol.
type kind uint8

const (
	kindRequest kind = 1 // a call: head, value
	kindReply   kind = 2 // its answer: value
	kindError   kind = 3 // its answer: a Failure
	// 4 is not used.
	kindChunk  kind = 5  // more of a value whose frame had flagMore
	kindCancel kind = 6  // the initiator abandoned a call, a stream or a value of which it sent a part
	kindOpen   kind = 7  // a stream: head
	kindData   kind = 8  // a message of a stream: value
	kindCredit kind = 9  // of a stream: uvarint bytes that the peer may send more
	kindEnd    kind = 10 // of a stream: nothing, or a Failure
	kindPing   kind = 11 // 8 bytes, load
	kindPong   kind = 12 // the 8 bytes of the ping, load
	kindGoAway kind = 13 // the sender takes no new work, or (flagAnswer) sends none
	kindSchema kind = 14 // uvarint number, schema
	kindRoute  kind = 15 // uvarint number, kind, name, codec
	kindName   kind = 16 // uvarint number, name
	kindPost   kind = 17 // topic, bytes
)

// Flags. The kind of a frame decides which of them it may have.
const (
	flagMore        = 1 << 0 // the value goes on in another frame
	flagCompressed  = 1 << 1 // the value after its schema number is compressed
	flagTimeout     = 1 << 2 // request, open: a timeout is in the head
	flagCancellable = 1 << 3 // request: a cancel may come
	flagNested      = 1 << 4 // request, open: level and caller are in the head
	flagRequestID   = 1 << 5 // request, open: a request id is in the head
	flagMetadata    = 1 << 6 // request, open: metadata is in the head; reply, error: pairs stand before the value or the failure
	flagPairs       = 1 << 7 // request: the caller takes pairs with the answer
	flagGroups      = 1 << 7 // request along a route of events, where both sides have the feature: groups are in the head

	// flagYours: the id was given by the receiver of the frame. On frames of streams and on chunks of replies.
	flagYours = 1 << 7

	flagAnswer = 1 << 2 // goaway: the answer to one
	flagHalf   = 1 << 2 // end: no more messages from the sender, which still reads
	flagFailed = 1 << 3 // end: the stream failed, the body is a Failure

	// Chunks and cancels tell by this which side's id they mean.
	flagOfPost   = 1 << 3
	flagOfStream = 1 << 4
	flagsOf      = flagOfPost | flagOfStream | flagYours
)

// header is a parsed frame header.
type header struct {
	length int
	id     uint32
	kind   kind
	flags  uint8
}

// parseHeader reads the header at the start of b, which must have headerSize bytes.
func parseHeader(b []byte) (header, error) {
	_ = b[headerSize-1]
	h := header{
		length: int(binary.LittleEndian.Uint32(b)),
		id:     binary.LittleEndian.Uint32(b[4:]),
		kind:   kind(b[8]),
		flags:  b[9],
	}
	if uint(h.length) > maxFrame {
		return h, protocolError("a frame of kind %d says it has %d bytes, at most %d are allowed", h.kind, uint32(h.length), maxFrame)
	}
	return h, nil
}

func appendHeader(dst []byte, length int, id uint32, k kind, flags uint8) []byte {
	n := uint32(length)
	return append(dst,
		byte(n), byte(n>>8), byte(n>>16), byte(n>>24),
		byte(id), byte(id>>8), byte(id>>16), byte(id>>24),
		byte(k), flags)
}

func appendFrame(dst []byte, id uint32, k kind, flags uint8, body []byte) []byte {
	return append(appendHeader(dst, len(body), id, k, flags), body...)
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// AppendRef appends a schema number, as every value on a link begins with one: that of Link.DeclareSchema, or 0 for a value
// whose codec has no schemas.
func AppendRef(dst []byte, schema uint32) []byte {
	return binary.AppendUvarint(dst, uint64(schema))
}

// fields reads the parts of a body one after the other. After a part that is not there every further one is zero, and bad
// is set, so that it is enough to look once at the end.
type fields struct {
	left []byte
	bad  bool
}

func (f *fields) fail() {
	f.left, f.bad = nil, true
}

func (f *fields) uvarint() uint64 {
	if len(f.left) > 0 && f.left[0] < 0x80 {
		v := f.left[0]
		f.left = f.left[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(f.left)
	if n <= 0 {
		f.fail()
		return 0
	}
	f.left = f.left[n:]
	return v
}

// number reads a uvarint of at most limit.
func (f *fields) number(limit int) int {
	v := f.uvarint()
	if v > uint64(limit) {
		f.fail()
		return 0
	}
	return int(v)
}

func (f *fields) byte() byte {
	if len(f.left) == 0 {
		f.fail()
		return 0
	}
	v := f.left[0]
	f.left = f.left[1:]
	return v
}

// take reads the next n bytes; they are a part of the body.
func (f *fields) take(n int) []byte {
	if n > len(f.left) {
		f.fail()
		return nil
	}
	v := f.left[:n:n]
	f.left = f.left[n:]
	return v
}

// bytes reads a length and as many bytes; they are a part of the body.
func (f *fields) bytes() []byte { return f.take(f.number(len(f.left))) }

func (f *fields) string() string { return string(f.bytes()) }

// ProtocolError is the error of a link whose peer did not keep to the protocol: a fault of its implementation, an attack, or
// bytes that were damaged on the way.
type ProtocolError struct{ Problem string }

func (e *ProtocolError) Error() string { return "wire: the peer broke the protocol: " + e.Problem }

func protocolError(format string, args ...any) error {
	return &ProtocolError{Problem: fmt.Sprintf(format, args...)}
}
