package native

import "strconv"

// Kind is the kind of a value in a schema. Its number is part of the format and never changes.
type Kind uint8

// The kinds. Those from Pointer on have parts and stand in the schema's table of definitions.
const (
	Bool       Kind = 1
	Int8       Kind = 2
	Int16      Kind = 3
	Int32      Kind = 4
	Int64      Kind = 5 // also Go's int
	Uint8      Kind = 6
	Uint16     Kind = 7
	Uint32     Kind = 8
	Uint64     Kind = 9 // also Go's uint and uintptr
	Float32    Kind = 10
	Float64    Kind = 11
	Complex64  Kind = 12
	Complex128 Kind = 13
	String     Kind = 14
	Bytes      Kind = 15
	Time       Kind = 16
	Binary     Kind = 17 // what a type's MarshalBinary returned
	Text       Kind = 18 // what a type's MarshalText returned
	Interface  Kind = 19
	Pointer    Kind = 20
	Slice      Kind = 21
	Array      Kind = 22
	Map        Kind = 23
	Struct     Kind = 24
)

var kindNames = [...]string{
	Bool: "bool", Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64", Uint8: "uint8", Uint16: "uint16",
	Uint32: "uint32", Uint64: "uint64", Float32: "float32", Float64: "float64", Complex64: "complex64",
	Complex128: "complex128", String: "string", Bytes: "bytes", Time: "time", Binary: "binary", Text: "text",
	Interface: "interface", Pointer: "pointer", Slice: "slice", Array: "array", Map: "map", Struct: "struct",
}

// String returns the name of the kind, such as "int32".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// minBytes is the fewest bytes that a value of a kind without parts takes. Pointers, slices and maps take one.
func (k Kind) minBytes() uint64 {
	switch k {
	case Float32:
		return 4
	case Float64, Complex64:
		return 8
	case Complex128:
		return 16
	case Time:
		return 3
	}
	return 1
}

// maxMin is the limit for sums of fewest bytes: more than any message has.
const maxMin = 1 << 60

func addMin(a, b uint64) uint64 { return min(a+b, maxMin) }

func mulMin(n, each uint64) uint64 {
	if each != 0 && n > maxMin/each {
		return maxMin
	}
	return n * each
}
