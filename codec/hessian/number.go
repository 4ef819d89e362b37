package hessian

import (
	"encoding/binary"
	"math"
	"time"
)

func appendInt(dst []byte, v int32) []byte {
	switch {
	case v >= -0x10 && v <= 0x2f:
		return append(dst, byte(v+tagInt1))
	case v >= -0x800 && v <= 0x7ff:
		return append(dst, byte(v>>8+tagInt2), byte(v))
	case v >= -0x40000 && v <= 0x3ffff:
		return append(dst, byte(v>>16+tagInt3), byte(v>>8), byte(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, tagInt), uint32(v))
}

func appendLong(dst []byte, v int64) []byte {
	switch {
	case v >= -0x08 && v <= 0x0f:
		return append(dst, byte(v+tagLong1))
	case v >= -0x800 && v <= 0x7ff:
		return append(dst, byte(v>>8+tagLong2), byte(v))
	case v >= -0x40000 && v <= 0x3ffff:
		return append(dst, byte(v>>16+tagLong3), byte(v>>8), byte(v))
	case v == int64(int32(v)):
		return binary.BigEndian.AppendUint32(append(dst, tagLong5), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, tagLong), uint64(v))
}

// appendDouble writes the forms that Java writes, but for a negative zero, which Java makes positive.
func appendDouble(dst []byte, v float64) []byte {
	if v >= math.MinInt16 && v <= math.MaxInt16 {
		if whole := int32(v); float64(whole) == v {
			switch {
			case whole == 0 && math.Signbit(v):
				return binary.BigEndian.AppendUint64(append(dst, tagDouble), math.Float64bits(v))
			case whole == 0:
				return append(dst, tagZero)
			case whole == 1:
				return append(dst, tagOne)
			case whole == int32(int8(whole)):
				return append(dst, tagDouble1, byte(whole))
			}
			return append(dst, tagDouble2, byte(whole>>8), byte(whole))
		}
	}
	if scaled := v * 1000; scaled >= math.MinInt32 && scaled <= math.MaxInt32 {
		if thousandths := int32(scaled); float64(thousandths)*0.001 == v {
			return binary.BigEndian.AppendUint32(append(dst, tagDoubleMilli), uint32(thousandths))
		}
	}
	return binary.BigEndian.AppendUint64(append(dst, tagDouble), math.Float64bits(v))
}

// The times that a long of milliseconds can hold.
var firstTime, lastTime = time.UnixMilli(math.MinInt64), time.UnixMilli(math.MaxInt64)

func appendTime(dst []byte, t time.Time) ([]byte, bool) {
	if t.Before(firstTime) || t.After(lastTime) {
		return dst, false
	}
	millis := t.UnixMilli()
	if minutes := millis / 60_000; minutes*60_000 == millis && minutes == int64(int32(minutes)) {
		return binary.BigEndian.AppendUint32(append(dst, tagDateMinutes), uint32(minutes)), true
	}
	return binary.BigEndian.AppendUint64(append(dst, tagDate), uint64(millis)), true
}

// number is a number as it stands on the wire. Only one of the two fields is used.
type number struct {
	kind  numberKind
	whole int64
	float float64
}

type numberKind uint8

const (
	noNumber numberKind = iota
	intNumber
	longNumber
	doubleNumber
)

// number reads the number after tag, which the caller has taken. The kind is noNumber where tag opens no number.
func (d *Decoder) number(tag byte) number {
	switch {
	case tag >= 0x80 && tag <= 0xbf:
		return number{kind: intNumber, whole: int64(tag) - tagInt1}
	case tag >= 0xc0 && tag <= 0xcf:
		return number{kind: intNumber, whole: (int64(tag)-tagInt2)<<8 | int64(d.bits(1))}
	case tag >= 0xd0 && tag <= 0xd7:
		return number{kind: intNumber, whole: (int64(tag)-tagInt3)<<16 | int64(d.bits(2))}
	case tag >= 0xd8 && tag <= 0xef:
		return number{kind: longNumber, whole: int64(tag) - tagLong1}
	case tag >= 0xf0:
		return number{kind: longNumber, whole: (int64(tag)-tagLong2)<<8 | int64(d.bits(1))}
	case tag >= 0x38 && tag <= 0x3f:
		return number{kind: longNumber, whole: (int64(tag)-tagLong3)<<16 | int64(d.bits(2))}
	}
	switch tag {
	case tagInt:
		return number{kind: intNumber, whole: int64(int32(d.bits(4)))}
	case tagLong5:
		return number{kind: longNumber, whole: int64(int32(d.bits(4)))}
	case tagLong:
		return number{kind: longNumber, whole: int64(d.bits(8))}
	case tagZero:
		return number{kind: doubleNumber}
	case tagOne:
		return number{kind: doubleNumber, float: 1}
	case tagDouble1:
		return number{kind: doubleNumber, float: float64(int8(d.bits(1)))}
	case tagDouble2:
		return number{kind: doubleNumber, float: float64(int16(d.bits(2)))}
	case tagDoubleMilli:
		return number{kind: doubleNumber, float: float64(int32(d.bits(4))) * 0.001}
	case tagDouble:
		return number{kind: doubleNumber, float: math.Float64frombits(d.bits(8))}
	}
	return number{}
}

// bits reads n bytes, most significant first. n is 1, 2, 4 or 8.
func (d *Decoder) bits(n int) uint64 {
	b := d.take(n)
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	case 8:
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// int reads a count or an index: an int of at least 0.
func (d *Decoder) int() int {
	start := d.pos
	n := d.number(d.byte())
	if d.fault == nil && (n.kind != intNumber || n.whole < 0) {
		d.pos = start
		d.fail("a count or an index that is no int of 0 or more")
	}
	return int(n.whole)
}

// time reads the date after its tag.
func (d *Decoder) time(tag byte) time.Time {
	if tag == tagDateMinutes {
		return time.UnixMilli(int64(int32(d.bits(4))) * 60_000).UTC()
	}
	return time.UnixMilli(int64(d.bits(8))).UTC()
}
