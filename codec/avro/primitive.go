package avro

import (
	"encoding/binary"
	"fmt"
	"math"
)

func (d *decoder) bool() bool {
	b := d.take(1)
	if b == nil {
		return false
	}
	if b[0] > 1 {
		d.fail(fmt.Sprintf("a boolean of %d, want 0 or 1", b[0]))
	}
	return b[0] == 1
}

// long reads an int or a long, which look the same.
func (d *decoder) long() int64 {
	if d.pos < len(d.data) {
		if b := d.data[d.pos]; b < 0x80 {
			d.pos++
			return int64(b>>1) ^ -int64(b&1)
		}
	}
	n, size := binary.Varint(d.data[d.pos:])
	if size <= 0 {
		if size == 0 {
			d.fail(endsEarly)
		}
		d.fail("a number of more than 64 bits")
		return 0
	}
	d.pos += size
	return n
}

func (d *decoder) float() float32 {
	b := d.take(4)
	if b == nil {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

func (d *decoder) double() float64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// take returns the next n bytes of the data itself, or nil and a fault.
func (d *decoder) take(n int) []byte {
	if d.failed != nil {
		return nil
	}
	if n < 0 || n > len(d.data)-d.pos {
		d.fail(endsEarly)
		return nil
	}
	start := d.pos
	d.pos += n
	return d.data[start:d.pos:d.pos]
}

// bytes reads a length and returns as many bytes of the data itself.
func (d *decoder) bytes() []byte {
	n := d.long()
	if n < 0 || n > int64(len(d.data)-d.pos) {
		d.fail(fmt.Sprintf("a length of %d, but only %d bytes are left", n, len(d.data)-d.pos))
		return nil
	}
	return d.take(int(n))
}
