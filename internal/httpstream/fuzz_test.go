package httpstream

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/names"
)

func FuzzLines(f *testing.F) {
	f.Add("{}\n\n  []\r\n1", 1)
	f.Add(strings.Repeat("x", 100)+"\n", 3)
	f.Add("\n\r\n \n", 1)
	f.Fuzz(func(t *testing.T, text string, step int) {
		const limit = 40
		var want []string
		tooLong := false
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.Trim(line, " \t\r")
			if line != "" {
				want = append(want, line)
			}
		}
		r := newLineReader(&stepReader{text, max(1, step%7)}, limit, nil)
		var got []string
		for {
			line, err := r.next()
			if err == errLineTooLong {
				tooLong = true
				break
			}
			if err == io.EOF {
				break
			}
			if err != nil || len(line) == 0 || len(line) > limit {
				t.Fatalf("%q, %v", line, err)
			}
			got = append(got, string(line))
		}
		if len(r.buf) > limit+2 {
			t.Fatalf("the buffer has grown to %d", len(r.buf))
		}
		for i, line := range got {
			if i >= len(want) || line != want[i] {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		if !tooLong && len(got) != len(want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// stepReader gives a few bytes at a time.
type stepReader struct {
	text string
	step int
}

func (s *stepReader) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p, s.text[:min(s.step, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}

func TestALineReadersErrorComesAfterTheWholeLines(t *testing.T) {
	r := newLineReader(io.MultiReader(strings.NewReader("1\n2\n3"), iotest.ErrReader(io.ErrClosedPipe)), 100, nil)
	for _, want := range []string{"1", "2"} {
		if line, err := r.next(); string(line) != want || err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if line, err := r.next(); err != io.ErrClosedPipe {
		t.Fatalf("half a line is %q, %v", line, err)
	}
}

func TestAMessageIsAValueOrTheEnd(t *testing.T) {
	for _, text := range []string{`{"value":1,"end":null}`, `{"value":1,"end":true}`, `{"end":null}`, `{"end":1}`, `{"end":false}`, `{}`} {
		if value, last, err := parseMessage([]byte(text)); err == nil {
			t.Errorf("%s was taken as %s, %v", text, value, last)
		}
	}
	for _, text := range []string{`{ "end" : true }`, `{"value":null}`, `{"value" : true}`} {
		if _, _, err := parseMessage([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, text := range []string{`{"value":1}`, `{"end":true}`, `{"value":1,"end":true}`, `{"value":{}}}`, `{"value":1}}`, `{"value":"a","value":1}`, `{ "value":[1] }`, `{"end":null}`, `{"value":1,"end":null}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		value, last, err := parseMessage(text)
		if !bytes.Equal(before, text) {
			t.Fatal("the message was changed")
		}
		if err != nil {
			return
		}
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("%q was taken and is no JSON", text)
		}
		if last == (value != nil) {
			t.Fatalf("%q is %q, %v", text, value, last)
		}
		whole := jsontext.Value(bytes.Clone(text))
		whole.Compact()
		again := jsontext.Value(`{"end":true}`)
		if !last {
			again = append(append(bytes.Clone(valuePrefix), value...), valueSuffix...)
			again.Compact()
		}
		if whole.Canonicalize(); again.Canonicalize() != nil || !bytes.Equal(whole, again) {
			t.Fatalf("%q was taken for %q", text, again)
		}
	})
}

func FuzzFrames(f *testing.F) {
	frame := func(op ws.OpCode, fin bool, payload string) []byte {
		var b bytes.Buffer
		ws.WriteFrame(&b, ws.MaskFrame(ws.NewFrame(op, fin, []byte(payload))))
		return b.Bytes()
	}
	f.Add(frame(ws.OpText, true, "hello"))
	f.Add(append(frame(ws.OpText, false, "he"), append(frame(ws.OpPing, true, "x"), frame(ws.OpContinuation, true, "llo")...)...))
	f.Add(frame(ws.OpClose, true, "\x03\xe8bye"))
	f.Add([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Add([]byte{0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, wire []byte) {
		const limit = 1000
		whole := newFrameReader(bytes.NewReader(wire), nil, limit)
		slow := newFrameReader(iotest.OneByteReader(bytes.NewReader(wire)), nil, limit)
		for {
			a, errA := whole.next()
			b, errB := slow.next()
			if !bytes.Equal(a, b) || (errA == nil) != (errB == nil) {
				t.Fatalf("at once %q, %v; byte by byte %q, %v", a, errA, b, errB)
			}
			if len(a) > limit || !utf8.Valid(a) {
				t.Fatalf("%d bytes, %q", len(a), a)
			}
			if errA != nil {
				return
			}
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, name := range []string{"a.txt", "../../etc/passwd", `C:\x\y.txt`, "", ".", "..", "...", "a\x00b", "é\r\nX: y", strings.Repeat("é", 200), "\u202egpj.exe", "\xff\xfe", "con. "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name := fileName(path)
		bad := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
		switch {
		case len(name) > maxFileName, !utf8.ValidString(name), strings.ContainsAny(name, `/\`), strings.ContainsFunc(name, bad), name == ".", name == "..":
			t.Fatalf("%q gives %q", path, name)
		case fileName(name) != name:
			t.Fatalf("%q gives %q, and that %q", path, name, fileName(name))
		}
	})
}

func TestFileName(t *testing.T) {
	for path, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `C:\Users\me\né.txt`: "né.txt", `a/b\c`: "c", "a/": "", "..": "", "a\r\nb": "ab", " .htaccess ": ".htaccess",
		strings.Repeat("é", 200): strings.Repeat("é", 127),
	} {
		if got := fileName(path); got != want {
			t.Errorf("%q gives %q, want %q", path, got, want)
		}
	}
}

// Two patterns overlap where there is a name that both take: here every name of up to four of three words is tried.
func TestOverlap(t *testing.T) {
	words := []string{"a", "b", "*", "**"}
	var patterns, events []string
	var grow func(list *[]string, words []string, prefix string, depth int)
	grow = func(list *[]string, words []string, prefix string, depth int) {
		for _, w := range words {
			*list = append(*list, prefix+w)
			if depth > 1 {
				grow(list, words, prefix+w+".", depth-1)
			}
		}
	}
	grow(&patterns, words, "", 3)
	grow(&events, []string{"a", "b", "x"}, "", 5)
	for _, p := range patterns {
		for _, q := range patterns {
			want := false
			for _, name := range events {
				if names.Match(p, name) && names.Match(q, name) {
					want = true
					break
				}
			}
			if got := overlap(p, q); got != want {
				t.Fatalf("%s and %s: %v, want %v", p, q, got, want)
			}
		}
	}
}

func TestAnswerForm(t *testing.T) {
	for _, test := range []struct {
		accept string
		usual  form
		want   form
	}{
		{"", ndjson, ndjson}, {"", octets, octets}, {"*/*", octets, octets}, {"text/event-stream", ndjson, sse},
		{"application/x-ndjson;q=0.5, text/event-stream;q=0.4", ndjson, ndjson}, {"text/event-stream;q=0", ndjson, ndjson},
		{"text/event-stream;q=x", ndjson, ndjson}, {"TEXT/EVENT-STREAM ; Q=0.1", ndjson, sse}, {"application/octet-stream", ndjson, ndjson},
		{"application/octet-stream, application/json;q=0.9", octets, octets}, {"application/ndjson", octets, ndjson}, {"application/json, */*", ndjson, single},
		{"*/*", single, single}, {"application/x-ndjson", single, ndjson}, {"application/octet-stream", single, single},
	} {
		if got := responseForm([]string{test.accept}, test.usual); got != test.want {
			t.Errorf("%q, %d: %d, want %d", test.accept, test.usual, got, test.want)
		}
	}
}
