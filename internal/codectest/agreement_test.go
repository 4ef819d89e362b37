package codectest_test

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/avro"
	_ "github.com/sabir-go/sabir/codec/cbor"
	_ "github.com/sabir-go/sabir/codec/gob"
	_ "github.com/sabir-go/sabir/codec/hessian"
	_ "github.com/sabir-go/sabir/codec/json"
	_ "github.com/sabir-go/sabir/codec/msgpack"
	_ "github.com/sabir-go/sabir/codec/native"
	_ "github.com/sabir-go/sabir/codec/protobuf"
	_ "github.com/sabir-go/sabir/codec/thrift"
)

type (
	Inner struct {
		ID string `json:"id"`
	}
	inner  struct{ Inner }
	Number int32

	pointerTo[T any] struct {
		P *T `json:"p"`
	}
	embeddedPointer struct {
		*Inner
		Name string `json:"name"`
	}
	sealedPointer struct {
		*inner
		Name string `json:"name"`
	}
	hiddenByOuter struct {
		*Inner
		Own string `json:"id"`
	}
	namedEmbedding struct {
		inner `json:"inner"`
		Name  string `json:"name"`
	}
	embeddedNumber struct {
		Number
		Name string `json:"name"`
	}
	embedOption struct {
		In   Inner  `json:",embed"`
		Name string `json:"name"`
	}
	embedMap struct {
		More map[string]string `json:",embed"`
		Name string            `json:"name"`
	}
	stringOption struct {
		N int64 `json:"n,string"`
	}
	endingComma struct {
		ID string `json:"id,"`
	}
)

// agreement are values whose forms the formats could disagree on. docs/codecs.md has what becomes of each in each format, which
// the test compares: no format may come to differ, or to agree, without a change of the page.
var agreement = []struct {
	name  string
	value any // a pointer to a struct
}{
	{"an embedded pointer", &embeddedPointer{&Inner{"7"}, "n"}},
	{"an embedded pointer that is nil", &embeddedPointer{nil, "n"}},
	{"an embedded pointer to a zero value", &embeddedPointer{&Inner{}, "n"}},
	{"an embedded pointer to an unexported struct", &sealedPointer{&inner{Inner{"7"}}, "n"}},
	{"an embedded pointer, its field hidden", &hiddenByOuter{&Inner{"7"}, "own"}},
	{"an embedded unexported struct with a name", &namedEmbedding{inner{Inner{"7"}}, "n"}},
	{"an embedded type that is no struct", &embeddedNumber{7, "n"}},
	{"a struct with the option `embed`", &embedOption{Inner{"7"}, "n"}},
	{"a map with the option `embed`", &embedMap{map[string]string{"k": "v"}, "n"}},
	{"a number with the option `string`", &stringOption{7}},
	{"a tag that ends in a comma", &endingComma{"7"}},
	{"a pointer to a nil slice", &pointerTo[[]int]{new([]int)}},
	{"a pointer to a nil map", &pointerTo[map[string]int]{new(map[string]int)}},
	{"a pointer to nil bytes", &pointerTo[[]byte]{new([]byte)}},
	{"a pointer to a nil `any`", &pointerTo[any]{new(any)}},
	{"a pointer to a nil pointer", &pointerTo[*int]{new(*int)}},
	{"a pointer to 0", &pointerTo[int]{new(int)}},
	{"a pointer to an empty struct", &pointerTo[struct{}]{new(struct{})}},
}

var (
	formats    = []string{"json", "msgpack", "cbor", "native", "avro", "protobuf", "thrift", "hessian", "gob"}
	selfNaming = []string{"json", "msgpack", "cbor", "hessian"} // can be read without a type
)

func TestFormatsAgreeButWhereTheDocsSaySo(t *testing.T) {
	values, names := newTable(formats), newTable(selfNaming)
	for _, one := range agreement {
		values.row(one.name, cells(formats, func(c codec.Codec) string { return comesBack(c, one.value) }))
		if row := cells(selfNaming, func(c codec.Codec) string { return namesOf(c, one.value) }); len(slices.Compact(slices.Clone(row))) > 1 {
			names.row(one.name, row)
		}
	}
	page, err := os.ReadFile("../../docs/codecs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{values.String(), names.String()} {
		if !strings.Contains(string(page), table) {
			t.Errorf("docs/codecs.md lacks this table, or has another:\n%s", table)
		}
	}
}

type table struct{ strings.Builder }

func newTable(columns []string) *table {
	t := &table{}
	t.WriteString("| | " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	return t
}

func (t *table) row(name string, cells []string) {
	t.WriteString("| " + name + " | " + strings.Join(cells, " | ") + " |\n")
}

func cells(formats []string, cell func(codec.Codec) string) (row []string) {
	for _, name := range formats {
		c, ok := codec.Lookup(name)
		if !ok {
			panic(name)
		}
		row = append(row, cell(c))
	}
	return row
}

// comesBack writes and reads a value, and returns the result as text.
func comesBack(c codec.Codec, value any) string {
	data, err := c.Append(nil, value)
	if err != nil {
		return "refused"
	}
	got := reflect.New(reflect.TypeOf(value).Elem())
	if c.Decode(data, got.Interface()) != nil {
		return "not read"
	}
	if reflect.DeepEqual(got.Interface(), value) {
		return "kept"
	}
	return form(got.Elem().Field(0))
}

// form describes the decoded field in words.
func form(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return "pointer to " + form(v.Elem())
		}
		return "nil"
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return "nil"
		}
		return "empty"
	case reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
	}
	if v.IsZero() {
		return "zero"
	}
	return "another value"
}

// namesOf are the names under which a struct is written.
func namesOf(c codec.Codec, value any) string {
	data, err := c.Append(nil, value)
	if err != nil {
		return "refused"
	}
	var members map[string]any
	if err := c.Decode(data, &members); err != nil {
		return "not read"
	}
	return "`" + strings.Join(slices.Sorted(maps.Keys(members)), " ") + "`"
}
