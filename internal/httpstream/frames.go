package httpstream

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/memory"
)

// frameReader takes the text messages out of one side of a WebSocket (RFC 6455, section 5). Pings are reported, pongs dropped.
type frameReader struct {
	r     *bufio.Reader
	limit int // bytes of a message
	ping  func(payload []byte)

	state   ws.State
	scratch [ws.MaxHeaderSize]byte
	control [ws.MaxControlFramePayloadSize]byte
	message []byte
	window  *memory.Window // counts message
	counted int

	skip int64 // of the payload of a frame that was refused

	closed bool          // a Close came
	code   ws.StatusCode // that answers it; 0 for none
}

// frameError is a violation of the protocol by the other side.
type frameError struct {
	code ws.StatusCode
	why  string
}

func (e frameError) Error() string { return e.why }

// frameBuffer is the size of reads.
const frameBuffer = 4 << 10

// keptMessage is the largest buffer for messages that is kept for the next one.
const keptMessage = 64 << 10

// newFrameReader makes a reader that reads the rest of ahead before it reads from r.
func newFrameReader(r io.Reader, ahead *bufio.Reader, limit int) *frameReader {
	if ahead != nil && ahead.Buffered() > 0 {
		begin, _ := ahead.Peek(ahead.Buffered())
		r = &joined{begin: append([]byte(nil), begin...), r: r}
	}
	return &frameReader{r: bufio.NewReaderSize(r, frameBuffer), limit: limit, state: ws.StateServerSide, ping: func([]byte) {}}
}

// joined is bytes and then a reader.
type joined struct {
	begin []byte
	r     io.Reader
}

func (j *joined) Read(p []byte) (int, error) {
	if len(j.begin) > 0 {
		n := copy(p, j.begin)
		j.begin = j.begin[n:]
		return n, nil
	}
	return j.r.Read(p)
}

// next is the next message, valid until the one after it. The error is io.EOF after a Close, a frameError, or the reader's.
func (f *frameReader) next() ([]byte, error) {
	if cap(f.message) > keptMessage {
		f.message = nil
	}
	f.message = f.message[:0]
	if f.counted > 0 {
		f.window.Remove(f.counted)
		f.counted = 0
	}
	for {
		h, err := f.header()
		if err != nil {
			return nil, err
		}
		if h.OpCode.IsControl() {
			if err := f.takeControl(h); err != nil {
				return nil, err
			}
			continue
		}
		if h.OpCode == ws.OpBinary {
			f.skip = h.Length
			return nil, frameError{ws.StatusUnsupportedData, "messages are text, and one came that is binary"}
		}
		if h.Length > int64(f.limit-len(f.message)) {
			f.skip = h.Length
			return nil, frameError{ws.StatusMessageTooBig, "the message is too large"}
		}
		if err := f.append(h); err != nil {
			return nil, err
		}
		if !h.Fin {
			f.state = f.state.Set(ws.StateFragmented)
			continue
		}
		f.state = f.state.Clear(ws.StateFragmented)
		if !utf8.Valid(f.message) {
			return nil, frameError{ws.StatusInvalidFramePayloadData, "the message is not in UTF-8"}
		}
		return f.message, nil
	}
}

func (f *frameReader) header() (ws.Header, error) {
	h, err := ws.ReadHeaderBuffer(f.r, f.scratch[:0])
	switch err {
	case nil:
		err = ws.CheckHeader(h, f.state)
	case ws.ErrHeaderLengthMSB, ws.ErrHeaderLengthUnexpected:
	default:
		return h, err
	}
	if err != nil {
		f.skip = h.Length
		return h, frameError{ws.StatusProtocolError, "the WebSocket protocol was broken: " + err.Error()}
	}
	return h, nil
}

// append reads a frame's payload as it comes: an announced length alone takes no memory.
func (f *frameReader) append(h ws.Header) error {
	at := len(f.message)
	for left := int(h.Length); left > 0; {
		n := min(left, frameBuffer)
		begin := len(f.message)
		f.message = append(f.message, make([]byte, n)...)
		if more := cap(f.message) - f.counted; more > 0 {
			f.window.Add(more)
			f.counted += more
		}
		if _, err := io.ReadFull(f.r, f.message[begin:]); err != nil {
			return err
		}
		left -= n
	}
	ws.Cipher(f.message[at:], h.Mask, 0)
	return nil
}

func (f *frameReader) takeControl(h ws.Header) error {
	payload := f.control[:h.Length]
	if _, err := io.ReadFull(f.r, payload); err != nil {
		return err
	}
	ws.Cipher(payload, h.Mask, 0)
	switch h.OpCode {
	case ws.OpPing:
		f.ping(payload)
	case ws.OpClose:
		f.closed = true
		switch {
		case len(payload) == 0:
		case len(payload) == 1:
			f.code = ws.StatusProtocolError
		case !utf8.Valid(payload[2:]):
			f.code = ws.StatusInvalidFramePayloadData
		default:
			f.code = closeReply(ws.StatusCode(binary.BigEndian.Uint16(payload)))
		}
		return io.EOF
	}
	return nil
}

// closeReply is the code that a Close with a code is answered with: its own, where it is one that may be sent.
func closeReply(c ws.StatusCode) ws.StatusCode {
	if c >= 1000 && c <= 1003 || c >= 1007 && c <= 1014 || c >= 3000 && c <= 4999 {
		return c
	}
	return ws.StatusProtocolError
}

// discard reads until the other side's Close, whatever else comes, or until the reader ends.
func (f *frameReader) discard() {
	for !f.closed {
		if _, err := io.CopyN(io.Discard, f.r, f.skip); err != nil {
			return
		}
		f.skip = 0
		_, err := f.next()
		if _, broken := err.(frameError); err != nil && !broken {
			return
		}
	}
}

// appendHead appends the header of a frame that is a whole message of the server, which is not masked.
func appendHead(dst []byte, op ws.OpCode, size int) []byte {
	dst = append(dst, 0x80|byte(op))
	switch {
	case size < 126:
		return append(dst, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, 126), uint16(size))
	}
	return binary.BigEndian.AppendUint64(append(dst, 127), uint64(size))
}

// appendClose appends a Close with a reason, which may be empty; code 0 is one without either.
func appendClose(dst []byte, code ws.StatusCode, reason string) []byte {
	if code == 0 {
		return appendHead(dst, ws.OpClose, 0)
	}
	reason = reason[:min(len(reason), maxReason)]
	return append(binary.BigEndian.AppendUint16(appendHead(dst, ws.OpClose, 2+len(reason)), uint16(code)), reason...)
}

// maxReason is the most bytes of a Close's reason (RFC 6455, section 5.5).
const maxReason = 123
