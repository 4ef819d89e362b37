package hessian_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/hessian"
)

func TestValuesOfOneStreamShareTheirNumbers(t *testing.T) {
	ada := &registeredPerson{Name: "Ada"}
	e := hessian.NewEncoder([]byte("head"))
	for _, v := range []any{"2.0.2", ada, &registeredPerson{Name: "Bob", Friend: ada}, &hessian.List{Type: "[int"}, &hessian.List{Type: "[int"}, ada} {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	data, ok := strings.CutPrefix(string(e.Bytes()), "head")
	if !ok || strings.Count(data, "com.example.Person") != 1 || strings.Count(data, "[int") != 1 {
		t.Fatalf("got %q", data)
	}
	d := hessian.NewDecoder([]byte(data))
	var version string
	var first, second, last *registeredPerson
	for _, v := range []any{&version, &first, &second} {
		if err := d.Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Skip(); err != nil {
		t.Fatal(err)
	}
	var list *hessian.List
	if err := d.Decode(&list); err != nil || list.Type != "[int" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if err := d.Decode(&last); err != nil {
		t.Fatal(err)
	}
	if version != "2.0.2" || second.Friend != first || last != first || d.Len() != 0 {
		t.Errorf("got %q, %+v, %+v, %d bytes left", version, first, second, d.Len())
	}
}

func TestAnEncoderStopsAtItsFirstError(t *testing.T) {
	e := hessian.NewEncoder(nil)
	if err := e.Encode("kept"); err != nil {
		t.Fatal(err)
	}
	first := e.Encode(map[string]any{"a": make(chan int)})
	if first == nil || e.Encode("more") != first || string(e.Bytes()) != "\x04kept" {
		t.Errorf("got %v, then %q", first, e.Bytes())
	}
	e.Reset(nil)
	if err := e.Encode("more"); err != nil || string(e.Bytes()) != "\x04more" {
		t.Errorf("after a reset: %v, %q", err, e.Bytes())
	}
}

func TestADecoderStopsAtItsFirstError(t *testing.T) {
	d := hessian.NewDecoder([]byte("\x01a\x40\x01b"))
	var s string
	if err := d.Decode(&s); err != nil || s != "a" {
		t.Fatalf("got %q, %v", s, err)
	}
	first := d.Decode(&s)
	if first == nil || d.Decode(&s) != first || d.Skip() != first {
		t.Errorf("got %v, then %v", first, d.Decode(&s))
	}
	d.Reset([]byte("\x01c"))
	if err := d.Decode(&s); err != nil || s != "c" || d.Len() != 0 {
		t.Errorf("after a reset: %q, %v", s, err)
	}
	if err := d.Decode(&s); err == nil {
		t.Error("read a value behind the last")
	}
}

func TestManyClassesAndTypesKeepTheirNumbers(t *testing.T) {
	var all []any
	for round := range 2 {
		for i := range 40 {
			all = append(all, &hessian.Object{Class: fmt.Sprint("c", i), Fields: []hessian.Field{{Name: "n", Value: int32(round)}}},
				&hessian.List{Type: fmt.Sprint("t", i), Items: []any{int32(i)}})
		}
	}
	data := encode(t, all)
	if n := strings.Count(string(data), "c39"); n != 1 {
		t.Errorf("class c39 is defined %d times", n)
	}
	for i, v := range decode[[]any](t, data) {
		want := fmt.Sprint("c", i/2%40)
		if o, ok := v.(*hessian.Object); ok && o.Class != want {
			t.Errorf("value %d is of class %s, want %s", i, o.Class, want)
		}
		if l, ok := v.(*hessian.List); ok && l.Type != fmt.Sprint("t", i/2%40) {
			t.Errorf("value %d is of type %s", i, l.Type)
		}
	}
}

func TestOneClassNameWithOtherFieldsIsAnotherClass(t *testing.T) {
	object := func(fields ...hessian.Field) *hessian.Object { return &hessian.Object{Class: "c", Fields: fields} }
	want := []any{object(hessian.Field{Name: "a", Value: "1"}), object(hessian.Field{Name: "b", Value: "2"}, hessian.Field{Name: "a", Value: "3"}), object(hessian.Field{Name: "a", Value: "4"})}
	got := decode[[]any](t, encode(t, want))
	for i := range want {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}
