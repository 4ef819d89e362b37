package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/transports"
)

// A record is what is sealed at once: length uint32 of what follows | text, sealed with the next number of its direction. What
// is written is cut into records without regard to frames.
const (
	recordHeader   = 4
	maxRecord      = 64 << 10 // bytes of text, so that a chunk fits
	recordOverhead = recordHeader + seal.Overhead

	// firstSealed and largestSealed bound the buffer that a connection reads into.
	firstSealed   = 8 << 10
	largestSealed = 128 << 10 // more than the longest record
)

// sealedConn is a connection whose bytes both sides seal. One goroutine may read and one write at a time, and so may those that
// use sealer, who have its lock.
type sealedConn struct {
	net.Conn
	source   io.Reader // reads from Conn
	from     string
	refusals *seal.Refusals

	writing sync.Mutex
	sealer  sealer

	in         seal.Opener
	buf        []byte // of sealed bytes
	start, end int    // the part of buf that was not opened yet
	text       []byte // opened in buf, where it did not fit where it was to go
	err        error
}

func newSealedConn(conn net.Conn, channel *seal.Channel, refusals *seal.Refusals) *sealedConn {
	c := &sealedConn{Conn: conn, source: conn, refusals: refusals, in: channel.In, sealer: sealer{out: channel.Out}, buf: make([]byte, firstSealed)}
	if addr := conn.RemoteAddr(); addr != nil {
		c.from = addr.String()
	}
	return c
}

// Read opens as many records as have come and fit into p. An error other than the end of the connection is final: nothing
// that comes after a record that cannot be opened is looked at.
func (c *sealedConn) Read(p []byte) (int, error) {
	for {
		if len(c.text) > 0 {
			n := copy(p, c.text)
			c.text = c.text[n:]
			return n, nil
		}
		n, err := c.open(p)
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		if len(c.text) > 0 {
			continue
		}
		if err := c.err; err != nil {
			if err != errUnauthentic {
				c.err = nil // a deadline may be set again
			}
			return 0, err
		}
		c.fill()
	}
}

// open opens the whole records in buf directly into p. One that is larger than p is opened where it is, and left in text.
func (c *sealedConn) open(p []byte) (n int, err error) {
	for c.end-c.start >= recordHeader {
		size := int(binary.LittleEndian.Uint32(c.buf[c.start:]))
		if size <= seal.Overhead || size > maxRecord+seal.Overhead {
			return n, c.refuse()
		}
		if c.end-c.start < recordHeader+size {
			return n, nil
		}
		record := c.buf[c.start+recordHeader : c.start+recordHeader+size]
		if size-seal.Overhead <= len(p)-n {
			_, err = c.in.Open(p[n:n], record, nil)
			n += size - seal.Overhead
		} else if n > 0 {
			return n, nil
		} else {
			c.text, err = c.in.Open(record[:0], record, nil)
		}
		if err != nil {
			return 0, c.refuse() // what was opened before it goes too: it is of no use without the rest
		}
		c.start += recordHeader + size
		if len(c.text) > 0 {
			return n, nil
		}
	}
	return n, nil
}

// errUnauthentic is the error of a connection on which somebody else has written, or changed what was written.
var errUnauthentic = fmt.Errorf("a record of the connection was refused: %w", seal.ErrUnauthentic)

func (c *sealedConn) refuse() error {
	if c.err != errUnauthentic {
		c.refusals.Note("a connection", c.from)
	}
	c.err, c.start, c.end = errUnauthentic, 0, 0
	return c.err
}

// fill reads once what has come, and makes space for the rest of a record before.
func (c *sealedConn) fill() {
	if c.start > 0 {
		c.end = copy(c.buf, c.buf[c.start:c.end])
		c.start = 0
	}
	if c.end == len(c.buf) {
		grown := make([]byte, min(2*len(c.buf), largestSealed))
		copy(grown, c.buf)
		c.buf = grown
	}
	n, err := c.source.Read(c.buf[c.end:])
	c.end += n
	if err == nil && n == 0 {
		err = io.ErrNoProgress
	}
	c.err = err
	if n > 0 && n == len(c.buf)-(c.end-n) && len(c.buf) < largestSealed { // there may be more: the next read takes more at once
		grown := make([]byte, 2*len(c.buf))
		copy(grown, c.buf[:c.end])
		c.buf = grown
	}
}

// Write seals p and writes it.
func (c *sealedConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.Conn.Write(c.sealer.records(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite implements transports.HalfCloser where the connection below does.
func (c *sealedConn) CloseWrite() error {
	if half, ok := c.Conn.(transports.HalfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// sealer makes records. One goroutine may use it at a time.
type sealer struct {
	out seal.Sealer
	buf []byte
}

// records returns text in records, in a buffer that the next call overwrites.
func (s *sealer) records(text []byte) []byte {
	s.reset()
	s.add(text)
	return s.buf
}

func (s *sealer) reset() {
	if cap(s.buf) > keepBuffer {
		s.buf = nil // one burst should not cost memory for as long as the link lasts
	}
	s.buf = s.buf[:0]
}

// add appends text in records to what the buffer holds.
func (s *sealer) add(text []byte) {
	for len(text) > 0 {
		part := text[:min(len(text), maxRecord)]
		text = text[len(part):]
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(part)+seal.Overhead))
		s.buf = s.out.Seal(s.buf, part, nil)
	}
}
