package hessian

import (
	"math/big"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// scalar reads a value into a type without parts where the wire has something else than what the type is written as: an
// enum for a string, a boxed Short for a number, a java.sql.Date for a time, or a reference to one of these.
func (d *Decoder) scalar(p *plan, at unsafe.Pointer) bool {
	start := d.pos
	v := d.any()
	if d.fault != nil {
		return false
	}
	if o, ok := v.(*Object); ok {
		v = o.content()
	}
	if d.convert(p, at, v) || d.fault == nil && d.converting && d.translate(p, at, v) || d.fault != nil {
		return d.fault == nil
	}
	d.pos = start
	return d.mismatch(wanted(p))
}

// content is the one value of an enum or of a class that is written as its text or its number.
func (o *Object) content() any {
	if len(o.Fields) == 1 {
		switch o.Fields[0].Name {
		case "name", "value", "_value":
			return o.Fields[0].Value
		}
	}
	return nil
}

func wanted(p *plan) string {
	switch p.op {
	case opBool:
		return "boolean"
	case opString, opText, opDecimal:
		return "string"
	case opBytes, opByteArray:
		return "binary"
	case opTime:
		return "date"
	}
	return "number"
}

// convert stores a value that was read into an any as a p, and reports whether it fits.
func (d *Decoder) convert(p *plan, at unsafe.Pointer, v any) bool {
	if v == nil {
		return false
	}
	switch p.op {
	case opString:
		s := reflect.ValueOf(v)
		if s.Kind() != reflect.String {
			return false
		}
		*(*string)(at) = s.String()
		return true
	case opText:
		s, ok := v.(string)
		return ok && d.text(p, at, s)
	case opDecimal:
		s, ok := decimalOf(v)
		*(*Decimal)(at) = s
		return ok
	case opBigInt:
		i, ok := integerOf(v)
		if ok {
			(*big.Int)(at).Set(i)
		}
		return ok
	case opTime:
		t, ok := v.(time.Time)
		*(*time.Time)(at) = t
		return ok
	case opByteArray:
		b, ok := v.([]byte)
		if !ok || len(b) != p.length {
			return false
		}
		copy(unsafe.Slice((*byte)(at), p.length), b)
		return true
	case opBytes:
		b, ok := v.([]byte)
		*(*[]byte)(at) = b
		return ok
	case opBool:
		b, ok := v.(bool)
		*(*bool)(at) = b
		return ok
	}
	switch n := v.(type) {
	case int8:
		return p.setNumber(at, number{kind: intNumber, whole: int64(n)})
	case int16:
		return p.setNumber(at, number{kind: intNumber, whole: int64(n)})
	case int32:
		return p.setNumber(at, number{kind: intNumber, whole: int64(n)})
	case int64:
		return p.setNumber(at, number{kind: intNumber, whole: n})
	case float32:
		return p.setNumber(at, number{kind: doubleNumber, float: float64(n)})
	case float64:
		return p.setNumber(at, number{kind: doubleNumber, float: n})
	case *big.Int:
		if p.op == opUint64 && n.IsUint64() {
			*(*uint64)(at) = n.Uint64()
			return true
		}
		return n.IsInt64() && p.setNumber(at, number{kind: longNumber, whole: n.Int64()})
	}
	return false
}

func decimalOf(v any) (Decimal, bool) {
	switch v := v.(type) {
	case Decimal:
		return v, true
	case string:
		return Decimal(v), Decimal(v).valid()
	case int32:
		return Decimal(strconv.FormatInt(int64(v), 10)), true
	case int64:
		return Decimal(strconv.FormatInt(v, 10)), true
	case *big.Int:
		s := Decimal(v.String())
		return s, s.valid()
	}
	return "", false
}

func integerOf(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case int32:
		return big.NewInt(int64(v)), true
	case int64:
		return big.NewInt(v), true
	}
	return nil, false
}

// bigInt reads into a *big.Int at an address.
func (d *Decoder) bigInt(at unsafe.Pointer) bool {
	start := d.pos
	v := d.any()
	if d.fault != nil {
		return false
	}
	i, ok := integerOf(v)
	if !ok && d.converting {
		i, ok = translateInteger(v)
	}
	if !ok {
		d.pos = start
		return d.mismatch("number")
	}
	*(**big.Int)(at) = i // one that was referred to before is shared
	return true
}
