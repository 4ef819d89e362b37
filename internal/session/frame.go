package session

import (
	"fmt"
	"io"
)

type kind byte

const (
	kindOpen kind = 1 + iota
	kindAccept
	kindRefuse
	kindData
	kindCredit
	kindEnd
	kindClose
	kindClosed
	kindPing
	kindPong
)

const (
	version = 1

	headSize = 4

	// maxData is the most bytes of one data frame.
	maxData = 32 << 10

	// unit is the number of bytes that one unit of a window stands for, at most what a packet of any carrier holds.
	unit = 1 << 10

	// MaxWindow is the widest window, in units.
	MaxWindow = 1<<16 - 1
)

func appendFrame(to []byte, k kind, number int) []byte {
	return append(to, byte(k), byte(number>>16), byte(number>>8), byte(number))
}

// units returns the units of the window that a data frame of n bytes takes.
func units(n int) int { return 1 + (n+headSize)/unit }

// fitting is the most bytes of a data frame that takes no more than free units.
func fitting(free int) int { return min(free*unit-headSize-1, maxData) }

// decoder takes apart what arrives, in pieces of any size.
type decoder struct {
	head [headSize]byte
	have int // bytes of head
	body int // bytes of a data frame that are still to come
}

// receiver receives the frames that a decoder finds.
type receiver interface {
	frame(k kind, number int) error // for data frames, before the bytes
	data(p []byte)
}

func (d *decoder) decode(p []byte, to receiver) error {
	for len(p) > 0 {
		if d.body > 0 {
			n := min(d.body, len(p))
			to.data(p[:n])
			p, d.body = p[n:], d.body-n
			continue
		}
		n := copy(d.head[d.have:], p)
		p, d.have = p[n:], d.have+n
		if d.have < headSize {
			return nil
		}
		d.have = 0
		k, number := kind(d.head[0]), int(d.head[1])<<16|int(d.head[2])<<8|int(d.head[3])
		if err := check(k, number); err != nil {
			return err
		}
		if k == kindData {
			d.body = number
		}
		if err := to.frame(k, number); err != nil {
			return err
		}
	}
	return nil
}

func check(k kind, number int) error {
	switch k {
	case kindOpen, kindAccept:
		if number>>16 != version || number&0xffff == 0 {
			return fmt.Errorf("the peer opened with version %d and a window of %d units: want version %d", number>>16, number&0xffff, version)
		}
	case kindData:
		if number == 0 || number > maxData {
			return fmt.Errorf("the peer sent a frame of %d bytes: want 1 to %d", number, maxData)
		}
	case kindCredit:
		if number == 0 || number > MaxWindow {
			return fmt.Errorf("the peer gave %d units back: want 1 to %d", number, MaxWindow)
		}
	case kindRefuse, kindEnd, kindClose, kindClosed, kindPing, kindPong:
		if number != 0 {
			return fmt.Errorf("the peer sent a frame of kind %d with the number %d: want 0", k, number)
		}
	default:
		return fmt.Errorf("the peer sent a frame of the unknown kind %d: %w", k, io.ErrUnexpectedEOF)
	}
	return nil
}
