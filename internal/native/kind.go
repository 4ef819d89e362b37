package native

import "strconv"

// valueKind is the kind of a value in a schema. Its number is part of the format and never changes.
type valueKind uint8

// The kinds. Those from pointerKind on have parts and stand in the schema's table of definitions.
const (
	boolKind       valueKind = 1
	int8Kind       valueKind = 2
	int16Kind      valueKind = 3
	int32Kind      valueKind = 4
	int64Kind      valueKind = 5 // also Go's int
	uint8Kind      valueKind = 6
	uint16Kind     valueKind = 7
	uint32Kind     valueKind = 8
	uint64Kind     valueKind = 9 // also Go's uint and uintptr
	float32Kind    valueKind = 10
	float64Kind    valueKind = 11
	complex64Kind  valueKind = 12
	complex128Kind valueKind = 13
	stringKind     valueKind = 14
	bytesKind      valueKind = 15
	timeKind       valueKind = 16
	binaryKind     valueKind = 17 // what a type's MarshalBinary returned
	textKind       valueKind = 18 // what a type's MarshalText returned
	interfaceKind  valueKind = 19
	pointerKind    valueKind = 20
	sliceKind      valueKind = 21
	arrayKind      valueKind = 22
	mapKind        valueKind = 23
	structKind     valueKind = 24
)

var kindNames = [...]string{
	boolKind: "bool", int8Kind: "int8", int16Kind: "int16", int32Kind: "int32", int64Kind: "int64", uint8Kind: "uint8", uint16Kind: "uint16",
	uint32Kind: "uint32", uint64Kind: "uint64", float32Kind: "float32", float64Kind: "float64", complex64Kind: "complex64",
	complex128Kind: "complex128", stringKind: "string", bytesKind: "bytes", timeKind: "time", binaryKind: "binary", textKind: "text",
	interfaceKind: "interface", pointerKind: "pointer", sliceKind: "slice", arrayKind: "array", mapKind: "map", structKind: "struct",
}

// String returns the name of the kind, such as "int32".
func (k valueKind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// minBytes is the fewest bytes that a value of a kind without parts takes. Pointers, slices and maps take one.
func (k valueKind) minBytes() uint64 {
	switch k {
	case float32Kind:
		return 4
	case float64Kind, complex64Kind:
		return 8
	case complex128Kind:
		return 16
	case timeKind:
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
