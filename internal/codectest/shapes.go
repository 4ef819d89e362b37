package codectest

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"
)

// Shape is a value that a user may send, and its name in [Features.Refuses].
type Shape struct {
	Name  string
	Value any // no pointer

	// scalar: the value may be one number in text, a part of which is a number too.
	scalar bool
	// unordered: the value holds a map of several entries, which have no order of their own.
	unordered bool
}

type (
	signed struct {
		Int   int   `json:"int"`
		Int8  int8  `json:"int8"`
		Int16 int16 `json:"int16"`
		Int32 int32 `json:"int32"`
		Int64 int64 `json:"int64"`
	}
	unsigned struct {
		Uint   uint   `json:"uint"`
		Uint8  uint8  `json:"uint8"`
		Uint16 uint16 `json:"uint16"`
		Uint32 uint32 `json:"uint32"`
		Uint64 uint64 `json:"uint64"`
	}
	floats struct {
		Float32 float32 `json:"float32"`
		Float64 float64 `json:"float64"`
	}
	address struct {
		Street string `json:"street"`
		City   string `json:"city"`
		Zip    string `json:"zip"`
	}
	user struct {
		ID      string            `json:"id"`
		Name    string            `json:"name"`
		Email   string            `json:"email"`
		Age     int               `json:"age"`
		Active  bool              `json:"active"`
		Score   float64           `json:"score"`
		Roles   []string          `json:"roles"`
		Address address           `json:"address"`
		Tags    map[string]string `json:"tags"`
		Created time.Time         `json:"created"`
	}
	base struct {
		ID      int64  `json:"id"`
		Version uint16 `json:"version"`
	}
	derived struct {
		base
		Name string `json:"name"`
	}
	Exported struct {
		ID int64 `json:"id"`
	}
	embedding struct {
		Exported
		Name string `json:"name"`
	}
	pointers struct {
		Int    *int     `json:"int"`
		String *string  `json:"string"`
		Struct *address `json:"struct"`
		Nil    *int     `json:"nil"`
		None   *address `json:"none"`
	}
	tree struct {
		Name     string `json:"name"`
		Children []tree `json:"children"`
	}
	chain struct {
		Value int    `json:"value"`
		Next  *chain `json:"next"`
	}
	lists struct {
		Ints    []int     `json:"ints"`
		Uint32s []uint32  `json:"uint32s"`
		Floats  []float64 `json:"floats"`
		Bools   []bool    `json:"bools"`
		Strings []string  `json:"strings"`
		Structs []address `json:"structs"`
		Bytes   [][]byte  `json:"bytes"`
	}
	containers struct {
		Slice []int          `json:"slice"`
		Bytes []byte         `json:"bytes"`
		Map   map[string]int `json:"map"`
	}
	omitting struct {
		Int    int            `json:"int,omitempty"`
		String string         `json:"string,omitempty"`
		Slice  []int          `json:"slice,omitempty"`
		Map    map[string]int `json:"map,omitempty"`
		Ptr    *int           `json:"ptr,omitempty"`
		Kept   string         `json:"kept"`
	}
	hiding struct {
		Shown  int `json:"shown"`
		Hidden int `json:"-"`
	}
	color string
	level int16
	named struct {
		Color  color   `json:"color"`
		Level  level   `json:"level"`
		Colors []color `json:"colors"`
	}
	times struct {
		At    time.Time     `json:"at"`
		Zero  time.Time     `json:"zero"`
		Early time.Time     `json:"early"`
		For   time.Duration `json:"for"`
	}
	texts struct {
		From netip.Addr `json:"from"`
	}
	holder struct {
		Name string `json:"name"`
		Any  any    `json:"any"`
	}
	page[T any] struct {
		Items []T `json:"items"`
		Total int `json:"total"`
	}
	untagged struct {
		Name  string
		Count int
	}
)

func at(nanos int) time.Time { return time.Date(2024, 1, 2, 3, 4, 5, nanos, time.UTC) }

func someUser(n int) user {
	return user{
		ID: fmt.Sprintf("u-%d", n), Name: "Ada Lovelace", Email: "ada@example.com", Age: 36 + n, Active: n%2 == 0, Score: 1.5 * float64(n),
		Roles: []string{"admin", "user"}, Address: address{"12 St James's Square", "London", "SW1"},
		Tags: map[string]string{"team": "engine"}, Created: at(0),
	}
}

func users(n int) []user {
	list := make([]user, n)
	for i := range list {
		list[i] = someUser(i)
	}
	return list
}

// Shapes returns the values that the suite sends. They are made anew for each call.
func Shapes() []Shape {
	seven, text, zero, empty := 7, "text", 0, ""
	return []Shape{
		{Name: "bool", Value: true, scalar: true},
		{Name: "int", Value: -12345, scalar: true},
		{Name: "uint64", Value: uint64(math.MaxUint64), scalar: true},
		{Name: "float64", Value: 0.1, scalar: true},
		{Name: "string", Value: "text"},
		{Name: "empty string", Value: ""},
		{Name: "bytes", Value: []byte{0xfb, 0xff, 0}},
		{Name: "time", Value: at(123_456_789)},
		{Name: "duration", Value: 1500 * time.Millisecond, scalar: true},

		{Name: "lowest integers", Value: signed{math.MinInt, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64}},
		{Name: "highest integers", Value: signed{math.MaxInt, math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64}},
		{Name: "small integers", Value: []signed{{-1, -1, -1, -1, -1}, {-32, -32, -32, -32, -32}, {-33, -33, -33, -33, -33}, {127, 127, 127, 127, 127}}},
		{Name: "integers beyond 2^53", Value: []int64{1 << 53, 1<<53 + 1, -1<<53 - 1}},
		{Name: "highest unsigned integers", Value: unsigned{math.MaxUint, math.MaxUint8, math.MaxUint16, math.MaxUint32, math.MaxUint64}},
		{Name: "small unsigned integers", Value: []unsigned{{}, {23, 23, 23, 23, 23}, {24, 24, 24, 24, 24}, {128, 128, 128, 128, 128}}},
		{Name: "floats", Value: []floats{{0.1, 0.1}, {math.MaxFloat32, math.MaxFloat64}, {math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat64}, {-1, -1}}},
		{Name: "infinities", Value: floats{float32(math.Inf(1)), math.Inf(-1)}},
		{Name: "complex numbers", Value: []complex128{complex(1, -2)}},

		{Name: "struct", Value: someUser(1)},
		{Name: "zero struct", Value: user{}},
		{Name: "struct without fields", Value: struct{}{}},
		{Name: "struct without tags", Value: untagged{"Ada", 3}},
		{Name: "embedded struct", Value: embedding{Exported{5}, "Ada"}},
		{Name: "embedded unexported struct", Value: derived{base{5, 2}, "Ada"}},
		{Name: "hidden fields", Value: hiding{Shown: 1}},
		{Name: "omitted fields", Value: omitting{Kept: "kept"}},
		{Name: "fields that are not omitted", Value: omitting{1, "a", []int{1}, map[string]int{"a": 1}, &seven, "kept"}},
		{Name: "named types", Value: named{"red", -3, []color{"green", "blue"}}},
		{Name: "generic struct", Value: page[address]{[]address{{"a", "b", "c"}}, 1}},
		{Name: "pointers", Value: pointers{Int: &seven, String: &text, Struct: &address{"a", "b", "c"}}},
		{Name: "pointers to zero values", Value: pointers{Int: &zero, String: &empty, Struct: &address{}}},
		{Name: "times", Value: times{At: at(1), Early: time.Date(1, 2, 3, 4, 5, 6, 0, time.UTC), For: -time.Nanosecond}},
		{Name: "text marshaler", Value: texts{netip.MustParseAddr("10.0.0.1")}},
		{Name: "recursive struct", Value: tree{"root", []tree{{"left", []tree{{"leaf", nil}}}, {"right", nil}}}},
		{Name: "linked list", Value: chain{1, &chain{2, &chain{3, nil}}}},

		{Name: "lists", Value: lists{[]int{1, -2, 3}, []uint32{1, 1 << 31}, []float64{1.5, -2}, []bool{true, false}, []string{"", "a"}, []address{{}, {"a", "b", "c"}}, [][]byte{{1}, {2, 3}}}},
		{Name: "list of integers", Value: []int{1, 2, 300, -70000}},
		{Name: "list of strings", Value: []string{"a", "", "ccc"}},
		{Name: "list of structs", Value: users(3)},
		{Name: "list of lists", Value: [][]int{{1, 2}, {3}}},
		{Name: "list of pointers", Value: []*address{{"a", "b", "c"}, {}}},
		{Name: "list with a nil pointer", Value: []*address{{"a", "b", "c"}, nil}},
		{Name: "array", Value: [3]int{1, 2, 3}},
		{Name: "array of bytes", Value: struct {
			ID [4]byte `json:"id"`
		}{[4]byte{1, 2, 255, 0}}},
		{Name: "nil containers", Value: containers{}},
		{Name: "empty containers", Value: containers{[]int{}, []byte{}, map[string]int{}}},

		{Name: "map", Value: map[string]int{"b": 2, "a": 1, "c": 3}, unordered: true},
		{Name: "map of structs", Value: map[string]address{"home": {"a", "b", "c"}, "work": {}}, unordered: true},
		{Name: "map of lists", Value: map[string][]int{"a": {1, 2}}},
		{Name: "map of maps", Value: map[string]map[string]string{"a": {"b": "c"}}},
		{Name: "map with integer keys", Value: map[int64]string{math.MinInt64: "low", 0: "zero", 7: "seven"}, unordered: true},
		{Name: "map with unsigned keys", Value: map[uint16]bool{65535: true}},
		{Name: "map with text keys", Value: map[color]int{"red": 1}},
		{Name: "map with the empty key", Value: map[string]int{"": 1}},

		{Name: "any", Value: holder{"x", map[string]any{"int": int64(-5), "float": 1.5, "text": "a", "bool": true, "null": nil,
			"list": []any{int64(1), "b", []any{}}, "map": map[string]any{"deep": map[string]any{}}}}, unordered: true},
		{Name: "nil any", Value: holder{"x", nil}},
		{Name: "map of any", Value: map[string]any{"name": "Ada", "roles": []any{"admin", int64(3)}}, unordered: true},

		{Name: "unicode", Value: address{"żółw \U0001F422 <&> \"\\\n\x00", "\u2028\u2029\ufeff", "\U0010ffff"}},
		{Name: "long string", Value: address{Street: strings.Repeat("0123456789", 10_000)}},
		{Name: "long bytes", Value: containers{Slice: []int{1}, Bytes: []byte(strings.Repeat("\x00\xff", 50_000)), Map: map[string]int{"a": 1}}},
		{Name: "long list", Value: users(500)},
		{Name: "strings at the edges of lengths", Value: []string{strings.Repeat("a", 23), strings.Repeat("a", 31), strings.Repeat("a", 32),
			strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat("a", 255), strings.Repeat("a", 256), strings.Repeat("a", 65535), strings.Repeat("a", 65536)}},
	}
}
