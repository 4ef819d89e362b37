package codectest

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"testing"
)

func roundTrip(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			data := s.encode(t, shape.Value)
			got := reflect.New(reflect.TypeOf(shape.Value))
			if err := s.Decode(data, got.Interface()); err != nil {
				t.Fatalf("%v\nfrom %.200q", err, data)
			}
			if text := s.Difference(shape.Value, got.Elem().Interface()); text != "" {
				t.Errorf("%s\nfrom %.200q", text, data)
			}
		})
	}
}

func valuesAndPointers(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		if shape.unordered && !s.Sorted {
			continue
		}
		pointer := reflect.New(reflect.TypeOf(shape.Value))
		pointer.Elem().Set(reflect.ValueOf(shape.Value))
		ofValue, ofPointer := s.encode(t, shape.Value), s.encode(t, pointer.Interface())
		if !bytes.Equal(ofValue, ofPointer) {
			t.Errorf("%s: the value gives %.200q, a pointer to it %.200q", shape.Name, ofValue, ofPointer)
		}
	}
}

func deterministic(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		if shape.unordered && !s.Sorted {
			continue
		}
		first := s.encode(t, shape.Value)
		for range 20 {
			if again := s.encode(t, shape.Value); !bytes.Equal(again, first) {
				t.Errorf("%s: first %.200q, then %.200q", shape.Name, first, again)
				break
			}
		}
	}
}

func nothingAliases(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		data := s.encode(t, shape.Value)
		got := reflect.New(reflect.TypeOf(shape.Value))
		if err := s.Decode(data, got.Interface()); err != nil {
			t.Errorf("%s: %v", shape.Name, err)
			continue
		}
		for i := range data {
			data[i] = 0xa5
		}
		if text := s.Difference(shape.Value, got.Elem().Interface()); text != "" {
			t.Errorf("%s, after the data was overwritten: %s", shape.Name, text)
		}
	}
}

// anyTypes wants the types that a program meets when it walks through a value that it has no Go type for.
func anyTypes(t *testing.T, s *suite) {
	if s.refuses("map of any") {
		return
	}
	var integer any = int64(5)
	if s.AnyInteger != nil {
		integer = reflect.ValueOf(5).Convert(reflect.TypeOf(s.AnyInteger)).Interface()
	}
	for name, value := range map[string]any{
		"integer": integer, "float": 1.5, "text": "a", "bool": true, "null": nil, "list": []any{"b"}, "map": map[string]any{"a": "b"},
	} {
		data := s.encode(t, map[string]any{"value": value})
		var got map[string]any
		if err := s.Decode(data, &got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got, map[string]any{"value": value}) {
			t.Errorf("%s: got a %T (%v), want a %T (%v)", name, got["value"], got["value"], value, value)
		}
	}
}

func concurrent(t *testing.T, s *suite) {
	type first struct { // used here only, so whatever a codec learns of a type it learns in several goroutines at once
		A, B, C int
		Name    string
	}
	type second struct {
		Inner []first
		First *first
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			var buffer []byte
			for n := range 100 {
				one := first{i, n, i * n, fmt.Sprint("name ", n)}
				want := second{[]first{one, one}, &one}
				var err error
				if buffer, err = s.Append(buffer[:0], &want); err != nil {
					t.Error(err)
					return
				}
				var got second
				if err := s.Decode(buffer, &got); err != nil {
					t.Error(err)
					return
				}
				if text := s.Difference(want, got); text != "" {
					t.Error(text)
					return
				}
			}
		})
	}
	group.Wait()
}
