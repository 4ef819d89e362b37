package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// The texts below have the names and the meaning of the classes of the parsing suite of "Parsing JSON is a Minefield": y_ is
// JSON, n_ is none, i_ is left to the implementation (RFC 8259).

var validJSON = map[string]string{
	"array with spaces":            "[[]   ]",
	"array with an empty string":   `[""]`,
	"an empty array":               "[]",
	"array of several kinds":       `[null, 1, "1", {}]`,
	"array with a newline":         "[1\n]",
	"array with leading space":     " [1]",
	"array with nulls":             "[1,null,null,null,2]",
	"array with trailing space":    "[2] ",
	"exponent":                     "[123e65]",
	"minus zero":                   "[-0]",
	"zero with an exponent":        "[0e+1]",
	"zero to the one":              "[0e1]",
	"space before a number":        "[ 4]",
	"a small fraction":             "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]",
	"capital exponent":             "[1E22]",
	"capital negative exponent":    "[1E-2]",
	"capital positive exponent":    "[1E+2]",
	"a simple real":                "[123.456789]",
	"an object":                    `{"asd":"sdf", "dfg":"fgh"}`,
	"an empty object":              "{}",
	"an empty key":                 `{"":0}`,
	"a key with NUL escaped":       `{"foo\u0000bar": 42}`,
	"extreme numbers":              `{ "min": -1.0e+28, "max": 1.0e+28 }`,
	"long strings":                 `{"x":[{"id": "` + strings.Repeat("x", 400) + `"}], "id": "` + strings.Repeat("x", 400) + `"}`,
	"an object with newlines":      "{\n\"a\": \"b\"\n}",
	"escapes of one to three":      `["\u0060\u012a\u12AB"]`,
	"a surrogate pair":             `["\uD801\udc37"]`,
	"two surrogate pairs":          `["\ud83d\ude39\ud83d\udc8d"]`,
	"all escapes":                  `["\"\\\/\b\f\n\r\t"]`,
	"a backslash and a u":          `["\\u0000"]`,
	"a comment in a string":        `["a/*b*/c/*d//e"]`,
	"an escaped control character": `["\u0012"]`,
	"an escaped noncharacter":      `["\uFFFF"]`,
	"DEL":                          "[\"a\x7fa\"]",
	"U+10FFFF as it is":            "[\"\U0010ffff\"]",
	"U+2028 as it is":              "[\"\u2028\"]",
	"a NUL escaped":                `["\u0000"]`,
	"pi as it is":                  `["π"]`,
	"a lonely string":              `"asd"`,
	"a lonely number":              "42",
	"a lonely negative real":       "-0.1",
	"lonely true":                  "true",
	"lonely false":                 "false",
	"lonely null":                  "null",
	"an empty lonely string":       `""`,
	"a newline at the end":         "[\"a\"]\n",
	"white space of all kinds":     " \t\r\n[] \t\r\n",
	"the deepest that is allowed":  strings.Repeat("[", 127) + strings.Repeat("]", 127),
}

var invalidJSON = map[string]string{
	"1 true":                       "[1 true]",
	"bytes that are no UTF-8":      "[a\xe5]",
	"colon instead of comma":       `["": 1]`,
	"comma behind an array":        `[""],`,
	"comma at the start":           "[,1]",
	"two commas":                   "[1,,2]",
	"comma at the end":             "[1,]",
	"two commas at the end":        `["",,]`,
	"only a comma":                 "[,]",
	"an array in an array":         "[3[4]]",
	"a minus":                      "[-]",
	"a star inside":                "[*]",
	"an unclosed array":            `[""`,
	"an unclosed array and space":  "[1 ",
	"a newline unclosed":           "[\"a\",\n4\n,1,",
	"a bracket that closes":        "]",
	"a half true":                  "[tru]",
	"a half null":                  "[nul]",
	"a capital True":               "[True]",
	"plus one":                     "[+1]",
	"-01":                          "[-01]",
	"-1.0.":                        "[-1.0.]",
	"-2.":                          "[-2.]",
	".-1":                          "[.-1]",
	".2e-3":                        "[.2e-3]",
	"0.1.2":                        "[0.1.2]",
	"0.3e":                         "[0.3e]",
	"0.e1":                         "[0.e1]",
	"0e+":                          "[0e+]",
	"1.0e-":                        "[1.0e-]",
	"1 000":                        "[1 000.0]",
	"1eE2":                         "[1eE2]",
	"2.e3":                         "[2.e3]",
	"9.e+":                         "[9.e+]",
	"infinity":                     "[Infinity]",
	"minus infinity":               "[-Infinity]",
	"NaN":                          "[NaN]",
	"inf":                          "[Inf]",
	"an expression":                "[1+2]",
	"hexadecimal":                  "[0x42]",
	"a full-width digit":           "[１]",
	"a leading zero":               "[012]",
	"a letter behind a number":     "[1.2a-3]",
	"an integer with a BOM inside": "[\ufeff1]",
	"bad value":                    `["x", truth]`,
	"a bracket for a brace":        `{]`,
	"comma instead of colon":       `{"x", null}`,
	"two colons":                   `{"x"::"b"}`,
	"an emoji for a key":           "{🇨🇭}",
	"a key without quotes":         `{a: "b"}`,
	"a key in single quotes":       `{'a':0}`,
	"a number for a key":           `{1:1}`,
	"a missing value":              `{"a":`,
	"a missing colon":              `{"a" b}`,
	"several commas at the end":    `{"id":0,,,,,}`,
	"one comma at the end":         `{"id":0,}`,
	"a comment at the end":         `{"a":"b"}/**/`,
	"a line comment":               `{"a":"b"}//`,
	"garbage behind an object":     `{"a":"b"}#`,
	"a second object":              `{"a":true} {"b":1}`,
	"an escape x":                  `["\x00"]`,
	"an escape of an emoji":        `["\🌀"]`,
	"an escape a":                  `["\a"]`,
	"an incomplete escape":         `["\`,
	"an incomplete \\u":            `["\u00A"]`,
	"an incomplete surrogate":      `["\uD834\uDd"]`,
	"\\u with a letter":            `["\uqqqq"]`,
	"a tab as it is":               "[\"\t\"]",
	"a newline as it is":           "[\"new\nline\"]",
	"a NUL as it is":               "[\"a\x00a\"]",
	"an unescaped control":         "[\"\x1f\"]",
	"single quotes":                `['a']`,
	"no quotes":                    "[n]",
	"an angle bracket":             "<.>",
	"a lone letter":                "a",
	"an unclosed string":           `"abc`,
	"an unclosed object":           `{"asd":"asd"`,
	"a NUL behind":                 "[1]\x00",
	"a NUL for space":              "[\x00]",
	"no-break space":               "[\u00a0]",
	"word joiner":                  "[\u2060]",
	"form feed":                    "[\f]",
	"only space":                   " ",
	"BOM and nothing":              "\ufeff",
	"half a BOM":                   "\xef\xbb{}",
	"uescaped line break":          "[\\u000A\"\"]",
	"fifty thousand brackets":      strings.Repeat("[", 50_000),
	"fifty thousand objects":       strings.Repeat(`{"":`, 15_000),
	"a hundred thousand brackets":  strings.Repeat("[", 100_000),
	"brackets and objects":         strings.Repeat(`[{"":`, 50_000),
	"a hundred thousand, closed":   strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	"garbage behind garbage":       "{}}",
	"a document and a request":     "{}\r\nGET / HTTP/1.1",
}

// Left to the implementation. This one keeps to I-JSON (RFC 7493): what two readers could understand in two ways is refused.
var ambiguousJSON = map[string]struct {
	text   string
	status int
}{
	"a name twice":                {`{"a":"b","a":"c"}`, 400},
	"a name twice, spelt twice":   {`{"a":"b","\u0061":"c"}`, 400},
	"a name twice, below":         {`[{"x":{"a":1,"a":1}}]`, 400},
	"a huge exponent":             {"[0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006]", 400},
	"a tiny number":               {"[123.456e-789]", 200},
	"a huge number":               {"[1.5e+9999]", 400},
	"a huge negative number":      {"[-1e+9999]", 400},
	"an integer over 64 bits":     {"[100000000000000000000]", 200},
	"an integer of a thousand":    {"[" + strings.Repeat("1", 1000) + "]", 400},
	"a lone high surrogate":       {`["\uDADA"]`, 400},
	"a lone low surrogate":        {`["\uDd1ea"]`, 400},
	"a high and a wrong low":      {`["\uD888\u1234"]`, 400},
	"surrogates in wrong order":   {`["\uDd1e\uD834"]`, 400},
	"a key with a lone surrogate": {`{"\uDFAA":0}`, 400},
	"overlong UTF-8":              {"[\"\xc0\xaf\"]", 400},
	"overlong UTF-8 of six":       {"[\"\xfc\x83\xbf\xbf\xbf\xbf\"]", 400},
	"UTF-8 of a surrogate":        {"[\"\xed\xa0\x80\"]", 400},
	"UTF-8 beyond Unicode":        {"[\"\xf4\xbf\xbf\xbf\"]", 400},
	"truncated UTF-8":             {"[\"\xe0\xff\"]", 400},
	"Latin-1":                     {"[\"\xe9\"]", 400},
	"UTF-16, little end first":    {"\xff\xfe[\x00\"\x00\xe9\x00\"\x00]\x00", 400},
	"UTF-16 without a BOM":        {"\x00[\x00\"\x00\xe9\x00\"\x00]", 400},
	"a BOM":                       {"\ufeff{}", 400},
	"five hundred levels":         {strings.Repeat("[", 500) + strings.Repeat("]", 500), 400},
	"128 levels":                  {strings.Repeat("[", 128) + strings.Repeat("]", 128), 200},
	"129 levels":                  {strings.Repeat("[", 129) + strings.Repeat("]", 129), 400},
}

// engines sends bodies over both: one connection for the fast one, and for net/http one for each request.
type engines struct {
	t    *testing.T
	w    *world
	fast *wire
}

// ask expects both to answer alike, and returns the answer.
func (e *engines) ask(path, body string) answer {
	e.t.Helper()
	request := func(connection string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Request-Id: same\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), connection, body)
	}
	if e.fast == nil || len(body) > 64<<10 { // such a body takes the connection to net/http
		e.fast = wireTo(e.t, e.w.HTTPAddr())
	}
	e.fast.SetDeadline(time.Now().Add(waitLimit)) // of each request: the connection is for all of them
	io.WriteString(e.fast, request(""))
	fast, err := e.fast.next("POST")
	if err != nil {
		e.t.Fatalf("%.60q to %s: %v", body, path, err)
	}
	if len(body) > 64<<10 {
		e.fast.Close()
		e.fast = nil
	}
	other := wireTo(e.t, e.w.HTTPAddr())
	defer other.Close()
	io.WriteString(other, request("Connection: close\r\n"))
	slow, err := other.next("POST")
	if err != nil {
		e.t.Fatalf("%.60q to %s over net/http: %v", body, path, err)
	}
	if fast.status != slow.status || fast.body != slow.body {
		e.t.Errorf("%.60q to %s: %d %.200s, and over net/http %d %.200s", body, path, fast.status, fast.body, slow.status, slow.body)
	}
	return fast
}

type suiteTyped struct {
	A    string         `json:"a"`
	X    any            `json:"x"`
	ID   int            `json:"id"`
	Min  float32        `json:"min"`
	Next *suiteTyped    `json:"next"`
	Rest map[string]int `json:"rest"`
}

// suiteService has an action for each kind of input that a text could be for.
func suiteService() *sabir.Service {
	s := sabir.NewService("typed")
	sabir.Handle(s, "object", func(_ context.Context, in suiteTyped) (suiteTyped, error) { return in, nil })
	sabir.Handle(s, "text", func(_ context.Context, in string) (string, error) { return in, nil })
	sabir.Handle(s, "texts", func(_ context.Context, in []string) ([]string, error) { return in, nil })
	sabir.Handle(s, "numbers", func(_ context.Context, in []float64) ([]float64, error) { return in, nil })
	sabir.Handle(s, "integers", func(_ context.Context, in []int64) ([]int64, error) { return in, nil })
	sabir.Handle(s, "map", func(_ context.Context, in map[string]any) (map[string]any, error) { return in, nil })
	sabir.Handle(s, "flag", func(_ context.Context, in bool) (bool, error) { return in, nil })
	sabir.Handle(s, "raw", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	return s
}

var suitePaths = []string{"/typed/object", "/typed/text", "/typed/texts", "/typed/numbers", "/typed/integers", "/typed/map", "/typed/flag", "/typed/raw"}

func TestWhatIsJSONIsTakenAndComesBackAsItWas(t *testing.T) {
	t.Parallel()
	e := &engines{t, worldOf(t, nil, suiteService()), nil}
	for about, text := range validJSON {
		for _, path := range []string{"/h/any", "/typed/raw"} {
			got := e.ask(path, text)
			var want, have any
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatalf("%s: %v", about, err)
			}
			if err := json.Unmarshal([]byte(got.body), &have); err != nil || got.status != 200 || !reflect.DeepEqual(have, want) {
				t.Errorf("%s to %s: %d %s, %v", about, path, got.status, got.body, err)
			}
		}
	}
}

func TestWhatIsNoJSONIsRefusedWithThePlaceOfTheFault(t *testing.T) {
	t.Parallel()
	e := &engines{t, worldOf(t, nil, suiteService()), nil}
	for about, text := range invalidJSON {
		for _, path := range append([]string{"/h/any"}, suitePaths...) {
			got := e.ask(path, text)
			if got.status != 400 {
				t.Errorf("%s to %s: %d %.200s", about, path, got.status, got.body)
				continue
			}
			p := got.problem(t)
			if p.Name != "BadInput" || p.RequestID != "same" {
				t.Errorf("%s to %s: %+v", about, path, p)
			}
			if path == "/h/any" && strings.TrimSpace(text) != "" && !placed(p) {
				t.Errorf("%s: the problem does not say where: %.300s", about, got.body)
			}
		}
	}
}

// placed reports whether a problem reports where in the body its fault is.
func placed(p problem) bool {
	data, _ := p.Data.(map[string]any)
	_, pointer := data["pointer"]
	_, offset := data["offset"]
	return pointer || offset || strings.Contains(p.Message, "byte") || strings.Contains(p.Message, "offset")
}

func TestWhatTwoReadersCouldTakeInTwoWaysIsRefused(t *testing.T) {
	t.Parallel()
	e := &engines{t, worldOf(t, nil, suiteService()), nil}
	for about, test := range ambiguousJSON {
		if got := e.ask("/h/any", test.text); got.status != test.status {
			t.Errorf("%s: %d %.200s, want %d", about, got.status, got.body, test.status)
		}
	}
}

func TestNoJSONMakesATypedActionFail(t *testing.T) {
	t.Parallel()
	e := &engines{t, worldOf(t, nil, suiteService()), nil}
	texts := maps.Clone(validJSON)
	for about, test := range ambiguousJSON {
		texts[about] = test.text
	}
	taken := make(map[string]int)
	for about, text := range texts {
		for _, path := range suitePaths {
			got := e.ask(path, text)
			if got.status != 200 && got.status != 400 {
				t.Errorf("%s to %s: %d %s", about, path, got.status, got.body)
			}
			if got.status == 200 {
				taken[path]++
			}
		}
	}
	if slices.Contains(slices.Collect(maps.Values(taken)), 0) || len(taken) != len(suitePaths) {
		t.Errorf("an action took nothing: %v", taken)
	}
}
