package httpstrict

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
)

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a.test\r\n\r\n" }

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

func TestPlainStopsAtEachControlByteWhereverItIs(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte{'a'}, 24)
			b[at] = byte(c)
			want := len(b)
			if c < ' ' && c != '\t' || c == 0x7f {
				want = at
			}
			if got := Plain(b); got != want {
				t.Errorf("%q: %d", b, got)
			}
		}
	}
}

// lines is the form of a head by itself: what strict takes has to fit it.
var lines = regexp.MustCompile("^(?:\r\n){0,2}[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-\"$-~]+ HTTP/[0-9]\\.[0-9]\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*\r\n$")

// FuzzWhatStrictPassesHasOneMeaning holds that strict's verdict is the same however the bytes come, and that what it passes on
// is what net/http's reader makes of it, in heads whose lines all have one form.
func FuzzWhatStrictPassesHasOneMeaning(f *testing.F) {
	for _, request := range stricttest.Heads {
		f.Add([]byte(request+get("/behind")), 3)
	}
	for _, test := range stricttest.Chunkings {
		f.Add([]byte(test.Request+get("/behind")), 5)
	}
	f.Add([]byte(post("/a", "b")+"\r\n\r\n"+post("/a", "b")+"\r\n"+get("/c")), 1)
	f.Fuzz(func(t *testing.T, text []byte, part int) {
		if part < 1 {
			return
		}
		whole, parts := newStrict(false), newStrict(false)
		good, n := whole.pass(text), 0
		for n < len(text) && parts.refusal == "" {
			n += parts.pass(text[n:min(n+part, len(text))])
		}
		if n != good || whole.refusal != parts.refusal || (whole.refusal == "") != (good == len(text)) {
			t.Fatalf("%q: %d bytes are good (%q), but in parts of %d %d are (%q)", text, good, whole.refusal, part, n, parts.refusal)
		}
		source := bytes.NewReader(text[:good])
		buffered := bufio.NewReader(source)
		for {
			at := good - source.Len() - buffered.Buffered()
			for range 2 {
				if b, _ := buffered.Peek(2); string(b) == "\r\n" {
					buffered.Discard(2)
				}
			}
			r, err := http.ReadRequest(buffered)
			if err != nil {
				return // not whole, or the last, which net/http refuses
			}
			headEnd := good - source.Len() - buffered.Buffered()
			if !lines.Match(text[at:headEnd]) {
				t.Fatalf("the head %q", text[at:headEnd])
			}
			if len(r.TransferEncoding) > 0 && bytes.Contains(bytes.ToLower(text[at:headEnd]), []byte("\ncontent-length")) {
				t.Fatalf("two lengths: %q", text[at:headEnd])
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
	})
}

func BenchmarkStrict(b *testing.B) {
	head := "GET /users/7?page=2 HTTP/1.1\r\nHost: a.test\r\nUser-Agent: " + strings.Repeat("agent ", 20) + "\r\nAccept: */*\r\nCookie: " + strings.Repeat("a=b; ", 40) + "\r\n\r\n"
	for _, test := range []struct{ name, text string }{{"a head", head}, {"a body of 64 KiB", post("/a", strings.Repeat("x", 64<<10))}} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			s, text := newStrict(false), []byte(test.text)
			b.ReportAllocs()
			for b.Loop() {
				if s.pass(text) != len(text) {
					b.Fatal(s.refusal)
				}
			}
		})
	}
}
