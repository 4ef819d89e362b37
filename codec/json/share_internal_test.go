package json

import (
	"reflect"
	"strings"
	"testing"
)

const mixed = `{"name":"a short text","list":["one","two",3,-4.5,1e9,255,256,[],{},null,true,"` + "ż" + `"],"long":{"a name that is longer than what is held on to":"x"}}`

func mixedValue() any {
	return map[string]any{
		"name": "a short text",
		"list": []any{"one", "two", 3.0, -4.5, 1e9, 255.0, 256.0, []any{}, map[string]any{}, nil, true, "ż"},
		"long": map[string]any{"a name that is longer than what is held on to": "x"},
	}
}

func TestWhatIsReadOutlivesItsTextAndTheNextOnes(t *testing.T) {
	text := []byte(mixed)
	var first any
	if !newCodec(Config{}).decodeFast(text, &first) {
		t.Fatal("left to the library")
	}
	clear(text)
	for range 100 {
		var next any
		if err := Codec.Decode([]byte(`{"nome":"another text","list":["six","ten",9,-9.5]}`), &next); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(first, mixedValue()) {
		t.Errorf("got %v", first)
	}
}

func TestAListThatGrowsDoesNotShowInAnotherOne(t *testing.T) {
	var v any
	if err := Codec.Decode([]byte(`[[],[],[1,2],[3]]`), &v); err != nil {
		t.Fatal(err)
	}
	lists := v.([]any)
	for i := range lists {
		_ = append(lists[i].([]any), "more")
	}
	if want := []any{[]any{}, []any{}, []any{1.0, 2.0}, []any{3.0}}; !reflect.DeepEqual(v, want) {
		t.Errorf("got %v, want %v", v, want)
	}
}

// A reader that met a fault is used again. The next text must not see them.
func TestATextWithAFaultLeavesNothingToTheNextOne(t *testing.T) {
	r := readers.New().(*reader)
	c := newCodec(Config{})
	for length := range len(mixed) {
		for _, text := range []string{mixed[:length], mixed} {
			r.codec, r.data = c, []byte(text)
			v, ok := r.dynamic(c.maxDepth)
			if ok != (text == mixed) || ok && !reflect.DeepEqual(v, mixedValue()) {
				t.Fatalf("%s: got %v, %v", text, v, ok)
			}
			r.reset()
			if len(r.other) > 0 || r.data != nil || r.boxes.texts != nil {
				t.Fatalf("%s left something behind", text)
			}
		}
	}
}

func TestAReaderKeepsABoundedBuffer(t *testing.T) {
	r := readers.New().(*reader)
	c := newCodec(Config{})
	r.codec, r.data = c, []byte("["+strings.Repeat("1,", 100)+`"`+strings.Repeat(`\n`, 10*maxPooled)+`"]`)
	if _, ok := r.dynamic(c.maxDepth); !ok {
		t.Fatal("not read")
	}
	r.reset()
	if cap(r.scratch) > maxPooled {
		t.Errorf("room for %d bytes is kept", cap(r.scratch))
	}
}
