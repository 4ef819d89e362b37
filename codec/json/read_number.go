package json

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

// digits is a number as it is written.
type digits struct {
	text     []byte
	negative bool
	integer  bool   // neither fraction nor exponent
	mantissa uint64 // all digits, if exact
	exact    bool   // there are at most 19 digits
	power    int    // of ten, by which the mantissa is to be multiplied
}

// short reads an integer of up to 18 digits, as most numbers are. ok is false where the number is another one, or wrong; then
// nothing is taken.
func (r *reader) short() (n uint64, negative, ok bool) {
	data, i := r.data, r.pos
	if i < len(data) && data[i] == '-' {
		negative = true
		i++
	}
	first := i
	n, i = run(data, i, 0)
	switch count := i - first; {
	case count == 0 || count > 18 || count > 1 && data[first] == '0':
		return 0, false, false
	case i < len(data) && (data[i] == '.' || data[i]|0x20 == 'e'):
		return 0, false, false
	}
	r.pos = i
	return n, negative, true
}

// run reads the digits from i on behind those of n, and returns where they end. The number overflows where there are too many.
func run(data []byte, i int, n uint64) (uint64, int) {
	for i+8 <= len(data) {
		w := binary.LittleEndian.Uint64(data[i:])
		// A digit is 0x30 to 0x39: its high half is 3, and still is when 6 is added.
		if (w&(0xf0*ones))|((w+0x06*ones)&(0xf0*ones))>>4 != 0x33*ones {
			break
		}
		w -= '0' * ones
		w = w*10 + w>>8 // every other byte is a number of two digits
		w = (w&0x000000ff000000ff*(100+1000000<<32) + w>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
		n, i = n*100_000_000+w, i+8
	}
	for i < len(data) && data[i]-'0' <= 9 {
		n = n*10 + uint64(data[i]-'0')
		i++
	}
	return n, i
}

// digits reads a number (RFC 8259, section 6).
func (r *reader) digits(d *digits) (ok bool) {
	data, start, i := r.data, r.pos, r.pos
	if i < len(data) && data[i] == '-' {
		d.negative = true
		i++
	}
	first := i
	n, i := run(data, i, 0)
	count := i - first
	if count == 0 || count > 1 && data[first] == '0' {
		return false
	}
	d.integer = true
	if i < len(data) && data[i] == '.' {
		d.integer = false
		i++
		fraction := i
		n, i = run(data, i, n)
		if i == fraction {
			return false
		}
		d.power = fraction - i
		count += i - fraction
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		d.integer = false
		if i, ok = d.exponent(data, i+1); !ok {
			return false
		}
	}
	d.mantissa, d.exact = n, count <= 19
	d.text, r.pos = data[start:i], i
	return true
}

// exponent reads the digits after the e. An exponent that is too long for this type makes the number inexact.
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

// fives are the powers of five that a uint64 holds.
var fives = func() (f [28]uint64) {
	f[0] = 1
	for i := range f[1:] {
		f[i+1] = f[i] * 5
	}
	return f
}()

// float64 returns the nearest float. Where both the mantissa and the power of ten are exact floats, one operation rounds
// as it should (Clinger, "How to read floating point numbers accurately", 1990). Most others need a division of integers;
// strconv does the rest.
func (d *digits) float64() (f float64, ok bool) {
	switch {
	case d.exact && d.mantissa < 1<<53 && d.power >= -22 && d.power <= 22:
		f = float64(d.mantissa)
		if d.power < 0 {
			f /= tens[-d.power]
		} else {
			f *= tens[d.power]
		}
	case d.exact && d.power <= 0 && -d.power < len(fives) && d.mantissa > 0:
		f = divided(d.mantissa, -d.power)
	default:
		f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(d.text), len(d.text)), 64)
		return f, err == nil
	}
	if d.negative {
		f = -f
	}
	return f, true
}

// divided returns the float nearest to n divided by 10 to the power, for an n above zero. The quotient of n and 5 to the
// power, both shifted up, has 63 bits or more. Its lowest bit is set where there is a remainder, so that its conversion to
// 53 bits rounds as the exact quotient would. What is left are powers of two, and those are exact.
func divided(n uint64, power int) float64 {
	by := fives[power]
	up, upBy := bits.LeadingZeros64(n), bits.LeadingZeros64(by)
	n <<= up
	quotient, rest := bits.Div64(n>>1, n<<63, by<<upBy)
	if rest != 0 {
		quotient |= 1
	}
	return float64(quotient) * math.Float64frombits(uint64(1023+upBy-up-power-63)<<52)
}

// float32 returns the nearest float, as float64 does.
func (d *digits) float32() (float32, bool) {
	if d.exact && d.mantissa < 1<<24 && d.power <= 0 && d.power >= -10 {
		f := float32(d.mantissa) / float32(tens[-d.power])
		if d.negative {
			f = -f
		}
		return f, true
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(d.text), len(d.text)), 32)
	return float32(f), err == nil
}

// number reads a number whose first byte is next.
func (r *reader) number(p *plan, at unsafe.Pointer) bool {
	if p.Kind < layout.Float32 {
		if n, negative, ok := r.short(); ok {
			return integer(p.Kind, at, n, negative)
		}
	}
	var d digits
	if !r.digits(&d) {
		return false
	}
	switch {
	case p.Kind == layout.Float64:
		f, ok := d.float64()
		store(at, f)
		return ok
	case p.Kind == layout.Float32:
		f, ok := d.float32()
		store(at, f)
		return ok
	case !d.integer:
		return false
	case p.Kind == layout.Int64:
		n, err := strconv.ParseInt(string(d.text), 10, 64)
		store(at, n)
		return err == nil
	case p.Kind == layout.Uint64:
		n, err := strconv.ParseUint(string(d.text), 10, 64)
		store(at, n)
		return err == nil
	}
	return false // more than 18 digits, for a type that holds ten
}

// integer stores a number of up to 18 digits, if the kind holds it.
func integer(kind layout.Kind, at unsafe.Pointer, size uint64, negative bool) bool {
	n := int64(size)
	if negative {
		if kind >= layout.Uint8 {
			return false
		}
		n = -n
	}
	switch {
	case kind == layout.Int64 || kind == layout.Uint64:
		store(at, n)
	case kind == layout.Int32 && n == int64(int32(n)):
		store(at, int32(n))
	case kind == layout.Int16 && n == int64(int16(n)):
		store(at, int16(n))
	case kind == layout.Int8 && n == int64(int8(n)):
		store(at, int8(n))
	case kind == layout.Uint32 && n == int64(uint32(n)):
		store(at, uint32(n))
	case kind == layout.Uint16 && n == int64(uint16(n)):
		store(at, uint16(n))
	case kind == layout.Uint8 && n == int64(uint8(n)):
		store(at, uint8(n))
	default:
		return false
	}
	return true
}
