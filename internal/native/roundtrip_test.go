package native_test

import (
	"bytes"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/race"
)

type (
	page[T any] struct {
		Items []T
		Next  *page[T]
	}
	tree struct {
		Name     string
		Children []tree
		Parent   *tree
		ByName   map[string]tree
	}
	list  []list
	color string
	money struct{ cents int64 }
	base  struct {
		ID      int64
		Version uint16
	}
	derived struct {
		base
		Name string
		ID   int64 // hides base.ID
	}
	tagged struct {
		A      int `json:"a,omitempty"`
		B      int `json:"b" sabir:"bee"`
		C      int `sabir:"-"`
		D      int `json:"-"`
		E      int `json:"-" sabir:"e"`
		hidden int
		F      string `sabir:"f,alias=old,alias=older"`
	}
	everything struct {
		Bool       bool
		Int        int
		Int8       int8
		Int16      int16
		Int32      int32
		Int64      int64
		Uint       uint
		Uint8      uint8
		Uint16     uint16
		Uint32     uint32
		Uint64     uint64
		Uintptr    uintptr
		Float32    float32
		Float64    float64
		Complex64  complex64
		Complex128 complex128
		String     string
		Bytes      []byte
		Array      [3]int16
		Hash       [4]byte
		Slice      []string
		Map        map[int]float64
		Pointer    *int
		Struct     pid
		Time       time.Time
		Duration   time.Duration
		Binary     netip.Addr
		Text       big.Int
		Any        any
		Empty      struct{}
	}
)

func (m money) MarshalText() ([]byte, error) { return []byte(time.Duration(m.cents).String()), nil }

func (m *money) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	m.cents = int64(d)
	return err
}

func everythingValue() everything {
	seven := 7
	return everything{
		Bool: true, Int: -1, Int8: -128, Int16: -32768, Int32: math.MinInt32, Int64: math.MinInt64,
		Uint: 1, Uint8: 255, Uint16: 65535, Uint32: math.MaxUint32, Uint64: math.MaxUint64, Uintptr: 3,
		Float32: 1.5, Float64: math.Inf(-1), Complex64: complex(1, -2), Complex128: complex(3, -4),
		String: "Ada", Bytes: []byte{0, 1}, Array: [3]int16{1, -2, 3}, Hash: [4]byte{9, 8, 7, 6},
		Slice: []string{"a", ""}, Map: map[int]float64{-5: 2.5}, Pointer: &seven, Struct: pid{"n", 1, -2},
		Time: time.Unix(1700000000, 5).UTC(), Duration: -time.Second,
		Binary: netip.MustParseAddr("10.0.0.1"), Text: *big.NewInt(1234567890123), Any: []any{"x", int64(4), nil},
	}
}

// back encodes v and decodes it into a new T, by the typed form and by the plain codec.
func back[T any](t *testing.T, v T) T {
	t.Helper()
	typ := native.For[T]()
	data, err := typ.Append(nil, &v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	var got T
	if err := typ.Decode(data, &got); err != nil {
		t.Fatalf("decode %x: %v", data, err)
	}
	message, err := native.Append(nil, &v)
	if err != nil {
		t.Fatalf("encode with a header: %v", err)
	}
	var plain T
	if err := native.Decode(message, &plain); err != nil {
		t.Fatalf("decode with a header: %v", err)
	}
	if !reflect.DeepEqual(got, plain) {
		t.Errorf("the typed form gives %v, the plain codec %v", got, plain)
	}
	return got
}

func same[T any](t *testing.T, v T) {
	t.Helper()
	if got := back(t, v); !reflect.DeepEqual(got, v) {
		t.Errorf("got  %#v\nwant %#v", got, v)
	}
}

func TestEveryKindComesBackAsItWas(t *testing.T) { same(t, everythingValue()) }

func TestTheZeroValueOfEveryKindComesBack(t *testing.T) { same(t, everything{}) }

func TestTheEightShapesComeBack(t *testing.T) {
	same(t, "Ergo Framework")
	same(t, pid{"demo@127.0.0.1", 312, 2})
	same(t, processID{"example", "demo@127.0.0.1"})
	same(t, simple{123.45, 678.90, "test"})
	same(t, complexValue())
	same(t, nestedValue())
	same(t, map[string]item{"key1": {"value1", 1}})
	same(t, map[string]map[string]item{"map1": {"key1": {"value1", 1}}, "map2": nil})
}

func TestNilIsKeptApartFromEmpty(t *testing.T) {
	type both struct {
		NilSlice, EmptySlice     []int
		NilBytes, EmptyBytes     []byte
		NilMap, EmptyMap         map[string]int
		NilStrings, EmptyStrings map[string]string
		NilPointer, ZeroPointer  *int
		NilAny, ZeroAny          any
	}
	same(t, both{
		EmptySlice: []int{}, EmptyBytes: []byte{}, EmptyMap: map[string]int{}, EmptyStrings: map[string]string{},
		ZeroPointer: new(int), ZeroAny: 0,
	})
}

func TestRecursiveAndGenericTypesComeBack(t *testing.T) {
	leaf := tree{Name: "leaf"}
	same(t, tree{Name: "root", Children: []tree{leaf, {Children: []tree{leaf}}}, Parent: &leaf, ByName: map[string]tree{"a": leaf}})
	same(t, page[string]{Items: []string{"a"}, Next: &page[string]{Items: []string{"b"}}})
	same(t, list{{}, nil, {{}}})
}

func TestMapsOfAllSortsComeBack(t *testing.T) {
	same(t, map[string]string{"": "", "a": "b"})
	same(t, map[color]color{"red": "blue"})
	same(t, map[[2]int8]bool{{1, -1}: true})
	same(t, map[item][]string{{"a", 1}: {"b"}})
	same(t, map[netip.Addr]int{netip.MustParseAddr("::1"): 1})
	same(t, map[struct{}]struct{}{{}: {}})
	same(t, map[string]any{"a": map[string]any{"b": []any{1, "c"}}})
	big := make(map[uint32]nested)
	for i := range uint32(1000) {
		big[i] = nested{ID: int32(i)}
	}
	same(t, big)
}

func TestElementsWithoutContentAreCounted(t *testing.T) {
	same(t, make([]struct{}, 5))
	same(t, [1 << 20]struct{}{})
	same(t, map[string]struct{}{"a": {}, "b": {}})
}

func TestATimeKeepsItsInstantAndOffset(t *testing.T) {
	for _, v := range []time.Time{
		{}, time.Unix(0, 0).UTC(), time.Unix(-1, 999999999).UTC(),
		time.Date(2026, 7, 1, 12, 0, 0, 1, time.FixedZone("CEST", 2*3600)),
		time.Date(1900, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", -4772)),
	} {
		got := back(t, v)
		_, want := v.Zone()
		if _, offset := got.Zone(); !got.Equal(v) || offset != want {
			t.Errorf("got %v, want %v", got, v)
		}
	}
	if got := back(t, time.Now()); got.String() != got.Round(0).String() {
		t.Errorf("%v has a monotonic reading", got)
	}
}

func TestATypeWithMethodsIsEncodedByThem(t *testing.T) {
	if got := back(t, []money{{5}, {-7}}); got[0].cents != 5 || got[1].cents != -7 {
		t.Errorf("got %v", got)
	}
	long := new(big.Int).Lsh(big.NewInt(1), 4000) // more than 127 digits, so a length of two bytes
	if got := back(t, long); got.Cmp(long) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestEmbeddedFieldsCountAsTheirOwnersAndShallowNamesWin(t *testing.T) {
	got := back(t, derived{base: base{ID: 1, Version: 2}, Name: "x", ID: 3})
	if want := (derived{base: base{Version: 2}, Name: "x", ID: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTagsRenameAndSkip(t *testing.T) {
	v := tagged{A: 1, B: 2, C: 3, D: 4, E: 5, F: "six"}
	if got, want := back(t, v), (tagged{A: 1, B: 2, E: 5, F: "six"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !sameSchema[tagged, struct {
		A   int    `sabir:"a"`
		Bee int    `sabir:"bee"`
		E   int    `sabir:"e"`
		F   string `sabir:"f"`
	}]() {
		t.Error("the names on the wire are not a, bee, e, f")
	}
}

func TestDecodeLeavesSkippedFieldsAsTheyAre(t *testing.T) {
	data, err := native.For[tagged]().Append(nil, &tagged{A: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := tagged{A: 9, C: 3, hidden: 4, F: "old"}
	if err := native.For[tagged]().Decode(data, &got); err != nil || got != (tagged{A: 1, C: 3, hidden: 4}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestStringsAndBytesDoNotReferToTheDataUnlessAliased(t *testing.T) {
	type texts struct {
		Short, Long string
		Bytes       []byte
		Map         map[string]string
	}
	v := texts{"short", strings.Repeat("long", 100), []byte("bytes"), map[string]string{"k": "v"}}
	typ := native.For[texts]()
	data, err := typ.Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	var copied, aliased texts
	if err := typ.Decode(data, &copied); err != nil {
		t.Fatal(err)
	}
	if err := typ.DecodeAlias(data, &aliased); err != nil || !reflect.DeepEqual(aliased, v) {
		t.Fatalf("got %v, %v", aliased, err)
	}
	clear(data)
	if !reflect.DeepEqual(copied, v) {
		t.Errorf("a copy changed with the data: %v", copied)
	}
	if aliased.Short != "\x00\x00\x00\x00\x00" || aliased.Bytes[0] != 0 {
		t.Errorf("an alias did not change with the data: %v", aliased)
	}
}

func TestAValueAndAPointerToItGiveTheSameBytes(t *testing.T) {
	seven := 7
	type one struct{ P *int }
	for _, pair := range [][2]any{
		{7, &seven}, {"a", new("a")}, {one{&seven}, &one{&seven}}, {pid{ID: 1}, &pid{ID: 1}},
		{map[string]int{"a": 1}, &map[string]int{"a": 1}}, {[1]*int{&seven}, &[1]*int{&seven}}, {[8]byte{1}, &[8]byte{1}},
	} {
		value, err := native.Append(nil, pair[0])
		if err != nil {
			t.Fatal(err)
		}
		pointer, err := native.Append(nil, pair[1])
		if err != nil || string(value) != string(pointer) {
			t.Errorf("%T: %x and %x, %v", pair[0], value, pointer, err)
		}
	}
}

func TestTheCodecIsRegisteredUnderItsName(t *testing.T) {
	native.Codec()
	c, ok := codec.Lookup("native")
	if !ok || c.Name() != native.Name {
		t.Fatalf("got %v, %v", c, ok)
	}
	data, err := c.Append([]byte("before"), 42)
	if err != nil || !strings.HasPrefix(string(data), "before") {
		t.Fatalf("got %q, %v", data, err)
	}
	var got int
	if err := c.Decode(data[len("before"):], &got); err != nil || got != 42 {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestEncodingAllocatesNothingOfItsOwn(t *testing.T) {
	buffer := make([]byte, 0, 4096)
	checkAllocs(t, 0, func() {
		v := pid{"demo@127.0.0.1", 312, 2}
		_, _ = native.For[pid]().Append(buffer, &v)
	})
	value := nestedValue()
	checkAllocs(t, 0, func() { _, _ = native.For[nested]().Append(buffer, &value) })
}

func TestDecodingAStructWithAliasesAllocatesNothing(t *testing.T) {
	data, err := native.For[pid]().Append(nil, &pid{"demo@127.0.0.1", 312, 2})
	if err != nil {
		t.Fatal(err)
	}
	checkAllocs(t, 0, func() {
		var v pid
		_ = native.For[pid]().DecodeAlias(data, &v)
	})
}

func checkAllocs(t *testing.T, want float64, run func()) {
	t.Helper()
	if race.Enabled {
		return // the race detector makes pools drop what they hold
	}
	if got := testing.AllocsPerRun(100, run); got != want {
		t.Errorf("%v allocations, want %v", got, want)
	}
}

func sameSchema[A, B any]() bool {
	return native.For[A]().Schema().Hash() == native.For[B]().Schema().Hash()
}

func TestVarintsOfEveryLengthComeBack(t *testing.T) {
	for shift := range 64 {
		v := uint64(1) << shift
		same(t, []uint64{v - 1, v, v + 1})
		same(t, []int64{int64(v) - 1, -int64(v), int64(v) + 1})
	}
}

func TestTypesAreCompiledOnceAndUsedFromManyGoroutines(t *testing.T) {
	type shared struct {
		Next *shared
		Map  map[string]item
	}
	var group sync.WaitGroup
	seen := make(chan *native.Type[shared], 16)
	for range cap(seen) {
		group.Go(func() {
			same(t, shared{Next: &shared{}, Map: map[string]item{"a": {"b", 1}}})
			seen <- native.For[shared]()
		})
	}
	group.Wait()
	close(seen)
	first := <-seen
	for typ := range seen {
		if typ != first {
			t.Error("For gives two compiled forms of one type")
		}
	}
}

func TestStringsOfAllLengthsShareBlocksWithoutMixing(t *testing.T) {
	var many []string
	for n := range 200 {
		many = append(many, strings.Repeat("x", n))
	}
	same(t, many)
}

func TestDecodeOwnedSharesWhatIsLargeAndCopiesWhatIsSmall(t *testing.T) {
	type message struct {
		Name string
		Body []byte
	}
	typ := native.For[message]()
	data, err := typ.Append(nil, &message{"small", bytes.Repeat([]byte{'x'}, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	var got message
	shared, err := typ.DecodeOwned(data, &got)
	if err != nil || !shared {
		t.Fatalf("shared %t, %v", shared, err)
	}
	clear(data)
	if got.Name != "small" {
		t.Errorf("the small string went with the data: %q", got.Name)
	}
	if got.Body[0] != 0 {
		t.Error("the large slice was copied")
	}

	var list []message
	many := native.For[[]message]()
	data, err = many.Append(nil, &[]message{{"a", nil}, {"b", nil}, {"c", nil}, {"d", nil}, {"e", nil}, {"f", nil}, {"g", nil}})
	if err != nil {
		t.Fatal(err)
	}
	if shared, err = many.DecodeOwned(data, &list); err != nil || shared {
		t.Errorf("shared %t, %v: nothing in it is large", shared, err)
	}
}
