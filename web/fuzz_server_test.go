package web

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// speak sends bytes over a connection of its own, ends its half, and expects all that comes back within the time.
func speak(t *testing.T, addr string, data []byte) []byte {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(waitLimit))
	go func() {
		c.Write(data)
		c.(*net.TCPConn).CloseWrite()
	}()
	back, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q: the connection does not end", data)
	}
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%q: %v", data, err)
	}
	return back
}

// FuzzConnection sends any bytes to a node, and holds that no action runs that is not public, that all answers are
// well-formed HTTP of which none is a 500, and that the connection ends.
func FuzzConnection(f *testing.F) {
	w := worldOf(f, fast)
	for _, test := range smuggling {
		if len(test.request) < 2000 {
			f.Add([]byte(test.request))
		}
	}
	for _, seed := range []string{"", "\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x16\x03\x01\x00\x05hello",
		"GET /find/1?tag=a HTTP/1.1\r\nHost: localhost\r\nX-Agent: me\r\nCookie: seat=1\r\nOrigin: https://app.example\r\nX-Meta-A: b\r\n\r\n",
		"PUT /find/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"path\":\"a\"}GET /files/a.txt HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\n\r\n",
		"POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n[{\"action\":\"h.secret\"},{\"action\":\"h\"}]", "POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n[{\"action\":\"batch\"}]",
		"GET /events?topic=orders.* HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
		"OPTIONS /h/any HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", "GET /old/x HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		back := speak(t, w.HTTPAddr(), data)
		if n := w.hidden.Load(); n != 0 {
			t.Fatalf("%q ran an action that is not public", data)
		}
		if bytes.Contains(data, []byte("PRI * HTTP/2.0")) || bytes.Contains(data, []byte("HEAD ")) {
			return // answers in frames, or without the body that their heads announce
		}
		for r := bufio.NewReader(bytes.NewReader(back)); ; {
			if _, err := r.Peek(1); err == io.EOF {
				return
			}
			response, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%q is answered with %q, of which the end is no HTTP: %v", data, back, err)
			}
			if response.StatusCode == http.StatusInternalServerError {
				t.Fatalf("%q is answered with %q", data, back)
			}
			if response.StatusCode == http.StatusSwitchingProtocols {
				return
			}
			live := response.Header.Get("Content-Type") == "text/event-stream" // which the end of the caller's half breaks off
			if _, err := io.Copy(io.Discard, response.Body); err != nil && !live {
				t.Fatalf("%q is answered with %q, of which the last is not whole: %v", data, back, err)
			}
		}
	})
}

// FuzzParameters sends any path, query, header, cookie and body to REST forms over both engines, which must answer alike,
// and never with a fault of their own.
func FuzzParameters(f *testing.F) {
	service, _ := takers()
	w := worldOf(f, fast, service)
	f.Add("GET", "/bound/1", "name=a&tag=x&at=2026-01-02T03:04:05Z&wait=5&on=true&rate=0.5&small=1", "me", "seat=1", "")
	f.Add("PUT", "/bound/1/a", "", "", "", `{"tags":["x"],"rate":1}`)
	f.Add("GET", "/bound/%31", "name=%ff&small=999", "\xff", "seat=\"1\"; seat=2", "")
	f.Add("GET", "/rest/a/../b%2f%00", "x=;&&=&%", "", "=", "")
	f.Add("PUT", "/bound/9223372036854775808/%e2%80%ae", "name=b", "too long for the rule", "seat=x", `{"id":1,"name":"b"}`)
	f.Add("GET", "//bound/1", "?", "\t", ";;", "")
	f.Add("DELETE", "/bound/1", "", "", "", "")
	f.Add("GET", "/find/1", "tag="+strings.Repeat("a&tag=", 100), "", "", "{}")
	f.Fuzz(func(t *testing.T, method, path, query, agent, cookie, body string) {
		for _, part := range []string{method, path, query, agent, cookie} {
			if strings.ContainsAny(part, "\r\n") {
				return // other requests: FuzzConnection sends those
			}
		}
		if method == "HEAD" || method == "CONNECT" || method == "PRI" || len(path)+len(query)+len(agent)+len(cookie) > 8<<10 {
			return
		}
		if query != "" {
			path += "?" + query
		}
		request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Request-Id: same\r\nX-Agent: %s\r\nCookie: %s\r\nContent-Length: %d\r\n", method, path, agent, cookie, len(body))
		var answers [2]answer
		for i, connection := range []string{"", "Connection: close\r\n"} {
			c, err := net.Dial("tcp", w.HTTPAddr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(waitLimit))
			io.WriteString(c, request+connection+"\r\n"+body)
			response, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%q has no answer: %v", request, err)
			}
			text, err := io.ReadAll(response.Body)
			if response.StatusCode == http.StatusBadRequest && errors.Is(err, syscall.ECONNRESET) {
				return // net/http closes without reading the rest of what is no HTTP
			}
			if err != nil {
				t.Fatalf("%q has half an answer, %q: %v", request, text, err)
			}
			answers[i] = answer{response.StatusCode, response.Header, string(text)}
			if response.StatusCode == http.StatusInternalServerError {
				t.Fatalf("%q is answered with %q", request, text)
			}
			if text := string(text); response.StatusCode >= 400 && response.Header.Get("X-Request-Id") != "" {
				answers[i].problem(t)
			} else if response.StatusCode < 400 && !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") && strings.HasPrefix(path, "/bound") && method != "OPTIONS" {
				t.Fatalf("%q is answered with %q", request, text)
			}
		}
		if answers[0].status != answers[1].status || answers[0].body != answers[1].body {
			t.Fatalf("%q is answered with %d %s, and over net/http with %d %s", request, answers[0].status, answers[0].body, answers[1].status, answers[1].body)
		}
		if w.hidden.Load() != 0 {
			t.Fatalf("%q ran an action that is not public", request)
		}
	})
}
