package json_test

import (
	stdjson "encoding/json"
	"errors"
	"io"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

type order struct {
	Count    int64          `json:"count"`
	Small    uint8          `json:"small"`
	Signed   int16          `json:"signed"`
	Ratio    float32        `json:"ratio"`
	Name     string         `json:"name"`
	Paid     bool           `json:"paid"`
	Items    []item         `json:"items"`
	Meta     map[string]any `json:"meta"`
	ByNumber map[int]int    `json:"byNumber"`
	Pair     [2]int         `json:"pair"`
	At       time.Time      `json:"at"`
	Timeout  time.Duration  `json:"timeout"`
	Data     []byte         `json:"data"`
	From     netip.Addr     `json:"from"`
	Quoted   int            `json:"quoted,string"`
	QuotedB  bool           `json:"quotedB,string"`
	Nested   selfDecoding   `json:"nested"`
	Picky    picky          `json:"picky"`
	Reader   io.Reader      `json:"reader"`
	Channel  chan int       `json:"channel"`
}

type item struct {
	Price float64 `json:"price"`
}

// selfDecoding calls the codec for its part of the text, as a type with an UnmarshalJSON often does.
type selfDecoding struct{ item item }

func (s *selfDecoding) UnmarshalJSON(data []byte) error { return json.Codec.Decode(data, &s.item) }

// picky refuses everything.
type picky struct{}

func (*picky) UnmarshalJSON([]byte) error { return errors.New("not today") }

func TestHostileInputIsRefusedWithThePlaceAndTheReason(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		// Not JSON.
		{"empty", "", `json: empty body, want JSON`},
		{"white space", " \r\n\t", `json: empty body, want JSON`},
		{"unfinished object", `{`, `json: the text ends in the middle of a value (offset 1)`},
		{"unfinished string", `{"name":"A`, `json: at /name: the text ends in the middle of a value (offset 10)`},
		{"unfinished literal", `nul`, `json: the text ends in the middle of a value (offset 3)`},
		{"trailing data", `{} x`, `json: invalid character 'x' after top-level value (offset 3)`},
		{"trailing value", `{}{}`, `json: invalid character '{' after top-level value (offset 2)`},
		{"trailing zero byte", "{}\x00", `json: invalid character '\x00' after top-level value (offset 2)`},
		{"trailing comma", `{"count":1,}`, `json: invalid character ',' at start of value (offset 10)`},
		{"single quotes", `{'count':1}`, `json: invalid character '\'' at start of value (offset 1)`},
		{"comment", `{"count":/**/1}`, `json: at /count: invalid character '/' at start of value (offset 9)`},
		{"leading zero", `{"count":01}`, `json: invalid character '1' after object value (expecting ',' or '}') (offset 10)`},
		{"leading plus", `{"count":+1}`, `json: at /count: invalid character '+' at start of value (offset 9)`},
		{"NaN", `{"ratio":NaN}`, `json: at /ratio: invalid character 'N' at start of value (offset 9)`},
		{"byte order mark", "\ufeff{}", `json: invalid character '\ufeff' at start of value (offset 0)`},
		{"raw control character", "{\"name\":\"a\nb\"}", `json: at /name: invalid character '\n' in string (expecting non-control character) (offset 10)`},
		{"fault in a skipped part", `{"other":[1,}`, `json: at /other: invalid character ',' at start of value (offset 11)`},

		// JSON, but not I-JSON.
		{"name twice", `{"count":1,"count":2}`, `json: at /count: the object has this name twice (offset 11)`},
		{"name twice, one escaped", `{"count":1,"\u0063ount":2}`, `json: at /count: the object has this name twice (offset 11)`},
		{"key of a map twice", `{"meta":{"x":1,"x":2}}`, `json: at /meta/x: the object has this name twice (offset 15)`},
		{"name twice in a skipped part", `{"other":[{"x":1,"x":2}]}`, `json: at /other/0/x: the object has this name twice (offset 17)`},
		{"invalid UTF-8", "{\"name\":\"a\xff\"}", `json: at /name: invalid UTF-8 (offset 10)`},
		{"invalid UTF-8 in a skipped part", "{\"other\":\"\xc0\x80\"}", `json: at /other: invalid UTF-8 (offset 10)`},
		{"half a surrogate pair", `{"name":"\ud800"}`, "json: at /name: invalid surrogate pair `\\ud800\"}` in string (offset 9)"},

		// Numbers that do not fit.
		{"too large for uint8", `{"small":256}`, `json: at /small: want integer from 0 to 255, got number 256 (offset 9)`},
		{"negative for uint8", `{"small":-1}`, `json: at /small: want integer from 0 to 255, got number -1 (offset 9)`},
		{"too small for int16", `{"signed":-32769}`, `json: at /signed: want integer from -32768 to 32767, got number -32769 (offset 10)`},
		{"too large for int64", `{"count":9223372036854775808}`, `json: at /count: want integer from -9223372036854775808 to 9223372036854775807, got number 9223372036854775808 (offset 9)`},
		{"fraction for an integer", `{"count":1.5}`, `json: at /count: want integer, got number 1.5 (offset 9)`},
		{"exponent for an integer", `{"count":1e3}`, `json: at /count: want integer, got number 1e3 (offset 9)`},
		{"too large for float32", `{"ratio":1e39}`, `json: at /ratio: want number that fits a float of 32 bits, got number 1e39 (offset 9)`},
		{"too large for any", `{"meta":{"x":1e999}}`, `json: at /meta/x: want number that fits a float of 64 bits, got number 1e999 (offset 13)`},
		{"a million digits", `{"count":` + strings.Repeat("9", 1_000_000) + `}`, `json: at /count: want integer from -9223372036854775808 to 9223372036854775807, got number (offset 9)`},

		// Values of another kind.
		{"string for a number", `{"items":[{"price":1},{"price":2},{"price":"3"}]}`, `json: at /items/2/price: want number, got string (offset 43)`},
		{"number for a string", `{"name":5}`, `json: at /name: want string, got number (offset 8)`},
		{"string for a boolean", `{"paid":"true"}`, `json: at /paid: want boolean, got string (offset 8)`},
		{"object for an array", `{"items":{}}`, `json: at /items: want array, got object (offset 9)`},
		{"array for an object", `[]`, `json: want object, got array (offset 0)`},
		{"text for a numeric key", `{"byNumber":{"a":1}}`, `json: at /byNumber/a: want integer, got string (offset 13)`},
		{"too few elements", `{"pair":[1]}`, `json: at /pair: want array of 2 elements, got array: too few array elements (offset 10)`},
		{"too many elements", `{"pair":[1,2,3]}`, `json: at /pair: want array of 2 elements, got array: too many array elements (offset 14)`},
		{"time in words", `{"at":"tomorrow"}`, `json: at /at: want string with a time such as 2006-01-02T15:04:05Z (RFC 3339), got string (offset 6)`},
		{"duration with a unit", `{"timeout":"1.5s"}`, `json: at /timeout: want integer (nanoseconds), got string (offset 11)`},
		{"not base64", `{"data":"$$"}`, `json: at /data: want string in base64, got string: illegal base64 data at input byte 0 (offset 8)`},
		{"number without its quotes", `{"quoted":5}`, `json: at /quoted: want string holding the integer, got number (offset 10)`},
		{"boolean without its quotes", `{"quotedB":true}`, `json: at /quotedB: want string holding the boolean, got boolean (offset 11)`},
		{"number for a text type", `{"from":4}`, `json: at /from: want string, got number (offset 8)`},
		{"text that its type refuses", `{"from":"here"}`, `json: at /from: ParseAddr("here"): unable to parse IP (offset 8)`},
		{"value that its type refuses", `{"picky":1}`, `json: at /picky: not today (offset 9)`},
		{"fault found by a nested call", `{"nested": {"price":"x"}}`, `json: at /nested/price: want number, got string (offset 20)`},
		{"an interface with methods", `{"reader":1}`, `json: at /reader: Go type io.Reader cannot hold JSON (offset 10)`},
		{"a channel", `{"channel":1}`, `json: at /channel: Go type chan int cannot hold JSON (offset 11)`},

		// Names chosen to harm the reader of the error.
		{"line break in a name", "{\"meta\":{\"a\\nb\":1,\"a\\nb\":2}}", `json: at "/meta/a\nb": the object has this name twice (offset 18)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := json.Codec.Decode([]byte(tt.in), new(order))
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
			if _, ok := errors.AsType[*codec.Error](err); !ok {
				t.Errorf("got a %T, want a *codec.Error", err)
			}
		})
	}
}

func TestErrorFieldsAreFilled(t *testing.T) {
	err := json.Codec.Decode([]byte(`{"items":[{"price":true}]}`), new(order))
	e, ok := errors.AsType[*codec.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if e.Codec != "json" || e.Offset != 19 || e.Pointer != "/items/0/price" || e.Want != "number" || e.Got != "boolean" || e.Message != "" || e.Err == nil {
		t.Errorf("got %+v", e)
	}
}

func TestErrorsDoNotRepeatStringsOfTheInput(t *testing.T) {
	for _, in := range []string{`{"count":"hunter2"}`, `{"at":"hunter2"}`, `{"data":"hunter2!"}`, `{"paid":"hunter2"}`, `{"timeout":"hunter2"}`, `{"quoted":"hunter2"}`} {
		err := json.Codec.Decode([]byte(in), new(order))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestErrorTextStaysShortWhateverTheNames(t *testing.T) {
	in := `{"meta":{"` + strings.Repeat("é", 100_000) + `":{"x":1,"x":2}}}`
	err := json.Codec.Decode([]byte(in), new(order))
	if err == nil {
		t.Fatal("accepted")
	}
	if n := len(err.Error()); n > 300 {
		t.Errorf("got %d bytes: %.400v", n, err)
	}
}

// chatty refuses with a long text.
type chatty struct{}

func (*chatty) UnmarshalJSON([]byte) error {
	return errors.New("No.\n" + strings.Repeat("Because ", 1000))
}

func TestWhatATypesOwnMethodSaysIsCutAndOnOneLine(t *testing.T) {
	err := json.Codec.Decode([]byte(`1`), new(chatty))
	want := "json: No. " + strings.Repeat("Because ", 31) + "Beca… (offset 0)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAStructThatCannotBeJSONIsNamed(t *testing.T) {
	type twice struct {
		A    int `json:"Same"`
		Same int
	}
	fault := `Go struct fields A and Same conflict over JSON object name "Same"`
	want := "json: " + fault + " (offset 0)"
	if err := json.Codec.Decode([]byte(`{"Same":1}`), new(twice)); err == nil || err.Error() != want {
		t.Errorf("Decode gave %v\nwant %s", err, want)
	}
	want = "json: cannot encode Go type json_test.twice: " + fault
	if _, err := json.Codec.Append(nil, twice{}); err == nil || err.Error() != want {
		t.Errorf("Append gave %v\nwant %s", err, want)
	}
}

func TestDecodeNeedsANonNilPointer(t *testing.T) {
	tests := []struct {
		target any
		want   string
	}{
		{nil, "json: Decode needs a non-nil pointer, got <nil>"},
		{5, "json: Decode needs a non-nil pointer, got int"},
		{(*int)(nil), "json: Decode needs a non-nil pointer, got *int"},
	}
	for _, tt := range tests {
		if err := json.Codec.Decode([]byte(`1`), tt.target); err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("out of ink") }

type lying struct{}

func (lying) MarshalJSON() ([]byte, error) { return []byte(`{"a":1`), nil }

func TestAppendRefusesWhatJSONCannotHold(t *testing.T) {
	cycle := map[string]any{}
	cycle["again"] = cycle
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"NaN", map[string]any{"x": []float64{1, math.NaN()}}, "json: at /x/1: cannot encode Go type float64: unsupported value: NaN"},
		{"infinity", math.Inf(-1), "json: cannot encode Go type float64: unsupported value: -Inf"},
		{"channel", struct{ C chan int }{}, "json: at /C: cannot encode Go type chan int"},
		{"invalid UTF-8", map[string]string{"a": "\xff"}, "json: at /a: cannot encode: invalid UTF-8"},
		{"failing method", []any{failing{}}, "json: at /0: cannot encode Go type json_test.failing: out of ink"},
		{"cycle", cycle, "json: at /again/again"},
		{"method that writes no JSON", []any{lying{}}, "json: at /0: cannot encode Go type json_test.lying: "},
		{"same name twice", stdjson.RawMessage(`{"a":1,"a":2}`), "json: cannot encode Go type "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := json.Codec.Append(nil, tt.in)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
			e, ok := errors.AsType[*codec.Error](err)
			if !ok || e.Offset != -1 {
				t.Errorf("got %#v, want a *codec.Error without an offset", err)
			}
		})
	}
}
