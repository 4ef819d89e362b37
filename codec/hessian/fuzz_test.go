package hessian_test

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
)

type everything struct {
	Bool    bool                   `json:"bool"`
	Int8    int8                   `json:"int8"`
	Uint64  uint64                 `json:"uint64"`
	Float32 float32                `json:"float32"`
	String  string                 `json:"string"`
	Bytes   []byte                 `json:"bytes"`
	Array   [2]byte                `json:"array"`
	Time    time.Time              `json:"time"`
	Big     *big.Int               `json:"big"`
	Decimal hessian.Decimal        `json:"decimal"`
	Color   javaColor              `json:"color"`
	Any     any                    `json:"any"`
	Next    *everything            `json:"next"`
	List    []everything           `json:"list"`
	Map     map[string]*everything `json:"map"`
	Anys    map[any]any            `json:"anys"`
	Object  *hessian.Object        `json:"object"`
	Typed   hessian.List           `json:"typed"`
	Mapped  *hessian.Map           `json:"mapped"`
	Thrown  *hessian.Exception     `json:"thrown"`
	Shape   shape                  `json:"shape"`
}

// fuzzTargets are types of every sort. The first byte of fuzzed data picks one.
var fuzzTargets = []reflect.Type{
	reflect.TypeFor[everything](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[*registeredPerson](),
	reflect.TypeFor[[]*person](), reflect.TypeFor[map[int32][]string](), reflect.TypeFor[[2][]struct{}](), reflect.TypeFor[hessian.Exception](),
	reflect.TypeFor[hessian.Object](), reflect.TypeFor[hessian.List](), reflect.TypeFor[hessian.Map](), reflect.TypeFor[*testCons](),
	reflect.TypeFor[map[any]map[string]person](), reflect.TypeFor[big.Int](), reflect.TypeFor[[]complexStruct](), reflect.TypeFor[drawing](),
	reflect.TypeFor[[]javaDateTime](), reflect.TypeFor[[][]javaColor](),
}

func addSeeds(f *testing.F, add func(data []byte)) {
	for _, folder := range []string{"reply", "extra"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.bin"))
		if err != nil || len(files) == 0 {
			f.Fatal("no vectors", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 4096 {
				add(data)
			}
		}
	}
	for _, s := range []string{"H", "p\xdc", "Q\x8c", "X\x80", "HxF", "z\x51\x90\x51\x90", "H\x01aQ\x90Z", "C\x01A\x91\x01a\x60\x51\x90", "W\x78Q\x91Z",
		"V\x04[int\x92\x90\x91", "U\x04[int\x90Z", "M\x01tZ", "M\x90Z", "R\x00\x01aS\x00\x01b", "A\x00\x01aB\x00\x01b", "\x01\xed\xa0\xbd\xed\xb8\x80", javaEnumSets, "{\x0a2024-02-29\x132024-02-29T23:01:02\x0523:01"} {
		add([]byte(s))
	}
	full := everything{Uint64: 1 << 63, Big: big.NewInt(-5), Decimal: "1.5", Color: "RED", Any: []any{1, "x", nil}, Bytes: []byte{1},
		Next: &everything{Decimal: "0"}, List: []everything{{Decimal: "2"}}, Anys: map[any]any{"a": int32(1)}, Thrown: &hessian.Exception{Class: "x"},
		Object: &hessian.Object{Class: "o"}, Mapped: &hessian.Map{Type: "m", Entries: []hessian.Entry{{Key: 1, Value: 2}}}, Shape: &square{2}}
	full.Map = map[string]*everything{"a": full.Next}
	data, err := hessian.Codec.Append(nil, &full)
	if err != nil {
		f.Fatal(err)
	}
	add(data)
}

func FuzzDecode(f *testing.F) {
	addSeeds(f, func(data []byte) {
		for pick := range fuzzTargets {
			f.Add(byte(pick), data)
		}
	})
	f.Fuzz(func(t *testing.T, pick byte, data []byte) {
		typ := fuzzTargets[int(pick)%len(fuzzTargets)]
		converting := hessian.NewDecoder(data)
		converting.Converting()
		if err := converting.Decode(reflect.New(typ).Interface()); err != nil {
			if _, ok := errors.AsType[*codec.Error](err); !ok {
				t.Fatalf("converting to a %s: %v", typ, err)
			}
		}
		target := reflect.New(typ)
		if err := decodeBounded(t, data, target.Interface()); err != nil {
			return
		}
		// What was decoded can be encoded, and what that gives decodes.
		again, err := hessian.Codec.Append(nil, target.Interface())
		if err != nil {
			switch typ {
			case reflect.TypeFor[hessian.Object](), reflect.TypeFor[hessian.Exception](), reflect.TypeFor[everything]():
				return // an Object may come from a map or a null, which have no class
			}
			if nameless(data) {
				return
			}
			t.Fatalf("%s: encode what was decoded: %v", typ, err)
		}
		if err := hessian.Codec.Decode(again, reflect.New(typ).Interface()); err != nil {
			t.Fatalf("%s: decode it again: %v\nfrom %q", typ, err, again)
		}
	})
}

// What is read into an any can be written, and is read as the same again.
func FuzzDecodeAny(f *testing.F) {
	addSeeds(f, func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if decodeBounded(t, data, &v) != nil {
			return
		}
		first, err := hessian.Codec.Append(nil, v)
		if err != nil {
			if nameless(data) {
				return
			}
			t.Fatalf("encode what was decoded: %v", err)
		}
		if limit := 1<<21 + 200*len(data); len(first) > limit {
			t.Fatalf("%d bytes became %d", len(data), len(first))
		}
		var back any
		if err := hessian.Codec.Decode(first, &back); err != nil {
			t.Fatalf("decode it again: %v\nfrom %q", err, first)
		}
		second, err := hessian.Codec.Append(nil, back)
		if err != nil {
			t.Fatalf("encode it again: %v", err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("first %q, then %q", first, second)
		}
	})
}

// nameless reports whether data may have a class without a name, which is read but not written.
func nameless(data []byte) bool { return bytes.Contains(data, []byte{'C', 0}) }

// decodeBounded decodes and wants a *codec.Error or nothing, within bounded memory.
func decodeBounded(t *testing.T, data []byte, target any) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := hessian.Codec.Decode(data, target)
	runtime.ReadMemStats(&after)
	// A struct of 400 bytes may be written as one null, and its pointer be a map's entry.
	if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(256<<10+4096*len(data)); got > limit {
		t.Errorf("%d bytes of data made %d bytes of a %T, want at most %d", len(data), got, target, limit)
	}
	if err == nil {
		return nil
	}
	fault, ok := err.(*codec.Error)
	if !ok || fault.Codec != "hessian" || fault.Offset < 0 || fault.Offset > int64(len(data)) {
		t.Errorf("got a %T: %v", err, err)
	}
	return err
}
