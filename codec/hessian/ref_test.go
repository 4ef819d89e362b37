package hessian_test

import (
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

type person struct {
	Name   string    `json:"name"`
	Friend *person   `json:"friend"`
	Kids   []*person `json:"kids"`
}

type registeredPerson struct {
	Name   string            `json:"name"`
	Friend *registeredPerson `json:"friend"`
	Any    any               `json:"any"`
}

func init() { hessian.Register[registeredPerson]("com.example.Person") }

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := hessian.Codec.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode[T any](t testing.TB, data []byte) T {
	t.Helper()
	var v T
	if err := hessian.Codec.Decode(data, &v); err != nil {
		t.Fatalf("%v\nfrom %q", err, data)
	}
	return v
}

func TestSharedPointersStayShared(t *testing.T) {
	ada := &person{Name: "Ada"}
	got := decode[[]*person](t, encode(t, []*person{ada, {Name: "Bob", Friend: ada, Kids: []*person{ada}}, ada}))
	if got[0] != got[2] || got[1].Friend != got[0] || got[1].Kids[0] != got[0] {
		t.Errorf("got %+v", got)
	}
}

func TestCyclesComeBackAsCycles(t *testing.T) {
	ring := &person{Name: "Ada"}
	ring.Friend = &person{Name: "Bob", Friend: ring}
	ring.Kids = []*person{ring}
	got := decode[*person](t, encode(t, ring))
	if got.Friend.Friend != got || got.Kids[0] != got {
		t.Errorf("got %+v", got)
	}

	self := map[string]any{"n": int32(1)}
	self["self"] = self
	again := decode[map[string]any](t, encode(t, self))
	if reflect.ValueOf(again["self"]).Pointer() != reflect.ValueOf(again).Pointer() {
		t.Error("a map inside itself came back as another map")
	}

	list := make([]any, 2)
	list[0] = list
	gotList := decode[any](t, encode(t, list)).([]any)
	if inner := gotList[0].([]any); &inner[0] != &gotList[0] {
		t.Error("a list inside itself came back as another list")
	}

	object := &hessian.Object{Class: "com.example.Self", Fields: []hessian.Field{{Name: "me"}}}
	object.Fields[0].Value = object
	gotObject := decode[any](t, encode(t, object)).(*hessian.Object)
	if gotObject.Fields[0].Value != any(gotObject) {
		t.Error("an object inside itself came back as another object")
	}
}

func TestSharedSlicesStayShared(t *testing.T) {
	shared := []int32{1, 2}
	got := decode[[][]int32](t, encode(t, [][]int32{shared, shared, shared[:1]}))
	if &got[0][0] != &got[1][0] || &got[2][0] == &got[0][0] {
		t.Error("two slices of one length over one array are one list, one of another length is another list")
	}
}

func TestAPointerToAStructIsNotAPointerToItsFirstField(t *testing.T) {
	type inner struct{ A, B int32 }
	type outer struct{ Inner inner }
	v := &outer{inner{1, 2}}
	type both struct {
		Outer *outer
		Inner *inner
	}
	got := decode[both](t, encode(t, both{v, &v.Inner}))
	if *got.Outer != *v || *got.Inner != v.Inner {
		t.Errorf("got %+v, %+v", got.Outer, got.Inner)
	}
}

func TestEmptyStructsAreNotShared(t *testing.T) {
	type none struct{}
	data := encode(t, []*none{{}, {}})
	if string(data) != "zHZHZ" {
		t.Errorf("got %q", data)
	}
}

func TestNumbersCountListsMapsAndObjectsAsJavaDoes(t *testing.T) {
	ada := &registeredPerson{Name: "Ada"}
	data := encode(t, []any{"a string", []byte("binary"), map[string]any{}, []any{}, big.NewInt(1), ada, ada})
	// 0 is the list, 1 the map, 2 the empty list, 3 the number, 4 its words, 5 Ada.
	if !strings.HasSuffix(string(data), "Q\x95") {
		t.Errorf("got %q", data)
	}
}

func TestAReferenceToASkippedValueIsRead(t *testing.T) {
	ada := &person{Name: "Ada", Kids: []*person{{Name: "Cy"}}}
	data := encode(t, map[string]any{"a_unknown": []any{ada}, "friend": ada, "kids": []any{ada, ada}})
	got := decode[person](t, data)
	if got.Friend == nil || got.Friend.Name != "Ada" || got.Friend.Kids[0].Name != "Cy" || got.Kids[0] != got.Friend || got.Kids[1] != got.Friend {
		t.Errorf("got %+v", got)
	}
}

func TestOneValueIsReadAsTheTypeOfEachReference(t *testing.T) {
	shared := map[string]any{"name": "Ada", "list": []any{int32(1)}}
	shared["me"] = shared
	data := encode(t, map[string]any{"a": shared, "b": shared, "c": shared, "d": shared})
	type first struct {
		Name string  `json:"name"`
		List []int32 `json:"list"`
		Me   *first  `json:"me"`
	}
	type second struct {
		Name string         `json:"name"`
		Me   map[string]any `json:"me"`
	}
	got := decode[struct {
		A any     `json:"a"`
		B *first  `json:"b"`
		C *second `json:"c"`
		D *first  `json:"d"`
	}](t, data)
	if got.B.Name != "Ada" || got.B.Me != got.B || got.B.List[0] != 1 || got.D != got.B || got.C.Name != "Ada" || got.C.Me["name"] != "Ada" {
		t.Errorf("got %+v", got)
	}
	if a := got.A.(map[string]any); reflect.ValueOf(a["me"]).Pointer() != reflect.ValueOf(a).Pointer() {
		t.Error("the cycle of the first is broken")
	}
}

func TestRegisteredClassesAreSharedBetweenAnyAndPointers(t *testing.T) {
	ada := &registeredPerson{Name: "Ada"}
	ada.Any, ada.Friend = ada, ada
	got := decode[any](t, encode(t, ada)).(*registeredPerson)
	if got.Any != any(got) || got.Friend != got {
		t.Errorf("got %+v", got)
	}
	typed := decode[registeredPerson](t, encode(t, []any{ada}[0]))
	if typed.Any != any(typed.Friend) {
		t.Errorf("got %+v", typed)
	}
}

func TestACycleThatEndsInAStructByValueIsAnError(t *testing.T) {
	type byValue struct {
		Kids map[string]struct {
			Kids map[string]any `json:"kids"`
			Me   []struct{}     `json:"me"`
		} `json:"kids"`
		One [1]struct {
			Me [1]any `json:"me"`
		} `json:"one"`
	}
	for name, data := range map[string]string{
		"an array that holds itself": "H\x03one\x79H\x02meQ\x91ZZ",
	} {
		var v byValue
		err := hessian.Codec.Decode([]byte(data), &v)
		if err == nil {
			t.Errorf("%s was read as %+v", name, v)
			continue
		}
		t.Log(err)
	}
}

func TestReferencesCannotMakeAMessageMuchLarger(t *testing.T) {
	type row struct{ Text string }
	list := []byte("X\x49\x00\x00\xff\xff")
	list = append(list, encode(t, row{strings.Repeat("x", 60_000)})...)
	list = append(list, strings.Repeat("Q\x91", 0xfffe)...)
	var byValue []row
	if err := hessian.Codec.Decode(list, &byValue); err == nil || !strings.Contains(err.Error(), "repeat too much") {
		t.Errorf("a list of values: %v", err)
	}
	var byPointer []*row
	if err := hessian.Codec.Decode(list, &byPointer); err != nil || byPointer[0xfffe] != byPointer[0] {
		t.Errorf("a list of pointers: %v", err)
	}
}

func TestReadingAgainIsBounded(t *testing.T) {
	// An unknown field has lists inside each other around a long list. The references to them, the innermost first, would
	// each read that one again.
	const levels = 100
	data := "H\x01u" + strings.Repeat("y", levels) + "X\xd4\x10\x00" + strings.Repeat("\x90", 0x1000) + "\x04kids"
	data += "X" + string([]byte{0xc8, levels})
	for i := range levels {
		data += "Q" + string([]byte{0xc8, byte(levels - i)})
	}
	var v struct {
		Kids []any `json:"kids"`
	}
	if err := hessian.Codec.Decode([]byte(data+"Z"), &v); err == nil || !strings.Contains(err.Error(), "too much of the data") {
		t.Errorf("got %v", err)
	}
}

func TestManyPointersAreFound(t *testing.T) {
	var all []*person
	for i := range 5000 {
		all = append(all, &person{Name: strings.Repeat("x", i%7)})
	}
	for range 3 { // the second time with the buffer of the first
		got := decode[[]*person](t, encode(t, append(all, all...)))
		for i := range all {
			if got[i] != got[i+len(all)] || got[i].Name != all[i].Name {
				t.Fatalf("pointer %d is lost", i)
			}
		}
	}
}
