package json_test

import (
	stdjson "encoding/json"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
)

// allocatedBy returns the bytes that f takes from the heap, whether they are freed again or not.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Decode never panics, takes memory in proportion to the text, returns a *codec.Error or nothing, and accepts only
// what encoding/json reads as the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "null", "1e999", `"\ud83d\udc22"`, `[1,[2,{"a":[]}]]`, `{"a":1,"a":2}`, "\"\xff\"", `{} {}`, userText,
		`{"next":{"list":[{"next":null}]}}`, strings.Repeat("[", 300), `{"count":1.5,"at":"2024-01-02T03:04:05+01:00"}`,
		`{"pair":[1,2],"data":"AAAA","timeout":5,"from":"::1","quoted":"7","nested":{"price":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got any
		var err error
		taken := allocatedBy(func() { err = json.Codec.Decode(data, &got) })
		if limit := uint64(100*len(data) + 1<<16); taken > limit {
			t.Errorf("%d bytes of text took %d bytes of memory, want at most %d", len(data), taken, limit)
		}
		checkError(t, err)
		if err == nil {
			var standard any
			if err := stdjson.Unmarshal(data, &standard); err != nil {
				t.Errorf("encoding/json refuses what Decode took: %v", err)
			}
			if !reflect.DeepEqual(got, standard) {
				t.Errorf("Decode gave %#v, encoding/json gave %#v", got, standard)
			}
		}
		for _, target := range []any{new(order), new(node), new(user), new(string), new([]float64), new(map[int]string)} {
			checkError(t, json.Codec.Decode(data, target))
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e, ok := errors.AsType[*codec.Error](err)
	if !ok {
		t.Fatalf("got a %T, want a *codec.Error: %v", err, err)
	}
	text := e.Error()
	if strings.ContainsAny(text, "\n\r\x00") || !utf8.ValidString(text) || len(text) > 1000 {
		t.Errorf("not a short line of text: %q", text)
	}
	if strings.Contains(text, "<nil>") || strings.HasSuffix(text, ": ") {
		t.Errorf("says too little: %s", text)
	}
}

// What Append wrote, Decode reads back to the same value, and so does encoding/json.
func FuzzRoundTrip(f *testing.F) {
	f.Add("Ada", int64(36), uint64(1), 2.5, float32(0.1), []byte{1, 2}, true, int64(1704164645))
	f.Add("", int64(math.MinInt64), uint64(math.MaxUint64), math.SmallestNonzeroFloat64, float32(math.MaxFloat32), []byte{}, false, int64(0))
	f.Add("\xff", int64(0), uint64(0), math.NaN(), float32(0), []byte{0}, false, int64(-1))
	f.Add("\u2028<\x7f>\\\"", int64(1<<53+1), uint64(1<<53+1), math.Copysign(0, -1), float32(1e-45), []byte("x"), true, int64(1))
	f.Fuzz(func(t *testing.T, s string, i int64, u uint64, d float64, e float32, b []byte, flag bool, seconds int64) {
		type inner struct {
			S string
			P *float64
		}
		type value struct {
			S     string  `json:"s"`
			I     int64   `json:"i"`
			U     uint64  `json:"u"`
			D     float64 `json:"d"`
			E     float32 `json:"e"`
			B     []byte  `json:"b"`
			Flag  bool    `json:"flag,omitempty"`
			Quote int64   `json:"quote,string"`
			T     time.Time
			For   time.Duration
			Array [3]byte
			List  []inner
			Map   map[string]int64
			Keys  map[int64]string
			Any   any
		}
		const year10000 = 253402300800
		v := value{
			S: s, I: i, U: u, D: d, E: e, B: append([]byte{}, b...), Flag: flag, Quote: i,
			T: time.Unix(seconds%year10000, i&(1<<29-1)).UTC(), For: time.Duration(i), Array: [3]byte{byte(i), byte(u), 3},
			List: []inner{{S: s, P: &d}, {}}, Map: map[string]int64{s: i, s + "x": 1}, Keys: map[int64]string{i: s, 1: "x"}, Any: s,
		}
		if v.T.Year() < 0 {
			v.T = time.Time{}
		}
		text, err := json.Codec.Append([]byte("before"), &v)
		holds := utf8.ValidString(s) && !math.IsNaN(d) && !math.IsInf(d, 0) && !math.IsNaN(float64(e)) && !math.IsInf(float64(e), 0)
		if !holds {
			checkError(t, err)
			if err == nil || string(text) != "before" {
				t.Errorf("JSON cannot hold %+v, got %s", v, text)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text = text[len("before"):]
		var back, standard value
		if err := json.New(json.Config{Strict: true}).Decode(text, &back); err != nil {
			t.Fatalf("%v\nin %s", err, text)
		}
		if !reflect.DeepEqual(back, v) {
			t.Errorf("Decode gave %+v\nwant %+v\nfrom %s", back, v, text)
		}
		if err := stdjson.Unmarshal(text, &standard); err != nil {
			t.Fatalf("encoding/json: %v\nin %s", err, text)
		}
		if !reflect.DeepEqual(standard, v) {
			t.Errorf("encoding/json gave %+v\nwant %+v\nfrom %s", standard, v, text)
		}
		again, err := json.Codec.Append(nil, v)
		if err != nil || string(again) != string(text) {
			t.Errorf("a second Append gave %s, %v\nwant %s", again, err, text)
		}
	})
}
