package hessian

import (
	"math/big"
)

// The classes of java.math. Java's library writes a BigDecimal as its text, and a BigInteger as its fields: the sign and the
// magnitude in words of 32 bits, most significant first.
var (
	decimalClass = &class{name: "java.math.BigDecimal", definition: []byte("C\x14java.math.BigDecimal\x91\x05value")}
	integerClass = &class{name: "java.math.BigInteger", definition: []byte("C\x14java.math.BigInteger\x92\x06signum\x03mag")}
)

func (e *Encoder) decimal(dst []byte, v Decimal) []byte {
	if v == "" {
		return append(dst, tagNull)
	}
	if !v.valid() {
		return e.fail(dst, `a Decimal that is no decimal number, such as "12.50"`)
	}
	e.flat(1)
	e.count++
	return e.string(e.instance(dst, decimalClass), string(v))
}

// maxWords bounds a BigInteger: Java's own bound is 2^26 words.
const maxWords = 1 << 16

func (e *Encoder) bigInt(dst []byte, v *big.Int) []byte {
	words := (v.BitLen() + 31) / 32
	if words > maxWords {
		return e.fail(dst, "a big.Int of more than 2097152 bits")
	}
	e.flat(2)
	e.count++
	dst = appendInt(e.instance(dst, integerClass), int32(v.Sign()))
	e.count++
	dst = e.listHead(dst, "[int", words)
	magnitude := v.FillBytes(make([]byte, 4*words))
	for ; len(magnitude) > 0; magnitude = magnitude[4:] {
		dst = appendInt(dst, int32(uint32(magnitude[0])<<24|uint32(magnitude[1])<<16|uint32(magnitude[2])<<8|uint32(magnitude[3])))
	}
	return dst
}

// bigIntOf makes a number of the fields of a java.math.BigInteger. Fields that only some releases of Java have do not
// matter. It reports false where the fields contradict each other.
func bigIntOf(o *Object) (*big.Int, bool) {
	sign, _ := o.Get("signum")
	mag, _ := o.Get("mag")
	var words []any
	switch m := mag.(type) {
	case *List:
		words = m.Items
	case []any:
		words = m
	}
	if len(words) > maxWords {
		return nil, false
	}
	magnitude := make([]byte, 0, 4*len(words))
	for _, word := range words {
		w, ok := word.(int32)
		if !ok {
			return nil, false
		}
		magnitude = append(magnitude, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	v := new(big.Int).SetBytes(magnitude)
	switch sign {
	case int32(-1):
		v.Neg(v)
	case int32(0), int32(1):
	default:
		return nil, false
	}
	return v, (v.Sign() == 0) == (sign == int32(0))
}
