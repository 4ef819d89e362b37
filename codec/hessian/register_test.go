package hessian_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

type (
	shape  interface{ Area() float64 }
	square struct {
		Side float64 `json:"side"`
	}
	drawing struct {
		Shapes []shape `json:"shapes"`
	}
	tags    []string
	prices  map[string]float64
	evolved struct {
		Added string  `json:"added"`
		Name  string  `json:"name"`
		Age   float64 `json:"age"`
	}
)

func (s *square) Area() float64 { return s.Side * s.Side }

func init() {
	hessian.Register[square]("com.example.Square")
	hessian.Register[tags]("java.util.TreeSet")
	hessian.Register[prices]("java.util.LinkedHashMap")
	hessian.Register[evolved]("com.example.Evolved")
}

func TestRegisteredTypesComeOutOfAnAny(t *testing.T) {
	want := []any{&square{2}, javaColor("RED"), &square{3}}
	if got := decode[any](t, encode(t, want)); !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %#v", got)
	}
}

func TestNamesOfListsAndMapsAreWritten(t *testing.T) {
	data := encode(t, []any{tags{"a"}, prices{"x": 1.5}, stringArray{}})
	want := []any{&hessian.List{Type: "java.util.TreeSet", Items: []any{"a"}},
		&hessian.Map{Type: "java.util.LinkedHashMap", Entries: []hessian.Entry{{Key: "x", Value: 1.5}}}, &hessian.List{Type: "[string", Items: []any{}}}
	if got := decode[any](t, data); !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %#v", got)
	}
}

func TestAnInterfaceTakesARegisteredTypeThatSatisfiesIt(t *testing.T) {
	got := decode[drawing](t, encode(t, drawing{[]shape{&square{2}, nil}}))
	if got.Shapes[0].Area() != 4 || got.Shapes[1] != nil {
		t.Errorf("got %+v", got)
	}
	var d drawing
	err := hessian.Codec.Decode(encode(t, map[string]any{"shapes": []any{tags{"a"}}}), &d)
	if err == nil || !strings.Contains(err.Error(), "/shapes/0: a value that is no hessian_test.shape") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownClassIsAnObject(t *testing.T) {
	object := &hessian.Object{Class: "com.example.Unknown", Fields: []hessian.Field{{Name: "side", Value: 2.0}, {Name: "more", Value: []any{}}}}
	data := encode(t, object)
	got := decode[any](t, data).(*hessian.Object)
	if side, ok := got.Get("side"); !reflect.DeepEqual(got, object) || side != 2.0 || !ok {
		t.Errorf("got %+v", got)
	}
	if got := decode[map[string]any](t, data); !reflect.DeepEqual(got, map[string]any{"side": 2.0, "more": []any{}}) {
		t.Errorf("as a map: %v", got)
	}
	if got := decode[square](t, data); got.Side != 2 {
		t.Errorf("as a struct: %+v", got)
	}
	if got := decode[hessian.Map](t, data); got.Type != object.Class || len(got.Entries) != 2 {
		t.Errorf("as a Map: %+v", got)
	}
}

func TestAClassOfAnotherVersionIsReadByTheNamesOfItsFields(t *testing.T) {
	data := encode(t, &hessian.Object{Class: "com.example.Evolved", Fields: []hessian.Field{
		{Name: "age", Value: int64(36)}, {Name: "gone", Value: &hessian.Object{Class: "com.example.Gone"}}, {Name: "name", Value: "Ada"}}})
	if got := decode[any](t, data); !reflect.DeepEqual(got, &evolved{Name: "Ada", Age: 36}) {
		t.Errorf("got %+v", got)
	}
}

func TestFieldsTakeNamesWithTheOtherFirstLetter(t *testing.T) {
	type untagged struct {
		UserName string
		Both     string
		Taken    string `json:"both"`
	}
	got := decode[untagged](t, encode(t, map[string]string{"userName": "ada", "Both": "1", "both": "2"}))
	if got != (untagged{"ada", "1", "2"}) {
		t.Errorf("got %+v", got)
	}
}

func TestTags(t *testing.T) {
	type tagged struct {
		A string `hessian:"alpha" json:"a"`
		B string `hessian:",omitempty" json:"b"`
		C string `hessian:"-" json:"c"`
		D string `json:"-"`
		E string `json:"e,omitempty"`
		F string `hessian:"f"`
	}
	if got := string(encode(t, tagged{C: "c", D: "d"})); got != "H\x05alpha\x00\x01f\x00Z" {
		t.Errorf("got %q", got)
	}
	if got := string(encode(t, tagged{"1", "2", "3", "4", "5", "6"})); got != "H\x05alpha\x011\x01b\x012\x01e\x015\x01f\x016Z" {
		t.Errorf("got %q", got)
	}
}

func TestRegisterRefusesMistakes(t *testing.T) {
	for name, register := range map[string]func(){
		"a type twice":           func() { hessian.Register[square]("com.example.Other") },
		"a class twice":          func() { hessian.Register[drawing]("com.example.Square") },
		"a list named as class":  func() { type list []int; hessian.Register[list]("com.example.Square") },
		"no name":                func() { hessian.Register[drawing]("") },
		"a long name":            func() { hessian.Register[drawing](strings.Repeat("x", 1001)) },
		"a basic type":           func() { hessian.Register[int]("java.lang.Integer") },
		"a slice without a name": func() { hessian.Register[[]int]("[int") },
		"a pointer":              func() { hessian.Register[*drawing]("com.example.Drawing") },
		"a channel":              func() { hessian.Register[chan int]("com.example.Channel") },
		"a struct with one":      func() { hessian.Register[struct{ C chan int }]("com.example.Channel") },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "hessian: ") {
					t.Errorf("%s: got the panic %q", name, text)
				}
			}()
			register()
			t.Errorf("%s was registered", name)
		}()
	}
}

func TestAmbiguousFieldsAreAnError(t *testing.T) {
	type ambiguous struct {
		A int `hessian:"x"`
		B int `hessian:"x"`
	}
	if _, err := hessian.Codec.Append(nil, ambiguous{}); err == nil || !strings.Contains(err.Error(), `both named "x"`) {
		t.Errorf("got %v", err)
	}
}

func TestAnUnregisteredDecoderReadsObjectsAsTheWireHasThem(t *testing.T) {
	data := encode(t, []any{square{}, &square{}})
	d := hessian.NewDecoder(data)
	d.Unregistered()
	var got []any
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, v := range got {
		if o, ok := v.(*hessian.Object); !ok || o.Class != "com.example.Square" {
			t.Errorf("got %#v", v)
		}
	}
	d.Reset(data)
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got[0].(*square); !ok {
		t.Errorf("after Reset: got %#v", got[0])
	}
}
