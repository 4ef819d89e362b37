package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

func rawDial(t *testing.T, node *sabir.Node) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(waitLimit))
	t.Cleanup(func() { c.Close() })
	return c
}

// rawAsk writes a request and returns the status of the first answer, 0 when the connection just ended.
func rawAsk(t *testing.T, c net.Conn, request string) int {
	t.Helper()
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return response.StatusCode
}

const postHead = "POST /counted/double HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func TestMalformedRequestsAreRefusedAndReachNoHandler(t *testing.T) {
	var runs atomic.Int64
	node := start(t, sabir.Serve(counted(&runs)), sabir.HTTP(":0"))
	const chunked = "Transfer-Encoding: chunked\r\n\r\n"
	tests := map[string]struct {
		request string
		status  int
	}{
		"a length beside chunks":           {postHead + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n7\r\n0\r\n\r\n", 400},
		"one length twice":                 {postHead + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n1", 400},
		"a line that ends with LF":         {postHead + "X: y\nContent-Length: 1\r\n\r\n1", 400},
		"a value over two lines":           {postHead + "X: y\r\n z\r\nContent-Length: 1\r\n\r\n1", 400},
		"chunks in HTTP/1.0":               {"POST /counted/double HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n" + chunked + "1\r\n1\r\n0\r\n\r\n", 400},
		"a host other than the target's":   {"POST http://127.0.0.1/counted/double HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1", 400},
		"a chunk's line that ends with LF": {postHead + chunked + "1\n1\r\n0\r\n\r\n", 400},
		"a space behind a chunk's size":    {postHead + chunked + "1 \r\n1\r\n0\r\n\r\n", 400},
		"a chunk's extension without name": {postHead + chunked + "1;\r\n1\r\n0\r\n\r\n", 400},
		"a length behind the chunks":       {postHead + chunked + "1\r\n1\r\n0\r\nContent-Length: 9\r\n\r\n", 400},
		"a folded line behind the chunks":  {postHead + chunked + "1\r\n1\r\n0\r\nX: y\r\n z\r\n\r\n", 400},
		"two lengths":                      {postHead + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", 400},
		"a length that is none":            {postHead + "Content-Length: +1\r\n\r\n1", 400},
		"a negative length":                {postHead + "Content-Length: -1\r\n\r\n1", 400},
		"an unknown transfer coding":       {postHead + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
		"a chunk without a length":         {postHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n0\r\n\r\n", 400},
		"a chunk that is too long":         {postHead + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n1", 400},
		"a space before a colon":           {postHead + "Content-Length : 1\r\n\r\n1", 400},
		"a folded header":                  {"POST /counted/double HTTP/1.1\r\n Host: localhost\r\n\r\n", 400},
		"no host":                          {"POST /counted/double HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400},
		"two hosts":                        {postHead + "Host: other\r\nContent-Length: 0\r\n\r\n", 400},
		"a preface of HTTP/2, broken off":  {"PRI * HTTP/2.0\r\n\r\nSMITH\r\n", 400},
		"no HTTP":                          {"hello there, how are you\r\n\r\n", 400},
		"an unknown version":               {"POST /counted/double HTTP/3.7\r\nHost: localhost\r\n\r\n", 505},
		"a NUL in the path":                {"POST /counted\x00/double HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
		"headers over the limit":           {postHead + "X-Big: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431},
		"a length over the limit":          {postHead + "Content-Length: 1048577\r\n\r\n", 413},
		"a huge length":                    {postHead + "Content-Length: 9223372036854775807\r\n\r\n1", 413},
		"a length over the limit, waiting": {postHead + "Expect: 100-continue\r\nContent-Length: 1048577\r\n\r\n", 413},
		"chunks over the limit":            {postHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 17) + "0\r\n\r\n", 413},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			c := rawDial(t, node)
			if got := rawAsk(t, c, test.request+postHead+"Content-Length: 1\r\n\r\n1"); got != test.status {
				t.Errorf("status %d, want %d", got, test.status)
			}
			if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
				t.Errorf("the connection goes on: %v", err)
			}
		})
	}
	if n := runs.Load(); n != 0 {
		t.Errorf("%d malformed requests reached the handler", n)
	}
}

func TestATargetWithoutAPathStandsForTheRoot(t *testing.T) {
	node := start(t, sabir.Serve(shop()), sabir.HTTP(":0", With(Config{Mount: map[string]http.Handler{"/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.WriteHeader(http.StatusTeapot)
		}
	})}})))
	plain := start(t, sabir.Serve(shop()), sabir.HTTP(":0"))
	for _, target := range []string{"http://localhost", "http://localhost?a=1"} {
		const rest = " HTTP/1.1\r\nHost: localhost\r\n\r\n"
		if got := rawAsk(t, rawDial(t, plain), "GET "+target+rest); got != 200 {
			t.Errorf("%s: %d", target, got)
		}
		if got := rawAsk(t, rawDial(t, node), "GET "+target+rest); got != http.StatusTeapot {
			t.Errorf("%s of a mounted handler: %d", target, got)
		}
	}
}

func TestARequestThatIsRefusedForItsFormIsCounted(t *testing.T) {
	node := start(t, sabir.Serve(counted(new(atomic.Int64))), sabir.HTTP(":0"))
	rawAsk(t, rawDial(t, node), postHead+"Content-Length: 1\r\n\r\n1")
	if n := node.Info().Refused.HTTPHeads; n != 0 {
		t.Errorf("%d counted without one", n)
	}
	rawAsk(t, rawDial(t, node), postHead+"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n7\r\n0\r\n\r\n")
	if n := node.Info().Refused.HTTPHeads; n != 1 {
		t.Errorf("%d counted after one", n)
	}
}

func TestHalfARequestReachesNoHandler(t *testing.T) {
	var runs atomic.Int64
	node := start(t, sabir.Serve(counted(&runs)), sabir.HTTP(":0"))
	for _, half := range []string{"POST /coun", postHead, postHead + "Content-Length: 10\r\n\r\n12"} {
		c := rawDial(t, node)
		io.WriteString(c, half)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c) // until the node has done with it
	}
	if n := runs.Load(); n != 0 {
		t.Errorf("%d half requests reached the handler", n)
	}
}

func TestSlowHeadersAndBodiesAreCutOff(t *testing.T) {
	var runs atomic.Int64
	shortHeads := start(t, sabir.Serve(counted(&runs)), withLimits(func(l *limits) {
		l.readHeaders, l.readBody, l.idle = 30*time.Millisecond, 60*time.Millisecond, 30*time.Millisecond
	}))
	shortBodies := start(t, sabir.Serve(counted(&runs)), withLimits(func(l *limits) { // the heads come in time for certain
		l.readHeaders, l.readBody, l.idle = waitLimit, 60*time.Millisecond, 30*time.Millisecond
	}))
	for about, part := range map[string]string{"headers": postHead, "a body": postHead + "Content-Length: 2\r\n\r\n1", "chunks": postHead + "Transfer-Encoding: chunked\r\n\r\n1\r\n", "nothing": ""} {
		node := shortHeads
		if strings.Contains(about, "body") || strings.Contains(about, "chunks") {
			node = shortBodies
		}
		c := rawDial(t, node)
		io.WriteString(c, part)
		answer, err := io.ReadAll(c) // ends when the node closes the connection, which may be before it has read anything
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the connection stays open: %v", about, err)
		}
		if strings.Contains(part, "chunked") && !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
			t.Errorf("%s: %s", about, answer)
		}
	}
	if n := runs.Load(); n != 0 {
		t.Errorf("%d reached the handler", n)
	}
}

func TestAProbeOfHTTP10WithoutAHostIsAnswered(t *testing.T) {
	node := start(t, sabir.HTTP(":0"))
	if got := rawAsk(t, rawDial(t, node), "GET /health HTTP/1.0\r\n\r\n"); got != 200 {
		t.Errorf("status %d", got)
	}
}

func TestABodyMayComeInChunks(t *testing.T) {
	var runs atomic.Int64
	node := start(t, sabir.Serve(counted(&runs)), sabir.HTTP(":0"))
	if got := rawAsk(t, rawDial(t, node), postHead+"Transfer-Encoding: chunked\r\n\r\n1\r\n2\r\n1\r\n1\r\n0\r\n\r\n"); got != 200 || runs.Load() != 1 {
		t.Errorf("status %d, %d runs", got, runs.Load())
	}
}
