package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// exchangeRaw sends one request as it is and reads its answer.
func exchangeRaw(t *testing.T, node *sabir.Node, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// The engine for small calls and net/http must not differ in anything but their speed. A request that names its
// connection's end is for net/http.
func TestBothEnginesAnswerAlike(t *testing.T) {
	node := start(t, sabir.Serve(shop(), store()), sabir.HTTP(":0", With(Config{Filters: Filters{allowing("https://app.example")}})))
	for about, test := range map[string]struct{ line, headers, body string }{
		"a call":                 {"POST /shop/hello", "", `{"name":"Ada"}`},
		"a call without a body":  {"POST /shop/who", "", ""},
		"a bad input":            {"POST /shop/hello", "", `{"name":""}`},
		"a broken input":         {"POST /shop/hello", "", `{"name":`},
		"an unknown action":      {"POST /shop/helo", "", `{}`},
		"a private action":       {"POST /shop/secret", "", `{}`},
		"another method":         {"PUT /shop/hello", "", `{}`},
		"an error of its author": {"POST /shop/buy", "", `{}`},
		"a panic":                {"POST /shop/panic", "", `{}`},
		"a limit":                {"POST /shop/busy", "", `{}`},
		"a short time":           {"POST /shop/hello", "X-Request-Timeout: soon\r\n", `{"name":"Ada"}`},
		"an empty time":          {"POST /shop/hello", "X-Request-Timeout: \r\n", `{"name":"Ada"}`},
		"another type":           {"POST /shop/hello", "Content-Type: text/plain\r\n", `{"name":"Ada"}`},
		"another site's page":    {"POST /shop/hello", "Sec-Fetch-Site: cross-site\r\n", `{"name":"Ada"}`},
		"a site that may":        {"POST /shop/hello", "Sec-Fetch-Site: cross-site\r\nOrigin: https://app.example\r\n", `{"name":"Ada"}`},
		"a REST form":            {"GET /items/7?page=2&tag=a&tag=b", "X-Tenant: acme\r\nCookie: session=s1\r\n", ""},
		"a bad parameter":        {"GET /items/x?page=y", "", ""},
		"a rule of a parameter":  {"GET /items/7?page=-1", "", ""},
		"a body behind a path":   {"PUT /items/7", "", `{"name":"lamp"}`},
		"a field twice":          {"PUT /items/7", "", `{"id":8,"name":"lamp"}`},
		"dollar":                 {"POST /%24node/info", "", `[]`},
		"another host":           {"POST /shop/hello", "Host: evil.example\r\n", `{}`},
	} {
		t.Run(about, func(t *testing.T) {
			host, kind := "Host: localhost\r\n", "Content-Type: application/json\r\n"
			if strings.Contains(test.headers, "Host:") {
				host = ""
			}
			if strings.Contains(test.headers, "Content-Type:") || test.body == "" {
				kind = ""
			}
			ask := func(connection string) (*http.Response, string) {
				return exchangeRaw(t, node, fmt.Sprintf("%s HTTP/1.1\r\n%s%s%sX-Request-Id: same\r\nContent-Length: %d\r\n%s\r\n%s",
					test.line, host, kind, test.headers, len(test.body), connection, test.body))
			}
			fast, fastBody := ask("")
			slow, slowBody := ask("Connection: close\r\n")
			for _, r := range []*http.Response{fast, slow} {
				r.Header.Del("Date")
				r.Header.Del("Connection")
			}
			if about == "a call without a body" { // which reports the time that is left
				fastBody, slowBody = "", ""
				fast.Header.Del("Content-Length")
				slow.Header.Del("Content-Length")
			}
			if fast.StatusCode != slow.StatusCode || fastBody != slowBody || fmt.Sprint(fast.Header) != fmt.Sprint(slow.Header) {
				t.Errorf("%d %v %s\nbut over net/http\n%d %v %s", fast.StatusCode, fast.Header, fastBody, slow.StatusCode, slow.Header, slowBody)
			}
		})
	}
}
