package msgpack_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	library "github.com/vmihailenco/msgpack/v5"

	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/codectest"
)

func libraryDecode(data []byte, v any) error {
	d := library.NewDecoder(bytes.NewReader(data))
	d.SetCustomStructTag("json")
	return d.Decode(v)
}

func libraryEncode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := library.NewEncoder(&b)
	e.SetCustomStructTag("json")
	err := e.Encode(v)
	return b.Bytes(), err
}

// foreign are shapes that the library has other forms for: complex numbers it does not know, and it knows arrays of bytes
// as lists and text marshalers as text.
var foreign = []string{"complex numbers", "array of bytes", "text marshaler", "map with unsigned keys"}

func skips(name string) bool {
	return strings.Contains("|"+strings.Join(foreign, "|")+"|", "|"+name+"|")
}

func TestAnIndependentLibraryReadsWhatIsWritten(t *testing.T) {
	for _, shape := range codectest.Shapes() {
		if skips(shape.Name) {
			continue
		}
		data, err := msgpack.Codec.Append(nil, shape.Value)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(shape.Value))
		if err := libraryDecode(data, got.Interface()); err != nil {
			t.Errorf("%s: %v from %.200x", shape.Name, err, data)
			continue
		}
		if text := features.Difference(shape.Value, got.Elem().Interface()); text != "" {
			t.Errorf("%s: %s", shape.Name, text)
		}
	}
}

func TestWhatAnIndependentLibraryWritesIsRead(t *testing.T) {
	for _, shape := range codectest.Shapes() {
		if skips(shape.Name) {
			continue
		}
		data, err := libraryEncode(shape.Value)
		if err != nil {
			t.Errorf("%s: %v", shape.Name, err)
			continue
		}
		got := reflect.New(reflect.TypeOf(shape.Value))
		if err := msgpack.Codec.Decode(data, got.Interface()); err != nil {
			t.Errorf("%s: %v from %.200x", shape.Name, err, data)
			continue
		}
		if text := features.Difference(shape.Value, got.Elem().Interface()); text != "" {
			t.Errorf("%s: %s", shape.Name, text)
		}
	}
}

// The bytes are those of the specification: https://github.com/msgpack/msgpack/blob/master/spec.md.
func TestValuesHaveTheBytesOfTheSpecification(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "c0"}, {false, "c2"}, {true, "c3"},
		{0, "00"}, {127, "7f"}, {128, "cc80"}, {255, "ccff"}, {256, "cd0100"}, {65536, "ce00010000"}, {int64(1 << 32), "cf0000000100000000"},
		{-1, "ff"}, {-32, "e0"}, {-33, "d0df"}, {-128, "d080"}, {-129, "d1ff7f"}, {-32769, "d2ffff7fff"}, {int64(math.MinInt64), "d38000000000000000"},
		{float32(1.5), "ca3fc00000"}, {1.5, "cb3ff8000000000000"},
		{"", "a0"}, {"abc", "a3616263"}, {strings.Repeat("a", 32), "d920" + strings.Repeat("61", 32)},
		{[]byte{1, 2}, "c4020102"}, {[]int{1, 2}, "920102"}, {make([]bool, 16), "dc0010" + strings.Repeat("c2", 16)},
		{map[string]int{"a": 1}, "81a16101"},
		{time.Unix(1, 0), "d6ff00000001"}, {time.Unix(1, 1), "d7ff0000000400000001"}, {time.Unix(-1, 1), "c70cff00000001ffffffffffffffff"}, {time.Unix(1<<34, 0), "c70cff000000000000000400000000"},
	} {
		got, err := msgpack.Codec.Append(nil, test.value)
		if err != nil || hex.EncodeToString(got) != test.want {
			t.Errorf("%v: got %x, %v, want %s", test.value, got, err, test.want)
		}
	}
}

func TestEveryFormOfANumberIsRead(t *testing.T) {
	for data, want := range map[string]int64{
		"05": 5, "cc05": 5, "cd0005": 5, "ce00000005": 5, "cf0000000000000005": 5, "d005": 5, "d10005": 5, "d200000005": 5, "d30000000000000005": 5,
		"ff": -1, "d0ff": -1, "d1ffff": -1, "d2ffffffff": -1, "d3ffffffffffffffff": -1, "ca40a00000": 5, "cb4014000000000000": 5,
	} {
		raw, _ := hex.DecodeString(data)
		var integer int64
		var float float64
		var dynamic any
		if err := msgpack.Codec.Decode(raw, &integer); err != nil || integer != want {
			t.Errorf("%s: got %d, %v, want %d", data, integer, err, want)
		}
		if err := msgpack.Codec.Decode(raw, &float); err != nil || float != float64(want) {
			t.Errorf("%s: got %v, %v, want %d", data, float, err, want)
		}
		if err := msgpack.Codec.Decode(raw, &dynamic); err != nil || dynamic != want && dynamic != float64(want) {
			t.Errorf("%s: got %#v, %v, want %d", data, dynamic, err, want)
		}
	}
}

func TestWhatDoesNotFitIsRefusedWithItsPlace(t *testing.T) {
	type line struct {
		Count uint8 `json:"count"`
	}
	type order struct {
		Lines []line         `json:"lines"`
		Pair  [2]int         `json:"pair"`
		Names map[string]int `json:"names"`
		From  time.Time      `json:"from"`
	}
	for _, test := range []struct {
		data, want string
	}{
		{"81a56c696e65739281a5636f756e740181a5636f756e74cd0100", "msgpack: at /lines/1/count: want uint8, got a number that it cannot hold (offset 23)"},
		{"81a56c696e65739181a5636f756e74ff", "msgpack: at /lines/0/count: want uint8, got a number that it cannot hold (offset 15)"},
		{"81a56c696e65739181a5636f756e74a178", "msgpack: at /lines/0/count: want integer, got text (offset 15)"},
		{"81a47061697291", "msgpack: at /pair: a list of 1, but only 0 bytes are left (offset 6)"},
		{"81a4706169729201cd01", "msgpack: at /pair/1: the data ends inside a value (offset 8)"},
		{"81a4706169729101", "msgpack: at /pair: a list of another length than the array's 2 elements (offset 6)"},
		{"81a56e616d657382a16101a16102", "msgpack: at /names/a: the map has this key twice (offset 11)"},
		{"82a470616972c0a470616972c0", "msgpack: at /pair: the map has this name twice (offset 7)"},
		{"81a466726f6da178", "msgpack: at /from: text that is no time such as 2006-01-02T15:04:05Z (RFC 3339) (offset 6)"},
		{"81a466726f6dd40501", "msgpack: at /from: want time, got extension (offset 6)"},
		{"92", "msgpack: want map, got list (offset 0)"},
		{"80c0", "msgpack: 1 bytes after the end of the value (offset 1)"},
	} {
		raw, _ := hex.DecodeString(test.data)
		if err := msgpack.Codec.Decode(raw, new(order)); err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.data, err, test.want)
		}
	}
}

func TestUnknownFieldsAreSkippedWhateverTheyAre(t *testing.T) {
	var got struct {
		Last int `json:"last"`
	}
	raw, _ := hex.DecodeString("88" + "a161" + "d40501" + "a162" + "9283a1780102a1790304c0" + "a163" + "c403010203" + "a164" + "cb3ff8000000000000" + "01" + "c0" + "a165" + "81a0c2" + "a166" + "90" + "a46c617374" + "07")
	if err := msgpack.Codec.Decode(raw, &got); err != nil || got.Last != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}
