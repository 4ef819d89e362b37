package layout_test

import (
	"encoding/json"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/layout"
)

var rules = layout.Rules{Tag: "own"}

func of(t *testing.T, typ reflect.Type) *layout.Type {
	t.Helper()
	d, err := layout.Of(typ, rules)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type deep struct {
	Same  int `json:"same"`
	Below int
}

type left struct {
	deep
	Same  int `json:"same"`
	Both  int
	Named int
}

type right struct {
	Both  int
	Named int `json:"Named"`
}

type plain struct {
	left
	right
	A      int `json:"a,omitempty"`
	B      int `json:"-"`
	D      int `json:",omitzero"`
	hidden int
}

// encoding/json is the judge of which fields a struct has and what they are called.
func TestFieldsHaveTheNamesThatEncodingJSONGivesThem(t *testing.T) {
	for _, v := range []any{plain{A: 1, D: 1, hidden: 1}, left{}, right{}, deep{}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]int
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, f := range of(t, reflect.TypeOf(v)).Fields {
			got = append(got, f.Name)
		}
		for name := range members {
			want = append(want, name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%T: got %q, want %q", v, got, want)
		}
	}
}

func TestOffsetsReachThroughEmbeddedStructs(t *testing.T) {
	v := left{deep: deep{Below: 7}}
	for _, f := range of(t, reflect.TypeFor[left]()).Fields {
		if f.Name == "Below" {
			if got := *(*int)(unsafe.Add(unsafe.Pointer(&v), f.Offset)); got != 7 {
				t.Errorf("got %d, want 7", got)
			}
			return
		}
	}
	t.Error("the field is missing")
}

func TestTheOwnTagSkipsAFieldAndMayNameIt(t *testing.T) {
	type tagged struct {
		A int `json:"a" own:"first,option"`
		B int `own:"-"`
		C int `json:"-" own:"c"`
	}
	for _, tt := range []struct {
		names bool
		want  []string
	}{{true, []string{"first", "c"}}, {false, []string{"a", "C"}}} {
		d, err := layout.Of(reflect.TypeFor[tagged](), layout.Rules{Tag: "own", TagNames: tt.names})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range d.Fields {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("names %v: got %q, want %q", tt.names, got, tt.want)
		}
	}
}

func TestKinds(t *testing.T) {
	type selfMap map[string]selfMap
	signed, unsigned := layout.Int64, layout.Uint64
	if math.MaxInt == math.MaxInt32 {
		signed, unsigned = layout.Int32, layout.Uint32
	}
	for typ, want := range map[reflect.Type]layout.Kind{
		reflect.TypeFor[int](): signed, reflect.TypeFor[uintptr](): unsigned, reflect.TypeFor[time.Duration](): layout.Int64,
		reflect.TypeFor[json.RawMessage](): layout.Bytes, reflect.TypeFor[[3]byte](): layout.ByteArray, reflect.TypeFor[time.Time](): layout.Time,
		reflect.TypeFor[netip.Addr](): layout.Binary, reflect.TypeFor[any](): layout.Any, reflect.TypeFor[complex64](): layout.Struct,
		reflect.TypeFor[selfMap](): layout.Map, reflect.TypeFor[*int](): layout.Pointer,
	} {
		if got := of(t, typ).Kind; got != want {
			t.Errorf("%v has kind %d, want %d", typ, got, want)
		}
	}
}

func TestWhatMeansNothingElsewhereIsRefusedByName(t *testing.T) {
	type holder struct {
		Name string
		Ch   chan int
	}
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[holder](): "(field Ch of layout_test.holder)", reflect.TypeFor[func()](): "func() cannot be encoded",
		reflect.TypeFor[error](): "an interface with methods", reflect.TypeFor[map[*int]int](): "no fixed identity",
		reflect.TypeFor[map[any]int](): "no fixed identity", reflect.TypeFor[map[[2]*int]int](): "no fixed identity",
	} {
		if _, err := layout.Of(typ, rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", typ, err, want)
		}
	}
}

func TestPlainMakesWhatFormatsKnow(t *testing.T) {
	one := 1
	for _, tt := range []struct{ in, want any }{
		{nil, nil}, {int8(-1), int64(-1)}, {uint32(5), int64(5)}, {uint64(math.MaxUint64), uint64(math.MaxUint64)}, {float32(0.5), 0.5},
		{time.Second, int64(time.Second)}, {&one, int64(1)}, {(*int)(nil), nil}, {[]int{1}, []any{1}}, {[2]byte{1, 2}, []byte{1, 2}},
		{map[int]string{-1: "a"}, map[string]any{"-1": "a"}}, {right{1, 2}, map[string]any{"Both": 1, "Named": 2}},
		{netip.MustParseAddr("::1"), "::1"}, {time.Unix(0, 5).UTC(), "1970-01-01T00:00:00.000000005Z"}, {[]string(nil), nil},
	} {
		got, err := layout.Plain(tt.in, rules)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%#v: got %#v, %v, want %#v", tt.in, got, err, tt.want)
		}
	}
	for _, v := range []any{make(chan int), map[float64]int{1: 1}, func() {}} {
		if got, err := layout.Plain(v, rules); err == nil {
			t.Errorf("%T became %v", v, got)
		}
	}
}

type pair[A, B any] struct {
	First  A
	Second B
}

func TestNamesOfTypes(t *testing.T) {
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[left](): "Left", reflect.TypeFor[[]left](): "LeftList", reflect.TypeFor[map[string]*int](): "OptionalIntMap",
		reflect.TypeFor[pair[left, int]](): "PairLeftInt", reflect.TypeFor[struct{ A int }](): "Struct", reflect.TypeFor[[]byte](): "Bytes",
	} {
		if got := of(t, typ).Name(); got != want {
			t.Errorf("%v is called %s, want %s", typ, got, want)
		}
	}
}

func TestStringsShareNoMoreThanABlock(t *testing.T) {
	var s layout.Strings
	data := []byte(strings.Repeat("abc", 1000))
	for i := 0; i+3 <= len(data); i += 3 {
		if got := s.Copy(data[i:i+3], len(data)-i-3); got != "abc" {
			t.Fatalf("at %d: %q", i, got)
		}
	}
	long := s.Copy(data, 0)
	clear(data)
	if long != strings.Repeat("abc", 1000) {
		t.Error("the string refers to the data")
	}
}
