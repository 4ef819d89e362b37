// Package shape has the eight values of the codec comparison. They are those of the Ergo framework's serialization benchmark
// (github.com/ergo-services/benchmarks, folder serial): the same fields and the same data for every codec.
package shape

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file shape.go -o shape_msgp.go -tests=false -io=false

// PID names a process: its node, its number and when the node was started.
type PID struct {
	Node     string `json:"node" cbor:"node" msg:"node" avro:"node"`
	ID       uint64 `json:"id" cbor:"id" msg:"id" avro:"id"`
	Creation uint64 `json:"creation" cbor:"creation" msg:"creation" avro:"creation"`
}

// ProcessID names a process by its registered name.
type ProcessID struct {
	Name string `json:"name" cbor:"name" msg:"name" avro:"name"`
	Node string `json:"node" cbor:"node" msg:"node" avro:"node"`
}

// Simple is three fields of three kinds.
type Simple struct {
	A float32 `json:"a" cbor:"a" msg:"a" avro:"a"`
	B float64 `json:"b" cbor:"b" msg:"b" avro:"b"`
	C string  `json:"c" cbor:"c" msg:"c" avro:"c"`
}

// Complex has a slice, a map and two structs.
type Complex struct {
	Name      string            `json:"name" cbor:"name" msg:"name" avro:"name"`
	ID        int32             `json:"id" cbor:"id" msg:"id" avro:"id"`
	Tags      []string          `json:"tags" cbor:"tags" msg:"tags" avro:"tags"`
	Metadata  map[string]string `json:"metadata" cbor:"metadata" msg:"metadata" avro:"metadata"`
	PID       PID               `json:"pid" cbor:"pid" msg:"pid" avro:"pid"`
	ProcessID ProcessID         `json:"process_id" cbor:"process_id" msg:"process_id" avro:"process_id"`
}

// Nested holds a Complex and a map of them.
type Nested struct {
	Name       string             `json:"name" cbor:"name" msg:"name" avro:"name"`
	ID         int32              `json:"id" cbor:"id" msg:"id" avro:"id"`
	Complex    Complex            `json:"complex" cbor:"complex" msg:"complex" avro:"complex"`
	ComplexMap map[string]Complex `json:"complex_map" cbor:"complex_map" msg:"complex_map" avro:"complex_map"`
	NestedMap  map[string]string  `json:"nested_map" cbor:"nested_map" msg:"nested_map" avro:"nested_map"`
}

// Item is the element of the maps.
type Item struct {
	Name string `json:"name" cbor:"name" msg:"name" avro:"name"`
	ID   int32  `json:"id" cbor:"id" msg:"id" avro:"id"`
}

// Items is a map of structs.
type Items map[string]Item

// Groups is a map of maps.
type Groups map[string]Items
