package telemetry

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type account struct {
	Name     string            `json:"name"`
	Pin      int               `json:"pin" sabir:"secret"`
	Password string            `json:"password"`
	APIKey   string            `json:"api_key"`
	Iban     string            `json:"iban"`
	Note     string            `json:"note,omitempty"`
	Skipped  string            `json:"-"`
	Headers  map[string]string `json:"headers,omitempty"`
	private  int
}

type embedded struct {
	*account
	Age int
}

type loop struct{ Next *loop }

type cycle []cycle

type ownJSON struct{ text string }

func (o ownJSON) MarshalJSON() ([]byte, error) { return []byte(o.text), nil }

type panicking struct{}

func (panicking) MarshalText() ([]byte, error) { panic("no text") }

type failing struct{}

func (failing) MarshalText() ([]byte, error) { return nil, errors.New("not today") }

func TestAValueInASpanIsJSONWithoutSecrets(t *testing.T) {
	v := newValues([]string{"**"}, []string{"IBAN"})
	ring := &loop{}
	ring.Next = ring
	endless := cycle{nil}
	endless[0] = endless
	number := 7
	for _, test := range []struct {
		name string
		in   any
		want string
	}{
		{"secrets", account{"Ada", 1, "p", "k", "DE1", "", "s", map[string]string{"Authorization": "Bearer x", "a": "b"}, 1},
			`{"name":"Ada","pin":"(hidden)","password":"(hidden)","api_key":"(hidden)","iban":"(hidden)","headers":{"Authorization":"(hidden)","a":"b"}}`},
		{"a pointer to a pointer", new(&number), "7"},
		{"nil", (*account)(nil), "null"},
		{"an embedded nil", embedded{Age: 3}, `{"Age":3}`},
		{"a list", []*account{nil, {Name: "a", Password: "x"}}, `[null,{"name":"a","pin":"(hidden)","password":"(hidden)","api_key":"(hidden)","iban":"(hidden)"}]`},
		{"bytes", []byte("abc"), `"(3 bytes)"`},
		{"an array of bytes", [2]byte{}, `"(2 bytes)"`},
		{"a time", time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
		{"its own JSON", ownJSON{`{"token":"x","list":[1,{"secret":2}]}`}, `{"list":[1,{"secret":"(hidden)"}],"token":"(hidden)"}`},
		{"a document whose type is not known here", new(json.RawMessage(`{"pin":1}`)), `"(9 bytes)"`},
		{"a document in a value", []json.RawMessage{json.RawMessage(`{"clientSecret":1}`)}, `[{"clientSecret":"(hidden)"}]`},
		{"its own JSON, raw", json.RawMessage(`{"clientSecret":1}`), `{"clientSecret":"(hidden)"}`},
		{"its own number, large", json.RawMessage(`[9007199254740993]`), `[9007199254740993]`},
		{"its own that is none", ownJSON{`{`}, `"(1 bytes)"`},
		{"its own that is too long", ownJSON{strings.Repeat(" ", maxMarshaled) + "1"}, `"(65537 bytes)"`},
		{"keys", map[int]bool{2: true, 1: false}, `{"1":false,"2":true}`},
		{"keys of a type with a text", map[time.Time]int{time.Unix(0, 0).UTC(): 1}, `{"1970-01-01T00:00:00Z":1}`},
		{"any", map[string]any{"x": nil, "y": 1.5}, `{"x":null,"y":1.5}`},
		{"no JSON", struct {
			C chan int
			F float64
		}{nil, math.NaN()}, `{"C":"chan int","F":NaN}`},
		{"a text that fails", failing{}, `"not today"`},
		{"a text that panics", panicking{}, `(a method of telemetry.panicking panicked: no text)`},
		{"quotes", "a\"b\n", `"a\"b\n"`},
		{"nothing", struct{}{}, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := v.text(test.in); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	for name, in := range map[string]any{"a ring of pointers": ring, "a list in itself": endless} {
		if text := v.text(in); len(text) > maxValue+10 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func TestAValueInASpanIsCutAtFourKiB(t *testing.T) {
	v := newValues([]string{"**"}, nil)
	large := make(map[string]int)
	for i := range 100_000 {
		large[strings.Repeat("k", i%7)+time.Duration(i).String()] = i
	}
	for name, in := range map[string]any{
		"a list": make([]int, 1<<20), "a text": strings.Repeat("ä€😀", 1<<20), "texts": []string{"x", strings.Repeat("€", 4000)}, "a map": large,
	} {
		var text string
		allocated := testing.AllocsPerRun(1, func() { text = v.text(in) })
		if len(text) > maxValue+len("…") || !strings.HasSuffix(text, "…") || !utf8.ValidString(text) {
			t.Errorf("%s: %d bytes, valid %v, ends with %q", name, len(text), utf8.ValidString(text), text[len(text)-8:])
		}
		if allocated > 8*maxMapKeys {
			t.Errorf("%s: %v allocations", name, allocated)
		}
	}
}

func BenchmarkAValueInASpan(b *testing.B) {
	v := newValues([]string{"**"}, nil)
	in := &account{Name: "Ada", Password: "x", Headers: map[string]string{"a": "b"}}
	for b.Loop() {
		v.text(in)
	}
}
