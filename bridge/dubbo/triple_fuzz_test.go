package dubbo

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"testing"
	"time"
)

// tripleCaptures are messages as Dubbo 3.3.6 sent them: a call with two numbers, one without arguments, and an answer.
var tripleCaptures = []string{
	"00000000360a086865737369616e34120191120192" + "1a116a6176612e6c616e672e496e7465676572" + "1a116a6176612e6c616e672e496e7465676572",
	"000000000a0a086865737369616e34",
	"00000000240a086865737369616e34" + "12060564756262" + "6f1a106a6176612e6c616e672e537472696e67",
}

// FuzzTriple reads bytes as messages, and their wrappers as arguments and answers, as the bridge does.
func FuzzTriple(f *testing.F) {
	for _, c := range tripleCaptures {
		data, err := hex.DecodeString(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "gzip")
	}
	f.Fuzz(func(t *testing.T, data []byte, encoding string) {
		var held bodies
		for r := bytes.NewReader(data); ; {
			message, err := readMessage(r, encoding, &held)
			if err != nil {
				break
			}
			held.free(len(message))
			w, err := readWrapper(message)
			if err != nil {
				continue
			}
			if len(w.values) != len(w.types) {
				t.Fatalf("%d values of %d types", len(w.values), len(w.types))
			}
			again, err := readWrapper(appendWrapper(nil, w.values, w.types))
			if err != nil || len(again.values) != len(w.values) {
				t.Errorf("what was read as %v is written as %v, %v", w, again, err)
			}
			var in struct {
				Text   string
				Number int32
				Any    any
			}
			_ = streamFormat{of: new(mapping)}.Decode(message, &in)
			inv := &invocation{method: genericMethod}
			if inv.take(w) == nil {
				_ = inv.Decode(inv.arguments, &in)
			}
			for _, v := range w.values {
				javaTypeOf(v)
			}
		}
		if held.bytes.Load() != 0 {
			t.Errorf("%d bytes are held after the end", held.bytes.Load())
		}
	})
}

// FuzzTripleJSON reads bytes as arguments in JSON.
func FuzzTripleJSON(f *testing.F) {
	for _, text := range []string{`[2, 40]`, `["b", 7]`, `{"Text":"a"}`, `[{"Text":"a"}]`, `"soon"`, ``, `[[1]]`, `[null]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		var in struct {
			Text   string
			Number int32
			Any    any
		}
		var list []int
		var one string
		for _, v := range []any{&in, &list, &one} {
			_ = jsonArguments{}.Decode(data, v)
		}
		countElements(data)
	})
}

// FuzzTripleHeaders reads texts as headers of a call.
func FuzzTripleHeaders(f *testing.F) {
	f.Add("3000000u", "%7B%22username%22:%22userName%22%7D", "username", "x")
	f.Add("99999999H", `{"a":"A"}`, "a", "1")
	f.Fuzz(func(t *testing.T, timeout, names, name, value string) {
		h := http.Header{}
		h.Set(grpcTimeout, timeout)
		h.Set(headerTimeout, timeout)
		h.Set(headerNames, names)
		h.Set(name, value)
		if d := timeoutOf(h); d < 0 || d > maxTimeout*time.Millisecond {
			t.Errorf("the timeout is %v", d)
		}
		inv := &invocation{attachments: attachmentsOf(h)}
		if pairs, err := inv.metadata(); err == nil && (pairs["sabir.principal"] != "" || len(pairs) > 1) {
			t.Errorf("the metadata is %v", pairs)
		}
		if got := percentDecode(percentEncode(value)); got != percentDecode(percentEncode(got)) {
			t.Errorf("%q is %q", value, got)
		}
	})
}
