package hessian

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec"
)

// Converting has a Go type take values that are written as another type too, until the Decoder is reset, as a Dubbo provider of Java takes the arguments of
// generic calls, which programs make of JSON: numbers, booleans and times as texts, times as milliseconds, a number as a BigDecimal or the other way round,
// and the classes java.time.LocalDate, LocalTime and LocalDateTime, as Dubbo's Hessian has them, as texts in their form of ISO 8601. A text of a time without
// a zone, such as 2006-01-02 15:04:05, is one of this machine's.
func (d *Decoder) Converting() { d.converting = true }

// translate stores a value as a p of another kind, and reports whether that can be done.
func (d *Decoder) translate(p *plan, at unsafe.Pointer, v any) bool {
	switch p.op {
	case opTime:
		t, ok := timeOf(v)
		*(*time.Time)(at) = t
		return ok
	case opDecimal:
		f, ok := v.(float64)
		s := Decimal(strconv.FormatFloat(f, 'f', -1, 64))
		*(*Decimal)(at) = s
		return ok && s.valid()
	case opBigInt:
		i, ok := translateInteger(v)
		if ok {
			(*big.Int)(at).Set(i)
		}
		return ok
	case opBool:
		s, _ := v.(string)
		*(*bool)(at) = strings.EqualFold(s, "true")
		return *(*bool)(at) || strings.EqualFold(s, "false")
	case opInt8, opInt16, opInt32, opInt64, opUint8, opUint16, opUint32, opUint64, opFloat32, opFloat64:
		n, ok := numberOf(v)
		return ok && p.setNumber(at, n)
	}
	return false
}

// timeOf is the time that a text or a number of milliseconds stands for.
func timeOf(v any) (time.Time, bool) {
	switch v := v.(type) {
	case int32:
		return time.UnixMilli(int64(v)).UTC(), true
	case int64:
		return time.UnixMilli(v).UTC(), true
	case string:
		for _, form := range []string{time.DateTime, time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
			if t, err := time.ParseInLocation(form, v, time.Local); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// numberOf is the number that a text or a BigDecimal stands for.
func numberOf(v any) (number, bool) {
	s, ok := v.(string)
	if d, is := v.(Decimal); is {
		s, ok = string(d), true
	}
	if !ok {
		return number{}, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{kind: longNumber, whole: n}, true
	}
	f, err := strconv.ParseFloat(s, 64)
	return number{kind: doubleNumber, float: f}, err == nil
}

// translateInteger is the big number that a text or a double stands for.
func translateInteger(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case string:
		if Decimal(v).valid() { // which bounds it
			return new(big.Int).SetString(v, 10)
		}
	case float64:
		if math.Trunc(v) == v && math.Abs(v) < math.MaxInt64 {
			return big.NewInt(int64(v)), true
		}
	}
	return nil, false
}

const timeHandles = "com.alibaba.com.caucho.hessian.io.java8."

// timeForms are the forms of texts by the class as which Dubbo's Hessian writes those of java.time.
var timeForms = map[string][]string{
	timeHandles + "LocalDateHandle":     {time.DateOnly},
	timeHandles + "LocalTimeHandle":     {time.TimeOnly, "15:04"},
	timeHandles + "LocalDateTimeHandle": {"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime},
}

// timeStruct reads a text into a struct that is registered for a class of java.time.
func (d *Decoder) timeStruct(p *plan, at unsafe.Pointer) bool {
	class := p.class.Load()
	if class == nil || timeForms[class.name] == nil {
		return d.mismatch("object")
	}
	start := d.pos
	text := d.string(d.byte())
	if d.fault != nil {
		return false
	}
	for _, form := range timeForms[class.name] {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		day := map[string]any{"year": t.Year(), "month": int(t.Month()), "day": t.Day()}
		clock := map[string]any{"hour": t.Hour(), "minute": t.Minute(), "second": t.Second(), "nano": t.Nanosecond()}
		parts := map[string]map[string]any{"LocalDateHandle": day, "LocalTimeHandle": clock, "LocalDateTimeHandle": {"date": day, "time": clock}}[class.name[len(timeHandles):]]
		data, err := Codec.Append(nil, parts)
		if err != nil {
			d.fault = &codec.Error{Codec: codecName, Offset: int64(start), Message: err.Error()}
			return false
		}
		inner := NewDecoder(data)
		if !inner.value(p, at) {
			d.fault = inner.fault
			return false
		}
		return true
	}
	d.pos = start
	return d.fail("a text that is no " + strings.TrimSuffix(class.name[len(timeHandles):], "Handle"))
}
