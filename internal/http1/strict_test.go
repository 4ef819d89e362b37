package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/web/exchange"
)

// answered are the statuses of the requests among unusuals that are not refused with 400: of those that only the engine does
// not read itself, and of those for which another status says more.
var answered = map[string]int{
	"chunked alone": 200, "Transfer-Encoding of another case": 200, "a Transfer-Encoding behind a tab": 200, "absolute-form of the same host": 200, "asterisk-form": 200,
	"absolute-form without a path": 200, "authority-form of the same host": 200, "a bar and brackets in the path": 200, "HTTP/1.0": 200, "HTTP/1.0 with keep-alive": 200, "another method": 200,
	"a method of another case": 200, "a method with more behind it": 200, "Connection: close": 200, "Connection with more": 200, "two Connections": 200, "an upgrade": 200, "Expect": 100, "Trailer": 200,
	"too many headers":             200,
	"an unknown Transfer-Encoding": 501, "a list of Transfer-Encodings": 501, "a quoted Transfer-Encoding": 501, "HTTP/2.0": 505, "HTTP/3.7": 505,
}

// engines are the ways by which a request reaches its handler: the server's own engine reads what it can, or net/http all.
var engines = map[string]func(*record) Config{
	"both engines": func(r *record) Config { return Config{Handler: r.handler(), Fallback: &http.Server{Handler: r}} },
	"net/http": func(r *record) Config {
		return Config{Handler: &handler{take: func(*exchange.Exchange) bool { return false }}, Fallback: &http.Server{Handler: r}}
	},
}

// talk sends text and returns the statuses of all answers, and the body of the last, when the connection has ended.
func talk(t *testing.T, addr, text string) (statuses []int, last string) {
	t.Helper()
	c := dial(t, addr)
	defer c.Close()
	go func() {
		io.WriteString(c, text)
		closeWrite(c.Conn)
	}()
	for {
		response, err := http.ReadResponse(c.r, nil)
		if err != nil {
			return statuses, last
		}
		b, _ := io.ReadAll(response.Body)
		statuses, last = append(statuses, response.StatusCode), string(b)
	}
}

func TestWhatAServerMayRefuseIsRefusedByBothEnginesAndEndsTheConnection(t *testing.T) {
	for engine, config := range engines {
		var seen record
		_, addr := serveWith(t, config(&seen))
		for about, request := range unusuals {
			want := answered[about]
			switch {
			case about == "HTTP/2's preface" || about == "a Content-Length over the limit" || want == 200 || want == 100:
				continue
			case want == 0:
				want = 400
			}
			for _, before := range []string{"", get("/before"), "PURGE /before HTTP/1.1\r\nHost: a.test\r\n\r\n", post("/before", "b")} {
				if about == "an empty line first" && strings.HasPrefix(before, "POST") {
					continue // RFC 9112, section 2.2
				}
				seen.seen = nil
				statuses, text := talk(t, addr, before+request+get("/behind"))
				first := min(len(before), 1)
				if len(statuses) != first+1 || statuses[first] != want || len(seen.seen) != first {
					t.Errorf("%s: %s: %q behind %.5q is answered with %d, and %q ran; want %d at the end, and nothing to run", engine, about, request, before, statuses, seen.seen, want)
				}
				if want == 400 && !strings.Contains(text, "RFC 9112") {
					t.Errorf("%s: %s: the answer gives no reason: %q", engine, about, text)
				}
			}
		}
	}
}

func TestWhatIsUnusualButClearIsAnsweredByBothEngines(t *testing.T) {
	for engine, config := range engines {
		var seen record
		server, addr := serveWith(t, config(&seen))
		for about, want := range answered {
			if want != 200 || about == "another method" { // whose answer has no body
				continue
			}
			if statuses, _ := talk(t, addr, get("/before")+unusuals[about]); !slices.Equal(statuses, []int{200, 200}) {
				t.Errorf("%s: %s: %q is answered with %d", engine, about, unusuals[about], statuses)
			}
		}
		if n := server.Refused(); n != 0 {
			t.Errorf("%s: %d were refused", engine, n)
		}
	}
}

func TestRequestsThatAreRefusedAreCounted(t *testing.T) {
	server, addr := serve(t, &handler{})
	for range 3 {
		talk(t, addr, unusuals["CL.TE"])
	}
	if n := server.Refused(); n != 3 {
		t.Errorf("%d, want 3", n)
	}
}

func TestARefusalIsReadAlsoByAClientThatStillSends(t *testing.T) {
	_, addr := serve(t, &handler{})
	c := dial(t, addr)
	go io.WriteString(c, unusuals["a folded header"]+strings.Repeat("x", lingerBytes/2))
	if got := c.read(); got.status != 400 || !got.close || !strings.Contains(got.body, "folded") {
		t.Errorf("%+v", got)
	}
}

const chunkedHead = "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunkings are bodies in chunks, and whether they are read.
var chunkings = map[string]struct {
	request string
	good    bool
}{
	"chunks":                               {chunkedHead + "1\r\na\r\n00a\r\n0123456789\r\n0\r\n\r\n", true},
	"no chunk":                             {chunkedHead + "0\r\n\r\n", true},
	"upper and lower case":                 {chunkedHead + "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", true},
	"extensions":                           {chunkedHead + "1;a;b=c;d=\"e f\\\"g\"\r\na\r\n0;z\r\n\r\n", true},
	"a trailer":                            {chunkedHead + "1\r\na\r\n0\r\nX-Sum: b\r\nY:\r\n\r\n", true},
	"a size with 0x":                       {chunkedHead + "0x1\r\na\r\n0\r\n\r\n", false},
	"a size with a plus":                   {chunkedHead + "+1\r\na\r\n0\r\n\r\n", false},
	"a negative size":                      {chunkedHead + "-1\r\na\r\n0\r\n\r\n", false},
	"a size with an underscore":            {chunkedHead + "0_1\r\na\r\n0\r\n\r\n", false},
	"an empty size":                        {chunkedHead + "\r\na\r\n0\r\n\r\n", false},
	"a size that is no number":             {chunkedHead + "g\r\na\r\n0\r\n\r\n", false},
	"a size of 16 digits":                  {chunkedHead + "0000000000000001\r\na\r\n0\r\n\r\n", false},
	"a size past 64 bits":                  {chunkedHead + "10000000000000001\r\na\r\n0\r\n\r\n", false},
	"a space before the size":              {chunkedHead + " 1\r\na\r\n0\r\n\r\n", false},
	"a space behind the size":              {chunkedHead + "1 \r\na\r\n0\r\n\r\n", false},
	"a tab behind the size":                {chunkedHead + "1\t\r\na\r\n0\r\n\r\n", false},
	"a bare LF behind the size":            {chunkedHead + "1\na\r\n0\r\n\r\n", false},
	"a bare CR behind the size":            {chunkedHead + "1\ra\r\n0\r\n\r\n", false},
	"two CRs behind the size":              {chunkedHead + "1\r\r\na\r\n0\r\n\r\n", false},
	"a bare LF behind the chunk":           {chunkedHead + "1\r\na\n0\r\n\r\n", false},
	"nothing behind the chunk":             {chunkedHead + "1\r\na0\r\n\r\n", false},
	"other bytes behind the chunk":         {chunkedHead + "1\r\naXX0\r\n\r\n", false},
	"a bare LF behind the last size":       {chunkedHead + "1\r\na\r\n0\n\r\n", false},
	"a bare LF at the end":                 {chunkedHead + "1\r\na\r\n0\r\n\n", false},
	"an extension without a name":          {chunkedHead + "1;\r\na\r\n0\r\n\r\n", false},
	"an extension without a value":         {chunkedHead + "1;a=\r\na\r\n0\r\n\r\n", false},
	"an extension behind a space":          {chunkedHead + "1 ;a\r\na\r\n0\r\n\r\n", false},
	"an extension with an open quote":      {chunkedHead + "1;a=\"b\r\na\r\n0\r\n\r\n", false},
	"an extension with a quote and more":   {chunkedHead + "1;a=\"b\"c\r\na\r\n0\r\n\r\n", false},
	"an extension with a bare LF":          {chunkedHead + "1;a\nb\r\na\r\n0\r\n\r\n", false},
	"an extension with a bare CR":          {chunkedHead + "1;a\rb\r\na\r\n0\r\n\r\n", false},
	"an extension with a LF in quotes":     {chunkedHead + "1;a=\"\n\"\r\na\r\n0\r\n\r\n", false},
	"an extension with a NUL":              {chunkedHead + "1;a\x00\r\na\r\n0\r\n\r\n", false},
	"an extension that is too long":        {chunkedHead + "1;" + strings.Repeat("a", maxWord) + "\r\na\r\n0\r\n\r\n", false},
	"a trailer that is a length":           {chunkedHead + "1\r\na\r\n0\r\nContent-Length: 9\r\n\r\n", false},
	"a trailer that is a coding":           {chunkedHead + "1\r\na\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", false},
	"a trailer that is a host":             {chunkedHead + "1\r\na\r\n0\r\nHost: b\r\n\r\n", false},
	"a trailer that is a credential":       {chunkedHead + "1\r\na\r\n0\r\nAuthorization: b\r\n\r\n", false},
	"a trailer that is a client's address": {chunkedHead + "1\r\na\r\n0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n", false},
	"a folded trailer":                     {chunkedHead + "1\r\na\r\n0\r\nX: b\r\n c\r\n\r\n", false},
	"a trailer with a bare LF":             {chunkedHead + "1\r\na\r\n0\r\nX: b\n\r\n", false},
	"a trailer with a NUL":                 {chunkedHead + "1\r\na\r\n0\r\nX: \x00\r\n\r\n", false},
	"a trailer with a space":               {chunkedHead + "1\r\na\r\n0\r\nX : b\r\n\r\n", false},
}

func TestChunksAreReadToTheLetter(t *testing.T) {
	var seen record
	_, addr := serveWith(t, engines["both engines"](&seen))
	for about, test := range chunkings {
		seen.seen = nil
		talk(t, addr, get("/before")+test.request+get("/behind"))
		if want := map[bool]int{true: 3, false: 1}[test.good]; len(seen.seen) != want {
			t.Errorf("%s: %q: %q ran, want %d", about, test.request, seen.seen, want)
		}
	}
}

// lines is the form of a head by itself: what strict takes has to fit it.
var lines = regexp.MustCompile("^(?:\r\n){0,2}[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-\"$-~]+ HTTP/[0-9]\\.[0-9]\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*\r\n)*\r\n$")

// FuzzWhatStrictPassesHasOneMeaning holds that strict's verdict is the same however the bytes come, and that what it passes on
// is what net/http's reader makes of it, in heads whose lines all have one form.
func FuzzWhatStrictPassesHasOneMeaning(f *testing.F) {
	for _, request := range unusuals {
		f.Add([]byte(request+get("/behind")), 3)
	}
	for _, test := range chunkings {
		f.Add([]byte(test.request+get("/behind")), 5)
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
