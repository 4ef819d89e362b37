package document

import (
	"math"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/layout"
)

func (d *decoder) number(p *plan, at unsafe.Pointer) *codec.Error {
	switch p.Kind {
	case layout.Bool:
		if d.token.Kind != Bool {
			return d.mismatch("bool")
		}
		store(at, d.token.Bits == 1)
		return nil
	case layout.Float32:
		f, ok := d.float()
		if !ok {
			return d.mismatch("float")
		}
		if n := float32(f); math.IsInf(float64(n), 0) && !math.IsInf(f, 0) {
			return d.outOfRange(p)
		}
		store(at, float32(f))
		return nil
	case layout.Float64:
		f, ok := d.float()
		if !ok {
			return d.mismatch("float")
		}
		store(at, f)
		return nil
	case layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64:
		return d.unsigned(p, at)
	}
	return d.signed(p, at)
}

func (d *decoder) float() (float64, bool) {
	switch d.token.Kind {
	case Float:
		return math.Float64frombits(d.token.Bits), true
	case Int:
		return float64(int64(d.token.Bits)), true
	case Uint:
		return float64(d.token.Bits), true
	}
	return 0, false
}

func (d *decoder) signed(p *plan, at unsafe.Pointer) *codec.Error {
	n := int64(d.token.Bits)
	switch d.token.Kind {
	case Int:
	case Uint:
		if n < 0 {
			return d.outOfRange(p)
		}
	case Float:
		f := math.Float64frombits(d.token.Bits)
		if n = int64(f); f != math.Trunc(f) || f < -1<<63 || f >= 1<<63 {
			return d.outOfRange(p)
		}
	default:
		return d.mismatch("integer")
	}
	switch {
	case p.Kind == layout.Int64:
		store(at, n)
	case p.Kind == layout.Int32 && n == int64(int32(n)):
		store(at, int32(n))
	case p.Kind == layout.Int16 && n == int64(int16(n)):
		store(at, int16(n))
	case p.Kind == layout.Int8 && n == int64(int8(n)):
		store(at, int8(n))
	default:
		return d.outOfRange(p)
	}
	return nil
}

func (d *decoder) unsigned(p *plan, at unsafe.Pointer) *codec.Error {
	n := d.token.Bits
	switch d.token.Kind {
	case Uint:
	case Int:
		return d.outOfRange(p)
	case Float:
		f := math.Float64frombits(n)
		if f != math.Trunc(f) || f < 0 || f >= 1<<64 {
			return d.outOfRange(p)
		}
		n = uint64(f)
	default:
		return d.mismatch("integer")
	}
	switch {
	case p.Kind == layout.Uint64:
		store(at, n)
	case p.Kind == layout.Uint32 && n == uint64(uint32(n)):
		store(at, uint32(n))
	case p.Kind == layout.Uint16 && n == uint64(uint16(n)):
		store(at, uint16(n))
	case p.Kind == layout.Uint8 && n == uint64(uint8(n)):
		store(at, uint8(n))
	default:
		return d.outOfRange(p)
	}
	return nil
}
