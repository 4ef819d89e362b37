package json_test

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/layout"
)

type address struct {
	Street string `json:"street"`
	City   string `json:"city"`
	Zip    string `json:"zip"`
}

type user struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Email     string            `json:"email"`
	Age       int               `json:"age"`
	Roles     []string          `json:"roles"`
	Address   address           `json:"address"`
	Tags      map[string]string `json:"tags"`
	CreatedAt time.Time         `json:"createdAt"`
}

const userText = `{"id":"u-123","name":"Ada Lovelace","email":"ada@example.com","age":36,"roles":["admin","user"],` +
	`"address":{"street":"12 St James's Square","city":"London","zip":"SW1"},"tags":{"a":"1","b":"2"},` +
	`"createdAt":"2024-01-02T03:04:05Z"}`

// letter encodes itself as text: 'a' + its value.
type letter byte

func (l letter) MarshalText() ([]byte, error)     { return []byte{'a' + byte(l)}, nil }
func (l *letter) UnmarshalText(text []byte) error { *l = letter(text[0] - 'a'); return nil }

func TestJSONIsRegistered(t *testing.T) {
	c, ok := codec.Lookup(json.Name)
	if !ok || c.Name() != "json" {
		t.Fatalf("Lookup(%q) = %v, %v", json.Name, c, ok)
	}
}

// Each kind of Go value has the text given here, and the text gives the value back. encoding/json, which a foreign
// peer may use, agrees on the value.
func TestEveryKindRoundTrips(t *testing.T) {
	type embedded struct{ Inner int }
	type tagged struct {
		embedded
		Renamed   string    `json:"other"`
		Left      string    `json:"-"`
		Zero      int       `json:"zero,omitempty"`
		False     bool      `json:"false,omitempty"`
		NoTime    time.Time `json:"noTime,omitzero"`
		InQuotes  int64     `json:"inQuotes,string"`
		BoolQuote bool      `json:"boolQuote,string"`
	}
	one, text := 1, ""
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"true", true, `true`},
		{"int8", int8(-128), `-128`},
		{"int64, lowest", int64(math.MinInt64), `-9223372036854775808`},
		{"int64, highest", int64(math.MaxInt64), `9223372036854775807`},
		{"uint64, highest", uint64(math.MaxUint64), `18446744073709551615`},
		{"float64", 0.1, `0.1`},
		{"float64, largest", math.MaxFloat64, `1.7976931348623157e+308`},
		{"float64, smallest", math.SmallestNonzeroFloat64, `5e-324`},
		{"float32", float32(0.1), `0.1`},
		{"string", "żółw \U0001F422 <&> \"\\\n\x00", `"żółw 🐢 <&> \"\\\n\u0000"`},
		{"bytes", []byte{0xfb, 0xff, 0}, `"+/8A"`},
		{"array of bytes", [3]byte{1, 2, 255}, `[1,2,255]`},
		{"array", [2]string{"a", "b"}, `["a","b"]`},
		{"slice", []int{1, 2, 3}, `[1,2,3]`},
		{"empty slice", []int{}, `[]`},
		{"map, sorted", map[string]int{"b": 2, "a": 1, "c": 3}, `{"a":1,"b":2,"c":3}`},
		{"map with numbers for keys", map[int]bool{-7: true}, `{"-7":true}`},
		{"map with text for keys", map[letter]int{2: 5}, `{"c":5}`},
		{"text marshaler", letter(3), `"d"`},
		{"address", netip.MustParseAddr("10.0.0.1"), `"10.0.0.1"`},
		{"time", time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC), `"2024-01-02T03:04:05.000000006Z"`},
		{"duration", 1500 * time.Millisecond, `1500000000`},
		{"nil pointer", (*int)(nil), `null`},
		{"pointers", struct{ A, B *int }{A: &one}, `{"A":1,"B":null}`},
		{"pointer to an empty string", struct {
			P *string `json:"p,omitempty"`
		}{&text}, `{"p":""}`},
		{"raw message", stdjson.RawMessage(`{"a":[1,2]}`), `{"a":[1,2]}`},
		{"struct tags", tagged{embedded: embedded{4}, Renamed: "x", InQuotes: math.MaxInt64, BoolQuote: true},
			`{"Inner":4,"other":"x","inQuotes":"9223372036854775807","boolQuote":"true"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Codec.Append(nil, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Fatalf("Append gave %s, want %s", got, tt.want)
			}
			back := reflect.New(reflect.TypeOf(tt.in))
			if err := json.Codec.Decode(got, back.Interface()); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back.Elem().Interface(), tt.in) {
				t.Errorf("Decode gave %#v, want %#v", back.Elem(), tt.in)
			}
			standard := reflect.New(reflect.TypeOf(tt.in))
			if err := stdjson.Unmarshal(got, standard.Interface()); err != nil {
				t.Fatalf("encoding/json: %v", err)
			}
			if !reflect.DeepEqual(standard.Elem().Interface(), tt.in) {
				t.Errorf("encoding/json read %#v, want %#v", standard.Elem(), tt.in)
			}
		})
	}
}

func TestAnyTargetGetsTheTypesOfEncodingJSON(t *testing.T) {
	var got any
	if err := json.Codec.Decode([]byte(`{"a":[1,2.5,"x",true,null,{}]}`), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": []any{1.0, 2.5, "x", true, nil, map[string]any{}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestNilSlicesAndMapsAreEmptyNotNull(t *testing.T) {
	got, err := json.Codec.Append(nil, struct {
		Slice []int          `json:"slice"`
		Bytes []byte         `json:"bytes"`
		Map   map[string]int `json:"map"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"slice":[],"bytes":"","map":{}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNullGivesTheZeroValue(t *testing.T) {
	got := struct {
		S []int
		M map[string]int
		P *int
		N int
		T time.Time
	}{S: []int{1}, M: map[string]int{"a": 1}, P: new(int), N: 5, T: time.Now()}
	if err := json.Codec.Decode([]byte(`{"S":null,"M":null,"P":null,"N":null,"T":null}`), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.ValueOf(got).IsZero() {
		t.Errorf("got %+v, want the zero value", got)
	}
}

func TestBytesAreAlsoReadFromAnArray(t *testing.T) {
	var got []byte
	if err := json.Codec.Decode([]byte(`[1,2,255]`), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, []byte{1, 2, 255}) {
		t.Errorf("got %v", got)
	}
}

func TestNamesAreMatchedWithTheirCase(t *testing.T) {
	type embedding struct {
		*user
		Raw map[string]user `json:"raw"`
	}
	for name, test := range map[string]struct {
		text    string
		into    any
		pointer string
	}{
		"a member":                      {`{"NAME":"x"}`, new(user), "/NAME"},
		"beside the field's":            {`{"name":"z","Name":"y"}`, new(user), "/Name"},
		"in a list":                     {`[{"name":"a"},{"nAme":"b"}]`, new([]user), "/1/nAme"},
		"in a map":                      {`{"NAME":{"Name":"x"}}`, new(map[string]*user), "/NAME/Name"},
		"in what the library reads":     {`{"raw":{"a":{"Name":"x"}}}`, new(embedding), "/raw/a/Name"},
		"of an embedded pointer":        {`{"Name":"x"}`, new(embedding), "/Name"},
		"in a value that is there":      {`{"A":{"Name":"x"}}`, &map[string]*user{"A": {}}, "/A/Name"},
		"behind more than the reader's": {`{` + manyMembers + `"Name":"x"}`, new(user), "/Name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := json.Codec.Decode([]byte(test.text), test.into)
			if e, ok := errors.AsType[*codec.Error](err); !ok || e.Pointer != test.pointer || !strings.Contains(e.Message, "differs from name in its case only") {
				t.Errorf("got %v", err)
			}
		})
	}
	type both struct {
		Lower int `json:"a"`
		Upper int `json:"A"`
		Any   int `json:"any,case:ignore"`
	}
	var got both
	if err := json.Codec.Decode([]byte(`{"A":1,"a":2,"ANY":3}`), &got); err != nil || got != (both{2, 1, 3}) {
		t.Errorf("fields that differ in case, and one that ignores it: %+v, %v", got, err)
	}
}

// manyMembers are more unknown members than the reader distinguishes by itself.
var manyMembers = func() (text string) {
	for i := range 100 {
		text += fmt.Sprintf(`"m%d":1,`, i)
	}
	return text
}()

func TestMembersUnknownToTheTargetAreSkipped(t *testing.T) {
	var got user
	if err := json.Codec.Decode([]byte(`{"new":{"a":[1,{"b":null}]},"name":"Ada"}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "Ada" {
		t.Errorf("got %q, want Ada", got.Name)
	}
}

func TestStrictRefusesMembersUnknownToTheTarget(t *testing.T) {
	err := json.New(json.Config{Strict: true}).Decode([]byte(`{"address":{"planet":"Earth"}}`), new(user))
	want := "json: at /address/planet: the target has no such member (offset 12)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAppendOfAValueAndOfAPointerGiveTheSameBytes(t *testing.T) {
	var u user
	if err := json.Codec.Decode([]byte(userText), &u); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{u, &u} {
		got, err := json.Codec.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != userText {
			t.Errorf("Append of %T gave %s", v, got)
		}
	}
}

func TestAppendKeepsWhatTheBufferHolds(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, room := range []int{0, 1, 100, 256, 300, 5100, 20_000} {
		dst := append(make([]byte, 0, 3+room), "abc"...)
		got, err := json.Codec.Append(dst, []string{long, "y"})
		if err != nil {
			t.Fatal(err)
		}
		if want := `abc["` + long + `","y"]`; string(got) != want {
			t.Errorf("with room for %d bytes: got %.40q… of %d bytes, want %d", room, got, len(got), len(want))
		}
		if string(dst) != "abc" {
			t.Errorf("with room for %d bytes: dst became %q", room, dst)
		}
	}
}

func TestAppendIntoAReusedBufferDoesNotMoveIt(t *testing.T) {
	buffer := make([]byte, 10, 4096)
	got, err := json.Codec.Append(buffer, []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if &got[0] != &buffer[0] || string(got[10:]) != "[1,2,3]" {
		t.Errorf("got %q in another array", got)
	}
}

func TestAppendIntoAReusedBufferAllocatesNothingPerElement(t *testing.T) {
	type flat struct {
		ID   string `json:"id"`
		Age  int    `json:"age"`
		Tags []int  `json:"tags"`
	}
	list := make([]flat, 1000)
	for i := range list {
		list[i] = flat{"u-1", i, []int{1, 2}}
	}
	buffer := make([]byte, 0, 128<<10)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := json.Codec.Append(buffer, &list); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 20 { // none, but pools lose some of what they hold, more so under the race detector
		t.Errorf("%v allocations for 1000 elements", allocs)
	}
}

func TestACodecIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			type value struct{ A, B, C int } // its first use is here, so the library compiles it concurrently
			var buffer []byte
			for n := range 200 {
				want := value{i, n, i * n}
				var err error
				if buffer, err = json.Codec.Append(buffer[:0], &want); err != nil {
					t.Error(err)
				}
				var got value
				if err := json.Codec.Decode(buffer, &got); err != nil || got != want {
					t.Errorf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	group.Wait()
}

func TestAppendReturnsDstOnError(t *testing.T) {
	dst := append(make([]byte, 0, 64), "abc"...)
	got, err := json.Codec.Append(dst, []any{1, 2, make(chan int)})
	if err == nil {
		t.Fatal("a channel was encoded")
	}
	if string(got) != "abc" || &got[0] != &dst[0] {
		t.Errorf("got %q, want dst", got)
	}
}

func TestNothingDecodedRefersToTheInput(t *testing.T) {
	var got struct {
		S   string
		A   any
		M   map[string]string
		B   []byte
		Raw stdjson.RawMessage
	}
	data := []byte(`{"S":"abcdef","A":["ghijkl"],"M":{"key":"value"},"B":"AAAA","Raw":[1,2,3]}`)
	if err := json.Codec.Decode(data, &got); err != nil {
		t.Fatal(err)
	}
	clear(data)
	want := `{"S":"abcdef","A":["ghijkl"],"M":{"key":"value"},"B":"AAAA","Raw":[1,2,3]}`
	if again, err := json.Codec.Append(nil, got); err != nil || string(again) != want {
		t.Errorf("after the input was overwritten: %s, %v", again, err)
	}
}

// Reading a million digits takes math/big some seconds.
func TestNumbersOfMathBigHaveALimit(t *testing.T) {
	digits := strings.Repeat("7", layout.MaxDigits)
	for text, v := range map[string]any{digits: new(big.Int), `"` + digits[2:] + `"`: new(big.Float), `"1/` + digits[4:] + `"`: new(big.Rat)} {
		if err := json.Codec.Decode([]byte(text), v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
		longer := strings.Replace(text, "7", "777", 1)
		if err := json.Codec.Decode([]byte(longer), v); err == nil || !strings.Contains(err.Error(), "at most 10000 are read") {
			t.Errorf("%T of %d characters: %v", v, len(longer), err)
		}
	}
	for text, v := range map[string]any{"1.5": new(big.Float), "1": new(big.Rat), `"5"`: new(big.Int)} { // as encoding/json has them
		if err := json.Codec.Decode([]byte(text), v); err == nil {
			t.Errorf("%s was read into a %T", text, v)
		}
	}
}
