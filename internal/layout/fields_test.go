package layout_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	sabirjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/layout"
)

// The types that reflect.StructOf cannot make: unexported, recursive, with methods, of one type in several places.
type (
	leafs struct {
		A int64 `json:"a"`
		B int64
	}
	Leafs    struct{ B, C int64 }
	otherOne struct {
		B int64
		D int64
	}
	namedB struct {
		X int64 `json:"B"`
	}
	number int64
	Number int64

	embedsUnexported struct{ leafs }
	embedsPointer    struct {
		*Leafs
		A int64
	}
	embedsSealed struct {
		*leafs
		C int64
	}
	embedsNamed struct {
		leafs `json:"leafs"`
		B     int64
	}
	embedsSkipped struct {
		leafs `json:"-"`
		C     int64
	}
	hides struct {
		leafs
		A int64 `json:"a"`
	}
	clashes struct {
		leafs
		otherOne
	}
	clashesBelow struct {
		clashes
		Leafs
	}
	tagWins struct {
		Leafs
		namedB
	}
	tagLosesToDepth struct {
		embedsUnexported
		namedB
	}
	leftOne   struct{ Leafs }
	rightOne  struct{ Leafs }
	sameTwice struct {
		leftOne
		right
	}
	deepLeft   struct{ leftOne }
	deepRight  struct{ leftOne }
	belowTwice struct {
		deepLeft
		deepRight
	}
	atTwoDepth struct {
		deepLeft
		leftOne
	}
	Recursive struct {
		*Recursive
		A int64 `json:"a"`
	}
	ringA struct {
		*RingB
		A int64
	}
	RingB struct {
		*Leafs
		*RingB
		B int64
	}
	embedsNumbers struct {
		Number
		number
		B int64
	}
	letters struct {
		A int64 `json:"a"`
		B int64 `json:"A"`
		C int64 `json:"aA"`
	}
)

// twoInOne is refused by codec/json, and go vet would refuse it as a declaration.
var twoInOne = reflect.StructOf([]reflect.StructField{
	{Name: "A", Type: reflect.TypeFor[int64](), Tag: `json:"x"`}, {Name: "B", Type: reflect.TypeFor[int64](), Tag: `json:"x"`},
	{Name: "C", Type: reflect.TypeFor[int64]()},
})

var handWritten = []reflect.Type{
	reflect.TypeFor[leafs](), reflect.TypeFor[embedsUnexported](), reflect.TypeFor[embedsPointer](), reflect.TypeFor[embedsSealed](),
	reflect.TypeFor[embedsNamed](), reflect.TypeFor[embedsSkipped](), reflect.TypeFor[hides](), reflect.TypeFor[clashes](),
	reflect.TypeFor[clashesBelow](), reflect.TypeFor[tagWins](), reflect.TypeFor[tagLosesToDepth](), reflect.TypeFor[sameTwice](),
	reflect.TypeFor[belowTwice](), reflect.TypeFor[atTwoDepth](), reflect.TypeFor[Recursive](), reflect.TypeFor[ringA](),
	reflect.TypeFor[embedsNumbers](), reflect.TypeFor[letters](), twoInOne,
}

func TestFieldsAreResolvedAsEncodingJSONResolvesThem(t *testing.T) {
	for _, typ := range handWritten {
		t.Run(typ.Name(), func(t *testing.T) { compareWithEncodingJSON(t, typ) })
	}
}

// judges write and read JSON. Sabir's codec refuses some types that encoding/json takes; those it takes must agree.
var judges = []struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}{
	{"encoding/json", json.Marshal, json.Unmarshal},
	{"codec/json", func(v any) ([]byte, error) { return sabirjson.Codec.Append(nil, v) }, sabirjson.Codec.Decode},
}

func compareWithEncodingJSON(t *testing.T, typ reflect.Type) {
	t.Helper()
	members, _ := layout.JSON.Members(typ)
	for i, judge := range judges {
		full := reflect.New(typ)
		next := int64(0)
		fill(full.Elem(), &next, 0)
		text, err := judge.marshal(full.Interface())
		if err != nil {
			if i == 0 {
				t.Fatalf("%v: %v", typ, err)
			}
			continue
		}
		var written map[string]json.RawMessage
		if err := json.Unmarshal(text, &written); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range members {
			at, err := full.Elem().FieldByIndexErr(m.Index)
			if err != nil {
				t.Fatalf("%v: %s is at %v: %v", typ, m.Name, m.Index, err)
			}
			if m.Has("omitzero") && at.IsZero() { // an empty struct
				continue
			}
			names = append(names, m.Name)
			if got := strings.Trim(string(written[m.Name]), `"`); at.CanInt() && got != fmt.Sprint(at.Int()) {
				t.Errorf("%v: %s writes %s as %q, and the member is %d", typ, judge.name, text, m.Name, at.Int())
			}
			if at.CanInt() {
				compareReading(t, typ, m, judge.name, judge.unmarshal)
			}
		}
		if want := slices.Sorted(maps.Keys(written)); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
			t.Errorf("%v: the members are %q, and %s writes %q", typ, names, judge.name, want)
		}
	}
}

// compareReading compares which field a name fills in a zero value.
func compareReading(t *testing.T, typ reflect.Type, m layout.Member, judge string, unmarshal func([]byte, any) error) {
	t.Helper()
	name, _ := json.Marshal(m.Name)
	number := "7"
	if m.Has("string") {
		number = `"7"`
	}
	v := reflect.New(typ)
	err := unmarshal(fmt.Appendf(nil, "{%s:%s}", name, number), v.Interface())
	if sealed := m.SealedBy() != ""; sealed != (err != nil) {
		t.Errorf("%v: %s reads %s: %v, and sealed is %v", typ, judge, m.Name, err, sealed)
	}
	if err != nil {
		return
	}
	if at, err := v.Elem().FieldByIndexErr(m.Index); err != nil || at.Int() != 7 || set(v.Elem(), 0) != 1 {
		t.Errorf("%v: %s does not fill %v from %s, or other fields too", typ, judge, m.Index, m.Name)
	}
}

// field is field i of an addressable struct, settable also where it is unexported.
func field(v reflect.Value, i int) reflect.Value {
	return reflect.NewAt(v.Field(i).Type(), v.Field(i).Addr().UnsafePointer()).Elem()
}

const maxFilled = 8 // a struct made of bytes may hold another one at each depth

// fill puts another number into each field, and makes what pointers point to.
func fill(v reflect.Value, next *int64, depth int) {
	for i := range v.NumField() {
		f := field(v, i)
		if f.Kind() == reflect.Pointer && depth < maxFilled {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch {
		case f.CanInt():
			*next++
			f.SetInt(*next)
		case f.Kind() == reflect.Struct:
			fill(f, next, depth+1)
		}
	}
}

// set counts the numbers that are not 0.
func set(v reflect.Value, depth int) (n int) {
	for i := range v.NumField() {
		f := field(v, i)
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		switch {
		case f.CanInt() && f.Int() != 0:
			n++
		case f.Kind() == reflect.Struct && depth <= maxFilled:
			n += set(f, depth+1)
		}
	}
	return n
}

var tags = []string{``, ``, ``, `json:"a"`, `json:"b"`, `json:"A"`, `json:"B"`, `json:"-"`, `json:"-,omitempty"`, `json:"a,string"`, `json:",omitempty"`,
	`json:"b,omitzero"`, `json:"a b"`, `json:"a.b"`, `json:"a/b~"`, `json:"é"`, `json:"a'b"`, `json:"a\\\\b"`, `json:""`, `json:",string"`, `other:"a"`, `json:"a`}

// structOf makes a struct of bytes. Known are the structs made before, so that one can occur in several places.
func structOf(data *[]byte, known *[]reflect.Type, depth int) reflect.Type {
	next := func(n int) int {
		if len(*data) == 0 {
			return 0
		}
		b := (*data)[0]
		*data = (*data)[1:]
		return int(b) % n
	}
	names := []string{"A", "B", "C", "E", "Ab"}
	var fields []reflect.StructField
	for _, name := range names[:next(len(names)+1)] {
		f := reflect.StructField{Name: name, Type: reflect.TypeFor[int64](), Tag: reflect.StructTag(tags[next(len(tags))])}
		if depth < 3 {
			switch next(4) {
			case 1, 2:
				f.Anonymous = true
				fallthrough
			case 3:
				if len(*known) > 0 && next(3) == 0 {
					f.Type = (*known)[next(len(*known))]
				} else {
					f.Type = structOf(data, known, depth+1)
				}
				if next(3) == 0 {
					f.Type = reflect.PointerTo(f.Type)
				}
			}
		}
		if f.Type.Kind() != reflect.Int64 && strings.Contains(string(f.Tag), "string") {
			f.Tag = ""
		}
		fields = append(fields, f)
	}
	made := reflect.StructOf(fields)
	*known = append(*known, made)
	return made
}

func FuzzFieldsAreResolvedAsEncodingJSONResolvesThem(f *testing.F) {
	f.Add([]byte{3, 0, 1, 1, 2, 3, 0, 4, 0, 2, 0, 2, 2, 1, 3, 0, 4, 0})
	f.Add([]byte("embedded structs in embedded structs, with names that clash"))
	for seed := range 200 { // what go test runs without -fuzz
		data := make([]byte, 64)
		for i, state := 0, uint32(seed)*2654435761+1; i < len(data); i++ {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			return
		}
		var known []reflect.Type
		compareWithEncodingJSON(t, structOf(&data, &known, 0))
	})
}

// These are all the names in tags that encoding/json and the JSON codec do not read alike.
func TestNamesThatEncodingJSONDoesNotRead(t *testing.T) {
	for _, name := range []string{"€", "a\tb", "a°", "😀"} {
		tag := reflect.StructTag(fmt.Sprintf("json:%q", name))
		typ := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int64](), Tag: tag}})
		text, err := sabirjson.Codec.Append(nil, reflect.New(typ).Interface())
		members, _ := layout.JSON.Members(typ)
		want := map[string]int{members[0].Name: 0}
		var got map[string]int
		if err != nil || json.Unmarshal(text, &got) != nil || !maps.Equal(got, want) || members[0].Name != name {
			t.Errorf("%s: codec/json writes %s, %v, and the member is %q", tag, text, err, members[0].Name)
		}
	}
}
