package http1

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestParseReadsThePlainForm(t *testing.T) {
	const request = "PATCH /v1/users%20x/7?a=1&b=[2]{} HTTP/1.1\r\nhOst:example.test:80\r\nX-Note: \t caf\xc3\xa9 \tau lait\t \r\nEmpty:\r\nContent-Length: 012\r\nConnection: Keep-Alive\r\n\r\nbody"
	var x exchange.Exchange
	size, v := parse([]byte(request), &x)
	if v != whole || request[size:] != "body" {
		t.Fatal(size, v)
	}
	if x.Method != "PATCH" || x.Path != "/v1/users%20x/7" || x.Query != "a=1&b=[2]{}" || x.Host != "example.test:80" || x.Length != 12 {
		t.Errorf("%+v", x)
	}
	want := []exchange.Field{{Name: "X-Note", Value: "caf\xc3\xa9 \tau lait"}, {Name: "Empty", Value: ""}, {Name: "Content-Length", Value: "012"}, {Name: "Connection", Value: "Keep-Alive"}}
	if !slices.Equal(x.Header.Fields(), want) {
		t.Errorf("%q", x.Header.Fields())
	}
}

// unusuals are the forms that the engine leaves to net/http.
var unusuals = func() map[string]string {
	all := maps.Clone(stricttest.Heads)
	all["a Content-Length over the limit"] = "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n"
	all["too many headers"] = "GET /fast HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", maxFields) + "\r\n"
	return all
}()

func TestParseLeavesTheUnusualToNetHTTP(t *testing.T) {
	for about, request := range unusuals {
		if _, v := parse([]byte(request), new(exchange.Exchange)); v != unusual {
			t.Errorf("%s: %q has the verdict %d", about, request, v)
		}
	}
}

func TestParseWantsMoreAtEachByteOfAHead(t *testing.T) {
	const request = "DELETE /a%41b?c=d HTTP/1.1\r\nHost: a\r\nX-Long-Value: 0123456789 0123456789\r\nContent-Length: 0\r\n\r\n"
	for n := range len(request) {
		if _, v := parse([]byte(request[:n]), new(exchange.Exchange)); v != partial {
			t.Errorf("%q has the verdict %d", request[:n], v)
		}
	}
}

// agree wants net/http to read a request just as parse did, and to begin the next one at the same byte.
func agree(t *testing.T, b []byte, size int, x *exchange.Exchange) {
	source := bytes.NewReader(b)
	buffered := bufio.NewReaderSize(source, 64<<10)
	r, err := http.ReadRequest(buffered)
	if err != nil {
		t.Fatalf("net/http refuses %q: %v", b, err)
	}
	target := x.Path
	if q := strings.IndexByte(r.RequestURI, '?'); q >= 0 {
		target += "?" + x.Query
	}
	switch {
	case r.Method != x.Method, r.RequestURI != target, r.URL.RawQuery != x.Query, r.Proto != "HTTP/1.1", r.Host != x.Host:
		t.Fatalf("net/http reads %q as %s %s %s %s", b, r.Method, r.RequestURI, r.Proto, r.Host)
	case r.ContentLength != x.Length, len(r.TransferEncoding) > 0, len(r.Trailer) > 0, r.Close:
		t.Fatalf("net/http reads %q with a body of %d, %q, %q, %t", b, r.ContentLength, r.TransferEncoding, r.Trailer, r.Close)
	case !httpguts.ValidHostHeader(x.Host): // net/http's server looks at these behind ReadRequest
		t.Fatalf("the host %q", x.Host)
	}
	header := make(http.Header)
	for _, f := range x.Header.Fields() {
		if !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value) {
			t.Fatalf("the header %q", f)
		}
		header.Add(f.Name, f.Value)
	}
	if header.Get("Pragma") == "no-cache" && !x.Header.Has("Cache-Control") {
		r.Header.Del("Cache-Control") // which net/http adds for it
	}
	if len(header) != len(r.Header) {
		t.Fatalf("net/http reads %q with headers %q", b, r.Header)
	}
	for name, values := range header {
		if !slices.Equal(values, r.Header[name]) || x.Header.Get(name) != values[0] {
			t.Fatalf("net/http reads %q with headers %q", b, r.Header)
		}
	}
	if len(b)-size < int(x.Length) {
		return // the rest of the body is not there
	}
	body, err := io.ReadAll(r.Body)
	if next := len(b) - buffered.Buffered() - source.Len(); err != nil || !bytes.Equal(body, b[size:size+int(x.Length)]) || next != size+int(x.Length) {
		t.Fatalf("net/http reads the body of %q as %q, %v, up to %d", b, body, err, next)
	}
}

func FuzzWhatParseTakesNetHTTPReadsAlike(f *testing.F) {
	for _, request := range unusuals {
		f.Add([]byte(request))
	}
	f.Add([]byte(get("/a?b") + post("/c", "{}")))
	f.Add([]byte("PUT /%20 HTTP/1.1\r\nHost: [::1]:8\r\nPragma: no-cache\r\nContent-Length: 3\r\nContent-Type: a/b; c=\"d\"\r\n\r\nabcDELETE /"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var x exchange.Exchange
		size, v := parse(b, &x)
		if v != whole {
			return
		}
		agree(t, b, size, &x)
		for n := range min(size, 300) {
			if _, v := parse(b[:n], new(exchange.Exchange)); v != partial {
				t.Fatalf("%q is a request, but its beginning %q has the verdict %d", b, b[:n], v)
			}
		}
	})
}
