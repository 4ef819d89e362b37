package http

import (
	"bytes"
	"fmt"

	"github.com/gobwas/ws"
)

// deframer takes the payload out of the frames of one direction of a WebSocket (RFC 6455, section 5), in place: what
// comes from the socket is read to where its payload is wanted.
type deframer struct {
	state ws.State

	header  [ws.MaxHeaderSize]byte
	have    int // bytes of a header that has not come whole
	parser  bytes.Reader
	scratch [ws.MaxHeaderSize]byte

	current ws.Header
	left    int64 // of the current frame's payload
	at      int   // in its mask
	control [ws.MaxControlFramePayloadSize]byte

	ping func(payload []byte) // called for each ping; payload is only lent
	done bool                 // the peer has closed; nothing counts any more
}

// take goes through buf, moves the payload to its beginning, and returns how much that is. An error is final.
func (d *deframer) take(buf []byte) (int, error) {
	n := 0
	for i := 0; i < len(buf) && !d.done; {
		if d.left == 0 {
			used, err := d.takeHeader(buf[i:])
			if err != nil {
				return n, err
			}
			i += used
			continue
		}
		part := buf[i:]
		if int64(len(part)) > d.left { // left can be as large as an int64, so nothing is added to it
			part = part[:d.left]
		}
		if d.current.Masked {
			ws.Cipher(part, d.current.Mask, d.at)
			d.at = (d.at + len(part)) % 4
		}
		if d.current.OpCode.IsControl() {
			copy(d.control[d.current.Length-d.left:], part)
		} else {
			n += copy(buf[n:], part)
		}
		i += len(part)
		d.left -= int64(len(part))
		if d.left == 0 {
			d.ended()
		}
	}
	return n, nil
}

// takeHeader takes the bytes that belong to a header, and returns their number.
func (d *deframer) takeHeader(buf []byte) (int, error) {
	used := 0
	for {
		want := sizeOfHeader(d.header[:d.have])
		if d.have == want {
			break
		}
		n := copy(d.header[d.have:want], buf[used:])
		if n == 0 {
			return used, nil
		}
		used, d.have = used+n, d.have+n
	}
	d.parser.Reset(d.header[:d.have])
	d.have = 0
	h, err := ws.ReadHeaderBuffer(&d.parser, d.scratch[:0])
	if err == nil {
		err = ws.CheckHeader(h, d.state)
	}
	if err != nil {
		return used, fmt.Errorf("the peer broke the WebSocket protocol: %w", err)
	}
	if h.OpCode == ws.OpText {
		return used, errText
	}
	d.current, d.left, d.at = h, h.Length, 0
	if !h.OpCode.IsControl() {
		d.state = d.state.Clear(ws.StateFragmented)
		if !h.Fin {
			d.state = d.state.Set(ws.StateFragmented)
		}
	}
	if d.left == 0 {
		d.ended()
	}
	return used, nil
}

var errText = fmt.Errorf("the peer sent text over the WebSocket: links are binary")

// ended is called when a frame has come whole.
func (d *deframer) ended() {
	switch d.current.OpCode {
	case ws.OpPing:
		d.ping(d.control[:d.current.Length])
	case ws.OpClose:
		d.done = true
	}
}

// sizeOfHeader is the size of a header as far as its beginning shows: 2 bytes show all of it.
func sizeOfHeader(begin []byte) int {
	if len(begin) < 2 {
		return 2
	}
	size := 2
	switch begin[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if begin[1]&0x80 != 0 {
		size += 4
	}
	return size
}
