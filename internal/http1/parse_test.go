package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

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

// The forms by which one server's request becomes another's two, and others that the engine leaves to net/http.
var unusuals = map[string]string{
	"CL.TE":                                "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
	"TE.CL":                                "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n12\r\nGET /fast HTTP/1.1\r\n\r\n0\r\n\r\n",
	"chunked alone":                        "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
	"two Transfer-Encodings":               "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding of another case":    "POST /fast HTTP/1.1\r\nHost: a\r\ntRANSFER-eNCODING: chunked\r\n\r\n0\r\n\r\n",
	"an unknown Transfer-Encoding":         "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"an empty Transfer-Encoding":           "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\nContent-Length: 1\r\n\r\na",
	"a Transfer-Encoding behind a tab":     "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
	"a Transfer-Encoding with a VT":        "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\nContent-Length: 1\r\n\r\na",
	"a space before the colon":             "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\na",
	"a Transfer-Encoding before a space":   "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\nContent-Length: 1\r\n\r\na",
	"a tab before the colon":               "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length\t: 1\r\n\r\na",
	"a name behind a space":                "POST /fast HTTP/1.1\r\n Host: a\r\n\r\n",
	"a folded header":                      "GET /fast HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
	"a folded Transfer-Encoding":           "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 1\r\n\r\na",
	"a header without a name":              "GET /fast HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
	"a header without a colon":             "GET /fast HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n",
	"a name with a control byte":           "GET /fast HTTP/1.1\r\nHost: a\r\nX\x00: b\r\n\r\n",
	"a name that is not ASCII":             "GET /fast HTTP/1.1\r\nHost: a\r\nX\xc3\xa9: b\r\n\r\n",
	"a bare LF behind the request line":    "GET /fast HTTP/1.1\nHost: a\r\n\r\n",
	"a bare LF behind a header":            "GET /fast HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
	"a bare LF at the end":                 "GET /fast HTTP/1.1\r\nHost: a\r\n\n",
	"all lines with bare LF":               "GET /fast HTTP/1.1\nHost: a\n\n",
	"a bare CR behind a header":            "GET /fast HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
	"a CR in a value":                      "GET /fast HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
	"two CRs at the end of a line":         "GET /fast HTTP/1.1\r\nHost: a\r\nX: b\r\r\n\r\n",
	"a NUL in a value":                     "GET /fast HTTP/1.1\r\nHost: a\r\nX: b\x00c\r\n\r\n",
	"a DEL in a value":                     "GET /fast HTTP/1.1\r\nHost: a\r\nX: 12345678b\x7fc\r\n\r\n",
	"a NUL in the path":                    "GET /fast\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
	"a request of NULs":                    strings.Repeat("\x00", 32) + "\r\n\r\n",
	"absolute-form":                        "GET http://b/fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"authority-form":                       "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
	"asterisk-form":                        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
	"no target":                            "GET HTTP/1.1\r\nHost: a\r\n\r\n",
	"two spaces before the target":         "GET  /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"two spaces behind the target":         "GET /fast  HTTP/1.1\r\nHost: a\r\n\r\n",
	"a tab before the target":              "GET\t/fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a space in the target":                "GET /fa st HTTP/1.1\r\nHost: a\r\n\r\n",
	"a space behind the version":           "GET /fast HTTP/1.1 \r\nHost: a\r\n\r\n",
	"a fragment":                           "GET /fast#x HTTP/1.1\r\nHost: a\r\n\r\n",
	"a broken percent-encoding":            "GET /fast%4 HTTP/1.1\r\nHost: a\r\n\r\n",
	"a percent-encoding that is not hex":   "GET /fast%4g HTTP/1.1\r\nHost: a\r\n\r\n",
	"a path that is not ASCII":             "GET /fast\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
	"a backslash in the path":              "GET /fast\\x HTTP/1.1\r\nHost: a\r\n\r\n",
	"HTTP/1.0":                             "GET /fast HTTP/1.0\r\nHost: a\r\n\r\n",
	"HTTP/1.0 with keep-alive":             "GET /fast HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
	"HTTP/1.2":                             "GET /fast HTTP/1.2\r\nHost: a\r\n\r\n",
	"HTTP/2.0":                             "GET /fast HTTP/2.0\r\nHost: a\r\n\r\n",
	"HTTP/0.9":                             "GET /fast\r\n\r\n",
	"a version of another case":            "GET /fast http/1.1\r\nHost: a\r\n\r\n",
	"HTTP/2's preface":                     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"another method":                       "HEAD /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a method of another case":             "get /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a method with more behind it":         "GETS /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"an empty line first":                  "\r\nGET /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"no Host":                              "GET /fast HTTP/1.1\r\n\r\n",
	"an empty Host":                        "GET /fast HTTP/1.1\r\nHost:\r\n\r\n",
	"two Hosts":                            "GET /fast HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	"the same Host twice":                  "GET /fast HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
	"a Host with a space":                  "GET /fast HTTP/1.1\r\nHost: a b\r\n\r\n",
	"a Host with a user":                   "GET /fast HTTP/1.1\r\nHost: a@b\r\n\r\n",
	"a Host with a slash":                  "GET /fast HTTP/1.1\r\nHost: a/b\r\n\r\n",
	"two Content-Lengths":                  "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
	"the same Content-Length twice":        "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
	"a list of Content-Lengths":            "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na",
	"a negative Content-Length":            "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\na",
	"a Content-Length with a plus":         "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na",
	"a hexadecimal Content-Length":         "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na",
	"a Content-Length with an underscore":  "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n\r\n0123456789",
	"a Content-Length with a point":        "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1.0\r\n\r\na",
	"a Content-Length with a space":        "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 1 0\r\n\r\na",
	"an empty Content-Length":              "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\na",
	"a Content-Length over the limit":      "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n",
	"a Content-Length past 64 bits":        "POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\na",
	"Connection: close":                    "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	"Connection with more":                 "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n",
	"two Connections":                      "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
	"Connection that names Content-Length": "POST /fast HTTP/1.1\r\nHost: a\r\nConnection: Content-Length\r\nContent-Length: 1\r\n\r\na",
	"an upgrade":                           "GET /fast HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
	"Expect":                               "POST /fast HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
	"Trailer":                              "POST /fast HTTP/1.1\r\nHost: a\r\nTrailer: X\r\nContent-Length: 1\r\n\r\na",
	"CL.TE in HTTP/1.0":                    "POST /fast HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"a Transfer-Encoding in HTTP/1.0":      "POST /fast HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"a list of Transfer-Encodings":         "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
	"a quoted Transfer-Encoding":           "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
	"Content_Length":                       "POST /fast HTTP/1.1\r\nHost: a\r\nContent_Length: 1\r\n\r\na",
	"Transfer_Encoding":                    "POST /fast HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\nContent-Length: 1\r\n\r\na",
	"a Host behind a Content-Length":       "POST /fast HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\nHost: a\r\n\r\na",
	"Connection that names Host":           "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close, host\r\n\r\n",
	"Connection that names Authorization":  "GET /fast HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nConnection: Authorization\r\n\r\n",
	"a Connection that is too long":        "GET /fast HTTP/1.1\r\nHost: a\r\nConnection: " + strings.Repeat("x,", maxWord) + "y\r\n\r\n",
	"a Host that is too long":              "GET /fast HTTP/1.1\r\nHost: " + strings.Repeat("a", maxHost+1) + "\r\n\r\n",
	"a Host that is a list":                "GET /fast HTTP/1.1\r\nHost: a, b\r\n\r\n",
	"two Hosts in HTTP/1.0":                "GET /fast HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
	"absolute-form of the same host":       "GET http://A:80/fast?x HTTP/1.1\r\nHost: a:80\r\n\r\n",
	"absolute-form without a Host":         "GET http://a/fast HTTP/1.1\r\n\r\n",
	"absolute-form with a user":            "GET http://u@a/fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"absolute-form without an authority":   "GET http:///fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"absolute-form of another scheme":      "GET ftp://a/fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"absolute-form without a path":         "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
	"absolute-form with a bad byte":        "GET http://a/fa<st HTTP/1.1\r\nHost: a\r\n\r\n",
	"a target without a slash":             "GET fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"asterisk-form with GET":               "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
	"asterisk-form with more behind it":    "OPTIONS */fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"authority-form of the same host":      "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n",
	"CONNECT with a path":                  "CONNECT /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"CONNECT with a body":                  "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 1\r\n\r\na",
	"a method that is no token":            "G(T /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"no method":                            " /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a vertical tab for a space":           "GET\x0b/fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a NUL in the method":                  "G\x00T /fast HTTP/1.1\r\nHost: a\r\n\r\n",
	"a CR in the target":                   "GET /fa\rst HTTP/1.1\r\nHost: a\r\n\r\n",
	"a byte above ASCII in the query":      "GET /fast?\xff HTTP/1.1\r\nHost: a\r\n\r\n",
	"no version":                           "GET /fast \r\nHost: a\r\n\r\n",
	"HTTP/1.10":                            "GET /fast HTTP/1.10\r\nHost: a\r\n\r\n",
	"HTTP/01.1":                            "GET /fast HTTP/01.1\r\nHost: a\r\n\r\n",
	"a version without a minor one":        "GET /fast HTTP/1\r\nHost: a\r\n\r\n",
	"another protocol":                     "GET /fast ICY/1.1\r\nHost: a\r\n\r\n",
	"HTTP/3.7":                             "GET /fast HTTP/3.7\r\nHost: a\r\n\r\n",
	"a bar and brackets in the path":       "GET /fast/a|b[c] HTTP/1.1\r\nHost: a\r\n\r\n",
	"a CR at the end of the head":          "GET /fast HTTP/1.1\r\nHost: a\r\n\r\r\n",
	"a header behind a tab":                "GET /fast HTTP/1.1\r\nHost: a\r\n\tX: b\r\n\r\n",
	"a folded header without text":         "GET /fast HTTP/1.1\r\nHost: a\r\nX: a\r\n \r\n\r\n",
	"a name in brackets":                   "GET /fast HTTP/1.1\r\nHost: a\r\n[X]: b\r\n\r\n",
	"too many headers":                     "GET /fast HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", maxFields) + "\r\n",
}

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

func TestPlainStopsAtEachControlByteWhereverItIs(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte{'a'}, 24)
			b[at] = byte(c)
			want := len(b)
			if c < ' ' && c != '\t' || c == 0x7f {
				want = at
			}
			if got := plain(b); got != want {
				t.Errorf("%q: %d", b, got)
			}
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
