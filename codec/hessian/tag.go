package hessian

// The tags of the specification's bytecode map (section 6). Where a tag carries part of the value, it is the first of its range
// or, for numbers, the one that stands for zero.
const (
	tagString      = 0x00 // to 0x1f: up to 31 units
	tagBinary      = 0x20 // to 0x2f: up to 15 bytes
	tagStringShort = 0x30 // to 0x33: up to 1023 units
	tagBinaryShort = 0x34 // to 0x37: up to 1023 bytes
	tagLong3       = 0x3c // 0x38 to 0x3f
	tagBinaryChunk = 0x41
	tagBinaryLast  = 'B'
	tagClass       = 'C'
	tagDouble      = 'D'
	tagFalse       = 'F'
	tagMap         = 'H'
	tagInt         = 'I'
	tagDate        = 0x4a
	tagDateMinutes = 0x4b
	tagLong        = 'L'
	tagTypedMap    = 'M'
	tagNull        = 'N'
	tagObject      = 'O'
	tagRef         = 0x51
	tagStringChunk = 0x52
	tagStringLast  = 'S'
	tagTrue        = 'T'
	tagTypedOpen   = 0x55 // a typed list up to tagEnd
	tagTypedList   = 'V'
	tagOpenList    = 0x57 // an untyped list up to tagEnd
	tagList        = 0x58
	tagLong5       = 0x59
	tagEnd         = 'Z'
	tagZero        = 0x5b
	tagOne         = 0x5c
	tagDouble1     = 0x5d
	tagDouble2     = 0x5e
	tagDoubleMilli = 0x5f // an int32 of thousandths
	tagShortObject = 0x60 // to 0x6f
	tagTypedShort  = 0x70 // to 0x77
	tagShortList   = 0x78 // to 0x7f
	tagInt1        = 0x90 // 0x80 to 0xbf
	tagInt2        = 0xc8 // 0xc0 to 0xcf
	tagInt3        = 0xd4 // 0xd0 to 0xd7
	tagLong1       = 0xe0 // 0xd8 to 0xef
	tagLong2       = 0xf8 // 0xf0 to 0xff
)

// kind is the kind of value that a tag opens.
type kind uint8

const (
	kindNone kind = iota
	kindNull
	kindBool
	kindInt
	kindLong
	kindDouble
	kindDate
	kindString
	kindBinary
	kindList
	kindMap
	kindObject
	kindClass
	kindRef
	kindEnd
)

// kindNames has the names of kinds in the texts of errors.
var kindNames = [...]string{
	kindNone: "a byte that begins no value", kindNull: "null", kindBool: "boolean", kindInt: "int", kindLong: "long", kindDouble: "double",
	kindDate: "date", kindString: "string", kindBinary: "binary", kindList: "list", kindMap: "map", kindObject: "object", kindClass: "object",
	kindRef: "reference", kindEnd: "the end of a list or map",
}

var kinds = func() (kinds [256]kind) {
	for _, r := range []struct {
		from, to int
		kind     kind
	}{
		{tagString, 0x1f, kindString}, {tagBinary, 0x2f, kindBinary}, {tagStringShort, 0x33, kindString}, {tagBinaryShort, 0x37, kindBinary},
		{0x38, 0x3f, kindLong}, {tagBinaryChunk, tagBinaryLast, kindBinary}, {tagClass, tagClass, kindClass}, {tagDouble, tagDouble, kindDouble},
		{tagFalse, tagFalse, kindBool}, {tagMap, tagMap, kindMap}, {tagInt, tagInt, kindInt}, {tagDate, tagDateMinutes, kindDate},
		{tagLong, tagLong, kindLong}, {tagTypedMap, tagTypedMap, kindMap}, {tagNull, tagNull, kindNull}, {tagObject, tagObject, kindObject},
		{tagRef, tagRef, kindRef}, {tagStringChunk, tagStringLast, kindString}, {tagTrue, tagTrue, kindBool}, {tagTypedOpen, tagList, kindList},
		{tagLong5, tagLong5, kindLong}, {tagEnd, tagEnd, kindEnd}, {tagZero, tagDoubleMilli, kindDouble}, {tagShortObject, 0x6f, kindObject},
		{tagTypedShort, 0x7f, kindList}, {0x80, 0xd7, kindInt}, {0xd8, 0xff, kindLong},
	} {
		for tag := r.from; tag <= r.to; tag++ {
			kinds[tag] = r.kind
		}
	}
	return kinds
}()

func isString(tag byte) bool { return kinds[tag] == kindString }

func isBinary(tag byte) bool { return kinds[tag] == kindBinary }

func isList(tag byte) bool { return kinds[tag] == kindList }

func isMap(tag byte) bool { return kinds[tag] == kindMap }

func isObject(tag byte) bool { return kinds[tag] == kindObject }

func isDate(tag byte) bool { return kinds[tag] == kindDate }
