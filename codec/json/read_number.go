package json

import (
	"strconv"
	"unsafe"

	"github.com/sabir-go/sabir/codec/layout"
)

// digits is a number as it is written.
type digits struct {
	text     []byte
	negative bool
	integer  bool   // neither fraction nor exponent
	mantissa uint64 // all digits, if exact
	exact    bool   // there are at most 18 digits
	power    int    // of ten, by which the mantissa is to be multiplied
}

// digits reads a number (RFC 8259, section 6).
func (r *reader) digits() (d digits, ok bool) {
	r.space()
	data, start, i := r.data, r.pos, r.pos
	if i < len(data) && data[i] == '-' {
		d.negative = true
		i++
	}
	first := i
	for i < len(data) && data[i]-'0' <= 9 {
		d.mantissa = d.mantissa*10 + uint64(data[i]-'0')
		i++
	}
	count := i - first
	if count == 0 || count > 1 && data[first] == '0' {
		return d, false
	}
	d.integer = true
	if i < len(data) && data[i] == '.' {
		d.integer = false
		i++
		fraction := i
		for i < len(data) && data[i]-'0' <= 9 {
			d.mantissa = d.mantissa*10 + uint64(data[i]-'0')
			i++
		}
		if i == fraction {
			return d, false
		}
		d.power = fraction - i
		count += i - fraction
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		d.integer = false
		if i, ok = d.exponent(data, i+1); !ok {
			return d, false
		}
	}
	d.exact = count <= 18
	d.text, r.pos = data[start:i], i
	return d, true
}

// exponent reads what is behind the e. An exponent that is too long for this type makes the number inexact.
func (d *digits) exponent(data []byte, i int) (int, bool) {
	negative := false
	if i < len(data) && (data[i] == '+' || data[i] == '-') {
		negative = data[i] == '-'
		i++
	}
	start, n := i, 0
	for i < len(data) && data[i]-'0' <= 9 {
		n = min(n*10+int(data[i]-'0'), 100_000)
		i++
	}
	if negative {
		n = -n
	}
	d.power += n
	return i, i > start
}

// tens are the powers of ten that a float64 holds exactly.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float64 returns the nearest float. Where both the mantissa and the power of ten are exact floats, one operation rounds
// as it should (Clinger, "How to read floating point numbers accurately", 1990); else strconv does it.
func (d *digits) float64() (float64, bool) {
	if d.exact && d.mantissa < 1<<53 && d.power >= -22 && d.power <= 22 {
		f := float64(d.mantissa)
		if d.power < 0 {
			f /= tens[-d.power]
		} else {
			f *= tens[d.power]
		}
		if d.negative {
			f = -f
		}
		return f, true
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(d.text), len(d.text)), 64)
	return f, err == nil
}

func (r *reader) number(p *plan, at unsafe.Pointer) bool {
	d, ok := r.digits()
	if !ok {
		return false
	}
	switch p.Kind {
	case layout.Float64:
		f, ok := d.float64()
		store(at, f)
		return ok
	case layout.Float32:
		f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(d.text), len(d.text)), 32)
		store(at, float32(f))
		return err == nil
	}
	if !d.integer {
		return false
	}
	if p.Kind >= layout.Uint8 {
		return d.unsigned(p, at)
	}
	return d.signed(p, at)
}

func (d *digits) signed(p *plan, at unsafe.Pointer) bool {
	n := int64(d.mantissa)
	if d.negative {
		n = -n
	}
	if !d.exact {
		var err error
		if n, err = strconv.ParseInt(string(d.text), 10, 64); err != nil {
			return false
		}
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
		return false
	}
	return true
}

func (d *digits) unsigned(p *plan, at unsafe.Pointer) bool {
	if d.negative {
		return false
	}
	n := d.mantissa
	if !d.exact {
		var err error
		if n, err = strconv.ParseUint(string(d.text), 10, 64); err != nil {
			return false
		}
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
		return false
	}
	return true
}
