package native_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
)

// read encodes v as a W and decodes it as an R, with W's schema as a peer would send it.
func read[W, R any](t *testing.T, v W, into R) R {
	t.Helper()
	data, err := native.For[W]().Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := native.ParseSchema(native.For[W]().Schema().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	typ, err := native.For[R]().From(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := typ.Decode(data, &into); err != nil {
		t.Fatal(err)
	}
	dynamic, err := native.Of(reflect.TypeFor[R]())
	if err == nil {
		dynamic, err = dynamic.From(schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	var other R
	if err := dynamic.DecodeValue(data, &other); err != nil || !reflect.DeepEqual(other, into) {
		t.Errorf("Type gives %v, Dynamic %v, %v", into, other, err)
	}
	return into
}

func reads[W, R any](t *testing.T, v W, want R) {
	t.Helper()
	var zero R
	if got := read(t, v, zero); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

func TestAFieldThatOnlyTheReaderHasBecomesZero(t *testing.T) {
	type writer struct{ A int }
	type reader struct {
		A     int
		Added []string
	}
	if got := read(t, writer{1}, reader{}); got.A != 1 || got.Added != nil {
		t.Errorf("got %v", got)
	}
	data, _ := native.For[writer]().Append(nil, &writer{1})
	typ, err := native.For[reader]().From(native.For[writer]().Schema())
	if err != nil {
		t.Fatal(err)
	}
	got := reader{Added: []string{"before"}}
	if err := typ.Decode(data, &got); err != nil || got.Added != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAFieldOfEveryKindThatOnlyTheWriterHasIsSkipped(t *testing.T) {
	type writer struct {
		Before string
		Old    everything
		Nested nested
		Trees  []tree
		Lists  [2]list
		Nil    *everything
		Empty  []struct{}
		None   struct{}
		After  string
	}
	type reader struct{ Before, After string }
	v := writer{Before: "b", Old: everythingValue(), Nested: nestedValue(), Trees: []tree{{Name: "x"}},
		Lists: [2]list{{{}, nil}}, Empty: make([]struct{}, 3), After: "a"}
	reads(t, v, reader{"b", "a"})
}

func TestFieldsMayStandInAnotherOrder(t *testing.T) {
	type writer struct {
		A int
		B string
		C simple
	}
	type reader struct {
		C simple
		B string
		A int
	}
	reads(t, writer{1, "two", simple{C: "three"}}, reader{simple{C: "three"}, "two", 1})
}

func TestAnAliasReadsWhatTheWriterCallsOtherwise(t *testing.T) {
	type writer struct{ Old, Oldest int }
	type reader struct {
		New  int `sabir:"new,alias=Unknown,alias=Old"`
		Last int `sabir:"last,alias=Oldest"`
	}
	reads(t, writer{1, 2}, reader{1, 2})
	type taken struct {
		New int `sabir:"new,alias=Old"`
		Old int
	}
	reads(t, writer{1, 2}, taken{0, 1}) // a name goes before an alias
}

func TestAFieldIsRenamedInTwoDeploymentsThatReadEachOther(t *testing.T) {
	type before struct{ Name, Town string }
	type first struct {
		Name string `sabir:"Name,alias=FullName"`
		Town string
	}
	type second struct {
		FullName string `sabir:"FullName,alias=Name"`
		Town     string
	}
	reads(t, before{"Ada", "London"}, first{"Ada", "London"})
	reads(t, first{"Ada", "London"}, before{"Ada", "London"})
	reads(t, first{"Ada", "London"}, second{"Ada", "London"})
	reads(t, second{"Ada", "London"}, first{"Ada", "London"})
	reads(t, second{"Ada", "London"}, before{"", "London"}) // why it takes two
}

func TestNumbersBecomeWider(t *testing.T) {
	type writer struct {
		A, B, C int8
		D, E    int16
		F       int32
		G, H, I uint8
		J, K    uint16
		L       uint32
		M       float32
		N       complex64
	}
	type reader struct {
		A int16
		B int32
		C int64
		D int32
		E int
		F int64
		G uint16
		H uint32
		I uint64
		J uint32
		K uint
		L uint64
		M float64
		N complex128
	}
	reads(t, writer{-1, -2, -128, -4, -5, -6, 7, 8, 255, 10, 11, 12, 1.5, 2i},
		reader{-1, -2, -128, -4, -5, -6, 7, 8, 255, 10, 11, 12, 1.5, 2i})
}

func TestAValueBecomesAPointerToIt(t *testing.T) {
	type writer struct {
		A int32
		B item
	}
	type reader struct {
		A *int64
		B *struct{ Name *string }
	}
	name, a := "x", int64(1)
	reads(t, writer{1, item{"x", 2}}, reader{&a, &struct{ Name *string }{&name}})
}

func TestChangesReachThroughEveryContainer(t *testing.T) {
	type v1 struct{ A int8 }
	type v2 struct {
		B string
		A int64
	}
	reads(t, []v1{{1}}, []v2{{A: 1}})
	reads(t, [2]v1{{1}, {2}}, [2]v2{{A: 1}, {A: 2}})
	reads(t, map[int8]v1{1: {2}}, map[int32]v2{1: {A: 2}})
	reads(t, &v1{1}, &v2{A: 1})
	reads(t, map[string]string{"a": "b"}, map[string]*string{"a": new("b")})
	reads(t, [2]uint8{1, 2}, [2]uint16{1, 2})
	reads(t, []struct{}{{}, {}}, []v2{{}, {}})
	reads(t, []v1{{1}}, []struct{}{{}})
}

func TestARecursiveTypeIsTranslated(t *testing.T) {
	type v1 struct {
		Name     string
		Children []v1
	}
	type v2 struct {
		Children []v2
		Size     *int
		Name     string
	}
	reads(t, v1{"a", []v1{{"b", nil}, {"c", []v1{}}}}, v2{Name: "a", Children: []v2{{Name: "b"}, {Name: "c", Children: []v2{}}}})
}

func TestTheNamesOfTypesDoNotMatter(t *testing.T) {
	type a struct{ X item }
	type b struct {
		X struct {
			Name string
			ID   int32
		}
	}
	if !sameSchema[a, b]() {
		t.Error("two types of the same form have two hashes")
	}
	type c struct{ Y item }
	if sameSchema[a, c]() || sameSchema[int, int32]() || sameSchema[[]int, *int]() {
		t.Error("two types of different form have one hash")
	}
	if !sameSchema[int, int64]() {
		t.Error("int and int64 have two hashes")
	}
}

type (
	order   struct{ Lines []line }
	line    struct{ Price string }
	orderV2 struct{ Lines []lineV2 }
	lineV2  struct{ Price int64 }
)

func TestAnImpossibleChangeNamesBothTypesAndTheField(t *testing.T) {
	_, err := native.For[orderV2]().From(native.For[order]().Schema())
	fault, ok := errors.AsType[*codec.Error](err)
	if !ok || fault.Pointer != "/Lines/Price" {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"int64", "string", `"Price"`, "line", "native_test.lineV2"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s is missing in: %v", part, err)
		}
	}
}

func TestChangesThatLoseValuesAreImpossible(t *testing.T) {
	tests := map[string]func() error{
		"narrower int":      func() error { return from[int64, int32]() },
		"signed to not":     func() error { return from[int8, uint64]() },
		"unsigned to int":   func() error { return from[uint8, int64]() },
		"narrower float":    func() error { return from[float64, float32]() },
		"pointer to value":  func() error { return from[*int, int]() },
		"string to bytes":   func() error { return from[string, []byte]() },
		"slice to array":    func() error { return from[[]int, [2]int]() },
		"array of another":  func() error { return from[[3]int, [2]int]() },
		"struct to map":     func() error { return from[item, map[string]int]() },
		"value to pointer²": func() error { return from[int, **int]() },
		"time to int":       func() error { return from[struct{ T any }, struct{ T int }]() },
	}
	for name, run := range tests {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func from[W, R any]() error {
	_, err := native.For[R]().From(native.For[W]().Schema())
	return err
}

func TestTheCodecRefusesAnotherSchemaUntilItIsKnown(t *testing.T) {
	type v1 struct{ KnownA int8 }
	type v2 struct{ KnownA, KnownB int64 }
	data, err := native.Append(nil, v1{5})
	if err != nil {
		t.Fatal(err)
	}
	var got v2
	err = native.Decode(data, &got)
	if err == nil || !strings.Contains(err.Error(), "AddSchema") || !strings.Contains(err.Error(), native.For[v1]().Schema().Hash().String()) {
		t.Fatalf("got %v", err)
	}
	if err := native.AddSchema(native.For[v1]().Schema()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the kept translation
		if err := native.Decode(data, &got); err != nil || got != (v2{KnownA: 5}) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestADynamicTakesPointersToItsOwnTypeOnly(t *testing.T) {
	dynamic, err := native.Of(reflect.TypeFor[item]())
	if err != nil {
		t.Fatal(err)
	}
	data, text := []byte("\x01a\x02"), item{}
	if err := dynamic.DecodeAlias(data, &text); err != nil || text != (item{"a", 1}) {
		t.Errorf("got %v, %v", text, err)
	}
	data[1] = 'b'
	if text.Name != "b" {
		t.Error("DecodeAlias copies strings")
	}
	for _, target := range []any{nil, item{}, (*item)(nil), new(pid)} {
		if err := dynamic.DecodeValue([]byte{0, 0}, target); err == nil {
			t.Errorf("%T: no error", target)
		}
		if out, err := dynamic.AppendValue([]byte("as it was"), target); err == nil || string(out) != "as it was" {
			t.Errorf("%T: appended %q, %v", target, out, err)
		}
	}
}

func TestNilAndTypesWithoutEncodingAreRefused(t *testing.T) {
	dynamic, err := native.Of(reflect.TypeFor[item]())
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func() (*native.Dynamic, error){
		"no schema":   func() (*native.Dynamic, error) { return dynamic.From(nil) },
		"no type":     func() (*native.Dynamic, error) { return native.Of(nil) },
		"no encoding": func() (*native.Dynamic, error) { return native.Of(reflect.TypeFor[func()]()) },
	} {
		if _, err := run(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := native.For[func()]().From(dynamic.Schema()); err == nil || native.For[func()]().Schema() != nil {
		t.Error("a type without encoding has a schema or a translation")
	}
}

func TestStructsWithoutAFieldInCommonAreRefused(t *testing.T) {
	type person struct{ Name string }
	type order struct{ Number int }
	type named struct {
		Number int
		Name   string
	}
	if err := from[person, order](); err == nil || !strings.Contains(err.Error(), "no field in common") {
		t.Errorf("got %v", err)
	}
	for name, err := range map[string]error{
		"one in common": from[person, named](), "nothing to say": from[struct{}, order](), "nothing wanted": from[person, struct{}](),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFieldThatDiffersInItsCaseOnlyIsRefused(t *testing.T) {
	type camel struct {
		ID int `json:"userId"`
		At int
	}
	type upper struct {
		ID int `json:"userID"`
		At int
	}
	if err := from[camel, upper](); err == nil || !strings.Contains(err.Error(), "in its case only") {
		t.Errorf("got %v", err)
	}
	if err := from[[]camel, []upper](); err == nil || !strings.Contains(err.Error(), "in its case only") {
		t.Errorf("in a list: got %v", err)
	}
}
